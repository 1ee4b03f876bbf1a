//! The answers of an iterator that processes its items in batches.

use crate::terms::error::Result;
use std::collections::VecDeque;

/// Answers that are ready, in the order of their items. If a whole batch fails, its error is the last answer, because
/// later answers could not be assigned to their items.
#[derive(Debug)]
pub struct Answers<T> {
    ready: VecDeque<Result<T>>,
    has_failed: bool,
}

impl<T: Default> Answers<T> {
    /// Returns the next answer. If none is ready, `answer` processes the next batch. For each item, it returns whether
    /// the item is in the batch: other items get an empty answer or their error. Then it returns the answers of the items
    /// in the batch.
    pub fn next(
        &mut self,
        answer: impl FnOnce() -> (Vec<Result<bool>>, Result<Vec<T>>),
    ) -> Option<Result<T>> {
        if self.ready.is_empty() && !self.has_failed {
            match answer() {
                (taken, Ok(answers)) => {
                    let mut answers = answers.into_iter();
                    let answer = |taken: Result<bool>| match taken? {
                        true => Ok(answers.next().unwrap_or_default()),
                        false => Ok(T::default()),
                    };
                    self.ready.extend(taken.into_iter().map(answer));
                }
                (_, Err(error)) => {
                    self.ready.push_back(Err(error));
                    self.has_failed = true;
                }
            }
        }
        self.ready.pop_front()
    }
}

impl<T> Default for Answers<T> {
    fn default() -> Answers<T> {
        Answers { ready: VecDeque::new(), has_failed: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::error::Error;

    #[test]
    fn nothing_comes_after_a_failure() {
        let refused = || Error::Usage("refused".into());
        let mut answers = Answers::default();
        let mut batches = vec![
            (vec![Ok(true), Ok(true)], Err(refused())),
            (vec![Ok(true), Err(refused()), Ok(false), Ok(true)], Ok(vec![7, 8])),
        ];
        let mut next = || answers.next(|| batches.pop().expect("a batch"));
        let given: Vec<Option<i32>> = (0..4).map(|_| next().and_then(Result::ok)).collect();
        assert_eq!(given, [Some(7), None, Some(0), Some(8)]);
        assert!(next().is_some_and(|answer| answer.is_err()));
        assert!(next().is_none() && next().is_none());
    }
}
