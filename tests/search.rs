//! Scans against their specification, and hits against their definition.

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
use swalign::alignment::{Strand, Strands};
use swalign::alphabet::Alphabet;
use swalign::engine::cpu::simd::InstructionSet;
use swalign::search::align::{Aligned, Path, Step, align, edits, replaced};
use swalign::search::codes::Codes;
use swalign::search::exact::Exact;
use swalign::search::hits::{Gatherer, Hit, Wanted};
use swalign::search::limits::{self, Limits};
use swalign::search::pam::{Pam, PamSide};
use swalign::search::pattern::Pattern;
use swalign::search::plain;
use swalign::search::plain::Plain;
use swalign::search::room::Room;
use swalign::search::sites::{Sites, TextPart};
use swalign::search::sliced::Sliced;
use swalign::search::stream::{Seams, Stream, TextEnd, plain_codes};
use swalign::search::{End, NOTHING, OTHER, Rule, Scan};
