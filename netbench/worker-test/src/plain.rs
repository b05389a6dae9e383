//! The overhead of the suite's harness, compared with a plain program that uses the library directly.

mod library;

use std::{
    env,
    num::NonZero,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use netbench_lab::suite_pki;
use netbench_model::{
    Aead, HeldAfter, KeyType, Measure, Primitive, Scenario, SessionSettings, TlsVersion, Work,
};
use netbench_protocol::{
    Clocks, Hold, Material, Prepare, RequestBody, ResponseBody, Slice, SliceLimit, Sliced,
};
use netbench_runner::{Launch, Layout, WARM_UP, Worker};
use netbench_stats::{FEWEST_OPERATIONS, median, quantile_sorted};
use netbench_worker::settle_heap;
use serde::{Deserialize, Serialize};

pub use library::{Library, Signing, run};

const TURN: Duration = Duration::from_millis(4);
const TURNS: usize = 120;
const LIMIT: Duration = Duration::from_secs(60);

/// Processes of each side that take turns, unless [`PROCESSES`] sets their number.
const TURNING: u64 = 9;

/// Spreads small numbers over all 64 bits (2^64 over the golden ratio).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Number of processes of each side that hold sessions.
const HOLDING: usize = 5;

/// The quantile of a turn's operations, and of all turns.
const LOW: f64 = 0.1;

/// The argument with which no times are compared.
const MEMORY_ALONE: &str = "memory";

/// The variable that makes a process of a plain program one of those that take turns, and numbers it.
const PROCESS: &str = "NETBENCH_PLAIN_PROCESS";

/// The variable with the number of processes.
pub const PROCESSES: &str = "NETBENCH_PLAIN_PROCESSES";

/// The variable that has a plain program print each [`Beside`] as a line of JSON.
pub const JSON: &str = "NETBENCH_PLAIN_JSON";

/// One measure of a stack by a plain program and by the harness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// The stack.
    pub stack: String,
    /// The case's name in the suite.
    pub case: String,
    /// The unit of the figures.
    pub unit: BesideUnit,
    /// The plain program's figures.
    pub plain: BesideFigures,
    /// The harness' figures.
    pub harness: BesideFigures,
    /// The harness' low figure over the plain program's: the median over processes.
    pub ratio: f64,
    /// The lowest ratio of a process.
    pub lowest_ratio: f64,
    /// The highest ratio of a process.
    pub highest_ratio: f64,
}

/// The unit of a [`Beside`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BesideUnit {
    /// Nanoseconds of an operation.
    Nanoseconds,
    /// Bytes of a session.
    Bytes,
}

/// One side's figures, each the median over its processes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BesideFigures {
    /// For times, the 10th percentile over turns of the turns' 10th percentiles; for sizes, the size.
    pub low: f64,
    /// The median and the 95th percentile of all operations; `None` for sizes.
    pub p50_and_p95: Option<[f64; 2]>,
}

impl BesideFigures {
    /// Returns the 95th percentile over the median.
    pub fn tail(&self) -> Option<f64> {
        let [p50, p95] = self.p50_and_p95?;
        Some(p95 / p50)
    }
}

impl Beside {
    /// Returns the figures of processes that took turns: of each the plain program's 10th percentile, median and 95th percentile, in
    /// nanoseconds, and the harness'.
    pub fn of_processes(stack: &str, case: String, processes: &[[[f64; 3]; 2]]) -> Self {
        let [plain, harness] = [0, 1].map(|side| {
            let [low, p50, p95] =
                [0, 1, 2].map(|at| middle(processes.iter().map(|ns| ns[side][at])));
            BesideFigures {
                low,
                p50_and_p95: Some([p50, p95]),
            }
        });
        let ratios = processes
            .iter()
            .map(|[plain, harness]| harness[0] / plain[0]);
        Self {
            ratio: middle(ratios.clone()),
            ..Self::of(
                stack,
                case,
                BesideUnit::Nanoseconds,
                [plain, harness],
                ratios,
            )
        }
    }

    /// Returns the figures of both sides, with the ratio of their low figures.
    fn of(
        stack: &str,
        case: String,
        unit: BesideUnit,
        [plain, harness]: [BesideFigures; 2],
        ratios: impl Iterator<Item = f64> + Clone,
    ) -> Self {
        Self {
            stack: stack.to_owned(),
            case,
            unit,
            plain,
            harness,
            ratio: harness.low / plain.low,
            lowest_ratio: ratios.clone().fold(f64::INFINITY, f64::min),
            highest_ratio: ratios.fold(0.0, f64::max),
        }
    }

    fn print(&self) {
        if env::var_os(JSON).is_some() {
            println!("{}", serde_json::to_string(self).expect("plain figures"));
            return;
        }
        let unit = match self.unit {
            BesideUnit::Nanoseconds => "ns",
            BesideUnit::Bytes => "bytes",
        };
        let tails = match (self.plain.tail(), self.harness.tail()) {
            (Some(plain), Some(harness)) => format!(", p95/p50 {plain:.3} and {harness:.3}"),
            _ => String::new(),
        };
        println!(
            "{}: plain {:.0} {unit}, netbench {:.0} {unit}, ratio {:.4} ({:.4} … {:.4}){tails}",
            self.case,
            self.plain.low,
            self.harness.low,
            self.ratio,
            self.lowest_ratio,
            self.highest_ratio
        );
    }
}

/// Runs this program and `worker` in turns, in separate processes, and prints for each measure both sides' times (the
/// 10th percentile over turns, of the 10th percentiles of their operations) and their ratio: the median over
/// the processes, and the range. The worker does as many operations as the plain program did, as in a run: with its reference
/// loops between them. The operations that begin a turn are left out on either side. Then come the figures of `memory`.
///
/// Each process, on both sides, has a different layout of memory, which can affect one of them by a percent or two.
///
/// The program's argument `memory` leaves out the times; any other one, such as `mldsa`, leaves out the cases whose names lack it.
///
/// # Panics
/// A process does not execute a request.
pub fn compare(
    worker: &Path,
    stack: &str,
    timings: impl FnOnce(&Harness<'_>),
    memory: impl FnOnce(&Harness<'_>),
) {
    let process = env::var(PROCESS).ok().and_then(|text| text.parse().ok());
    let harness = Harness::on_one_core(worker, stack, process.unwrap_or_default());
    if process.is_some() {
        settle_heap(process);
        timings(&harness);
        return;
    }
    let processes = env::var(PROCESSES).ok().and_then(|text| text.parse().ok());
    let processes: u64 = processes.unwrap_or(TURNING);
    if env::var_os(JSON).is_none() {
        println!(
            "a plain program against netbench's harness ({stack}), {processes} processes of each, core {}",
            harness.core
        );
    }
    if !env::args().any(|argument| argument == MEMORY_ALONE) {
        compare_times(stack, processes);
    }
    if part().is_none() {
        memory(&harness);
    }
}

/// Returns the argument that the names of cases must contain, if there is one.
fn part() -> Option<String> {
    env::args()
        .skip(1)
        .find(|argument| argument != MEMORY_ALONE && !argument.starts_with('-'))
}

/// Has processes of this program take turns with the worker, and prints their times.
fn compare_times(stack: &str, processes: u64) {
    let mut all: Vec<(String, Vec<[[f64; 3]; 2]>)> = Vec::new();
    for process in 1..=processes {
        let this = env::current_exe().expect("this program");
        let output = Command::new(this)
            .args(env::args().skip(1))
            .env(PROCESS, process.to_string())
            .stderr(Stdio::inherit())
            .output()
            .expect("it runs");
        assert!(output.status.success(), "process {process} failed");
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let (name, figures) = line.split_once('\t').expect("a name and its figures");
            let figures = serde_json::from_str(figures).expect("figures of two sides");
            match all.iter_mut().find(|(known, _)| known == name) {
                Some((_, processes)) => processes.push(figures),
                None => all.push((name.to_owned(), vec![figures])),
            }
        }
    }
    for (case, processes) in all {
        Beside::of_processes(stack, case, &processes).print();
    }
}

/// A stack's worker, and the core on which it alternates with a plain program in this process.
#[derive(Debug, Clone, Copy)]
pub struct Harness<'a> {
    program: &'a Path,
    stack: &'a str,
    core: u32,
    layout: u64,
}

impl<'a> Harness<'a> {
    /// Holds this process, and those that it starts, to the machine's last core, as far as the system permits. `layout` numbers the
    /// layouts of memory.
    pub fn on_one_core(program: &'a Path, stack: &'a str, layout: u64) -> Self {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let core = u32::try_from(cores - 1).unwrap_or_default();
        // SAFETY: cpu_set_t consists of integers, for which zero is valid.
        let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // SAFETY: the core exists on this machine.
        unsafe { libc::CPU_SET(core as usize, &mut set) };
        // SAFETY: the set has the given size. A failure only makes the figures vary more.
        unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) };
        Self {
            program,
            stack,
            core,
            layout,
        }
    }

    /// Alternates turns of at least 4 ms and twenty operations after the warm-up between the worker and `plain`, which
    /// does one operation and returns its times in ns.
    ///
    /// # Panics
    /// The worker does not execute a request.
    pub fn take_turns<const N: usize>(
        &self,
        scenario: &Scenario,
        measures: [Measure; N],
        mut plain: impl FnMut() -> [u64; N],
    ) {
        if part().is_some_and(|part| !scenario.to_string().contains(&part)) {
            return;
        }
        let mut worker = self.prepared(scenario, Layout::Varied(self.layout.wrapping_mul(SPREAD)));
        let mut turns: Vec<[[f64; N]; 2]> = Vec::new();
        let mut every = [const { [const { Vec::new() }; N] }; 2];
        let least = (WARM_UP + FEWEST_OPERATIONS) as usize;
        let mut operations = WARM_UP + FEWEST_OPERATIONS;
        for turn in 0..=TURNS {
            let mut figures = [const { [const { Vec::new() }; N] }; 2];
            // Each goes first in every other turn.
            for side in [0, 1].map(|side| (side + turn) % 2) {
                figures[side] = match side {
                    0 => {
                        let begun = Instant::now();
                        let mut timings = [const { Vec::new() }; N];
                        while begun.elapsed() < TURN || timings[0].len() < least {
                            for (kept, ns) in timings.iter_mut().zip(plain()) {
                                kept.push(ns as f64);
                            }
                        }
                        operations = u32::try_from(timings[0].len()).unwrap_or(u32::MAX);
                        timings.map(|ns| ns[WARM_UP as usize..].to_vec())
                    }
                    _ => timings_of(&mut worker, operations, measures),
                };
            }
            // The first turn of each side is discarded.
            if turn > 0 {
                for (every, figures) in every.iter_mut().flatten().zip(figures.iter().flatten()) {
                    every.extend_from_slice(figures);
                }
                turns.push(figures.map(|side| side.map(low)));
            }
        }
        for (at, measure) in measures.iter().enumerate() {
            let figures = [0, 1].map(|side| {
                let lows = turns.iter().map(|turn| turn[side][at]).collect();
                let mut all = std::mem::take(&mut every[side][at]);
                all.sort_by(f64::total_cmp);
                let [p50, p95] = [0.5, 0.95].map(|p| quantile_sorted(&all, p).unwrap_or(f64::NAN));
                [low(lows), p50, p95]
            });
            println!("{scenario}_{measure}\t{}", serde_json::json!(figures));
        }
    }

    /// Returns what the operations of a fresh worker take after the warm-up, both sides together, in rising order.
    ///
    /// # Panics
    /// The worker does not do what it is asked.
    pub fn both_sides(&self, scenario: &Scenario, operations: u32) -> Vec<f64> {
        let mut worker = self.prepared(scenario, Layout::Varied(self.layout.wrapping_mul(SPREAD)));
        let measures = [Measure::Client, Measure::Server];
        let [client, server] = timings_of(&mut worker, WARM_UP + operations, measures);
        let mut both: Vec<f64> = client.iter().zip(&server).map(|(a, b)| a + b).collect();
        both.sort_by(f64::total_cmp);
        both
    }

    /// Returns the number of minor page faults of an operation of a fresh worker.
    ///
    /// # Panics
    /// The worker does not execute a request, or does not count page faults.
    pub fn page_faults(&self, scenario: &Scenario, operations: u32) -> f64 {
        let mut worker = self.prepared(scenario, Layout::System);
        let sliced = sliced(&mut worker, operations);
        let faults = sliced.minor_faults.expect("a number of page faults");
        faults as f64 / f64::from(sliced.operations)
    }

    /// Has fresh processes hold `sessions`, in turns with `plain`, which gives the bytes that a session adds to
    /// the resident size of a fresh process; prints the medians and their ratio.
    ///
    /// # Panics
    /// The worker does not execute a request.
    pub fn compare_memory(
        &self,
        version: TlsVersion,
        sessions: u32,
        after: HeldAfter,
        mut plain: impl FnMut() -> f64,
    ) {
        let settings = SessionSettings::usual(version, KeyType::Rsa2048, Aead::Aes256Gcm);
        let scenario = Scenario::timed(Work::Memory {
            settings,
            sessions,
            after,
        });
        let (mut plains, mut harnesses) = (Vec::new(), Vec::new());
        for _ in 0..HOLDING {
            plains.push(plain());
            let mut worker = self.prepared(&scenario, Layout::default());
            let asked = RequestBody::Hold(Hold { sessions });
            match worker.ask(asked, LIMIT).expect("an answer") {
                ResponseBody::Held(held) => {
                    let grown = held.after_bytes.saturating_sub(held.before_bytes);
                    harnesses.push(grown as f64 / f64::from(held.sessions));
                }
                other => panic!("{other:?}"),
            }
        }
        let ratios = plains
            .iter()
            .zip(&harnesses)
            .map(|(plain, harness)| harness / plain);
        let sides = [&plains, &harnesses].map(|sizes| BesideFigures {
            low: middle(sizes.iter().copied()),
            p50_and_p95: None,
        });
        let case = format!("{scenario}_per-session");
        Beside::of(self.stack, case, BesideUnit::Bytes, sides, ratios).print();
    }

    /// Starts a worker and prepares `scenario`.
    fn prepared(&self, scenario: &Scenario, layout: Layout) -> Worker {
        let launch = Launch {
            core: Some(self.core),
            layout,
            ..Launch::default()
        };
        let mut worker = Worker::start(&self.program.into(), &launch).expect("the worker starts");
        let request = RequestBody::Prepare(Box::new(Prepare {
            stack: self.stack.to_owned(),
            scenario: *scenario,
            material: material_for(scenario),
        }));
        match worker.ask(request, LIMIT).expect("an answer") {
            ResponseBody::Prepared(_) => worker,
            other => panic!("{other:?}"),
        }
    }
}

/// Returns the chain of two RSA-2048 certificates, with their root, that both sides use.
pub fn material() -> Material {
    material_of_key(KeyType::Rsa2048)
}

/// Returns the chain of these settings, with its root.
pub fn material_of(settings: &SessionSettings) -> Material {
    suite_pki(settings.key, settings.chain_length)
}

/// Returns the chain of two certificates of this type of key, with its root.
pub fn material_of_key(key: KeyType) -> Material {
    suite_pki(key, 2)
}

fn material_for(scenario: &Scenario) -> Material {
    match (scenario.settings(), scenario.work) {
        (Some(settings), _) => material_of(settings),
        (
            None,
            Work::Verify { key, .. }
            | Work::Crypto {
                primitive: Primitive::Sign { key } | Primitive::Verify { key },
            },
        ) => material_of_key(key),
        (None, _) => material(),
    }
}

/// Returns the resident size of this process in bytes, which the kernel sums page by page.
///
/// # Panics
/// The kernel does not report the size.
pub fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").expect("smaps_rollup");
    let line = text.lines().find_map(|line| line.strip_prefix("Rss:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.expect("a resident size") * 1024
}

fn middle(values: impl IntoIterator<Item = f64>) -> f64 {
    median(&values.into_iter().collect::<Vec<_>>()).unwrap_or(f64::NAN)
}

fn low(mut timings: Vec<f64>) -> f64 {
    timings.sort_by(f64::total_cmp);
    quantile_sorted(&timings, LOW).unwrap_or(f64::NAN)
}

/// The operations of each measure in a turn of `worker`, without those that warm it up.
fn timings_of<const N: usize>(
    worker: &mut Worker,
    operations: u32,
    measures: [Measure; N],
) -> [Vec<f64>; N] {
    let sliced = sliced(worker, operations);
    measures.map(|measure| {
        let timings = sliced.timings_ns[&measure].iter().skip(WARM_UP as usize);
        timings.map(|ns| *ns as f64).collect()
    })
}

fn sliced(worker: &mut Worker, operations: u32) -> Sliced {
    let slice = Slice {
        limit: SliceLimit::Operations(operations),
        clocks: Clocks::Wall,
        batch: 1,
    };
    match worker.ask(RequestBody::Slice(slice), LIMIT) {
        Ok(ResponseBody::Sliced(sliced)) => *sliced,
        other => panic!("{other:?}"),
    }
}
