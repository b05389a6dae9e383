//! The counters of the heap, if the process was started with the counting library (`netbench-heap` by `LD_PRELOAD`).

use std::mem;

use crate::allocator;

/// The allocations since the start of the process. The layout is that of `netbench-heap`.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct HeapCounts {
    pub(crate) allocations: u64,
    pub(crate) frees: u64,
    pub(crate) bytes_in_use: u64,
    pub(crate) peak_bytes: u64,
}

/// Returns the counters, or `None` if allocations are not counted. A linked allocator replaces the counting library.
pub(crate) fn counts() -> Option<HeapCounts> {
    if allocator::found() != "system" {
        return None;
    }
    // SAFETY: the call looks up a C string among the loaded symbols.
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

/// Resets the peak.
pub(crate) fn reset_peak() {
    // SAFETY: the call looks up a C string among the loaded symbols.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"netbench_heap_reset_peak".as_ptr()) };
    if !found.is_null() {
        // SAFETY: the library exports this name with this signature.
        let reset: extern "C" fn() = unsafe { mem::transmute(found) };
        reset();
    }
}
