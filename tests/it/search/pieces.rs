//! Tests patterns with substitutions but no gaps, whose pieces are looked up.

use super::*;

/// Returns patterns of these lengths, cut out of a text, with some bases replaced. Some have IUPAC codes, and some
/// occur twice.
fn cut(random: &mut Random, text: &[u8], lengths: &[usize]) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = Vec::new();
    for &len in lengths {
        let begin = random.below(text.len().saturating_sub(len).max(1));
        let base = |k: usize| text.get(begin + k).copied().unwrap_or(0) & 3;
        let mut pattern: Vec<u8> = (0..len).map(|k| 1 << base(k)).collect();
        for _ in 0..random.below(5) {
            let at = random.below(len);
            pattern[at] = 1 << random.below(4);
        }
        match random.below(12) {
            0 => pattern[random.below(len)] = random.pick(&classes(b"NRYV")),
            1 => all.extend([pattern.clone()]),
            _ => {}
        }
        all.push(pattern);
    }
    all
}

#[track_caller]
fn check(text: &[u8], patterns: &[Vec<u8>], what: &str) -> usize {
    let text = &TextCodes::of(text);
    let mut ends = 0;
    for max_edits in 1..=4 {
        let rule = MatchRule { max_edits, indels: false };
        let expected = PlainScan.scan(text, patterns, &rule).unwrap();
        for set in InstructionSet::available() {
            for scan in [Exact::always(set), Exact::on(set)] {
                let what = format!("{what}, {rule:?}, {set}");
                same(&scan.scan(text, patterns, &rule).unwrap(), &expected, &what);
                same(&scan.scan(text, patterns, &rule).unwrap(), &expected, &format!("again: {what}"));
                // Other patterns, equal in number and length, do not reuse these pieces.
                let mut turned = patterns.to_vec();
                turned.iter_mut().for_each(|pattern| pattern.reverse());
                let expected = PlainScan.scan(text, &turned, &rule).unwrap();
                same(&scan.scan(text, &turned, &rule).unwrap(), &expected, &format!("turned: {what}"));
            }
        }
        ends += expected.len();
    }
    ends
}

#[test]
fn ends_are_those_of_the_specification() {
    let ends: usize = (0..10)
        .into_par_iter()
        .map(|round| {
            let mut random = Random::new(500 + round);
            let mut text = random.codes(random_len(round), 2 + (round % 3) as u8);
            for _ in 0..round % 4 * 8 {
                let at = random.below(text.len());
                text[at] = random.pick(&[OTHER, NOTHING]);
            }
            let mut lengths: Vec<usize> = (0..100).map(|_| 1 + random.below(36)).collect();
            lengths.extend([16; 40]);
            let patterns = cut(&mut random, &text, &lengths);
            check(&text, &patterns, &format!("round {round}"))
        })
        .sum();
    assert!(ends > 5000, "{ends} ends");
}

fn random_len(round: u64) -> usize {
    [1, 15, 16, 17, 63, 64, 65, 400, 700, 1000][round as usize]
}

/// Tests hits across the boundaries of the stretches that threads process, and many patterns that share a piece.
#[test]
fn long_texts_and_many_patterns() {
    const STRETCH: usize = 1 << 14;
    let mut random = Random::new(509);
    let text = random.codes(2 * STRETCH + 9, 4);
    let mut patterns: Vec<Vec<u8>> = Vec::new();
    for begin in [0, STRETCH - 16, STRETCH - 9, STRETCH - 1, STRETCH, text.len() - 16] {
        let pattern: Vec<u8> = text[begin..begin + 16].iter().map(|code| 1 << code).collect();
        for at in 0..16 {
            let mut replaced = pattern.clone();
            replaced[at] = 1 << random.below(4);
            patterns.push(replaced);
        }
        patterns.push(pattern);
    }
    for max_edits in [1, 2] {
        let (rule, codes) = (MatchRule { max_edits, indels: false }, TextCodes::of(&text));
        let expected = PlainScan.scan(&codes, &patterns, &rule).unwrap();
        let found = Exact::always(InstructionSet::best()).scan(&codes, &patterns, &rule).unwrap();
        same(&found, &expected, &format!("{rule:?}"));
        assert!(expected.len() >= patterns.len());
    }
}
