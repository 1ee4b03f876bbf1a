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
