//! The allocator of this process: the one that is linked, and the owner of allocated blocks.

#[cfg(feature = "jemalloc")]
use jemalloc as linked;
#[cfg(all(feature = "mimalloc", not(feature = "jemalloc")))]
use mimalloc as linked;

/// Returns the allocator of this process: its name and version if it owns the blocks of Rust and of C, or else
/// `system`.
pub(crate) fn found() -> String {
    #[cfg(any(feature = "jemalloc", feature = "mimalloc"))]
    {
        let rusts = vec![0_u8; BLOCK_BYTES];
        // SAFETY: any size is permitted.
        let cs = unsafe { libc::malloc(BLOCK_BYTES) };
        let owned = [linked::owns(rusts.as_ptr().cast()), linked::owns(cs)];
        // SAFETY: the block was just returned by `malloc`.
        unsafe { libc::free(cs) };
        match owned {
            [true, true] => linked::version(),
            [true, false] => format!("{} for Rust, and the system's for C", linked::version()),
            [false, _] => "system".to_owned(),
        }
    }
    #[cfg(not(any(feature = "jemalloc", feature = "mimalloc")))]
    "system".to_owned()
}

/// Size of the block whose owner is tested.
#[cfg(any(feature = "jemalloc", feature = "mimalloc"))]
const BLOCK_BYTES: usize = 4096;

#[cfg(feature = "jemalloc")]
mod jemalloc {
    use std::{
        ffi::{CStr, c_char, c_uint, c_void},
        mem, ptr,
    };

    use tikv_jemalloc_sys::mallctl;

    #[global_allocator]
    static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

    /// Returns whether the block is in one of jemalloc's arenas.
    pub(super) fn owns(block: *const c_void) -> bool {
        let (mut arena, mut arena_bytes): (c_uint, _) = (0, mem::size_of::<c_uint>());
        let mut asked = block;
        // SAFETY: the name ends with a null byte, and both values have the types of that name (jemalloc(3)).
        let error = unsafe {
            mallctl(
                c"arenas.lookup".as_ptr(),
                (&raw mut arena).cast(),
                &raw mut arena_bytes,
                (&raw mut asked).cast(),
                mem::size_of::<*const c_void>(),
            )
        };
        error == 0
    }

    pub(super) fn version() -> String {
        let (mut text, mut bytes): (*const c_char, _) =
            (ptr::null(), mem::size_of::<*const c_char>());
        // SAFETY: as above, with the type of `version`.
        let error = unsafe {
            mallctl(
                c"version".as_ptr(),
                (&raw mut text).cast(),
                &raw mut bytes,
                ptr::null_mut(),
                0,
            )
        };
        if error != 0 || text.is_null() {
            return "jemalloc".to_owned();
        }
        // SAFETY: jemalloc returns a static string.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
        // The commit follows the number.
        format!("jemalloc {}", text.split('-').next().unwrap_or_default())
    }
}

#[cfg(all(feature = "mimalloc", not(feature = "jemalloc")))]
mod mimalloc {
    use std::ffi::c_void;

    #[global_allocator]
    static ALLOCATOR: ::mimalloc::MiMalloc = ::mimalloc::MiMalloc;

    /// Returns whether the block is in mimalloc's heap.
    pub(super) fn owns(block: *const c_void) -> bool {
        // SAFETY: the block is not read.
        unsafe { libmimalloc_sys::mi_is_in_heap_region(block) }
    }

    /// Returns the version. The last two digits of the number are the patch, and the two before are the minor version.
    pub(super) fn version() -> String {
        // SAFETY: the function only returns a number.
        let number = unsafe { libmimalloc_sys::mi_version() };
        let (major, minor, patch) = (number / 10_000, number / 100 % 100, number % 100);
        format!("mimalloc {major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_rust_and_of_c_come_from_the_allocator_that_is_linked() {
        let linked = if cfg!(feature = "jemalloc") {
            "jemalloc 5."
        } else if cfg!(feature = "mimalloc") {
            "mimalloc 3."
        } else {
            "system"
        };
        let found = found();
        assert!(found.starts_with(linked), "{found}");
        assert_eq!(found.contains("system"), linked == "system", "{found}");
    }
}
