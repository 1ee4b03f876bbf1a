//! Cuts by fingerprints: the rolling hash and all instruction sets are compared with the specification, at the boundary
//! sizes of windows, lanes, blocks and pieces. Equal segments are cut at the same positions.

use crate::common::random::Random;
use swalign::align::fingerprints::{self, CutRule, cores, plain, rolling};
use swalign::engine::cpu::simd::InstructionSet;
use swalign::terms::alphabet::Alphabet;
use swalign::terms::batch::Sequences;

/// Rules with windows around the block sizes.
fn rules(mean: usize) -> Vec<CutRule> {
    [1, 2, 31, 48, 63, 64, 65, 127, 128, 129, 256].map(|window| CutRule::new(window, mean)).into()
}

/// Random codes of DNA's alphabet.
fn codes(random: &mut Random, len: usize) -> Vec<u8> {
    random.codes(len, Alphabet::Dna.letters().len() as u8)
}

#[track_caller]
fn compare(text: &[u8], rule: &CutRule, expected: &[usize], what: &str) {
    let what = format!("{what}, {} letters, {rule:?}", text.len());
    let mut found = Vec::new();
    rolling::cuts(text, 0..text.len(), rule, |cut| found.push(cut));
    assert!(found == expected, "rolling, {what}: {found:?}, not {expected:?}");
    for set in InstructionSet::available() {
        for stretches in [1..1, 1..77, 20..300] {
            let found = cores::cuts_in_stretches(set, text, rule, stretches.clone());
            assert!(found == expected, "{set}, {stretches:?}, {what}: {found:?}, not {expected:?}");
        }
        assert!(cores::cuts(set, text, rule) == expected, "{set}, {what}");
    }
}

#[test]
fn all_ways_cut_alike_at_all_seams() {
    let mut random = Random::new(1);
    let mut some = 0;
    for rule in rules(16) {
        let window = rule.window();
        let near = [0, 1, window - 1, window, window + 1, 2 * window];
        let seams = [511, 512, 513, 512 * 64, 512 * 64 + 1].map(|len| len + random.below(2) * window);
        for len in near.into_iter().chain(seams).chain([random.below(9000)]) {
            let text = codes(&mut random, len);
            let expected = plain::cuts(&text, &rule);
            compare(&text, &rule, &expected, "seed 1");
            some += expected.len();
        }
    }
    assert!(some > 40_000, "{some} cuts");
}

/// Texts of one to three distinct codes. In texts of one code, all windows end at a cut, or none does.
#[test]
fn texts_of_few_letters() {
    let mut random = Random::new(2);
    for rule in rules(2) {
        for letters in [1, 2, 3] {
            let chosen = [random.below(15) as u8, random.below(15) as u8, 3];
            let text: Vec<u8> = (0..6000).map(|_| chosen[random.below(letters)]).collect();
            compare(&text, &rule, &plain::cuts(&text, &rule), &format!("letters {chosen:?}"));
        }
    }
}

#[test]
fn every_mean_has_about_its_chunks() {
    let mut random = Random::new(3);
    let text = random.codes(1 << 20, 4);
    for bits in [1, 4, 8, 12, 16, 24] {
        let rule = CutRule::new(32, 1 << bits);
        let mut expected = Vec::new();
        rolling::cuts(&text, 0..text.len(), &rule, |cut| expected.push(cut));
        for set in InstructionSet::available() {
            assert!(cores::cuts(set, &text, &rule) == expected, "{set}, {rule:?}");
        }
        let mean = (text.len() >> bits) as f64;
        let off = (expected.len() as f64 - mean).abs();
        assert!(off <= 6.0 * mean.sqrt() + 1.0, "2^{bits}: {} cuts", expected.len());
    }
}

/// Windows do not span two sequences.
#[test]
fn sequences_are_cut_each_by_itself() {
    let mut random = Random::new(4);
    for rule in rules(8) {
        for lengths in [&[][..], &[0], &[0, 5, 0, 0, 63, 64, 65, 0, 1000, 20_000, 3], &[2; 900]] {
            let all: Vec<Vec<u8>> = lengths.iter().map(|&len| codes(&mut random, len)).collect();
            let sequences: Sequences = all.iter().map(Vec::as_slice).collect();
            let expected: Vec<Vec<usize>> = all.iter().map(|codes| plain::cuts(codes, &rule)).collect();
            assert!(fingerprints::cuts_of_all(&sequences, &rule) == expected, "{lengths:?}, {rule:?}");
            let each: Vec<Vec<usize>> = all.iter().map(|codes| fingerprints::cuts(codes, &rule)).collect();
            assert!(each == expected, "{lengths:?}, {rule:?}");
        }
    }
}

/// A segment that occurs in two texts has the same chunks in both, except at its ends.
#[test]
fn equal_stretches_have_equal_chunks() {
    let mut random = Random::new(5);
    for rule in rules(64) {
        let stretch = codes(&mut random, 20_000);
        let mut chunks_of = |front: usize, behind: usize| {
            let parts = [codes(&mut random, front), stretch.clone(), codes(&mut random, behind)];
            let text = parts.concat();
            let cuts = fingerprints::cuts(&text, &rule);
            let inside = |chunk: &std::ops::Range<usize>| {
                chunk.start >= front + rule.window() && chunk.end <= front + stretch.len()
            };
            let chunks: Vec<_> = fingerprints::chunks(text.len(), &cuts).collect();
            assert!(chunks.windows(2).all(|two| two[0].end == two[1].start), "{rule:?}");
            let own = chunks.into_iter().filter(inside);
            own.map(|chunk| chunk.start - front..chunk.end - front).collect::<Vec<_>>()
        };
        let (first, second) = (chunks_of(7, 0), chunks_of(5001, 333));
        // The last cut in the segment may be at the end of the text.
        let few = first.len().min(second.len());
        assert!(first[..few] == second[..few] && first.len().abs_diff(second.len()) <= 1, "{rule:?}");
        assert!(rule.window() < 31 || few > 150, "{few} chunks, {rule:?}");
    }
}
