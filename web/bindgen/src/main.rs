//! Runs wasm-bindgen: `bindgen INPUT.wasm FOLDER NAME`. As a part of this workspace it has the version of the library that
//! the input was compiled with.

use std::env;
use std::error::Error;
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [input, folder, name] = &words[..] else {
        return Err("usage: bindgen INPUT.wasm FOLDER NAME".into());
    };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(input).out_name(name).web(true)?.typescript(true).omit_default_module_path(false);
    bindgen.generate(folder)?;
    Ok(())
}
