use std::time::Instant;

use netbench_protocol::Clocks;

use crate::clock;

/// The time of one operation's steps on one side.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Meter {
    ns: u64,
}

impl Meter {
    pub(crate) fn ns(self) -> u64 {
        self.ns
    }

    /// Times a step and adds its time.
    #[inline]
    fn time<T>(&mut self, clocks: Clocks, step: impl FnOnce() -> T) -> T {
        match clocks {
            Clocks::Wall => {
                let start = Instant::now();
                let result = step();
                self.ns += clock::nanos(start.elapsed());
                result
            }
            Clocks::Cpu => {
                let start = clock::thread_cpu();
                let result = step();
                let took = clock::thread_cpu().saturating_sub(start);
                self.ns += clock::nanos(took);
                result
            }
        }
    }

    /// Times a step of the client, of the sender, or of an operation without two sides.
    #[inline]
    pub(crate) fn first<T>(&mut self, clocks: Clocks, step: impl FnOnce() -> T) -> Option<T> {
        self.time(clocks, || marked(netbench_first_step, step))
    }

    /// Times a step of the server or the receiver.
    #[inline]
    pub(crate) fn second<T>(&mut self, clocks: Clocks, step: impl FnOnce() -> T) -> Option<T> {
        self.time(clocks, || marked(netbench_second_step, step))
    }
}

/// Runs `step` inside one of the two marks.
#[inline]
fn marked<T>(mark: fn(&mut dyn FnMut()), step: impl FnOnce() -> T) -> Option<T> {
    let (mut step, mut result) = (Some(step), None);
    mark(&mut || {
        if let Some(step) = step.take() {
            result = Some(step());
        }
    });
    result
}

/// Marks the start of a turn, at which callgrind discards its earlier counts.
#[unsafe(no_mangle)]
#[inline(never)]
pub(crate) fn netbench_turn() {
    // The value differs from those of the other functions, so that the compiler does not merge them.
    std::hint::black_box(2);
}

/// Runs a step, during which callgrind counts. Must keep its name and remain a function.
#[unsafe(no_mangle)]
#[inline(never)]
fn netbench_first_step(step: &mut dyn FnMut()) {
    step();
    // Prevents a tail call, which would leave the function before the step.
    std::hint::black_box(());
}

/// Does the same as [`netbench_first_step`] for the other side.
#[unsafe(no_mangle)]
#[inline(never)]
fn netbench_second_step(step: &mut dyn FnMut()) {
    step();
    // The value differs, so that the compiler does not merge the two functions.
    std::hint::black_box(1);
}
