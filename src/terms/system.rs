//! The clock, threads, input files and standard output of the process. A web page has none of them.
//! There, input files are those that the page has given, standard output is handed to it, and it decides how the run sleeps.

#[cfg(target_arch = "wasm32")]
mod page;

#[cfg(target_arch = "wasm32")]
pub use page::{
    File, Instant, Metadata, Stdout, can_sleep, give_file, give_sleep, give_stdout, metadata, read, sleep,
    stdout,
};
#[cfg(not(target_arch = "wasm32"))]
pub use std::{
    fs::{File, Metadata, metadata, read},
    io::{Stdout, stdout},
    thread::sleep,
    time::Instant,
};

/// Whether threads can be started. Otherwise a run's stages take turns.
pub const HAS_THREADS: bool = !cfg!(target_arch = "wasm32");

/// Whether a run can sleep until a GPU has answered.
#[cfg(not(target_arch = "wasm32"))]
pub fn can_sleep() -> bool {
    true
}
