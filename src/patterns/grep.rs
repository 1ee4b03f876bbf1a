//! Lines with errors: which lines of any text have a pattern with few edits in them.
//!
//! # The rule
//!
//! A line is the bytes up to a newline, or up to the end of the text, without it. A pattern is a row of
//! classes of bytes, `p_1 .. p_m`. An edit replaces, inserts or deletes a byte. A line matches a pattern if a
//! stretch of it, which may be empty, is at most `k` edits from the pattern: in the letters of
//! [`crate::patterns::search`], with the line as the text, if `D(m,j) <= k` for some `j >= 0`. No stretch reaches over a
//! newline. A pattern of at most `k` classes is that close to the empty stretch, so every line matches it, the
//! empty one included. Without gaps a stretch has `m` bytes, of which at most `k` are outside their classes.
//!
//! A line matches several patterns if it matches one of them.
//!
//! # Data flow
//!
//! ```text
//! pattern --Class--> Sliced: bytes --turn--> planes of classes --sweep--> ends --select--> lines
//!                    OnGpu:  bytes --bitap.wgsl, on a device------------> ends --select--> lines
//! ```
//!
//! - [`pattern`] reads what the user wrote, [`cubes`] says which bits a byte of a class has.
//! - [`plain`] is the specification, [`sliced`] the fast way, and `sweep` its recurrences.
//! - [`gpu`] has a device find the ends, and the cores for what it does not take.
//! - [`select`] makes lines of the places where hits end.

pub mod cubes;
pub mod gpu;
pub mod pattern;
pub mod plain;
pub mod select;
pub mod sliced;
mod sweep;

/// What ends a line.
pub const NEWLINE: u8 = b'\n';
