//! Tests in which each test restarts itself under `LD_PRELOAD` of the built library, allocates
//! there and checks the counts exactly.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    env,
    io::{self, Read},
    mem, panic,
    path::PathBuf,
    process::{Command, Stdio},
    ptr,
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use libc::{c_void, malloc_usable_size, size_t};

const CHILD: &str = "NETBENCH_HEAP_TEST_CHILD";
const TIME_LIMIT: Duration = Duration::from_secs(60);

unsafe extern "C" {
    // These functions are not in the crate libc, or not for every target.
    fn valloc(size: size_t) -> *mut c_void;
    fn pvalloc(size: size_t) -> *mut c_void;
    fn reallocarray(block: *mut c_void, count: size_t, size: size_t) -> *mut c_void;
}

/// The library's struct, declared again as in a worker: linking the library would count twice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
struct HeapCounts {
    allocations: u64,
    frees: u64,
    bytes_in_use: u64,
    peak_bytes: u64,
}

/// The difference between two counts.
#[derive(Debug, PartialEq, Eq)]
struct Change {
    allocations: u64,
    frees: u64,
    bytes: i64,
}

impl Change {
    fn since(before: HeapCounts) -> Self {
        let now = Library::find().counts();
        Self {
            allocations: now.allocations - before.allocations,
            frees: now.frees - before.frees,
            bytes: now.bytes_in_use.cast_signed() - before.bytes_in_use.cast_signed(),
        }
    }
}

struct Library {
    counts: unsafe extern "C" fn(*mut HeapCounts),
    reset_peak: extern "C" fn(),
}

impl Library {
    fn find() -> Self {
        let [counts, reset_peak] =
            [c"netbench_heap_counts", c"netbench_heap_reset_peak"].map(|name| {
                // SAFETY: the name is a C string, and is looked up in the loaded libraries.
                let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
                assert!(!found.is_null(), "{name:?} is not loaded");
                found
            });
        // SAFETY: the library exports these names with these signatures.
        unsafe {
            Self {
                counts: mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut HeapCounts)>(
                    counts,
                ),
                reset_peak: mem::transmute::<*mut c_void, extern "C" fn()>(reset_peak),
            }
        }
    }

    fn counts(&self) -> HeapCounts {
        let mut counts = HeapCounts::default();
        // SAFETY: the struct has the layout that the library writes.
        unsafe { (self.counts)(&raw mut counts) };
        counts
    }
}

/// Runs `body` in a child process: this test, as the only test of its process, under `LD_PRELOAD`.
fn preloaded(test: &str, body: impl FnOnce(&Library)) {
    if env::var_os(CHILD).is_some() {
        return without_other_threads(|| body(&Library::find()));
    }
    let mut child = Command::new(env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .env("LD_PRELOAD", library_path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > TIME_LIMIT {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{test} hangs under LD_PRELOAD");
        }
        thread::sleep(Duration::from_millis(5));
    };
    let mut said = String::new();
    child.stdout.unwrap().read_to_string(&mut said).unwrap();
    child.stderr.unwrap().read_to_string(&mut said).unwrap();
    assert!(
        status.success() && said.contains("1 passed"),
        "{status}: {said}"
    );
}

/// Runs `body` in a fork of this process, which has only this thread: the main thread of the test
/// harness allocates whenever it is scheduled, and its allocations would be counted too.
fn without_other_threads(body: impl FnOnce()) {
    // SAFETY: glibc's fork leaves the allocator usable; the fork ends without exit handlers.
    unsafe {
        let fork = libc::fork();
        if fork == 0 {
            // The time limit kills the parent, and the fork must not remain.
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            let passed = panic::catch_unwind(panic::AssertUnwindSafe(body)).is_ok();
            libc::_exit(i32::from(!passed));
        }
        assert!(fork > 0, "{}", io::Error::last_os_error());
        let mut status = 0;
        while libc::waitpid(fork, &raw mut status, 0) < 0 {
            let error = io::Error::last_os_error();
            assert_eq!(error.kind(), io::ErrorKind::Interrupted, "{error}");
        }
        assert_eq!(status, 0, "see above: the fork's status");
    }
}

/// Returns the library's path, in the test's folder (`deps`) or in its parent.
fn library_path() -> PathBuf {
    let test = env::current_exe().unwrap();
    let found = test
        .ancestors()
        .skip(1)
        .take(2)
        .map(|folder| folder.join("libnetbench_heap.so"))
        .find(|path| path.is_file());
    found.unwrap_or_else(|| {
        panic!(
            "no libnetbench_heap.so beside {}: build it with `cargo build -p netbench-heap`, with --release where the tests have it",
            test.display()
        )
    })
}

fn usable(block: *mut c_void) -> i64 {
    // SAFETY: the tests pass blocks in use.
    let bytes = unsafe { malloc_usable_size(block) };
    i64::try_from(bytes).unwrap()
}

fn free(block: *mut c_void) {
    // SAFETY: the tests pass blocks in use, each once.
    unsafe { libc::free(block) }
}

/// Allocates a block of at least the given number of bytes.
type Allocate = fn(size_t) -> *mut c_void;

const WAYS: [(&str, Allocate); 10] = [
    // SAFETY: any size may be requested.
    ("malloc", |size| unsafe { libc::malloc(size) }),
    // SAFETY: as above.
    ("calloc", |size| unsafe { libc::calloc(size, 3) }),
    // SAFETY: realloc of a null pointer allocates a new block.
    ("realloc", |size| unsafe {
        libc::realloc(ptr::null_mut(), size)
    }),
    // SAFETY: as above.
    ("reallocarray", |size| unsafe {
        reallocarray(ptr::null_mut(), size, 2)
    }),
    // SAFETY: the alignments are powers of two.
    ("memalign", |size| unsafe { libc::memalign(64, size) }),
    // SAFETY: as above.
    ("aligned_alloc", |size| unsafe {
        libc::aligned_alloc(4096, size)
    }),
    ("posix_memalign", |size| {
        let mut block = ptr::null_mut();
        // SAFETY: the pointer is to a valid place.
        let error = unsafe { libc::posix_memalign(&raw mut block, 256, size) };
        assert_eq!(error, 0);
        block
    }),
    // SAFETY: any size may be requested.
    ("valloc", |size| unsafe { valloc(size) }),
    // SAFETY: as above.
    ("pvalloc", |size| unsafe { pvalloc(size) }),
    // glibc allocates for its callers, and must do so through the hooks.
    ("strndup", |size| {
        let text = [b'x'; 1 << 20];
        // SAFETY: strndup reads no more than `size` bytes, which the array has.
        unsafe { libc::strndup(text.as_ptr().cast(), size) }.cast()
    }),
];

#[test]
fn every_way_to_allocate_is_counted() {
    preloaded("every_way_to_allocate_is_counted", |library| {
        for (way, allocate) in WAYS {
            // The sizes are zero, small, and large enough for a mapping.
            for size in [0, 1, 24, 1000, 1 << 20] {
                let before = library.counts();
                let block = allocate(size);
                let made = Change::since(before);
                assert!(!block.is_null(), "{way} {size}");
                let bytes = usable(block);
                assert!(bytes >= i64::try_from(size).unwrap());
                let one = Change {
                    allocations: 1,
                    frees: 0,
                    bytes,
                };
                assert_eq!(made, one, "{way} {size}");
                free(block);
                let gone = Change {
                    allocations: 1,
                    frees: 1,
                    bytes: 0,
                };
                assert_eq!(Change::since(before), gone, "{way} {size}");
            }
        }
    });
}

#[test]
fn resizing_counts_where_the_block_moves_or_grows() {
    preloaded(
        "resizing_counts_where_the_block_moves_or_grows",
        |library| {
            // Each row has the number of allocations of the resize itself; glibc shrinks in place,
            // which makes no new block.
            for (from, to, allocations) in [
                (100, 100, 0),
                (100, 99, 0),
                (100, 5_000, 1),
                (5_000, 100, 0),
                (1 << 20, 1 << 22, 1),
                (100, 1 << 22, 1),
                (1 << 22, 100, 0),
            ] {
                // SAFETY: any size may be requested.
                let block = unsafe { libc::malloc(from) };
                let old_bytes = usable(block);
                let before = library.counts();
                // SAFETY: the block is in use, and is not used afterwards.
                let block = unsafe { libc::realloc(block, to) };
                let change = Change::since(before);
                let expected = Change {
                    allocations,
                    frees: allocations,
                    bytes: usable(block) - old_bytes,
                };
                assert_eq!(change, expected, "{from} to {to}");
                free(block);
            }
        },
    );
}

#[test]
fn what_allocates_nothing_counts_nothing() {
    preloaded("what_allocates_nothing_counts_nothing", |library| {
        // SAFETY: any size may be requested.
        let block = unsafe { libc::malloc(100) };
        let mut out = ptr::null_mut();
        let before = library.counts();
        free(ptr::null_mut());
        // SAFETY: these sizes cannot be allocated: each call fails and leaves the block unchanged.
        unsafe {
            let huge = usize::MAX / 2 + 1;
            assert!(libc::malloc(huge).is_null());
            assert!(libc::calloc(huge, 2).is_null());
            assert!(libc::realloc(block, huge).is_null());
            *libc::__errno_location() = 0;
            assert!(reallocarray(block, huge, 2).is_null());
            assert_eq!(*libc::__errno_location(), libc::ENOMEM);
            assert!(libc::memalign(64, huge).is_null());
            for wrong in [0, 3, 4, 24] {
                let error = libc::posix_memalign(&raw mut out, wrong, 10);
                assert_eq!(error, libc::EINVAL, "{wrong}");
            }
            assert_eq!(libc::posix_memalign(&raw mut out, 64, huge), libc::ENOMEM);
            (library.counts)(ptr::null_mut());
        }
        assert!(out.is_null());
        assert_eq!(library.counts(), before);
        // SAFETY: glibc frees a block that is resized to zero bytes.
        assert!(unsafe { libc::realloc(block, 0) }.is_null());
        assert_eq!(Change::since(before).frees, 1);
    });
}

#[test]
fn the_peak_is_kept_until_it_is_reset() {
    preloaded("the_peak_is_kept_until_it_is_reset", |library| {
        (library.reset_peak)();
        let before = library.counts();
        assert_eq!(before.peak_bytes, before.bytes_in_use);
        // SAFETY: any size may be requested.
        let blocks = [3 << 20, 100, 1000].map(|size| unsafe { libc::malloc(size) });
        let bytes: i64 = blocks.into_iter().map(usable).sum();
        blocks.into_iter().for_each(free);
        // SAFETY: as above.
        free(unsafe { libc::malloc(2 << 20) });
        let after = library.counts();
        assert_eq!(after.bytes_in_use, before.bytes_in_use);
        assert_eq!(after.peak_bytes, before.peak_bytes + bytes.cast_unsigned());
        (library.reset_peak)();
        assert_eq!(library.counts().peak_bytes, before.bytes_in_use);
    });
}

/// Allocates blocks, each of which replaces the one before, and returns the size of the last, which is freed at the end.
/// The test reads the counts between these steps.
fn allocate(gate: &Barrier, blocks: usize, seed: usize) -> i64 {
    gate.wait();
    gate.wait();
    let mut kept = ptr::null_mut();
    for i in 0..blocks {
        // SAFETY: any size may be requested.
        let block = unsafe { libc::malloc((i * 7 + seed * 13) % 3000) };
        free(kept);
        kept = block;
    }
    let bytes = usable(kept);
    gate.wait();
    gate.wait();
    free(kept);
    bytes
}

#[test]
fn threads_are_counted_together() {
    const THREADS: usize = 8;
    const BLOCKS: usize = 20_000;
    preloaded("threads_are_counted_together", |library| {
        // Threads allocate when they start and end, so the counts are read while they wait.
        let gate = &Barrier::new(THREADS + 1);
        thread::scope(|scope| {
            let workers: Vec<_> = (0..THREADS)
                .map(|seed| scope.spawn(move || allocate(gate, BLOCKS, seed)))
                .collect();
            gate.wait();
            (library.reset_peak)();
            let before = library.counts();
            gate.wait();
            gate.wait();
            let change = Change::since(before);
            let peak_bytes = library.counts().peak_bytes;
            gate.wait();
            let held: i64 = workers.into_iter().map(|w| w.join().unwrap()).sum();
            let expected = Change {
                allocations: (THREADS * BLOCKS) as u64,
                frees: (THREADS * (BLOCKS - 1)) as u64,
                bytes: held,
            };
            assert_eq!(change, expected);
            // No thread ever has more than two blocks of 3000 bytes, rounded up to 16.
            let most = before.bytes_in_use + (THREADS * 2 * 3016) as u64;
            assert!(peak_bytes > before.bytes_in_use && peak_bytes <= most);
        });
    });
}

#[test]
fn a_rust_program_is_counted() {
    preloaded("a_rust_program_is_counted", |library| {
        let before = library.counts();
        assert!(before.allocations > before.frees && before.peak_bytes >= before.bytes_in_use);
        let mut boxes = Vec::with_capacity(100);
        boxes.extend((0..100_u64).map(Box::new));
        let held = Change::since(before);
        assert_eq!((held.allocations, held.frees), (101, 0));
        drop(boxes);
        let expected = Change {
            allocations: 101,
            frees: 101,
            bytes: 0,
        };
        assert_eq!(Change::since(before), expected);
    });
}
