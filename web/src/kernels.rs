//! The text of every kernel, for a test that a browser compiles it.

use swalign::align::candidates::by_index::RUN;
use swalign::engine::gpu::variant::Variant;
use swalign::patterns::scan::bases::shader::BaseVariant;
use swalign::patterns::scan::{bitap, diagonals, dictionary, shader};
use wasm_bindgen::prelude::*;

/// The kernels that browsers may run: name and text of each, one after another.
#[wasm_bindgen]
pub fn kernels() -> Vec<String> {
    let mut all = Vec::new();
    let mut put = |name: String, text: Option<String>| {
        // Browsers get no kernels with operations on subgroups.
        if let Some(text) = text.filter(|text| !text.contains("subgroup")) {
            all.extend([name, text]);
        }
    };
    Variant::all().iter().for_each(|kernel| put(format!("{kernel:?}"), kernel.wgsl().ok()));
    shader::ScanVariant::all().iter().for_each(|kernel| put(format!("{kernel:?}"), kernel.wgsl().ok()));
    put("transpose".to_string(), shader::transpose_wgsl().ok());
    bitap::BitapVariant::all().iter().for_each(|kernel| put(format!("{kernel:?}"), kernel.wgsl().ok()));
    let words = dictionary::shader::WordVariant::all();
    words.iter().for_each(|kernel| put(format!("{kernel:?}"), kernel.wgsl().ok()));
    for places in [false, true] {
        put(format!("line starts, places: {places}"), dictionary::shader::line_starts_wgsl(places).ok());
    }
    for (letters, step) in [(14, 7), (12, 4), (12, 1), (8, 1), (6, 1), (16, 5)] {
        put(format!("bases, {letters} by {step}"), BaseVariant { letters, step }.wgsl().ok());
    }
    let bounds = diagonals::shader::BoundVariant::all(RUN as u32);
    bounds.into_iter().for_each(|kernel| put(format!("{kernel:?}"), kernel.wgsl().ok()));
    all
}
