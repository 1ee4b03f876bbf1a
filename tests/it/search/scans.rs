//! Tests ends: every scan agrees with the specification and with edlib.

use super::*;
use bio::pattern_matching::myers::MyersBuilder;
use bio::pattern_matching::ukkonen::Ukkonen;

/// Compares all instruction sets and some chunk lengths with the specification.
#[track_caller]
fn check(text: &[u8], patterns: &[Vec<u8>], chunks: &[Option<usize>], what: &str) {
    let text = &TextCodes::of(text);
    let longest = patterns.iter().map(Vec::len).max().unwrap_or(0) as u32;
    for max_edits in [0, 1, 2, 3, 4, longest] {
        for indels in [true, false] {
            let rule = MatchRule { max_edits, indels };
            let expected = PlainScan.scan(text, patterns, &rule).unwrap();
            for set in InstructionSet::available() {
                for &chunk in chunks {
                    let scan = match chunk {
                        Some(chunk) => SlicedScan::with_chunks(set, chunk),
                        None => SlicedScan::on(set),
                    };
                    let what = format!("{what}, {rule:?}, {set}, chunks {chunk:?}");
                    same(&scan.scan(text, patterns, &rule).unwrap(), &expected, &what);
                    // A second scan reuses the tiles.
                    same(&scan.scan(text, patterns, &rule).unwrap(), &expected, &format!("again: {what}"));
                }
            }
        }
    }
}

#[test]
fn random_texts_at_all_seams() {
    LENGTHS.par_iter().for_each(|&len| {
        let mut random = Random::new(len as u64);
        for (letters, rare) in [(2, 20), (4, 20), (4, 1)] {
            let mut text = random.codes(900, letters);
            for _ in 0..rare {
                let at = random.below(text.len());
                text[at] = random.pick(&[OTHER, NOTHING]);
            }
            let patterns = patterns(&mut random, &text, len);
            check(
                &text,
                &patterns,
                &[None, Some(1), Some(40), Some(64)],
                &format!("m={len} of {letters} letters"),
            );
        }
    });
}

#[test]
fn a_genome() {
    let text = &genome()[..6000];
    let mut random = Random::new(5);
    for len in [1, 8, 20, 33, 129] {
        let patterns = patterns(&mut random, text, len);
        check(text, &patterns, &[None, Some(7)], &format!("m={len}"));
    }
}

/// rust-bio's Ukkonen, which compares classes with codes, and its Myers, whose text has other bytes than the classes.
#[test]
fn ends_are_those_of_rust_bio() {
    let matches = |class: u8, code: u8| class >> code & 1 == 1;
    let written = |code: u8| code + 32;
    let mut myers = MyersBuilder::new();
    for class in 0..32 {
        myers.ambig(class, (0..=OTHER).filter(|&code| matches(class, code)).map(written));
    }
    LENGTHS.par_iter().for_each(|&len| {
        let mut random = Random::new(len as u64);
        let mut text = random.codes(700, 4);
        text[random.below(700)] = OTHER;
        let mut ukkonen = Ukkonen::with_capacity(len, |class, code| u32::from(!matches(class, code)));
        for pattern in patterns(&mut random, &text, len) {
            // An end before the first base, which rust-bio lacks, has as many edits as the pattern has bases.
            for max_edits in [0, 1, 3, len / 3].map(|edits| edits.min(len - 1)) {
                let end = |(end, edits)| PatternEnd { pattern: 0, end: end as u32 + 1, edits: edits as u32 };
                let letters = text.iter().map(|&code| written(code));
                let of_myers: Vec<_> =
                    myers.build_long_64(&pattern).find_all_end(letters, max_edits).map(end).collect();
                for indels in [true, false] {
                    ukkonen.allow_indels(indels);
                    let expected: Vec<_> =
                        ukkonen.find_all_end(&pattern, &text, max_edits).map(end).collect();
                    let what = format!("m={len}, {max_edits} edits, indels {indels}, {pattern:?}");
                    assert!(!indels || of_myers == expected, "{what}");
                    let rule = MatchRule { max_edits: max_edits as u32, indels };
                    for set in InstructionSet::available() {
                        let scan = SlicedScan::on(set);
                        let found = scan.scan(&TextCodes::of(&text), std::slice::from_ref(&pattern), &rule);
                        same(&found.unwrap(), &expected, &format!("{what}, {set}"));
                    }
                }
            }
        }
    });
}

#[test]
fn long_patterns() {
    let text = &TextCodes::of(&genome()[..3000]);
    let mut random = Random::new(7);
    let patterns: Vec<Vec<u8>> =
        [1024, 1500].iter().flat_map(|&len| patterns(&mut random, text, len).into_iter().take(3)).collect();
    for max_edits in [0, 3, 40] {
        let rule = MatchRule { max_edits, indels: true };
        let expected = PlainScan.scan(text, &patterns, &rule).unwrap();
        for set in InstructionSet::available() {
            same(
                &SlicedScan::on(set).scan(text, &patterns, &rule).unwrap(),
                &expected,
                &format!("{rule:?}, {set}"),
            );
        }
    }
}

#[test]
fn patterns_of_many_lengths_at_once() {
    let text = &genome()[..2000];
    let mut random = Random::new(9);
    let patterns: Vec<Vec<u8>> =
        (1..40).flat_map(|len| patterns(&mut random, text, len).into_iter().take(2)).collect();
    check(text, &patterns, &[None, Some(33)], "1 to 39 letters");
}

#[test]
fn short_and_empty_texts() {
    let mut random = Random::new(11);
    for len in [0, 1, 2, 3, 5, 63, 64, 65] {
        let text = random.codes(len, 4);
        let patterns: Vec<Vec<u8>> =
            [1, 2, 3, 4, 10, 70].iter().flat_map(|&len| patterns(&mut random, &text, len)).collect();
        check(&text, &patterns, &[None, Some(1), Some(3)], &format!("n={len}"));
    }
}

#[test]
fn a_text_of_nothing_but_hits() {
    let text = vec![0; 3000];
    check(&text, &[classes(b"AAAAAAAAAA"), classes(b"N"), classes(b"AAACAAA")], &[None, Some(11)], "all A");
    let text = vec![OTHER; 300];
    check(&text, &[classes(b"NNNN"), classes(b"VVVV"), classes(b"ANNA")], &[None], "all N");
}

/// Compares every end in the table of edlib (tests/golden), its edits and one of its starts.
#[test]
fn edlib_finds_the_same() {
    const MOST: u32 = 6;
    let mut count = 0;
    for row in text("tests/golden/search.tsv").lines().skip(1) {
        let [pattern, text, ends] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let (pattern, mut codes) = (classes(pattern.as_bytes()), Vec::new());
        Alphabet::Dna.encode(text.as_bytes(), &mut codes).unwrap();
        plain_codes(&mut codes);
        let expected: Vec<(u32, u32, Vec<usize>)> = ends
            .split(' ')
            .filter(|end| *end != "-")
            .map(|end| {
                let [end, edits, starts] = end.split(':').collect::<Vec<_>>()[..] else { panic!("{row}") };
                let starts = starts.split(',').filter_map(|start| start.parse().ok()).collect();
                (end.parse().unwrap(), edits.parse().unwrap(), starts)
            })
            .collect();
        let rule = MatchRule { max_edits: MOST.min(pattern.len() as u32), indels: true };
        let patterns = [pattern];
        let mut scans: Vec<Box<dyn EndScan>> = vec![Box::new(PlainScan)];
        scans.extend(
            InstructionSet::available()
                .into_iter()
                .map(|set| Box::new(SlicedScan::on(set)) as Box<dyn EndScan>),
        );
        for scan in scans {
            let found = scan.scan(&TextCodes::of(&codes), &patterns, &rule).unwrap();
            let found = found.iter().map(|end| (end.end, end.edits));
            assert!(found.eq(expected.iter().map(|(end, edits, _)| (*end, *edits))), "{row}");
        }
        for (end, edits, starts) in &expected {
            let found = align(&patterns[0], &codes, *end as usize, *edits).expect("a path");
            assert!(starts.contains(&found.start), "{row}: {end}: {found:?}");
            count += 1;
        }
    }
    assert!(count > 1000, "{count} ends");
}
