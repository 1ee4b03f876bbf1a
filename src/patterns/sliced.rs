//! Bit slicing, for searches in DNA and in bytes: a text is cut into as many chunks as a vector has bits, and each bit
//! operation computes the same cell of every chunk.
//!
//! - [`chunks`] cuts the text. Chunks overlap by the longest span of a hit less one element, so that every end is
//!   found.
//! - [`packed`] stores bases as bit planes.
//! - [`transpose`] turns the text into one vector per column, with one bit per chunk.
//! - [`myers`] counts edits over planes: vectors with a bit set for each element in a class. The caller defines elements
//!   and classes: [`crate::patterns::search::sliced`] uses bases, `crate::patterns::lines::sliced` bytes.

pub mod chunks;
pub mod myers;
pub mod packed;
pub mod transpose;
