//! Dictionaries: exact search for many words in any text.
//!
//! # The rule
//!
//! A word is a byte string without a newline. It occurs at a position of a line if the bytes of the line from that
//! position on begin with it. An [`OccurrenceRule`] says which occurrences count: all of them, those at the start of a
//! line, or those that are a whole line. With `whole_words`, only occurrences count that have no ASCII letter, digit or
//! `_` directly before or after them. If case is ignored, ASCII upper case is compared as lower case.
//!
//! - A line matches if some word occurs in it.
//! - The empty word occurs at every position of a line, including its end. So it matches every line, as in grep.
//! - `-o` shows leftmost-longest matches, as POSIX defines them: the longest match at the first position that has a
//!   nonempty one. The search resumes at the end of that match.
//! - Counts by word include all occurrences of the word, also overlapping ones.
//!
//! # Data flow
//!
//! ```text
//! words --index--> Dictionary: bytes --scan--> places with their longest word --> lines, stretches, numbers
//! ```
//!
//! - [`words`] stores words back to back, in the layout that a device also uses.
//! - [`plain`] is the specification.
//! - [`index`] builds a [`Dictionary`]: `sorted` orders the words, `layout` chooses the key length, and `table` has a
//!   bit and a slot for each key. Words that must be whole lines have their own index (`whole`).
//! - [`scan`] processes a text in batches of positions, and `newlines` finds its lines.
//! - [`numbers`] counts occurrences, and [`gpu`] looks words up on a GPU.

pub mod gpu;
pub mod index;
mod layout;
mod newlines;
pub mod numbers;
pub mod plain;
pub mod scan;
mod sorted;
mod table;
mod whole;
pub mod words;

pub use index::Dictionary;

/// The rule that decides which occurrences count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OccurrenceRule {
    pub place: WordPosition,
    /// Only occurrences with no word byte ([`is_of_word`]) directly before or after them in their line.
    pub whole_words: bool,
    /// Compares ASCII without regard to case.
    pub any_case: bool,
}

/// Position in a line at which a word counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WordPosition {
    #[default]
    Anywhere,
    /// The line begins with the word.
    Start,
    /// The line equals the word.
    Line,
}

/// An occurrence of a word; `start` and `end` are offsets in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occurrence {
    pub start: usize,
    pub end: usize,
    /// Index of the word in the list of given words.
    pub word: u32,
}

/// Whether a byte is an ASCII letter, digit or `_`. grep's `-w` defines words by these bytes.
#[inline(always)]
pub fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl OccurrenceRule {
    /// Whether an occurrence at these offsets of its line counts.
    #[inline(always)]
    pub fn allows(&self, line: &[u8], start: usize, end: usize) -> bool {
        let place = match self.place {
            WordPosition::Anywhere => true,
            WordPosition::Start => start == 0,
            WordPosition::Line => start == 0 && end == line.len(),
        };
        let of_word = |byte: Option<&u8>| byte.is_some_and(|&byte| is_of_word(byte));
        let is_inside = || of_word(line[..start].last()) || of_word(line[end..].first());
        place && !(self.whole_words && is_inside())
    }
}
