//! Every kernel variant is valid WGSL, as far as a test without a GPU can tell, and the tests that need a GPU reach
//! every variant. After a change of the kernels, `SWALIGN_WRITE_DOCS=1 cargo test --test it shaders` writes
//! `docs/kernels.md`, a sample of each kernel, and all variants to `target/kernels/`.

mod page;

use naga::back::pipeline_constants::process_overrides;
use naga::back::{PipelineConstants, hlsl, msl};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{Module, ShaderStage};
use rayon::prelude::*;
use std::path::Path;
use swalign::align::candidates::by_index::RUN;
use swalign::engine::gpu::variant::{
    CHAINED_ROWS, DatabaseTiles, Exchange, KernelScoring, STRIP_ROWS, Scores, TargetsKind, TileNeighbors,
    TileVariant, Variant,
};
use swalign::patterns::scan::{bases, bitap, diagonals, dictionary, shader as scan};

/// Checks that a kernel is valid, also on adapters without subgroups if it has no subgroup operation, and that it
/// translates to Metal and DX12. With SWALIGN_WRITE_DOCS, also writes it to `target/kernels/`. Returns the parsed kernel.
fn is_valid(text: &str, what: &str) -> Module {
    if std::env::var_os("SWALIGN_WRITE_DOCS").is_some() {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("kernels");
        std::fs::create_dir_all(&folder).unwrap();
        let name = what.replace(|character: char| !character.is_ascii_alphanumeric(), " ");
        let name = name.split_whitespace().collect::<Vec<_>>().join("-");
        std::fs::write(folder.join(name + ".wgsl"), text).unwrap();
    }
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
    let (pipeline, info) = process_overrides(&module, &info, entry, &numbers)
        .unwrap_or_else(|error| panic!("{what}: {error:?}"));
    let metal = to_metal(&pipeline, &info).unwrap_or_else(|error| panic!("{what} on Metal: {error}"));
    assert!(metal.contains("kernel void main_("), "{what} on Metal: {metal}");
    // Without Microsoft's newer compiler, DX12 has shader model 5.1 and no subgroups.
    let models: &[hlsl::ShaderModel] = match subgroups {
        true => &[hlsl::ShaderModel::V6_4],
        false => &[hlsl::ShaderModel::V5_1, hlsl::ShaderModel::V6_4],
    };
    for &model in models {
        let dx12 = to_dx12(&pipeline, &info, model);
        let dx12 = dx12.unwrap_or_else(|error| panic!("{what} on DX12, {model:?}: {error}"));
        assert!(dx12.contains("void main("), "{what} on DX12: {dx12}");
    }
    drop(pipeline);
    module
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

/// The records of the host also have the sizes that the kernels read.
#[test]
fn every_variant_is_valid() {
    let variants = Variant::all();
    assert!(variants.len() > 20, "variants are missing");
    variants.par_iter().for_each(|variant| {
        let module = is_valid(&variant.wgsl().unwrap(), &format!("{variant:?}"));
        for record in std::iter::once(variant.task()).chain(variant.table()) {
            let mut types = module.types.iter();
            let (_, kind) = types.find(|(_, kind)| kind.name.as_deref() == Some(record.name)).unwrap();
            let naga::TypeInner::Struct { span, .. } = kind.inner else { panic!("a record is a struct") };
            assert_eq!(span as usize, record.bytes, "{}", record.name);
        }
    });
}

/// Kernels of the scan: for each pattern length, with and without IUPAC codes, with and without gaps.
#[test]
fn every_kernel_of_the_scan_is_valid() {
    let variants = scan::ScanVariant::all();
    assert_eq!(variants.len() as u32, 2 * (scan::MOST_ROWS + 1 + scan::MOST_GAPLESS), "variants are missing");
    variants.par_iter().for_each(|variant| {
        is_valid(&variant.wgsl().unwrap(), &format!("{variant:?}"));
    });
    is_valid(&scan::transpose_wgsl().unwrap(), "transpose");
}

/// Kernels for lines: for each number of words and of edits, with and without gaps.
#[test]
fn every_kernel_for_lines_is_valid() {
    let variants = bitap::BitapVariant::all();
    assert_eq!(variants.len() as u32, 3 * (bitap::shader::MOST_EDITS + 1) * 2, "variants are missing");
    variants.par_iter().for_each(|variant| {
        is_valid(&variant.wgsl().unwrap(), &format!("{variant:?}"));
    });
}

/// Kernels of dictionaries: for bytes and lines, and for the k-mers that searches look up.
#[test]
fn every_kernel_of_dictionaries_is_valid() {
    let variants = dictionary::shader::WordVariant::all();
    assert_eq!(variants.len(), 5 * 4, "variants are missing");
    variants.iter().for_each(|variant| {
        is_valid(&variant.wgsl().unwrap(), &format!("{variant:?}"));
    });
    for places in [false, true] {
        is_valid(&dictionary::shader::line_starts_wgsl(places).unwrap(), &format!("line starts {places}"));
    }
    for (letters, step) in [(14, 7), (12, 4), (12, 1), (8, 1), (6, 1), (16, 5)] {
        is_valid(
            &bases::shader::BaseVariant { letters, step }.wgsl().unwrap(),
            &format!("bases {letters} {step}"),
        );
    }
}

/// Kernels that bound diagonals: for each number of words of a query and of a band.
#[test]
fn every_kernel_of_diagonals_is_valid() {
    let variants = diagonals::shader::BoundVariant::all(RUN as u32);
    assert_eq!(variants.len(), 10 * 4, "variants are missing");
    variants.par_iter().for_each(|variant| {
        is_valid(&variant.wgsl().unwrap(), &format!("{variant:?}"));
    });
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
        Variant::Trace { .. } | Variant::Traceback { .. } | Variant::Rows { .. } => None,
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
            let taken = rows.flat_map(|rows| TargetsKind::ALL.map(|kind| tiles.holding(rows, kind)));
            assert!(taken.flatten().any(|(taken, _)| taken == variant), "{variant:?}");
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
        let profile = crate::suite::rows::profile(&mut crate::common::random::Random::new(1), &[1, 2, 3]);
        let codons = crate::suite::rows::scorings();
        let mut scorings = crate::suite::inputs::scorings().into_iter().chain(codons).chain([profile]);
        assert!(scorings.any(|scoring| Scores::of(&scoring, 2000) == asked), "{scores:?}");
    }
}
