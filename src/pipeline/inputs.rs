//! What a run reads before it begins: all references, and of the queries the first ones.

use super::report::{Reporter, Stage, warn};
use super::{circular, estimate, order};
use crate::alphabet::Alphabet;
use crate::error::{Error, Result};
use crate::options::{MatesChoice, Mode, Options};
use crate::reader::{Mates, Queries, QuerySource, Reader, References, read_reference_part, read_references};
use std::path::PathBuf;
use std::sync::mpsc::SyncSender;

/// The references, and the queries that are still to be read.
pub struct OpenInputs {
    pub references: References,
    /// Where the references come from, as errors show it.
    pub target_file: PathBuf,
    /// Read up to the first query. Their letters are no codes yet.
    pub queries: QuerySource,
}

impl OpenInputs {
    /// Reads them. The length of the first query is sent to `first` as soon as it is known.
    pub fn read(options: &Options, reporter: &dyn Reporter, first: SyncSender<usize>) -> Result<OpenInputs> {
        order::check_paths(options)?;
        let any_names = options.takes_any_name();
        let mut reader = match options.ref_part {
            None => Reader::open(&options.reference)?,
            Some(_) => Reader::open_twice(&options.reference)?,
        }
        .with_any_names(any_names || options.rename_references)
        .with_titles(options.shows_titles())
        .with_mask(options.masks_lower_case);
        let mut reads = Reader::open_share(&options.query, options.part)?
            .with_any_names(any_names)
            .with_mask(options.masks_lower_case);
        let doing = match options.mode {
            Mode::All => "reading references",
            Mode::Pairs => "reading targets",
        };
        // A part of the references reads them twice.
        let size = options.ref_part.map_or_else(|| estimate::bytes(&options.reference, None), |_| None);
        reporter.stage(Stage { doing, bytes: Some(reader.meter().count()), size, counted: None });
        order::check(options, &mut reads, &mut reader)?;
        let first_query = reads.peek()?.map(|query| query.sequence.len());
        if let Some(len) = first_query {
            // Without a device to prepare there is no receiver.
            let _ = first.send(len);
        }
        let mut references = match options.ref_part {
            None => read_references(&mut reader, options.alphabet)?,
            Some(share) => read_reference_part(&mut reader, options.alphabet, share)?,
        };
        circular::close(&options.circular, &mut references, reader.path())?;
        warn(reporter, reader.warning());
        warn(reporter, order::warning(options, (&mut reads, first_query.unwrap_or(0)), &references)?);
        let (alphabet, given) = (references.alphabet, options.alphabet.is_some());
        let both_strands = strands(options, alphabet) == 2;
        if options.mates != MatesChoice::None && !both_strands {
            let text = match alphabet {
                Alphabet::Dna => "mates lie on both strands; leave --forward-only out",
                Alphabet::Protein => {
                    "the references are protein, and mates are DNA; give DNA references or --alphabet dna"
                }
            };
            return Err(Error::Usage(text.to_string()));
        }
        let queries = |reader| Queries::new(reader, alphabet, given, both_strands);
        let queries = match &options.mates {
            MatesChoice::None => QuerySource::Single(Box::new(queries(reads))),
            MatesChoice::Interleaved => QuerySource::Mates(Box::new(Mates::interleaved(queries(reads)))),
            MatesChoice::File(path) => {
                let others =
                    Reader::open(path)?.with_any_names(any_names).with_mask(options.masks_lower_case);
                let is_last = options.part.is_none_or(|part| part.number == part.of);
                QuerySource::Mates(Box::new(Mates::beside(queries(reads), queries(others), is_last)?))
            }
        };
        Ok(OpenInputs { references, target_file: reader.path().to_path_buf(), queries })
    }
}

/// The mates of a whole input, anew, for runs of a part.
pub fn whole_mates(options: &Options, alphabet: Alphabet) -> Result<Mates> {
    let any_names = options.takes_any_name();
    let open = |path| -> Result<Queries> {
        let reader = Reader::open(path)?.with_any_names(any_names).with_mask(options.masks_lower_case);
        Ok(Queries::new(reader, alphabet, options.alphabet.is_some(), true))
    };
    match options.mate_file() {
        Some(path) => Mates::beside(open(&options.query)?, open(path)?, true),
        None => Ok(Mates::interleaved(open(&options.query)?)),
    }
}

/// Strands on which each query is aligned.
pub fn strands(options: &Options, alphabet: Alphabet) -> u32 {
    if options.both_strands && alphabet == Alphabet::Dna { 2 } else { 1 }
}
