//! Approximate search: finds every position of a text where a pattern occurs with few edits.
//!
//! # The hit rule
//!
//! A pattern is a sequence of classes, `p_1 .. p_m`; a text is `t_1 .. t_n`. A class matches the bases that its IUPAC
//! code stands for. The class N matches every character. A character of the text that is no base matches only N. An
//! edit replaces, inserts or deletes a base: an *insertion* consumes the pattern, a *deletion* the text. `D(i,j)` is
//! the minimum number of edits between `p_1 .. p_i` and any substring of the text that ends with `t_j` (Sellers 1980):
//!
//! ```text
//! D(0,j) = 0        D(i,0) = i
//! D(i,j) = min(D(i-1,j-1) + [p_i does not match t_j], D(i,j-1) + 1, D(i-1,j) + 1)
//! ```
//!
//! An index `j >= 1` is an *end* with `D(m,j)` edits if `D(m,j)` does not exceed the allowed edits. [`hits`] defines
//! which ends are reported, and [`align`] where their hits begin and which path they show. For the reverse strand, the
//! same rule searches for the reverse complement of the pattern in the same text.
//!
//! # Data flow
//!
//! ```text
//! Text --stream--> Stream --Scan--> End --hits--> Hit --writer--> lines
//! ```
//!
//! - [`pattern`] turns IUPAC codes into classes.
//! - [`stream`] concatenates stretches of texts, so that one scan covers many short texts. [`codes`] packs their bits.
//! - An [`EndScan`] finds the ends: [`plain`] is the specification, [`sliced`] the fast implementation, [`exact`] looks
//!   up many patterns without edits, [`pieces`] those with few mismatches, and [`gpu`] runs the algorithm of [`sliced`]
//!   on a GPU. [`room`] bounds the number of ends.
//! - [`pam`] tests whether a hit has a PAM beside it, and [`anchors`] computes which ends and starts then count.
//!   [`sites`] finds candidates from their PAMs if that costs less than a scan.
//! - [`circle`] unrolls circular texts.
//! - [`rates`] sets the maximum edits of each pattern by its length.
//! - [`amplicons`] joins hits that face each other.
//! - [`hits`] chooses ends, and [`align`] traces an end back to its start; [`limits`] does so if the numbers of single
//!   kinds of edits are limited.
//! - [`plan`] decides which of these find the hits, and how callers' limits become those of each pattern.
//! - [`driver`] runs all of this for the command and the library, with texts in [`batch`]es.

use crate::terms::error::EngineError;
use codes::TextCodes;
use room::EndCapacity;

pub mod align;
pub mod amplicons;
pub mod anchors;
pub mod batch;
pub mod circle;
pub mod codes;
pub mod driver;
pub mod exact;
pub mod finder;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod hits;
pub mod limits;
mod needs;
pub mod pam;
pub mod pattern;
pub mod pieces;
pub mod plain;
pub mod plan;
pub mod rates;
pub mod room;
pub mod sites;
pub mod sliced;
pub mod stream;

/// Code of a character that is not A, C, G or T, which have the codes 0 to 3.
pub const OTHER: u8 = 4;
/// Code of a position outside the text: nothing matches it. It has the bit of [`OTHER`] and one more.
pub const NOTHING: u8 = crate::terms::alphabet::NOTHING;

/// How a pattern may differ from the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchRule {
    /// Maximum number of edits of a hit.
    pub max_edits: u32,
    /// Whether insertions and deletions are edits. If not, only the `m` bases before an end are compared.
    pub indels: bool,
}

impl MatchRule {
    /// Maximum number of edits of a pattern of `len` bases, which is never more than `len`.
    pub fn edits_of(&self, len: usize) -> usize {
        len.min(self.max_edits as usize)
    }

    /// Maximum number of text bases that a hit of a pattern of `len` bases spans.
    pub fn span_of(&self, len: usize) -> usize {
        if self.indels { len + self.edits_of(len) } else { len }
    }

    /// Smallest possible end, as a number of text bases, of a pattern of `len` bases.
    pub fn least_end(&self, len: usize) -> usize {
        if self.indels { (len - self.edits_of(len)).max(1) } else { len }
    }
}

/// An end of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PatternEnd {
    /// Index of the pattern in the searched list.
    pub pattern: u32,
    /// 0-based exclusive end of the hit in the text.
    pub end: u32,
    pub edits: u32,
}

/// Finds ends.
pub trait EndScan: Sync {
    /// All ends of all patterns in `text`, sorted by pattern and end. If `room` runs out, the result is incomplete.
    /// Patterns are classes ([`pattern::class_of`]) and not empty.
    fn scan_within(
        &self,
        text: &TextCodes,
        patterns: &[Vec<u8>],
        rule: &MatchRule,
        room: &EndCapacity,
    ) -> Result<Vec<PatternEnd>, EngineError>;

    /// All ends of all patterns, without a limit on their number.
    fn scan(
        &self,
        text: &TextCodes,
        patterns: &[Vec<u8>],
        rule: &MatchRule,
    ) -> Result<Vec<PatternEnd>, EngineError> {
        self.scan_within(text, patterns, rule, &EndCapacity::unlimited())
    }

    /// Whether the scan runs on a device instead of the CPU.
    fn is_on_device(&self) -> bool {
        false
    }

    /// A message for the user that arose since the last call.
    fn take_notice(&self) -> Option<String> {
        None
    }
}

/// The ends of the patterns with the indices `chosen`, each reported with its own index.
pub fn scan_some(
    scan: &dyn EndScan,
    text: &TextCodes,
    (patterns, chosen): (&[Vec<u8>], &[u32]),
    rule: &MatchRule,
    room: &EndCapacity,
) -> Result<Vec<PatternEnd>, EngineError> {
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    let own: Vec<Vec<u8>> = chosen.iter().map(|&place| patterns[place as usize].clone()).collect();
    let mut ends = scan.scan_within(text, &own, rule, room)?;
    ends.iter_mut().for_each(|end| end.pattern = chosen[end.pattern as usize]);
    Ok(ends)
}
