//! Memory that can't be had ends the command with a message and an exit code, and leaves nothing behind.
//!
//! Where the input decides how much is taken, the caller asks first ([`may_fail`]) and names the record. The command's
//! allocator is for all others: by itself Rust aborts the process then.

#[cfg(feature = "cli")]
mod allocator;

#[cfg(feature = "cli")]
pub use allocator::{Allocator, before_the_end, exit_with};

use std::cell::Cell;

thread_local! {
    static MAY_FAIL: Cell<bool> = const { Cell::new(false) };
}

/// Runs `take`, which answers for itself where there is no memory: `Vec::try_reserve` and its kin.
pub fn may_fail<T>(take: impl FnOnce() -> T) -> T {
    let before = MAY_FAIL.replace(true);
    let taken = take();
    MAY_FAIL.set(before);
    taken
}

/// Whether this thread runs work that answers for itself where there is no memory.
#[cfg(feature = "cli")]
fn answers_for_itself() -> bool {
    MAY_FAIL.try_with(Cell::get).unwrap_or(false)
}
