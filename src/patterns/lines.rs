//! Lines of text that match a pattern, as `grep` and ripgrep find them, but with edits, and for any number of literals.
//!
//! # Why an aligner searches lines
//!
//! A read with errors and a misspelled word are one problem: a pattern occurs if it is within `k` edits of a substring.
//! So the kernels of [`crate::patterns::search`] do this work, with bytes in place of bases: the bit-sliced recurrence
//! over vectors ([`crate::patterns::sliced`]), and the kernels on a device (`crate::patterns::scan`). They scan every
//! byte at the same speed, whatever the text, and need no filter. Exact literals are looked up as k-mers are, in tables
//! of their first bytes. For regular expressions, ripgrep is the better tool.
//!
//! # The rule
//!
//! A line is the bytes up to a newline, or up to the end of the text, without the newline. No match spans a newline. A
//! line matches several patterns if it matches at least one of them.
//!
//! **Patterns** are sequences of byte classes, `p_1 .. p_m`. An edit replaces, inserts or deletes a byte. A line matches
//! if some substring of it, possibly empty, is at most `k` edits from the pattern: in the notation of
//! [`crate::patterns::search`], with the line as the text, if `D(m,j) <= k` for some `j >= 0`. A pattern of at most `k`
//! classes is within `k` edits of the empty substring, so it matches every line, even the empty one. Without gaps a
//! match has `m` bytes, of which at most `k` are outside their classes.
//!
//! **Words** are literals without edits (`-F`, or patterns without classes). A word occurs at a position of a line if
//! the bytes from there on begin with it. An [`OccurrenceRule`] says which occurrences count: all of them, those at the
//! start of a line (`--prefix`), or those that are a whole line (`-x`). With `-w`, occurrences with an ASCII letter,
//! digit or `_` directly before or after them do not count. With `-i`, ASCII upper case is compared as lower case.
//!
//! - The empty word occurs at every position of a line, including its end. So it matches every line, as in grep.
//! - `-o` shows leftmost-longest matches, as POSIX defines them: the longest match at the first position that has a
//!   nonempty one. The search resumes at the end of that match.
//! - Counts by word include all occurrences of the word, also overlapping ones.
//!
//! # Data flow
//!
//! ```text
//! pattern --Class--> Sliced: bytes --turn--> planes of classes --sweep--> ends --select--> lines
//!                    OnGpu:  bytes --bitap.wgsl, on a device------------> ends --select--> lines
//! words   --index--> Dictionary: bytes --scan--> positions with their longest word --> lines, matches, counts
//! ```
//!
//! - [`pattern`] parses the user's pattern, [`cubes`] computes which bits a byte of a class has.
//! - [`plain`] is the specification, [`sliced`] the fast implementation, and `sweep` has its recurrences.
//! - [`gpu`] finds ends on a device, and leaves the patterns that the device cannot search to the CPU.
//! - [`dictionary`] looks words up, on the CPU and on a device.
//! - [`select`] turns the end positions of hits into lines.

pub mod cubes;
pub mod dictionary;
pub mod gpu;
pub mod pattern;
pub mod plain;
pub mod select;
pub mod sliced;
mod sweep;

use crate::terms::options::{OccurrenceRule, WordPosition};

/// The byte that ends a line.
pub const NEWLINE: u8 = b'\n';

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
