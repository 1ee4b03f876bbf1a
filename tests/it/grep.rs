//! Lines that match with errors: the bit-sliced scan is compared with the specification, at the boundary sizes of
//! words, vectors, chunks and blocks, and both are compared with cases of another program.

use crate::common::lines::{LITERAL, pattern, patterns_of_classes, planted, text, tre_cases};
use crate::common::random::Random;
use swalign::engine::cpu::simd::InstructionSet;
use swalign::patterns::lines::pattern::{ByteClass, GrepPattern, PatternSyntax};
use swalign::patterns::lines::select::{LineCollector, Span, every, others, union};
use swalign::patterns::lines::sliced::SlicedLineScan;
use swalign::patterns::lines::{cubes, plain};
use swalign::patterns::search::MatchRule;

/// Compares every instruction set, with several chunk lengths, with the specification. Returns the number of lines.
#[track_caller]
fn compare(text: &[u8], patterns: &[GrepPattern], rule: MatchRule, what: &str) -> usize {
    let expected = plain::lines(text, patterns, &rule);
    for set in InstructionSet::available() {
        for chunk in [None, Some(1), Some(64), Some(190)] {
            let scan = SlicedLineScan::new(set, patterns, rule);
            let scan = match chunk {
                Some(chunk) => scan.with_chunks(chunk),
                None => scan,
            };
            for again in 0..2 {
                let found = scan.lines(text);
                assert!(found == expected, "{what}, {set}, chunk {chunk:?}, call {again}, {rule:?}");
            }
        }
    }
    expected.len()
}

#[test]
fn every_set_finds_the_lines_of_the_specification() {
    let mut random = Random::new(1);
    let (mut some, mut all) = (0, 0);
    for len in [1usize, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 128, 129] {
        for max_edits in [0, 1, 2, 3, 4, len - 1, len, len + 1].map(|edits| edits as u32) {
            for indels in [true, false] {
                let size = random.pick(&[0, 1, 63, 64, 65, 3000]);
                let every = random.pick(&[4, 40, 400]);
                let text = text(&mut random, size, every);
                let letters = planted(&mut random, &text, len, max_edits.min(4) as usize);
                let patterns = [GrepPattern::new(&letters, LITERAL).unwrap()];
                let rule = MatchRule { max_edits, indels };
                let lines = compare(&text, &patterns, rule, &format!("{len} letters, {size} of text"));
                some += usize::from(lines > 0);
                all += 1;
            }
        }
    }
    assert!(some > all / 3 && some < all, "{some} of {all} find something");
}

#[test]
fn classes_and_many_patterns() {
    let mut random = Random::new(2);
    for case in 0..150 {
        let (size, every) = (random.below(4000), random.pick(&[5, 50]));
        let text = text(&mut random, size, every);
        let patterns = patterns_of_classes(&mut random);
        let rule = MatchRule { max_edits: random.below(4) as u32, indels: random.below(3) > 0 };
        compare(&text, &patterns, rule, &format!("case {case}"));
    }
}

/// A hit that would need bytes of two lines, at each position in the chunks of a tile.
#[test]
fn no_match_reaches_over_a_newline() {
    let patterns = [pattern(b"abcdefgh")];
    for before in (0..300).chain([511, 512, 513, 1023, 1024, 2047, 2048, 32767, 32768]) {
        for (line, k, found) in [("abcd\nefgh", 1, false), ("abcd\nefgh", 4, true), ("abcdefgh", 0, true)] {
            let text = ["x".repeat(before).as_bytes(), line.as_bytes(), &[b'y'; 70]].concat();
            for indels in [true, false] {
                let rule = MatchRule { max_edits: k, indels };
                let lines = plain::lines(&text, &patterns, &rule);
                if indels || k < 4 {
                    assert_eq!(!lines.is_empty(), found, "{before} {rule:?}");
                }
                for set in InstructionSet::available() {
                    assert_eq!(
                        SlicedLineScan::new(set, &patterns, rule).lines(&text),
                        lines,
                        "{before} {set} {rule:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn long_texts_take_several_tiles() {
    let mut random = Random::new(3);
    let mut text = text(&mut random, 1_500_000, 80);
    for place in (1000..text.len() - 100).step_by(70_001) {
        text[place..place + 12].copy_from_slice(b"needlneedles");
    }
    let patterns = [pattern(b"needleneedles")];
    for set in InstructionSet::available() {
        for indels in [true, false] {
            let rule = MatchRule { max_edits: 1 + u32::from(!indels), indels };
            let expected = plain::lines(&text, &patterns, &rule);
            assert_eq!(expected.is_empty(), !indels);
            assert_eq!(SlicedLineScan::new(set, &patterns, rule).lines(&text), expected, "{set}");
        }
    }
}

#[test]
fn what_is_near_nothing_is_in_every_line() {
    let lines = |text: &str, k, indels| {
        let rule = MatchRule { max_edits: k, indels };
        let patterns = [pattern(text.as_bytes())];
        compare(b"\n\nab\nabc", &patterns, rule, text)
    };
    assert_eq!(lines("", 0, true), 4);
    assert_eq!(lines("", 0, false), 4);
    assert_eq!(lines("xyz", 3, true), 4);
    assert_eq!(lines("xyz", 2, true), 0);
    assert_eq!(lines("xyz", 3, false), 1);
    assert_eq!(lines("xyz", 9, false), 1);
    assert_eq!(compare(b"\n\nab", &[], MatchRule { max_edits: 9, indels: true }, "no pattern"), 0);
}

#[test]
fn lines_and_the_others_are_all_lines() {
    let mut random = Random::new(4);
    for _ in 0..300 {
        let size = random.below(40);
        let text = text(&mut random, size, 3);
        let all = every(&text);
        let some: Vec<Span> = all.iter().copied().filter(|_| random.below(2) == 0).collect();
        let mut both = [others(&text, &some), some].concat();
        both.sort_by_key(|line| line.start);
        assert_eq!(both, all, "{}", text.escape_ascii());
        assert_eq!(all.len(), text.split_inclusive(|&byte| byte == b'\n').count());
    }
}

/// Taking 32 positions at once gives the same lines as taking them one by one. The union of two sets of lines has the
/// lines of all positions.
#[test]
fn lines_of_places() {
    let mut random = Random::new(6);
    for case in 0..300 {
        let size = random.below(300);
        let every = random.pick(&[2, 7, 100]);
        let text = text(&mut random, size, every);
        let rare = random.pick(&[2, 30]);
        let mut places =
            || (0..size).filter(|&at| text[at] != b'\n' && random.below(rare) == 0).collect::<Vec<usize>>();
        let lines = |places: &[usize]| {
            let mut finder = LineCollector::new(&text);
            places.iter().for_each(|&place| finder.take(place));
            finder.lines()
        };
        let (these, those) = (places(), places());
        let mut finder = LineCollector::new(&text);
        for first in (0..size).step_by(32) {
            let own = these.iter().filter(|&&place| (first..first + 32).contains(&place));
            finder.take_word(first, own.fold(0, |bits, place| bits | 1 << (place - first)));
        }
        assert_eq!(finder.lines(), lines(&these), "case {case}");
        let mut all = [these.clone(), those.clone()].concat();
        all.sort_unstable();
        assert_eq!(union(lines(&these), lines(&those)), lines(&all), "case {case}");
    }
}

mod patterns {
    use super::*;

    /// The bytes of the only class of a pattern.
    #[track_caller]
    fn class(text: &str) -> Vec<u8> {
        let pattern = pattern(text.as_bytes());
        assert_eq!(pattern.classes.len(), 1, "{text}");
        (0..=255).filter(|&byte| pattern.classes[0].has(byte)).collect()
    }

    #[track_caller]
    fn refused(text: &[u8], position: usize, says: &str) {
        let fault = GrepPattern::new(text, PatternSyntax::default()).expect_err("accepted");
        assert_eq!(fault.position, position, "{fault:?}");
        assert!(fault.problem.contains(says) && !fault.remedy.is_empty(), "{fault:?}");
    }

    #[test]
    fn classes_as_regular_expressions_have_them() {
        assert_eq!(class("[a-c]"), b"abc");
        assert_eq!(class("[]a]"), b"]a");
        assert_eq!(class("[^]a]").len(), 253);
        assert_eq!(class("[a-]"), b"-a");
        assert_eq!(class("[-a]"), b"-a");
        assert_eq!(class("[a^]"), b"^a");
        assert_eq!(class(r"[\]\-\\]"), b"-\\]");
        assert_eq!(class(r"[\d.]"), b".0123456789");
        assert_eq!(class("[[:digit:]x]"), b"0123456789x");
        assert_eq!(class(r"\s"), b"\t\x0b\x0c\r ");
        assert_eq!(class(".").len(), 255);
        assert_eq!(class(r"\x41"), b"A");
        assert_eq!(class(r"\."), b".");
        assert_eq!(class("]"), b"]");
        assert_eq!(class("}"), b"}");
        assert_eq!(class(r"\w").len(), 63);
        assert_eq!(class(r"\W").len(), 255 - 63);
        assert_eq!(pattern("né".as_bytes()).classes.len(), 3);
    }

    #[test]
    fn case_is_left_out_before_a_class_is_turned() {
        let any_case = PatternSyntax { literal: false, any_case: true };
        let has =
            |text: &str, byte| GrepPattern::new(text.as_bytes(), any_case).unwrap().classes[0].has(byte);
        assert!(has("a", b'A') && has("A", b'a') && !has("[^a]", b'A') && has("[A-C]", b'b'));
        assert!(!has("@", b'`'));
        let literal = PatternSyntax { literal: true, any_case: true };
        assert_eq!(GrepPattern::new(b"[a.", literal).unwrap().classes.len(), 3);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        refused(b"ab[cd", 3, "not closed");
        refused(b"a[", 2, "not closed");
        refused(b"a[^]", 2, "not closed");
        refused(b"a[z-b]", 3, "backwards");
        refused(b"[a-\\d]", 3, "cannot end");
        refused(b"ab\\", 3, "nothing follows");
        refused(b"\\q", 1, "no meaning");
        refused(b"\\x4", 1, "hexadecimal");
        refused(b"\\x0a", 1, "newline");
        refused("[é]".as_bytes(), 2, "several bytes");
        refused(b"[[:letter:]]", 2, "no class");
        refused(b"[[:alpha]]", 2, "no class");
        for operator in b"^$*+?()|{" {
            refused(&[b'a', *operator], 2, "operator");
            assert_eq!(pattern(&[b'\\', *operator]).classes.len(), 1);
        }
    }

    #[test]
    fn cubes_have_the_bytes_of_their_class() {
        let mut random = Random::new(5);
        for text in ["a", ".", "[a-z]", r"\w", r"\W", r"[^\x00-\x7e]", "[aA]"] {
            let class = pattern(text.as_bytes()).classes[0];
            let cubes = cubes::cubes(class);
            let has = |byte: u8| cubes.iter().any(|cube| byte & cube.care == cube.value);
            assert!((0..=255).all(|byte| has(byte) == class.has(byte)), "{text}");
        }
        assert_eq!(cubes::cubes(pattern(b"[aA]").classes[0]).len(), 1);
        let bits: Vec<bool> = (0..256).map(|_| random.below(2) == 0).collect();
        let class = ByteClass::of(|byte| bits[usize::from(byte)]);
        let cubes = cubes::cubes(class);
        assert!(
            (0..=255)
                .all(|byte: u8| cubes.iter().any(|cube| byte & cube.care == cube.value) == class.has(byte))
        );
    }
}

#[test]
fn the_cases_of_tre() {
    for case in tre_cases() {
        let found = compare(&case.line, &[case.pattern], case.rule, &case.row);
        assert_eq!(found == 1, case.matches, "{}", case.row);
    }
}
