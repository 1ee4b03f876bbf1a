//! Modes other than local: scores and paths against the specification, at the seams of an engine's sizes.

use super::agreement::{scores_agree, specified, windows};
use super::blocks::cuts;
use super::inputs::{self, one_pair, scorings, seams};
use super::pairs::shared_case;
use super::stretches;
use crate::common::{batches, modes::MODES, random::Random};
use swalign::AlignmentMode;
use swalign::align::backtrace::{self, WantedPath};
use swalign::engine::blockwise::paths_in_blocks;
use swalign::engine::plain::Plain;
use swalign::engine::{Engine, Paths, Primitives, Window};
use swalign::terms::alignment::{HitEnd, PathRuns};
use swalign::terms::alphabet::Alphabet;
use swalign::terms::batch::{Batch, Pair, Sequences};
use swalign::terms::scoring::{MAX_PARAMETER, Matrix, Scoring};

/// Every way in which kernels find scores: small and large numbers, linear gaps, matrices, and gap costs of two pieces.
fn ways() -> Vec<Scoring> {
    [0, 2, 5, 6, 9].map(|number| scorings()[number].clone()).into_iter().chain(two_pieces()).collect()
}

/// Gap costs of two pieces for numbers and for a matrix.
fn two_pieces() -> [Scoring; 2] {
    let blosum = Scoring::matrix(Alphabet::Protein, Matrix::named("BLOSUM62").unwrap(), 9, 3);
    [(Scoring::dna(2, 4, 4, 2), (24, 1)), (blosum, (13, 1))]
        .map(|(scoring, (open, extend))| scoring.with_gap_piece(open, extend).unwrap())
}

/// These and others: a mismatch that costs nothing, and matches that score nothing.
fn all_scorings() -> Vec<Scoring> {
    let protein =
        |name, open, extend| Scoring::matrix(Alphabet::Protein, Matrix::named(name).unwrap(), open, extend);
    let mut all = scorings();
    all.extend([
        Scoring::dna(10_000, 20_000, 30_000, 1_000),
        // Gaps cost less than mismatches.
        Scoring::dna(2, 9, 0, 1),
        Scoring::dna(0, 1, 1, 1),
        protein("PAM30", 3, 1),
    ]);
    all.extend(two_pieces());
    all
}

/// Adapts pairs to a mode: some modes align only whole targets.
fn adapted(mode: AlignmentMode, pairs: &mut [Pair]) {
    if mode.needs_whole_targets() {
        pairs.iter_mut().for_each(|pair| (pair.start, pair.own) = (0, 0));
    }
}

/// Compares the paths of all hits with those of the specification, and rescores them. Returns the windows of the hits.
fn paths_agree(
    engine: &mut dyn Primitives,
    batch: &Batch,
    pairs: &[Pair],
    hits: &[HitEnd],
    case: &str,
) -> Vec<Window> {
    let some = pairs.iter().zip(hits).filter(|(_, hit)| !hit.is_none());
    let wanted: Vec<WantedPath> = some.map(|(pair, hit)| batches::wanted(batch, pair, hit)).collect();
    let expected =
        specified(batch, ("align", &wanted), || backtrace::align(&mut Plain::new(), batch, &wanted).unwrap());
    let all = engine.paths(batch, &windows(&wanted)).unwrap();
    let all = backtrace::alignments(batch, &wanted, &all).unwrap();
    for (which, found) in [("align", backtrace::align(engine, batch, &wanted).unwrap()), ("paths", all)] {
        assert_eq!(found.len(), expected.len(), "{case}");
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected, "{case}, {which}: {:?}", batch.scoring);
        }
    }
    let quick = engine.quick_paths(batch, &windows(&wanted)).unwrap();
    for (index, expected) in expected.iter().enumerate() {
        if let Some(runs) = quick.runs(index) {
            let mut cigar: PathRuns = runs.collect();
            cigar.reverse();
            assert_eq!(
                cigar, expected.cigar,
                "{case}, quick: {:?} {:?}",
                batch.scoring, wanted[index].window
            );
        }
    }
    windows(&wanted)
}

/// Scores and paths at every seam, for every second combination of a mode and a way to find scores, or every third one if
/// one in three are taken, from combination `first` on. Calls `after` with the batch and the pairs of each case.
pub fn seams_agree<P: Primitives>(
    engine: &mut P,
    (first, one_in): (usize, usize),
    mut after: impl FnMut(&mut P, &Batch, &[Pair]),
) {
    let step = one_in.max(2);
    for (place, mode) in MODES.into_iter().enumerate() {
        for (number, scoring) in ways().iter().enumerate().skip((place + first) % step).step_by(step) {
            let scoring = scoring.clone().in_mode(mode);
            let (batch, mut pairs) = inputs::batch(&scoring, &seams(usize::MAX), 900 + number as u64);
            adapted(mode, &mut pairs);
            let case = format!("seams, {mode}, scoring {number}");
            let hits = scores_agree(engine, &batch, &pairs, &case);
            paths_agree(engine, &batch, &pairs, &hits, &case);
            after(engine, &batch, &pairs);
        }
    }
}

/// Small pairs of few distinct bases, so that ties, gaps at ends and pairs without equal residues are common. One in
/// `one_in` combinations of a mode and a scoring.
pub fn small_pairs_agree(engine: &mut dyn Primitives, one_in: usize) {
    for (place, mode) in MODES.into_iter().enumerate() {
        for (number, scoring) in all_scorings().iter().enumerate().skip(place % one_in).step_by(one_in) {
            let scoring = scoring.clone().in_mode(mode);
            let mut random = Random::new(40 + number as u64);
            let (mut queries, mut targets) = (Vec::new(), Vec::new());
            for _ in 0..300 {
                // Of 15 codes of bases, all but four are ambiguous.
                let letters = random.pick(&[1, 2, 4, 6]);
                for all in [&mut queries, &mut targets] {
                    let most = random.pick(&[3, 9, 40]);
                    let len = 1 + random.below(most);
                    all.push(random.codes(len, letters));
                }
            }
            let batch = batches::of(&queries, &targets, scoring);
            let mut pairs = batches::whole_pairs(&batch);
            if !mode.needs_whole_targets() {
                pairs.iter_mut().for_each(|pair| pair.own = pair.query % 3);
            }
            let case = format!("small pairs, {mode}, scoring {number}");
            let hits = scores_agree(engine, &batch, &pairs, &case);
            paths_agree(engine, &batch, &pairs, &hits, &case);
        }
    }
}

/// Each query against many targets, so that workgroups share profiles.
pub fn shared_queries_agree(engine: &mut dyn Primitives) {
    for mode in MODES {
        for number in [0, 6, 7, 9] {
            let (batch, mut pairs) = shared_case(&scorings()[number].clone().in_mode(mode), number as u64);
            adapted(mode, &mut pairs);
            scores_agree(engine, &batch, &pairs, &format!("shared queries, {mode}, scoring {number}"));
        }
    }
}

/// Sweeps that serve several pairs exist in glocal mode.
pub fn stretches_agree(engine: &mut dyn Primitives) {
    for number in [0, 5, 6, 9] {
        let scoring = scorings()[number].clone().in_mode(AlignmentMode::Glocal);
        let (batch, pairs) = stretches::case(&scoring, 750 + number as u64, &stretches::ROWS);
        scores_agree(engine, &batch, &pairs, &format!("stretches, glocal, scoring {number}"));
    }
    let (batch, pairs) = stretches::shared(&scorings()[6].clone().in_mode(AlignmentMode::Glocal));
    scores_agree(engine, &batch, &pairs, "stretches of sweeps with one query, glocal");
}

/// Similar sequences with one gap at the start, in the middle or at the end, at the seams of words, lanes and bands, so
/// that most bands are narrow. Takes one in `one_in` combinations of scoring and mode. Returns all windows.
pub fn narrow_bands_agree(engine: &mut dyn Primitives, (first, one_in): (usize, usize)) -> Vec<Window> {
    let mut random = Random::new(60);
    let mut all = Vec::new();
    let [minimap2, _] = two_pieces();
    let all_scorings = [
        Scoring::dna(1, 4, 6, 1),
        Scoring::dna(3, 5, 0, 5),
        Scoring::dna(10_000, 20_000, 900, 800),
        minimap2,
    ];
    for (number, scoring) in all_scorings.iter().enumerate() {
        for (place, mode) in MODES.into_iter().enumerate() {
            if (number + place) % one_in != first % one_in {
                continue;
            }
            let scoring = scoring.clone().in_mode(mode);
            let (mut queries, mut targets) = (Sequences::default(), Sequences::default());
            let mut pairs = Vec::new();
            for rows in [1, 2, 31, 32, 33, 63, 64, 65, 150] {
                for gap in [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 30] {
                    for place in [0, rows / 2, rows] {
                        let query = random.codes(rows, 4);
                        let mut target = query.clone();
                        target.splice(place..place, random.codes(gap, 4));
                        if random.below(2) == 0 {
                            let at = random.below(target.len());
                            target[at] ^= 1;
                        }
                        // The gap is in either sequence.
                        let both = if random.below(2) == 0 { [query, target] } else { [target, query] };
                        let end = both[1].len() as u32;
                        let number = pairs.len() as u32;
                        pairs.push(Pair { query: number, target: number, start: 0, own: 0, end });
                        let [query, target] = both;
                        queries.push(query);
                        targets.push(target);
                    }
                }
            }
            let batch = batches::of(queries, targets, scoring);
            let case = format!("narrow bands, {mode}");
            let hits = scores_agree(engine, &batch, &pairs, &case);
            all.extend(paths_agree(engine, &batch, &pairs, &hits, &case));
        }
    }
    all
}

/// Pairs of several strips and runs of columns: their scores, their paths at once, and their paths block by block. Takes one
/// in `one_in` combinations of scoring and mode.
pub fn long_pairs_agree(engine: &mut dyn Primitives, (first, one_in): (usize, usize)) {
    let sizes = [(1300, 1700), (512, 513), (1024, 1024), (513, 2600), (40, 700), (700, 40), (2100, 2300)];
    let blosum = scorings()[6].clone();
    let all = [Scoring::dna(2, 4, 4, 2), blosum].into_iter().chain(two_pieces());
    for (number, scoring) in all.enumerate() {
        for (place, mode) in MODES.into_iter().enumerate() {
            if (number + place) % one_in != first % one_in {
                continue;
            }
            let scoring = scoring.clone().in_mode(mode);
            let (batch, mut pairs) = inputs::batch(&scoring, &sizes, 760 + number as u64);
            adapted(mode, &mut pairs);
            let case = format!("long pairs, {mode}, scoring {number}");
            let hits = scores_agree(engine, &batch, &pairs, &case);
            let windows = paths_agree(engine, &batch, &pairs, &hits, &case);
            let expected = Plain::new().paths(&batch, &windows).unwrap();
            let runs = |paths: &Paths, place: usize| paths.runs(place).map(Vec::from_iter);
            for (edges, ahead) in [(1 << 30, 1 << 30), (1 << 30, 1), (1, 1 << 30)] {
                let found = paths_in_blocks(engine, &batch, &windows, cuts(&scoring, edges, ahead)).unwrap();
                for (place, window) in windows.iter().enumerate() {
                    let case = format!("{case}, {edges} bytes of edges, {ahead} ahead: {window:?}");
                    assert_eq!(runs(&found, place), runs(&expected, place), "{case}");
                }
            }
        }
    }
}

/// Gaps as costly as the scores allow.
pub fn dear_gaps_agree(engine: &mut dyn Primitives) {
    let mut random = Random::new(61);
    for mode in MODES {
        let scoring = Scoring::dna(MAX_PARAMETER, MAX_PARAMETER, MAX_PARAMETER, MAX_PARAMETER).in_mode(mode);
        for (rows, cols) in [(200, 230), (200, 190), (230, 1), (1, 230)] {
            let target = random.codes(cols, 4);
            let mut query = target.clone();
            query.resize(rows, 2);
            let (batch, pair) = one_pair(&query, &target, &scoring);
            let case = format!("dear gaps, {mode}, {rows} x {cols}");
            let hits = scores_agree(engine, &batch, &[pair], &case);
            paths_agree(engine, &batch, &[pair], &hits, &case);
        }
    }
}

/// Pairs without residues, and pairs that own no column.
pub fn empty_pairs_agree(engine: &mut dyn Primitives) {
    for mode in MODES {
        let scoring = Scoring::dna(1, 4, 6, 1).in_mode(mode);
        let sequences = [&[0u8, 1, 2, 3][..], &[], &[1, 2]];
        let batch = batches::of(sequences, sequences, scoring);
        let pair = |query, target| batches::whole(&batch, query, target);
        let mut pairs: Vec<Pair> =
            (0..3).flat_map(|query| [0, 2].map(|target| pair(query, target))).collect();
        pairs.push(Pair { own: 4, ..pair(0, 0) });
        scores_agree(engine, &batch, &pairs, &format!("empty pairs, {mode}"));
    }
}
