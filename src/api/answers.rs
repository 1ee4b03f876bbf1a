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
    /// Whether more items must be processed to give the next answer.
    pub fn are_needed(&self) -> bool {
        self.ready.is_empty() && !self.has_failed
    }

    /// Adds the answers of a batch. For each item, `taken` says whether it is in the batch. Other items get an empty
    /// answer or their error. `answers` are those of the items in the batch.
    pub fn add(&mut self, taken: Vec<Result<bool>>, answers: Result<Vec<T>>) {
        match answers {
            Ok(answers) => {
                let mut answers = answers.into_iter();
                let answer = |taken: Result<bool>| match taken? {
                    true => Ok(answers.next().unwrap_or_default()),
                    false => Ok(T::default()),
                };
                self.ready.extend(taken.into_iter().map(answer));
            }
            Err(error) => {
                self.ready.push_back(Err(error));
                self.has_failed = true;
            }
        }
    }

    /// Returns the next answer.
    pub fn next(&mut self) -> Option<Result<T>> {
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
        assert!(answers.are_needed());
        answers.add(vec![Ok(true), Err(refused()), Ok(false), Ok(true)], Ok(vec![7, 8]));
        assert!(!answers.are_needed());
        let given: Vec<Option<i32>> = std::iter::from_fn(|| answers.next()).map(Result::ok).collect();
        assert_eq!(given, [Some(7), None, Some(0), Some(8)]);
        assert!(answers.are_needed());
        answers.add(vec![Ok(true), Ok(true)], Err(refused()));
        assert!(answers.next().is_some_and(|answer| answer.is_err()));
        assert!(answers.next().is_none() && !answers.are_needed());
    }
}
