//! Compares pairs of mates, and the supplementary hits of split queries, with their definitions.
//!
//! The oracle of pairs examines every pair of hits and of windows. The oracle of split queries runs the specification
//! engine over whole targets, for each interval of a query.

use crate::common::{batches, golden::check_path, random::Random};
use std::cmp::Reverse;
use swalign::align::candidates::filter::Filter;
use swalign::align::candidates::{Meets, PairLayout};
use swalign::align::hits::{self, Effort, HitAt, Rules, SearchInput};
use swalign::align::pairing::{HitInParts, MateInParts, Pairing};
use swalign::align::split::{self, SEARCHED_AGAIN, Splitting};
use swalign::engine::Engine;
use swalign::engine::cpu::Cpu;
use swalign::engine::plain::Plain;
use swalign::terms::alignment::{Alignment, HitEnd, InPart, QueryResult, Strand, Strands};
use swalign::terms::alphabet::{Alphabet, reverse_complement};
use swalign::terms::batch::{Batch, Pair};
use swalign::terms::insert::{InsertSize, Orientation};
use swalign::terms::scoring::Scoring;

const LAYOUT: PairLayout = PairLayout { strands: Strands::Both, meets: Meets::All };
const RULES: Rules = Rules { min_score: 20, secondary_ppm: 800_000, max_hits: 2, ..Rules::BEST };
const INSERT: InsertSize = InsertSize { orientation: Orientation::Fr, mean: 200, deviation: 25 };
const UNPAIRED: i64 = 17;

fn drawn(random: &mut Random, len: usize) -> Vec<u8> {
    (0..len).map(|_| random.pick(b"ACGT")).collect()
}

fn batch_of(reads: &[Vec<u8>], targets: &[Vec<u8>], scoring: Scoring) -> Batch {
    batches::of(batches::both_strands(reads), batches::encoded(targets), scoring)
}

/// Returns pairs of reads, and targets with several copies of a repeat. Many reads come from copies, some have a mate
/// with many errors, and some mates are far apart.
fn pairs(seed: u64) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let mut random = Random::new(seed);
    let repeat = drawn(&mut random, 300);
    let mut targets: Vec<Vec<u8>> = (0..2).map(|_| drawn(&mut random, 1500)).collect();
    for _ in 0..4 {
        let (target, at) = (random.below(2), random.below(1200));
        let percent = random.pick(&[0, 0, 2]);
        let copy = random.mutated(Alphabet::Dna, &repeat, percent);
        targets[target].iter_mut().skip(at).zip(copy).for_each(|(old, new)| *old = new);
    }
    let mut reads = Vec::new();
    for _ in 0..24 {
        let target = targets[random.below(2)].clone();
        let size = random.pick(&[60, 150, 190, 210, 260, 290, 500]) + random.below(12);
        let start = random.below(target.len() - size);
        let len = 70.min(size);
        let percents = random.pick(&[[0, 0], [1, 3], [0, 14], [22, 2], [0, 60]]);
        let left = random.mutated(Alphabet::Dna, &target[start..start + len], percents[0]);
        let right = &reverse_complement(&target[start + size - len..start + size]);
        let right = random.mutated(Alphabet::Dna, right, percents[1]);
        reads.extend(if random.below(2) == 0 { [left, right] } else { [right, left] });
    }
    reads.extend([Vec::new(), targets[0][100..170].to_vec()]);
    (reads, targets)
}

fn scope<'a>(batch: &'a Batch, rules: Rules, filter: Option<&'a Filter>) -> SearchInput<'a> {
    SearchInput { filter, ..SearchInput::new(batch, LAYOUT, rules) }
}

/// Returns the best hit of a query in columns of a target, from the specification engine.
fn best_within(batch: &Batch, query: u32, target: u32, (start, end): (u32, u32)) -> HitEnd {
    Plain::new().score(batch, &[Pair { query, target, start, own: start, end }]).unwrap()[0]
}

#[test]
fn pairs_are_those_of_their_definition() {
    let (mut proper, mut alone, mut rescued, mut not_the_best, mut ties) = (0, 0, 0, 0, 0);
    for seed in 0..40 {
        let (reads, targets) = pairs(seed);
        let batch = batch_of(&reads, &targets, Scoring::dna(1, 4, 6, 1));
        let pairing = Pairing::new(INSERT, RULES, &batch.scoring);
        assert_eq!((pairing.rescued, i64::from(pairing.unpaired)), (15, UNPAIRED));
        let of_candidates = scope(&batch, pairing.candidates(), None);
        let single =
            hits::find(&mut Cpu::new(), &scope(&batch, RULES, None), &mut Effort::default()).unwrap();
        let mut found = hits::find(&mut Cpu::new(), &of_candidates, &mut Effort::default()).unwrap();
        let candidates = found.clone();
        pairing.pair(&mut Cpu::new(), &of_candidates, &mut found, None, &mut Effort::default()).unwrap();
        for (number, pair) in found.chunks_exact(2).enumerate() {
            let place = format!("seed {seed}, pair {number}");
            let hits = [&candidates[2 * number].alignments, &candidates[2 * number + 1].alignments];
            let best = hits.map(|hits| hits.first().map_or(0, |hit| i64::from(hit.score)));
            let least = best[0] + best[1] - UNPAIRED;
            for (mate, hits) in hits.iter().enumerate() {
                // The candidates contain the best hit and, if there is one, a hit that scores at least as much as the
                // second.
                let single = &single[2 * number + mate];
                assert_eq!(single.alignments.first(), hits.first(), "{place}");
                assert!(single.second.is_none_or(|second| second <= hits[1].score), "{place}");
            }
            // Scores of pairs of candidates that exceed the score of unpaired mates.
            let of_hits = hits[0].iter().flat_map(|one| hits[1].iter().map(move |other| (one, other)));
            let scores = of_hits.filter_map(|(one, other)| {
                let sum = i64::from(one.score) + i64::from(other.score);
                Some(INSERT.pair_score(sum, INSERT.of(one, other, None)?, 1))
            });
            let scores: Vec<i64> = scores.filter(|&score| score > least).collect();
            ties +=
                usize::from(scores.iter().filter(|&score| Some(score) == scores.iter().max()).count() > 1);
            let mated = pair[0].mated.unwrap();
            let firsts = [&pair[0], &pair[1]].map(|found| found.alignments.first());
            assert_eq!(mated.is_proper(), pair[1].mated.unwrap().is_proper());
            assert!(mated.is_first && !pair[1].mated.unwrap().is_first);
            match (mated.is_proper(), firsts) {
                (true, [Some(one), Some(other)]) => {
                    proper += 1;
                    let size = INSERT.of(one, other, None).expect("a proper pair");
                    let score = INSERT.pair_score(i64::from(one.score) + i64::from(other.score), size, 1);
                    assert!(score > least && scores.iter().all(|&other| other <= score), "{place}");
                    for (mate, hit) in [one, other].into_iter().enumerate() {
                        let query = LAYOUT.query(2 * number as u32 + mate as u32, hit.strand);
                        check_path(hit, batch.query(query), batch.target(hit.target), &batch.scoring)
                            .unwrap();
                        let is_candidate = hits[mate].contains(hit);
                        not_the_best += usize::from(is_candidate && hits[mate][0] != *hit);
                        if !is_candidate {
                            rescued += 1;
                            assert!(
                                hit.score >= pairing.rescued
                                    && !hits[mate].iter().any(|own| own.overlaps(hit, None))
                            );
                            // The hit is the optimum of the window next to the hit of its mate.
                            let (strand, columns) = INSERT.mate_of([other, one][mate], u32::MAX >> 8);
                            let len = batch.target(hit.target).len() as i64;
                            let columns = (
                                (*columns.start()).clamp(0, len) as u32,
                                (*columns.end()).clamp(0, len) as u32,
                            );
                            let best = best_within(&batch, query, hit.target, columns);
                            assert_eq!((strand, best.score), (hit.strand, hit.score), "{place}");
                        }
                    }
                }
                (false, _) => {
                    alone += 1;
                    assert!(scores.is_empty(), "{place}: {scores:?} beat {least}");
                    assert_eq!(firsts, hits.map(|hits| hits.first()), "{place}");
                }
                _ => panic!("{place}: half a pair"),
            }
            for found in pair {
                assert!(found.alignments.len() <= RULES.max_hits);
                assert!(found.alignments.iter().skip(1).all(|hit| !hit.overlaps(&found.alignments[0], None)));
            }
        }
        // Limits on further hits do not change which hits are first.
        for (secondary_ppm, max_hits) in [(1_000_000, 1), (100_000, 70)] {
            let pairing = Pairing { rules: Rules { secondary_ppm, max_hits, ..RULES }, ..pairing };
            let other = scope(&batch, pairing.candidates(), None);
            let mut again = hits::find(&mut Cpu::new(), &other, &mut Effort::default()).unwrap();
            pairing.pair(&mut Cpu::new(), &other, &mut again, None, &mut Effort::default()).unwrap();
            for (one, other) in found.iter().zip(&again) {
                assert_eq!(one.alignments.first(), other.alignments.first(), "seed {seed}");
                assert_eq!(one.mated.unwrap().is_proper(), other.mated.unwrap().is_proper(), "seed {seed}");
            }
        }
        for mut engine in [Box::new(Plain::new()) as Box<dyn Engine>, Box::new(Cpu::new())] {
            let filter = Filter::by_index(&batch.targets, &batch.scoring, 2);
            let with = SearchInput { portion: 3, ..scope(&batch, pairing.candidates(), filter.as_ref()) };
            let mut again = hits::find(&mut *engine, &with, &mut Effort::default()).unwrap();
            pairing.pair(&mut *engine, &with, &mut again, None, &mut Effort::default()).unwrap();
            assert_eq!(found, again, "seed {seed}: engines and filters agree");
        }
    }
    for (count, least) in [(proper, 200), (alone, 100), (rescued, 20), (not_the_best, 20), (ties, 20)] {
        assert!(count >= least, "too few: {proper} {alone} {rescued} {not_the_best} {ties}");
    }
}

/// Returns mates, and targets of few distinct bases or of many copies of a unit. Scores are often equal, and there are
/// more hits than pairs are chosen from. Some mates have errors, and some come from two targets.
fn crowded(random: &mut Random) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let letters: &[u8] = random.pick(&[b"ACGT", b"AAC", b"AACGT"]);
    let few =
        |random: &mut Random, len: usize| -> Vec<u8> { (0..len).map(|_| random.pick(letters)).collect() };
    let unit = few(random, 40);
    let copies = random.pick(&[0, 3, 25]);
    let percent = random.pick(&[0, 2, 6]);
    let mut targets = Vec::new();
    for _ in 0..1 + random.below(7) {
        let mut target = Vec::new();
        for _ in 0..1 + copies {
            let len = if copies > 3 { random.below(20) } else { 40 + random.below(120) };
            target.extend(few(random, len));
            if copies > 0 {
                target.extend(random.mutated(Alphabet::Dna, &unit, percent));
            }
        }
        targets.push(target);
    }
    if random.below(2) == 0 {
        targets.push(targets[0].clone());
    }
    let mut reads = Vec::new();
    for _ in 0..10 {
        let [one, other] = [(); 2].map(|()| targets[random.below(targets.len())].clone());
        let elsewhere = if random.below(5) == 0 { &other } else { &one };
        let size = random.pick(&[40, 90, 110, 125, 300]) + random.below(12);
        let (start, len) = (random.below(one.len()), 30 + random.below(15));
        let piece = |target: &[u8], from: usize| {
            target[from.min(target.len())..(from + len).min(target.len())].to_vec()
        };
        let errors = random.pick(&[[0, 0], [1, 3], [0, 14], [22, 2], [0, 60]]);
        let left = random.mutated(Alphabet::Dna, &piece(&one, start), errors[0]);
        let right = reverse_complement(&piece(elsewhere, (start + size).saturating_sub(len)));
        let right = random.mutated(Alphabet::Dna, &right, errors[1]);
        reads.extend(if random.below(2) == 0 { [left, right] } else { [right, left] });
    }
    (reads, targets)
}

/// Returns the hits in parts of the targets, for a join. Each part begins at one of `starts` and ends at the next, or
/// after the last target.
fn in_parts(pairing: &Pairing, reads: &[Vec<u8>], targets: &[Vec<u8>], starts: &[usize]) -> Vec<MateInParts> {
    let mut mates: Vec<MateInParts> = reads.iter().map(|_| MateInParts::default()).collect();
    for (number, &first) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(targets.len());
        let batch = batch_of(reads, &targets[first..end], Scoring::dna(1, 4, 6, 1));
        let scope = scope(&batch, pairing.candidates(), None);
        let mut found = hits::find(&mut Cpu::new(), &scope, &mut Effort::default()).unwrap();
        pairing.prepare(&mut Cpu::new(), &scope, &mut found, &mut Effort::default()).unwrap();
        let numbered = |hit: &Alignment| Alignment { target: hit.target + first as u32, ..hit.clone() };
        for (number, mate) in mates.iter_mut().enumerate() {
            let (own, other) = (&found[number], &found[number ^ 1]);
            mate.second = mate.second.max(own.second);
            mate.threshold = mate.threshold.max(own.threshold);
            for (hit, in_part) in own.alignments.iter().zip(&own.in_part) {
                let InPart::Hit { beside } = in_part else { continue };
                let beside = beside.map(|place| numbered(&other.alignments[place as usize]));
                mate.hits.push(HitInParts { alignment: numbered(hit), beside });
            }
        }
    }
    mates
}

#[test]
fn parts_of_the_references_have_the_pairs_of_the_whole() {
    let (mut proper, mut rescued, mut cut, mut elsewhere) = (0, 0, 0, 0);
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let (reads, targets) = crowded(&mut random);
        let orientation = random.pick(&[Orientation::Fr, Orientation::Fr, Orientation::Rf, Orientation::Ff]);
        let insert = InsertSize { orientation, mean: 110, deviation: random.pick(&[5, 20]) };
        let rules = Rules {
            min_score: random.pick(&[8, 14, 20]),
            secondary_ppm: random.pick(&[0, 500_000, 800_000, 1_000_000]),
            max_hits: random.pick(&[1, 2, 5, 70]),
            keeps_ties: seed % 2 == 1,
            ..Rules::BEST
        };
        let batch = batch_of(&reads, &targets, Scoring::dna(1, 4, 6, 1));
        let pairing = Pairing::new(insert, rules, &batch.scoring);
        let scope = scope(&batch, pairing.candidates(), None);
        let mut whole = hits::find(&mut Cpu::new(), &scope, &mut Effort::default()).unwrap();
        let candidates = whole.clone();
        pairing.pair(&mut Cpu::new(), &scope, &mut whole, None, &mut Effort::default()).unwrap();
        for parts in [1, 2, 3, 7] {
            let mut starts: Vec<usize> = (1..parts).map(|_| random.below(targets.len() + 1)).collect();
            starts.push(0);
            starts.sort();
            let mates = in_parts(&pairing, &reads, &targets, &starts);
            for (mate, of_whole) in mates.iter().zip(&candidates) {
                let mut hits: Vec<Alignment> = mate.hits.iter().map(|hit| hit.alignment.clone()).collect();
                hits.sort_by(|one, other| one.locus().order(&other.locus()));
                let at: Vec<HitAt> =
                    hits.iter().map(|hit| HitAt { target: hit.target, score: hit.score }).collect();
                let (kept, second) = pairing.candidates().cut(&at, mate.second);
                let count = kept.len();
                assert_eq!((&hits[..count], second), (&*of_whole.alignments, of_whole.second), "seed {seed}");
            }
            let mut joined = Vec::new();
            let mut mates = mates.into_iter();
            while let (Some(one), Some(other)) = (mates.next(), mates.next()) {
                // Without end bonuses, the lengths of the queries do not matter.
                joined.extend(pairing.join([one, other], [0; 2]));
            }
            assert_eq!(joined, whole, "seed {seed}, parts from {starts:?}, {insert} {rules:?}");
        }
        for (own, candidates) in whole.iter().zip(&candidates) {
            let Some(first) = own.alignments.first().filter(|_| own.mated.unwrap().is_proper()) else {
                continue;
            };
            proper += 1;
            cut += usize::from(candidates.alignments.len() >= 64);
            rescued += usize::from(!candidates.alignments.contains(first));
            elsewhere +=
                usize::from(candidates.alignments.first().is_some_and(|best| best.target != first.target));
        }
    }
    for (count, least) in [(proper, 500), (rescued, 50), (cut, 100), (elsewhere, 50)] {
        assert!(count >= least, "too few: {proper} {rescued} {cut} {elsewhere}");
    }
}

/// Returns the best hit of an interval of a read, from the specification engine. Ties go to the forward strand, then to
/// the first target, end in the target, and end in the query.
fn best_of(
    scoring: &Scoring,
    read: &[u8],
    targets: &[Vec<u8>],
    (start, end): (usize, usize),
) -> Option<Hit2> {
    let batch = batch_of(&[read[start..end].to_vec()], targets, scoring.clone());
    let mut all = Vec::new();
    for strand in [Strand::Forward, Strand::Reverse] {
        for (target, letters) in targets.iter().enumerate() {
            let query = LAYOUT.query(0, strand);
            let hit = best_within(&batch, query, target as u32, (0, letters.len() as u32));
            all.push((Reverse(hit.score), strand, target as u32, hit.target_end, hit.query_end));
        }
    }
    let (Reverse(score), strand, target, target_end, _) = all.into_iter().min()?;
    Some(Hit2 { score, strand, target, target_end })
}

#[derive(Debug, PartialEq, Eq)]
struct Hit2 {
    score: i32,
    strand: Strand,
    target: u32,
    target_end: u32,
}

/// Numbers of supplementary hits, of reads that have several, and of supplementary hits on the reverse strand.
type SplitCounts = [usize; 3];

/// Splits reads made of pieces of targets, whose bases are drawn from `letters`, and checks their supplementary hits.
fn count_splits(
    seeds: std::ops::Range<u64>,
    letters: &[u8],
    scoring: impl Fn(&mut Random) -> Scoring,
) -> SplitCounts {
    let (mut count, mut several, mut reversed) = (0, 0, 0);
    for seed in seeds {
        let mut random = Random::new(seed);
        let scoring = scoring(&mut random);
        let drawn =
            |random: &mut Random, len| -> Vec<u8> { (0..len).map(|_| random.pick(letters)).collect() };
        let targets: Vec<Vec<u8>> = (0..2).map(|_| drawn(&mut random, 800)).collect();
        let mut reads = Vec::new();
        for _ in 0..8 {
            let mut read = Vec::new();
            for _ in 0..random.below(5) {
                let target = &targets[random.below(2)];
                let len = 15 + random.below(120);
                let at = random.below(target.len() - len);
                let percent = random.pick(&[0, 4, 10]);
                let piece = random.mutated(Alphabet::Dna, &target[at..at + len], percent);
                read.extend(if random.below(2) == 0 { piece } else { reverse_complement(&piece) });
                let between = random.below(30);
                read.extend(drawn(&mut random, between));
            }
            reads.push(read);
        }
        let least = 50;
        let batch = batch_of(&reads, &targets, scoring.clone());
        let rules = Rules { min_score: 40, ..RULES };
        for filter in [None, Filter::by_index(&batch.targets, &batch.scoring, 2)] {
            let scope = scope(&batch, rules, filter.as_ref());
            let mut found = hits::find(&mut Cpu::new(), &scope, &mut Effort::default()).unwrap();
            let splitting = Splitting { least, is_bounded: false, drop: 0 };
            let effort = &mut Effort::default();
            split::supplement(&mut Cpu::new(), &scope, (splitting, None), &mut found, effort).unwrap();
            assert_eq!(effort.remarks().unsplit, 0);
            for (number, (found, read)) in found.iter().zip(&reads).enumerate() {
                let hits = check_split(&batch, (number as u32, read), &targets, found, least);
                count += hits;
                several += usize::from(hits > 1);
                reversed +=
                    found.supplementary.iter().filter(|hit| hit.alignment.strand == Strand::Reverse).count();
            }
        }
    }
    [count, several, reversed]
}

#[test]
fn supplementary_hits_are_those_of_their_definition() {
    let counts = count_splits(0..25, b"ACGT", |_| Scoring::dna(2, 4, 4, 2));
    assert!(counts[0] > 100 && counts[1] > 20 && counts[2] > 20, "too few: {counts:?}");
}

/// Under a matrix that is not symmetric under complement, the potential of a stretch on one strand does not bound its scores
/// on the other. Three of four bases are A or C, so that nearly every stretch has a higher potential on one strand.
#[test]
fn supplementary_hits_under_matrices_that_know_strands() {
    let counts = count_splits(0..25, b"AAACCCGT", crate::common::skewed);
    assert!(counts[0] > 100 && counts[1] > 20 && counts[2] > 20, "too few: {counts:?}");
}

/// On the reverse strand, the bases of a mate score nine times as much, which pays for a long deletion. The mate is
/// searched in all columns that its alignment may cover.
#[test]
fn mates_are_rescued_in_all_columns_that_they_can_cover() {
    let mut random = Random::new(7);
    let scoring = crate::common::by_diagonal([1, 1, 9, 9], -9, 4, 1);
    let text = |random: &mut Random, letters: &[u8], len: usize| -> Vec<u8> {
        (0..len).map(|_| random.pick(letters)).collect()
    };
    let [first, turned] = [(); 2].map(|()| text(&mut random, b"GT", 40));
    // The mates point outward. Their 5' ends are 100 bases apart, and the reverse mate lacks 150 bases of the target.
    let between = [500, 150, 100, 500].map(|len| text(&mut random, b"AC", len));
    let [before, deleted, between, behind] = &between;
    let target = [&before[..], &turned[..20], deleted, &turned[20..], between, &first, behind].concat();
    let reads = [first, reverse_complement(&turned)];
    let batch = batch_of(&reads, &[target], scoring);
    let rules = Rules { min_score: 260, ..RULES };
    let insert = InsertSize { orientation: Orientation::Rf, mean: 100, deviation: 1 };
    let pairing = Pairing::new(insert, rules, &batch.scoring);
    let scope = scope(&batch, pairing.candidates(), None);
    let mut found = hits::find(&mut Cpu::new(), &scope, &mut Effort::default()).unwrap();
    assert!(found[1].alignments.is_empty(), "it scores too little for a search of all");
    pairing.pair(&mut Cpu::new(), &scope, &mut found, None, &mut Effort::default()).unwrap();
    let [mate] = &found[1].alignments[..] else { panic!("one hit: {found:?}") };
    let columns = (mate.target_start, mate.target_end);
    assert_eq!((mate.score, mate.strand, columns), (40 * 9 - 4 - 150, Strand::Reverse, (500, 690)));
}

/// A query of many pieces is searched round by round. The search ends before a round that would exceed the bound.
#[test]
fn the_search_for_supplementary_hits_is_bounded() {
    let scoring = Scoring::dna(2, 4, 4, 2);
    let mut ended = 0;
    for seed in 1..12 {
        let mut random = Random::new(seed);
        let targets = vec![drawn(&mut random, 1500)];
        // The first of the remaining pieces is the longest, so that a round finds one piece.
        let lens: Vec<usize> = (20..20 + 2 * seed as usize).rev().collect();
        let reads: Vec<Vec<u8>> = (0..3)
            .map(|_| {
                let piece = |len: &usize| {
                    let at = random.below(targets[0].len() - len);
                    targets[0][at..at + len].to_vec()
                };
                lens.iter().flat_map(piece).collect()
            })
            .collect();
        let batch = batch_of(&reads, &targets, scoring.clone());
        let scope = scope(&batch, Rules { min_score: 30, ..RULES }, None);
        let mut found = hits::find(&mut Cpu::new(), &scope, &mut Effort::default()).unwrap();
        let (splitting, effort) =
            (Splitting { least: 34, is_bounded: true, drop: 0 }, &mut Effort::default());
        split::supplement(&mut Cpu::new(), &scope, (splitting, None), &mut found, effort).unwrap();
        let mut expected_ended = 0;
        for (read, found) in reads.iter().zip(&found) {
            let len = read.len();
            let as_read = |hit: &Alignment| match hit.strand {
                Strand::Forward => (hit.query_start as usize, hit.query_end as usize),
                _ => (len - hit.query_end as usize, len - hit.query_start as usize),
            };
            let mut left: Vec<&Alignment> = found.supplementary.iter().map(|hit| &hit.alignment).collect();
            let (start, end) = as_read(&found.alignments[0]);
            let mut round = vec![(0, start), (end, len)];
            let mut searched = 0;
            loop {
                round.retain(|(from, to)| 2 * (to - from) >= 34);
                searched += round.iter().map(|(from, to)| to - from).sum::<usize>();
                if round.is_empty() {
                    break;
                }
                if searched as u64 > SEARCHED_AGAIN * len as u64 {
                    expected_ended += 1;
                    break;
                }
                for (from, to) in std::mem::take(&mut round) {
                    let best = best_of(&scoring, read, &targets, (from, to)).unwrap();
                    if best.score < 34 {
                        continue;
                    }
                    let is_it = |hit: &&Alignment| {
                        let Alignment { score, strand, target, target_end, .. } = **hit;
                        let (start, end) = as_read(hit);
                        from <= start && end <= to && best == Hit2 { score, strand, target, target_end }
                    };
                    let at = left.iter().position(is_it).expect("the best of an interval is found");
                    let (start, end) = as_read(left.remove(at));
                    round.extend([(from, start), (end, to)]);
                }
            }
            assert!(left.is_empty(), "beyond the bound: {left:?}");
        }
        assert_eq!(effort.remarks().unsplit, expected_ended);
        ended += expected_ended;
    }
    assert!(ended > 5, "{ended}");
}

/// Compares the supplementary hits of a query with the optima of its uncovered intervals. Returns the number of hits.
fn check_split(
    batch: &Batch,
    (record, read): (u32, &[u8]),
    targets: &[Vec<u8>],
    found: &QueryResult,
    least: i32,
) -> usize {
    let taken = |hit: &Alignment| match hit.strand {
        Strand::Forward => (hit.query_start as usize, hit.query_end as usize),
        _ => (read.len() - hit.query_end as usize, read.len() - hit.query_start as usize),
    };
    let Some(primary) = found.alignments.first() else {
        assert!(found.supplementary.is_empty());
        return 0;
    };
    let (start, end) = taken(primary);
    let mut free = vec![(0, start), (end, read.len())];
    for hit in &found.supplementary {
        let hit = &hit.alignment;
        let query = LAYOUT.query(record, hit.strand);
        check_path(hit, batch.query(query), batch.target(hit.target), &batch.scoring).unwrap();
        let (start, end) = taken(hit);
        let own =
            free.iter().position(|&(from, to)| from <= start && end <= to).expect("it lies in what is left");
        let (from, to) = free.remove(own);
        let expected = best_of(&batch.scoring, read, targets, (from, to)).unwrap();
        let Alignment { score, strand, target, target_end, .. } = *hit;
        assert_eq!(Hit2 { score, strand, target, target_end }, expected);
        assert!(score >= least);
        free.extend([(from, start), (end, to)]);
    }
    for interval in free.into_iter().filter(|(from, to)| from < to) {
        let best = best_of(&batch.scoring, read, targets, interval).map_or(0, |hit| hit.score);
        assert!(best < least, "{interval:?} is left with {best}");
    }
    assert!(found.supplementary.is_sorted_by_key(|hit| Reverse(hit.alignment.score)));
    found.supplementary.len()
}
