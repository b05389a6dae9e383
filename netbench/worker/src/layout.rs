//! Where in memory a process' stack and heap begin.

use std::{env, hint::black_box, mem};

/// The variable with a number from which the layout is made; without it, it is the system's.
const VARIABLE: &str = "NETBENCH_LAYOUT";

/// Bytes of one step of the stack.
const STEP: usize = 208;

/// Does `work` with the calling thread's stack and heap moved by an amount that comes from the variable.
///
/// The kernel moves both by whole pages only (ASLR), and within a page a library's data lie as before. A
/// few bytes more change what shares a cache line or a set of the cache, which can be worth a percent
/// (Mytkowicz, Diwan, Hauswirth and Sweeney 2009, "Producing wrong data without doing anything
/// obviously wrong").
pub(crate) fn with_layout(mut work: impl FnMut()) {
    let Some(seed) = env::var(VARIABLE)
        .ok()
        .and_then(|text| text.parse::<u64>().ok())
    else {
        work();
        return;
    };
    let heap_bytes = (seed & 0xfff) * 16 + 16;
    let block: Vec<u8> = Vec::with_capacity(usize::try_from(heap_bytes).unwrap_or(16));
    mem::forget(black_box(block));
    deeper((seed >> 12) & 0x1f, &mut work);
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
