//! Inputs that a run reads before it begins: all references, and the first query.

use super::lanes::{self, SequencingLanes};
use super::report::{Reporter, warn};
use super::source::ReferenceSource;
use super::{alphabet, circular, order, profiles};
use crate::align::candidates::StoredIndex;
use crate::align::candidates::ambiguous::TargetRuns;
use crate::input::reader::{Reader, References};
use crate::terms::alignment::Strands;
use crate::terms::alphabet::Alphabet;
use crate::terms::error::{Error, Result};
use crate::terms::options::{Mode, Options, Translation};
use crate::terms::scoring::PositionScores;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

/// The references, and the queries that are still to be read.
pub struct OpenInputs {
    pub references: References,
    /// File of the references, as errors show it.
    pub target_file: PathBuf,
    /// The k-mer index of the references' database, if any.
    pub index: Option<StoredIndex>,
    /// Runs of ambiguous codes in all references, if this run searches a part of them.
    pub runs: Option<TargetRuns>,
    /// The lanes. The first one is read up to its first query, which is not encoded yet.
    pub lanes: SequencingLanes,
    /// The profiles of the queries, if they have any.
    pub profiles: Vec<Arc<PositionScores>>,
}

impl OpenInputs {
    /// Reads the inputs. Sends the length of the first query to `first` as soon as it is known. `queries` are those of the
    /// first lane, if they are open.
    pub fn read(
        options: &Options,
        queries: Option<Reader>,
        reporter: &dyn Reporter,
        first: SyncSender<usize>,
    ) -> Result<OpenInputs> {
        order::check_paths(options)?;
        ReferenceSource::announce(options, reporter);
        let mut source = ReferenceSource::open(options)?;
        let (queries, profiles) = match options.iterations.are_profiles {
            true => {
                let (reader, profiles) = profiles::read(options, reporter)?;
                (Some(reader), profiles)
            }
            false => (queries, Vec::new()),
        };
        let (mut reads, parts) = lanes::open_first(options, queries)?;
        reporter.stage(source.stage(options));
        if let (Mode::Triangle, ReferenceSource::Text(sequences)) = (options.mode, &source) {
            sequences.state().check_same(reads.state())?;
        }
        order::check(options, &mut reads, &mut source)?;
        let first_query = reads.peek()?.map(|query| query.sequence.len());
        if let Some(len) = first_query {
            // Without a device to prepare there is no receiver.
            let _ = first.send(len);
        }
        let alphabet = alphabet::settle(options, &mut source, Some(&mut reads), reporter)?;
        let (mut references, runs) = source.read(options, alphabet)?;
        if let Some(code) = options.translation.and_then(Translation::of_targets) {
            references = references.translated(code, source.path())?;
        }
        circular::close(&options.circular, &mut references, source.path())?;
        warn(reporter, source.warnings());
        warn(reporter, order::warning(options, (&mut reads, first_query.unwrap_or(0)), &references)?);
        let strands = strands(options, alphabet);
        if options.has_mates() && strands != Strands::Both {
            let text = match alphabet {
                Alphabet::Dna => "mates align to both strands; leave --strand (or --forward-only) out",
                Alphabet::Protein => {
                    "the references are protein, but mates are DNA; give DNA references, or use --alphabet dna"
                }
            };
            return Err(Error::Usage(text.to_string()));
        }
        let lanes = SequencingLanes::new(options, (reads, parts), (alphabet, strands));
        let index = source.index(options, &references);
        Ok(OpenInputs { references, target_file: source.path().to_path_buf(), index, runs, lanes, profiles })
    }
}

/// Strands on which each query is aligned.
pub fn strands(options: &Options, alphabet: Alphabet) -> Strands {
    match options.translation.filter(|translation| translation.queries) {
        Some(Translation { frames: Some(frames), .. }) => Strands::Frames(frames),
        Some(_) => options.strands.translated(options.scoring.frameshift.is_some()),
        None if alphabet == Alphabet::Dna => options.strands,
        None => Strands::Plus,
    }
}
