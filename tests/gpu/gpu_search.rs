//! Scans on a GPU compared with their specification. SWALIGN_TEST_GPU names the adapter (default: llvmpipe, Mesa's
//! software adapter).

use crate::common::scans::{LENGTHS, classes, genome, patterns, same};
use crate::common::{devices::card, random::Random};
use std::sync::Arc;
use swalign::engine::cpu::simd::InstructionSet;
use swalign::engine::gpu::Card;
use swalign::patterns::scan::ScanTuning;
use swalign::patterns::search::codes::TextCodes;
use swalign::patterns::search::gpu::{GpuScan, OnCard};
use swalign::patterns::search::plain::PlainScan;
use swalign::patterns::search::sliced::SlicedScan;
use swalign::patterns::search::{EndScan, MatchRule, NOTHING, OTHER};

fn scan(card: &Arc<Card>, tuning: ScanTuning) -> GpuScan {
    GpuScan::new(OnCard::new(Arc::clone(card)).tuned(tuning), SlicedScan::on(InstructionSet::best()), false)
}

/// Little room for ends: the room grows, and the scan is split into halves.
fn narrow() -> ScanTuning {
    ScanTuning { ends: (1, 16), ..ScanTuning::default() }
}

/// Scans with default chunks, with short chunks and little room for ends, and with short parts. All cases reuse them.
fn scans(card: &Arc<Card>) -> Vec<(&'static str, GpuScan)> {
    let default = ScanTuning::default();
    vec![
        ("default", scan(card, default)),
        ("chunks of 32", scan(card, ScanTuning { chunk: Some(32), ..narrow() })),
        ("parts of 250", scan(card, ScanTuning { text: 250, chunk: Some(64), ..default })),
    ]
}

#[track_caller]
fn check(scans: &[(&str, GpuScan)], text: &[u8], patterns: &[Vec<u8>], edits: &[u32], what: &str) {
    let text = &TextCodes::of(text);
    let rules =
        edits.iter().flat_map(|&max_edits| [true, false].map(|indels| MatchRule { max_edits, indels }));
    for rule in rules {
        let expected = PlainScan.scan(text, patterns, &rule).unwrap();
        for (name, scan) in scans {
            let found = scan.scan(text, patterns, &rule).unwrap_or_else(|error| panic!("{error}"));
            same(&found, &expected, &format!("{what}, {rule:?}, {name}"));
        }
    }
}

fn random_text(random: &mut Random, letters: u8) -> Vec<u8> {
    let mut text = random.codes(700, letters);
    for _ in 0..20 {
        let at = random.below(text.len());
        text[at] = random.pick(&[OTHER, NOTHING]);
    }
    text
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_finds_all_ends_at_all_seams() {
    let scans = scans(&card(false));
    for len in LENGTHS {
        let mut random = Random::new(len as u64);
        for letters in [2, 4] {
            let text = random_text(&mut random, letters);
            let patterns = patterns(&mut random, &text, len);
            let what = format!("m={len} of {letters} letters");
            check(&scans, &text, &patterns, &[0, 1, 2, 3, 4, len as u32], &what);
        }
    }
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_finds_all_ends_with_bounds_checks() {
    let scans = scans(&card(true));
    for len in [1, 20, 33, 65, 129] {
        let mut random = Random::new(len as u64);
        let text = random_text(&mut random, 4);
        let patterns = patterns(&mut random, &text, len);
        check(&scans, &text, &patterns, &[0, 2], &format!("m={len}"));
    }
}

/// Lengths between the boundary sizes.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_finds_all_ends_between_the_seams() {
    let scan = [("default", scan(&card(false), ScanTuning::default()))];
    for len in (4..=66).step_by(6) {
        let mut random = Random::new(len as u64);
        let text = random_text(&mut random, 4);
        let patterns = patterns(&mut random, &text, len);
        check(&scan, &text, &patterns, &[len as u32 / 4], &format!("m={len}"));
    }
}

/// Patterns of many lengths in one call are padded to a few lengths.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_finds_all_ends_of_many_lengths() {
    let scans = scans(&card(false));
    let mut random = Random::new(23);
    let text = random_text(&mut random, 4);
    let some: Vec<Vec<u8>> = (1..=70)
        .flat_map(|len| patterns(&mut random, &text, len).into_iter().skip(len % 4).take(2))
        .collect();
    check(&scans, &text, &some, &[0, 1, 3], "many lengths");
    let longer = [patterns(&mut random, &text, 130), patterns(&mut random, &text, 1030)].concat();
    check(&scans, &text, &longer, &[5, 40], "longer than strips");
}

/// Every position of the text is an end, and the room for ends is far too small.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_loses_no_end_where_all_are() {
    let card = card(false);
    let text = vec![0; 5000];
    let some = vec![classes(&[b'A'; 20]), classes(&[b'N'; 20]), classes(&[b'C'; 20]), classes(&[b'A'; 20])];
    for (room, most) in [(1, 1), (1, 100), (1, 1 << 20), (20_000, 20_000), (1 << 16, 1 << 16)] {
        let tuning = ScanTuning { ends: (room, most), ..ScanTuning::default() };
        check(&[("", scan(&card, tuning))], &text, &some, &[0, 2, 20], &format!("room {room} to {most}"));
    }
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_finds_ends_of_a_genome() {
    let scans = scans(&card(false));
    let (text, mut random) = (genome(), Random::new(5));
    for len in [20, 24, 129] {
        let some = patterns(&mut random, &text, len);
        check(&scans[..1], &text, &some, &[3], &format!("m={len}"));
    }
}

/// Inputs without work for the device: no patterns, texts shorter than the pattern, long patterns.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_and_cores_share_a_call() {
    let scans = scans(&card(false));
    let some = vec![classes(b"ACGTACGT"), classes(&vec![b'A'; 1100]), classes(b"A"), classes(b"NNRN")];
    for text in [vec![], vec![0], vec![NOTHING], vec![0, 1, 2, 3, OTHER], vec![0; 1200]] {
        check(&scans, &text, &some, &[0, 1, 9], &format!("{} letters", text.len()));
        check(&scans, &text, &[], &[1], "no pattern");
    }
}
