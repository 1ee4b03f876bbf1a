//! The arguments of sorted output.

use super::{NO_HEADING, usage, values};
use crate::options::{Format, OutputFormat, Share};
use clap::Args;
use clap::error::ErrorKind;

#[derive(Args)]
#[command(next_help_heading = NO_HEADING)]
pub struct SortFlags {
    /// Sort BAM by coordinate, as `samtools sort`, and write the index FILE.bai
    ///
    /// The output is BAM, and its records have the order of `samtools sort`. The index is FILE.csi if a reference is longer than
    /// 536,870,911 bases. No index is written for stdout. `swalign merge` keeps the order.
    #[arg(long)]
    sort: bool,
    /// Memory for --sort, such as 512M or 4G
    ///
    /// Records beyond this limit are stored in temporary files, next to FILE or, for stdout, in TMPDIR.
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "256M",
        requires = "sort",
        value_parser = values::bytes,
        hide_short_help = true
    )]
    sort_memory: usize,
}

impl SortFlags {
    /// The default format: BAM if records are sorted, and `otherwise` if not.
    pub fn default_format(&self, otherwise: OutputFormat) -> OutputFormat {
        if self.sort { OutputFormat::Records(Format::Bam) } else { otherwise }
    }

    /// The memory for records if they are sorted. Only BAM can be sorted.
    pub fn resolve(&self, format: OutputFormat) -> Result<Option<usize>, clap::Error> {
        if self.sort && format != OutputFormat::Records(Format::Bam) {
            let name = format.name(false).to_uppercase();
            let text =
                format!("--sort writes only BAM, not {name}; name the output .bam, or leave --sort out");
            return Err(usage(ErrorKind::ArgumentConflict, text));
        }
        Ok(self.sort.then_some(self.sort_memory))
    }
}

/// Refuses to sort parts of the references, which are joined in the order of the queries.
pub fn check_parts(sort: Option<usize>, ref_part: Option<Share>) -> Result<(), clap::Error> {
    if sort.is_none() || ref_part.is_none() {
        return Ok(());
    }
    let text = "--ref-part does not support --sort, because its parts are joined in the order of the queries; leave --sort \
                out, and sort the output of `swalign merge` with `samtools sort`";
    Err(usage(ErrorKind::ArgumentConflict, text))
}
