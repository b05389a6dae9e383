use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use netbench_tls::ReferenceFigures;

use crate::{clock, random};

/// Minimum interval between executions of the loops: all three take some 8 µs, which would dominate short operations.
const EVERY: Duration = Duration::from_micros(100);

/// Maximum number of executions after one long operation.
const AT_ONCE: u128 = 6;

/// Number of multiplications in a chain: some 3 µs.
const MULTIPLICATIONS: u32 = 2_048;

/// Number of untimed multiplications after an operation: some 7 µs. A processor lowers a core's clock for code with
/// AVX-512, and raises it again some microseconds later: loops that began 0.7 µs after AES-128-GCM or RSA took 7.6 %
/// longer, as at 3.9 in place of 4.2 GHz, and the library looked like a disturbance of the machine.
const SETTLING_MULTIPLICATIONS: u32 = 6_144;

/// Number of passes over the blocks of AES: some 2 µs.
const PASSES: u32 = 6;

/// Number of AES blocks of 16 bytes each.
const BLOCKS: usize = 256;

/// Number of dependent loads: some 1.5 µs.
const LOADS: u32 = 1_024;

/// Size of the chain in bytes: half of a first-level cache.
const CHAIN_BYTES: usize = 16 << 10;

/// Size of a cache line, in bytes.
const LINE: usize = 64;

/// Number of lines of the chain.
const LINES: u32 = (CHAIN_BYTES / LINE) as u32;

/// Loops of fixed work that run between operations: the same machine code in every worker, so that what
/// they take depends on the speed of the core and not on the library.
pub(crate) struct Reference {
    blocks: [[u8; 16]; BLOCKS],
    /// The index of the next line, for each line.
    chain: Vec<[u32; LINE / 4]>,
    at: u32,
    last: Instant,
    integer_ns: Vec<u64>,
    aes_ns: Vec<u64>,
    memory_ns: Vec<u64>,
}

impl Reference {
    pub(crate) fn new() -> Self {
        Self {
            blocks: [[0x5a; 16]; BLOCKS],
            chain: chain(LINES as usize),
            at: 0,
            last: Instant::now(),
            integer_ns: Vec::new(),
            aes_ns: Vec::new(),
            memory_ns: Vec::new(),
        }
    }

    /// Starts a turn.
    pub(crate) fn begin(&mut self) {
        self.last = Instant::now();
        for timings in [&mut self.integer_ns, &mut self.aes_ns, &mut self.memory_ns] {
            timings.clear();
        }
    }

    /// Runs the loops as many times as are due after an operation.
    pub(crate) fn after_operation(&mut self) {
        let due = self.last.elapsed().as_nanos() / EVERY.as_nanos();
        if due == 0 {
            return;
        }
        black_box(multiply(black_box(SETTLING_MULTIPLICATIONS)));
        for _ in 0..due.min(AT_ONCE) {
            self.run();
        }
        self.last = Instant::now();
    }

    /// Returns the 10th percentiles of the turn, or `None` if no operation was long enough for a loop.
    pub(crate) fn figures(&mut self) -> Option<ReferenceFigures> {
        if self.integer_ns.is_empty() {
            return None;
        }
        Some(ReferenceFigures {
            count: u32::try_from(self.integer_ns.len()).unwrap_or(u32::MAX),
            integer_ns: low(&mut self.integer_ns)?,
            aes_ns: low(&mut self.aes_ns)?,
            memory_ns: low(&mut self.memory_ns)?,
        })
    }

    fn run(&mut self) {
        // Untimed, so that the library's data in the caches do not affect the loops' time.
        encrypt(&mut self.blocks, 1);
        self.at = walk(&self.chain, self.at, black_box(LINES));
        let start = Instant::now();
        black_box(multiply(black_box(MULTIPLICATIONS)));
        let multiplied = Instant::now();
        encrypt(&mut self.blocks, black_box(PASSES));
        let encrypted = Instant::now();
        self.at = walk(&self.chain, self.at, black_box(LOADS));
        let walked = encrypted.elapsed();
        self.integer_ns.push(clock::nanos(multiplied - start));
        self.aes_ns.push(clock::nanos(encrypted - multiplied));
        self.memory_ns.push(clock::nanos(walked));
    }
}

/// Returns the 10th percentile by nearest rank.
fn low(timings: &mut [u64]) -> Option<f64> {
    timings.sort_unstable();
    let rank = timings.len().div_ceil(10);
    timings.get(rank.checked_sub(1)?).map(|ns| *ns as f64)
}

#[inline(never)]
fn multiply(times: u32) -> u64 {
    // Each multiplication depends on the previous one; the shift prevents compilers from combining several.
    (0..times).fold(1, |x: u64, _| {
        (x ^ (x >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

/// Runs rounds of AES over all blocks, with the processor's instructions if available.
#[inline(never)]
fn encrypt(blocks: &mut [[u8; 16]; BLOCKS], passes: u32) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("aes") {
        // SAFETY: the processor has AES-NI.
        unsafe { encrypt_aes_ni(blocks, passes) };
        return;
    }
    for _ in 0..passes {
        for block in &mut *blocks {
            let mut x = u128::from_le_bytes(*block);
            for round in 1..10 {
                x = (x ^ (x << 37)).rotate_left(11).wrapping_add(round);
            }
            *block = x.to_le_bytes();
        }
    }
    black_box(blocks);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "aes,sse2")]
fn encrypt_aes_ni(blocks: &mut [[u8; 16]; BLOCKS], passes: u32) {
    use std::arch::x86_64::{
        __m128i, _mm_aesenc_si128, _mm_loadu_si128, _mm_set1_epi8, _mm_storeu_si128,
    };
    let key = _mm_set1_epi8(0x3c);
    for _ in 0..passes {
        let (eights, _) = blocks.as_chunks_mut::<8>();
        for eight in eights {
            // SAFETY: each block has the 16 bytes that are read, and no alignment is required.
            let mut states = eight
                .each_ref()
                .map(|block| unsafe { _mm_loadu_si128(block.as_ptr().cast::<__m128i>()) });
            for _ in 0..10 {
                states = states.map(|state| _mm_aesenc_si128(state, key));
            }
            for (block, state) in eight.iter_mut().zip(states) {
                // SAFETY: as above, for the 16 bytes that are written.
                unsafe { _mm_storeu_si128(block.as_mut_ptr().cast::<__m128i>(), state) };
            }
        }
    }
    black_box(blocks);
}

/// Walks along the chain, and returns the end of the walk.
#[inline(never)]
fn walk(chain: &[[u32; LINE / 4]], from: u32, steps: u32) -> u32 {
    (0..steps).fold(from, |at, _| chain[at as usize][0])
}

/// Returns one cycle through all lines, in an order that no prefetcher follows (Sattolo 1986).
fn chain(lines: usize) -> Vec<[u32; LINE / 4]> {
    let mut order: Vec<u32> = (0..).take(lines).collect();
    let mut state: u64 = 1;
    for last in (1..lines).rev() {
        order.swap(last, random::below(&mut state, last));
    }
    order
        .into_iter()
        .map(|to| {
            let mut line = [0; LINE / 4];
            line[0] = to;
            line
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_is_one_cycle() {
        let chain = chain(512);
        let (mut at, mut steps) = (0, 0);
        while {
            at = walk(&chain, at, 1);
            steps += 1;
            at != 0
        } {}
        assert_eq!(steps, 512);
    }

    #[test]
    fn loops_run_only_when_they_are_due() {
        let mut reference = Reference::new();
        reference.begin();
        assert_eq!(reference.figures(), None);
        reference.last = Instant::now() - 3 * EVERY;
        reference.after_operation();
        reference.last = Instant::now() - Duration::from_secs(1);
        reference.after_operation();
        let figures = reference.figures().unwrap();
        assert!((9..=10).contains(&figures.count), "{figures:?}");
        assert!(figures.integer_ns > 0.0 && figures.aes_ns > 0.0 && figures.memory_ns > 0.0);
        reference.begin();
        assert_eq!(reference.figures(), None);
    }

    #[test]
    fn low_is_the_nearest_rank() {
        assert_eq!(low(&mut []), None);
        assert_eq!(low(&mut [7]), Some(7.0));
        let mut twenty: Vec<u64> = (1..=20).rev().collect();
        assert_eq!(low(&mut twenty), Some(2.0));
    }
}
