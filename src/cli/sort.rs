//! The arguments of sorted output.

use super::{NO_HEADING, values};
use crate::options::{Format, OutputFormat};
use clap::Args;

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

    /// The memory for records if they are sorted.
    pub fn memory(&self) -> Option<usize> {
        self.sort.then_some(self.sort_memory)
    }
}
