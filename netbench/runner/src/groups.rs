//! The process groups of the running workers, for a signal handler that ends them: the handler must not take a lock
//! or allocate memory.

use std::sync::atomic::{AtomicI32, Ordering};

use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};

/// Number of groups, more than run at the same time: 64 jobs with a worker for each stack. Further ones end with
/// their stdin.
const MOST: usize = 1024;

/// The groups; 0 marks a free place.
static GROUPS: [AtomicI32; MOST] = [const { AtomicI32::new(0) }; MOST];

/// Adds the group of a started worker.
pub(crate) fn enter(group: i32) {
    let _place = GROUPS.iter().find(|place| changed(place, 0, group));
}

/// Removes the group of an ended worker.
pub(crate) fn leave(group: i32) {
    let _place = GROUPS.iter().find(|place| changed(place, group, 0));
}

/// Ends all workers at once, including those that do not end with their stdin. Safe in a signal handler.
pub fn end_workers() {
    for place in &GROUPS {
        let group = place.load(Ordering::SeqCst);
        if group > 1 {
            // The group may have ended just now.
            let _ended = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
    }
}

fn changed(place: &AtomicI32, from: i32, to: i32) -> bool {
    place
        .compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst)
        .is_ok()
}
