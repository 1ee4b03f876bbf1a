//! Out of memory: the command ends with a message and an exit code, and leaves no partial files.
//!
//! If the input determines the size of an allocation, the caller may fail ([`may_fail`]), and names the record. All
//! other failed allocations end the process in the command's allocator. By default, Rust would abort.

#[cfg(feature = "cli")]
mod allocator;

#[cfg(feature = "cli")]
pub use allocator::{Allocator, before_the_end, exit_with};

use std::cell::Cell;

thread_local! {
    static MAY_FAIL: Cell<bool> = const { Cell::new(false) };
}

/// Runs `take`, which handles failed allocations on its own, like `Vec::try_reserve`.
pub fn may_fail<T>(take: impl FnOnce() -> T) -> T {
    let before = MAY_FAIL.replace(true);
    let taken = take();
    MAY_FAIL.set(before);
    taken
}

/// Whether this thread handles failed allocations on its own.
#[cfg(feature = "cli")]
fn handles_it() -> bool {
    MAY_FAIL.try_with(Cell::get).unwrap_or(false)
}
