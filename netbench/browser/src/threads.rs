use std::{collections::HashMap, fs, io, path::PathBuf};

use netbench_model::browser::Scheduled;
use nix::unistd::Pid;

/// The scheduler's counters of a browser's threads (`/proc/PID/task/TID/schedstat`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Threads(HashMap<u32, Scheduled>);

impl Threads {
    /// Reads the counters of all threads of a process group. Threads whose counters cannot be read are left out.
    pub(crate) fn of_group(group: Pid) -> Self {
        let threads = processes(group)
            .into_iter()
            .flatten()
            .filter_map(|process| fs::read_dir(process.join("task")).ok())
            .flat_map(Iterator::flatten);
        let counters = threads.filter_map(|thread| {
            let number = thread.file_name().to_str()?.parse().ok()?;
            let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            Some((number, scheduled(&text)?))
        });
        Self(counters.collect())
    }

    /// Returns the sums of what the counters have gained since `earlier`. A thread that ended meanwhile is not in them.
    pub fn since(&self, earlier: &Self) -> Scheduled {
        let gained = self.0.iter().map(|(number, now)| {
            let before = earlier.0.get(number).copied().unwrap_or_default();
            Scheduled {
                ran_ns: now.ran_ns.saturating_sub(before.ran_ns),
                waited_ns: now.waited_ns.saturating_sub(before.waited_ns),
            }
        });
        gained.fold(Scheduled::default(), |sum, thread| Scheduled {
            ran_ns: sum.ran_ns.saturating_add(thread.ran_ns),
            waited_ns: sum.waited_ns.saturating_add(thread.waited_ns),
        })
    }
}

/// Returns the folders in `/proc` of the running processes of a group.
pub(crate) fn processes(group: Pid) -> io::Result<impl Iterator<Item = PathBuf>> {
    let all = fs::read_dir("/proc")?.flatten().map(|entry| entry.path());
    Ok(all.filter(move |process| {
        fs::read_to_string(process.join("stat")).is_ok_and(|stat| is_running(&stat, group))
    }))
}

/// Returns whether a process runs and belongs to the group, by its `stat` in `/proc`.
fn is_running(stat: &str, group: Pid) -> bool {
    // The process's name, in parentheses, may contain any character.
    let Some((_, after)) = stat.rsplit_once(')') else {
        return false;
    };
    let mut fields = after.split_whitespace();
    let (state, its_group) = (fields.next(), fields.nth(1));
    its_group.and_then(|group| group.parse().ok()) == Some(group.as_raw())
        && !matches!(state, Some("Z" | "X"))
}

/// Parses a `schedstat`: nanoseconds on a core, nanoseconds in the queue, number of time slices.
fn scheduled(text: &str) -> Option<Scheduled> {
    let mut fields = text.split_ascii_whitespace();
    Some(Scheduled {
        ran_ns: fields.next()?.parse().ok()?,
        waited_ns: fields.next()?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threads(counters: &[(u32, &str)]) -> Threads {
        let counters = counters.iter();
        Threads(
            counters
                .filter_map(|(n, text)| Some((*n, scheduled(text)?)))
                .collect(),
        )
    }

    #[test]
    fn counters_are_compared_thread_by_thread() {
        let earlier = threads(&[(1, "100 10 3"), (2, "500 50 4")]);
        let now = threads(&[(1, "150 30 5"), (3, "7 8 1"), (4, "9"), (5, "-1 2 3")]);
        assert_eq!(
            now.since(&earlier),
            Scheduled {
                ran_ns: 57,
                waited_ns: 28
            }
        );
        assert_eq!(Threads::default().since(&now), Scheduled::default());
    }

    #[test]
    fn this_process_has_run() {
        let threads = Threads::of_group(nix::unistd::getpgrp());
        assert!(threads.since(&Threads::default()).ran_ns > 0);
    }

    #[test]
    fn a_process_that_nobody_waits_for_has_ended() {
        let group = Pid::from_raw(42);
        for (stat, runs) in [
            ("43 (a) b) S 42 42 42 0 -1", true),
            ("43 (firefox) Z 1 42 42 0 -1", false),
            ("43 (firefox) X 1 42 42 0 -1", false),
            ("44 (42) S 42 44 42 0 -1", false),
            ("", false),
        ] {
            assert_eq!(is_running(stat, group), runs, "{stat}");
        }
    }
}
