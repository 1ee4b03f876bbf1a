//! GPUs that are being opened, one after another by a thread of its own: the first can work while the driver,
//! which takes a while for each and does not open two at once, is busy with the next.

use crate::engine::gpu::{Adapter, Card};
use crate::error::EngineError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

type Opened = Result<Arc<Card>, EngineError>;

/// A GPU that is open or will be.
pub struct Opening {
    /// The adapter's name.
    pub name: String,
    card: Mutex<State>,
    /// Ends with the last of those that are opened together.
    _opener: Arc<Opener>,
}

enum State {
    Awaited(Receiver<Opened>),
    Done(Opened),
}

/// The thread that opens; a process must not end while a driver opens a device.
struct Opener {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Opener {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // What it opened was taken or is not wanted.
            let _ = thread.join();
        }
    }
}

impl Opening {
    /// Begins to open the best real GPU.
    pub fn best(checked: bool) -> Result<Vec<Opening>, EngineError> {
        Ok(open(vec![Adapter::best()?], checked))
    }

    /// Begins to open every real GPU.
    pub fn all(checked: bool) -> Result<Vec<Opening>, EngineError> {
        Ok(open(Adapter::all()?, checked))
    }

    /// Begins to open the adapters that `names` name.
    pub fn named(names: &[String], checked: bool) -> Result<Vec<Opening>, EngineError> {
        Ok(open(Adapter::named(names)?, checked))
    }

    /// Waits until it is open.
    pub fn card(&self) -> Opened {
        let lost = || EngineError::Lost("the driver failed while it was opened".to_string());
        let mut state = self.card.lock().map_err(|_| lost())?;
        if let State::Awaited(card) = &*state {
            *state = State::Done(card.recv().unwrap_or_else(|_| Err(lost())));
        }
        match &*state {
            State::Done(card) => card.clone(),
            State::Awaited(_) => Err(lost()),
        }
    }
}

fn open(adapters: Vec<Adapter>, checked: bool) -> Vec<Opening> {
    let (to, from): (Vec<_>, Vec<_>) = adapters.iter().map(|_| channel()).unzip();
    let names: Vec<String> = adapters.iter().map(Adapter::name).collect();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let thread = thread::spawn(move || {
        for (adapter, to) in adapters.iter().zip(to) {
            if stopped.load(Ordering::Relaxed) {
                return;
            }
            // Nobody may want it any more.
            let _ = to.send(Card::on(adapter, checked));
        }
    });
    let opener = Arc::new(Opener { stop, thread: Some(thread) });
    let opening =
        |(name, card)| Opening { name, card: Mutex::new(State::Awaited(card)), _opener: Arc::clone(&opener) };
    names.into_iter().zip(from).map(opening).collect()
}
