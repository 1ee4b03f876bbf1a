//! The threads of this process: the pool that parallel loops share, and a thread for each stage of a run.

use super::{Reporter, counted};
use crate::terms::error::{EngineError, Result};
use crate::terms::system::HAS_THREADS;
use std::error::Error as _;
use std::thread::{self, Builder, Scope, ScopedJoinHandle};

/// Maximum number of threads per core. More threads only cost memory and system time.
const THREADS_PER_CORE: usize = 4;

/// Sets the number of threads that parallel loops share, unless this process has set it before: the requested number,
/// but at most [`THREADS_PER_CORE`] per core. Returns that number.
///
/// They are the threads of rayon's global pool. No stage of a run may run on one of them: a pool's thread that waits
/// for a part of its loop may execute any other task of the pool. So such a task must not wait for a channel, or for a
/// lock that the first loop holds.
pub fn set_threads(asked: usize, reporter: &dyn Reporter) -> Result<usize> {
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
    let threads = asked.min(THREADS_PER_CORE * cores);
    if threads < asked {
        let of = counted(cores as u64, ["core", "cores"]);
        reporter.note(&format!("warning: {asked} threads are too many for {of}; continuing with {threads}"));
    }
    if !HAS_THREADS {
        return Ok(1);
    }
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build_global() {
        Err(error) if error.source().is_some() => {
            let threads = counted(threads as u64, ["thread", "threads"]);
            let text = format!("{threads} cannot be started: {error}; reduce --threads");
            Err(EngineError::Threads(text).into())
        }
        _ => Ok(threads),
    }
}

/// A stage that was started.
pub enum Started<'scope, T> {
    Beside(ScopedJoinHandle<'scope, T>),
    /// Without threads, a stage is complete when it was started.
    Done(T),
}

impl<T> Started<'_, T> {
    pub fn is_finished(&self) -> bool {
        match self {
            Started::Beside(thread) => thread.is_finished(),
            Started::Done(_) => true,
        }
    }

    /// Waits for the result of the stage. The error is that of a panic.
    pub fn join(self) -> thread::Result<T> {
        match self {
            Started::Beside(thread) => thread.join(),
            Started::Done(result) => Ok(result),
        }
    }
}

/// Starts a stage in a separate thread. Returns an error if the system cannot create a thread. Runs the stage at once if
/// there are no threads, so it must not wait for others.
pub fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    stage: impl FnOnce() -> T + Send + 'scope,
) -> Result<Started<'scope, T>> {
    if !HAS_THREADS {
        return Ok(Started::Done(stage()));
    }
    let refused = |error| {
        let text =
            format!("no thread can be started: {error}; raise the limit of memory or processes (ulimit)");
        EngineError::Threads(text).into()
    };
    Builder::new().spawn_scoped(scope, stage).map(Started::Beside).map_err(refused)
}
