//! Limits the number of ends that a scan may find, so that its memory is bounded even if nearly every position is an
//! end.

use super::PatternEnd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Ends that a thread finds before it updates the shared count.
const TOLD: usize = 1 << 12;

/// Capacity for the ends of a scan, shared by its threads. A scan that finds more stops early with an incomplete
/// result. The caller must then scan the text in shorter parts.
#[derive(Debug)]
pub struct EndCapacity {
    most: usize,
    taken: AtomicUsize,
    /// Set by a caller who no longer wants the answer.
    stop: Option<Arc<AtomicBool>>,
}

impl EndCapacity {
    pub fn of(most: usize) -> EndCapacity {
        EndCapacity { most, taken: AtomicUsize::new(0), stop: None }
    }

    /// Adds a flag that ends the scan as soon as it is set.
    pub fn until(self, stop: Option<Arc<AtomicBool>>) -> EndCapacity {
        EndCapacity { stop, ..self }
    }

    /// Whether the caller no longer wants the answer.
    pub fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    pub fn unlimited() -> EndCapacity {
        EndCapacity::of(usize::MAX)
    }

    /// Counts `ends` more ends.
    pub fn take(&self, ends: usize) {
        self.taken.fetch_add(ends, Ordering::Relaxed);
    }

    /// Whether the capacity is exceeded, or the answer is no longer wanted.
    pub fn is_over(&self) -> bool {
        self.taken.load(Ordering::Relaxed) > self.most || self.is_stopped()
    }

    pub fn left(&self) -> usize {
        self.most.saturating_sub(self.taken.load(Ordering::Relaxed))
    }
}

/// The ends that one thread finds.
#[derive(Debug)]
pub struct ThreadEnds<'a> {
    room: &'a EndCapacity,
    ends: Vec<PatternEnd>,
    /// Number of its ends that the shared count includes.
    told: usize,
    over: bool,
}

impl<'a> ThreadEnds<'a> {
    pub fn new(room: &'a EndCapacity) -> ThreadEnds<'a> {
        ThreadEnds { room, ends: Vec::new(), told: 0, over: room.is_over() }
    }

    #[inline]
    pub fn push(&mut self, end: PatternEnd) {
        self.ends.push(end);
        if self.ends.len() - self.told >= TOLD {
            self.tell();
        }
    }

    /// Whether the capacity is exceeded, so that more ends are useless.
    #[inline]
    pub fn are_too_many(&self) -> bool {
        self.over
    }

    fn tell(&mut self) {
        self.room.take(self.ends.len() - self.told);
        self.told = self.ends.len();
        self.over = self.room.is_over();
    }

    pub fn finish(mut self) -> Vec<PatternEnd> {
        self.tell();
        self.ends
    }
}
