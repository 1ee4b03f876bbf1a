//! Where blocks come from: small ones from mimalloc, and large ones from the system's allocator.
//!
//! The threads of a run free small blocks that others have allocated, for which glibc takes locks. Large blocks grow in place
//! with glibc, which moves pages and copies nothing.

use libmimalloc_sys::mi_is_in_heap_region;
use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of the smallest large block.
const LARGE: usize = 1 << 15;
/// Whether small blocks ever came from the system, because mimalloc had no memory. It takes at least 32 MiB at once, which a
/// limit on address space may refuse.
static FELL_BACK: AtomicBool = AtomicBool::new(false);

fn is_large(size: usize) -> bool {
    size >= LARGE
}

/// Whether a block of `size` bytes came from the system.
fn is_of_system(memory: *mut u8, size: usize) -> bool {
    // SAFETY: any address may be asked about.
    is_large(size) || (FELL_BACK.load(Ordering::Relaxed) && !unsafe { mi_is_in_heap_region(memory.cast()) })
}

/// A block of `size` bytes. Small blocks come from mimalloc, or from the system if mimalloc has none.
#[inline]
fn block(
    size: usize,
    from_mimalloc: impl FnOnce() -> *mut u8,
    from_system: impl FnOnce() -> *mut u8,
) -> *mut u8 {
    if is_large(size) {
        return from_system();
    }
    let memory = from_mimalloc();
    if memory.is_null() { fall_back(from_system) } else { memory }
}

#[cold]
fn fall_back(from_system: impl FnOnce() -> *mut u8) -> *mut u8 {
    // Before a thread gets the block, it sees that there are such blocks.
    FELL_BACK.store(true, Ordering::SeqCst);
    from_system()
}

/// Both allocators.
pub struct Heap;

// SAFETY: each block comes from one of two allocators that fulfil the requirements, and goes back to the same one.
unsafe impl GlobalAlloc for Heap {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees a layout of nonzero size.
        block(layout.size(), || unsafe { MiMalloc.alloc(layout) }, || unsafe { System.alloc(layout) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let from_mimalloc = || {
            // SAFETY: the caller guarantees a layout of nonzero size.
            unsafe { MiMalloc.alloc_zeroed(layout) }
        };
        // SAFETY: as above.
        block(layout.size(), from_mimalloc, || unsafe { System.alloc_zeroed(layout) })
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let of_system = is_of_system(memory, layout.size());
        if of_system && is_large(size) {
            // SAFETY: the block came from the system with this layout.
            return unsafe { System.realloc(memory, layout, size) };
        }
        if !of_system && !is_large(size) {
            // SAFETY: the block came from mimalloc with this layout.
            let moved = unsafe { MiMalloc.realloc(memory, layout, size) };
            if !moved.is_null() {
                return moved;
            }
        }
        // SAFETY: the caller guarantees that `size` is not 0 and fits with this alignment. Both blocks have the bytes that are
        // copied, and the old one is given back once.
        unsafe {
            let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !moved.is_null() {
                ptr::copy_nonoverlapping(memory, moved, layout.size().min(size));
                self.dealloc(memory, layout);
            }
            moved
        }
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the block came from the system or from mimalloc with this layout.
        unsafe {
            if is_of_system(memory, layout.size()) {
                System.dealloc(memory, layout);
            } else {
                MiMalloc.dealloc(memory, layout);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks keep their bytes from size to size, across the border to large blocks, and also if some came from the system.
    #[test]
    fn blocks_keep_their_bytes() {
        let sizes = [1, 40, LARGE - 1, LARGE, 5 * LARGE, LARGE, LARGE - 1, 3 * LARGE, 17, LARGE + 1, 3];
        for align in [1, 8, 64, 4096] {
            for fell_back in [false, true] {
                let layout = |size| Layout::from_size_align(size, align).unwrap();
                // SAFETY: the sizes are not 0, each block is given back once with its last layout, and only its bytes are
                // read and written.
                unsafe {
                    let first = layout(sizes[0]);
                    let mut memory = match fell_back {
                        true => fall_back(|| System.alloc_zeroed(first)),
                        false => Heap.alloc_zeroed(first),
                    };
                    memory.write(7);
                    for pair in sizes.windows(2) {
                        memory = Heap.realloc(memory, layout(pair[0]), pair[1]);
                        assert!(memory.addr().is_multiple_of(align));
                        let kept = pair[0].min(pair[1]);
                        let last = memory.add(kept - 1).read();
                        assert!(memory.read() == 7 && (kept == 1 || last == 0 || last == 7 || last == 9));
                        memory.add(1).write_bytes(0, pair[1] - 1);
                        memory.add(pair[1] - 1).write(9);
                        memory.write(7);
                    }
                    Heap.dealloc(memory, layout(sizes[sizes.len() - 1]));
                }
            }
        }
    }
}
