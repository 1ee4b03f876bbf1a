//! The kernels, and their WGSL text from `shaders/words.wgsl` and `shaders/line_starts.wgsl`.

use crate::gpu::template::{Meaning, TemplateError, constants, expand};
use crate::patterns::scan::tasks::{Matching, Tiling};
use crate::terms::casts::{const_u32, to_u32};

const WORDS: &str = include_str!("../../../../shaders/words.wgsl");
const LINE_STARTS: &str = include_str!("../../../../shaders/line_starts.wgsl");

/// Threads per workgroup.
pub const THREADS: u32 = 128;
/// Lines per thread.
pub const LINES: u32 = 4;
/// Bytes per thread if any of them may begin a word: one bit of a word for each.
pub const UNIT: usize = 32;
/// Bytes of a thread's piece and of a workgroup's tile when finding lines.
pub const PIECE: usize = 64;
pub const TILE: usize = PIECE * THREADS as usize;

/// Maximum length in bytes of a word stored in its slot.
pub const INLINE: usize = 12;
/// Maximum length of any word in bytes; it bounds a thread's work.
pub const MOST_LETTERS: usize = 256;
/// Number of lengths with their own bit in a mask; the next bit stands for all longer words.
pub const SHORT_LENGTHS: u32 = const_u32(INLINE) + 1;
/// Bits of a word's number in the last word of a slot. The bits above hold its length plus 1, or the mark of a long
/// word.
pub const NUMBER_BITS: u32 = 28;
pub const LONG: u32 = const_u32(INLINE) + 2;
/// Last word of an empty slot.
pub const EMPTY: u32 = 0;
/// Multipliers of the hash.
pub const FIRST: u32 = 0x9e37_79b1;
pub const SECOND: u32 = 0x85eb_ca77;
/// Number that stands for no word.
pub const NONE: u32 = u32::MAX;

/// Positions at which words are looked up, and what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LookupRequest {
    /// For each byte, whether a word begins there.
    Places,
    /// For each line, whether it begins with a word, or the longest such word.
    Start { numbers: bool },
    /// For each line, whether it equals a word, or which word.
    Line { numbers: bool },
}

impl LookupRequest {
    pub fn numbers(self) -> bool {
        matches!(self, LookupRequest::Start { numbers: true } | LookupRequest::Line { numbers: true })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WordVariant {
    pub wanted: LookupRequest,
    /// Ignores ASCII case.
    pub any_case: bool,
    /// Only words with no ASCII letter, digit or `_` directly before or after them.
    pub whole_words: bool,
}

impl WordVariant {
    pub fn all() -> Vec<WordVariant> {
        let lines = |numbers| [LookupRequest::Start { numbers }, LookupRequest::Line { numbers }];
        let wanted = [lines(false), lines(true)].concat().into_iter().chain([LookupRequest::Places]);
        let variants = wanted.flat_map(|wanted| {
            let of = move |(any_case, whole_words)| WordVariant { wanted, any_case, whole_words };
            [(false, false), (false, true), (true, false), (true, true)].map(of)
        });
        variants.collect()
    }

    /// The kernel's WGSL.
    pub fn wgsl(&self) -> Result<String, TemplateError> {
        let numbers = constants([
            ("THREADS", THREADS),
            ("LINES", LINES),
            ("UNIT", to_u32(UNIT)),
            ("INLINE", const_u32(INLINE)),
            ("SHORT_LENGTHS", SHORT_LENGTHS),
            ("NUMBER_BITS", NUMBER_BITS),
            ("NUMBER", (1 << NUMBER_BITS) - 1),
            ("LONG", LONG),
            ("EMPTY", EMPTY),
            ("NONE", NONE),
            ("FIRST", FIRST),
            ("SECOND", SECOND),
        ]);
        Ok(Matching::wgsl() + &numbers + &expand(WORDS, &[], &self.meaning())?)
    }

    fn meaning(&self) -> Meaning {
        let by_line = self.wanted != LookupRequest::Places;
        let byte = |byte: u32| {
            let (word, down) = (byte / 4, byte % 4 * 8);
            let letters = match down {
                0 => format!("word{word}"),
                _ => format!("(word{word} >> {down}u) | (word{} << {}u)", word + 1, 32 - down),
            };
            Meaning::default().names([("byte", byte), ("bit", 1 << byte)]).name("letters", letters)
        };
        Meaning::default()
            .flag("BY_LINE", by_line)
            .flag("BITS_OF_LINES", by_line && !self.wanted.numbers())
            .flag("WHOLE", matches!(self.wanted, LookupRequest::Line { .. }))
            .flag("ANY_CASE", self.any_case)
            .flag("WHOLE_WORDS", self.whole_words)
            .rounds("line", (0..LINES).map(|line| Meaning::default().name("line", line)))
            .rounds("word", (0..=to_u32(UNIT) / 4).map(|word| Meaning::default().name("word", word)))
            .rounds("byte", (0..to_u32(UNIT)).map(byte))
    }
}

/// The kernel that finds the starts of lines: the pass that counts newlines, or the pass that writes positions.
pub fn line_starts_wgsl(places: bool) -> Result<String, TemplateError> {
    let numbers = constants([("THREADS", THREADS), ("PIECE", to_u32(PIECE))]);
    let meaning = Meaning::default().flag("PLACES", places);
    Ok(Tiling::wgsl() + &numbers + &expand(LINE_STARTS, &[], &meaning)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_has_a_text_without_directives() {
        let texts = WordVariant::all().into_iter().map(|variant| variant.wgsl());
        for text in texts.chain([false, true].map(line_starts_wgsl)) {
            let text = text.unwrap_or_else(|error| panic!("{error}"));
            assert!(!text.contains("//!") && !text.contains('$'), "{text}");
        }
    }
}
