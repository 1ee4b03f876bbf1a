//! The arguments of sorted output.

use super::{usage, values};
use crate::options::{Format, OutputFormat, Share};
use clap::Args;
use clap::error::ErrorKind;

#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct SortFlags {
    /// Sort the records by coordinate, as `samtools sort` does, and write the index beside FILE, as FILE.bai
    ///
    /// The output is BAM. The index is FILE.csi where a reference is longer than 536,870,911 letters; stdout gets none.
    /// The records are those of `samtools sort` in the same order, and `merge` keeps it.
    #[arg(long)]
    sort: bool,
    /// Memory for the records that --sort holds, such as 512M or 4G; more records go to temporary files, beside FILE or,
    /// for stdout, in TMPDIR
    #[arg(long, value_name = "SIZE", default_value = "256M", requires = "sort", value_parser = values::bytes)]
    sort_memory: usize,
}

impl SortFlags {
    /// The format where none is named: `otherwise`, unless records are sorted.
    pub fn default_format(&self, otherwise: OutputFormat) -> OutputFormat {
        if self.sort { OutputFormat::Records(Format::Bam) } else { otherwise }
    }

    /// The memory for records, where they are sorted. Only BAM is.
    pub fn resolve(&self, format: OutputFormat) -> Result<Option<usize>, clap::Error> {
        if self.sort && format != OutputFormat::Records(Format::Bam) {
            let name = format.name(false).to_uppercase();
            let text =
                format!("--sort writes BAM, not {name}; end the output's name in .bam, or leave --sort out");
            return Err(usage(ErrorKind::ArgumentConflict, text));
        }
        Ok(self.sort.then_some(self.sort_memory))
    }
}

/// Refuses what can't be sorted: parts of the references have all queries in one order, by which they are joined.
pub fn check_parts(sort: Option<usize>, ref_part: Option<Share>) -> Result<(), clap::Error> {
    if sort.is_none() || ref_part.is_none() {
        return Ok(());
    }
    let text = "--sort takes no --ref-part, whose parts are joined in the order of the queries; leave --sort out, and \
                sort what `swalign merge` writes by `samtools sort`";
    Err(usage(ErrorKind::ArgumentConflict, text))
}
