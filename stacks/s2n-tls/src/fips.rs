//! The library's report on the FIPS module with which it is built.

use std::sync::OnceLock;

use s2n_tls::{
    enums::FipsMode,
    init::{fips_mode, init},
};

/// The crate with the module.
pub(crate) const MODULE: &str = "aws-lc-fips-sys";

/// Returns whether the library is in FIPS mode.
pub(crate) fn is_on() -> bool {
    static IN_FIPS_MODE: OnceLock<bool> = OnceLock::new();
    cfg!(feature = "fips") && *IN_FIPS_MODE.get_or_init(says_a_child)
}

/// Returns whether the library reports FIPS mode after its initialisation. A child initialises it: in the
/// worker, the first connection must do so.
fn says_a_child() -> bool {
    // SAFETY: the worker calls this function before it starts a thread.
    match unsafe { libc::fork() } {
        0 => {
            init();
            let enabled = matches!(fips_mode(), Ok(FipsMode::Enabled));
            // SAFETY: the call neither flushes buffers nor runs handlers of the parent.
            unsafe { libc::_exit(if enabled { ENABLED } else { 1 }) }
        }
        child if child > 0 => {
            let mut status = 0;
            // SAFETY: the status is written to `status`.
            let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
            ended == child && libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == ENABLED
        }
        _ => false,
    }
}

/// An exit status that no other ending of a process has.
const ENABLED: i32 = 42;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_in_fips_mode_where_it_is_built_so() {
        init();
        let built = cfg!(feature = "fips");
        assert_eq!(matches!(fips_mode(), Ok(FipsMode::Enabled)), built);
        assert_eq!(says_a_child(), built);
        assert_eq!(is_on(), built);
    }
}
