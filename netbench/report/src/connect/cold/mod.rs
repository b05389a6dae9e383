//! The cost of the first connection of a process beyond a later one. It is paid once per process, for any site, and
//! is therefore a time and not a ratio. Start reading at [`cold`], then [`ColdRow`].

mod document;

use std::collections::{BTreeMap, HashMap};

use netbench_model::{Condition, Measured, Role, Sample, SetUpStep, StackName};
use netbench_stats::median;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use document::{FirstLimit, first_cost, first_longer, items, not_measurable, sentence};

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

type Key<'a> = (Condition, Role, u32, &'a str, &'a StackName);

impl<'a> Samples<'a> {
    fn of(samples: &'a [Sample]) -> Self {
        let keyed = samples.iter().filter_map(|sample| {
            let key = (
                sample.condition,
                sample.role,
                sample.round,
                sample.site.as_str(),
                &sample.stack,
            );
            Some((key, sample.outcome.ok()?))
        });
        Self(keyed.collect())
    }

    /// Returns the cold connections of a stack with a role, in an order that does not depend on a hash table's.
    fn firsts(&self, stack: &StackName, role: Role) -> Vec<(&Key<'a>, &'a Measured)> {
        let of_role = |key: &Key<'_>| key.0 == Condition::Cold && key.1 == role && key.4 == stack;
        let these = self.0.iter().filter(|(key, _)| of_role(key));
        let mut these: Vec<_> = these.map(|(key, measured)| (key, *measured)).collect();
        these.sort_by_key(|(key, _)| (key.2, key.3));
        these
    }

    /// Returns the first connections, each with the later one of the same site and round.
    fn pairs(&self, stack: &StackName) -> (ColdAgainst, Vec<(&'a Measured, &'a Measured)>) {
        let firsts = self.firsts(stack, Role::Measured);
        let with = |condition, role| -> Vec<_> {
            let later = |key: &Key<'a>| self.0.get(&(condition, role, key.2, key.3, key.4));
            let pair = |(key, first): &(&Key<'a>, &'a Measured)| Some((*first, *later(key)?));
            firsts.iter().filter_map(pair).collect()
        };
        let same = with(Condition::Cold, Role::Again);
        if same.is_empty() {
            let clean = with(Condition::Clean, Role::Measured);
            return (ColdAgainst::CleanConnection, clean);
        }
        (ColdAgainst::SameProcess, same)
    }

    fn row(&self, stack: &StackName) -> Option<ColdRow> {
        let (against, pairs) = self.pairs(stack);
        let differences = |of: fn(&Measured) -> Option<u64>| -> Vec<f64> {
            let of = |(first, later): &(&Measured, &Measured)| {
                Some(of(first)? as f64 - of(later)? as f64)
            };
            pairs.iter().filter_map(of).collect()
        };
        Some(ColdRow {
            stack: stack.clone(),
            against,
            processes: pairs.len() as u64,
            cpu: OnceCost::of(differences(cpu_ns)),
            wall: OnceCost::of(differences(wall_ns))?,
            causes: self.causes(stack),
        })
    }

    /// Computes the causes from the processes that took steps, each with the two connections of the same site and
    /// round.
    fn causes(&self, stack: &StackName) -> Option<ColdCauses> {
        let mut steps: BTreeMap<SetUpStep, Vec<ColdStep>> = BTreeMap::new();
        let (mut wholes, mut faults, mut rests) = (Vec::new(), Vec::new(), Vec::new());
        let mut take = |stepped: &Measured, first: &Measured, later: &Measured| {
            let (process, after) = (stepped.process.as_ref()?, later.process.as_ref()?);
            let more = |of: &Measured| Some(cpu_ns(of)? as f64 - cpu_ns(later)? as f64);
            let (whole, left) = (more(first)?, more(stepped)?);
            let fault_ns = process.fault_ns.unwrap_or(0) as f64;
            let faulted = (process.minor_faults as f64 - after.minor_faults as f64) * fault_ns;
            let faulted = faulted.clamp(0.0, left.max(0.0));
            let mut rest = whole - faulted;
            for (step, once) in once(process) {
                rest -= once.cpu_ns;
                steps.entry(step).or_default().push(once);
            }
            wholes.push(whole);
            faults.push(faulted);
            rests.push(rest);
            Some(())
        };
        for (key, stepped) in self.firsts(stack, Role::Stepped) {
            let of = |role| self.0.get(&(key.0, role, key.2, key.3, key.4));
            if let (Some(first), Some(later)) = (of(Role::Measured), of(Role::Again)) {
                take(stepped, first, later);
            }
        }
        let (whole_ns, unexplained_ns) = (median(&wholes)?, median(&rests)?);
        Some(ColdCauses {
            processes: wholes.len() as u64,
            steps: steps.values().filter_map(|times| middle(times)).collect(),
            page_faults_ns: median(&faults)?,
            whole_ns,
            unexplained_ns,
            explained: (whole_ns >= LEAST_NS).then(|| 1.0 - unexplained_ns / whole_ns),
        })
    }
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

    fn of(mut differences: Vec<f64>) -> Option<Self> {
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
fn once(process: &netbench_model::ProcessCost) -> BTreeMap<SetUpStep, ColdStep> {
    let less = |first: u64, again: u64| first as f64 - again as f64;
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

fn middle(times: &[ColdStep]) -> Option<ColdStep> {
    let of = |of: fn(&ColdStep) -> f64| median(&times.iter().map(of).collect::<Vec<_>>());
    Some(ColdStep {
        step: times.first()?.step,
        cpu_ns: of(|step| step.cpu_ns)?,
        wall_ns: of(|step| step.wall_ns)?,
        minor_faults: of(|step| step.minor_faults)?,
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
