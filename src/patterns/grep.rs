//! Approximate grep: finds the lines of any text that contain a pattern with few edits.
//!
//! # The rule
//!
//! A line is the bytes up to a newline, or up to the end of the text, without the newline. A pattern is a sequence of
//! byte classes, `p_1 .. p_m`. An edit replaces, inserts or deletes a byte. A line matches a pattern if some substring
//! of it, possibly empty, is at most `k` edits from the pattern: in the notation of [`crate::patterns::search`], with
//! the line as the text, if `D(m,j) <= k` for some `j >= 0`. No match spans a newline. A pattern of at most `k` classes
//! is within `k` edits of the empty substring, so it matches every line, even the empty one. Without gaps a match has
//! `m` bytes, of which at most `k` are outside their classes.
//!
//! A line matches a set of patterns if it matches at least one of them.
//!
//! # Data flow
//!
//! ```text
//! pattern --Class--> Sliced: bytes --turn--> planes of classes --sweep--> ends --select--> lines
//!                    OnGpu:  bytes --bitap.wgsl, on a device------------> ends --select--> lines
//! ```
//!
//! - [`pattern`] parses the user's pattern, [`cubes`] computes which bits a byte of a class has.
//! - [`plain`] is the specification, [`sliced`] the fast implementation, and `sweep` has its recurrences.
//! - [`gpu`] finds ends on a device, and leaves the patterns that the device cannot search to the CPU.
//! - [`select`] turns the end positions of hits into lines.

pub mod cubes;
pub mod gpu;
pub mod pattern;
pub mod plain;
pub mod select;
pub mod sliced;
mod sweep;

/// The byte that ends a line.
pub const NEWLINE: u8 = b'\n';
