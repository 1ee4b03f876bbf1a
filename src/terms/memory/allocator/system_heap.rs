//! A page has one thread and the allocator of the standard library.

use std::alloc::{GlobalAlloc, Layout, System};

/// # Safety
/// The requirements of [`GlobalAlloc::alloc`].
pub unsafe fn alloc(layout: Layout) -> *mut u8 {
    // SAFETY: the requirements are the same.
    unsafe { System.alloc(layout) }
}

/// # Safety
/// The requirements of [`GlobalAlloc::alloc_zeroed`].
pub unsafe fn alloc_zeroed(layout: Layout) -> *mut u8 {
    // SAFETY: the requirements are the same.
    unsafe { System.alloc_zeroed(layout) }
}

/// # Safety
/// The requirements of [`GlobalAlloc::realloc`].
pub unsafe fn realloc(memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
    // SAFETY: the requirements are the same.
    unsafe { System.realloc(memory, layout, size) }
}

/// # Safety
/// The requirements of [`GlobalAlloc::dealloc`].
pub unsafe fn dealloc(memory: *mut u8, layout: Layout) {
    // SAFETY: the requirements are the same.
    unsafe { System.dealloc(memory, layout) }
}
