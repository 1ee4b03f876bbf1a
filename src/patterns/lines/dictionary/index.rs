//! The index of a dictionary.

use super::layout::{DictionaryLayout, EXACT};
use super::sorted::Sorted;
use super::table::{DictionaryTable, Hash, WordRange, bits_for};
use super::whole::DistinctWords;
use super::words::GivenWords;
use crate::engine::cpu::simd::InstructionSet;
use crate::patterns::tables::HashBits;
use crate::terms::casts::to_u32;
use crate::terms::options::{OccurrenceRule, WordPosition};
use rayon::prelude::*;

/// Words indexed for search by a rule.
#[derive(Debug)]
pub struct Dictionary {
    pub(super) rule: OccurrenceRule,
    pub(super) set: InstructionSet,
    /// For each given word, its index among the distinct words.
    of: Vec<u32>,
    /// Index of the empty word among the distinct words.
    pub(super) empty: Option<u32>,
    pub(super) looked_up: LookedUp,
}

#[derive(Debug)]
pub(super) enum LookedUp {
    /// Whole lines.
    Lines(DistinctWords),
    /// Words that begin at a position.
    Beginnings(WordPrefixes),
}

/// Words, keyed by their first bytes.
#[derive(Debug)]
pub(super) struct WordPrefixes {
    pub sorted: Sorted,
    /// One table for each length of short words, then the table of all longer words.
    pub tables: Vec<Keyed>,
    pub gate: Option<Gate>,
}

/// Bitmap of the first bytes of all words.
#[derive(Debug)]
pub(super) struct Gate {
    mask: KeyMask,
    hash: Hash,
    bits: HashBits,
}

/// A table, and the mask that makes its keys.
#[derive(Debug)]
pub(super) struct Keyed {
    pub mask: KeyMask,
    /// The key is the whole word, so no two words share a key.
    pub is_exact: bool,
    pub table: DictionaryTable,
}

/// Mask of the first bytes of a key, eight at most, and the offset of the key's last eight bytes if it has more.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyMask {
    first: u64,
    pub last: Option<usize>,
}

impl KeyMask {
    fn of(letters: usize) -> KeyMask {
        let bits = 8 * to_u32(letters.min(EXACT));
        KeyMask {
            first: u64::MAX >> (u64::BITS - bits),
            last: letters.checked_sub(EXACT).filter(|&last| last > 0),
        }
    }

    /// The key of a text that begins with `first` and has `last` at the offset of the last eight bytes.
    #[inline(always)]
    pub fn key(self, first: u64, last: u64) -> u64 {
        // A key of at most eight bytes depends on `first` alone.
        first & self.first
            ^ if self.last.is_some() { last.rotate_left(29).wrapping_mul(0xd6e8_feb8_6659_fd93) } else { 0 }
    }

    /// The key of a word.
    fn of_word(self, word: &[u8]) -> u64 {
        let eight = |at: usize| {
            let mut eight = [0; 8];
            let rest = word.get(at..).unwrap_or_default();
            let len = rest.len().min(8);
            eight[..len].copy_from_slice(&rest[..len]);
            u64::from_le_bytes(eight)
        };
        self.key(eight(0), self.last.map_or(0, eight))
    }
}

impl Dictionary {
    pub fn new(set: InstructionSet, words: GivenWords, rule: OccurrenceRule) -> Dictionary {
        let words = if rule.any_case { words.folded() } else { words };
        if rule.place == WordPosition::Line {
            let (whole, of) = DistinctWords::new(&words);
            let empty = whole.empty();
            return Dictionary { rule, set, of, empty, looked_up: LookedUp::Lines(whole) };
        }
        let (sorted, of) = Sorted::new(&words);
        drop(words);
        let empty = (!sorted.words.is_empty() && sorted.words.get(0).is_empty()).then_some(0);
        let looked_up = LookedUp::Beginnings(WordPrefixes::new(sorted));
        Dictionary { rule, set, of, empty, looked_up }
    }

    pub fn rule(&self) -> &OccurrenceRule {
        &self.rule
    }

    /// Whether the empty word is among the words.
    pub fn has_empty(&self) -> bool {
        self.empty.is_some()
    }

    /// Number of distinct words.
    pub(super) fn distinct(&self) -> usize {
        match &self.looked_up {
            LookedUp::Lines(whole) => whole.words.len(),
            LookedUp::Beginnings(beginnings) => beginnings.sorted.words.len(),
        }
    }

    /// For each given word, its index among the distinct words.
    pub(super) fn of(&self) -> &[u32] {
        &self.of
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        let words = match &self.looked_up {
            LookedUp::Lines(whole) => whole.bytes(),
            LookedUp::Beginnings(beginnings) => beginnings.bytes(),
        };
        words + self.of.len() * size_of::<u32>()
    }
}

impl WordPrefixes {
    fn new(mut sorted: Sorted) -> WordPrefixes {
        let layout = DictionaryLayout::of(&sorted.words);
        let hash = Hash::of(&sorted.words);
        // Hashed keys can collide. Keys that are the bytes themselves cannot.
        let (layout, tables) = match tables(hash, &sorted.words, layout) {
            Some(tables) => (layout, tables),
            None => {
                let exact = DictionaryLayout { letters: EXACT, ..layout };
                (exact, tables(hash, &sorted.words, exact).unwrap_or_default())
            }
        };
        sorted.link(layout.letters);
        let gate = layout.gate.map(|letters| Gate::of(hash, &sorted.words, letters));
        WordPrefixes { sorted, tables, gate }
    }

    fn bytes(&self) -> usize {
        let tables: usize = self.tables.iter().map(|keyed| keyed.table.bytes()).sum();
        self.sorted.bytes() + tables + self.gate.as_ref().map_or(0, |gate| size_of_val(&*gate.bits.bits))
    }
}

/// The tables of the words, or `None` if two words share a key but differ in the bytes that it is made of.
fn tables(hash: Hash, words: &GivenWords, layout: DictionaryLayout) -> Option<Vec<Keyed>> {
    let mut short: Vec<Vec<WordRange>> = vec![Vec::new(); layout.letters];
    let mut long: Vec<WordRange> = Vec::new();
    let mask = KeyMask::of(layout.letters);
    // Words with the same first bytes are neighbors.
    let mut before: &[u8] = b"";
    for (number, word) in (0..).zip(words.iter()).filter(|(_, word)| !word.is_empty()) {
        let slot = |mask: KeyMask| WordRange { key: mask.of_word(word), first: number, end: number + 1 };
        match (word.get(..layout.letters), long.last_mut()) {
            (None, _) => short[word.len()].push(slot(KeyMask::of(word.len()))),
            (Some(first), Some(last)) if first == before => last.end = number + 1,
            (Some(first), _) => {
                before = first;
                long.push(slot(mask));
            }
        }
    }
    let table = |entries: &Vec<WordRange>| {
        let mut table = DictionaryTable::with_room(hash, entries.len());
        entries.iter().all(|&entry| table.insert(entry, |_| true).is_ok()).then_some(table)
    };
    let of_short = |(length, entries): (usize, &Vec<WordRange>)| {
        table(entries).map(|table| Keyed { mask: KeyMask::of(length), is_exact: true, table })
    };
    let some = short.par_iter().enumerate().filter(|(_, entries)| !entries.is_empty());
    let of_long = || table(&long).map(|table| Keyed { mask, is_exact: false, table });
    let (tables, last): (Option<Vec<Keyed>>, _) = rayon::join(|| some.map(of_short).collect(), of_long);
    let mut tables = tables?;
    tables.extend(Some(last?).filter(|_| !long.is_empty()));
    Some(tables)
}

impl Gate {
    fn of(hash: Hash, words: &GivenWords, letters: usize) -> Gate {
        let mask = KeyMask::of(letters);
        let mut bits = bits_for(words.len());
        let words = words.iter().filter(|word| !word.is_empty());
        words.for_each(|word| bits.insert(hash.of_key(mask.of_word(word))));
        Gate { mask, hash, bits }
    }

    /// 1 if a word may begin with these bytes, otherwise 0.
    #[inline(always)]
    pub fn may_have(&self, first: u64) -> usize {
        self.bits.may_have(self.hash.of_key(self.mask.key(first, 0)))
    }
}
