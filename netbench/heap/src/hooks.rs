//! Counted wrappers of glibc's malloc and related functions. All of them are wrapped: a block that
//! is made uncounted and freed counted would make the sums wrong. Callers must meet C's requirements of
//! each.

use libc::{EINVAL, ENOMEM, c_int, c_void, malloc_usable_size, size_t};

use crate::{
    counters::{self, Resize},
    glibc,
};

/// Counts a new block, and ignores the null pointer.
///
/// # Safety
/// `block` is null or a block of glibc's allocator that is not counted yet.
unsafe fn counted(block: *mut c_void) -> *mut c_void {
    if !block.is_null() {
        // SAFETY: the block is in use, as the caller guarantees.
        counters::allocated(unsafe { malloc_usable_size(block) });
    }
    block
}

/// Replaces malloc(3).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn malloc(size: size_t) -> *mut c_void {
    // SAFETY: any size may be requested, and the block is new.
    unsafe { counted(glibc::__libc_malloc(size)) }
}

/// Replaces calloc(3).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn calloc(count: size_t, size: size_t) -> *mut c_void {
    // SAFETY: glibc checks the product, and the block is new.
    unsafe { counted(glibc::__libc_calloc(count, size)) }
}

/// Replaces free(3). errno is unchanged, as in glibc since 2.33.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn free(block: *mut c_void) {
    if !block.is_null() {
        // SAFETY: the caller passes a block in use.
        counters::freed(unsafe { malloc_usable_size(block) });
        // SAFETY: as above.
        unsafe { glibc::__libc_free(block) };
    }
}

/// Replaces realloc(3). glibc frees the block where `size` is 0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn realloc(block: *mut c_void, size: size_t) -> *mut c_void {
    if block.is_null() {
        // SAFETY: any size may be requested.
        return unsafe { malloc(size) };
    }
    if size == 0 {
        // SAFETY: the caller passes a block in use.
        unsafe { free(block) };
        return std::ptr::null_mut();
    }
    // SAFETY: the caller passes a block in use.
    let old_bytes = unsafe { malloc_usable_size(block) };
    let old_address = block.addr();
    // SAFETY: the caller passes a block in use.
    let new = unsafe { glibc::__libc_realloc(block, size) };
    // With a null result, realloc failed, and the old block is unchanged.
    if !new.is_null() {
        let resize = if new.addr() == old_address {
            Resize::InPlace
        } else {
            Resize::Moved
        };
        // SAFETY: the block has just been returned by realloc.
        counters::resized(resize, old_bytes, unsafe { malloc_usable_size(new) });
    }
    new
}

/// Replaces reallocarray(3).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn reallocarray(
    block: *mut c_void,
    count: size_t,
    size: size_t,
) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: the caller passes a block in use, or null.
        Some(bytes) => unsafe { realloc(block, bytes) },
        None => {
            // SAFETY: the pointer is to errno of this thread.
            unsafe { *libc::__errno_location() = ENOMEM };
            std::ptr::null_mut()
        }
    }
}

/// Replaces memalign(3).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn memalign(alignment: size_t, size: size_t) -> *mut c_void {
    // SAFETY: glibc checks the alignment, and the block is new.
    unsafe { counted(glibc::__libc_memalign(alignment, size)) }
}

/// Replaces aligned_alloc(3). An alignment that is no power of two is rounded up, as in glibc
/// before 2.38.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn aligned_alloc(alignment: size_t, size: size_t) -> *mut c_void {
    // SAFETY: as in memalign.
    unsafe { memalign(alignment, size) }
}

/// Replaces posix_memalign(3). Returns 0, `EINVAL` or `ENOMEM`.
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
    // SAFETY: the caller passes a valid place for the pointer.
    unsafe { out.write(block) };
    0
}

/// Replaces valloc(3).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn valloc(size: size_t) -> *mut c_void {
    // SAFETY: any size may be requested, and the block is new.
    unsafe { counted(glibc::__libc_valloc(size)) }
}

/// Replaces pvalloc(3).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvalloc(size: size_t) -> *mut c_void {
    // SAFETY: any size may be requested, and the block is new.
    unsafe { counted(glibc::__libc_pvalloc(size)) }
}
