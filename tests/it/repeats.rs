//! Repeats that are removed from the targets change no hit. In collections of near and exact copies, tandem repeats and
//! reverse complements, the hits are the same as in a search of every copy.

use crate::common::batches::{self, Counting, reversed};
use crate::common::{one_strand, random::Random};
use std::sync::Arc;
use swalign::align::candidates::filter::Filter;
use swalign::align::candidates::{Meets, PairLayout};
use swalign::align::hits::{self, Effort, Repeats, Rules, SearchInput, WithoutRepeats};
use swalign::align::repeats;
use swalign::engine::cpu::Cpu;
use swalign::terms::alignment::Strands;
use swalign::terms::batch::{Batch, Sequences};
use swalign::terms::scoring::Scoring;

/// Returns targets that are copies of three founders: whole, partial, mutated or reverse-complemented, and some with
/// tandem repeats.
fn collection(random: &mut Random) -> Vec<Vec<u8>> {
    let letters = random.pick(&[4, 4, 2]);
    let founders: Vec<Vec<u8>> = (0..3)
        .map(|_| {
            let len = random.pick(&[300, 900, 2500]);
            random.codes(len, letters)
        })
        .collect();
    let mut targets: Vec<Vec<u8>> = Vec::new();
    for _ in 0..random.pick(&[3, 10, 40]) {
        let founder = &founders[random.below(3)];
        let target = match random.below(8) {
            0 | 1 => founder.clone(),
            2 => founder[..random.below(founder.len())].to_vec(),
            3 => founder[random.below(founder.len())..].to_vec(),
            4 => random.mutated_codes(founder, 4, 300),
            5 => {
                let mut changed = founder.clone();
                let at = random.below(changed.len());
                changed[at] = 14;
                changed
            }
            6 => reversed(founder),
            _ => {
                let len = random.pick(&[1, 7, 60, 500]);
                let mut tandem = random.codes(40, 4);
                tandem.extend(founder[..len.min(founder.len())].repeat(2 + random.below(1200 / len)));
                tandem
            }
        };
        targets.push(target);
    }
    targets
}

/// Returns queries drawn from the targets, with and without errors.
fn queries(random: &mut Random, targets: &[Vec<u8>], strands: Strands) -> Sequences {
    let mut queries = Sequences::default();
    for _ in 0..12 {
        let target = &targets[random.below(targets.len())];
        let len = random.pick(&[20, 50, 100, 150]).min(target.len());
        let start = random.below(target.len() - len + 1);
        let drawn = &target[start..start + len];
        let every = random.pick(&[0, 0, 40, 10]);
        let drawn = if every == 0 { drawn.to_vec() } else { random.mutated_codes(drawn, 4, every) };
        let drawn = if random.below(2) == 0 { reversed(&drawn) } else { drawn };
        queries.push(drawn.iter().copied());
        if strands == Strands::Both {
            queries.push(reversed(&drawn));
        }
    }
    queries
}

#[test]
fn hits_are_those_among_all_copies() {
    let (mut fewer, mut cells, mut hits, mut copies) = (0, 0, 0, 0);
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let targets = collection(&mut random);
        let strands = random.pick(&[one_strand(seed), Strands::Both, Strands::Both]);
        let scoring = Scoring::dna(1, random.pick(&[1, 4]), random.pick(&[0, 6]), random.pick(&[1, 2]));
        let batch = batches::of(queries(&mut random, &targets, strands), &targets, scoring);
        let layout = PairLayout { strands, meets: Meets::All };
        let min_score = random.pick(&[12, 18, 30]);
        for (max_hits, secondary_ppm, candidates) in [
            (1, 800_000, None),
            (2, 1_000_000, None),
            (7, 500_000, None),
            (200, 0, None),
            (1_000_000, 600_000, None),
            (1, 900_000, Some((18, 9))),
            (30, 700_000, Some((9, 64))),
        ] {
            let rules = Rules { min_score, secondary_ppm, max_hits, candidates, ..Rules::BEST };
            let plain = SearchInput { portion: 40, ..SearchInput::new(&batch, layout, rules) };
            let mut all = Effort::default();
            let expected = hits::find(&mut Cpu::new(), &plain, &mut all).unwrap();
            hits += expected.iter().map(|found| found.alignments.len()).sum::<usize>();
            cells += all.cells;
            let span = plain.span() + random.pick(&[0, 0, 50]);
            for is_filtered in [false, true] {
                let distinct = repeats::find(&batch.targets, span);
                copies += distinct.copies();
                let of = |targets| {
                    is_filtered.then(|| Filter::by_index(targets, &batch.scoring, strands.count())).flatten()
                };
                let (filter, own) = (of(&distinct.stretches), of(&batch.targets));
                let without = WithoutRepeats { distinct, filter };
                let scope = SearchInput { filter: own.as_ref(), repeats: Repeats::Known(&without), ..plain };
                let mut some = Effort::default();
                let found = hits::find(&mut Cpu::new(), &scope, &mut some).unwrap();
                assert_eq!(found, expected, "seed {seed}, {rules:?}, span {span}, filtered {is_filtered}");
                fewer += if is_filtered { 0 } else { some.cells };
            }
        }
    }
    let seen = format!("{fewer} of {cells} cells, {hits} hits, {copies} copies");
    assert!(fewer * 10 < cells * 9 && hits > 10_000 && copies > 2000, "{seen}");
}

/// Hits in all copies of a few stretches need few calls of the engine and few cells.
#[test]
fn hits_in_many_copies_take_few_rounds() {
    let mut random = Random::new(7);
    let query = random.codes(60, 4);
    let units: Vec<Vec<u8>> = (0..6)
        .map(|_| {
            let copy = random.mutated_codes(&query, 4, 15);
            [random.codes(300, 4), copy, random.codes(300, 4)].concat()
        })
        .collect();
    let target: Vec<u8> = (0..600).flat_map(|_| units[random.below(6)].clone()).collect();
    let batch = batches::of(
        [&query[..], &reversed(&query)],
        [&target[..], &target[..90_000]],
        Scoring::dna(2, 4, 4, 2),
    );
    let layout = PairLayout { strands: Strands::Both, meets: Meets::All };
    for candidates in [None, Some((30, 64))] {
        let rules = Rules { min_score: 40, secondary_ppm: 500_000, max_hits: 1_000_000, ..Rules::BEST };
        let rules = Rules { candidates, ..rules };
        let plain = SearchInput::new(&batch, layout, rules);
        let mut all = Effort::default();
        let expected = hits::find(&mut Cpu::new(), &plain, &mut all).unwrap();
        let hits = expected[0].alignments.len();
        let distinct = repeats::find(&batch.targets, plain.span());
        let without = WithoutRepeats { distinct, filter: None };
        let scope = SearchInput { repeats: Repeats::Known(&without), ..plain };
        let (mut engine, mut some) = (Counting::new(), Effort::default());
        assert_eq!(hits::find(&mut engine, &scope, &mut some).unwrap(), expected);
        assert!(
            hits > 500 && (engine.scored + engine.traced) < 60,
            "{} calls for {hits} hits",
            (engine.scored + engine.traced)
        );
        assert!(some.cells * 10 < all.cells, "{} of {} cells", some.cells, all.cells);
    }
}

/// On the reverse strand, the bases of the query score nine times as much, which pays for a deletion that extends
/// further than any alignment on the forward strand. The two targets differ only before this deletion.
#[test]
fn copies_are_equal_as_far_as_alignments_of_either_strand_reach() {
    let mut random = Random::new(3);
    let text = |random: &mut Random, letters: [u8; 2], len: usize| -> Vec<u8> {
        (0..len).map(|_| random.pick(&letters)).collect()
    };
    // Codes 0 and 1 are A and C. Codes 2 and 3 are their complements.
    let turned = text(&mut random, [2, 3], 40);
    let [one, other, deleted, behind] = [500, 500, 150, 2000].map(|len| text(&mut random, [0, 1], len));
    let targets: Vec<Vec<u8>> = vec![
        [&one[..], &deleted, &turned[20..], &behind].concat(),
        [&other[..], &turned[..20], &deleted, &turned[20..], &behind].concat(),
    ];
    let batch = batches::of(
        [&reversed(&turned)[..], &turned],
        &targets,
        crate::common::by_diagonal([1, 1, 9, 9], -9, 4, 1),
    );
    let layout = PairLayout { strands: Strands::Both, meets: Meets::All };
    let rules = Rules { min_score: 30, max_hits: 3, ..Rules::BEST };
    let plain = SearchInput::new(&batch, layout, rules);
    let expected = hits::find(&mut Cpu::new(), &plain, &mut Effort::default()).unwrap();
    assert_eq!((expected[0].alignments[0].target, expected[0].alignments[0].score), (1, 206));
    let distinct = repeats::find(&batch.targets, plain.span());
    assert!(distinct.copies() > 0);
    let without = WithoutRepeats { distinct, filter: None };
    let scope = SearchInput { repeats: Repeats::Known(&without), ..plain };
    assert_eq!(hits::find(&mut Cpu::new(), &scope, &mut Effort::default()).unwrap(), expected);
}

/// A query is searched in all copies if its alignments may exceed the span for which repeats were found.
#[test]
fn queries_that_reach_too_far_are_searched_in_all_targets() {
    let mut random = Random::new(5);
    let gene = random.codes(700, 4);
    let targets: Arc<Sequences> = Arc::new([&gene[..], &gene].into_iter().collect());
    let queries = Arc::new([&gene[100..400]].into_iter().collect());
    let batch = Batch { queries, targets, scoring: Arc::new(Scoring::dna(1, 4, 6, 1)) };
    let layout = PairLayout { strands: Strands::Plus, meets: Meets::All };
    let rules = Rules { min_score: 20, max_hits: 3, ..Rules::BEST };
    let plain = SearchInput::new(&batch, layout, rules);
    let mut all = Effort::default();
    let expected = hits::find(&mut Cpu::new(), &plain, &mut all).unwrap();
    for span in [plain.span() - 1, plain.span()] {
        let without = WithoutRepeats { distinct: repeats::find(&batch.targets, span), filter: None };
        let mut effort = Effort::default();
        let scope = SearchInput { repeats: Repeats::Known(&without), ..plain };
        assert_eq!(hits::find(&mut Cpu::new(), &scope, &mut effort).unwrap(), expected);
        let is_left = span < plain.span();
        assert!(if is_left { effort.cells == all.cells } else { effort.cells < all.cells }, "span {span}");
    }
}
