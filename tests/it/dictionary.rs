//! Word lookup in texts: the dictionary is compared with its specification and with the aho-corasick crate, for every
//! rule and at the boundary sizes of keys, batches and pieces.

use crate::common::lines::word_rules as rules;
use crate::common::random::Random;
use aho_corasick::{AhoCorasick, MatchKind};
use std::collections::BTreeSet;
use swalign::engine::cpu::simd::InstructionSet;
use swalign::patterns::lines::dictionary::numbers::SharedCounters;
use swalign::patterns::lines::dictionary::words::GivenWords;
use swalign::patterns::lines::dictionary::{Dictionary, Occurrence, plain};
use swalign::patterns::lines::select::{self, Span};
use swalign::terms::options::{OccurrenceRule, WordPosition};

/// All occurrences, including overlapping ones, found line by line with the aho-corasick crate.
fn by_automaton(text: &[u8], words: &[Vec<u8>], rule: &OccurrenceRule) -> Vec<Occurrence> {
    let automaton = AhoCorasick::builder()
        .match_kind(MatchKind::Standard)
        .ascii_case_insensitive(rule.any_case)
        .build(words)
        .unwrap();
    let mut found = Vec::new();
    for Span { start, end } in select::every(text) {
        let line = &text[start..end];
        let all =
            automaton.find_overlapping_iter(line).filter(|one| rule.allows(line, one.start(), one.end()));
        found.extend(all.map(|one| Occurrence {
            start: start + one.start(),
            end: start + one.end(),
            word: one.pattern().as_u32(),
        }));
    }
    found.sort_unstable();
    // The crate reports the empty word several times at some positions.
    found.dedup();
    found
}

/// Computes lines, stretches and numbers from all occurrences, by definition.
fn of_occurrences(text: &[u8], words: usize, found: &[Occurrence]) -> (Vec<Span>, Vec<Span>, Vec<u64>) {
    let has = |line: &Span| found.iter().any(|one| line.start <= one.start && one.end <= line.end);
    let lines = select::every(text).into_iter().filter(has).collect();
    let mut stretches = Vec::new();
    let mut after = 0;
    while let Some(first) = found.iter().filter(|one| one.start >= after && one.end > one.start).min() {
        let same = found.iter().filter(|one| one.start == first.start);
        let end = same.map(|one| one.end).max().unwrap();
        stretches.push(Span { start: first.start, end });
        after = end;
    }
    let mut numbers = vec![0; words];
    found.iter().for_each(|one| numbers[one.word as usize] += 1);
    (lines, stretches, numbers)
}

/// Compares a dictionary on every instruction set with the aho-corasick crate. Returns the number of occurrences.
#[track_caller]
fn compare(text: &[u8], words: &[Vec<u8>], rule: OccurrenceRule, what: &str) -> usize {
    let found = by_automaton(text, words, &rule);
    let (lines, stretches, numbers) = of_occurrences(text, words.len(), &found);
    let slices: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    for set in InstructionSet::available() {
        let dictionary = Dictionary::new(set, GivenWords::of(&slices).unwrap(), rule);
        assert_eq!(dictionary.lines(text), lines, "lines: {what}, {set}, {rule:?}");
        assert_eq!(dictionary.stretches(text), stretches, "stretches: {what}, {set}, {rule:?}");
        let own = SharedCounters::of(&dictionary);
        dictionary.count(text, &own);
        assert_eq!(own.finish(&dictionary), numbers, "numbers: {what}, {set}, {rule:?}");
    }
    found.len()
}

/// A random text of the given characters, in which one byte in `every` is a newline.
fn text(random: &mut Random, len: usize, letters: &[u8], every: usize) -> Vec<u8> {
    (0..len).map(|_| if random.below(every) == 0 { b'\n' } else { random.pick(letters) }).collect()
}

/// Words of the text, random words, and prefixes, suffixes and copies of other words.
fn words(random: &mut Random, text: &[u8], letters: &[u8], count: usize, lens: &[usize]) -> Vec<Vec<u8>> {
    let mut words: Vec<Vec<u8>> = Vec::new();
    while words.len() < count {
        let len = random.pick(lens);
        let word = match random.below(6) {
            0 => (0..len).map(|_| random.pick(letters)).collect(),
            1 if !words.is_empty() => {
                let other = &words[random.below(words.len())];
                let cut = random.below(other.len() + 1);
                if random.below(2) == 0 { other[..cut].to_vec() } else { other[cut..].to_vec() }
            }
            2 if !words.is_empty() => words[random.below(words.len())].clone(),
            _ => {
                let begin = random.below(text.len() + 1);
                let stretch = &text[begin..text.len().min(begin + len)];
                stretch.split(|&byte| byte == b'\n').next().unwrap_or_default().to_vec()
            }
        };
        words.push(word);
    }
    words
}

const LETTERS: [&[u8]; 4] = [b"ab", b"abAB_ .", b"aB\0\r\xe9\xff-", b"acgt"];

#[test]
fn the_specification_is_what_the_automaton_finds() {
    for seed in 0..150 {
        let random = &mut Random::new(seed);
        let letters = random.pick(&LETTERS);
        let (len, every) = (random.below(120), random.pick(&[3, 9, 50]));
        let text = text(random, len, letters, every);
        let count = random.below(9);
        let words = words(random, &text, letters, count, &[0, 1, 2, 3, 5, 9]);
        let slices: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        let packed = GivenWords::of(&slices).unwrap();
        for rule in rules() {
            let found = by_automaton(&text, &words, &rule);
            assert_eq!(plain::occurrences(&text, &packed, &rule), found, "seed {seed}, {rule:?}");
            let (lines, stretches, numbers) = of_occurrences(&text, words.len(), &found);
            assert_eq!(plain::lines(&text, &packed, &rule), lines, "seed {seed}, {rule:?}");
            assert_eq!(plain::stretches(&text, &packed, &rule), stretches, "seed {seed}, {rule:?}");
            assert_eq!(plain::numbers(&text, &packed, &rule), numbers, "seed {seed}, {rule:?}");
        }
    }
}

#[test]
fn words_of_all_lengths_in_texts_of_all_lengths() {
    let (mut some, mut all) = (0, 0);
    for seed in 0..240 {
        let random = &mut Random::new(1000 + seed);
        let letters = random.pick(&LETTERS);
        let len = random.pick(&[0, 1, 7, 8, 15, 16, 63, 64, 65, 255, 256, 257, 271, 272, 273, 700]);
        let every = random.pick(&[2, 9, 80]);
        let text = text(random, len, letters, every);
        let lens: &[usize] = random.pick(&[
            &[0, 1, 2, 3][..],
            &[1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65],
            &[4, 5, 6, 7, 8, 9, 10, 11, 12],
            &[9, 10, 16, 17],
            &[16, 17, 20, 40],
            &[2],
            &[8],
        ]);
        let count = random.pick(&[0, 1, 2, 10, 100]);
        let words = words(random, &text, letters, count, lens);
        for rule in rules() {
            some += usize::from(compare(&text, &words, rule, &format!("seed {seed}")) > 0);
            all += 1;
        }
    }
    assert!(some > all / 3 && some < all, "{some} of {all} find something");
}

/// Dictionaries with several tables and a gate, and dictionaries without a gate.
#[test]
fn many_words() {
    for (seed, count, lens) in [
        (1, 3000, &[4, 5, 6, 7, 8, 9, 10, 11, 12][..]),
        (2, 20_000, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
        (3, 2000, &[16, 20]),
        (4, 100, &[3, 9, 30]),
    ] {
        let random = &mut Random::new(seed);
        let letters = b"abcdefghijklmnopqrstuvwxyz";
        let mut set = BTreeSet::new();
        while set.len() < count {
            let len = random.pick(lens).max(if count > 10_000 { 3 } else { 1 });
            set.insert((0..len).map(|_| random.pick(letters)).collect::<Vec<u8>>());
        }
        let words: Vec<Vec<u8>> = set.into_iter().collect();
        let mut text = Vec::new();
        while text.len() < 20_000 {
            let own = random.below(words.len());
            text.extend_from_slice(&words[own]);
            let len = random.below(12);
            text.extend((0..len).map(|_| random.pick(letters)));
            text.push(random.pick(b"\n\n x"));
        }
        for rule in [WordPosition::Anywhere, WordPosition::Start, WordPosition::Line]
            .map(|place| OccurrenceRule { place, ..OccurrenceRule::default() })
        {
            assert!(compare(&text, &words, rule, &format!("{count} words")) > 0);
        }
        let rule = OccurrenceRule { whole_words: true, any_case: true, ..OccurrenceRule::default() };
        assert!(compare(&text, &words, rule, &format!("{count} words")) > 0);
    }
}

/// Each word is a prefix of the next word, and many words match at every position.
#[test]
fn words_that_begin_with_one_another() {
    let words: Vec<Vec<u8>> = (1..90).map(|len| vec![b'a'; len]).collect();
    for len in [0, 1, 5, 88, 89, 90, 200] {
        let text = [vec![b'a'; len], b"b\n".to_vec(), vec![b'a'; len]].concat();
        for rule in rules() {
            compare(&text, &words, rule, &format!("{len} letters"));
        }
    }
}

#[test]
fn no_words_and_the_empty_word() {
    for text in [&b""[..], b"\n", b"\n\n", b"ab", b"ab\n", b"a b\n\n b\n-\n"] {
        for words in [vec![], vec![b"".to_vec()], vec![b"".to_vec(), b"b".to_vec(), b"".to_vec()]] {
            for rule in rules() {
                compare(text, &words, rule, &format!("{} {words:?}", text.escape_ascii()));
            }
        }
    }
}
