//! The GPU engine compared with the specification. SWALIGN_TEST_GPU names the adapter (default: llvmpipe, Mesa's
//! software adapter).

use crate::common::devices::{card, one_combination_in, test_adapter, test_gpu};
use crate::common::random::Random;
use std::sync::Arc;
use swalign::engine::gpu::variant::{Exchange, TRACES, Variant};
use swalign::engine::gpu::{Alike, Card, Chains, Gpu, HostWork, Tuning};
use swalign::engine::{Primitives, Window};
use swalign::terms::alphabet::Alphabet;
use swalign::terms::scoring::Scoring;
use swalign::{Aligner, Device, Hit, Targets};

/// The host computes nothing, no number of tiles counts as few, and no job is split.
const ALONE: Tuning = Tuning {
    few_cells: 0,
    few_while_busy: 0,
    few_tiles: 0,
    profile_targets: 0,
    many_tiles: u64::MAX,
    alike: Alike { cols: 0, share: u64::MAX },
    chains: NEVER,
};
/// Chains of any length, on any device.
const CHAINS: Chains =
    Chains { strips: usize::MAX, cols: u32::MAX, cells: u64::MAX, patience: u32::MAX, everywhere: true };
/// No chains on devices whose lanes do not exchange values in a subgroup.
const NEVER: Chains = Chains { everywhere: false, ..CHAINS };

fn gpu() -> Gpu {
    Gpu::new(card(false)).tuned(ALONE)
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_agrees_at_every_seam() {
    crate::suite::pairs::seams_agree(&mut gpu(), usize::MAX);
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_agrees_at_every_seam_with_bounds_checks() {
    crate::suite::pairs::some_seams_agree(&mut Gpu::new(card(true)).tuned(ALONE), (0, one_combination_in()));
}

/// In all modes, the GPU scores all pairs and traces all windows.
fn seams_agree_in_all_modes(card: Arc<Card>, first: usize) {
    let combinations = (first, one_combination_in());
    crate::suite::modes::seams_agree(&mut Gpu::new(card).tuned(ALONE), combinations, |gpu, batch, _| {
        assert_eq!(gpu.host_work(), HostWork::default(), "{}", batch.scoring);
    });
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_agrees_in_all_modes_at_every_seam() {
    seams_agree_in_all_modes(card(false), 0);
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_without_subgroups_agrees_in_all_modes_at_every_seam() {
    seams_agree_in_all_modes(cut("webgpu"), 1);
}

/// Pairs of several strips, in tiles for many and for few concurrent tiles.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_agrees_on_long_pairs_in_all_modes() {
    for (number, (card, few_tiles)) in [(card(true), 0), (cut("webgpu"), usize::MAX)].into_iter().enumerate()
    {
        let mut gpu = Gpu::new(card).tuned(Tuning { few_tiles, chains: CHAINS, ..ALONE });
        crate::suite::modes::long_pairs_agree(&mut gpu, (number, one_combination_in()));
        assert_eq!(gpu.host_work(), HostWork::default());
    }
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_traces_narrow_bands_in_all_modes() {
    for (number, card) in [card(true), cut("webgpu")].into_iter().enumerate() {
        let mut gpu = Gpu::new(card).tuned(ALONE);
        let windows = crate::suite::modes::narrow_bands_agree(&mut gpu, (number, one_combination_in()));
        let widest = TRACES.map(|trace| trace.width()).into_iter().max().unwrap_or(0);
        let is_wide = |window: &&Window| window.band.deletions + window.band.insertions >= widest;
        let wide = windows.iter().filter(is_wide).count();
        assert!(
            windows.len() > 2000 / one_combination_in() && wide < windows.len() / 10,
            "{wide} of {}",
            windows.len()
        );
        assert_eq!(gpu.host_work(), HostWork::default());
    }
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_agrees_in_all_modes() {
    let mut gpu = gpu();
    crate::suite::modes::small_pairs_agree(&mut gpu, one_combination_in());
    crate::suite::modes::empty_pairs_agree(&mut gpu);
    crate::suite::modes::stretches_agree(&mut gpu);
    crate::suite::modes::dear_gaps_agree(&mut gpu);
    assert_eq!(gpu.host_work().pairs, 0);
    crate::suite::modes::shared_queries_agree(&mut gpu);
}

/// Targets that do not fit into the memory of the device.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn targets_in_pieces_agree_in_all_modes() {
    let mut gpu = Gpu::new(cut("pieces")).tuned(ALONE);
    crate::suite::modes::stretches_agree(&mut gpu);
    crate::suite::modes::narrow_bands_agree(&mut gpu, (2, one_combination_in()));
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_agrees_on_grids() {
    crate::suite::pairs::grids_agree(&mut gpu());
    crate::suite::pairs::grids_agree(&mut gpu().tuned(Tuning { few_tiles: usize::MAX, ..ALONE }));
}

/// Pairs that are too large for a single job are scored in blocks.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_agrees_on_grids_in_blocks() {
    for (number, many_tiles) in [0, 2, 5, 12].into_iter().enumerate() {
        let mut gpu = gpu().tuned(Tuning { many_tiles, ..ALONE });
        crate::suite::pairs::some_grids_agree(&mut gpu, (number, one_combination_in()));
    }
}

/// The host computes similar pairs, and the device the others.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_agrees_where_the_host_takes_pairs() {
    crate::suite::pairs::alike_and_other_pairs_agree(
        &mut gpu().tuned(Tuning { alike: Alike { cols: 0, share: 3 }, ..ALONE }),
    );
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_agrees_on_chains() {
    let chained = |checked: bool, chains: Chains| {
        Gpu::new(card(checked)).tuned(Tuning { few_tiles: usize::MAX, chains, ..ALONE })
    };
    for (number, strips) in crate::suite::pairs::CHAINED_STRIPS.into_iter().enumerate() {
        let some = (number, one_combination_in());
        crate::suite::pairs::some_grids_agree(
            &mut chained(number % 2 == 0, Chains { strips, ..CHAINS }),
            some,
        );
    }
    crate::suite::pairs::high_pairs_agree(&mut chained(false, CHAINS));
    // Dispatches of 100 or 700 columns, with several strips per dispatch or a single strip.
    crate::suite::pairs::high_pairs_agree(&mut chained(true, Chains { cols: 100, ..CHAINS }));
    for (number, cells) in [100_000, 1].into_iter().enumerate() {
        let chains = Chains { strips: 0, cols: 700, cells, ..CHAINS };
        crate::suite::pairs::some_grids_agree(&mut chained(false, chains), (number, one_combination_in()));
    }
    // Strips that do not wait give up, and the job is done in another way.
    crate::suite::pairs::grids_agree(&mut chained(false, Chains { patience: 0, ..CHAINS }));
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_agrees_on_random_pairs() {
    crate::suite::pairs::random_pairs_agree(&mut gpu(), 200, 90);
    crate::suite::pairs::dear_gaps_agree(&mut gpu());
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_agrees_where_queries_are_shared() {
    crate::suite::pairs::shared_queries_agree(&mut gpu());
    crate::suite::pairs::shared_queries_agree(&mut Gpu::new(card(true)).tuned(ALONE));
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_agrees_where_a_sweep_serves_several_pairs() {
    crate::suite::stretches::stretches_agree(&mut gpu(), 1);
    crate::suite::stretches::stretches_agree(&mut Gpu::new(card(true)), one_combination_in());
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_agrees_on_databases() {
    crate::suite::database::databases_agree(&mut gpu());
    crate::suite::database::some_databases_agree(
        &mut Gpu::new(card(true)).tuned(ALONE),
        one_combination_in(),
    );
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpus_share_a_database() {
    let card = card(true);
    let gpu = |_| Box::new(Gpu::new(Arc::clone(&card)).tuned(ALONE)) as Box<dyn Primitives>;
    crate::suite::database::databases_agree_side_by_side(&mut (0..4).map(gpu).collect::<Vec<_>>());
}

/// Aligners with different scorings and targets on the same card, which they open by name, alternately and
/// concurrently.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn aligners_share_a_card() {
    let mut random = Random::new(5);
    let mut text = |len: usize| random.text(Alphabet::Dna, len);
    let scorings = [Scoring::dna(1, 4, 6, 1), Scoring::dna(2, 4, 4, 2)];
    let texts: [Vec<String>; 2] = [3, 5].map(|count| (0..count).map(|_| text(2_000)).collect());
    let targets =
        texts.each_ref().map(|texts| Targets::from_dna(texts.iter().map(|text| ("t", text))).unwrap());
    let queries: Vec<String> = (0..200).map(|k| texts[k % 2][k % 3][k * 7..k * 7 + 80].to_string()).collect();
    let build = |place: usize, device: Device| {
        let builder = Aligner::builder(scorings[place].clone()).device(device).min_score(20);
        builder.build(&targets[place]).unwrap_or_else(|error| panic!("{error}"))
    };
    let hits =
        |aligner: &Aligner| -> Vec<Vec<Hit>> { aligner.align_all(&queries).map(Result::unwrap).collect() };
    let expected = [0, 1].map(|place| hits(&build(place, Device::Cpu)));
    assert!(expected[0] != expected[1] && expected.iter().flatten().any(|hits| !hits.is_empty()));
    let on_gpu = [0, 1].map(|place| build(place, Device::GpuNamed(test_gpu())));
    for place in [0, 1, 0, 1] {
        assert!(hits(&on_gpu[place]) == expected[place], "in turns");
    }
    std::thread::scope(|scope| {
        for place in [0, 1, 1, 0] {
            let (aligner, expected, hits) = (&on_gpu[place], &expected[place], &hits);
            scope.spawn(move || assert!(hits(aligner) == *expected, "side by side"));
        }
    });
    drop(on_gpu);
    assert!(hits(&build(1, Device::GpuNamed(test_gpu()))) == expected[1], "opened again");
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_agrees_on_empty_pairs() {
    crate::suite::pairs::empty_pairs_agree(&mut gpu());
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_finds_targets_that_are_sent_in_pieces() {
    let card = card(true);
    let (mut one, mut other) = (Gpu::new(Arc::clone(&card)), Gpu::new(card));
    crate::suite::pairs::pieces_agree([&mut one, &mut other]);
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpus_agree_side_by_side() {
    let card = card(true);
    // Some engines chain their strips. Their jobs do not wait for other jobs.
    let chained = Tuning { few_tiles: usize::MAX, chains: CHAINS, ..ALONE };
    let gpu = |number| Gpu::new(Arc::clone(&card)).tuned(if number % 3 == 0 { chained } else { ALONE });
    crate::suite::crowd::crowds_agree(
        (0..8).map(|number| Box::new(gpu(number)) as Box<dyn Primitives>).collect(),
    );
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_blocks_make_the_whole() {
    crate::suite::blocks::blocks_agree(&mut gpu());
    crate::suite::blocks::narrow_blocks_agree(&mut gpu());
    crate::suite::blocks::gaps_across_borders_agree(&mut gpu());
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_leaves_the_edges_between_blocks() {
    crate::suite::blocks::checkpoints_agree(&mut gpu(), 2);
    // On lavapipe, half of the scorings for each of the other ways.
    let step = if one_combination_in() > 1 { 4 } else { 2 };
    crate::suite::blocks::checkpoints_agree(
        &mut Gpu::new(card(true)).tuned(Tuning { few_tiles: usize::MAX, ..ALONE }),
        step,
    );
    // Chains of strips of 128 and 256 rows, one strip per dispatch, and strips that do not wait.
    let others =
        [Chains { strips: 0, ..CHAINS }, Chains { cells: 1, ..CHAINS }, Chains { patience: 0, ..CHAINS }];
    for (number, chains) in std::iter::once(CHAINS).chain(others).enumerate() {
        let tuning = Tuning { few_tiles: usize::MAX, chains, ..ALONE };
        crate::suite::blocks::checkpoints_agree(&mut Gpu::new(card(number % 2 == 1)).tuned(tuning), step);
    }
    // One row of blocks per job, two or more rows, and a single block.
    for many_tiles in [5, 10, 0] {
        crate::suite::blocks::checkpoints_agree(&mut gpu().tuned(Tuning { many_tiles, ..ALONE }), 4);
    }
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_agrees_at_the_edges_of_bands() {
    let mut gpu = gpu();
    let edges = crate::suite::bands::edges().into_iter().chain(crate::suite::bands::two_piece_edges());
    edges.for_each(|edge| edge.agrees(&mut gpu));
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_agrees_at_the_seams_under_two_pieces() {
    crate::suite::two_pieces::seams_agree(&mut gpu(), &crate::suite::two_pieces::for_kernels());
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_shares_queries_under_two_pieces() {
    let mut gpu = Gpu::new(card(true)).tuned(ALONE);
    crate::suite::two_pieces::shared_queries_agree(&mut gpu, &crate::suite::two_pieces::for_kernels());
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_agrees_on_groups_under_two_pieces() {
    let (mut gpu, scorings) = (gpu(), crate::suite::two_pieces::for_kernels());
    crate::suite::two_pieces::groups_agree(&mut gpu, &scorings);
    crate::suite::two_pieces::crossings_agree(&mut gpu, &scorings);
    assert_eq!(gpu.host_work().pairs, 0);
}

/// Long pairs in grids, for many and for few tiles and in blocks, and the edges between the blocks of long alignments.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_blocks_under_two_pieces_make_the_whole() {
    let scorings = crate::suite::two_pieces::for_kernels();
    let few = Tuning { few_tiles: usize::MAX, chains: CHAINS, ..ALONE };
    for (number, tuning) in [ALONE, few, Tuning { many_tiles: 5, ..ALONE }].into_iter().enumerate() {
        crate::suite::two_pieces::grids_agree(&mut gpu().tuned(tuning), &scorings[number..number + 1]);
    }
    crate::suite::two_pieces::blocks_agree(&mut gpu(), &scorings[..1]);
    crate::suite::two_pieces::blocks_agree(&mut Gpu::new(card(true)).tuned(few), &scorings[2..3]);
}

/// Kernels for two pieces without subgroups.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_without_subgroups_agrees_under_two_pieces() {
    let (mut gpu, scorings) = (Gpu::new(cut("webgpu")).tuned(ALONE), crate::suite::two_pieces::for_kernels());
    crate::suite::two_pieces::seams_agree(&mut gpu, &scorings[..1]);
    crate::suite::two_pieces::grids_agree(&mut gpu, &scorings[..1]);
    crate::suite::two_pieces::blocks_agree(&mut gpu, &scorings[..1]);
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_agrees_beyond_one_dimension_of_a_dispatch() {
    crate::suite::pairs::many_pairs_agree(&mut gpu());
}

/// The adapter, reduced to a profile.
fn cut(profile: &str) -> Arc<Card> {
    let name = format!("{}/{profile}", test_adapter());
    Card::open(Some(&name), false).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// With each of these profiles, kernels exchange values through workgroup memory, and the results agree. To run the
/// whole suite with a profile, set SWALIGN_TEST_GPU, such as to llvmpipe/webgpu.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn adapters_cut_down_agree() {
    for profile in ["webgpu", "intel", "amd", "apple", "dx12"] {
        let card = cut(profile);
        let kernels = card.kernels(&Scoring::dna(1, 4, 6, 1), 150, true, true);
        let exchanges = kernels.iter().filter_map(|kernel| match kernel {
            Variant::Tile(tile) => Some(tile.exchange),
            Variant::Trace { .. } | Variant::Traceback { .. } | Variant::Rows { .. } => None,
        });
        let exchanges: Vec<Exchange> = exchanges.collect();
        assert!(
            exchanges.len() == 2 && exchanges.iter().all(|&one| one == Exchange::Workgroup),
            "{exchanges:?}"
        );
        crate::suite::pairs::dear_gaps_agree(&mut Gpu::new(card).tuned(ALONE));
    }
}

/// Targets that do not fit into the memory of the device are uploaded in pieces: scores, paths and databases, with
/// several engines concurrently.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn targets_in_pieces_agree() {
    let card = cut("pieces");
    let gpu = || Gpu::new(Arc::clone(&card)).tuned(ALONE);
    crate::suite::pairs::random_pairs_agree(&mut gpu(), 60, 91);
    crate::suite::pairs::shared_queries_agree(&mut gpu());
    crate::suite::stretches::stretches_agree(&mut gpu(), one_combination_in());
    let crowd = || Box::new(gpu()) as Box<dyn Primitives>;
    crate::suite::database::databases_agree_side_by_side(&mut [crowd(), crowd(), crowd()]);
    crate::suite::crowd::crowds_agree(vec![crowd(), crowd(), crowd(), crowd()]);
}

/// All kernels without subgroups, within the limits that every adapter supports.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn an_adapter_with_least_limits_agrees_at_every_seam() {
    crate::suite::pairs::some_seams_agree(
        &mut Gpu::new(cut("webgpu")).tuned(ALONE),
        (1, one_combination_in()),
    );
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_agrees_on_rows_that_are_not_residues() {
    crate::suite::rows::frames_agree(&mut gpu());
    crate::suite::rows::largest_frames_agree(&mut gpu());
    crate::suite::rows::profiles_agree(&mut gpu());
    crate::suite::rows::databases_agree(&mut gpu(), one_combination_in());
}
