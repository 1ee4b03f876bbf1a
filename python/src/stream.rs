//! An iterator in, an iterator out, in order: items are taken as answers are asked for, batch by batch.

use crate::errors::exception;
use pyo3::prelude::*;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Items of the first batch, and of any.
const FIRST: usize = 32;
const MOST: usize = 4096;
/// Letters of a batch, at most, but for an item that is longer.
const LETTERS: usize = 1 << 22;
/// Batches grow while they take less, and shrink where they take more than four times as long: what is begun should
/// end soon where nothing waits for it any more.
const SHORT: Duration = Duration::from_millis(250);
/// A batch waits no longer for items that come slowly.
const PATIENCE: Duration = Duration::from_millis(100);

/// Answers `T` for the items `I` that come from `S`.
pub struct Stream<S, I, T> {
    items: S,
    /// Items that were taken from the source.
    taken: usize,
    /// Items without answers: an interrupted batch.
    pending: Option<Taken<I>>,
    ready: VecDeque<PyResult<T>>,
    size: usize,
    ended: bool,
}

/// Items of a batch.
struct Taken<I> {
    batch: Arc<Vec<I>>,
    /// Of each item the error if it was refused, and so is not in the batch.
    refused: Vec<Option<PyErr>>,
    letters: usize,
}

/// Answers of a batch, or the exception that interrupted the work.
type Answers<T> = PyResult<Vec<swalign::Result<T>>>;

impl<S, I, T> Stream<S, I, T> {
    pub fn new(items: S) -> Stream<S, I, T> {
        let (pending, ready) = (None, VecDeque::new());
        Stream { items, taken: 0, pending, ready, size: FIRST, ended: false }
    }

    /// The next answer. `take` gives the next item, whose number it is told, and its letters. A batch waits for items that
    /// come slowly while `waits` says so. `answer` gives the answers of a batch of so many letters. An interrupted batch is
    /// worked on again when the next answer is asked for; an error of `answer` itself ends the stream.
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
                // Fewer answers than items end with the failure of a device.
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
