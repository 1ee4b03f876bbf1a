//! Throughput of looking up words in lines: `cargo bench --bench dictionary -- [DEVICE] [mib=N] [mega=N] [threads=N]`,
//! plus the arguments that all benchmarks share (common/mod.rs).
//!
//! The text has N MiB (default: 64) of short lines in memory; one line in four is a word. Rows of lines and numbers
//! measure the whole way from the text to the matching lines, or to the number of occurrences of each word; their
//! amounts are bytes of text. Rows named "built" measure the way from packed words to the dictionary; their amounts are
//! words, and their notes give the memory. The lines and numbers at the start of the text are compared with those of
//! the aho-corasick crate.
//!
//! On a GPU the text is already resident, and amounts are lines. The rows look up whole lines and prefixes of lines,
//! and their answer is one bit per line. DNA patterns are looked up in N million resident bases (default: 256). Lines
//! and ends are compared with those of the CPU.

mod common;

use aho_corasick::AhoCorasick;
use common::random::Random;
use common::{Bench, Device, Row};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use swalign::engine::cpu::simd::InstructionSet;
use swalign::engine::gpu::Card;
use swalign::patterns::lines::dictionary::Dictionary;
use swalign::patterns::lines::dictionary::numbers::SharedCounters;
use swalign::patterns::lines::dictionary::words::GivenWords;
use swalign::patterns::lines::select;
use swalign::patterns::scan::bases::{BaseScan, BaseWord, BaseWords};
use swalign::patterns::scan::dictionary::{WordList, WordScan};
use swalign::patterns::search::EndScan;
use swalign::patterns::search::codes::TextCodes;
use swalign::patterns::search::exact::Exact;
use swalign::terms::options::{OccurrenceRule, WordPosition};

const PIECE: usize = 512 << 10;
/// Bytes at the start of the text whose answers are checked.
const CHECKED: usize = 200_000;

struct Kind {
    letters: &'static [u8],
    lens: Range<usize>,
    name: &'static str,
}

const PROSE: Kind = Kind { letters: b"abcdefghijklmnopqrstuvwxyz", lens: 4..13, name: "letters" };
const DNA: Kind = Kind { letters: b"ACGT", lens: 20..21, name: "DNA of 20" };

const PLACES: [(WordPosition, &str); 3] = [
    (WordPosition::Anywhere, "anywhere"),
    (WordPosition::Start, "prefix"),
    (WordPosition::Line, "whole lines"),
];

impl Kind {
    fn word(&self, random: &mut Random) -> Vec<u8> {
        let len = self.lens.start + random.below(self.lens.len());
        (0..len).map(|_| random.pick(self.letters)).collect()
    }

    fn words(&self, count: usize) -> GivenWords {
        let random = &mut Random::new(1);
        let mut words = GivenWords::default();
        (0..count).for_each(|_| words.push(&self.word(random)).expect("room"));
        words
    }

    fn text(&self, words: &GivenWords, size: usize) -> Vec<u8> {
        let random = &mut Random::new(2);
        let mut text = Vec::with_capacity(size + 32);
        while text.len() < size {
            match random.below(4) {
                0 => text.extend_from_slice(words.get(random.below(words.len()))),
                _ => text.extend(self.word(random)),
            }
            text.push(b'\n');
        }
        text
    }
}

/// Splits the text into ranges of whole lines, each of `enough` bytes or a little more.
fn cut(text: &[u8], enough: usize) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut begin = 0;
    while begin < text.len() {
        let newline = text.get(begin + enough..).and_then(|rest| rest.iter().position(|&byte| byte == b'\n'));
        let end = newline.map_or(text.len(), |at| begin + enough + at + 1);
        ranges.push(begin..end);
        begin = end;
    }
    ranges
}

fn lines(dictionary: &Dictionary, text: &[u8]) -> usize {
    cut(text, PIECE).into_par_iter().map(|piece| dictionary.lines(&text[piece]).len()).sum()
}

fn numbers(dictionary: &Dictionary, text: &[u8]) -> Vec<u64> {
    let numbers = SharedCounters::of(dictionary);
    cut(text, PIECE).into_par_iter().for_each(|piece| dictionary.count(&text[piece], &numbers));
    numbers.finish(dictionary)
}

/// Compares the answers with those of the aho-corasick crate.
fn check(dictionary: &Dictionary, words: &GivenWords, text: &[u8], what: &str) {
    let text = &text[cut(text, CHECKED.min(text.len() - 1)).swap_remove(0)];
    let automaton = AhoCorasick::new(words.iter()).expect("an automaton");
    let mut sums = vec![0; words.len()];
    let mut expected = Vec::new();
    for line in select::every(text) {
        let letters = &text[line.start..line.end];
        let all = automaton.find_overlapping_iter(letters);
        let own = all.filter(|one| dictionary.rule().allows(letters, one.start(), one.end()));
        let found = own.map(|one| sums[one.pattern().as_usize()] += 1).count();
        expected.extend((found > 0).then_some(line));
    }
    assert!(dictionary.lines(text) == expected, "{what}: other lines");
    assert!(numbers(dictionary, text) == sums, "{what}: other numbers");
}

fn rows(bench: &mut Bench, kind: &Kind, count: usize, set: InstructionSet) {
    let by = set.name();
    let words = kind.words(count);
    let text = kind.text(&words, bench.number("mib", bench.sized(64)) << 20);
    for (place, name) in PLACES {
        let rule = OccurrenceRule { place, ..OccurrenceRule::default() };
        let name = format!("{count} words, {}, {name}", kind.name);
        let [built, found, counted] = ["built", "lines", "numbers"].map(|what| format!("{name}: {what}"));
        if bench.wants(&built) {
            let (dictionary, times) = bench.rounds.time(|| Dictionary::new(set, words.clone(), rule));
            let note = format!("{:.1} bytes a word", dictionary.bytes() as f64 / count as f64);
            bench.print(&Row { work: &built, by, amount: count, unit: "words", note }, &times);
        }
        let (some, all) = (bench.wants(&found), bench.wants(&counted));
        if !some && !all {
            continue;
        }
        let dictionary = Dictionary::new(set, words.clone(), rule);
        check(&dictionary, &words, &text, &name);
        if some {
            let (lines, times) = bench.rounds.time(|| lines(&dictionary, &text));
            let note = format!("{lines} lines");
            bench.print(&Row { work: &found, by, amount: text.len(), unit: "bytes", note }, &times);
        }
        if all {
            let (sums, times) = bench.rounds.time(|| numbers(&dictionary, &text));
            let note = format!("{} occurrences", sums.iter().sum::<u64>());
            bench.print(&Row { work: &counted, by, amount: text.len(), unit: "bytes", note }, &times);
        }
    }
}

/// Looks up a dictionary of words of 4 to 12 bytes in the lines of a resident text.
fn lines_on(bench: &mut Bench, card: &Arc<Card>) {
    let count = bench.sized(1_000_000);
    let words = PROSE.words(count);
    let mut text = Vec::new();
    for (place, what) in [(WordPosition::Line, "whole lines"), (WordPosition::Start, "prefix")] {
        let name = format!("{count} words, {}, {what}, resident", PROSE.name);
        if !bench.wants(&name) {
            continue;
        }
        if text.is_empty() {
            text = PROSE.text(&words, bench.number("mib", bench.sized(64)) << 20);
        }
        let rule = OccurrenceRule { place, ..OccurrenceRule::default() };
        let expected = lines(&Dictionary::new(InstructionSet::best(), words.clone(), rule), &text);
        let list = WordList { bytes: words.bytes(), starts: words.starts() };
        let mut scan = WordScan::new(Arc::clone(card), list, rule).expect("words on the device");
        let resident = scan.load(&text).expect("a text on the device");
        let look = |scan: &mut WordScan, ()| scan.bits(&resident).expect("lines");
        let (bits, times) = bench.rounds.time_on(&mut scan, || (), look, |scan| scan.kernel_time());
        let found: usize = bits.iter().map(|bits| bits.count_ones() as usize).sum();
        assert_eq!(found, expected, "{name}: other lines");
        let note = format!("{found} lines match, {} bytes of text", text.len());
        bench.print(&Row { work: &name, by: "gpu", amount: resident.lines(), unit: "lines", note }, &times);
    }
}

/// Words of 14 bases at the first seven offsets of each pattern of 20 bases, as on the CPU. For each occurrence of a
/// pattern, one of the words starts at a multiple of seven in the text.
fn words_of(patterns: &[Vec<u8>]) -> BaseWords {
    let (letters, step) = (14, 7);
    let mut words = Vec::new();
    for (pattern, classes) in (0..).zip(patterns) {
        for before in 0..step {
            let own = &classes[before..before + letters];
            let plane = |k: u32| {
                let bit = |class: &u8| (class.trailing_zeros() >> k) & 1;
                own.iter().enumerate().fold(0, |word, (at, class)| word | (bit(class) << at))
            };
            let word = plane(0) | (plane(1) << letters);
            words.push(BaseWord { word, pattern, before: before as u32 });
        }
    }
    BaseWords { letters, step, words }
}

/// Looks up patterns of 20 bases in a resident text.
fn patterns_on(bench: &mut Bench, card: &Arc<Card>) {
    let count = bench.sized(100_000);
    let name = format!("{count} patterns of 20 bases, resident");
    if !bench.wants(&name) {
        return;
    }
    let random = &mut Random::new(3);
    let text = random.codes(bench.number("mega", bench.either(256, 4)) * 1_000_000, 4);
    let pattern = |number: usize, random: &mut Random| match number % 2 {
        0 => random.codes(20, 4),
        _ => text[random.below(text.len() - 20)..][..20].to_vec(),
    };
    let patterns: Vec<Vec<u8>> =
        (0..count).map(|number| pattern(number, random).iter().map(|code| 1 << code).collect()).collect();
    let exact = Exact::on(InstructionSet::best());
    let rule = swalign::patterns::search::MatchRule { max_edits: 0, indels: true };
    let expected = exact.scan(&TextCodes::of(&text), &patterns, &rule).expect("ends");
    let mut scan = BaseScan::new(Arc::clone(card));
    let on_device = scan.patterns(&patterns, &[words_of(&patterns)]).expect("patterns on the device");
    let resident = scan.load(TextCodes::of(&text).planes(), 0..text.len()).expect("a text on the device");
    let look = |scan: &mut BaseScan, ()| scan.ends(&resident, &on_device, usize::MAX).expect("ends");
    let (ends, times) = bench.rounds.time_on(&mut scan, || (), look, |scan| scan.kernel_time());
    let is_same =
        ends.iter().map(|end| (end.pattern, end.end)).eq(expected.iter().map(|end| (end.pattern, end.end)));
    assert!(is_same, "{name}: other ends");
    let note = format!("{} ends", ends.len());
    bench.print(&Row { work: &name, by: "gpu", amount: text.len(), unit: "letters", note }, &times);
}

fn main() {
    let mut bench = Bench::new(&[], &["threads", "mib", "mega"]);
    bench.use_threads();
    let set = match &bench.device {
        Some(Device::Gpu(name)) => {
            let card = Bench::card(name.as_deref());
            lines_on(&mut bench, &card);
            return patterns_on(&mut bench, &card);
        }
        Some(Device::Cpu(name)) => Bench::set(name.as_deref()),
        None => InstructionSet::best(),
    };
    for (kind, counts) in [(PROSE, &[1000, 100_000, 1_000_000][..]), (DNA, &[1000, 100_000])] {
        for &count in counts {
            rows(&mut bench, &kind, count, set);
        }
    }
}
