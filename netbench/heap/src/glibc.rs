//! glibc's allocator by its internal names, which no library replaces. They are linked, not looked
//! up by `dlsym`, which itself allocates.

use libc::{c_void, size_t};

unsafe extern "C" {
    pub(crate) fn __libc_malloc(size: size_t) -> *mut c_void;
    pub(crate) fn __libc_calloc(count: size_t, size: size_t) -> *mut c_void;
    pub(crate) fn __libc_realloc(block: *mut c_void, size: size_t) -> *mut c_void;
    pub(crate) fn __libc_free(block: *mut c_void);
    pub(crate) fn __libc_memalign(alignment: size_t, size: size_t) -> *mut c_void;
    pub(crate) fn __libc_valloc(size: size_t) -> *mut c_void;
    pub(crate) fn __libc_pvalloc(size: size_t) -> *mut c_void;
}
