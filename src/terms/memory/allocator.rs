//! The allocator of the command. Without memory it ends the process with a message.

use super::handles_it;
use crate::terms::casts::to_usize;
use std::alloc::{GlobalAlloc, Layout, System};
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

/// The exit code of a process without memory.
static EXIT_CODE: AtomicI32 = AtomicI32::new(1);
/// Whether some thread is ending the process.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// Called before the process ends.
static LAST: OnceLock<fn()> = OnceLock::new();

/// The system's allocator, for programs. Without memory it ends the process.
pub struct Allocator;

/// From now on a process without memory ends with `code` instead of 1.
pub fn exit_with(code: u8) {
    EXIT_CODE.store(code.into(), Ordering::Relaxed);
}

/// From now on `last` is called before a process without memory ends. It must wait for no other thread.
pub fn before_the_end(last: fn()) {
    let _ = LAST.set(last);
}

// SAFETY: all calls go to the system's allocator unchanged, and its answers come back unchanged. A process that ends
// instead of an answer breaks no promise of the trait.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller promises a layout of some bytes, which is all that the system's `alloc` wants.
        had(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller promises a layout of some bytes, which is all that the system's `alloc_zeroed` wants.
        had(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: `memory` came from the system's allocator with this layout, since this one passes all calls on; that
        // `size` is not 0 and fits is the caller's promise.
        had(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: `memory` came from the system's allocator with this layout, since this one passes all calls on.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// The memory of `size` bytes that the system gave.
#[inline]
fn had(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() && !handles_it() {
        end(size);
    }
    memory
}

/// Says that `size` bytes could not be had, and ends the process.
#[cold]
fn end(size: usize) {
    let code = EXIT_CODE.load(Ordering::Relaxed);
    // `LAST` may want memory, too.
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

/// Ends the process at once: other threads are in the middle of their work.
#[cfg(unix)]
fn exit(code: i32) -> ! {
    signal_hook::low_level::exit(code)
}

#[cfg(not(unix))]
fn exit(code: i32) -> ! {
    std::process::exit(code)
}
