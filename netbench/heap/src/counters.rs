use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counts of the process's allocations. They are read with [`crate::netbench_heap_counts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct HeapCounts {
    /// Blocks allocated. A `realloc` that moves or enlarges a block allocates one and frees one.
    pub allocations: u64,
    /// Blocks freed: `allocations - frees` are in use.
    pub frees: u64,
    /// Usable bytes of the blocks in use now.
    pub bytes_in_use: u64,
    /// The maximum of `bytes_in_use` since the process began or the peak was reset. A block that
    /// `realloc` moves is not counted twice while it is copied.
    pub peak_bytes: u64,
}

// All threads share one counter: only then is the peak exact.
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static FREES: AtomicU64 = AtomicU64::new(0);
static BYTES_IN_USE: AtomicU64 = AtomicU64::new(0);
static PEAK_BYTES: AtomicU64 = AtomicU64::new(0);

/// Counts an allocated block. It is called after the allocator has made the block.
pub(crate) fn allocated(usable_bytes: usize) {
    ALLOCATIONS.fetch_add(1, Relaxed);
    grow(usable_bytes as u64);
}

/// Counts a freed block. It is called before the block is freed: afterwards another thread may have
/// the block and have counted it.
pub(crate) fn freed(usable_bytes: usize) {
    FREES.fetch_add(1, Relaxed);
    BYTES_IN_USE.fetch_sub(usable_bytes as u64, Relaxed);
}

/// Whether a block that was resized is the same one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resize {
    InPlace,
    Moved,
}

/// Counts a resized block.
pub(crate) fn resized(resize: Resize, old_bytes: usize, new_bytes: usize) {
    if resize == Resize::Moved || new_bytes > old_bytes {
        ALLOCATIONS.fetch_add(1, Relaxed);
        FREES.fetch_add(1, Relaxed);
    }
    if new_bytes > old_bytes {
        grow((new_bytes - old_bytes) as u64);
    } else {
        BYTES_IN_USE.fetch_sub((old_bytes - new_bytes) as u64, Relaxed);
    }
}

pub(crate) fn read() -> HeapCounts {
    // Frees are read before allocations, and the peak last, so that neither difference is ever
    // below zero.
    let frees = FREES.load(Relaxed);
    let allocations = ALLOCATIONS.load(Relaxed);
    let bytes_in_use = BYTES_IN_USE.load(Relaxed);
    HeapCounts {
        allocations: allocations.max(frees),
        frees,
        bytes_in_use,
        peak_bytes: PEAK_BYTES.load(Relaxed).max(bytes_in_use),
    }
}

pub(crate) fn reset_peak() {
    PEAK_BYTES.store(BYTES_IN_USE.load(Relaxed), Relaxed);
    // Another thread may have increased the count in between and lost its peak to the store.
    PEAK_BYTES.fetch_max(BYTES_IN_USE.load(Relaxed), Relaxed);
}

fn grow(bytes: u64) {
    let in_use = BYTES_IN_USE.fetch_add(bytes, Relaxed).wrapping_add(bytes);
    // Most calls are below the peak, and a load is cheaper than an atomic maximum.
    if in_use > PEAK_BYTES.load(Relaxed) {
        PEAK_BYTES.fetch_max(in_use, Relaxed);
    }
}
