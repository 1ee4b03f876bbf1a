//! Iterators over answers, in the order of their items. A stream reads the next batch of items when an answer is
//! requested and none is ready.

use crate::errors::exception;
use pyo3::prelude::*;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum number of items in the first batch, and in any batch.
const FIRST: usize = 32;
const MOST: usize = 4096;
/// A batch is complete when it has at least this many residues.
const LETTERS: usize = 1 << 22;
/// The next batch is twice as large if a batch takes less time, and half as large if it takes more than four times
/// longer. Batches are short, because a batch in progress runs to its end after Ctrl-C.
const SHORT: Duration = Duration::from_millis(250);
/// Maximum time that a batch waits for a slow source.
const PATIENCE: Duration = Duration::from_millis(100);

/// Answers `T` for the items `I` that come from `S`.
pub struct Stream<S, I, T> {
    items: S,
    /// Number of items read from the source.
    taken: usize,
    /// An interrupted batch, which has no answers yet.
    pending: Option<Taken<I>>,
    ready: VecDeque<PyResult<T>>,
    size: usize,
    ended: bool,
}

/// Items of a batch.
struct Taken<I> {
    batch: Arc<Vec<I>>,
    /// For each item, its error if it is invalid. Invalid items are not in the batch.
    refused: Vec<Option<PyErr>>,
    letters: usize,
}

/// Answers of a batch, or the exception that interrupted the computation.
type Answers<T> = PyResult<Vec<swalign::Result<T>>>;

impl<S, I, T> Stream<S, I, T> {
    pub fn new(items: S) -> Stream<S, I, T> {
        let (pending, ready) = (None, VecDeque::new());
        Stream { items, taken: 0, pending, ready, size: FIRST, ended: false }
    }

    /// Returns the next answer. `take` receives the index of the next item, and returns the item and its length in
    /// residues. While `waits` is true, a batch waits for a slow source without a time limit. `answer` receives a
    /// batch and its total length, and returns the answers. An interrupted batch is computed again when the next
    /// answer is requested. An error of `answer` itself ends the stream.
    #[allow(clippy::type_complexity, reason = "an item that may be none or refused")]
    pub fn next(
        &mut self,
        mut take: impl FnMut(&mut S, usize) -> Option<PyResult<(usize, I)>>,
        waits: impl Fn(&[I]) -> bool,
        mut answer: impl FnMut(Arc<Vec<I>>, usize) -> PyResult<Answers<T>>,
    ) -> PyResult<Option<PyResult<T>>> {
        while self.ready.is_empty() && (self.pending.is_some() || !self.ended) {
            let taken = match self.pending.take() {
                Some(taken) => taken,
                None => self.take(&mut take, &waits),
            };
            let begun = Instant::now();
            let answers = match taken.batch.is_empty() {
                true => Ok(Ok(Vec::new())),
                false => answer(Arc::clone(&taken.batch), taken.letters),
            };
            let answers = match answers {
                Ok(Ok(answers)) => answers,
                Ok(Err(interrupt)) => {
                    self.pending = Some(taken);
                    return Err(interrupt);
                }
                Err(error) => {
                    self.ended = true;
                    return Err(error);
                }
            };
            self.pace(begun.elapsed());
            let mut answers = answers.into_iter();
            for refused in taken.refused {
                let answer = match refused {
                    Some(error) => Some(Err(error)),
                    None => answers.next().map(|answer| answer.map_err(exception)),
                };
                // If there are fewer answers than items, the device has failed, and the last answer is the error.
                let Some(answer) = answer else {
                    self.ended = true;
                    break;
                };
                self.ready.push_back(answer);
            }
        }
        Ok(self.ready.pop_front())
    }

    #[allow(clippy::type_complexity, reason = "an item that may be none or refused")]
    fn take(
        &mut self,
        take: &mut impl FnMut(&mut S, usize) -> Option<PyResult<(usize, I)>>,
        waits: &impl Fn(&[I]) -> bool,
    ) -> Taken<I> {
        let begun = Instant::now();
        let (mut batch, mut refused, mut letters) = (Vec::new(), Vec::new(), 0);
        while refused.len() < self.size
            && letters < LETTERS
            && (refused.is_empty() || begun.elapsed() < PATIENCE || waits(&batch))
        {
            let Some(item) = take(&mut self.items, self.taken) else {
                self.ended = true;
                break;
            };
            self.taken += 1;
            match item {
                Ok((len, item)) => {
                    letters += len;
                    batch.push(item);
                    refused.push(None);
                }
                Err(error) => refused.push(Some(error)),
            }
        }
        Taken { batch: Arc::new(batch), refused, letters }
    }

    fn pace(&mut self, took: Duration) {
        if took < SHORT {
            self.size = (self.size * 2).min(MOST);
        } else if took > 4 * SHORT {
            self.size = (self.size / 2).max(1);
        }
    }
}
