//! The CPU engine against the specification.

use swalign::engine::cpu::Cpu;
use swalign::engine::cpu::simd::InstructionSet;
use swalign::engine::plain::Plain;

/// Runs `test` on each instruction set that this processor has.
fn on_each_set(test: impl Fn(&mut Cpu)) {
    for set in InstructionSet::available() {
        eprintln!("on {set}");
        test(&mut Cpu::on(set));
    }
}

#[test]
fn cpu_agrees_at_every_seam() {
    on_each_set(|cpu| crate::suite::pairs::seams_agree(cpu, usize::MAX));
}

#[test]
fn cpu_agrees_on_long_targets() {
    on_each_set(|cpu| crate::suite::pairs::grids_agree(cpu));
}

#[test]
fn cpu_agrees_on_random_pairs() {
    on_each_set(|cpu| crate::suite::pairs::random_pairs_agree(cpu, 200, 90));
    on_each_set(|cpu| crate::suite::pairs::dear_gaps_agree(cpu));
}

#[test]
fn lanes_agree_for_any_number_of_pairs() {
    on_each_set(|cpu| crate::suite::lanes::counts_agree(cpu));
}

#[test]
fn lanes_agree_up_to_their_largest_scores() {
    on_each_set(|cpu| crate::suite::lanes::largest_scores_agree(cpu));
}

#[test]
fn lanes_agree_wherever_the_best_cell_is() {
    on_each_set(|cpu| crate::suite::lanes::places_agree(cpu));
}

#[test]
fn long_pairs_agree() {
    on_each_set(|cpu| crate::suite::lanes::long_pairs_agree(cpu));
}

#[test]
fn long_pairs_that_are_alike_agree() {
    on_each_set(|cpu| crate::suite::lanes::alike_pairs_agree(cpu));
    on_each_set(|cpu| crate::suite::pairs::alike_and_other_pairs_agree(cpu));
}

#[test]
fn shared_queries_agree() {
    on_each_set(|cpu| crate::suite::pairs::shared_queries_agree(cpu));
}

#[test]
fn cpu_agrees_where_a_sweep_serves_several_pairs() {
    on_each_set(|cpu| crate::suite::stretches::stretches_agree(cpu, 1));
}

#[test]
fn cpu_agrees_on_databases() {
    on_each_set(|cpu| crate::suite::database::databases_agree_in_lanes(cpu));
}

#[test]
fn cpu_agrees_on_empty_pairs() {
    on_each_set(|cpu| crate::suite::pairs::empty_pairs_agree(cpu));
}

#[test]
fn blocks_make_the_whole() {
    crate::suite::blocks::blocks_agree(&mut Plain::new());
    on_each_set(|cpu| crate::suite::blocks::blocks_agree(cpu));
    on_each_set(|cpu| crate::suite::blocks::narrow_blocks_agree(cpu));
    crate::suite::blocks::gaps_across_borders_agree(&mut Plain::new());
    on_each_set(|cpu| crate::suite::blocks::gaps_across_borders_agree(cpu));
}

#[test]
fn cpu_leaves_the_edges_between_blocks() {
    on_each_set(|cpu| crate::suite::blocks::checkpoints_agree(cpu, 2));
}

#[test]
fn cpu_agrees_at_the_edges_of_bands() {
    let edges = crate::suite::bands::edges();
    on_each_set(|cpu| edges.iter().for_each(|edge| edge.agrees(cpu)));
}

/// So the band is not only enough but as narrow as can be.
#[test]
fn a_narrower_band_would_lose_the_path() {
    crate::suite::bands::edges().iter().for_each(|edge| edge.is_tight());
}

#[test]
fn cpu_fills_whole_windows_alike() {
    on_each_set(|cpu| crate::suite::pairs::whole_windows_agree(cpu, usize::MAX));
}

#[test]
fn cpu_agrees_at_the_seams_under_two_pieces() {
    on_each_set(|cpu| crate::suite::two_pieces::seams_agree(cpu, &crate::suite::two_pieces::scorings()));
}

#[test]
fn cpu_fills_and_shares_queries_under_two_pieces() {
    on_each_set(|cpu| {
        crate::suite::two_pieces::windows_agree(cpu, &crate::suite::two_pieces::scorings());
        crate::suite::two_pieces::shared_queries_agree(cpu, &crate::suite::two_pieces::scorings());
    });
}

#[test]
fn cpu_agrees_on_groups_under_two_pieces() {
    on_each_set(|cpu| crate::suite::two_pieces::groups_agree(cpu, &crate::suite::two_pieces::scorings()));
}

#[test]
fn cpu_agrees_where_the_pieces_cross() {
    on_each_set(|cpu| crate::suite::two_pieces::crossings_agree(cpu, &crate::suite::two_pieces::scorings()));
}

#[test]
fn cpu_agrees_on_long_pairs_in_all_modes() {
    on_each_set(|cpu| crate::suite::modes::long_pairs_agree(cpu, (0, 1)));
}

#[test]
fn bands_under_two_pieces_are_as_narrow_as_can_be() {
    let edges = crate::suite::bands::two_piece_edges();
    edges.iter().for_each(|edge| edge.is_tight());
    on_each_set(|cpu| edges.iter().for_each(|edge| edge.agrees(cpu)));
}

#[test]
fn blocks_under_two_pieces_make_the_whole() {
    crate::suite::two_pieces::blocks_agree(&mut Plain::new(), &crate::suite::two_pieces::scorings());
    on_each_set(|cpu| crate::suite::two_pieces::blocks_agree(cpu, &crate::suite::two_pieces::scorings()));
}

#[test]
fn a_needless_second_piece_changes_nothing() {
    on_each_set(|cpu| crate::suite::two_pieces::needless_pieces_change_nothing(cpu));
}

#[test]
fn frameshifts_agree() {
    on_each_set(|cpu| crate::suite::rows::frames_agree(cpu));
    on_each_set(|cpu| crate::suite::rows::largest_frames_agree(cpu));
}

#[test]
fn profiles_agree() {
    on_each_set(|cpu| crate::suite::rows::profiles_agree(cpu));
    on_each_set(|cpu| crate::suite::rows::databases_agree(cpu, 6));
}
