//! What the stages of a run share, made from its options, its references and its device.

use super::device::Hardware;
use super::inputs::strands;
use super::mates::PairingScope;
use super::ranking::{self, Ranking};
use super::remembered::Remembered;
use super::repeats::TakenOut;
use super::report::{Reporter, counted};
use super::significance::Least;
use super::{Failure, Run, estimate};
use crate::batch::Sequences;
use crate::candidates::StoredIndex;
use crate::candidates::filter::Filter;
use crate::error::Result;
use crate::hits::Rules;
use crate::options::{ANY_SCORE, FilterChoice, Mode, Options, OutputFormat, Split, default_split_score};
use crate::pairing::Pairing;
use crate::quality::{PairScores, Typical};
use crate::reader::{QuerySource, References};
use crate::scoring::Scoring;
use crate::split::Splitting;
use crate::statistics::Tally;
use crate::writer::receipt::{Choice, ListInReceipt, MatesInReceipt};
use crate::writer::{Chosen, NamedTargets, Writer};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Cells of the first batches, before the workers' speed is known.
const FIRST_CELLS: u64 = 1 << 30;

impl<'a> Run<'a> {
    pub(super) fn new(
        options: &'a Options,
        reporter: &'a dyn Reporter,
        (references, target_file, index): (References, PathBuf, Option<StoredIndex>),
        queries: &mut QuerySource,
        hardware: &Hardware,
    ) -> Result<Run<'a>> {
        let alphabet = references.alphabet;
        let scoring = Arc::new(options.scoring.resolve(alphabet)?);
        let least = Least::new(options, &scoring, &references.lengths)?;
        let min_score = least.min_score;
        // What a query is refused for must not depend on the part.
        let longest = references.lengths.iter().max().map_or(0, |&len| len as usize);
        let shortest_target = references.lengths.iter().min().map_or(0, |&len| len as usize);
        // An alignment may go round a circle twice.
        let longest_here = references.sequences.iter().map(<[u8]>::len).max().unwrap_or(0);
        let longest_target = longest.max(longest_here);
        let targets = Arc::new(references.sequences);
        let named = NamedTargets {
            names: references.names,
            titles: references.titles,
            lengths: references.lengths,
            sequences: Arc::clone(&targets),
            first: references.first,
        };
        reporter.detail(&told(&named, longest));
        let limits = match options.ref_part {
            None => options.limits,
            Some(_) => options.limits.of_ref_part(),
        };
        let secondary_ppm = (options.secondary_ratio * 1e6).round() as i64;
        // Lists have no mapping quality.
        let tells_second = matches!(options.format, OutputFormat::Records(_));
        let rules = Rules { min_score, secondary_ppm, tells_second, ..ranking::rules(&limits) };
        let ranking = Ranking::new(options.rank, limits, options.identity, least.significance);
        let shown = if min_score == ANY_SCORE { "none".to_string() } else { min_score.to_string() };
        reporter.detail(&format!("{scoring}, min_score={shown}"));
        if matches!(options.format, OutputFormat::Hits(_))
            && scoring.mode.is_local()
            && least.significance.is_none()
        {
            reporter.note(&format!(
                "scores of random sequences grow without bound under this scoring, so hits have no E-values; they score \
                 {min_score} or more (--min-score)"
            ));
        }
        let strands = strands(options, alphabet);
        let repeats = TakenOut::new(options, (&targets, alphabet), index.is_some(), hardware);
        let filter = filter(options, (&targets, &scoring, strands), hardware);
        let filter = match index {
            Some(index) => filter.map(|filter| filter.with_stored(index)),
            None => filter,
        };
        if filter.is_none() && matches!(options.filter, FilterChoice::Index | FilterChoice::Scan) {
            reporter.note(
                "no filter of that name for these references and scores: every query is searched in full",
            );
        }
        let pairing = queries.mates().map(|mates| {
            let scope = PairingScope {
                options,
                targets: &targets,
                scoring: &scoring,
                rules,
                filter: filter.as_ref(),
            };
            scope.pairing(mates, hardware, reporter)
        });
        let pairing = pairing.transpose()?;
        let insert = pairing.map(|pairing| pairing.insert);
        let split = options.split.map(|Split { score, is_complete }| Splitting {
            least: score.unwrap_or_else(|| default_split_score(&scoring, min_score)),
            is_bounded: !is_complete,
        });
        let Least { evalue, significance, .. } = least;
        let split_score = split.map(|splitting| splitting.least);
        let chosen = Chosen { min_score, evalue, insert, split: split_score, significance };
        let tally = options.files_about().next().map(|_| Tally::new(&scoring, &targets));
        let writer = Writer::new(options, chosen, Arc::clone(&scoring), named)?;
        Ok(Run {
            options,
            reporter,
            targets,
            target_file,
            longest_target,
            shortest_target,
            scoring,
            rules,
            least,
            ranking,
            pairing,
            split,
            strands,
            filter,
            repeats,
            remembered: Remembered::default(),
            tally,
            writer,
            failure: Failure::default(),
            cells: AtomicU64::new(FIRST_CELLS),
            reading: AtomicU64::new(0),
            done: Arc::default(),
        })
    }

    /// How hits are chosen, for a merge of parts of the references.
    pub(super) fn choice(&self) -> Choice {
        let Rules { min_score, secondary_ppm, .. } = self.rules;
        let mates =
            self.pairing.map(|Pairing { insert, scores: PairScores { match_, close, .. }, .. }| {
                MatesInReceipt { insert, match_, close }
            });
        let list = matches!(self.options.format, OutputFormat::Hits(_)).then(|| ListInReceipt {
            rank: self.options.rank,
            alphabet: self.scoring.alphabet,
            columns: self.options.columns.clone(),
        });
        let limits = self.options.limits;
        Choice { min_score, secondary_ppm, limits, typical: Typical::of(&self.scoring), mates, list }
    }
}

/// The filter that was asked for; `None` where there is none for such targets and scores.
pub(super) fn filter(
    options: &Options,
    (targets, scoring, strands): (&Arc<Sequences>, &Arc<Scoring>, u32),
    hardware: &Hardware,
) -> Option<Filter> {
    if options.mode != Mode::All || !scoring.mode.is_local() {
        return None;
    }
    let scan = || Box::new(hardware.finder(targets));
    let parts = options.part.map_or(1, |part| u64::from(part.of));
    let queries = estimate::query_letters(options).map(|letters| letters / parts);
    let filter = match options.filter {
        FilterChoice::None => None,
        FilterChoice::Auto => Filter::auto(targets, scoring, strands, scan(), queries),
        FilterChoice::Index => Filter::by_index(targets, scoring, strands),
        FilterChoice::Scan => Filter::by_scan(targets, scoring, strands, scan()),
    };
    filter.map(|filter| filter.with_costs(hardware.costs(options.threads)))
}

/// What the references are, for a curious user.
fn told(targets: &NamedTargets, longest: usize) -> String {
    let NamedTargets { names, lengths, sequences, .. } = targets;
    let letters: u64 = lengths.iter().map(|&len| u64::from(len)).sum();
    let own = match sequences.len() == names.len() {
        true => String::new(),
        false => format!("; of this part {}, {} letters", sequences.len(), sequences.codes().len()),
    };
    let references = counted(names.len() as u64, ["reference", "references"]);
    format!("{references}, {letters} letters, the longest {longest}{own}")
}
