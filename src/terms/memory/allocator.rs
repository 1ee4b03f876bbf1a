//! The allocator of the command. It ends the process with a message if memory is exhausted.

#[cfg(not(target_family = "wasm"))]
mod heap;

use super::handles_it;
use crate::terms::casts::to_usize;
#[cfg(not(target_family = "wasm"))]
use heap::Heap;
#[cfg(target_family = "wasm")]
use std::alloc::System as Heap;
use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::io::{self, Cursor, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;
use std::time::Duration;

thread_local! {
    /// Whether this thread is ending the process.
    static ENDS: Cell<bool> = const { Cell::new(false) };
}

/// Exit code if memory is exhausted.
static EXIT_CODE: AtomicI32 = AtomicI32::new(1);
/// Whether some thread is ending the process.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// Called before the process ends.
static LAST: OnceLock<fn()> = OnceLock::new();

/// mimalloc for small blocks and the system's allocator for large ones, for programs. It ends the process if memory is exhausted.
pub struct Allocator;

/// Sets the exit code for exhausted memory, which is 1 by default.
pub fn exit_with(code: u8) {
    EXIT_CODE.store(code.into(), Ordering::Relaxed);
}

/// Sets a function that is called before the process ends because memory is exhausted. It must not wait for other
/// threads.
pub fn before_the_end(last: fn()) {
    let _ = LAST.set(last);
}

// SAFETY: all calls are passed to the heap unchanged, and its results are returned unchanged. Ending the process instead of
// returning breaks no requirement of the trait.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to the requirements, which are the same.
        had(unsafe { Heap.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to the requirements, which are the same.
        had(unsafe { Heap.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: `memory` came from the heap with this layout, because this allocator passes on all calls; the caller
        // guarantees that `size` is not 0 and fits.
        had(unsafe { Heap.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: `memory` came from the heap with this layout, because this allocator passes on all calls.
        unsafe { Heap.dealloc(memory, layout) }
    }
}

/// Returns the memory of `size` bytes that the system allocated.
#[inline]
fn had(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() && !handles_it() {
        end(size);
    }
    memory
}

/// Reports that `size` bytes could not be allocated, and ends the process.
#[cold]
fn end(size: usize) {
    let code = EXIT_CODE.load(Ordering::Relaxed);
    // `LAST` may allocate memory, too.
    if ENDS.try_with(Cell::get).unwrap_or(true) {
        exit(code);
    }
    if IS_ENDING.swap(true, Ordering::SeqCst) {
        loop {
            thread::sleep(Duration::from_secs(1));
        }
    }
    ENDS.set(true);
    let mut text = [0; 200];
    let mut message = Cursor::new(&mut text[..]);
    let _ = writeln!(
        message,
        "swalign: error: out of memory: {size} more bytes could not be allocated; give the command more memory, or \
         fewer threads with -t"
    );
    let len = to_usize(message.position());
    say(&text[..len]);
    if let Some(last) = LAST.get() {
        last();
    }
    exit(code);
}

/// Writes to stderr without its lock, which a thread that waits for memory may hold.
#[cfg(unix)]
fn say(message: &[u8]) {
    let _ = rustix::io::write(io::stderr(), message);
}

#[cfg(not(unix))]
fn say(message: &[u8]) {
    let _ = io::stderr().write_all(message);
}

/// Ends the process immediately, because other threads are still running.
#[cfg(unix)]
fn exit(code: i32) -> ! {
    signal_hook::low_level::exit(code)
}

#[cfg(not(unix))]
fn exit(code: i32) -> ! {
    std::process::exit(code)
}
