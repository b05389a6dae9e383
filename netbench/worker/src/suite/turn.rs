use std::time::{Duration, Instant};

use netbench_model::Measure;
use netbench_protocol::{Slice, SliceLimit, Sliced};

/// A turn in progress.
pub(crate) struct Turn {
    pub(crate) slice: Slice,
    pub(crate) sliced: Sliced,
    begun: Instant,
}

impl Turn {
    pub(crate) fn new(slice: Slice) -> Self {
        Self {
            slice,
            sliced: Sliced::default(),
            begun: Instant::now(),
        }
    }

    /// Whether another operation belongs to it. There is always a first.
    pub(crate) fn goes_on(&self) -> bool {
        let done = self.sliced.operations;
        match self.slice.limit {
            SliceLimit::Operations(wanted) => done < wanted,
            SliceLimit::Microseconds(us) => {
                done == 0 || self.begun.elapsed() < Duration::from_micros(us)
            }
        }
    }

    /// Records the timings of one operation, in nanoseconds.
    pub(crate) fn record<const N: usize>(&mut self, timings_ns: [(Measure, u64); N]) {
        self.sliced.operations += 1;
        for (measure, ns) in timings_ns {
            self.sliced.timings_ns.entry(measure).or_default().push(ns);
        }
    }
}
