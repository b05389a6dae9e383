use std::mem::ManuallyDrop;

/// A type of a C library's objects, which the library makes and frees.
///
/// # Safety
/// The library must keep no state of an object in its threads, and must lock an object or leave it unchanged where several
/// threads use it.
pub unsafe trait CObject {
    /// Frees an object.
    ///
    /// # Safety
    /// The library has made the object, and no other code uses it afterwards.
    unsafe fn free(object: *mut Self);
}

/// An object of a C library, which is freed with this value.
#[derive(Debug)]
pub struct Owned<T: CObject>(*mut T);

// SAFETY: the trait demands it.
unsafe impl<T: CObject> Send for Owned<T> {}
// SAFETY: as above.
unsafe impl<T: CObject> Sync for Owned<T> {}

impl<T: CObject> Owned<T> {
    /// Takes ownership of an object.
    ///
    /// # Safety
    /// The library has made the object, and no other code frees it.
    pub unsafe fn new(object: *mut T) -> Self {
        Self(object)
    }

    /// Returns the pointer for the library.
    pub fn pointer(&self) -> *mut T {
        self.0
    }

    /// Returns the object for another owner.
    pub fn released(self) -> *mut T {
        ManuallyDrop::new(self).0
    }
}

impl<T: CObject> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: this value owns the object.
        unsafe { T::free(self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counted(u32);

    // SAFETY: tests use it in one thread.
    unsafe impl CObject for Counted {
        unsafe fn free(object: *mut Self) {
            // SAFETY: the test's object is alive.
            unsafe { (*object).0 += 1 }
        }
    }

    #[test]
    fn an_object_is_freed_once_by_its_last_owner() {
        let mut object = Counted(0);
        // SAFETY: the object lives longer than its owner.
        let owned = unsafe { Owned::new(&raw mut object) };
        let released = owned.released();
        assert_eq!(object.0, 0);
        // SAFETY: as above.
        drop(unsafe { Owned::new(released) });
        assert_eq!(object.0, 1);
    }
}
