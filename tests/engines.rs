//! The CPU engine against the specification.

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
}
