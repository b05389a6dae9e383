//! What the library says of the FIPS module that it is built with.

use std::sync::OnceLock;

use s2n_tls::{
    enums::FipsMode,
    init::{fips_mode, init},
};

use crate::ffi::locked;

/// The module, where the library is in FIPS mode.
pub(crate) fn module() -> Option<String> {
    static IN_FIPS_MODE: OnceLock<bool> = OnceLock::new();
    let is = cfg!(feature = "fips") && *IN_FIPS_MODE.get_or_init(says_a_child);
    is.then(module_version)
}

/// The crate with the module, and its version.
pub(crate) fn module_version() -> String {
    format!("aws-lc-fips-sys {}", locked("aws-lc-fips-sys"))
}

/// What the library says once it is initialised. That is left to a child: a worker's first connection does it for the worker.
fn says_a_child() -> bool {
    // SAFETY: the worker asks before it starts a thread.
    match unsafe { libc::fork() } {
        0 => {
            init();
            let enabled = matches!(fips_mode(), Ok(FipsMode::Enabled));
            // SAFETY: nothing of the parent's is flushed or run.
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

/// No other end of a process has this number.
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
        assert_eq!(module().is_some(), built);
    }
}
