//! The heap's counters, where the process was started with the library that counts (`netbench-heap`
//! by `LD_PRELOAD`).

use std::mem;

use crate::allocator;

/// What has been allocated since the process began. The layout is `netbench-heap`'s.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct HeapCounts {
    pub(crate) allocations: u64,
    pub(crate) frees: u64,
    pub(crate) bytes_in_use: u64,
    pub(crate) peak_bytes: u64,
}

/// The counters; none where nobody counts. An allocator that is linked into the worker goes before the library that counts.
pub(crate) fn counts() -> Option<HeapCounts> {
    if allocator::found() != "system" {
        return None;
    }
    // SAFETY: a lookup of a C string in what is loaded.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"netbench_heap_counts".as_ptr()) };
    if found.is_null() {
        return None;
    }
    // SAFETY: the library exports this name with this signature.
    let read: extern "C" fn(*mut HeapCounts) = unsafe { mem::transmute(found) };
    let mut counts = HeapCounts::default();
    read(&raw mut counts);
    Some(counts)
}

/// Lets the peak begin anew.
pub(crate) fn reset_peak() {
    // SAFETY: a lookup of a C string in what is loaded.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"netbench_heap_reset_peak".as_ptr()) };
    if !found.is_null() {
        // SAFETY: the library exports this name with this signature.
        let reset: extern "C" fn() = unsafe { mem::transmute(found) };
        reset();
    }
}
