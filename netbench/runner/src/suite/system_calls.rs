mod names;

use std::collections::BTreeMap;

use netbench_model::{Scenario, StackName, SystemCalls};
use netbench_protocol::{Clocks, Slice, SliceLimit};

use self::names::name;
use super::{
    SuiteTrials,
    proof::prove_slice,
    trace::{Calls, Trace},
    workers::{Ready, TURN_LIMIT, ready},
};
use crate::Launch;

/// Numbers of operations of two turns. The difference of their calls leaves out those of a turn's request and answer.
const OPERATIONS: [u32; 2] = [20, 120];

/// The number of operations before the first turn that is counted.
const WARM_UP: u32 = 20;

/// The rounds in which calls are counted: the layout of the heap, which some calls depend on, differs between rounds.
pub const COUNTED_ROUNDS: u32 = 3;

/// Counts the system calls of operations in a separate process, in which no figure is timed.
pub(super) fn count(
    trials: &SuiteTrials<'_>,
    stack: &StackName,
    scenario: &Scenario,
    launch: &Launch<'_>,
) -> SystemCalls {
    match counted(trials, stack, scenario, launch) {
        Ok([few, many]) => SystemCalls::Counted {
            operations: u64::from(OPERATIONS[1] - OPERATIONS[0]),
            calls: difference(&few, &many),
        },
        Err(reason) => SystemCalls::Uncounted { reason },
    }
}

/// Returns the calls of both turns.
fn counted(
    trials: &SuiteTrials<'_>,
    stack: &StackName,
    scenario: &Scenario,
    launch: &Launch<'_>,
) -> Result<[Calls; 2], String> {
    let mut ready = ready(trials, stack, scenario, launch).map_err(|lost| lost.to_string())?;
    turn(&mut ready, scenario, WARM_UP)?;
    let trace = Trace::start(ready.worker.process()).map_err(|error| error.to_string())?;
    let mut before = trace.calls();
    let turns = OPERATIONS.map(|operations| {
        turn(&mut ready, scenario, operations)?;
        let now = trace.calls();
        let calls = since(&before, &now);
        before = now;
        Ok::<_, String>(calls)
    });
    trace.end().map_err(|error| error.to_string())?;
    let [few, many] = turns;
    Ok([few?, many?])
}

/// Performs a turn that is not timed.
fn turn(ready: &mut Ready, scenario: &Scenario, operations: u32) -> Result<(), String> {
    let slice = Slice {
        limit: SliceLimit::Operations(operations),
        // Every reading of the CPU clock is a system call.
        clocks: Clocks::Wall,
        batch: 1,
    };
    let sliced = ready.slice(slice, TURN_LIMIT);
    let sliced = sliced.map_err(|lost| lost.to_string())?;
    prove_slice(scenario, &slice, &sliced).map_err(|failure| failure.detail)
}

/// Returns the calls between two moments.
fn since(before: &Calls, now: &Calls) -> Calls {
    let calls = now.iter().map(|(call, times)| {
        let earlier = before.get(call).copied().unwrap_or(0);
        (*call, times.saturating_sub(earlier))
    });
    calls.collect()
}

/// Returns by name the calls that the larger turn has more than the smaller one. Readings of a clock are the harness's.
fn difference(few: &Calls, many: &Calls) -> BTreeMap<String, u64> {
    let more = since(few, many).into_iter();
    more.filter(|(_, times)| *times > 0)
        .map(|(call, times)| (name(call), times))
        .filter(|(name, _)| name != "clock_gettime")
        .collect()
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        io::{BufRead, BufReader, Write},
        os::unix::process::CommandExt,
        process::{Command, Stdio},
        thread,
        time::{Duration, Instant},
    };

    use super::*;

    #[test]
    fn calls_of_a_turn_itself_and_of_clocks_are_no_operations() {
        let [few, many] = [[1, 20, 20], [1, 120, 120]].map(|[read, brk, clock]| {
            Calls::from([
                (number("read"), read),
                (number("brk"), brk),
                (number("clock_gettime"), clock),
            ])
        });
        let found = difference(&few, &many);
        assert_eq!(found, BTreeMap::from([("brk".to_owned(), 100)]));
    }

    /// The shell opens the file once for each line that it is given, and reads one byte at a time from a pipe.
    #[test]
    fn a_program_s_calls_are_counted_while_it_is_traced_and_it_goes_on_afterwards() {
        // The program is in another process than the one that is started.
        let script = "echo $$; while read line; do : < /dev/null; echo done; done";
        let mut shell = Command::new("sh")
            .args(["-c", "sh -c \"$1\"; exit", "sh", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let (mut to, mut from) = (
            shell.stdin.take().unwrap(),
            BufReader::new(shell.stdout.take().unwrap()),
        );
        let mut process = String::new();
        from.read_line(&mut process).unwrap();
        turn(&mut to, &mut from, 1);
        let trace = Trace::start(shell.id()).unwrap();
        turn(&mut to, &mut from, 2);
        wait_until_it_reads(process.trim());
        let before = trace.calls();
        turn(&mut to, &mut from, 7);
        wait_until_it_reads(process.trim());
        let calls = since(&before, &trace.calls());
        trace.end().unwrap();
        assert_eq!(calls.get(&number("openat")), Some(&7), "{calls:?}");
        assert_eq!(calls.get(&number("write")), Some(&7), "{calls:?}");
        assert_eq!(calls.get(&number("read")), Some(&14), "{calls:?}");
        turn(&mut to, &mut from, 3);
        drop(to);
        assert!(shell.wait().unwrap().success());
    }

    #[test]
    fn a_process_that_is_not_there_cannot_be_traced() {
        assert!(Trace::start(u32::MAX / 2).is_err());
    }

    fn turn(to: &mut impl Write, from: &mut impl BufRead, lines: usize) {
        let mut answer = String::new();
        for _ in 0..lines {
            to.write_all(b"x\n").unwrap();
            from.read_line(&mut answer).unwrap();
        }
        assert_eq!(answer, "done\n".repeat(lines));
    }

    /// Waits until a shell sleeps in the read of its next line: before, this read may be counted or not.
    fn wait_until_it_reads(process: &str) {
        let begun = Instant::now();
        loop {
            let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
            let (_, state) = status.rsplit_once(") ").unwrap();
            if state.starts_with('S') {
                return;
            }
            assert!(begun.elapsed() < TURN_LIMIT, "{status}");
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn number(of: &str) -> u64 {
        (0..1_000).find(|number| name(*number) == of).unwrap()
    }
}
