//! Dictionaries: where any of many words stands in any text, without errors.
//!
//! # The rule
//!
//! A word is a row of bytes, none of them a newline. It occurs at a place of a line if its bytes stand there, one after
//! the other, in the line. Which of these occurrences count is a [`Rule`]: all of them, those that a line begins with, or
//! those that are a whole line; and of these only those with no letter, digit or `_` of ASCII right before or behind them.
//! Without case the letters of ASCII are compared as if all of them were small.
//!
//! - A line matches if some word occurs in it.
//! - The empty word occurs at each place of a line, also at its end. So it matches every line, as in grep.
//! - What `-o` shows is leftmost-longest, as POSIX has it: the first place with an occurrence that is not empty, the
//!   longest one there, and then on from its end in the same way.
//! - Numbers by word are those of all its occurrences, also where they overlap one another.
//!
//! # Data flow
//!
//! ```text
//! words --index--> Dictionary: bytes --scan--> places with their longest word --> lines, stretches, numbers
//! ```
//!
//! - [`words`] holds words, one behind the other, as a device takes them too.
//! - [`plain`] is the specification.
//! - [`index`] makes a [`Dictionary`]: `sorted` orders the words, `layout` says how many letters are looked up, and `table`
//!   has a bit and a slot for each. Whole lines are looked up as such (`whole`).
//! - [`scan`] goes over a text with many places under way, and `newlines` over its lines.
//! - [`numbers`] counts, and [`gpu`] has a GPU look words up.

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

/// Which occurrences count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    pub place: Place,
    /// Only occurrences with no byte of a word ([`is_of_word`]) right before or behind them in their line.
    pub whole_words: bool,
    /// The letters of ASCII are compared without their case.
    pub any_case: bool,
}

/// Where in a line a word may stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    #[default]
    Anywhere,
    /// The line begins with it.
    Start,
    /// It is the line.
    Line,
}

/// An occurrence of a word; the places are those in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occurrence {
    pub start: usize,
    pub end: usize,
    /// Place among the words that were given.
    pub word: u32,
}

/// Whether a byte is a letter, a digit or `_`, in ASCII. For grep's `-w` words are rows of these.
#[inline(always)]
pub fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl Rule {
    /// Whether an occurrence counts that stands at these places of its line.
    #[inline(always)]
    pub fn allows(&self, line: &[u8], start: usize, end: usize) -> bool {
        let place = match self.place {
            Place::Anywhere => true,
            Place::Start => start == 0,
            Place::Line => start == 0 && end == line.len(),
        };
        let of_word = |byte: Option<&u8>| byte.is_some_and(|&byte| is_of_word(byte));
        let is_inside = || of_word(line[..start].last()) || of_word(line[end..].first());
        place && !(self.whole_words && is_inside())
    }
}
