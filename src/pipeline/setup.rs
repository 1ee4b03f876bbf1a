//! Context shared by the stages of a run, built from its options, its references and its device.

use super::align::{FIRST_ROOM, Turns};
use super::device::{Crew, EngineFactory, Hardware};
use super::inputs::strands;
use super::lanes::OpenLane;
use super::mates::{self, MateSample};
use super::query_search::QuerySearch;
use super::ranking::{self, Ranking};
use super::remembered::Remembered;
use super::repeats::TakenOut;
use super::report::{RESIDUES, Reporter, counted, warn};
use super::significance::Least;
use super::{Failure, Run, estimate};
use crate::align::candidates::ambiguous::TargetRuns;
use crate::align::candidates::filter::Filter;
use crate::align::candidates::{IndexShape, StoredIndex};
use crate::align::hits::{Rules, SearchSpace, Tiers};
use crate::align::pairing::Pairing;
use crate::align::split::Splitting;
use crate::input::reader::References;
use crate::output::statistics::Tally;
use crate::output::writer::list::RankedBy;
use crate::output::writer::part::HitSelection;
use crate::output::writer::{ChosenValues, NamedTargets, TiersTold, Writer};
use crate::terms::batch::Sequences;
use crate::terms::casts::{to_usize, whole_i64};
use crate::terms::error::Result;
use crate::terms::insert::InsertSize;
use crate::terms::options::{
    ANY_SCORE, FilterChoice, Mask, Mode, Options, Split, TieRule, anchored_score, default_drop,
    default_split_score,
};
use crate::terms::scoring::Scoring;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Bases of a short read.
const READ: usize = 150;
/// Minimum cost of a full search that a user should know of, in cells.
const COSTLY: u64 = 1 << 27;
/// Number of cells of the first batches, before the workers' speed is known.
pub(super) const FIRST_CELLS: u64 = 1 << 30;

impl<'a> Run<'a> {
    pub(super) fn new(
        options: &'a Options,
        reporter: &'a dyn Reporter,
        (references, target_file, (index, runs)): (
            References,
            PathBuf,
            (Option<StoredIndex>, Option<TargetRuns>),
        ),
        first: Option<&mut OpenLane>,
        (hardware, crew, engines): (&Hardware, &Crew, EngineFactory),
    ) -> Result<(Run<'a>, MateSample)> {
        let alphabet = references.alphabet;
        // Records keep their read groups, unless the command line specifies one.
        let read_groups = match &first {
            Some(OpenLane { queries, .. }) if options.copies_comments && options.read_group.is_none() => {
                queries.read_groups().to_vec()
            }
            _ => Vec::new(),
        };
        let scoring = Arc::new(options.scoring.resolve(alphabet)?);
        let least = Least::new(options, &scoring, &references.lengths)?;
        let min_score = least.min_score;
        // The limits on queries must not depend on the part, so they use the lengths of all references.
        let longest = references.lengths.iter().max().map_or(0, |&len| len as usize);
        let shortest_target = references.lengths.iter().min().map_or(1, |&len| len as usize);
        // An alignment may go around a circular target twice.
        let longest_here = references.sequences.iter().map(<[u8]>::len).max().unwrap_or(0);
        let longest_target = longest.max(longest_here);
        let targets = Arc::new(references.sequences);
        let left_out = references.left_out;
        let named = NamedTargets {
            names: references.names,
            titles: references.titles,
            lengths: references.lengths,
            sequences: Arc::clone(&targets),
            first: references.first,
            bases: references.bases,
        };
        reporter.detail(&told(&named, longest));
        let tie_names = (options.ranked.tie_rule == TieRule::Hash).then(|| named.names.clone());
        let limits = match options.ref_part {
            None => options.ranked.limits,
            Some(_) => options.ranked.limits.of_ref_part(),
        };
        let secondary_ppm = whole_i64((options.secondary_ratio * 1e6).round());
        let columns = |strands| columns(&named.lengths, strands);
        // A part has an index like that of all references.
        let letters = to_usize(columns(1));
        let shape_of = |part: usize| {
            let asked = options.sampled_kmers.map(IndexShape::from);
            asked.unwrap_or_else(|| IndexShape::of_part(letters, part))
        };
        // The minimum scores must not depend on the part, so they use the runs of all references.
        let runs = runs.or_else(|| TargetRuns::of(targets.codes(), &scoring));
        let columns = columns(strands(options, alphabet).count());
        let all = SearchSpace { columns, runs: runs.as_ref(), shape: shape_of(letters) };
        let tiers = tiers_of(options, &scoring, all, least.min_score);
        // Lists have no mapping quality. Lists of mates need it for the insert size.
        let tells_second = options.format.chooses_as_records() || options.has_mates();
        let rules = Rules { min_score, secondary_ppm, tells_second, ..ranking::rules(&limits) };
        let ranked = RankedBy::new(options.ranked.rank, least.significance);
        let ranking = Ranking::new(options, ranked, limits, (least, shortest_target));
        let shown = if min_score == ANY_SCORE { "none".to_string() } else { min_score.to_string() };
        reporter.detail(&format!("{scoring}, min_score={shown}"));
        warn(reporter, least.warning(options, &scoring));
        let cost = cost_of_min_score(options, &scoring, all);
        cost.into_iter().for_each(|text| reporter.note(&text));
        let strands = strands(options, alphabet);
        let repeats = TakenOut::new(options, (&targets, alphabet), index.is_some(), hardware);
        let filter = filter(options, (&targets, &scoring, strands.count()), hardware);
        let shape = shape_of(targets.codes().len());
        let filter = filter.map(|filter| filter.with_shape(shape, (&targets, &scoring, strands.count())));
        let filter = filter.map(|filter| filter.with_costs(hardware.costs(options.threads)));
        let filter = filter.map(|filter| match hardware.diagonals(&targets, &scoring) {
            Some(device) => filter.with_device(device),
            None => filter,
        });
        let filter = match options.segment {
            Some(bases) => filter.map(|filter| filter.with_segment(bases)),
            None => filter,
        };
        let filter = match index {
            Some(index) => filter.map(|filter| filter.with_stored(index)),
            None => filter,
        };
        if filter.is_none() && matches!(options.filter, FilterChoice::Index | FilterChoice::Scan) {
            reporter.note(
                "this filter does not support these references and scores: every query is searched in full",
            );
        }
        let paired = |insert| Pairing::new(insert, rules, &scoring);
        // Each lane has its own insert size, so the header states none.
        let mates = match first {
            Some(OpenLane { lane, queries, .. }) if !options.has_lanes() => {
                queries.mates().map(|mates| (&*lane, mates))
            }
            _ => None,
        };
        let (pairing, sample) = match mates {
            None => (None, MateSample::default()),
            Some((lane, mates)) => {
                let search = QuerySearch {
                    options,
                    reporter,
                    targets: &targets,
                    scoring: &scoring,
                    // They are the same for every insert size.
                    rules: paired(InsertSize::ASSUMED).candidates(),
                    least: &least,
                    shortest_target,
                    tiers: tiers.as_ref(),
                    ranking: None,
                    strands,
                    filter: filter.as_ref(),
                    repeats: &repeats,
                };
                let (insert, sample) = mates::insert_size(&search, (lane, mates), (crew, engines))?;
                (Some(paired(insert)), sample)
            }
        };
        let insert = match options.has_lanes() {
            true => options.insert.filter(|_| options.has_mates()),
            false => pairing.map(|pairing| pairing.insert),
        };
        let split = options.split.map(|Split { score, is_complete, drop }| Splitting {
            least: score.unwrap_or_else(|| default_split_score(&scoring, min_score)),
            is_bounded: !is_complete,
            drop: drop.unwrap_or_else(|| default_drop(&scoring, options.scoring.preset)),
        });
        let split_tiers = split.and_then(|splitting| tiers_of(options, &scoring, all, splitting.least));
        let split_score = split.map(|splitting| splitting.least);
        let told = tiers.as_ref().and_then(told_tiers);
        let chosen = ChosenValues {
            min_score,
            tiers: told,
            evalue: least.evalue,
            insert,
            split: split_score,
            ranked,
            read_groups,
        };
        let tally = options
            .files_about()
            .next()
            .map(|_| Tally::new(&scoring, &targets, options.ranked.mask != Mask::None));
        let mut writer = Writer::new(options, chosen, Arc::clone(&scoring), named)?;
        if let Some(part) = options.ref_part {
            let selection = HitSelection {
                min_score,
                anchored_score: tiers.as_ref().map_or(min_score, |tiers| tiers.least),
                secondary_ppm,
                limits: options.ranked.limits,
                ranked,
                identity: options.ranked.identity,
                insert,
            };
            writer = writer.of_part(part, &selection)?;
        }
        let run = Run {
            options,
            reporter,
            targets,
            left_out,
            target_file,
            longest_target,
            shortest_target,
            scoring,
            rules,
            tie_names,
            least,
            tiers,
            ranking,
            pairing,
            insert,
            split,
            split_tiers,
            strands,
            filter,
            repeats,
            remembered: Remembered::default(),
            profiles: None,
            tally,
            audit: None,
            writer,
            turns: Turns::default(),
            room: AtomicUsize::new(usize::MAX),
            failure: Failure::default(),
            cells: AtomicU64::new(sample.cells.unwrap_or(FIRST_CELLS)),
            reading: AtomicU64::new(0),
            done: Arc::default(),
        };
        if run.query_search().most_hits() < usize::MAX {
            run.room.store(FIRST_ROOM, Ordering::Relaxed);
        }
        Ok((run, sample))
    }
}

/// The minimum scores of both tiers if the run has them. No hit scores less than `floor`.
fn tiers_of(options: &Options, scoring: &Scoring, space: SearchSpace, floor: i32) -> Option<Tiers> {
    let anchored = anchored_score(scoring).filter(|_| options.has_tiers())?;
    let tiers = Tiers::new(scoring, space, floor, (options.anchor, anchored));
    Some(if options.limits_by_quality { tiers.with_quality(scoring) } else { tiers })
}

/// Note on the cost of a minimum score below the score that the filter proves for reads of [`READ`] bases, if the cost
/// is high.
fn cost_of_min_score(options: &Options, scoring: &Scoring, space: SearchSpace) -> Option<String> {
    let least = options.min_score?;
    let by_default = Options { min_score: None, ..options.clone() };
    let has_filter = options.filter != FilterChoice::None && scoring.mode.is_local();
    let tiers = tiers_of(&by_default, scoring, space, least).filter(|_| has_filter)?;
    let (proven, cells) = (tiers.least_score(&[0; READ]), READ as u64 * space.columns);
    let otherwise = match tiers.anchor {
        0 => format!("no hit below {proven} is reported"),
        anchor => format!("hits below {proven} are found by exact runs of {anchor} bases"),
    };
    (least < proven && cells >= COSTLY).then(|| {
        format!(
            "--min-score {least} is proven for every query: each query of {READ} bases without a hit takes a full search of {} \
             million cells; without --min-score, {otherwise}",
            cells / 1_000_000
        )
    })
}

/// Whether the index of these references has a sample of their k-mers, if they have an index.
pub(super) fn has_sampled_index(options: &Options, references: &References) -> bool {
    let letters = to_usize(columns(&references.lengths, 1));
    references.alphabet == crate::terms::alphabet::Alphabet::Dna
        && (options.sampled_kmers.is_some() || IndexShape::suited(letters).step > 1)
}

/// Residues of all references on the strands of a run.
fn columns(lengths: &[u32], strands: u32) -> u64 {
    lengths.iter().map(|&len| u64::from(len)).sum::<u64>() * u64::from(strands)
}

/// Description of the tiers for headers. `None` if all queries have the same minimum score.
fn told_tiers(tiers: &Tiers) -> Option<TiersTold> {
    let (lowest, highest) = tiers.range();
    let &Tiers { anchor, least, is_large, .. } = tiers;
    let is_raised = tiers.has_raised();
    (lowest < highest || tiers.has_long()).then_some(TiersTold {
        highest,
        is_raised,
        anchor,
        least,
        is_large,
        has_quality: tiers.has_quality(),
    })
}

/// The requested filter. `None` if the targets or the scoring do not allow it.
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
    match options.filter {
        // Seeds of one frame do not bound alignments in several.
        _ if scoring.frameshift.is_some() => None,
        FilterChoice::None => None,
        FilterChoice::Auto => Filter::auto(targets, scoring, strands, scan(), queries),
        FilterChoice::Index => Filter::by_index(targets, scoring, strands),
        FilterChoice::Scan => Filter::by_scan(targets, scoring, strands, scan()),
    }
}

/// Description of the references for verbose output.
fn told(targets: &NamedTargets, longest: usize) -> String {
    let NamedTargets { names, lengths, sequences, .. } = targets;
    let letters: u64 = lengths.iter().map(|&len| u64::from(len)).sum();
    let own = match sequences.len() == names.len() {
        true => String::new(),
        false => {
            let residues = counted(sequences.codes().len() as u64, RESIDUES);
            format!("; this part has {}, {residues}", sequences.len())
        }
    };
    let references = counted(names.len() as u64, ["reference", "references"]);
    format!("{references}, {}, the longest {longest}{own}", counted(letters, RESIDUES))
}
