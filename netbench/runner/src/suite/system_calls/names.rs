use nix::libc::{self, c_long};

/// Returns the name of a system call that libraries for TLS make, or else its number.
pub(super) fn name(number: u64) -> String {
    let found = NAMES
        .iter()
        .find(|(of_name, _)| u64::try_from(*of_name) == Ok(number));
    found.map_or_else(|| format!("call-{number}"), |(_, name)| (*name).to_owned())
}

const NAMES: [(c_long, &str); 47] = [
    (libc::SYS_brk, "brk"),
    (libc::SYS_clock_gettime, "clock_gettime"),
    (libc::SYS_clock_nanosleep, "clock_nanosleep"),
    (libc::SYS_clone, "clone"),
    (libc::SYS_clone3, "clone3"),
    (libc::SYS_close, "close"),
    (libc::SYS_epoll_pwait, "epoll_pwait"),
    (libc::SYS_exit, "exit"),
    (libc::SYS_exit_group, "exit_group"),
    (libc::SYS_fcntl, "fcntl"),
    (libc::SYS_fstat, "fstat"),
    (libc::SYS_futex, "futex"),
    (libc::SYS_getcwd, "getcwd"),
    (libc::SYS_getpid, "getpid"),
    (libc::SYS_getrandom, "getrandom"),
    (libc::SYS_getrusage, "getrusage"),
    (libc::SYS_gettid, "gettid"),
    (libc::SYS_gettimeofday, "gettimeofday"),
    (libc::SYS_ioctl, "ioctl"),
    (libc::SYS_lseek, "lseek"),
    (libc::SYS_madvise, "madvise"),
    (libc::SYS_mmap, "mmap"),
    (libc::SYS_mprotect, "mprotect"),
    (libc::SYS_mremap, "mremap"),
    (libc::SYS_munmap, "munmap"),
    (libc::SYS_nanosleep, "nanosleep"),
    (libc::SYS_newfstatat, "newfstatat"),
    (libc::SYS_openat, "openat"),
    (libc::SYS_ppoll, "ppoll"),
    (libc::SYS_prctl, "prctl"),
    (libc::SYS_pread64, "pread64"),
    (libc::SYS_read, "read"),
    (libc::SYS_readv, "readv"),
    (libc::SYS_rseq, "rseq"),
    (libc::SYS_rt_sigaction, "rt_sigaction"),
    (libc::SYS_rt_sigprocmask, "rt_sigprocmask"),
    (libc::SYS_rt_sigreturn, "rt_sigreturn"),
    (libc::SYS_sched_getaffinity, "sched_getaffinity"),
    (libc::SYS_sched_yield, "sched_yield"),
    (libc::SYS_set_robust_list, "set_robust_list"),
    (libc::SYS_sigaltstack, "sigaltstack"),
    (libc::SYS_statx, "statx"),
    (libc::SYS_sysinfo, "sysinfo"),
    (libc::SYS_tgkill, "tgkill"),
    (libc::SYS_uname, "uname"),
    (libc::SYS_write, "write"),
    (libc::SYS_writev, "writev"),
];
