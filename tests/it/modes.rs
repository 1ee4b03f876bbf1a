//! Modes other than local, compared with their definition: the best alignment of all stretches that a mode allows. The
//! definition is computed with the recurrence of Waterman, Smith and Beyer 1976, which tries each length of a gap.

use crate::common::batches::{self, whole};
use crate::common::definition::{MOST, oracle};
use crate::common::{codes, modes::MODES, one_strand, random::Random};
use swalign::align::backtrace;
use swalign::align::candidates::{CHUNK, Meets, PairLayout};
use swalign::align::hits::{self, Effort, Rules, SearchInput};
use swalign::engine::Engine;
use swalign::engine::cpu::Cpu;
use swalign::engine::cpu::simd::InstructionSet;
use swalign::engine::plain::Plain;
use swalign::terms::alignment::{Alignment, HitEnd, PathOp, QueryResult, Strands};
use swalign::terms::alphabet::Alphabet;
use swalign::terms::batch::{Batch, Pair, STRETCH};
use swalign::terms::scoring::{AlignmentMode, Matrix, Scoring};

/// The best score of the whole query against the whole target, and the best score of alignments that align at least one
/// pair of residues.
fn global(query: &[u8], target: &[u8], scoring: &Scoring) -> (i64, i64) {
    const NONE: i64 = i64::MIN / 2;
    let mut best = vec![vec![[NONE; 2]; target.len() + 1]; query.len() + 1];
    for i in 0..=query.len() {
        for j in 0..=target.len() {
            let mut here = [if i + j == 0 { 0 } else { NONE }, NONE];
            if i > 0 && j > 0 {
                let met = best[i - 1][j - 1][0].max(best[i - 1][j - 1][1]);
                here[1] = met + i64::from(scoring.score(query[i - 1], target[j - 1]));
            }
            for layer in 0..2 {
                for gap in 1..=i {
                    here[layer] = here[layer].max(best[i - gap][j][layer] - scoring.gap_cost(gap));
                }
                for gap in 1..=j {
                    here[layer] = here[layer].max(best[i][j - gap][layer] - scoring.gap_cost(gap));
                }
            }
            best[i][j] = here;
        }
    }
    let [gaps, met] = best[query.len()][target.len()];
    (gaps.max(met), met)
}

/// The best score and the first end with this score, by definition.
fn defined(query: &[u8], target: &[u8], own: usize, scoring: &Scoring) -> HitEnd {
    let mode = scoring.mode;
    let mut best = HitEnd::NONE;
    for query_start in 0..=query.len() {
        for target_start in (0..=target.len()).filter(|&start| mode.may_begin(query_start, start)) {
            for query_end in query_start.max(1)..=query.len() {
                for target_end in target_start.max(own + 1)..=target.len() {
                    if !mode.may_end(query.len() - query_end, target.len() - target_end) {
                        continue;
                    }
                    let of = (&query[query_start..query_end], &target[target_start..target_end]);
                    let (any, met) = global(of.0, of.1, scoring);
                    let score = if mode.needs_aligned_residues() { met } else { any };
                    let hit = HitEnd {
                        score: score.max(i32::MIN.into()) as i32,
                        query_end: query_end as u32,
                        target_end: target_end as u32,
                    };
                    if hit.order(&best).is_lt() {
                        best = hit;
                    }
                }
            }
        }
    }
    best
}

fn scorings() -> Vec<Scoring> {
    let protein =
        |name, open, extend| Scoring::matrix(Alphabet::Protein, Matrix::named(name).unwrap(), open, extend);
    let two = |scoring: Scoring, (open, extend)| scoring.with_gap_piece(open, extend).unwrap();
    vec![
        Scoring::dna(1, 4, 6, 1),
        Scoring::dna(2, 3, 0, 2),
        // Gaps are cheaper than mismatches.
        Scoring::dna(2, 9, 0, 1),
        Scoring::dna(1, 0, 0, 1),
        protein("BLOSUM62", 11, 1),
        protein("PAM30", 3, 1),
        // The second piece is cheaper for gaps of at least 3, 2 and 1 residues.
        two(Scoring::dna(3, 4, 1, 4), (7, 1)),
        two(Scoring::dna(2, 9, 0, 3), (2, 1)),
        two(protein("PAM30", 3, 9), (4, 2)),
    ]
}

fn batch(queries: &[Vec<u8>], targets: &[Vec<u8>], scoring: &Scoring) -> Batch {
    batches::of(queries, targets, scoring.clone())
}

/// The plain engine, and a CPU engine for each instruction set of this machine.
fn engines() -> Vec<Box<dyn Engine>> {
    let sets = InstructionSet::available().into_iter().map(|set| Box::new(Cpu::on(set)) as Box<dyn Engine>);
    std::iter::once(Box::new(Plain::new()) as Box<dyn Engine>).chain(sets).collect()
}

/// Returns the score of an alignment's path, and checks that the mode allows its start and end.
fn rescore(batch: &Batch, pair: &Pair, alignment: &Alignment) -> i64 {
    let (query, target) = (batch.query(pair.query), batch.target(pair.target));
    let mode = batch.scoring.mode;
    let (mut i, mut j) = (alignment.query_start as usize, alignment.target_start as usize);
    assert!(mode.may_begin(i, j), "{mode}: begins at {i}, {j}");
    let (mut score, mut pairs) = (0, 0);
    for &(len, op) in &alignment.cigar {
        let len = len as usize;
        match op {
            PathOp::Match => {
                score += batch.scoring.score_all(&query[i..i + len], &target[j..j + len]);
                (i, j, pairs) = (i + len, j + len, pairs + len);
            }
            PathOp::Insertion => (score, i) = (score - batch.scoring.gap_cost(len), i + len),
            PathOp::Deletion => (score, j) = (score - batch.scoring.gap_cost(len), j + len),
        }
    }
    assert_eq!((i as u32, j as u32), (alignment.query_end, alignment.target_end));
    assert!(mode.may_end(query.len() - i, target.len() - j), "{mode}: ends at {i}, {j}");
    assert!(!mode.needs_aligned_residues() || pairs > 0, "an empty overlap");
    score
}

fn paths(engine: &mut dyn Engine, batch: &Batch, pairs: &[Pair], hits: &[HitEnd]) -> Vec<Alignment> {
    let wanted = pairs.iter().zip(hits).map(|(pair, hit)| batches::wanted(batch, pair, hit));
    backtrace::align(engine, batch, &wanted.collect::<Vec<_>>()).unwrap()
}

/// Short sequences of few distinct residues, so that ties, gaps at ends and pairs without similarity are common.
#[test]
fn engines_keep_to_the_definition() {
    let mut random = Random::new(23);
    for scoring in scorings() {
        for mode in MODES {
            let scoring = scoring.clone().in_mode(mode);
            let letters = if scoring.alphabet == Alphabet::Dna { 4 } else { 20 };
            let mut any = |most: usize| {
                let (len, letters) = (1 + random.below(most), random.pick(&[2, 3, letters]));
                random.codes(len, letters)
            };
            let queries: Vec<Vec<u8>> = (0..40).map(|_| any(7)).collect();
            let targets: Vec<Vec<u8>> = (0..40).map(|_| any(9)).collect();
            let batch = batch(&queries, &targets, &scoring);
            let mut pairs: Vec<Pair> = (0..40).map(|k| whole(&batch, k, k)).collect();
            if !mode.needs_whole_targets() {
                // The same pairs, whose ends may only be in the second half of the columns.
                let own = |pair: &Pair| Pair { own: pair.end / 2, ..*pair };
                pairs.extend(pairs.clone().iter().map(own));
            }
            let expected: Vec<HitEnd> = pairs
                .iter()
                .map(|pair| {
                    let (query, target) = (batch.query(pair.query), batch.target(pair.target));
                    defined(query, target, pair.own as usize, &scoring)
                })
                .collect();
            for mut engine in engines() {
                let name = engine.capabilities().name;
                let hits = engine.score(&batch, &pairs).unwrap();
                for ((pair, hit), expected) in pairs.iter().zip(&hits).zip(&expected) {
                    let (query, target) = (batch.query(pair.query), batch.target(pair.target));
                    assert_eq!(hit, expected, "{name}, {scoring}: {query:?} {target:?} from {}", pair.own);
                }
                for (pair, alignment) in pairs.iter().zip(paths(&mut *engine, &batch, &pairs, &hits)) {
                    assert_eq!(rescore(&batch, pair, &alignment), i64::from(alignment.score), "{name}");
                }
            }
        }
    }
}

/// At the boundary sizes of lanes, strips, blocks and stretches, all engines find the ends and paths of the plain
/// engine.
#[test]
fn engines_agree_at_the_seams_of_their_sizes() {
    let mut random = Random::new(24);
    let two = |scoring: Scoring, (open, extend)| scoring.with_gap_piece(open, extend).unwrap();
    let affine = [Scoring::dna(1, 4, 6, 1), Scoring::dna(5, 4, 8, 6), scorings().remove(4)];
    let protein = Scoring::matrix(Alphabet::Protein, Matrix::named("BLOSUM62").unwrap(), 9, 3);
    let others = [two(Scoring::dna(2, 4, 4, 2), (24, 1)), two(protein, (20, 1))];
    for scoring in affine.into_iter().chain(others) {
        for mode in MODES {
            let scoring = scoring.clone().in_mode(mode);
            let letters = if scoring.alphabet == Alphabet::Dna { 4 } else { 20 };
            let lengths = [1, 2, 15, 16, 17, 31, 33, 63, 64, 65, 100, 127, 129, 250, 511, 513, 1030];
            let (mut queries, mut targets) = (Vec::new(), Vec::new());
            for (number, len) in lengths.into_iter().chain([150; 40]).enumerate() {
                let query = random.codes(len, letters);
                let mut target = random.mutated_codes(&query, letters, [3, 12, 1000][number % 3]);
                // An empty target has no alignment.
                if target.is_empty() {
                    target = random.codes(1, letters);
                }
                for _ in 0..random.below(3) {
                    let more = random.below(200);
                    let (at, codes) = (random.below(target.len() + 1), random.codes(more, letters));
                    target.splice(at..at, codes);
                }
                queries.push(query);
                targets.push(target);
            }
            // A target that is far too short, and a target of several stretches.
            let all = queries.len() as u32;
            queries.extend([random.codes(300, letters), random.codes(40, letters)]);
            targets.extend([random.codes(3, letters), random.codes(3 * STRETCH as usize + 77, letters)]);
            let batch = batch(&queries, &targets, &scoring);
            let mut pairs: Vec<Pair> = (0..all + 2).map(|k| whole(&batch, k, k)).collect();
            // One query against many targets.
            pairs.extend((0..all).map(|k| whole(&batch, 30, k)));
            if !mode.needs_whole_targets() {
                let last = whole(&batch, all + 1, all + 1);
                let border = |k: u32| (k * STRETCH).min(last.end);
                pairs.extend((0..4).map(|k| Pair { own: border(k), end: border(k + 1), ..last }));
                pairs.push(Pair { start: 500, own: 700, end: 1500, ..last });
            }
            let plain = Plain::new().score(&batch, &pairs).unwrap();
            let plain_paths = paths(&mut Plain::new(), &batch, &pairs, &plain);
            for mut engine in engines() {
                let name = engine.capabilities().name;
                let hits = engine.score(&batch, &pairs).unwrap();
                for ((pair, hit), expected) in pairs.iter().zip(&hits).zip(&plain) {
                    assert_eq!(hit, expected, "{name}, {scoring}: {pair:?}");
                }
                // Calls with a single pair are computed in strips.
                for (pair, expected) in pairs.iter().zip(&plain) {
                    assert_eq!(
                        engine.score(&batch, &[*pair]).unwrap(),
                        [*expected],
                        "{name}, {scoring}: {pair:?}"
                    );
                }
                let found = paths(&mut *engine, &batch, &pairs, &hits);
                for ((pair, path), expected) in pairs.iter().zip(&found).zip(&plain_paths) {
                    assert_eq!(path, expected, "{name}, {scoring}: {pair:?}");
                    if pair.start == 0 && pair.end as usize == batch.target(pair.target).len() {
                        assert_eq!(rescore(&batch, pair, path), i64::from(path.score));
                    }
                }
            }
        }
    }
}

/// Long pairs are swept in parts, and traced block by block.
#[test]
fn long_pairs_agree() {
    let mut random = Random::new(25);
    let affine = Scoring::dna(2, 4, 4, 2);
    let two_pieces = affine.clone().with_gap_piece(24, 1).unwrap();
    for (mode, scoring) in MODES.into_iter().flat_map(|mode| [(mode, &affine), (mode, &two_pieces)]) {
        let scoring = scoring.clone().in_mode(mode);
        let query = random.codes(4500, 4);
        let mut target = random.mutated_codes(&query, 4, 15);
        target.splice(2000..2000, random.codes(700, 4));
        let batch = batch(&[query], &[target], &scoring);
        let pairs = [whole(&batch, 0, 0)];
        let plain = Plain::new().score(&batch, &pairs).unwrap();
        let expected = paths(&mut Plain::new(), &batch, &pairs, &plain);
        assert_eq!(rescore(&batch, &pairs[0], &expected[0]), i64::from(plain[0].score));
        let mut cpu = Cpu::new();
        assert_eq!(cpu.score(&batch, &pairs).unwrap(), plain, "{mode}");
        assert_eq!(paths(&mut cpu, &batch, &pairs, &plain), expected, "{mode}");
    }
}

#[test]
fn by_hand() {
    let dna = |text: &str| codes(Alphabet::Dna, text.as_bytes());
    let found = |mode, query: &str, target: &str| {
        let scoring = Scoring::dna(1, 1, 0, 2).in_mode(mode);
        let batch = batch(&[dna(query)], &[dna(target)], &scoring);
        let pairs = [whole(&batch, 0, 0)];
        let hits = Plain::new().score(&batch, &pairs).unwrap();
        let path = paths(&mut Plain::new(), &batch, &pairs, &hits).remove(0);
        let cigar: String = path.cigar.iter().map(|(len, op)| format!("{len}{op:?} ")).collect();
        (path.score, (path.query_start, path.query_end), (path.target_start, path.target_end), cigar)
    };
    use AlignmentMode::{Global, Glocal, Overlap};
    assert_eq!(found(Glocal, "ACGT", "TTACGTTT"), (4, (0, 4), (2, 6), "4Match ".into()));
    assert_eq!(found(Glocal, "ACGTA", "TTACGTTT"), (3, (0, 5), (2, 7), "5Match ".into()));
    assert_eq!(found(Global, "ACGT", "TTACGT"), (0, (0, 4), (0, 6), "2Deletion 4Match ".into()));
    assert_eq!(found(Global, "ACGT", "ACT"), (1, (0, 4), (0, 3), "2Match 1Insertion 1Match ".into()));
    assert_eq!(found(Overlap, "CCCACGT", "ACGTGGG"), (4, (3, 7), (0, 4), "4Match ".into()));
    assert_eq!(found(Overlap, "AA", "CC"), (-1, (1, 2), (0, 1), "1Match ".into()));
    // An insertion and a deletion would score -4.
    assert_eq!(found(Global, "A", "C"), (-1, (0, 1), (0, 1), "1Match ".into()));
}

/// The hits of queries with copies in targets of one chunk and of several chunks.
#[test]
fn hits_are_those_of_their_definition() {
    let mut random = Random::new(26);
    let (mut negative, mut further) = (0, 0);
    for case in 0..24 {
        let mode = MODES[case % MODES.len()];
        let (match_, mismatch, open, extend) = random.pick(&[(1, 4, 6, 1), (2, 4, 4, 2), (1, 1, 0, 2)]);
        let scoring = Scoring::dna(match_, mismatch, open, extend).in_mode(mode);
        let letters = random.pick(&[2, 4]);
        let strands = random.pick(&[one_strand(case as u64), Strands::Both]);
        let queries: Vec<Vec<u8>> = (0..3)
            .map(|_| {
                let len = 5 + random.below(25);
                random.codes(len, letters)
            })
            .collect();
        let mut targets: Vec<Vec<u8>> = Vec::new();
        for len in [1, 60, CHUNK as usize - 5, 2 * CHUNK as usize + 100] {
            let mut target = random.codes(len, letters);
            for _ in 0..6 {
                let query = &queries[random.below(3)];
                let copy = random.mutated_codes(query, letters, 8);
                let anywhere = random.below(len);
                let at = random.pick(&[anywhere, CHUNK as usize - 10]);
                target.iter_mut().skip(at).zip(copy).for_each(|(old, new)| *old = new);
            }
            targets.push(target);
        }
        let mut all = Vec::new();
        for query in &queries {
            all.push(query.clone());
            if strands == Strands::Both {
                all.push(query.iter().rev().map(|code| 3 - code).collect());
            }
        }
        let batch = batch(&all, &targets, &scoring);
        let layout = PairLayout { strands, meets: Meets::All };
        for (min_score, secondary_ppm) in [(-1_000_000, 0), (-1_000_000, 800_000), (match_ * 6, 0)] {
            let rules = Rules { min_score, secondary_ppm, max_hits: MOST - 1, ..Rules::BEST };
            let scope = SearchInput::new(&batch, layout, rules);
            let found = hits::find(&mut Cpu::new(), &scope, &mut Effort::default()).unwrap();
            for (record, found) in (0..).zip(&found) {
                let (expected, threshold) = oracle(&batch, &layout, record, min_score, secondary_ppm);
                let expected: Vec<Alignment> = expected.into_iter().take(MOST - 1).collect();
                assert_eq!(found.alignments, expected, "case {case}, {scoring}, record {record}");
                assert_eq!(found.threshold, threshold);
                negative += expected.iter().filter(|hit| hit.score < 0).count();
                further += expected.len().saturating_sub(1);
            }
        }
    }
    assert!(negative > 50 && further > 100, "{negative} negative, {further} further hits");
}

/// If only a few of many targets are requested, their local scores select the targets to score in the requested mode.
#[test]
fn local_scores_are_bounds_that_lose_no_hit() {
    let mut random = Random::new(27);
    let mut some = 0;
    for case in 0..8 {
        let (match_, mismatch, open, extend) = random.pick(&[(1, 4, 6, 1), (2, 4, 4, 2), (1, 1, 0, 2)]);
        let scoring = Scoring::dna(match_, mismatch, open, extend).in_mode(AlignmentMode::Glocal);
        let letters = random.pick(&[2, 4]);
        // An empty query, and a query of residues that match nothing.
        let mut queries = vec![Vec::new(), vec![9; 12]];
        queries.extend((0..6).map(|_| {
            let len = 5 + random.below(60);
            random.codes(len, letters)
        }));
        let targets: Vec<Vec<u8>> = (0..400)
            .map(|_| {
                let len = random.below(120);
                let mut target = random.codes(len, letters);
                let query = &queries[random.below(queries.len())];
                let part = random.below(query.len() + 1);
                target.extend(random.mutated_codes(&query[part / 2..], letters, 8));
                target
            })
            .collect();
        let strands = random.pick(&[one_strand(case as u64), Strands::Both]);
        let oriented = queries.iter().flat_map(|query| {
            let reverse = query.iter().rev().map(|code| if *code < 4 { 3 - code } else { *code }).collect();
            [query.clone(), reverse].into_iter().take(strands.count() as usize)
        });
        let batch = batch(&oriented.collect::<Vec<_>>(), &targets, &scoring);
        let layout = PairLayout { strands, meets: Meets::All };
        for (min_score, max_targets, max_per_target, keeps_ties) in
            [(-1_000_000, 1, 1, false), (-1_000_000, 3, 1, true), (match_ * 6, 2, 3, true), (1, 3, 1, true)]
        {
            let limits = Rules { max_targets, max_per_target, keeps_ties, ..Rules::BEST };
            let rules = Rules { min_score, max_hits: usize::MAX, ..limits };
            let (least, ranks, filter) = (None, None, None);
            let scope = SearchInput { least, ranks, filter, ..SearchInput::new(&batch, layout, rules) };
            let mut effort = Effort::default();
            let found = hits::find(&mut Cpu::new(), &scope, &mut effort).unwrap();
            let expected = hits::find(&mut Plain::new(), &scope, &mut Effort::default()).unwrap();
            for (record, (found, expected)) in found.iter().zip(&expected).enumerate() {
                let alike =
                    found.alignments.iter().zip(&expected.alignments).take_while(|(a, b)| a == b).count();
                let next = |found: &QueryResult| {
                    (found.alignments.get(alike).cloned(), found.second, found.threshold)
                };
                let case = format!("case {case}, {scoring}, {rules:?}, record {record}, hit {alike}");
                assert_eq!(next(found), next(expected), "{case}");
            }
            some += found.iter().map(|found| found.alignments.len()).sum::<usize>();
        }
    }
    assert!(some > 300, "{some}");
}
