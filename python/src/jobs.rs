//! Work without the GIL. While it runs, the thread that asked for it looks for Ctrl-C.
//!
//! Work that may take long runs on a thread of its own, so that the asking thread can give up: what was begun then ends in
//! the background with its batch, and nothing waits for it.
//!
//! The threads of a pool do not live on in a process that `fork` made. There work runs in a fresh pool, one piece at a time:
//! a pool's thread that waits may take up another piece, and two pieces may wait for one lock.

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

/// How long nothing is asked of Python while work runs.
const WAIT: Duration = Duration::from_millis(50);
/// Work of so many cells takes no longer than that, and runs on the thread that asks for it.
const FEW_CELLS: u64 = 1 << 22;

/// Whether those who wait for some work have given up.
#[derive(Clone, Default)]
pub struct GivenUp(Arc<AtomicBool>);

impl GivenUp {
    /// The flag itself, for work that looks at it.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    pub fn is_true(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What `work` answers, of so many cells of the recurrence at most. A panic in it goes on here.
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
        // If nothing waits any more, nothing wants the answer.
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

/// The process in which work ran first.
static FIRST: AtomicU32 = AtomicU32::new(0);

/// Whether this process was forked from one in which work ran.
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
