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

    /// Times a step and adds it.
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

    /// Times a step of the client, the sender, or whoever works alone.
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

/// Callgrind is told to forget what it has counted when this begins: all that came before a turn.
#[unsafe(no_mangle)]
#[inline(never)]
pub(crate) fn netbench_turn() {
    // Another value than the others have, so that none are folded into one.
    std::hint::black_box(2);
}

/// Callgrind is told to count only while this runs: it must keep its name and stay a function.
#[unsafe(no_mangle)]
#[inline(never)]
fn netbench_first_step(step: &mut dyn FnMut()) {
    step();
    // Keeps the call from being the function's last, which would jump out of it.
    std::hint::black_box(());
}

/// As [`netbench_first_step`], for the other side.
#[unsafe(no_mangle)]
#[inline(never)]
fn netbench_second_step(step: &mut dyn FnMut()) {
    step();
    // Another value, so that the two are not folded into one.
    std::hint::black_box(1);
}
