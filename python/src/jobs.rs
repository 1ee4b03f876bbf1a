//! Runs jobs without the GIL. While a job runs, the calling thread checks for Ctrl-C.
//!
//! A long job runs on its own thread, so that the calling thread can return early after Ctrl-C. The batch in
//! progress then finishes in the background, and its result is discarded.
//!
//! The threads of a pool do not exist in a forked process. There, jobs run in a new pool, one after another: a pool
//! thread that waits may start another job, and two jobs on one thread may wait for the same lock.

use crate::errors::DeviceError;
use pyo3::prelude::*;
use rayon::ThreadPool;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// Interval between checks for signals while a job runs.
const WAIT: Duration = Duration::from_millis(50);
/// Jobs of at most this many cells finish within that interval, and run on the calling thread.
const FEW_CELLS: u64 = 1 << 22;

/// A flag that tells a job that its result is no longer needed.
#[derive(Clone, Default)]
pub struct GivenUp(Arc<AtomicBool>);

impl GivenUp {
    /// The flag, for jobs that check it themselves.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    pub fn is_true(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs `work`, which computes at most `cells` cells of the recurrence, and returns its result. Resumes a panic of
/// `work` on the calling thread.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    cells: u64,
    work: impl FnOnce(&GivenUp) -> T + Send + 'static,
) -> PyResult<T> {
    let given_up = GivenUp::default();
    if cells <= FEW_CELLS && !is_forked() {
        return Ok(py.detach(move || work(&given_up)));
    }
    let (sender, mut receiver) = sync_channel(1);
    let seen = given_up.clone();
    let begin = move || {
        // Sending fails if the caller has returned after Ctrl-C. The result is then discarded.
        let _ = sender.send(catch_unwind(AssertUnwindSafe(|| in_a_pool(|| work(&seen)))));
    };
    let started = thread::Builder::new().name("pyswalign".to_string()).spawn(begin);
    started.map_err(|error| DeviceError::new_err(format!("no thread could be started: {error}")))?;
    loop {
        let answer;
        (receiver, answer) = py.detach(move || {
            let answer = receiver.recv_timeout(WAIT);
            (receiver, answer)
        });
        match answer {
            Ok(Ok(done)) => return Ok(done),
            Ok(Err(panic)) => resume_unwind(panic as Box<dyn Any + Send>),
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals().inspect_err(|_| given_up.0.store(true, Ordering::Relaxed))?;
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(DeviceError::new_err("the working thread ended without an answer"));
            }
        }
    }
}

/// Id of the process that ran the first job; 0 before it.
static FIRST: AtomicU32 = AtomicU32::new(0);

/// Whether this process was forked from a process that had run a job.
pub fn is_forked() -> bool {
    let own = process::id();
    match FIRST.compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => false,
        Err(first) => first != own,
    }
}

fn in_a_pool<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    static OWN: OnceLock<Option<ThreadPool>> = OnceLock::new();
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    if !is_forked() {
        return work();
    }
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    match OWN.get_or_init(|| rayon::ThreadPoolBuilder::new().build().ok()) {
        Some(pool) => pool.install(work),
        None => work(),
    }
}
