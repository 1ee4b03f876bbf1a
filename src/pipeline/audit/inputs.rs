//! The inputs that an audit reads before its run: the header of the records, the names of a sample, and supplementary records.

use super::records::SupplementaryRecords;
use crate::input::reader::{MappedRecords, Reader};
use crate::pipeline::report::Reporter;
use crate::terms::casts::to_u64;
use crate::terms::error::{Error, Place, Result};
use crate::terms::options::{
    AuditOptions, MapperScoring, Options, Sample, SampledNames, ScoringChoice, Share,
};
use std::collections::BTreeSet;
use std::path::Path;

/// The open inputs of an audit.
pub struct AuditInputs {
    /// RECORDS, if they are the queries.
    pub queries: Option<Reader>,
    /// RECORDS, if the reads are in files of their own.
    pub records: Option<Reader>,
    /// The supplementary records of the queries; `None` if the queries are no records, or can be read only once.
    pub supplementary: Option<SupplementaryRecords>,
    /// Numbers of the first query and of the first after the last, if the queries are a part of the records.
    pub stretch: Option<(u64, u64)>,
}

impl AuditInputs {
    /// Opens the inputs of an audit, and settles those options of the run that follow from them. `None` if the run is no
    /// audit.
    pub fn open(options: &mut Options, reporter: &dyn Reporter) -> Result<Option<AuditInputs>> {
        let Some(audit) = &options.audit else { return Ok(None) };
        let AuditOptions { records: by_read, sample, part, .. } = audit.clone();
        let stretch = part.map(|part| stretch(options, part)).transpose()?;
        let records = match (&by_read, stretch) {
            (Some(records), _) => Reader::open_mapped(records, MappedRecords::Both)?,
            (None, None) => Reader::open_mapped(&options.query, MappedRecords::Primary)?,
            (None, Some(stretch)) => Reader::open_mapped_part(&options.query, stretch)?,
        };
        if let Some(scoring) = stated_scoring(&records, &options.scoring, reporter)? {
            options.scoring = scoring;
        }
        let sampled = sample.map(|sample| sampled(options, sample)).transpose()?.flatten();
        options.audit.iter_mut().for_each(|audit| audit.sampled = sampled);
        let inputs = AuditInputs { queries: None, records: None, supplementary: None, stretch };
        if by_read.is_some() {
            return Ok(Some(AuditInputs { records: Some(records), ..inputs }));
        }
        let can_repeat = options.query.is_file() && options.query != Path::new("-");
        let supplementary = match (records.is_paf(), can_repeat) {
            // Without reads, its first record is an error.
            (true, _) => None,
            (false, true) => Some(SupplementaryRecords::open(&options.query, sampled.as_ref())?),
            (false, false) => {
                let remedy = "save the records to a file, or give the reads with --reads";
                reporter.note(&format!(
                    "supplementary records are skipped, because a pipe can be read only once; to judge them, too, {remedy}"
                ));
                None
            }
        };
        Ok(Some(AuditInputs { queries: Some(records), supplementary, ..inputs }))
    }
}

/// The scoring of the mapper that wrote the records, if the command line states none.
fn stated_scoring(
    records: &Reader,
    choice: &ScoringChoice,
    reporter: &dyn Reporter,
) -> Result<Option<ScoringChoice>> {
    if *choice != (ScoringChoice { mode: choice.mode, ..ScoringChoice::default() }) {
        return Ok(None);
    }
    let file = Place { file: records.path().to_path_buf(), ..Place::default() };
    let scoring = MapperScoring::of_programs(records.programs()).map_err(|problem| {
        let remedy = "state the scoring of the audit, as in -x short, or --match 1 --mismatch 4 --gap-open 6 --gap-extend 1";
        Error::input(file, problem, remedy)
    })?;
    if let Some(scoring) = &scoring {
        let MapperScoring { command, remark, .. } = scoring;
        reporter.note(&format!("scoring of the mapper, by @PG: {} (from `{command}`)", scoring.options()));
        remark.iter().for_each(|remark| reporter.note(&format!("warning: {remark}")));
    }
    Ok(scoring.map(|scoring| scoring.choice))
}

/// The primary records of a part: of all parts equal numbers of records, or of pairs. Counts all records.
fn stretch(options: &Options, Share { number, of }: Share) -> Result<(u64, u64)> {
    let mut records = 0;
    for record in Reader::open_mapped(&options.query, MappedRecords::Primary)? {
        record?;
        records += 1;
    }
    let unit = if options.has_mates() { 2 } else { 1 };
    let units = u128::from(records / unit);
    let cut = |parts: u32| to_u64(u128::from(parts) * units / u128::from(of)) * unit;
    // A mate without its mate is an error of the last part.
    let to = if number == of { records } else { cut(number) };
    Ok((cut(number - 1), to))
}

/// The names of a sample of the reads. Reads all names.
fn sampled(options: &Options, Sample { reads, seed }: Sample) -> Result<Option<SampledNames>> {
    let reader = match options.queries_are_records() {
        true => Reader::open_mapped(&options.query, MappedRecords::Primary)?,
        false => Reader::open(&options.query)?,
    };
    let mut lowest = BTreeSet::new();
    for record in reader {
        let hash = SampledNames::hash(seed, &record?.name);
        let is_low = lowest.len() < reads || lowest.last().is_some_and(|&last| hash < last);
        if is_low && lowest.insert(hash) && lowest.len() > reads {
            lowest.pop_last();
        }
    }
    Ok(lowest.last().map(|&most| SampledNames { seed, most }))
}
