//! Every kernel variant is valid WGSL, as far as can be told without a GPU, and none is left out of
//! the tests that need one.

mod common;
mod suite;

use naga::valid::{Capabilities, ValidationFlags, Validator};
use rayon::prelude::*;
use swalign::engine::gpu::scan::{bitap, shader as scan};
use swalign::engine::gpu::shader::{CHAINED_ROWS, STRIP_ROWS, Scores, Variant};

fn is_valid(text: &str, what: &str) {
    let module = naga::front::wgsl::parse_str(text)
        .unwrap_or_else(|error| panic!("{what}: {}", error.emit_to_string(text)));
    let outcome = Validator::new(ValidationFlags::all(), Capabilities::SUBGROUP).validate(&module);
    assert!(outcome.is_ok(), "{what}: {:?}", outcome.err());
}

#[test]
fn every_variant_is_valid() {
    let variants = Variant::all();
    assert!(variants.len() > 20, "variants are missing");
    variants.iter().for_each(|variant| is_valid(&variant.wgsl(), &format!("{variant:?}")));
}

/// The kernels of the scan: for each length of pattern and each width of its number.
#[test]
fn every_kernel_of_the_scan_is_valid() {
    let variants = scan::Variant::all();
    assert_eq!(variants.len() as u32, 2 * (scan::MOST_ROWS + 1 + scan::MOST_GAPLESS), "variants are missing");
    variants.par_iter().for_each(|variant| is_valid(&variant.wgsl(), &format!("{variant:?}")));
    is_valid(&scan::turn_wgsl(), "turn");
}

/// The kernels for lines: for each number of words and of edits.
#[test]
fn every_kernel_for_lines_is_valid() {
    let variants = bitap::Variant::all();
    assert_eq!(variants.len() as u32, 3 * (bitap::shader::MOST_EDITS + 1) * 2, "variants are missing");
    variants.par_iter().for_each(|variant| is_valid(&variant.wgsl(), &format!("{variant:?}")));
}

/// The host's records are laid out as the kernels read them.
#[test]
fn tasks_lie_as_the_host_writes_them() {
    for variant in Variant::all() {
        let module = naga::front::wgsl::parse_str(&variant.wgsl()).unwrap();
        for record in std::iter::once(variant.task()).chain(variant.table()) {
            let mut types = module.types.iter();
            let (_, kind) = types.find(|(_, kind)| kind.name.as_deref() == Some(record.name)).unwrap();
            let naga::TypeInner::Struct { span, .. } = kind.inner else { panic!("a record is a struct") };
            assert_eq!(span as usize, record.bytes, "{}", record.name);
        }
    }
}

/// The query lengths of the suite reach every variant, so that all of them run where a GPU is.
#[test]
fn the_suite_reaches_every_variant() {
    let lengths: Vec<u32> = suite::seams(usize::MAX).into_iter().map(|(rows, _)| rows as u32).collect();
    let many: Vec<u32> = suite::shared_lengths().into_iter().map(|rows| rows as u32).collect();
    let [stretches, shared_stretches] = [&suite::stretches::ROWS[..], &suite::stretches::SHARED_ROWS]
        .map(|rows| rows.iter().map(|&rows| rows as u32).collect::<Vec<u32>>());
    let grids =
        suite::grid_sizes().into_iter().map(|(rows, _)| rows as u32).filter(|&rows| rows > STRIP_ROWS);
    let grids: Vec<u32> = grids.collect();
    for variant in Variant::all() {
        let Variant { kernel, scores, .. } = variant;
        if variant.chained {
            let heights: Vec<Variant> =
                CHAINED_ROWS.into_iter().filter_map(|rows| Variant::chained(scores, rows)).collect();
            let strips =
                |height: &Variant| -> u32 { grids.iter().map(|rows| rows.div_ceil(height.capacity())).sum() };
            let taken = |most: usize| {
                heights.iter().find(|height| strips(height) as usize <= most).or(heights.last())
            };
            let reached = |&most: &usize| taken(most).is_some_and(|taken| taken.rows == variant.rows);
            assert!(suite::CHAINED_STRIPS.iter().any(reached), "{variant:?}");
            continue;
        }
        let on = |held: Variant| {
            let shared = variant.shared.then(|| held.sharing(Some(32))).flatten();
            shared.unwrap_or(if variant.shuffle { held.on(Some(32)) } else { held })
        };
        let reached = |rows: u32| match Variant::holding(kernel, scores, rows) {
            Some(held) if variant.stretched => on(held).in_stretches() == variant,
            Some(held) => on(held) == variant,
            // Tiles of long queries are joined, of more lanes where there are few.
            None => {
                [Variant::joined, Variant::thin].map(|joined| on(joined(kernel, scores))).contains(&variant)
            }
        };
        let lengths = match variant {
            Variant { stretched: true, shared: true, .. } => &shared_stretches,
            Variant { stretched: true, .. } => &stretches,
            Variant { shared: true, .. } => &many,
            _ => &lengths,
        };
        assert!(lengths.iter().any(|&rows| reached(rows)), "{variant:?}");
    }
    for scores in Variant::all().into_iter().map(|variant| variant.scores) {
        let used = suite::scorings().iter().any(|scoring| Scores::of(scoring, 2000) == scores);
        assert!(used, "{scores:?}");
    }
}
