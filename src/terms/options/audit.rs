//! Options of `swalign audit`.

use super::Share;
use crate::terms::groups;
use std::path::{Path, PathBuf};

/// How the records of another program are judged. The scoring and the search are those of the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AuditOptions {
    /// The file of records, if the reads are in files of their own. `None` if the run's queries are the records.
    pub records: Option<PathBuf>,
    /// Records of a second program, which are judged too.
    pub against: Option<PathBuf>,
    pub format: AuditFormat,
    /// Also writes rows for records without a finding.
    pub every: bool,
    /// Maximum mapping quality of a record whose score is reached at several positions.
    pub tie_mapq: u8,
    /// The file for the numbers of verdicts, as JSON.
    pub summary: Option<PathBuf>,
    /// The file for a page with these numbers.
    pub html: Option<PathBuf>,
    /// Only this part of the records is judged, if they are the queries. For other queries, the run has a part.
    pub part: Option<Share>,
    /// Maximum share of findings, 0 to 1.
    pub fail_above: Option<f64>,
    pub sample: Option<Sample>,
    /// The names of the sample, once the run has chosen them.
    pub sampled: Option<SampledNames>,
}

/// The format of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuditFormat {
    #[default]
    Tab,
    /// An object per line.
    Json,
}

/// A number of reads, chosen by a hash of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    pub reads: usize,
    pub seed: u64,
}

/// The names of a sample: those whose hash is at most `most`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampledNames {
    pub seed: u64,
    pub most: u64,
}

impl AuditOptions {
    /// The files of records that are not the queries.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        [&self.records, &self.against].into_iter().flatten().map(PathBuf::as_path)
    }
}

impl AuditFormat {
    /// Name of the format in receipts.
    pub fn name(self) -> &'static str {
        match self {
            AuditFormat::Tab => "audit.tab",
            AuditFormat::Json => "audit.json",
        }
    }
}

impl SampledNames {
    /// Hash of a read's name, which is the same for its mate: FNV-1a of 64 bits from the seed, followed by the finalizer of
    /// MurmurHash3.
    pub fn hash(seed: u64, name: &str) -> u64 {
        let start = 0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let bytes = groups::base(name.as_bytes());
        let fnv =
            bytes.iter().fold(start, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        let mixed = (fnv ^ (fnv >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        let mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        mixed ^ (mixed >> 33)
    }

    pub fn has(&self, name: &str) -> bool {
        SampledNames::hash(self.seed, name) <= self.most
    }
}
