//! Every kernel variant is valid WGSL, as far as a test without a GPU can tell, and the tests that need a GPU reach
//! every variant. `docs/kernels.md` shows one variant of each kernel. Write it again after a change of the kernels:
//! `SWALIGN_WRITE_DOCS=1 cargo test --test it shaders`.

use naga::back::pipeline_constants::process_overrides;
use naga::back::{PipelineConstants, hlsl, msl};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{Module, ShaderStage};
use rayon::prelude::*;
use swalign::AlignmentMode;
use swalign::align::candidates::by_index::RUN;
use swalign::engine::gpu::variant::{
    CHAINED_ROWS, DatabaseTiles, Exchange, KernelResults, KernelScoring, STRIP_ROWS, Scores, TileNeighbors,
    TileVariant, Variant,
};
use swalign::patterns::scan::{bases, bitap, diagonals, dictionary, prints, shader as scan};

/// Checks that a kernel is valid, also on adapters without subgroups if it has no subgroup operation, and that it
/// translates to Metal and DX12.
fn is_valid(text: &str, what: &str) {
    let module = naga::front::wgsl::parse_str(text)
        .unwrap_or_else(|error| panic!("{what}: {}", error.emit_to_string(text)));
    let subgroups = text.contains("subgroup");
    let capabilities = if subgroups { Capabilities::SUBGROUP } else { Capabilities::empty() };
    let outcome = Validator::new(ValidationFlags::all(), capabilities).validate(&module);
    let info = outcome.unwrap_or_else(|error| panic!("{what}: {error:?}"));
    // Set the overridable constants to numbers, as a pipeline does.
    let numbers: PipelineConstants =
        module.overrides.iter().filter_map(|(_, constant)| Some((constant.name.clone()?, 1.0))).collect();
    let entry = Some((ShaderStage::Compute, "main"));
    let (module, info) = process_overrides(&module, &info, entry, &numbers)
        .unwrap_or_else(|error| panic!("{what}: {error:?}"));
    let metal = to_metal(&module, &info).unwrap_or_else(|error| panic!("{what} on Metal: {error}"));
    assert!(metal.contains("kernel void main_("), "{what} on Metal: {metal}");
    // Without Microsoft's newer compiler, DX12 has shader model 5.1 and no subgroups.
    let models: &[hlsl::ShaderModel] = match subgroups {
        true => &[hlsl::ShaderModel::V6_4],
        false => &[hlsl::ShaderModel::V5_1, hlsl::ShaderModel::V6_4],
    };
    for &model in models {
        let dx12 = to_dx12(&module, &info, model);
        let dx12 = dx12.unwrap_or_else(|error| panic!("{what} on DX12, {model:?}: {error}"));
        assert!(dx12.contains("void main("), "{what} on DX12: {dx12}");
    }
}

/// Translates the kernel to the language of Metal in macOS 11, the first version on Apple's own processors.
fn to_metal(module: &Module, info: &naga::valid::ModuleInfo) -> Result<String, msl::Error> {
    let unchecked = BoundsCheckPolicy::Unchecked;
    let options = msl::Options {
        lang_version: (2, 3),
        bounds_check_policies: BoundsCheckPolicies {
            index: unchecked,
            buffer: unchecked,
            image_load: unchecked,
            binding_array: unchecked,
        },
        zero_initialize_workgroup_memory: false,
        force_loop_bounding: false,
        ..msl::Options::default()
    };
    msl::write_string(module, info, &options, &msl::PipelineOptions::default()).map(|(text, _)| text)
}

/// Translates the kernel to the language of DX12.
fn to_dx12(
    module: &Module,
    info: &naga::valid::ModuleInfo,
    shader_model: hlsl::ShaderModel,
) -> Result<String, hlsl::Error> {
    let options = hlsl::Options {
        shader_model,
        zero_initialize_workgroup_memory: false,
        restrict_indexing: false,
        force_loop_bounding: false,
        ..hlsl::Options::default()
    };
    let mut text = String::new();
    hlsl::Writer::new(&mut text, &options, &hlsl::PipelineOptions::default()).write(module, info, None)?;
    Ok(text)
}

#[test]
fn every_variant_is_valid() {
    let variants = Variant::all();
    assert!(variants.len() > 20, "variants are missing");
    variants.par_iter().for_each(|variant| is_valid(&variant.wgsl().unwrap(), &format!("{variant:?}")));
}

/// Kernels of the scan: for each pattern length, with and without IUPAC codes, with and without gaps.
#[test]
fn every_kernel_of_the_scan_is_valid() {
    let variants = scan::ScanVariant::all();
    assert_eq!(variants.len() as u32, 2 * (scan::MOST_ROWS + 1 + scan::MOST_GAPLESS), "variants are missing");
    variants.par_iter().for_each(|variant| is_valid(&variant.wgsl().unwrap(), &format!("{variant:?}")));
    is_valid(&scan::transpose_wgsl().unwrap(), "transpose");
}

/// Kernels for lines: for each number of words and of edits, with and without gaps.
#[test]
fn every_kernel_for_lines_is_valid() {
    let variants = bitap::BitapVariant::all();
    assert_eq!(variants.len() as u32, 3 * (bitap::shader::MOST_EDITS + 1) * 2, "variants are missing");
    variants.par_iter().for_each(|variant| is_valid(&variant.wgsl().unwrap(), &format!("{variant:?}")));
}

/// Kernels of fingerprints: for window lengths that cover each offset in a word, and for the longest window.
#[test]
fn every_kernel_of_fingerprints_is_valid() {
    let variants = prints::shader::PrintVariant::all((1..=65).chain([256]));
    assert_eq!(variants.len(), 66 * 3 + 2, "variants are missing");
    variants.par_iter().for_each(|variant| is_valid(&variant.wgsl().unwrap(), &format!("{variant:?}")));
}

/// Kernels of dictionaries: for bytes and lines, and for the k-mers that searches look up.
#[test]
fn every_kernel_of_dictionaries_is_valid() {
    let variants = dictionary::shader::WordVariant::all();
    assert_eq!(variants.len(), 5 * 4, "variants are missing");
    variants.iter().for_each(|variant| is_valid(&variant.wgsl().unwrap(), &format!("{variant:?}")));
    for places in [false, true] {
        is_valid(&dictionary::shader::line_starts_wgsl(places).unwrap(), "line starts");
    }
    for (letters, step) in [(14, 7), (12, 4), (12, 1), (8, 1), (6, 1), (16, 5)] {
        is_valid(&bases::shader::BaseVariant { letters, step }.wgsl().unwrap(), "bases");
    }
}

/// Kernels that bound diagonals: for each number of words of a query and of a band.
#[test]
fn every_kernel_of_diagonals_is_valid() {
    let variants = diagonals::shader::BoundVariant::all(RUN as u32);
    assert_eq!(variants.len(), 10 * 4, "variants are missing");
    variants.par_iter().for_each(|variant| is_valid(&variant.wgsl().unwrap(), &format!("{variant:?}")));
}

/// The records of the host have the sizes that the kernels read.
#[test]
fn tasks_lie_as_the_host_writes_them() {
    for variant in Variant::all() {
        let module = naga::front::wgsl::parse_str(&variant.wgsl().unwrap()).unwrap();
        for record in std::iter::once(variant.task()).chain(variant.table()) {
            let mut types = module.types.iter();
            let (_, kind) = types.find(|(_, kind)| kind.name.as_deref() == Some(record.name)).unwrap();
            let naga::TypeInner::Struct { span, .. } = kind.inner else { panic!("a record is a struct") };
            assert_eq!(span as usize, record.bytes, "{}", record.name);
        }
    }
}

/// The query lengths of the suite reach every variant, so that tests on a GPU run all of them.
#[test]
fn the_suite_reaches_every_variant() {
    let lengths: Vec<u32> =
        crate::suite::inputs::seams(usize::MAX).into_iter().map(|(rows, _)| rows as u32).collect();
    let many: Vec<u32> = crate::suite::pairs::shared_lengths().into_iter().map(|rows| rows as u32).collect();
    let [stretches, shared_stretches] =
        [&crate::suite::stretches::ROWS[..], &crate::suite::stretches::SHARED_ROWS]
            .map(|rows| rows.iter().map(|&rows| rows as u32).collect::<Vec<u32>>());
    let grids = crate::suite::pairs::grid_sizes()
        .into_iter()
        .map(|(rows, _)| rows as u32)
        .filter(|&rows| rows > STRIP_ROWS);
    let grids: Vec<u32> = grids.collect();
    let tiles = |variant: Variant| match variant {
        Variant::Tile(tile) => Some(tile),
        Variant::Trace { .. } | Variant::Traceback { .. } => None,
    };
    for variant in Variant::all().into_iter().filter_map(tiles) {
        let TileVariant { kernel, joint, exchange, mode, .. } = variant;
        let is_shared = variant.scores == Scores::SharedProfile;
        let scores = if is_shared { Scores::Profile } else { variant.scores };
        let scores = KernelScoring { scores, pieces: variant.pieces };
        if variant.is_of_database() {
            let tiles = DatabaseTiles::new(scores, Some(32)).unwrap();
            let strips = crate::suite::database::STRIP_ROWS;
            let rows = crate::suite::database::ROWS.into_iter().chain(strips).map(|rows| rows as u32);
            let mut taken = rows.filter_map(|rows| tiles.holding(rows));
            assert!(taken.any(|(taken, _)| taken == variant), "{variant:?}");
            continue;
        }
        if variant.is_chained() {
            let heights: Vec<TileVariant> =
                CHAINED_ROWS.into_iter().filter_map(|rows| TileVariant::chained(scores, rows)).collect();
            let strips = |height: &TileVariant| -> u32 {
                grids.iter().map(|rows| rows.div_ceil(height.capacity())).sum()
            };
            let taken = |most: usize| {
                heights.iter().find(|height| strips(height) as usize <= most).or(heights.last())
            };
            let reached = |&most: &usize| taken(most).is_some_and(|taken| taken.rows == variant.rows);
            assert!(crate::suite::pairs::CHAINED_STRIPS.iter().any(reached), "{variant:?}");
            continue;
        }
        let is_stretched = joint == TileNeighbors::Alone { stretched: true };
        let on = |held: TileVariant| {
            let shared = is_shared.then(|| held.sharing(Some(32))).flatten();
            shared.unwrap_or(if exchange == Exchange::Subgroup { held.on(Some(32)) } else { held })
        };
        let reached = |rows: u32| match TileVariant::holding(kernel, scores, rows) {
            Some(held) if is_stretched => on(held.in_mode(mode)).in_stretches() == variant,
            Some(held) => on(held.in_mode(mode)) == variant,
            // Tiles of long queries are joined, with more lanes if there are few tiles.
            None => [TileVariant::joined(kernel, scores), TileVariant::thin(kernel, scores)]
                .map(|joined| on(joined.in_mode(mode)))
                .contains(&variant),
        };
        let lengths = match (is_stretched, is_shared) {
            (true, true) => &shared_stretches,
            (true, false) => &stretches,
            (false, true) => &many,
            (false, false) => &lengths,
        };
        assert!(lengths.iter().any(|&rows| reached(rows)), "{variant:?}");
    }
    for scores in Variant::all().into_iter().filter_map(tiles).map(|tile| tile.scores) {
        let asked = if scores == Scores::SharedProfile { Scores::Profile } else { scores };
        let used = crate::suite::inputs::scorings().iter().any(|scoring| Scores::of(scoring, 2000) == asked);
        assert!(used, "{scores:?}");
    }
}

/// Heading and description of a kernel, and the text of one of its variants.
struct Shown {
    heading: &'static str,
    about: &'static str,
    wgsl: String,
}

fn shown() -> Vec<Shown> {
    let held = |kernel, rows| TileVariant::holding(kernel, Scores::Packed, rows).unwrap().on(Some(32));
    let text = |variant: Variant| variant.wgsl().unwrap();
    vec![
        Shown {
            heading: "Score",
            about: "The best score of each pair, and the cell that it ends in. A workgroup takes several pairs, each on \
                a few lanes. A lane holds some rows of the query in registers and goes along the target a column a \
                step, one column behind the lane above it, whose last row it takes by a subgroup shuffle. Each lane \
                keeps its best cell, and at the end the lanes of a pair reduce theirs. Shown: up to 32 rows, match and \
                mismatch, on a device whose subgroups have a fixed size.",
            wgsl: text(held(KernelResults::Score, 32).into()),
        },
        Shown {
            heading: "Score, whole queries",
            about: "The same in mode glocal. The borders of the matrix enter, H has no minimum, and only the lane with the last \
                row of the query keeps its best cell. Shown: up to 32 rows, match and mismatch.",
            wgsl: text(held(KernelResults::Score, 32).in_mode(AlignmentMode::Glocal).into()),
        },
        Shown {
            heading: "Score, chained",
            about: "One long pair on the whole device. A workgroup takes a strip of rows and runs along the target a \
                few columns behind the workgroup of the strip above, whose edge it reads from storage memory as soon as \
                a mark says that it is there. Shown: four rows a lane.",
            wgsl: text(TileVariant::chained(Scores::Packed, CHAINED_ROWS[0]).unwrap().on(Some(32)).into()),
        },
        Shown {
            heading: "Score, database",
            about: "The best score of one query against each of many targets, without the cell that it ends in. A task is a \
                stretch of the targets, which lie on the device from the longest to the shortest, so that those of a \
                workgroup are about as long. A workgroup does the strips of a long query one after another, and leaves \
                what the next strip finds above it in storage memory. Shown: strips of 256 rows, match and mismatch.",
            wgsl: text(DatabaseTiles::new(Scores::Packed, Some(32)).unwrap().holding(512).unwrap().0.into()),
        },
        Shown {
            heading: "Fill",
            about: "The directions of all cells of a window, four bits a cell: where H, E and F come from. Lanes and \
                rows are those of a score. A lane gathers the directions of eight cells in a word, and writes it. \
                Shown: up to 64 rows.",
            wgsl: text(held(KernelResults::Fill, 64).into()),
        },
        Shown {
            heading: "Trace",
            about: "The path of each window whose band is narrow, in one go: lanes fill the directions of the band that \
                the score proves, row by row, and leave them in storage memory; then one lane of each window goes back \
                along them and writes the runs of its path. A workgroup takes windows of one width, of 1, 8 or 16 lanes \
                each.",
            wgsl: text(Variant::Trace { mode: AlignmentMode::Local, pieces: 1 }),
        },
        Shown {
            heading: "Traceback",
            about: "The path through filled directions that are too many to bring to the host. A workgroup takes one \
                window. Its threads read the cells of a diagonal ahead into workgroup memory, all of them follow the \
                path through these, and one writes its runs.",
            wgsl: text(Variant::Traceback { mode: AlignmentMode::Local, pieces: 1 }),
        },
        Shown {
            heading: "Search: transpose",
            about: "Letters of a text as bit planes, for the sweeps: a thread transposes 32 letters of 32 chunks, so that \
                each word has one column, with a bit for each chunk.",
            wgsl: scan::transpose_wgsl().unwrap(),
        },
        Shown {
            heading: "Search: sweep",
            about: "The ends of a pattern with edits, bit-sliced: each thread does 32 chunks of the text, a bit each, with \
                the differences of Myers' recurrence in registers. An end is appended to a list by an atomic counter, \
                and the host puts the list in order. Shown: a pattern of eight bases.",
            wgsl: scan::ScanVariant::new(8, false).wgsl().unwrap(),
        },
        Shown {
            heading: "Lines",
            about: "The lines in which a pattern of bytes occurs with edits, by bitap (Wu and Manber 1992): each \
                thread goes along its own chunk of the text with a bit for each letter of the pattern and a word for \
                each number of edits, and writes a bit for each byte, set where a match ends. Shown: one word and one edit.",
            wgsl: bitap::BitapVariant::new(8, 1, false).unwrap().wgsl().unwrap(),
        },
    ]
}

#[test]
fn the_kernels_are_documented() {
    let mut page = String::from(
        "# The kernels, as they go to the driver\n\n\
         Generated by `SWALIGN_WRITE_DOCS=1 cargo test --test it shaders`; do not edit. One variant of each kernel: \
         the templates are in `shaders/`, and how variants are made of them is in `src/engine/gpu/shader.rs` and \
         `src/patterns/scan/`. [algorithm.md](algorithm.md) has the recurrence and the proofs.\n",
    );
    for Shown { heading, about, wgsl } in shown() {
        page.push_str(&format!("\n## {heading}\n\n{about}\n\n```wgsl\n{}\n```\n", wgsl.trim()));
    }
    let path = crate::common::repository().join("docs/kernels.md");
    if std::env::var_os("SWALIGN_WRITE_DOCS").is_some() {
        std::fs::write(path, page).unwrap();
        return;
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(page == written, "docs/kernels.md is old: SWALIGN_WRITE_DOCS=1 cargo test --test it shaders");
}
