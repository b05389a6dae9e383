//! Counts every allocation of a process that is started with this library in `LD_PRELOAD`:
//!
//! ```sh
//! LD_PRELOAD=target/release/libnetbench_heap.so some-worker
//! ```
//!
//! The process finds [`netbench_heap_counts`] and [`netbench_heap_reset_peak`] by `dlsym(RTLD_DEFAULT, …)`;
//! where it finds no symbol, allocations are not counted.
//!
//! Bytes are usable sizes (`malloc_usable_size`), not the requested sizes: the bytes that the allocator
//! rounds up are in use too. The allocator's headers (8 bytes a block in glibc) and the free blocks that it
//! keeps are not counted. Nor is memory that does not go through glibc's malloc: `mmap`, thread stacks, and
//! an allocator that is linked into the executable (jemalloc, mimalloc), under which the counts stay near
//! zero.
//!
//! This library must never be in a worker that is timed: each call pays for shared counters. Its hooks must
//! never allocate, panic, print, or use thread-local storage, because they run before `main` and inside the
//! allocator's callers. No crate may depend on this library, as that crate would then use these `malloc`s.
//!
//! Linux with glibc only; elsewhere the library is empty. Start reading at `hooks.rs`, which replaces malloc
//! and related functions; `counters.rs` has the counters.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

mod counters;
mod glibc;
mod hooks;

pub use counters::HeapCounts;

/// Writes the counts since the process began to `out`. They are exact while no other thread allocates.
///
/// # Safety
/// `out` is null, and ignored, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netbench_heap_counts(out: *mut HeapCounts) {
    if !out.is_null() {
        // SAFETY: the caller guarantees that `out` may be written to.
        unsafe { out.write(counters::read()) };
    }
}

/// Resets the peak to the bytes in use now. The reset is exact while no other thread allocates.
#[unsafe(no_mangle)]
pub extern "C" fn netbench_heap_reset_peak() {
    counters::reset_peak();
}
