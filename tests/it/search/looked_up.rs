//! Tests exact searches, which look patterns up.

use super::*;

/// Compares lookups with the specification, on all instruction sets.
#[track_caller]
fn check_exact(text: &[u8], patterns: &[Vec<u8>], what: &str) {
    let text = &TextCodes::of(text);
    for indels in [true, false] {
        let rule = MatchRule { max_edits: 0, indels };
        let expected = PlainScan.scan(text, patterns, &rule).unwrap();
        for set in InstructionSet::available() {
            for scan in [Exact::always(set), Exact::on(set)] {
                let what = format!("{what}, {rule:?}, {set}");
                same(&scan.scan(text, patterns, &rule).unwrap(), &expected, &what);
                // A second scan reuses the words of these patterns, but a scan of other patterns does not.
                same(&scan.scan(text, patterns, &rule).unwrap(), &expected, &format!("again: {what}"));
                let (others, all) = (&patterns[patterns.len() / 2..], scan.scan(text, &[], &rule).unwrap());
                assert!(all.is_empty(), "{what}");
                let expected = PlainScan.scan(text, others, &rule).unwrap();
                same(&scan.scan(text, others, &rule).unwrap(), &expected, &format!("fewer: {what}"));
            }
        }
    }
}

/// Returns patterns of any length, most of which occur in the text. Some occur twice, and some are parts of others.
fn many(random: &mut Random, text: &[u8], count: usize, longest: usize) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = Vec::new();
    while all.len() < count {
        let len = 1 + random.below(longest);
        all.extend(patterns(random, text, len));
        let whole = all[random.below(all.len())].clone();
        let begin = random.below(whole.len());
        all.extend([whole[begin..].to_vec(), whole]);
    }
    all
}

#[test]
fn random_texts_of_any_letters() {
    (0..12).into_par_iter().for_each(|round| {
        let mut random = Random::new(300 + round);
        let letters = [1, 2, 4, 4][round as usize % 4];
        let mut text = random.codes(400, letters);
        for _ in 0..round % 3 * 10 {
            let at = random.below(text.len());
            text[at] = random.pick(&[OTHER, NOTHING]);
        }
        let longest = [24, 200][round as usize / 4 % 2];
        check_exact(&text, &many(&mut random, &text, 120, longest), &format!("round {round}"));
    });
}

#[test]
fn each_length_at_each_place() {
    let mut random = Random::new(23);
    for len in (1..30).chain([63, 64, 65, 200]) {
        let text = random.codes(len + 40, 4);
        let patterns: Vec<Vec<u8>> =
            text.windows(len).map(|letters| letters.iter().map(|code| 1 << code).collect()).collect();
        check_exact(&text, &patterns, &format!("m={len}"));
    }
}

#[test]
fn codes_at_each_place() {
    let mut random = Random::new(29);
    let mut text = random.codes(300, 4);
    text[100] = OTHER;
    for len in [6, 8, 11, 12, 14, 15, 19, 20, 40] {
        let mut patterns = Vec::new();
        for at in 0..len {
            for begin in [at, 100 - at, 100 - len, 101, 300 - len] {
                let mut pattern: Vec<u8> = text[begin..begin + len].iter().map(|code| 1 << code).collect();
                pattern[at] = random.pick(&classes(b"NNRYSWKMBDHV"));
                patterns.push(pattern.clone());
                pattern[len - 1 - at] = random.pick(&classes(b"NRYBDHV"));
                patterns.push(pattern);
            }
        }
        check_exact(&text, &patterns, &format!("m={len}"));
    }
}

/// Tests hits across the boundaries of the stretches that threads process.
#[test]
fn long_texts() {
    const STRETCH: usize = 7 << 13;
    let mut random = Random::new(31);
    for len in [STRETCH + 1, STRETCH + 400] {
        let text = random.codes(len, 4);
        let mut patterns = Vec::new();
        for of in [6, 12, 20, 50] {
            for begin in [0, len - of, STRETCH - of - 3, STRETCH - of / 2] {
                let begin = begin.min(len - of);
                patterns.push(text[begin..begin + of].iter().map(|code| 1 << code).collect());
            }
        }
        check_exact(&text, &patterns, &format!("n={len}"));
    }
    let text = &genome()[..5000];
    let patterns = many(&mut random, text, 60, 60);
    check_exact(text, &patterns, "a genome");
}

#[test]
fn short_texts_and_those_of_nothing_but_hits() {
    let mut random = Random::new(37);
    for len in [0, 1, 2, 3, 5, 7, 11, 12, 19, 20, 63, 64, 65] {
        let text = random.codes(len, 4);
        check_exact(&text, &many(&mut random, &text, 60, 70), &format!("n={len}"));
    }
    let patterns: Vec<Vec<u8>> = (1..40).map(|len| classes(&vec![b'A'; len])).collect();
    check_exact(&[0; 3000], &patterns, "all A");
    let patterns: Vec<Vec<u8>> = (1..40).map(|len| classes(&vec![b'N'; len])).collect();
    check_exact(&[OTHER; 300], &patterns, "all N");
}

/// With edits, or with few patterns, it sweeps the text.
#[test]
fn what_it_leaves_to_others() {
    let mut random = Random::new(41);
    let text = random.codes(500, 4);
    let all = many(&mut random, &text, 30, 30);
    for (patterns, max_edits) in [(&all[..], 1), (&all[..3], 0), (&all[..3], 2)] {
        let rule = MatchRule { max_edits, indels: true };
        let text = &TextCodes::of(&text);
        let expected = PlainScan.scan(text, patterns, &rule).unwrap();
        let found = Exact::on(InstructionSet::best()).scan(text, patterns, &rule).unwrap();
        same(&found, &expected, &format!("{rule:?}"));
    }
}
