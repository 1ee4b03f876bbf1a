//! How much of the host's memory the edges of long alignments may take, for all engines of a run on devices.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Room for edges, which who needs some waits for. Nobody asks for more while he has some, so all get on.
pub struct EdgeRoom {
    bytes: u64,
    taken: Mutex<u64>,
    given_back: Condvar,
}

/// What was taken of it, until it is dropped.
pub struct Taken {
    room: Arc<EdgeRoom>,
    bytes: u64,
}

impl EdgeRoom {
    pub fn new(bytes: u64) -> EdgeRoom {
        EdgeRoom { bytes, taken: Mutex::new(0), given_back: Condvar::new() }
    }

    /// Takes so many bytes, or all of them where there are not so many.
    pub fn take(self: &Arc<Self>, bytes: u64) -> Taken {
        let bytes = bytes.min(self.bytes);
        let mut taken = self.lock();
        while *taken + bytes > self.bytes {
            taken = self.given_back.wait(taken).unwrap_or_else(PoisonError::into_inner);
        }
        *taken += bytes;
        Taken { room: Arc::clone(self), bytes }
    }

    /// A number is whole whoever panicked.
    fn lock(&self) -> MutexGuard<'_, u64> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Taken {
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
                        // Now and then more than there is at all.
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
