//! Approximate search: every place of a text where a pattern occurs with few edits.
//!
//! # The hit rule
//!
//! A pattern is a row of classes of letters, `p_1 .. p_m`; a text is `t_1 .. t_n`. A class matches the bases
//! that its IUPAC code stands for; the class N matches every letter, and a letter of the text that is no
//! base matches only N. An edit replaces, inserts or deletes a letter: an *insertion* consumes the pattern, a
//! *deletion* the text. `D(i,j)` is the fewest edits between `p_1 .. p_i` and any stretch of the text that
//! ends with `t_j` (Sellers 1980):
//!
//! ```text
//! D(0,j) = 0        D(i,0) = i
//! D(i,j) = min(D(i-1,j-1) + [p_i does not match t_j], D(i,j-1) + 1, D(i-1,j) + 1)
//! ```
//!
//! `j >= 1` is an *end* with `D(m,j)` edits if these are at most as many as allowed. Which ends are
//! reported, where their hits begin and which path they show is told in [`hits`] and [`align`]; the reverse
//! strand is the reverse complement of the pattern, searched by the same rule in the same text.
//!
//! # Data flow
//!
//! ```text
//! Text --stream--> Stream --Scan--> End --hits--> Hit --writer--> lines
//! ```
//!
//! - [`pattern`] makes classes of letters.
//! - [`stream`] lays stretches of texts one behind the other, so that one scan serves many short texts, as
//!   [`codes`] with their bits packed.
//! - A [`Scan`] finds the ends: [`plain`] is the specification, [`sliced`] the fast one, [`exact`] looks up
//!   many patterns without edits, [`pieces`] those with few replaced letters, and [`gpu`] has a GPU do the same as [`sliced`]. [`room`] bounds how many it finds.
//! - [`pam`] says whether a PAM stands beside a hit, and [`anchors`] which ends and starts count then. [`sites`] finds
//!   these from the PAMs, where that costs less than a scan.
//! - [`circle`] unrolls circular texts.
//! - [`rates`] gives each pattern edits by its length.
//! - [`amplicons`] joins hits that face each other.
//! - [`hits`] chooses ends, [`align`] walks from an end to its start, [`limits`] does so where kinds of
//!   edits are limited.
//! - [`driver`] does all of this for the command and the library, with texts in the [`batch`]es that these lay.

use crate::terms::error::EngineError;
use codes::Codes;
use room::Room;

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
mod planes;
pub mod rates;
pub mod room;
pub mod sites;
pub mod sliced;
pub mod stream;

/// A letter of a text that is not A, C, G or T. Those are 0 to 3.
pub const OTHER: u8 = 4;
/// Where there is no letter: nothing matches it. It has the bit of [`OTHER`] and one more.
pub const NOTHING: u8 = crate::terms::alphabet::NOTHING;

/// How a pattern may differ from the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Most edits of a hit.
    pub max_edits: u32,
    /// Whether insertions and deletions are edits; else the `m` letters before an end are compared.
    pub indels: bool,
}

impl Rule {
    /// Edits that a pattern of `len` letters can have: no end has more than `len`.
    pub fn edits_of(&self, len: usize) -> usize {
        len.min(self.max_edits as usize)
    }

    /// Letters of the text that a hit of a pattern of `len` letters has at most.
    pub fn span_of(&self, len: usize) -> usize {
        if self.indels { len + self.edits_of(len) } else { len }
    }

    /// Letters of the text before and with an end of a pattern of `len` letters, at least.
    pub fn least_end(&self, len: usize) -> usize {
        if self.indels { (len - self.edits_of(len)).max(1) } else { len }
    }
}

/// An end of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct End {
    /// Place of the pattern among those that were searched.
    pub pattern: u32,
    /// Letters of the text before and with the last one of the hit.
    pub end: u32,
    pub edits: u32,
}

/// Finds ends.
pub trait Scan: Sync {
    /// All ends of all patterns in `text`, by pattern and end, while there is room for them; else some. Patterns
    /// are classes ([`pattern::class_of`]) and not empty.
    fn scan_within(
        &self,
        text: &Codes,
        patterns: &[Vec<u8>],
        rule: &Rule,
        room: &Room,
    ) -> Result<Vec<End>, EngineError>;

    /// All ends of all patterns, however many there are.
    fn scan(&self, text: &Codes, patterns: &[Vec<u8>], rule: &Rule) -> Result<Vec<End>, EngineError> {
        self.scan_within(text, patterns, rule, &Room::unlimited())
    }

    /// Whether a device of its own scans, and not the cores.
    fn is_on_device(&self) -> bool {
        false
    }

    /// What the user should hear of since the last call.
    fn take_notice(&self) -> Option<String> {
        None
    }
}

/// The ends of those patterns that `chosen` names, each with its own place.
pub fn scan_some(
    scan: &dyn Scan,
    text: &Codes,
    (patterns, chosen): (&[Vec<u8>], &[u32]),
    rule: &Rule,
    room: &Room,
) -> Result<Vec<End>, EngineError> {
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    let own: Vec<Vec<u8>> = chosen.iter().map(|&place| patterns[place as usize].clone()).collect();
    let mut ends = scan.scan_within(text, &own, rule, room)?;
    ends.iter_mut().for_each(|end| end.pattern = chosen[end.pattern as usize]);
    Ok(ends)
}
