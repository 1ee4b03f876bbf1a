//! Compares scans with their specification, and hits with their definition.

#[path = "search/circle.rs"]
mod circle;
mod common;
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

use common::one_strand;
use common::random::Random;
use common::scans::{LENGTHS, classes, genome, patterns, same};
use common::text;
use rayon::prelude::*;
use swalign::engine::cpu::simd::InstructionSet;
use swalign::patterns::search::align::{Aligned, Path, Step, align, edits, replaced};
use swalign::patterns::search::codes::Codes;
use swalign::patterns::search::exact::Exact;
use swalign::patterns::search::hits::{Gatherer, Hit, Wanted};
use swalign::patterns::search::limits::{self, Limits};
use swalign::patterns::search::pam::{Pam, PamSide};
use swalign::patterns::search::pattern::Pattern;
use swalign::patterns::search::plain;
use swalign::patterns::search::plain::Plain;
use swalign::patterns::search::room::Room;
use swalign::patterns::search::sites::{Sites, TextPart};
use swalign::patterns::search::sliced::Sliced;
use swalign::patterns::search::stream::{Seams, Stream, TextEnd, plain_codes};
use swalign::patterns::search::{End, NOTHING, OTHER, Rule, Scan};
use swalign::terms::alignment::{Strand, Strands};
use swalign::terms::alphabet::Alphabet;
