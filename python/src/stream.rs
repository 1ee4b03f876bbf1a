//! An iterator in, an iterator out, in order: items are taken as answers are asked for, batch by batch.

use crate::errors::exception;
use pyo3::prelude::*;
use std::collections::VecDeque;
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

/// Answers `T` for the items that come from `S`.
pub struct Stream<S, T> {
    items: S,
    ready: VecDeque<PyResult<T>>,
    size: usize,
    ended: bool,
}

impl<S, T> Stream<S, T> {
    pub fn new(items: S) -> Stream<S, T> {
        Stream { items, ready: VecDeque::new(), size: FIRST, ended: false }
    }

    /// The next answer. `take` gives the next item and its letters, and `answer` the answers of a batch of so many letters.
    #[allow(clippy::type_complexity, reason = "an item that may be none or refused")]
    pub fn next<I>(
        &mut self,
        mut take: impl FnMut(&mut S) -> Option<PyResult<(usize, I)>>,
        mut answer: impl FnMut(Vec<I>, usize) -> PyResult<Vec<swalign::Result<T>>>,
    ) -> PyResult<Option<PyResult<T>>> {
        while self.ready.is_empty() && !self.ended {
            let begun = Instant::now();
            let (mut batch, mut refused, mut letters) = (Vec::new(), Vec::new(), 0);
            while refused.len() < self.size
                && letters < LETTERS
                && (refused.is_empty() || begun.elapsed() < PATIENCE)
            {
                match take(&mut self.items) {
                    None => {
                        self.ended = true;
                        break;
                    }
                    Some(Ok((len, item))) => {
                        letters += len;
                        batch.push(item);
                        refused.push(None);
                    }
                    Some(Err(error)) => refused.push(Some(error)),
                }
            }
            let begun = Instant::now();
            let answers = if batch.is_empty() { Vec::new() } else { answer(batch, letters)? };
            self.pace(begun.elapsed());
            let mut answers = answers.into_iter();
            for refused in refused {
                match refused {
                    Some(error) => self.ready.push_back(Err(error)),
                    // Fewer answers than items are those before a device failed.
                    None => self.ready.extend(answers.next().map(|answer| answer.map_err(exception))),
                }
            }
        }
        Ok(self.ready.pop_front())
    }

    fn pace(&mut self, took: Duration) {
        if took < SHORT {
            self.size = (self.size * 2).min(MOST);
        } else if took > 4 * SHORT {
            self.size = (self.size / 2).max(1);
        }
    }
}
