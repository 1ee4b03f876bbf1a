//! The arguments of sorted output.

use super::{NO_HEADING, values};
use crate::terms::options::{Format, OutputFormat};
use clap::Args;

/// Memory of a sort without a value.
pub const SORT_MEMORY: &str = "256M";

#[derive(Args)]
#[command(next_help_heading = NO_HEADING)]
pub struct SortFlags {
    /// Sort BAM by coordinate, as `samtools sort`, and write the index FILE.bai
    ///
    /// The output is BAM, and its records have the order of `samtools sort`. The index is FILE.csi if a reference is longer than
    /// 536,870,911 bases. No index is written for stdout. `swalign merge` keeps the order. SIZE is the memory for records, such as
    /// --sort=4G; the default is 256M. Further records are stored in temporary files, next to FILE or, for stdout, in TMPDIR.
    #[arg(
        long,
        value_name = "SIZE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = SORT_MEMORY,
        value_parser = values::bytes
    )]
    sort: Option<usize>,
    /// Memory for --sort
    #[arg(long, value_name = "SIZE", requires = "sort", value_parser = values::bytes, hide = true)]
    sort_memory: Option<usize>,
}

impl SortFlags {
    /// The default format: BAM if records are sorted, and `otherwise` if not.
    pub fn default_format(&self, otherwise: OutputFormat) -> OutputFormat {
        if self.sort.is_some() { OutputFormat::Records(Format::Bam) } else { otherwise }
    }

    /// The memory for records if they are sorted.
    pub fn memory(&self) -> Option<usize> {
        self.sort.map(|memory| self.sort_memory.unwrap_or(memory))
    }
}
