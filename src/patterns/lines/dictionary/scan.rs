//! Searches texts for the words of a dictionary.
//!
//! A batch of positions passes through the levels together, so that the loads of one level overlap: the bitmaps are
//! tested for the first bytes, the slots for the keys that pass, and the words for the slots found. Each level
//! prefetches the memory that the next level reads.

use super::index::{Dictionary, Keyed, LookedUp, WordPrefixes};
use super::numbers::SharedCounters;
use super::sorted::NONE;
use super::whole::DistinctWords;
use crate::engine::cpu::simd::{Bits, Kernel, Simd};
use crate::patterns::lines::select::{self, LineCollector, Span, each_line};
use crate::patterns::lines::{NEWLINE, is_of_word};
use crate::terms::casts::to_u16;
use crate::terms::options::WordPosition;
use bytemuck::{Zeroable, cast_slice};
use std::borrow::Cow;

/// Positions per batch.
const BATCH: usize = 256;
/// Bytes that a position needs: the length of the longest key.
const BEHIND: usize = super::layout::MOST;

impl Dictionary {
    /// The lines of `text` in which some word occurs, in order.
    pub fn lines(&self, text: &[u8]) -> Vec<Span> {
        let text = &*self.folded(text);
        if self.empty.is_some() {
            let every = select::every(text);
            if !self.rule.whole_words && self.rule.place != WordPosition::Line {
                return every;
            }
            let has_empty = |line: &Span| self.empties(&text[line.start..line.end]) > 0;
            let lines = every.into_iter().filter(has_empty).collect();
            return select::union(lines, self.lines_with_letters(text));
        }
        self.lines_with_letters(text)
    }

    /// The lines that contain a nonempty word. If case is ignored, the text is already folded.
    fn lines_with_letters(&self, text: &[u8]) -> Vec<Span> {
        match &self.looked_up {
            LookedUp::Lines(whole) => {
                let mut lines = Vec::new();
                self.set.run(WholeLineScan { whole, text, call: |line, _| lines.push(line) });
                lines
            }
            LookedUp::Beginnings(beginnings) => {
                let mut sink = Lines(LineCollector::new(text));
                self.set.run(PositionScan { dictionary: self, beginnings, text, sink: &mut sink });
                sink.0.lines()
            }
        }
    }

    /// The matches of `text` that `-o` shows, leftmost-longest.
    pub fn stretches(&self, text: &[u8]) -> Vec<Span> {
        let text = &*self.folded(text);
        let mut stretches = Vec::new();
        match &self.looked_up {
            LookedUp::Lines(whole) => {
                let call = |line: Span, _| {
                    if line.start < line.end {
                        stretches.push(line)
                    }
                };
                self.set.run(WholeLineScan { whole, text, call });
            }
            LookedUp::Beginnings(beginnings) => {
                let mut sink = OccurrenceSpans(stretches);
                self.set.run(PositionScan { dictionary: self, beginnings, text, sink: &mut sink });
                stretches = sink.0;
            }
        }
        stretches
    }

    /// Counts the words of `text`.
    pub fn count(&self, text: &[u8], numbers: &SharedCounters) {
        let text = &*self.folded(text);
        match &self.looked_up {
            LookedUp::Lines(whole) => {
                self.set.run(WholeLineScan { whole, text, call: |_, word| numbers.add(word, 1) })
            }
            LookedUp::Beginnings(beginnings) => {
                if let Some(empty) = self.empty {
                    let lines = select::every(text);
                    let counts = lines.iter().map(|line| self.empties(&text[line.start..line.end]));
                    numbers.add(empty, counts.sum());
                }
                self.set.run(PositionScan {
                    dictionary: self,
                    beginnings,
                    text,
                    sink: &mut Counted(numbers),
                });
            }
        }
    }

    /// Number of occurrences of the empty word in a line.
    fn empties(&self, line: &[u8]) -> u64 {
        match self.rule.place {
            WordPosition::Anywhere if !self.rule.whole_words => line.len() as u64 + 1,
            _ => (0..=line.len()).filter(|&at| self.rule.allows(line, at, at)).count() as u64,
        }
    }

    fn folded<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        if self.rule.any_case { Cow::Owned(text.to_ascii_lowercase()) } else { Cow::Borrowed(text) }
    }
}

/// Receives occurrences in the order of their positions.
trait OccurrenceSink {
    /// Whether no more occurrences at this position are needed.
    #[inline(always)]
    fn is_done_with(&self, _at: usize) -> bool {
        false
    }

    /// Receives an occurrence: the longest one that a table has at a position or, with `whole_words` and `TAKES_ALL`,
    /// each of them.
    fn take(&mut self, start: usize, end: usize, word: u32);

    /// Whether the sink needs all occurrences that begin at a position if only those at the end of a whole word count.
    /// Otherwise the longest of them suffices.
    const TAKES_ALL: bool;
}

struct Lines<'a>(LineCollector<'a>);

impl OccurrenceSink for Lines<'_> {
    const TAKES_ALL: bool = false;

    #[inline(always)]
    fn is_done_with(&self, at: usize) -> bool {
        self.0.has(at)
    }

    #[inline(always)]
    fn take(&mut self, start: usize, _: usize, _: u32) {
        self.0.take(start);
    }
}

struct OccurrenceSpans(Vec<Span>);

impl OccurrenceSink for OccurrenceSpans {
    const TAKES_ALL: bool = false;

    #[inline(always)]
    fn is_done_with(&self, at: usize) -> bool {
        self.0.last().is_some_and(|last| last.start < at && at < last.end)
    }

    #[inline(always)]
    fn take(&mut self, start: usize, end: usize, _: u32) {
        match self.0.last_mut() {
            Some(last) if last.start == start => last.end = last.end.max(end),
            Some(last) if start < last.end => {}
            _ => self.0.push(Span { start, end }),
        }
    }
}

struct Counted<'a>(&'a SharedCounters);

impl OccurrenceSink for Counted<'_> {
    const TAKES_ALL: bool = true;

    #[inline(always)]
    fn take(&mut self, _: usize, _: usize, word: u32) {
        self.0.add(word, 1);
    }
}

/// A position, and a key that may be in a table.
#[derive(Clone, Copy, Zeroable)]
struct Candidate {
    at: usize,
    key: u64,
    hash: u32,
    table: u32,
}

/// A position, and a range of words that includes all words that begin there.
struct WordHit {
    at: usize,
    first: u32,
    end: u32,
    is_exact: bool,
}

/// Looks up the words that begin at positions of a text.
struct PositionScan<'a, 'b, K> {
    dictionary: &'a Dictionary,
    beginnings: &'a WordPrefixes,
    text: &'a [u8],
    sink: &'b mut K,
}

/// Positions that are being looked up.
struct LookupBatch {
    candidates: Vec<Candidate>,
    count: usize,
    hits: Vec<WordHit>,
}

impl LookupBatch {
    fn new(tables: usize) -> LookupBatch {
        // One extra element, since candidates are written before it is known whether they pass.
        LookupBatch { candidates: vec![Candidate::zeroed(); BATCH * tables + 1], count: 0, hits: Vec::new() }
    }

    /// Adds a candidate for each table whose bits the position passes; `letters` returns the eight bytes at an offset
    /// from it.
    #[inline(always)]
    fn put(&mut self, tables: &[Keyed], at: usize, is_allowed: bool, letters: impl Fn(usize) -> u64) {
        let first = letters(0);
        for (table, keyed) in (0..).zip(tables) {
            let key = keyed.mask.key(first, keyed.mask.last.map_or(0, &letters));
            let hash = keyed.table.hash(key);
            self.candidates[self.count] = Candidate { at, key, hash, table };
            self.count += keyed.table.may_have(hash) & usize::from(is_allowed);
        }
    }
}

impl<K: OccurrenceSink> Kernel for PositionScan<'_, '_, K> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        match (&self.dictionary.rule.place, &*self.beginnings.tables) {
            (_, []) => {}
            (WordPosition::Anywhere, [one]) => self.everywhere(simd, std::slice::from_ref(one)),
            (WordPosition::Anywhere, tables) => self.everywhere(simd, tables),
            (WordPosition::Start | WordPosition::Line, tables) => self.starts(simd, tables),
        }
    }
}

impl<K: OccurrenceSink> PositionScan<'_, '_, K> {
    #[inline(always)]
    fn everywhere<S: Bits>(mut self, simd: S, tables: &[Keyed]) {
        let text = self.text;
        let mut batch = LookupBatch::new(tables.len());
        let mut end = [NEWLINE; BATCH + BEHIND];
        let mut passed = [0u16; BATCH + 1];
        for begin in (0..text.len()).step_by(BATCH) {
            let rest = &text[begin..];
            let letters = match rest.first_chunk() {
                Some(letters) => letters,
                None => {
                    end[..rest.len()].copy_from_slice(rest);
                    end[rest.len()..].fill(NEWLINE);
                    &end
                }
            };
            let eight =
                |at: usize| u64::from_le_bytes(letters[at..].first_chunk().copied().unwrap_or_default());
            let is_allowed = |at: usize| {
                !self.dictionary.rule.whole_words
                    || !(begin + at).checked_sub(1).is_some_and(|before| is_of_word(text[before]))
            };
            let places = BATCH.min(rest.len());
            match &self.beginnings.gate {
                None => {
                    for at in 0..places {
                        batch.put(tables, begin + at, is_allowed(at), |after| eight(at + after));
                    }
                }
                Some(gate) => {
                    let mut count = 0;
                    for at in 0..places {
                        passed[count] = to_u16(at);
                        count += gate.may_have(eight(at)) & usize::from(is_allowed(at));
                    }
                    for &at in &passed[..count] {
                        let at = usize::from(at);
                        batch.put(tables, begin + at, true, |after| eight(at + after));
                    }
                }
            }
            self.resolve(simd, tables, &mut batch);
        }
    }

    /// Looks only at the starts of lines.
    #[inline(always)]
    fn starts<S: Bits>(mut self, simd: S, tables: &[Keyed]) {
        let text = self.text;
        let mut batch = LookupBatch::new(tables.len());
        let mut lines = 0;
        each_line(simd, text, |line| {
            batch.put(tables, line.start, true, |after| eight_letters(text, line.start + after));
            lines += 1;
            if lines == BATCH {
                lines = 0;
                self.resolve(simd, tables, &mut batch);
            }
        });
        self.resolve(simd, tables, &mut batch);
    }

    /// Looks a batch up in the slots and the words, and empties it.
    #[inline(always)]
    fn resolve<S: Bits>(&mut self, simd: S, tables: &[Keyed], batch: &mut LookupBatch) {
        let words = &self.beginnings.sorted.words;
        let candidates = &batch.candidates[..batch.count];
        for candidate in candidates {
            simd.prefetch(cast_slice(tables[candidate.table as usize].table.near(candidate.hash)));
        }
        batch.hits.clear();
        for &Candidate { at, key, hash, table } in candidates {
            let Keyed { table, is_exact, .. } = &tables[table as usize];
            if let Some(slot) = table.find(hash, key, |_| true)
                && !self.sink.is_done_with(at)
            {
                if !is_exact {
                    simd.prefetch(cast_slice(&words.starts()[slot.first as usize..]));
                }
                batch.hits.push(WordHit { at, first: slot.first, end: slot.end, is_exact: *is_exact });
            }
        }
        for hit in &batch.hits {
            if !hit.is_exact {
                simd.prefetch(&words.bytes()[words.starts()[hit.first as usize] as usize..]);
            }
        }
        for hit in &batch.hits {
            if !self.sink.is_done_with(hit.at) {
                self.take(hit);
            }
        }
        batch.count = 0;
    }

    #[inline(always)]
    fn take(&mut self, hit: &WordHit) {
        let WordPrefixes { sorted, .. } = self.beginnings;
        let mut word = hit.first;
        if !hit.is_exact {
            word = sorted.longest(&self.text[hit.at..], hit.first..hit.end);
        }
        while word != NONE {
            let end = hit.at + sorted.words.get(word as usize).len();
            let is_whole = || !self.text.get(end).is_some_and(|&byte| is_of_word(byte));
            if !self.dictionary.rule.whole_words {
                return self.sink.take(hit.at, end, word);
            } else if is_whole() {
                self.sink.take(hit.at, end, word);
                if !K::TAKES_ALL {
                    return;
                }
            }
            word = sorted.shorter(word);
        }
    }
}

/// Eight bytes of the text, padded with newlines, which no word contains.
#[inline(always)]
fn eight_letters(text: &[u8], at: usize) -> u64 {
    let rest = text.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(letters) => u64::from_le_bytes(*letters),
        None => {
            let mut letters = [NEWLINE; 8];
            letters[..rest.len()].copy_from_slice(rest);
            u64::from_le_bytes(letters)
        }
    }
}

/// A line whose key may be that of a word.
#[derive(Clone, Copy)]
struct KeyedLine {
    line: Span,
    key: u64,
}

/// Looks up whole lines.
struct WholeLineScan<'a, C> {
    whole: &'a DistinctWords,
    text: &'a [u8],
    call: C,
}

impl<C: FnMut(Span, u32)> Kernel for WholeLineScan<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let WholeLineScan { whole, text, mut call } = self;
        let mut lines = [KeyedLine { line: Span { start: 0, end: 0 }, key: 0 }; BATCH + 1];
        let mut count = 0;
        let mut resolve = |lines: &[KeyedLine]| {
            for line in lines {
                simd.prefetch(cast_slice(whole.table.near(whole.table.hash(line.key))));
            }
            for &KeyedLine { line, key } in lines {
                if let Some(word) = whole.find(&text[line.start..line.end], key) {
                    call(line, word);
                }
            }
        };
        each_line(simd, text, |line| {
            if let Some(key) = whole.key(text, line.start, line.end) {
                lines[count] = KeyedLine { line, key };
                count += whole.table.may_have(whole.table.hash(key));
                if count == BATCH {
                    resolve(&lines[..count]);
                    count = 0;
                }
            }
        });
        resolve(&lines[..count]);
    }
}
