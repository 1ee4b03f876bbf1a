//! Host memory for the checkpoints of long alignments, shared by all device engines of a run.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Memory limit that concurrent callers share for checkpoints. A caller blocks until its share is free. It never holds
/// a share while it asks for another, so there is no deadlock.
pub struct EdgeRoom {
    bytes: u64,
    taken: Mutex<u64>,
    given_back: Condvar,
}

/// A caller's share, released on drop.
pub struct MemoryShare {
    room: Arc<EdgeRoom>,
    bytes: u64,
}

impl EdgeRoom {
    pub fn new(bytes: u64) -> EdgeRoom {
        EdgeRoom { bytes, taken: Mutex::new(0), given_back: Condvar::new() }
    }

    /// Takes a share of `bytes`, or of the whole limit if that is less.
    pub fn take(self: &Arc<Self>, bytes: u64) -> MemoryShare {
        let bytes = bytes.min(self.bytes);
        let mut taken = self.lock();
        while *taken + bytes > self.bytes {
            taken = self.given_back.wait(taken).unwrap_or_else(PoisonError::into_inner);
        }
        *taken += bytes;
        MemoryShare { room: Arc::clone(self), bytes }
    }

    /// The number is consistent even if a thread panicked while it held the lock.
    fn lock(&self) -> MutexGuard<'_, u64> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        *self.room.lock() -= self.bytes;
        self.room.given_back.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

    #[test]
    fn no_more_is_taken_than_there_is() {
        let room = Arc::new(EdgeRoom::new(10));
        let (now, most) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for worker in 0..8 {
                let (room, now, most) = (&room, &now, &most);
                scope.spawn(move || {
                    for turn in 0..200 {
                        // Some workers ask for more than the whole limit.
                        let bytes = [1, 3, 4, 10, 25][(worker + turn) % 5];
                        let taken = room.take(bytes);
                        most.fetch_max(now.fetch_add(taken.bytes, SeqCst) + taken.bytes, SeqCst);
                        now.fetch_sub(taken.bytes, SeqCst);
                    }
                });
            }
        });
        assert!(most.into_inner() <= 10);
        assert_eq!(*room.lock(), 0);
    }
}
