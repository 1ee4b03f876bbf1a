//! Compares scans with their specification, and hits with their definition.

#[path = "search/circle.rs"]
mod circle;
#[path = "search/hits.rs"]
mod hits;
#[path = "search/looked_up.rs"]
mod looked_up;
#[path = "search/paths.rs"]
mod paths;
#[path = "search/pieces.rs"]
mod pieces;
#[path = "search/scans.rs"]
mod scans;
#[path = "search/sites.rs"]
mod sites;

use crate::common::scans::{LENGTHS, classes, genome, patterns, same};
use crate::common::{one_strand, random::Random, text};
use rayon::prelude::*;
use swalign::engine::cpu::simd::InstructionSet;
use swalign::patterns::search::align::{Aligned, PatternPath, align, edits, replaced};
use swalign::patterns::search::codes::TextCodes;
use swalign::patterns::search::exact::Exact;
use swalign::patterns::search::hits::{Gatherer, HitOptions, PatternHit};
use swalign::patterns::search::limits;
use swalign::patterns::search::pam::Pam;
use swalign::patterns::search::pattern::SearchPattern;
use swalign::patterns::search::plain;
use swalign::patterns::search::plain::PlainScan;
use swalign::patterns::search::room::EndCapacity;
use swalign::patterns::search::sites::{PamSites, TextPart};
use swalign::patterns::search::sliced::SlicedScan;
use swalign::patterns::search::stream::{Seams, Stream, TextEnd, plain_codes};
use swalign::patterns::search::{EndScan, MatchRule, NOTHING, OTHER, PatternEnd};
use swalign::terms::alignment::{ColumnOp, Strand, Strands};
use swalign::terms::alphabet::Alphabet;
use swalign::terms::options::{EditLimits, PamSide};

/// Options without limits and PAM, which select the local minima of the edits.
fn plain_options(rule: MatchRule, strands: Strands) -> HitOptions {
    HitOptions {
        rule,
        rate: None,
        limits: None,
        pam: None,
        every_end: false,
        best: false,
        first: false,
        strands,
        before: 0,
    }
}

/// The remaining hits of a text that are final before its next part.
fn rest(gatherer: &mut Gatherer, wanted: &HitOptions, patterns: &[Vec<u8>], text: &[u8]) -> Vec<PatternHit> {
    let mut next = || Some(gatherer.next(wanted, patterns, text).unwrap()).filter(|hits| !hits.is_empty());
    std::iter::from_fn(&mut next).flatten().collect()
}

/// The hits of a part of a text with these ends that are final before the next part.
fn take(
    gatherer: &mut Gatherer,
    (wanted, patterns): (&HitOptions, &[Vec<u8>]),
    text: &[u8],
    (ends, to): (&[TextEnd], usize),
) -> Vec<PatternHit> {
    gatherer.put(wanted, patterns, text, ends, to);
    rest(gatherer, wanted, patterns, text)
}
