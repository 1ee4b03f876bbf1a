//! Compares the joiner with all pairs of hits.

use super::*;
use crate::patterns::search::align::PatternPath;
use crate::terms::random::Random;

/// All amplicons by definition: every forward hit with every reverse hit, in every pair of the two. Without classes,
/// every pattern pairs with every pattern.
fn plain(
    pairs: Option<(&[Option<u32>], &[NamedPair])>,
    lengths: &RangeInclusive<usize>,
    hits: &[PatternHit],
) -> Vec<AmpliconSpan> {
    let mut found = Vec::new();
    let on = |strand| hits.iter().filter(move |hit| hit.strand == strand).map(Site::of);
    for forward in on(Strand::Forward) {
        for reverse in on(Strand::Reverse) {
            let face = forward.start <= reverse.start && forward.end <= reverse.end;
            if !face || !lengths.contains(&(reverse.end - forward.start)) {
                continue;
            }
            let Some((class_of, pairs)) = pairs else {
                let strand =
                    if forward.pattern <= reverse.pattern { Strand::Forward } else { Strand::Reverse };
                found.push(AmpliconSpan { forward, reverse, pair: None, strand });
                continue;
            };
            let class = |site: &Site| class_of[site.pattern as usize];
            for (place, NamedPair { classes, .. }) in (0..).zip(pairs) {
                let pair = Some(place);
                let both = [class(&forward), class(&reverse)];
                let [first, second] = classes.map(Some);
                if both == [first, second] {
                    found.push(AmpliconSpan { forward, reverse, pair, strand: Strand::Forward });
                } else if both == [second, first] {
                    found.push(AmpliconSpan { forward, reverse, pair, strand: Strand::Reverse });
                }
            }
        }
    }
    found.sort_by_key(AmpliconSpan::order);
    found
}

/// Hits of a text in the order of a search, without duplicates.
fn hits(numbers: &mut Random, count: usize, letters: usize, patterns: usize) -> Vec<PatternHit> {
    let mut hits: Vec<PatternHit> = Vec::new();
    for _ in 0..count {
        let start = numbers.below(letters);
        let end = start + numbers.below(9);
        let strand = [Strand::Forward, Strand::Reverse][numbers.below(2)];
        let pattern = numbers.below(patterns) as u32;
        let edits = numbers.below(4) as u32;
        hits.push(PatternHit { start, end, pattern, strand, edits, path: PatternPath::new() });
    }
    let order = |hit: &PatternHit| (hit.start, hit.end, hit.pattern, hit.strand);
    hits.sort_by_key(order);
    hits.dedup_by_key(|hit| order(hit));
    hits
}

fn joined(joiner: &mut Joiner, hits: &[PatternHit]) -> Vec<AmpliconSpan> {
    let mut found = Vec::new();
    let mut give = |amplicon: &AmpliconSpan| -> Result<(), ()> {
        found.push(*amplicon);
        Ok(())
    };
    hits.iter().try_for_each(|hit| joiner.put(hit, &mut give)).unwrap();
    let count = joiner.finish(&mut give).unwrap();
    assert_eq!(count, found.len() as u64);
    found
}

#[test]
fn joined_hits_are_all_that_face_each_other() {
    let mut sum = 0;
    for seed in 0..400 {
        let mut numbers = Random::new(seed);
        let patterns = 1 + numbers.below(8);
        let classes = 1 + numbers.below(patterns);
        let mut class = || Some(numbers.below(classes + 1) as u32).filter(|&class| class < classes as u32);
        let mut class_of: Vec<Option<u32>> = (0..patterns).map(|_| class()).collect();
        class_of[0] = Some(classes as u32 - 1);
        let mut pairs: Vec<NamedPair> = Vec::new();
        for _ in 0..numbers.below(6) {
            let [first, second] = [(); 2].map(|()| numbers.below(classes) as u32);
            if !pairs.iter().any(|pair| [[first, second], [second, first]].contains(&pair.classes)) {
                pairs.push(NamedPair { name: String::new(), classes: [first, second] });
            }
        }
        let least = numbers.below(30);
        let lengths = least..=[least, least + 1, least + 20, 300, usize::MAX][numbers.below(5)];
        let any = PatternPairs::any();
        let named = PatternPairs::named(class_of.clone(), pairs.clone());
        // One joiner processes several texts.
        let mut joiners = [Joiner::new(&any, lengths.clone()), Joiner::new(&named, lengths.clone())];
        for _ in 0..3 {
            let count = numbers.below(60);
            let letters = [1, 10, 100, 1000][numbers.below(4)];
            let hits = hits(&mut numbers, count, letters, patterns);
            for (joiner, is_any) in joiners.iter_mut().zip([true, false]) {
                let own = (!is_any).then_some((&class_of[..], &pairs[..]));
                let expected = plain(own, &lengths, &hits);
                sum += expected.len();
                assert_eq!(joined(joiner, &hits), expected, "seed {seed}, {lengths:?}, any: {is_any}");
            }
        }
    }
    assert!(sum > 10_000, "{sum} amplicons");
}

/// Many more hits than fit in memory before a sweep.
#[test]
fn sweeps_lose_nothing() {
    let pairs = PatternPairs::any();
    for seed in 0..4 {
        let mut numbers = Random::new(1000 + seed);
        let hits = hits(&mut numbers, 6000, 3000, 2);
        assert!(hits.len() > 4 * LEAST_HELD);
        let lengths = 1..=[5, 9, 30, 100][seed as usize];
        let mut joiner = Joiner::new(&pairs, lengths.clone());
        assert!(joined(&mut joiner, &hits) == plain(None, &lengths, &hits), "seed {seed}");
    }
}

/// Memory of a joiner depends on the maximum length, not on the length of the text.
#[test]
fn sites_out_of_reach_are_not_held() {
    let pairs = PatternPairs::any();
    let mut joiner = Joiner::new(&pairs, 1..=100);
    let mut most = 0;
    let mut found = 0_u64;
    for start in 0..200_000 {
        let strand = if start % 10 == 0 { Strand::Forward } else { Strand::Reverse };
        let hit =
            PatternHit { start, end: start + 20, pattern: 0, strand, edits: 0, path: PatternPath::new() };
        joiner
            .put(&hit, &mut |_: &AmpliconSpan| -> Result<(), ()> {
                found += 1;
                Ok(())
            })
            .unwrap();
        most = most.max(joiner.held + joiner.waiting.len());
    }
    assert!(most < 2 * LEAST_HELD + 200, "{most} sites");
    // 80 starts of reverse sites fit after a forward site, and 72 of them are used.
    assert!(found > 70 * 19_900, "{found} amplicons");
}

#[test]
fn an_error_ends_the_joining() {
    let pairs = PatternPairs::any();
    let mut joiner = Joiner::new(&pairs, 1..=1000);
    let mut numbers = Random::new(5);
    let hits = hits(&mut numbers, 500, 500, 3);
    let mut left = 10;
    let mut give = |_: &AmpliconSpan| {
        left -= 1;
        if left == 0 { Err("closed") } else { Ok(()) }
    };
    let outcome = hits.iter().try_for_each(|hit| joiner.put(hit, &mut give));
    assert_eq!(outcome.and_then(|()| joiner.finish(&mut give)), Err("closed"));
}
