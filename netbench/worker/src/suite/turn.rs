use std::time::{Duration, Instant};

use netbench_protocol::{Clocks, Slice, SliceLimit, Sliced};
use netbench_tls::Measure;

use super::reference::Reference;
use crate::spent::minor_faults;

/// A turn in progress.
pub(crate) struct Turn<'a> {
    pub(crate) slice: Slice,
    pub(crate) sliced: Sliced,
    begun: Instant,
    minor_faults: u64,
    reference: Option<&'a mut Reference>,
}

impl<'a> Turn<'a> {
    pub(crate) fn new(slice: Slice, reference: &'a mut Reference) -> Self {
        // Verdicts do not depend on figures of the CPU clock.
        let timed = slice.clocks == Clocks::Wall;
        reference.begin();
        Self {
            slice,
            sliced: Sliced::default(),
            begun: Instant::now(),
            minor_faults: minor_faults(),
            reference: timed.then_some(reference),
        }
    }

    /// Returns the results of the turn.
    pub(crate) fn end(mut self) -> Sliced {
        self.sliced.minor_faults = Some(minor_faults().saturating_sub(self.minor_faults));
        self.sliced.reference = self.reference.and_then(Reference::figures);
        self.sliced
    }

    /// Returns whether the turn has another operation.
    pub(crate) fn goes_on(&self) -> bool {
        goes_on(self.slice.limit, self.begun, self.sliced.operations)
    }

    /// Records the timings of one operation, in nanoseconds, and runs the reference loops if they are due.
    pub(crate) fn record<const N: usize>(&mut self, timings_ns: [(Measure, u64); N]) {
        self.sliced.operations += 1;
        for (measure, ns) in timings_ns {
            self.sliced.timings_ns.entry(measure).or_default().push(ns);
        }
        if let Some(reference) = &mut self.reference {
            reference.after_operation();
        }
    }
}

/// Returns whether another operation follows those that were done since `begun`. The first operation always runs.
pub(crate) fn goes_on(limit: SliceLimit, begun: Instant, done: u32) -> bool {
    match limit {
        SliceLimit::Operations(wanted) => done < wanted,
        SliceLimit::Microseconds(us) => done == 0 || begun.elapsed() < Duration::from_micros(us),
    }
}
