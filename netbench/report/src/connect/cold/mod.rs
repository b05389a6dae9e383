//! The cost of the first connection of a process beyond a later one. It is paid once per process, for any site, and
//! is therefore a time and not a ratio. Start reading at [`cold`], then [`ColdRow`].

mod document;

use std::collections::{BTreeMap, HashMap};

use itertools::Itertools;
use netbench_model::{
    Condition, Measured, ProcessCost, Role, Sample, SampleKey, SetUpStep, StackName,
};
use netbench_stats::median;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pairs::median_of;

pub(crate) use document::{first_cost, first_longer, items, not_measurable, sentence};

/// A stack's cost of the first connection of a process beyond a later one, connector included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ColdRow {
    /// The stack.
    pub stack: StackName,
    /// The connections that first connections are compared with.
    pub against: ColdAgainst,
    /// Number of processes.
    pub processes: u64,
    /// CPU time of the client's thread; absent in runs that did not record the connector's.
    pub cpu: Option<OnceCost>,
    /// Wall-clock time.
    pub wall: OnceCost,
    /// CPU time by cause, if it was recorded.
    pub causes: Option<ColdCauses>,
}

/// The connection that the first connection of a process is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ColdAgainst {
    /// The second connection of the same process, to the same site.
    SameProcess,
    /// A clean connection to the same site in the same round, of a process that had made others.
    CleanConnection,
}

/// A cost that is paid once per process.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OnceCost {
    /// The median over processes of the difference, in nanoseconds.
    pub median_ns: f64,
    /// The 95 % interval of the median, from order statistics; absent with fewer than six processes.
    pub interval: Option<OnceInterval>,
}

/// A 95 % interval of a cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OnceInterval {
    /// The lower end, in nanoseconds.
    pub low_ns: f64,
    /// The upper end, in nanoseconds.
    pub high_ns: f64,
}

/// The CPU time of a first connection by cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ColdCauses {
    /// Number of processes that took the steps separately.
    pub processes: u64,
    /// The steps that take time only once: the first time less the second, the median over processes.
    pub steps: Vec<ColdStep>,
    /// The minor page faults that the connection after these steps had in addition to those of a later one, times
    /// the cost of one fault, in nanoseconds; at most the additional time of the connection.
    pub page_faults_ns: f64,
    /// The whole cost in the same rounds and on the same sites, in nanoseconds.
    pub whole_ns: f64,
    /// The unexplained rest, in nanoseconds, the median over processes. Negative if the parts take more than the
    /// whole.
    pub unexplained_ns: f64,
    /// The share of the steps and page faults in the whole: 1 is all of it. Absent if the whole is under a
    /// millisecond, by which connections vary.
    pub explained: Option<f64>,
}

/// The whole cost, in nanoseconds, below which no shares are computed, because connections vary by as much.
const LEAST_NS: f64 = 1e6;

/// A step of the set-up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ColdStep {
    /// The step.
    pub step: SetUpStep,
    /// CPU time of the first execution beyond a later one, in nanoseconds.
    pub cpu_ns: f64,
    /// Wall-clock time of the first execution beyond a later one, in nanoseconds.
    pub wall_ns: f64,
    /// Minor page faults of the first execution beyond a later one. Their time is included in the step's.
    pub minor_faults: f64,
}

/// Returns one row for each stack with cold connections, in the order of `stacks`.
pub(crate) fn cold(stacks: &[StackName], samples: &[Sample]) -> Vec<ColdRow> {
    let samples = Samples::of(samples);
    let rows = stacks.iter().filter_map(|stack| samples.row(stack));
    rows.collect()
}

/// The successful samples, the last of each key.
struct Samples<'a>(HashMap<Key<'a>, &'a Measured>);

type Key<'a> = (Role, SampleKey<'a>);

impl<'a> Samples<'a> {
    fn of(samples: &'a [Sample]) -> Self {
        let keyed = samples
            .iter()
            .filter_map(|sample| Some(((sample.role, sample.key()), sample.outcome.ok()?)));
        Self(keyed.collect())
    }

    /// Returns the cold connections of a stack with a role, in an order that does not depend on a hash table's.
    fn firsts(&self, stack: &StackName, role: Role) -> Vec<(&Key<'a>, &'a Measured)> {
        let these = self
            .0
            .iter()
            .filter(|((of, (condition, .., of_stack)), _)| {
                (*of, *condition, *of_stack) == (role, Condition::Cold, stack)
            });
        these
            .map(|(key, measured)| (key, *measured))
            .sorted_by_key(|(key, _)| key.1)
            .collect()
    }

    /// Returns the connection of the same stack, site and round under another condition, or with another role.
    fn beside(&self, key: &Key<'a>, condition: Condition, role: Role) -> Option<&'a Measured> {
        let (_, (_, round, site, stack)) = *key;
        let beside = (role, (condition, round, site, stack));
        self.0.get(&beside).copied()
    }

    /// Returns the first connections, each with the later one of the same site and round.
    fn pairs(&self, stack: &StackName) -> (ColdAgainst, Vec<(&'a Measured, &'a Measured)>) {
        let firsts = self.firsts(stack, Role::Measured);
        let [same, clean] = [
            (Condition::Cold, Role::Again),
            (Condition::Clean, Role::Measured),
        ]
        .map(|(condition, role)| {
            let firsts = firsts.iter();
            firsts
                .filter_map(|(key, first)| Some((*first, self.beside(key, condition, role)?)))
                .collect_vec()
        });
        if same.is_empty() {
            return (ColdAgainst::CleanConnection, clean);
        }
        (ColdAgainst::SameProcess, same)
    }

    fn row(&self, stack: &StackName) -> Option<ColdRow> {
        let (against, pairs) = self.pairs(stack);
        Some(ColdRow {
            stack: stack.clone(),
            against,
            processes: pairs.len() as u64,
            cpu: OnceCost::of(&pairs, cpu_ns),
            wall: OnceCost::of(&pairs, wall_ns)?,
            causes: self.causes(stack),
        })
    }

    /// Computes the causes from the processes that took steps, each with the two connections of the same site and
    /// round.
    fn causes(&self, stack: &StackName) -> Option<ColdCauses> {
        let stepped = self.firsts(stack, Role::Stepped).into_iter();
        let processes = stepped.filter_map(|(key, stepped)| {
            let first = self.beside(key, Condition::Cold, Role::Measured)?;
            let later = self.beside(key, Condition::Cold, Role::Again)?;
            Stepped::of(stepped, first, later)
        });
        let processes: Vec<Stepped> = processes.collect();
        let whole_ns = median_of(&processes, |process| process.whole_ns)?;
        let unexplained_ns = median_of(&processes, |process| process.rest_ns)?;
        let mut steps: BTreeMap<SetUpStep, Vec<&ColdStep>> = BTreeMap::new();
        for (step, once) in processes.iter().flat_map(|process| &process.steps) {
            steps.entry(*step).or_default().push(once);
        }
        Some(ColdCauses {
            processes: processes.len() as u64,
            steps: steps.values().filter_map(|times| middle(times)).collect(),
            page_faults_ns: median_of(&processes, |process| process.page_faults_ns)?,
            whole_ns,
            unexplained_ns,
            explained: (whole_ns >= LEAST_NS).then(|| 1.0 - unexplained_ns / whole_ns),
        })
    }
}

/// The CPU time of the first connection of one process by cause, in nanoseconds.
struct Stepped {
    whole_ns: f64,
    page_faults_ns: f64,
    rest_ns: f64,
    steps: BTreeMap<SetUpStep, ColdStep>,
}

impl Stepped {
    fn of(stepped: &Measured, first: &Measured, later: &Measured) -> Option<Self> {
        let (process, after) = (stepped.process.as_ref()?, later.process.as_ref()?);
        let whole_ns = less(cpu_ns(first)?, cpu_ns(later)?);
        let left_ns = less(cpu_ns(stepped)?, cpu_ns(later)?);
        let faults = less(process.minor_faults, after.minor_faults);
        let page_faults_ns = faults * process.fault_ns.unwrap_or(0) as f64;
        let page_faults_ns = page_faults_ns.clamp(0.0, left_ns.max(0.0));
        let steps = once(process);
        let rest_ns = steps
            .values()
            .fold(whole_ns - page_faults_ns, |rest, once| rest - once.cpu_ns);
        Some(Self {
            whole_ns,
            page_faults_ns,
            rest_ns,
            steps,
        })
    }
}

fn less(ns: u64, again_ns: u64) -> f64 {
    ns as f64 - again_ns as f64
}

/// The smallest number of processes for which a cost has an interval.
const FEWEST: usize = 6;

impl OnceCost {
    /// Returns whether the difference is a cost. It is not if later connections take longer than the first, for
    /// example because a garbage collector runs in them.
    pub fn is_measurable(&self) -> bool {
        self.interval
            .map_or(self.median_ns >= -LEAST_NS, |ends| ends.high_ns >= 0.0)
    }

    /// Returns the cost by the differences of pairs of connections.
    fn of(pairs: &[(&Measured, &Measured)], ns: fn(&Measured) -> Option<u64>) -> Option<Self> {
        let pairs = pairs.iter();
        let differences = pairs.filter_map(|(first, later)| Some(less(ns(first)?, ns(later)?)));
        let mut differences: Vec<f64> = differences.collect();
        let median_ns = median(&differences)?;
        differences.sort_by(f64::total_cmp);
        let count = differences.len();
        // The binomial distribution's 2.5th percentile, by its normal approximation.
        let half = 1.96 * (count as f64).sqrt() / 2.0;
        let rank = (count as f64 / 2.0 - half).max(0.0) as usize;
        let enough = count >= FEWEST;
        let interval = enough.then(|| OnceInterval {
            low_ns: differences[rank],
            high_ns: differences[count - 1 - rank],
        });
        Some(Self {
            median_ns,
            interval,
        })
    }
}

/// Returns the one-time part of each step in a process; the parts of a step that occurs twice are added.
fn once(process: &ProcessCost) -> BTreeMap<SetUpStep, ColdStep> {
    let mut steps = BTreeMap::new();
    for cost in &process.steps {
        let once: &mut ColdStep = steps.entry(cost.step).or_insert(ColdStep {
            step: cost.step,
            cpu_ns: 0.0,
            wall_ns: 0.0,
            minor_faults: 0.0,
        });
        once.cpu_ns += less(cost.first.cpu_ns, cost.again.cpu_ns);
        once.wall_ns += less(cost.first.wall_ns, cost.again.wall_ns);
        once.minor_faults += less(cost.first.minor_faults, cost.again.minor_faults);
    }
    steps
}

fn middle(times: &[&ColdStep]) -> Option<ColdStep> {
    let times = times.iter().copied();
    Some(ColdStep {
        step: times.clone().next()?.step,
        cpu_ns: median_of(times.clone(), |step| step.cpu_ns)?,
        wall_ns: median_of(times.clone(), |step| step.wall_ns)?,
        minor_faults: median_of(times, |step| step.minor_faults)?,
    })
}

/// Returns the CPU time of the connector and the connection, if both were recorded.
fn cpu_ns(measured: &Measured) -> Option<u64> {
    Some(measured.process.as_ref()?.connector_cpu_ns + measured.phases.cpu_ns)
}

/// Returns the wall-clock time of the connector and the connection.
fn wall_ns(measured: &Measured) -> Option<u64> {
    Some(measured.phases.connector_ns? + measured.phases.total_ns)
}
