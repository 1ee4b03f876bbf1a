//! What a run reads before it begins: all references, and of the queries the first ones.

use super::report::{Reporter, warn};
use super::source::ReferenceSource;
use super::{circular, order};
use crate::alphabet::Alphabet;
use crate::candidates::StoredIndex;
use crate::error::{Error, Result};
use crate::options::{MatesChoice, Options};
use crate::reader::{Mates, Queries, QuerySource, Reader, References};
use std::path::PathBuf;
use std::sync::mpsc::SyncSender;

/// The references, and the queries that are still to be read.
pub struct OpenInputs {
    pub references: References,
    /// Where the references come from, as errors show it.
    pub target_file: PathBuf,
    /// The index of k-mers that came with them.
    pub index: Option<StoredIndex>,
    /// Read up to the first query. Their letters are no codes yet.
    pub queries: QuerySource,
}

impl OpenInputs {
    /// Reads them. The length of the first query is sent to `first` as soon as it is known.
    pub fn read(options: &Options, reporter: &dyn Reporter, first: SyncSender<usize>) -> Result<OpenInputs> {
        order::check_paths(options)?;
        let any_names = options.takes_any_name();
        let mut source = ReferenceSource::open(options)?;
        let mut reads = Reader::open_share(&options.query, options.part)?
            .with_any_names(any_names)
            .with_mask(options.masks_lower_case);
        reporter.stage(source.stage(options));
        order::check(options, &mut reads, &mut source)?;
        let first_query = reads.peek()?.map(|query| query.sequence.len());
        if let Some(len) = first_query {
            // Without a device to prepare there is no receiver.
            let _ = first.send(len);
        }
        let mut references = source.read(options)?;
        circular::close(&options.circular, &mut references, source.path())?;
        warn(reporter, source.warning());
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
        let index = source.index(options, &references);
        Ok(OpenInputs { references, target_file: source.path().to_path_buf(), index, queries })
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
