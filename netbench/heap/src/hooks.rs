//! malloc and its kin as glibc has them, counted. All of them: a block that is made uncounted and
//! freed counted would make the sums wrong.

use libc::{EINVAL, ENOMEM, c_int, c_void, malloc_usable_size, size_t};

use crate::{
    counters::{self, Resize},
    glibc,
};

/// Counts a new block, or nothing for the null pointer.
///
/// # Safety
/// `block` is null or a block of glibc's allocator that is not counted yet.
unsafe fn counted(block: *mut c_void) -> *mut c_void {
    if !block.is_null() {
        // SAFETY: a block in use, as the caller says.
        counters::allocated(unsafe { malloc_usable_size(block) });
    }
    block
}

/// malloc(3).
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn malloc(size: size_t) -> *mut c_void {
    // SAFETY: any size may be asked for, and the block is new.
    unsafe { counted(glibc::__libc_malloc(size)) }
}

/// calloc(3).
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn calloc(count: size_t, size: size_t) -> *mut c_void {
    // SAFETY: glibc checks the product, and the block is new.
    unsafe { counted(glibc::__libc_calloc(count, size)) }
}

/// free(3). Leaves errno as it is, as glibc does since 2.33.
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn free(block: *mut c_void) {
    if !block.is_null() {
        // SAFETY: the caller gives a block in use.
        counters::freed(unsafe { malloc_usable_size(block) });
        // SAFETY: as above.
        unsafe { glibc::__libc_free(block) };
    }
}

/// realloc(3). glibc frees the block where `size` is 0.
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn realloc(block: *mut c_void, size: size_t) -> *mut c_void {
    if block.is_null() {
        // SAFETY: any size may be asked for.
        return unsafe { malloc(size) };
    }
    if size == 0 {
        // SAFETY: the caller gives a block in use.
        unsafe { free(block) };
        return std::ptr::null_mut();
    }
    // SAFETY: the caller gives a block in use.
    let old_bytes = unsafe { malloc_usable_size(block) };
    let old_address = block.addr();
    // SAFETY: the caller gives a block in use.
    let new = unsafe { glibc::__libc_realloc(block, size) };
    // Null: it failed, and the old block is as it was.
    if !new.is_null() {
        let resize = if new.addr() == old_address {
            Resize::InPlace
        } else {
            Resize::Moved
        };
        // SAFETY: the block that realloc has just given.
        counters::resized(resize, old_bytes, unsafe { malloc_usable_size(new) });
    }
    new
}

/// reallocarray(3).
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn reallocarray(
    block: *mut c_void,
    count: size_t,
    size: size_t,
) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: the caller gives a block in use, or null.
        Some(bytes) => unsafe { realloc(block, bytes) },
        None => {
            // SAFETY: errno of this thread.
            unsafe { *libc::__errno_location() = ENOMEM };
            std::ptr::null_mut()
        }
    }
}

/// memalign(3).
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn memalign(alignment: size_t, size: size_t) -> *mut c_void {
    // SAFETY: glibc checks the alignment, and the block is new.
    unsafe { counted(glibc::__libc_memalign(alignment, size)) }
}

/// aligned_alloc(3). As in glibc before 2.38, an alignment that is no power of two is rounded up.
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn aligned_alloc(alignment: size_t, size: size_t) -> *mut c_void {
    // SAFETY: as in memalign.
    unsafe { memalign(alignment, size) }
}

/// posix_memalign(3): 0, `EINVAL` or `ENOMEM`.
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn posix_memalign(
    out: *mut *mut c_void,
    alignment: size_t,
    size: size_t,
) -> c_int {
    if !alignment.is_power_of_two() || alignment < size_of::<*mut c_void>() {
        return EINVAL;
    }
    // SAFETY: as in memalign.
    let block = unsafe { memalign(alignment, size) };
    if block.is_null() {
        return ENOMEM;
    }
    // SAFETY: the caller gives a place for the pointer.
    unsafe { out.write(block) };
    0
}

/// valloc(3).
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn valloc(size: size_t) -> *mut c_void {
    // SAFETY: any size may be asked for, and the block is new.
    unsafe { counted(glibc::__libc_valloc(size)) }
}

/// pvalloc(3).
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvalloc(size: size_t) -> *mut c_void {
    // SAFETY: any size may be asked for, and the block is new.
    unsafe { counted(glibc::__libc_pvalloc(size)) }
}
