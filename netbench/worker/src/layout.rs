//! The start addresses of a process's stack and heap, and the state of its heap.

use std::{env, hint::black_box, mem};

use crate::random;

/// The environment variable with the seed of the layout; without it, the layout is the system's.
const VARIABLE: &str = "NETBENCH_LAYOUT";

/// Size of one step of the stack, in bytes.
const STEP: usize = 208;

/// Size of a block whose free makes glibc keep its heap, which works for blocks of up to 32 MiB.
const LARGE_BLOCK: usize = 16 << 20;

/// Number of holes in the heap of a process that has worked for a while.
const HOLES: usize = 256;

/// Size of a block between two holes, in bytes.
const HOLE_END: usize = 64;

/// Powers of two between which the sizes of the holes lie, each equally likely.
const HOLE_BITS: [usize; 2] = [5, 16];

/// Runs `work` with the calling thread's stack and heap moved by an amount that comes from the variable.
///
/// The kernel moves both by whole pages only (ASLR), so a library's data keep their position within a page. A few bytes
/// more change which data share a cache line or a set of the cache, which can affect times by a percent (Mytkowicz,
/// Diwan, Hauswirth and Sweeney 2009, "Producing wrong data without doing anything obviously wrong").
pub(crate) fn with_layout(mut work: impl FnMut()) {
    let Some(seed) = seed() else {
        work();
        return;
    };
    let heap_bytes = (seed & 0xfff) * 16 + 16;
    let block: Vec<u8> = Vec::with_capacity(usize::try_from(heap_bytes).unwrap_or(16));
    mem::forget(black_box(block));
    deeper((seed >> 12) & 0x1f, &mut work);
}

/// Brings the allocator into the state of a process that has worked for a while.
///
/// glibc returns the top of its heap to the system after every free above 128 KiB, until one large block has been
/// freed; from then on it keeps twice the size of that block. The state of a young process is random, and makes a
/// difference of a factor of 2.6 for a library that allocates for every record.
///
/// A young heap also has no holes, so the order of allocations determines the position of blocks, in every process
/// alike. rustls's plaintext then always begins a few bytes after its record, modulo the size of a page, which is the
/// slowest distance for a copy by `rep movsb` on some processors (glibc bug 30994). With a seed, the function first
/// makes holes of random sizes.
pub fn settle_heap(seed: Option<u64>) {
    drop(black_box(vec![1_u8; LARGE_BLOCK]));
    if let Some(mut state) = seed {
        make_holes(&mut state);
    }
}

fn make_holes(state: &mut u64) {
    let mut holes = Vec::with_capacity(HOLES);
    for _ in 0..HOLES {
        let bits = HOLE_BITS[0] + random::below(state, HOLE_BITS[1] - HOLE_BITS[0]);
        let bytes = (1 << bits) + random::below(state, 1 << bits);
        holes.push(black_box(Vec::<u8>::with_capacity(bytes)));
        // The block between two holes keeps them apart.
        mem::forget(black_box(Vec::<u8>::with_capacity(HOLE_END)));
    }
}

/// Returns the seed of this process's layout, or `None` if the layout is the system's.
pub(crate) fn seed() -> Option<u64> {
    env::var(VARIABLE).ok()?.parse().ok()
}

#[inline(never)]
fn deeper(steps: u64, work: &mut dyn FnMut()) {
    let bytes = black_box([0u8; STEP]);
    match steps.checked_sub(1) {
        Some(left) => deeper(left, work),
        None => work(),
    }
    black_box(&bytes);
}
