//! Values that threads share, copied by each thread: a common lock for each query would keep many threads waiting.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::LocalKey;

/// Number of copies of a thread.
const SLOTS: usize = 256;

/// Copies of one thread. Each key has a slot, which contains the copy for the key that was asked for last.
pub struct OwnCopies<K, V> {
    slots: Vec<Option<Copied<K, V>>>,
}

struct Copied<K, V> {
    owner: Owner,
    key: K,
    value: V,
}

/// The owner of shared values, by its number in the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner(u64);

impl Owner {
    pub fn next() -> Owner {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Owner(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl<K, V> OwnCopies<K, V> {
    pub const fn new() -> OwnCopies<K, V> {
        OwnCopies { slots: Vec::new() }
    }
}

/// The value of `owner` for a key, whose slot is `slot` modulo the number of slots. `find` finds what is not copied yet, and may
/// itself ask for copies.
pub fn own_copy<K: PartialEq, V: Clone>(
    own: &'static LocalKey<RefCell<OwnCopies<K, V>>>,
    (owner, key, slot): (Owner, K, usize),
    find: impl FnOnce() -> V,
) -> V {
    let slot = slot % SLOTS;
    let copied = own.with_borrow(|own| {
        let copied = own.slots.get(slot)?.as_ref()?;
        (copied.owner == owner && copied.key == key).then(|| copied.value.clone())
    });
    copied.unwrap_or_else(|| {
        let value = find();
        let copied = Copied { owner, key, value: value.clone() };
        own.with_borrow_mut(|own| {
            own.slots.resize_with(SLOTS, || None);
            own.slots[slot] = Some(copied);
        });
        value
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_serves_only_its_owner_and_key() {
        thread_local! {
            static OWN: RefCell<OwnCopies<usize, (Owner, usize)>> = const { RefCell::new(OwnCopies::new()) };
        }
        let [one, other] = [Owner::next(), Owner::next()];
        let mut asked = Vec::new();
        let lookups =
            [(one, 5), (one, 5), (other, 5), (one, 5), (one, 5 + SLOTS), (one, 5), (one, 6), (one, 5)];
        for (owner, key) in lookups {
            let value = own_copy(&OWN, (owner, key, key), || {
                asked.push((owner, key));
                (owner, key)
            });
            assert_eq!(value, (owner, key));
        }
        let found = [(one, 5), (other, 5), (one, 5), (one, 5 + SLOTS), (one, 5), (one, 6)];
        assert_eq!(asked, found);
    }
}
