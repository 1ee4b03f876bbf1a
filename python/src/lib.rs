//! `pyswalign`: the library's interface for Python.
//!
//! The crate converts Python objects to sequences (`letters`), calls the library without the GIL (`jobs`), in
//! batches for iterators (`stream`), and converts hits to Python objects (`hit`). It contains no alignment code.

mod aligner;
mod database;
mod device;
mod errors;
mod hit;
mod jobs;
mod letters;
mod pairs;
mod scoring;
mod search;
mod significance;
mod stream;

use pyo3::prelude::*;

/// The compiled part of pyswalign.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::aligner::{HitStream, PyAligner};
    #[pymodule_export]
    use crate::database::Database;
    #[pymodule_export]
    use crate::errors::{DeviceError, InputError};
    #[pymodule_export]
    use crate::hit::{_hit, PyHit};
    #[pymodule_export]
    use crate::pairs::{_align_again, PairStream, align, align_pairs};
    #[pymodule_export]
    use crate::scoring::{_scoring, PyScoring};
    #[pymodule_export]
    use crate::search::{_amplicon, MatchStream, PyAmplicon, PyMatch, PySearcher};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
