//! Parallel production of items that are consumed in order.

use std::sync::mpsc::sync_channel;
use std::thread;

use crate::failure::Failure;
use crate::numbers::{to_u64, to_usize};

/// Items of each thread that may wait for the consumer.
const WAITING: usize = 2;

/// Makes items `0..count` on threads and consumes them in order on the calling thread.
///
/// Thread `i` of `t` makes items `i`, `i + t`, `i + 2 t` and so on. At most three items of each thread are in memory. If
/// `consume` fails, the threads stop.
pub fn in_order<T: Send>(
    threads: usize,
    count: u64,
    make: impl Fn(u64) -> T + Sync,
    mut consume: impl FnMut(T) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let threads = threads.clamp(1, to_usize(count.max(1)));
    let make = &make;
    thread::scope(|scope| {
        let mut receivers = Vec::new();
        for first in 0..threads {
            let (sender, receiver) = sync_channel(WAITING);
            let work = move || {
                let mut numbers = (to_u64(first)..count).step_by(threads);
                // Sending fails after the consumer has failed.
                while let Some(number) = numbers.next()
                    && sender.send(make(number)).is_ok()
                {}
            };
            thread::Builder::new().spawn_scoped(scope, work).map_err(Failure::Thread)?;
            receivers.push(receiver);
        }
        for number in 0..count {
            let receiver = &receivers[to_usize(number % to_u64(threads))];
            // Receiving fails if the thread has panicked. The scope passes the panic on.
            let Ok(item) = receiver.recv() else { break };
            consume(item)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_arrive_in_order() {
        for threads in [1, 2, 3, 7] {
            for count in [0, 1, 2, 3, 50] {
                let mut items = Vec::new();
                let consume = |item| {
                    items.push(item);
                    Ok(())
                };
                assert!(in_order(threads, count, |number| number * number, consume).is_ok());
                assert_eq!(items, (0..count).map(|number| number * number).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_failure_ends_the_production() {
        let mut consumed = 0;
        let consume = |_| {
            consumed += 1;
            if consumed == 5 { Err(Failure::Usage("full".into())) } else { Ok(()) }
        };
        assert!(in_order(3, u64::MAX, |number| number, consume).is_err());
        assert_eq!(consumed, 5);
    }
}
