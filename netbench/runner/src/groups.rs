//! The process groups of the workers that run, for a signal handler to end: it may take no lock and allocate
//! nothing.

use std::sync::atomic::{AtomicI32, Ordering};

use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};

/// More than run at one time: 64 jobs with a worker for each stack. Those beyond end with their stdin.
const MOST: usize = 1024;

/// 0 where there is none.
static GROUPS: [AtomicI32; MOST] = [const { AtomicI32::new(0) }; MOST];

/// A worker runs in this group.
pub(crate) fn enter(group: i32) {
    let _place = GROUPS.iter().find(|place| changed(place, 0, group));
}

/// It has been ended.
pub(crate) fn leave(group: i32) {
    let _place = GROUPS.iter().find(|place| changed(place, group, 0));
}

/// Ends all workers at once, also those that do not end with their stdin. Safe in a signal handler.
pub fn end_workers() {
    for place in &GROUPS {
        let group = place.load(Ordering::SeqCst);
        if group > 1 {
            // It may have ended just now.
            let _ended = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
    }
}

fn changed(place: &AtomicI32, from: i32, to: i32) -> bool {
    place
        .compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst)
        .is_ok()
}
