//! Without memory the command ends with a message and an exit code, and leaves nothing behind.
//!
//! Where the input decides how much memory is taken, the caller may fail ([`may_fail`]), and names the record. All other
//! allocations end the process in the command's allocator. By itself Rust would abort.

#[cfg(feature = "cli")]
mod allocator;

#[cfg(feature = "cli")]
pub use allocator::{Allocator, before_the_end, exit_with};

use std::cell::Cell;

thread_local! {
    static MAY_FAIL: Cell<bool> = const { Cell::new(false) };
}

/// Runs `take`, which handles a lack of memory by itself, as `Vec::try_reserve` does.
pub fn may_fail<T>(take: impl FnOnce() -> T) -> T {
    let before = MAY_FAIL.replace(true);
    let taken = take();
    MAY_FAIL.set(before);
    taken
}

/// Whether this thread runs work that handles a lack of memory by itself.
#[cfg(feature = "cli")]
fn handles_it() -> bool {
    MAY_FAIL.try_with(Cell::get).unwrap_or(false)
}
