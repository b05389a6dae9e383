//! Clocks and page faults of the calling thread.

use std::time::Instant;

use netbench_tls::Spent;

use crate::clock::{nanos, thread_cpu};

/// Runs `work`, and returns its result and its cost.
pub(crate) fn spent<T>(work: impl FnOnce() -> T) -> (T, Spent) {
    let (faults, cpu, wall) = (minor_faults(), thread_cpu(), Instant::now());
    let result = work();
    let wall = wall.elapsed();
    let cpu = thread_cpu().saturating_sub(cpu);
    let spent = Spent {
        wall_ns: nanos(wall),
        cpu_ns: nanos(cpu),
        minor_faults: minor_faults().saturating_sub(faults),
    };
    (result, spent)
}

/// Returns the number of minor page faults of the calling thread so far: page faults that needed no read from a disk
/// (`ru_minflt`, getrusage(2)).
pub(crate) fn minor_faults() -> u64 {
    // SAFETY: rusage consists of integers, for which zero is valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid rusage for the kernel to fill.
    let result = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    if result != 0 {
        return 0;
    }
    u64::try_from(usage.ru_minflt).unwrap_or(0)
}

/// Returns the CPU time of one minor fault on a page of the executable, in nanoseconds, or `None` if it cannot be
/// mapped.
///
/// The function makes a new mapping of the executable, whose pages are in the page cache and not yet in the mapping. It
/// reads one byte of every sixteenth page, because the kernel maps 16 pages around a fault (`fault_around_bytes`).
pub(crate) fn fault_ns() -> Option<u64> {
    const STEP: usize = 16 * 4096;
    let file = std::fs::File::open("/proc/self/exe").ok()?;
    let length = usize::try_from(file.metadata().ok()?.len()).ok()?;
    // SAFETY: a private, read-only mapping at an address of the kernel's choice has no other effects.
    let start = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_READ,
            libc::MAP_PRIVATE,
            std::os::fd::AsRawFd::as_raw_fd(&file),
            0,
        )
    };
    if start == libc::MAP_FAILED {
        return None;
    }
    let (_, spent) = spent(|| {
        for offset in (0..length).step_by(STEP) {
            // SAFETY: the offset is within the mapping, which is readable.
            unsafe { start.cast::<u8>().add(offset).read_volatile() };
        }
    });
    // SAFETY: this function owns the mapping, and no references to it remain.
    unsafe { libc::munmap(start, length) };
    spent.cpu_ns.checked_div(spent.minor_faults)
}
