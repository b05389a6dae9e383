//! Where in memory a process' stack and heap begin, and what its heap looks like.

use std::{env, hint::black_box, mem};

use crate::random;

/// The variable with a number from which the layout is made; without it, it is the system's.
const VARIABLE: &str = "NETBENCH_LAYOUT";

/// Bytes of one step of the stack.
const STEP: usize = 208;

/// Freed once, has glibc keep its heap. It minds blocks of up to 32 MiB.
const LARGE_BLOCK: usize = 16 << 20;

/// Holes in the heap of a process that has worked for a while.
const HOLES: usize = 256;

/// Bytes of a block between two holes.
const HOLE_END: usize = 64;

/// The sizes of the holes are between these powers of two, each as likely.
const HOLE_BITS: [usize; 2] = [5, 16];

/// Does `work` with the calling thread's stack and heap moved by an amount that comes from the variable.
///
/// The kernel moves both by whole pages only (ASLR), and within a page a library's data lie as before. A
/// few bytes more change what shares a cache line or a set of the cache, which can be worth a percent
/// (Mytkowicz, Diwan, Hauswirth and Sweeney 2009, "Producing wrong data without doing anything
/// obviously wrong").
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
/// glibc gives the top of its heap back to the system after every free beyond 128 KiB, until one large block has
/// been freed; from then on it keeps twice as much. Which of the two a young process does is chance, and is worth
/// a factor of 2.6 to a library that allocates for every record.
///
/// A young heap has no holes either, so that blocks lie where the order of allocations puts them, in every
/// process alike. rustls' plaintext then always begins a few bytes after its record, modulo the size of a page, which is the
/// slowest distance for a copy by `rep movsb` on some processors (glibc bug 30994). With a seed, holes of random
/// sizes are made first.
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
        // What stays between two holes keeps them apart.
        mem::forget(black_box(Vec::<u8>::with_capacity(HOLE_END)));
    }
}

/// What this process' layout is made from; none where it is left to the system.
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
