//! Dictionaries on a GPU compared with their specification. SWALIGN_TEST_GPU names the adapter (default: llvmpipe,
//! Mesa's software adapter).

use crate::common::lines::word_rules as rules;
use crate::common::{devices::card, random::Random};
use std::sync::Arc;
use swalign::engine::gpu::Card;
use swalign::patterns::lines::dictionary::gpu::GpuWordScan;
use swalign::patterns::lines::dictionary::plain;
use swalign::patterns::lines::dictionary::words::GivenWords;
use swalign::patterns::lines::select::{self, Span};
use swalign::patterns::scan::bases::{BaseEnd, BaseScan, BaseTuning, BaseWord, BaseWords};
use swalign::patterns::scan::dictionary::{NONE, WordList, WordScan, WordTuning};
use swalign::patterns::search::codes::TextCodes;
use swalign::patterns::search::plain::PlainScan;
use swalign::patterns::search::{EndScan, NOTHING, OTHER};
use swalign::terms::error::EngineError;
use swalign::terms::options::{OccurrenceRule, WordPosition};

fn scan(card: &Arc<Card>, words: &GivenWords, rule: OccurrenceRule, submission: Option<usize>) -> WordScan {
    let words = if rule.any_case { words.clone().folded() } else { words.clone() };
    let list = WordList { bytes: words.bytes(), starts: words.starts() };
    let scan = WordScan::new(Arc::clone(card), list, rule).unwrap_or_else(|error| panic!("{error}"));
    scan.tuned(WordTuning { submission })
}

/// Compares the matching lines, and the longest word of each, with the specification. Returns the number of matching
/// lines.
#[track_caller]
fn compare(card: &Arc<Card>, text: &[u8], words: &GivenWords, rule: OccurrenceRule, what: &str) -> usize {
    let found = plain::occurrences(text, words, &rule);
    let lines = select::every(text);
    for submission in [None, Some(1), Some(40)] {
        let what = format!("{what}, {rule:?}, {submission:?}, {} bytes", text.len());
        let scan = scan(card, words, rule, submission);
        let on_device = scan.load(text).unwrap_or_else(|error| panic!("{error}"));
        let bits = scan.bits(&on_device).unwrap_or_else(|error| panic!("{error}"));
        let bit = |place: usize| bits[place / 32] >> (place % 32) & 1 == 1;
        if rule.place == WordPosition::Anywhere {
            for place in 0..text.len() {
                let expected = found.iter().any(|one| one.start == place);
                assert_eq!(bit(place), expected, "{what}: place {place}");
            }
            continue;
        }
        assert_eq!(on_device.lines(), lines.len(), "{what}");
        let numbers = scan.numbers(&on_device).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(numbers.len(), lines.len(), "{what}");
        for (line, span) in lines.iter().enumerate() {
            let own = found.iter().filter(|one| one.start == span.start && one.end <= span.end);
            let longest = own.max_by_key(|one| (one.end, std::cmp::Reverse(one.word)));
            let expected = longest.map_or(NONE, |one| one.word);
            assert_eq!(numbers[line], expected, "{what}: line {line}");
            assert_eq!(bit(line), expected != NONE, "{what}: line {line}");
        }
    }
    let expected = plain::lines(text, words, &rule);
    lines_of_pieces(card, text, words, rule, &expected, what);
    expected.len()
}

/// Compares the lines found in the whole text, and in pieces that end with lines.
#[track_caller]
fn lines_of_pieces(
    card: &Arc<Card>,
    text: &[u8],
    words: &GivenWords,
    rule: OccurrenceRule,
    expected: &[Span],
    what: &str,
) {
    let scan = match GpuWordScan::new(Arc::clone(card), words.clone(), rule) {
        Ok(scan) => scan,
        Err(EngineError::Unsupported(_)) if words.iter().any(<[u8]>::is_empty) => return,
        Err(error) => panic!("{error}"),
    };
    let found = scan.find(text).unwrap_or_else(|error| panic!("{error}"));
    let every = select::every(text);
    let few = every.len() / 200 + 1;
    for lines in [few, 7 * few, usize::MAX] {
        let mut all = Vec::new();
        for piece in every.chunks(lines) {
            let piece = piece[0].start..text.len().min(piece[piece.len() - 1].end + 1);
            let own = scan.lines(text, piece.clone(), &found).into_iter();
            all.extend(own.map(|line| Span { start: piece.start + line.start, end: piece.start + line.end }));
        }
        assert_eq!(all, expected, "{what}, {rule:?}, pieces of {lines}");
    }
}

/// Random words of these lengths, and lines made of them.
fn case(random: &mut Random, lengths: &[usize], lines: usize, closed: bool) -> (GivenWords, Vec<u8>) {
    let letters = b"abAB_- 0\0";
    let letter = |random: &mut Random| random.pick(letters);
    let mut words = GivenWords::default();
    for &len in lengths {
        for _ in 0..3 {
            let word: Vec<u8> = (0..len).map(|_| letter(random)).collect();
            words.push(&word).unwrap();
        }
    }
    let mut text = Vec::new();
    for line in 0..lines {
        match random.below(4) {
            0 => {}
            1 => text.extend_from_slice(words.get(random.below(words.len()))),
            2 => {
                let len = random.below(20);
                text.extend((0..len).map(|_| letter(random)));
            }
            _ => {
                let before = random.below(3);
                text.extend((0..before).map(|_| letter(random)));
                let word = words.get(random.below(words.len())).to_vec();
                text.extend(&word[..word.len() - random.below(2).min(word.len())]);
                let behind = random.below(4);
                text.extend((0..behind).map(|_| letter(random)));
            }
        }
        if closed || line + 1 < lines {
            text.push(b'\n');
        }
    }
    (words, text)
}

fn at_all_seams(card: &Arc<Card>, seeds: u64) {
    let lengths: [&[usize]; 6] =
        [&[1], &[3, 4, 5], &[4, 8, 12], &[11, 12, 13], &[1, 2, 7, 13, 16, 17, 40], &[255, 256]];
    let mut some = 0;
    for (seed, lengths) in (0..seeds).flat_map(|seed| lengths.map(|lengths| (seed, lengths))) {
        let mut random = Random::new(seed);
        for lines in [0, 1, 2, 33, 130] {
            let (words, text) = case(&mut random, lengths, lines, seed % 2 == 0);
            for rule in rules() {
                some +=
                    compare(card, &text, &words, rule, &format!("seed {seed}, {lengths:?}, {lines} lines"));
            }
        }
    }
    assert!(some > 500, "{some} lines");
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_finds_words_at_all_seams() {
    at_all_seams(&card(false), 2);
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_finds_words_with_bounds_checks() {
    at_all_seams(&card(true), 1);
}

/// The empty word, equal words, no words, and line counts around the tile size of the kernel that finds lines.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_finds_words_of_odd_dictionaries() {
    let card = card(false);
    let empty = GivenWords::of(&[b"b", b"", b"ab", b"b"]).unwrap();
    for rule in rules().into_iter().filter(|rule| rule.place != WordPosition::Anywhere) {
        compare(&card, b"ab\n\nb\nabc\n b\nB", &empty, rule, "the empty word");
    }
    for rule in rules() {
        compare(&card, b"ab\n\nb\n", &GivenWords::default(), rule, "no words");
    }
    let words = GivenWords::of(&[b"ab", b"a"]).unwrap();
    for len in [8191, 8192, 8193, 16385] {
        let mut text = vec![b'x'; len];
        text[len - 3..].copy_from_slice(b"\nab");
        text[63] = b'\n';
        text[64] = b'a';
        let rule = OccurrenceRule { place: WordPosition::Start, ..OccurrenceRule::default() };
        assert_eq!(compare(&card, &text, &words, rule, "tiles"), 2);
        compare(&card, &vec![b'\n'; len], &words, rule, "newlines alone");
    }
}

/// All words of a shape, for patterns without ambiguity codes.
fn words_of(patterns: &[Vec<u8>], letters: usize, step: usize) -> BaseWords {
    let mut words = Vec::new();
    for (pattern, classes) in (0..).zip(patterns) {
        for before in 0..step {
            let own = &classes[before..before + letters];
            let bit = |k: usize| {
                own.iter()
                    .enumerate()
                    .fold(0, |word, (at, class)| word | (class.trailing_zeros() >> k & 1) << at)
            };
            words.push(BaseWord { word: bit(0) | bit(1) << letters, pattern, before: before as u32 });
        }
    }
    BaseWords { letters, step, words }
}

fn bases_at_all_seams(card: &Arc<Card>) {
    let tunings = [
        BaseTuning::default(),
        BaseTuning { submission: Some(1), room: (1, 1 << 20) },
        BaseTuning { submission: Some(1000), room: (1, 7) },
    ];
    let scans = tunings.map(|tuning| BaseScan::new(Arc::clone(card)).tuned(tuning));
    let mut some = 0;
    for (letters, step) in [(14, 7), (12, 4), (12, 1), (16, 5), (6, 1)] {
        for (seed, kinds) in [(1, 1), (2, 2), (3, 4)] {
            let mut random = Random::new(seed);
            for len in [0, 1, letters, 31, 32, 33, 32 * step, 2000] {
                let mut text = random.codes(len, kinds);
                let span = letters + step - 1;
                let mut patterns: Vec<Vec<u8>> = vec![random.codes(span + 1, 4)];
                for start in (0..len.saturating_sub(span + 40)).step_by(97) {
                    let own = span + [0, 1, 12, 40][random.below(4)];
                    patterns.push(text[start..start + own].to_vec());
                }
                for _ in 0..len / 300 {
                    let at = random.below(len);
                    text[at] = random.pick(&[OTHER, NOTHING]);
                }
                let patterns: Vec<Vec<u8>> =
                    patterns.iter().map(|own| own.iter().map(|code| 1 << code).collect()).collect();
                let rule = swalign::patterns::search::MatchRule { max_edits: 0, indels: true };
                let expected = PlainScan.scan(&TextCodes::of(&text), &patterns, &rule).unwrap();
                let expected: Vec<BaseEnd> =
                    expected.iter().map(|end| BaseEnd { pattern: end.pattern, end: end.end }).collect();
                for scan in &scans {
                    let on_device = scan.load(TextCodes::of(&text).planes(), 0..text.len()).unwrap();
                    let own = scan.patterns(&patterns, &[words_of(&patterns, letters, step)]).unwrap();
                    let found = scan.ends(&on_device, &own, usize::MAX).unwrap();
                    assert!(found == expected, "seed {seed}, {len} letters, {letters} and {step}");
                }
                some += expected.len();
            }
        }
    }
    assert!(some > 10_000, "{some} ends");
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_looks_up_patterns_of_bases_at_all_seams() {
    bases_at_all_seams(&card(false));
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_looks_up_patterns_of_bases_with_bounds_checks() {
    bases_at_all_seams(&card(true));
}
