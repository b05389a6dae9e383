//! A CPU quota for a worker that needs no privileges: the worker is stopped and continued many times a second.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use netbench_model::CpuShare;
use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};

/// The time of a worker's run and rest together. The measured operations take milliseconds; with a shorter period,
/// a late timer would have a large effect.
const PERIOD: Duration = Duration::from_millis(4);

/// Stops a group of processes for a part of each period, until it is dropped.
pub(crate) struct Throttle {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Throttle {
    pub(crate) fn start(group: i32, share: CpuShare) -> io::Result<Self> {
        let over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&over);
        let thread = thread::Builder::new()
            .stack_size(128 * 1024)
            .spawn(move || throttle(Pid::from_raw(group), share, &ends))?;
        Ok(Self {
            over,
            thread: Some(thread),
        })
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn throttle(group: Pid, share: CpuShare, over: &AtomicBool) {
    let share = f64::from(share.percent()) / 100.0;
    while !over.load(Ordering::Relaxed) {
        let begun = Instant::now();
        thread::sleep(PERIOD.mul_f64(share));
        if killpg(group, Signal::SIGSTOP).is_err() {
            return;
        }
        // Even if the timer was late, the rest is in proportion to the time of the run.
        let ran = begun.elapsed();
        thread::sleep(ran.mul_f64((1.0 - share) / share));
        if killpg(group, Signal::SIGCONT).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::process::CommandExt, process::Command};

    use super::*;

    /// Returns the CPU time of a process, in the clock's hundredths of a second.
    fn ticks(process: u32) -> u64 {
        let text = fs::read_to_string(format!("/proc/{process}/stat")).expect("it lives");
        let fields: Vec<&str> = text
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .collect();
        // After the name: utime and stime are the 12th and 13th (proc(5)).
        [fields[11], fields[12]]
            .iter()
            .map(|ticks| ticks.parse::<u64>().expect("a number"))
            .sum()
    }

    #[test]
    fn a_process_gets_no_more_than_its_share_and_goes_on_afterwards() {
        let mut busy = Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .process_group(0)
            .spawn()
            .expect("sh starts");
        let group = i32::try_from(busy.id()).expect("a process");
        let share = "20%".parse().expect("a share");
        let begun = Instant::now();
        let throttle = Throttle::start(group, share).expect("a thread");
        thread::sleep(Duration::from_secs(1));
        let (used, took) = (ticks(busy.id()), begun.elapsed());
        drop(throttle);
        // If it were still stopped, it would use no more CPU time.
        let until = Instant::now() + Duration::from_secs(20);
        while ticks(busy.id()) < used + 20 && Instant::now() < until {
            thread::sleep(Duration::from_millis(20));
        }
        let went_on = ticks(busy.id()) >= used + 20;
        busy.kill().expect("it is killed");
        busy.wait().expect("it ends");
        assert!(went_on, "it was left stopped");
        // Other work of the machine may leave it less.
        let share = used as f64 / 100.0 / took.as_secs_f64();
        assert!((0.01..0.30).contains(&share), "{share}");
    }
}
