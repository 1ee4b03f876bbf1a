//! Cuts by fingerprints on a GPU compared with their specification. SWALIGN_TEST_GPU names the adapter (default:
//! llvmpipe, Mesa's software adapter).

use crate::common::{devices::card, random::Random};
use std::sync::Arc;
use swalign::align::fingerprints::gpu::GpuCutter;
use swalign::align::fingerprints::{CutRule, WindowHash, plain};
use swalign::engine::gpu::Card;
use swalign::engine::gpu::layout::ResiduePacking;
use swalign::patterns::scan::prints::PrintTuning;
use swalign::terms::alphabet::Alphabet;

/// Default chunks; chunks of one unit with little room for cuts; chunks of three units with short submissions and
/// little room.
fn tunings() -> [PrintTuning; 3] {
    let default = PrintTuning::default();
    [
        default,
        PrintTuning { chunk: Some(1), room: (1, usize::MAX), ..default },
        PrintTuning { chunk: Some(3), submission: 7, room: (1, 20) },
    ]
}

/// The packings of an alphabet's texts on a device.
fn packings(alphabet: Alphabet) -> &'static [ResiduePacking] {
    match alphabet {
        Alphabet::Dna => &[ResiduePacking::Nucleotides, ResiduePacking::Codes],
        Alphabet::Protein => &[ResiduePacking::Codes],
    }
}

/// Compares with the cuts of the specification. Returns their number.
#[track_caller]
fn compare(gpus: &[GpuCutter], text: &[u8], rule: &CutRule, what: &str) -> usize {
    let expected = plain::cuts(text, rule);
    for gpu in gpus {
        for &letters in packings(rule.alphabet()) {
            let on_device = gpu.load(text, letters).unwrap_or_else(|error| panic!("{error}"));
            for again in 0..2 {
                let found = gpu.cuts(&on_device, rule).unwrap_or_else(|error| panic!("{error}"));
                let what = format!("{what}, {letters:?}, call {again}, {} letters, {rule:?}", text.len());
                assert!(found == expected, "{what}: {found:?}, not {expected:?}");
            }
        }
    }
    expected.len()
}

fn gpus(card: &Arc<Card>) -> Vec<GpuCutter> {
    tunings().into_iter().map(|tuning| GpuCutter::new(Arc::clone(card)).tuned(tuning)).collect()
}

fn at_all_seams(card: &Arc<Card>, windows: &[usize]) {
    let mut random = Random::new(windows.len() as u64);
    let gpus = gpus(card);
    let mut some = 0;
    for alphabet in [Alphabet::Dna, Alphabet::Protein] {
        let rabin = windows.iter().map(|&window| (WindowHash::Rabin, window));
        for (kind, window) in rabin.chain([(WindowHash::Gear, 32)]) {
            let rule = CutRule::new(kind, alphabet, window, 8).unwrap();
            let near = [0, 1, window - 1, window, window + 1, 31, 32, 33, 64];
            for len in near.into_iter().chain([1000 + random.below(2000)]) {
                let text = random.codes(len, alphabet.letters().len() as u8);
                some += compare(&gpus, &text, &rule, "codes");
            }
            // In a text of a single code, all windows end at a cut, or none does.
            let text = vec![random.below(4) as u8; 700];
            compare(&gpus, &text, &CutRule::new(kind, alphabet, window, 2).unwrap(), "one letter");
        }
    }
    assert!(some > 300 * windows.len(), "{some} cuts");
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_cuts_at_all_seams() {
    at_all_seams(&card(false), &[1, 5, 8, 31, 32, 33, 48, 64, 65, 256]);
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_cuts_with_bounds_checks() {
    at_all_seams(&card(true), &[1, 33, 64]);
}

/// More cuts than the first readback has room for.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_finds_many_cuts_of_long_texts() {
    let card = card(false);
    let text = Random::new(9).codes(2_000_001, 5);
    for (kind, chunk) in [(WindowHash::Rabin, Some(1)), (WindowHash::Rabin, None), (WindowHash::Gear, None)] {
        let gpu = GpuCutter::new(Arc::clone(&card)).tuned(PrintTuning { chunk, ..PrintTuning::default() });
        let rule = CutRule::new(kind, Alphabet::Dna, 32, 64).unwrap();
        assert!(compare(&[gpu], &text, &rule, "a long text") > 20_000);
    }
}
