//! Tests of cases that the preloaded tests cannot cause: glibc moves a block only to enlarge it.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

// The module is included instead of the crate: linking the crate would replace this executable's
// malloc.
#[expect(unreachable_pub, reason = "public in the library")]
#[path = "../src/counters.rs"]
mod counters;

use counters::{HeapCounts, Resize};

/// A step's name, its action, and the four counts after it in their order.
type Step = (&'static str, fn(), [u64; 4]);

#[test]
fn each_step_changes_the_counts() {
    let steps: [Step; 9] = [
        ("begin", || (), [0, 0, 0, 0]),
        ("allocate", || counters::allocated(100), [1, 0, 100, 100]),
        ("again", || counters::allocated(50), [2, 0, 150, 150]),
        ("free", || counters::freed(50), [2, 1, 100, 150]),
        (
            "move",
            || counters::resized(Resize::Moved, 100, 100),
            [3, 2, 100, 150],
        ),
        (
            "move and shrink",
            || counters::resized(Resize::Moved, 100, 60),
            [4, 3, 60, 150],
        ),
        (
            "shrink",
            || counters::resized(Resize::InPlace, 60, 40),
            [4, 3, 40, 150],
        ),
        (
            "grow",
            || counters::resized(Resize::InPlace, 40, 170),
            [5, 4, 170, 170],
        ),
        (
            "reset after a free",
            || {
                counters::freed(170);
                counters::reset_peak();
            },
            [5, 5, 0, 0],
        ),
    ];
    for (step, act, [allocations, frees, bytes_in_use, peak_bytes]) in steps {
        act();
        let expected = HeapCounts {
            allocations,
            frees,
            bytes_in_use,
            peak_bytes,
        };
        assert_eq!(counters::read(), expected, "{step}");
    }
}
