//! Literal words, looked up in a text without errors, at a cost that hardly depends on their number. The rule is that of
//! [`super`].
//!
//! - [`words`] stores words back to back, in the layout that a device also uses.
//! - [`plain`] is the specification.
//! - [`index`] builds a [`Dictionary`]: `sorted` orders the words, `layout` chooses the key length, and `table` has a
//!   bit and a slot for each key. Words that must be whole lines have their own index (`whole`).
//! - [`scan`] processes a text in batches of positions.
//! - [`numbers`] counts occurrences, and [`gpu`] looks words up on a GPU.

pub mod gpu;
pub mod index;
mod layout;
pub mod numbers;
pub mod plain;
pub mod scan;
mod sorted;
mod table;
mod whole;
pub mod words;

pub use index::Dictionary;

/// An occurrence of a word; `start` and `end` are offsets in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occurrence {
    pub start: usize,
    pub end: usize,
    /// Index of the word in the list of given words.
    pub word: u32,
}
