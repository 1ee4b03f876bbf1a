//! The command `swalign` in a web page: the same arguments, files in memory, and output that goes to the page.

mod kernels;

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use swalign::cli::{self, Command};
use swalign::pipeline::{self, Reporter, Stage};
use swalign::terms::error::{Error, Result};
use swalign::terms::system;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(raw_module = "./host.js")]
extern "C" {
    /// Takes bytes of standard output.
    fn output(bytes: &[u8]);
    /// Takes a line of standard error.
    fn message(text: &str);
    /// Takes the finished part of a stage: bytes of the input and all of them, and the number of finished records.
    fn progress(stage: &str, bytes: f64, size: f64, records: f64);
    /// Takes the summary of a run as JSON.
    fn summary(json: &str);
}

#[link(wasm_import_module = "./host.js")]
unsafe extern "C" {
    /// Suspends the run for this time, while the browser calls what is due. Only for runs that `WebAssembly.promising` wraps.
    safe fn suspend(milliseconds: f64);
}

thread_local! {
    static ARGUMENTS: RefCell<Vec<String>> = RefCell::default();
}

/// Makes panics messages of the page, and hands standard output to it.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|panic| message(&format!("swalign: error: {panic}"))));
    system::give_stdout(output);
}

/// Gives a file of this name its content. Without a content, the file is removed.
#[wasm_bindgen]
pub fn give(name: &str, content: Option<Vec<u8>>) {
    system::give_file(Path::new(name), content);
}

/// Sets the arguments of the next run, without the name of the program.
#[wasm_bindgen]
pub fn set_arguments(words: Vec<String>) {
    ARGUMENTS.set(words);
}

/// Lets runs suspend. Before that, they use no GPU.
#[wasm_bindgen]
pub fn allow_gpu() {
    system::give_sleep(|time: Duration| suspend(time.as_secs_f64() * 1000.0));
}

/// Runs the command, and returns its exit code. A run on a GPU suspends while the GPU works, so this function has no glue of
/// wasm-bindgen: the page wraps it by `WebAssembly.promising`.
#[unsafe(no_mangle)]
pub extern "C" fn swalign_run() -> i32 {
    let words = ARGUMENTS.take();
    let line = [OsString::from("swalign")].into_iter().chain(words.into_iter().map(OsString::from));
    let command = match cli::parse_line(line) {
        Ok(command) => command,
        Err(text) => {
            message(&text);
            return 2;
        }
    };
    match run(command) {
        Ok(()) => 0,
        Err(error) => {
            message(&format!("swalign: error: {error}{}", cli::flags::of(&error)));
            i32::from(error.exit_code())
        }
    }
}

fn run(command: Command) -> Result<()> {
    let page = Page::default();
    match command {
        Command::Align(options) | Command::Audit(options) => {
            let done = pipeline::run(&options, &page)?;
            let seconds = done.elapsed.as_secs_f64();
            let (queries, aligned, cells) = (done.queries, done.aligned, done.cells);
            summary(&format!(
                "{{\"queries\":{queries},\"aligned\":{aligned},\"cells\":{cells},\"seconds\":{seconds}}}"
            ));
        }
        Command::Search(options) => {
            let done = pipeline::search::search(&options, &page)?;
            let seconds = done.elapsed.as_secs_f64();
            let (patterns, texts, letters, hits) = (done.patterns, done.texts, done.letters, done.hits);
            summary(&format!(
                "{{\"patterns\":{patterns},\"texts\":{texts},\"bases\":{letters},\"hits\":{hits},\"seconds\":{seconds}}}"
            ));
        }
        Command::Matrix(options) => drop(pipeline::matrix::matrix(&options, &page)?),
        Command::Dedup(options) => drop(pipeline::dedup::dedup(&options, &page)?),
        _ => return Err(Error::Usage("this command is not available in a web page".to_string())),
    }
    Ok(())
}

/// Hands messages and progress to the page.
#[derive(Default)]
struct Page {
    stage: Mutex<Stage>,
}

impl Reporter for Page {
    fn note(&self, text: &str) {
        message(text);
    }

    fn detail(&self, _: &str) {}

    fn progress(&self, records: u64) {
        let Ok(stage) = self.stage.lock() else { return };
        let load = |bytes: &Arc<AtomicU64>| bytes.load(Ordering::Relaxed);
        let bytes = stage.bytes.as_ref().map_or(0, load);
        progress(stage.doing, bytes as f64, stage.size.unwrap_or(0) as f64, records as f64);
    }

    fn stage(&self, stage: Stage) {
        progress(stage.doing, 0.0, stage.size.unwrap_or(0) as f64, 0.0);
        if let Ok(mut current) = self.stage.lock() {
            *current = stage;
        }
    }
}
