//! What a run reads before it begins: all references, and of the queries the first ones.

use super::report::{Reporter, Stage, warn};
use super::{estimate, order};
use crate::alphabet::Alphabet;
use crate::error::Result;
use crate::options::{Format, Mode, Options};
use crate::reader::{Queries, Reader, References, read_reference_part, read_references};
use std::path::PathBuf;
use std::sync::mpsc::SyncSender;

/// The references, and the queries that are still to be read.
pub struct OpenInputs {
    pub references: References,
    /// Where the references come from, as errors show it.
    pub target_file: PathBuf,
    /// Read up to the first query. Their letters are no codes yet.
    pub queries: Queries,
}

impl OpenInputs {
    /// Reads them. The length of the first query is sent to `first` as soon as it is known.
    pub fn read(options: &Options, reporter: &dyn Reporter, first: SyncSender<usize>) -> Result<OpenInputs> {
        order::check_paths(options)?;
        let is_paf = options.format == Format::Paf;
        let mut reader = match options.ref_part {
            None => Reader::open(&options.reference)?,
            Some(_) => Reader::open_twice(&options.reference)?,
        }
        .with_any_names(is_paf || options.rename_references);
        let mut queries = Reader::open_share(&options.query, options.part)?.with_any_names(is_paf);
        let doing = match options.mode {
            Mode::All => "reading references",
            Mode::Pairs => "reading targets",
        };
        // A part of the references reads them twice.
        let size = options.ref_part.map_or_else(|| estimate::bytes(&options.reference, None), |_| None);
        reporter.stage(Stage { doing, bytes: Some(reader.meter().count()), size, counted: None });
        order::check(options, &mut queries, &mut reader)?;
        let first_query = queries.peek()?.map(|query| query.sequence.len());
        if let Some(len) = first_query {
            // Without a device to prepare there is no receiver.
            let _ = first.send(len);
        }
        let references = match options.ref_part {
            None => read_references(&mut reader, options.alphabet)?,
            Some(share) => read_reference_part(&mut reader, options.alphabet, share)?,
        };
        warn(reporter, reader.warning());
        warn(reporter, order::warning(options, (&mut queries, first_query.unwrap_or(0)), &references)?);
        let (alphabet, given) = (references.alphabet, options.alphabet.is_some());
        let queries = Queries::new(queries, alphabet, given, strands(options, alphabet) == 2);
        Ok(OpenInputs { references, target_file: reader.path().to_path_buf(), queries })
    }
}

/// Strands on which each query is aligned.
pub fn strands(options: &Options, alphabet: Alphabet) -> u32 {
    if options.both_strands && alphabet == Alphabet::Dna { 2 } else { 1 }
}
