//! Clocks and page faults of the calling thread.

use std::time::Instant;

use netbench_model::Spent;

use crate::clock::{nanos, thread_cpu};

/// Runs `work`, and says what it took.
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

/// Minor page faults of the calling thread so far: pages that it had to be given, but that no disk
/// was read for (`ru_minflt`, getrusage(2)).
pub(crate) fn minor_faults() -> u64 {
    // SAFETY: rusage is plain integers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid rusage for the kernel to fill.
    let result = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    if result != 0 {
        return 0;
    }
    u64::try_from(usage.ru_minflt).unwrap_or(0)
}

/// CPU time of one minor fault on a page of the executable, in nanoseconds; none where it cannot be mapped.
///
/// The executable is mapped anew, so that its pages are in the page cache and not yet in the mapping. One
/// byte of every sixteenth page is read: the kernel maps so many around a fault (`fault_around_bytes`).
pub(crate) fn fault_ns() -> Option<u64> {
    const STEP: usize = 16 * 4096;
    let file = std::fs::File::open("/proc/self/exe").ok()?;
    let length = usize::try_from(file.metadata().ok()?.len()).ok()?;
    // SAFETY: a private, read-only mapping at an address of the kernel's choice touches nothing else.
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
    // SAFETY: the mapping is ours, and nothing refers to it any more.
    unsafe { libc::munmap(start, length) };
    spent.cpu_ns.checked_div(spent.minor_faults)
}
