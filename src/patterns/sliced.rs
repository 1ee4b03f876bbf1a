//! Bit slicing, for searches in DNA and in bytes: a text is cut into as many chunks as a vector has bits, and bit by bit
//! the vector's operations do the same cell of each chunk.
//!
//! - [`chunks`] cuts the text. Chunks overlap by the longest span of a hit less one letter, so that every end is found.
//! - [`transpose`] makes vectors of letters: a vector for each column, with a bit for each chunk.
//! - [`myers`] counts edits, [`hamming`] replaced letters, over planes: vectors that say where a class of letters is. What
//!   a letter and a class are is the caller's matter: [`crate::patterns::search::sliced`] has bases, `crate::patterns::grep::sliced` bytes.

pub mod chunks;
pub mod hamming;
pub mod myers;
pub mod transpose;
