//! Tests that the parser allocates memory only for arrived bytes, regardless of the claimed lengths.

#![expect(
    clippy::unwrap_used,
    reason = "a test ends with what is not as it should be"
)]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    fs,
    path::Path,
};

use netbench_scan::{
    codec::{ClientHello, FlightReader, MAX_MESSAGE},
    parsers,
};

/// The system's allocator, with a record of the largest request of this thread.
struct Counting;

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
    static TOTAL: Cell<usize> = const { Cell::new(0) };
}

fn count(bytes: usize) {
    // The thread-local cells of an ending thread may be gone.
    let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(bytes)));
    let _ = TOTAL.try_with(|total| total.set(total.get() + bytes));
}

// SAFETY: every call is passed unchanged to the system's allocator; the counts are in thread-local cells that
// need no allocation.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller fulfils the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller fulfils the contract of `dealloc`, and all memory is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: the caller fulfils the contract of `realloc`, and all memory is the system's.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the largest single allocation, and the sum of all, during `work`.
fn measured(work: impl FnOnce()) -> (usize, usize) {
    LARGEST.set(0);
    TOTAL.set(0);
    work();
    (LARGEST.get(), TOTAL.get())
}

fn record(payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(payload.len()).unwrap().to_be_bytes();
    [&[22, 3, 3, length[0], length[1]], payload].concat()
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap().to_be_bytes();
    [&[kind, length[1], length[2], length[3]], body].concat()
}

fn server_hello() -> Vec<u8> {
    message(2, &[&[3, 3], &[7; 32][..], &[0, 0, 0x2f, 0]].concat())
}

/// Returns a ServerHello, and this payload in another record.
fn after_hello(payload: &[u8]) -> Vec<u8> {
    [record(&server_hello()), record(payload)].concat()
}

fn certificate(body: &[u8]) -> Vec<u8> {
    after_hello(&message(11, body))
}

/// Returns claims of a length, with the following bytes.
fn claims() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("a record's header", vec![22, 3, 3, 0x40, 0]),
        (
            "a record of which little came",
            [&[22, 3, 3, 0x40, 0], &[2; 50][..]].concat(),
        ),
        (
            "a message of 127 KiB of which nothing came",
            record(&[2, 1, 0xfc, 0]),
        ),
        ("a message of 16 MiB", record(&[2, 0xff, 0xff, 0xff])),
        (
            "a chain of 127 KiB of which nothing came",
            after_hello(&[11, 1, 0xfc, 0]),
        ),
        (
            "a list longer than its message",
            certificate(&[0xff, 0xff, 0xff, 1, 2, 3]),
        ),
        (
            "a certificate longer than its list",
            certificate(&[0, 0, 4, 0xff, 0xff, 0xff, 1]),
        ),
        (
            "a chain of empty certificates",
            certificate(&[&[0, 0, 99], &[0; 99][..]].concat()),
        ),
        (
            "a whole chain",
            certificate(&[&[0, 8, 3, 0, 8, 0], &[5; 2048][..]].concat()),
        ),
        (
            "extensions that are not there",
            record(&message(
                2,
                &[&[3, 3], &[7; 32][..], &[0, 0, 0x2f, 0, 255, 255]].concat(),
            )),
        ),
        (
            "many small messages",
            after_hello(&message(99, &[0; 4]).repeat(1000)),
        ),
    ]
}

/// Returns the largest allocation for this number of bytes: a growing vector doubles; and each of at most 256 entries of a
/// list has a place of 24 or 32 bytes in addition to its own bytes, of which it needs two to four on the wire.
fn most_allocated(arrived: usize) -> usize {
    2 * arrived + (24 * arrived).min(512 * 32)
}

#[test]
fn nothing_is_allocated_for_what_has_not_arrived() {
    for (name, bytes) in claims() {
        for piece in [1, 1400, bytes.len()] {
            let (largest, _) = measured(|| {
                let mut reader = FlightReader::default();
                for piece in bytes.chunks(piece) {
                    if reader.push(piece).is_err() {
                        return;
                    }
                }
            });
            let arrived = bytes.len();
            assert!(
                largest <= most_allocated(arrived),
                "{name}, {piece} bytes at a time: {largest} bytes at once for {arrived}"
            );
        }
    }
    let hello = [22, 3, 1, 0x40, 0, 1, 0, 0x3f, 0xfc, 3, 3];
    let (largest, _) = measured(|| {
        assert_eq!(ClientHello::of_records(&hello), Ok(None));
    });
    assert!(largest <= most_allocated(hello.len()), "{largest}");
}

#[test]
fn reading_in_small_pieces_costs_no_more_than_a_few_copies() {
    let chain = [&[0, 0x40, 3, 0, 0x40, 0], &[5; 0x4000][..]].concat();
    let message = message(11, &chain);
    let records: Vec<u8> = message.chunks(64).flat_map(record).collect();
    let bytes = [record(&server_hello()), records].concat();
    let (_, total) = measured(|| {
        let mut reader = FlightReader::default();
        for piece in bytes.chunks(100) {
            reader.push(piece).unwrap();
        }
        assert!(reader.flight().unwrap().certificates.is_some());
    });
    assert!(
        total < 12 * bytes.len(),
        "{total} bytes for {}",
        bytes.len()
    );
}

/// Each file begins with an algorithm in two bytes and the stated length in three.
#[test]
fn certificates_are_decompressed_within_their_stated_length() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/compressed");
    let mut count = 0;
    for entry in fs::read_dir(corpus).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        let stated =
            usize::from(bytes[2]) << 16 | usize::from(bytes[3]) << 8 | usize::from(bytes[4]);
        let (largest, _) = measured(|| parsers::compressed(&bytes));
        let most = stated.min(MAX_MESSAGE) + 64 * 1024;
        assert!(largest <= most, "{}: {largest} of {most}", path.display());
        count += 1;
    }
    assert!(count >= 10, "{count} files");
}
