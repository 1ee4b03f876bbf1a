//! How records of FASTA and FASTQ are read.

use super::SampledNames;
use crate::terms::alphabet::GeneticCode;

/// How records are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadRules {
    /// Names may contain characters that SAM forbids, and those of references may repeat.
    pub any_names: bool,
    /// Lower-case residues become N, or X in proteins.
    pub masks_lower_case: bool,
    /// Whole header lines of references are kept in addition to their names.
    pub keeps_titles: bool,
    /// Gap characters of FASTA are removed.
    pub removes_gaps: bool,
    /// SAM tags in the comments of header lines are kept, except for the read group if the output has one.
    pub keeps_tags: bool,
    pub has_read_group: bool,
    /// The input has alignments, and the fields of their records are kept.
    pub keeps_fields: bool,
    /// Queries are DNA, and are translated with this code.
    pub translation: Option<GeneticCode>,
    /// Only queries with these names are read.
    pub sample: Option<SampledNames>,
}
