//! The CPU engine against the specification.

mod common;
mod suite;

use swalign::engine::cpu::Cpu;
use swalign::engine::plain::Plain;

#[test]
fn cpu_agrees_at_every_seam() {
    suite::seams_agree(&mut Cpu::new(), usize::MAX);
}

#[test]
fn cpu_agrees_on_long_targets() {
    suite::grids_agree(&mut Cpu::new());
}

#[test]
fn cpu_agrees_on_random_pairs() {
    suite::random_pairs_agree(&mut Cpu::new(), 200, 90);
}

#[test]
fn cpu_agrees_on_empty_pairs() {
    suite::empty_pairs_agree(&mut Cpu::new());
}

#[test]
fn blocks_make_the_whole() {
    suite::blocks_agree(&mut Plain::new());
    suite::blocks_agree(&mut Cpu::new());
    suite::narrow_blocks_agree(&mut Cpu::new());
}

#[test]
fn cpu_leaves_the_edges_between_blocks() {
    suite::lattices_agree(&mut Cpu::new(), 2);
}

#[test]
fn cpu_agrees_at_the_edges_of_bands() {
    suite::bands::edges().iter().for_each(|edge| edge.agrees(&mut Cpu::new()));
}

/// So the band is not only enough but as narrow as can be.
#[test]
fn a_narrower_band_loses_the_path() {
    suite::bands::edges().iter().for_each(|edge| edge.fails_in_less(&mut Cpu::new()));
}

#[test]
fn cpu_fills_whole_windows_alike() {
    suite::whole_windows_agree(&mut Cpu::new(), usize::MAX);
}
