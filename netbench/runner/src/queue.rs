use std::{collections::VecDeque, time::Duration};

use parking_lot::{Condvar, Mutex};

use crate::Unit;

/// The remaining units, for many slots. Cold units and others are never processed at the same time.
pub(crate) struct Queue {
    state: Mutex<State>,
    returned: Condvar,
}

struct State {
    units: VecDeque<Unit>,
    /// Number of units that were handed out and not returned; all of them are cold, or none is.
    out: u32,
    cold: bool,
}

impl Queue {
    pub(crate) fn new(units: VecDeque<Unit>) -> Self {
        Self {
            state: Mutex::new(State {
                units,
                out: 0,
                cold: false,
            }),
            returned: Condvar::new(),
        }
    }

    /// Returns the next unit, after waiting for those that must not be processed at the same time; `None` if there
    /// is none left, or if `is_over` returns true meanwhile.
    pub(crate) fn take(&self, is_over: impl Fn() -> bool) -> Option<Unit> {
        const LOOK: Duration = Duration::from_millis(100);
        let mut state = self.state.lock();
        loop {
            let cold = state.units.front()?.is_cold();
            if is_over() {
                return None;
            }
            if state.out == 0 || state.cold == cold {
                state.cold = cold;
                state.out += 1;
                return state.units.pop_front();
            }
            let _ = self.returned.wait_for(&mut state, LOOK);
        }
    }

    /// Returns a unit as done.
    pub(crate) fn give_back(&self) {
        self.state.lock().out -= 1;
        self.returned.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicI32, Ordering},
        thread,
    };

    use netbench_model::Condition;

    use super::*;

    fn unit(condition: Condition) -> Unit {
        Unit {
            first_trial: 0,
            round: 0,
            condition,
            site: 0,
            place: 0,
            order: vec![0],
        }
    }

    #[test]
    fn cold_units_and_others_are_never_out_together() {
        let conditions = [Condition::Clean, Condition::Resumed, Condition::Cold];
        let units = (0..300).map(|i| unit(conditions[(i / 10) % 3])).collect();
        let queue = Queue::new(units);
        // Positive while cold units are out, negative while others are.
        let (out, units) = (AtomicI32::new(0), AtomicI32::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while let Some(unit) = queue.take(|| false) {
                        let sign = if unit.is_cold() { 1 } else { -1 };
                        let before = out.fetch_add(sign, Ordering::SeqCst);
                        assert!(before * sign >= 0, "{before} and {sign}");
                        thread::yield_now();
                        out.fetch_sub(sign, Ordering::SeqCst);
                        units.fetch_add(1, Ordering::SeqCst);
                        queue.give_back();
                    }
                });
            }
        });
        assert_eq!(units.into_inner(), 300);
    }

    #[test]
    fn a_run_that_is_over_waits_for_nothing() {
        let units = [unit(Condition::Clean), unit(Condition::Cold)];
        let queue = Queue::new(units.into());
        assert!(queue.take(|| false).is_some());
        assert!(queue.take(|| true).is_none());
    }
}
