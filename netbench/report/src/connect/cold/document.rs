use std::cmp::Ordering;

use netbench_model::{Quantity, SetUpStep, StackName, Threshold, Thresholds};

use super::{ColdAgainst, ColdCauses, ColdRow, FEWEST, LEAST_NS, OnceCost, OnceInterval};
use crate::{
    Answer,
    cell::Cell,
    document::{Item, Table},
    row::Named,
    text::{count, signed_time, time},
};

/// Builds the section's items; empty without cold connections.
pub(crate) fn items(rows: &[ColdRow]) -> Vec<Item> {
    let mut items = Table::of(rows)
        .caption("first connection")
        .text("stack", 0, |row| &row.stack)
        .col("CPU time, once", 0, |row| row.cpu.as_ref().map(once))
        .optional("interval", 2, |row| range(row.cpu.as_ref()?))
        .col("wall clock, once", 1, |row| once(&row.wall))
        .optional("interval, wall clock", 3, |row| range(&row.wall))
        .count("processes", 2, |row| row.processes)
        .explained("The first connection of a process", explanation(rows));
    if !rows.iter().all(ColdRow::is_measurable) {
        items.push(Item::text(
            "Not measurable: later connections of the process take longer than the first, as where a garbage collector runs in \
             them, so that the difference is not what a process pays once.",
        ));
    }
    items.extend(causes(rows));
    items
}

impl ColdRow {
    /// Returns whether both of its costs can be measured.
    fn is_measurable(&self) -> bool {
        let mut costs = self.cpu.iter().chain([&self.wall]);
        costs.all(OnceCost::is_measurable)
    }
}

fn once(cost: &OnceCost) -> Cell {
    if cost.is_measurable() {
        Cell::TimeDifference(cost.median_ns)
    } else {
        Cell::text("not measurable")
    }
}

fn explanation(rows: &[ColdRow]) -> String {
    let mut against = rows.iter().map(|row| row.against);
    let than = if against.all(|against| against == ColdAgainst::SameProcess) {
        "the second connection of the same process to the same site"
    } else {
        "a clean connection to the same site in the same round"
    };
    format!(
        "What a process pays once, whatever the site: connector and first connection less {than}. Medians over \
         processes, with intervals of 95 %. A client that runs for long pays it when it starts, and a command for one \
         request pays it each time."
    )
}

fn range(cost: &OnceCost) -> Option<String> {
    let OnceInterval { low_ns, high_ns } = cost.interval.filter(|_| cost.is_measurable())?;
    let [low, high] = [low_ns, high_ns].map(signed_time);
    Some(format!("{low} … {high}"))
}

fn causes(rows: &[ColdRow]) -> Vec<Item> {
    let with = rows.iter();
    let with = with.filter_map(|row| Some((&row.stack, row.causes.as_ref()?)));
    let (stacks, causes): (Vec<&StackName>, Vec<&ColdCauses>) = with.unzip();
    let Some(processes) = causes.iter().map(|causes| causes.processes).min() else {
        return Vec::new();
    };
    let steps = SetUpStep::ALL.iter();
    let steps = steps.filter(|step| causes.iter().any(|of| of.cpu_ns(**step).is_some()));
    let steps = steps.map(|step| {
        let cells = causes.iter();
        let cells = cells.map(|causes| causes.cpu_ns(*step).map(Cell::TimeDifference));
        (step_name(*step), cells.collect())
    });
    let whole: [Named<ColdCauses>; 3] = [
        ("page faults in the rest of the connection", |of| {
            of.page_faults_ns
        }),
        ("not explained", |of| of.unexplained_ns),
        ("first connection, once", |of| of.whole_ns),
    ];
    let whole = whole.map(|(name, ns)| {
        let cells = causes.iter().map(|of| Some(Cell::TimeDifference(ns(of))));
        (name, cells.collect())
    });
    let shares = causes
        .iter()
        .map(|of| Some(Cell::Share(of.explained?, 1.0)));
    let explained = ("explained", shares.collect());
    let rows: Vec<(&str, Vec<Option<Cell>>)> = steps.chain(whole).chain([explained]).collect();
    Table::of(rows)
        .caption("causes of a first connection's cost")
        .text("step", 0, |(name, _)| *name)
        .cols(stacks, |(_, cells), stack| cells[stack].clone())
        .explained(
            "What a first connection is spent on",
            format!(
                "CPU time, medians. In {} of each stack, all steps were done before the connector was made, and then all \
                 again: a figure is the first time less the second, with the page faults that it had. The connection after \
                 that was compared with a later one; the page faults that it still had more are counted times what a fault \
                 costs. What is left of the first connections to the same sites is not explained.",
                count(processes, "process", "processes")
            ),
        )
}

impl ColdCauses {
    /// Returns the CPU time of a step, if the stack has it.
    fn cpu_ns(&self, step: SetUpStep) -> Option<f64> {
        let found = self.steps.iter().find(|found| found.step == step)?;
        Some(found.cpu_ns)
    }
}

fn step_name(step: SetUpStep) -> &'static str {
    match step {
        SetUpStep::Library => "library initialisation, configuration file",
        SetUpStep::Provider => "provider loaded",
        SetUpStep::Entropy => "entropy: random generator seeded",
        SetUpStep::Context => "TLS context and connector",
        SetUpStep::TrustRoots => "trust roots",
        SetUpStep::KeyExchange => "key exchange, first use",
        SetUpStep::Signatures => "signature verification, first use",
        SetUpStep::Records => "hash, key derivation, AEAD, first use",
        SetUpStep::ClientHello => "ClientHello, first use",
        SetUpStep::Http => "runtime, sockets, HTTP client, first use",
    }
}

/// The cost of a first connection with two stacks: CPU time if both have it, otherwise wall-clock time.
pub(crate) struct FirstCost {
    /// `CPU time` or `time`.
    pub(crate) what: &'static str,
    pub(crate) first_ns: f64,
    pub(crate) other_ns: f64,
    /// The smaller of the two stacks' numbers of processes.
    pub(crate) processes: u64,
}

/// Returns both stacks' cost, if both have a measurable one.
pub(crate) fn first_cost(
    rows: &[ColdRow],
    first: &StackName,
    other: &StackName,
) -> Option<FirstCost> {
    let rows = rows_of(rows, first, other)?;
    let (what, a, b) = match (rows[0].cpu, rows[1].cpu) {
        (Some(a), Some(b)) => ("CPU time", a, b),
        _ => ("time", rows[0].wall, rows[1].wall),
    };
    if !a.is_measurable() || !b.is_measurable() {
        return None;
    }
    Some(FirstCost {
        what,
        first_ns: a.median_ns,
        other_ns: b.median_ns,
        processes: rows[0].processes.min(rows[1].processes),
    })
}

/// The time by which the first connection of a process becomes longer with the second of two stacks, by wall clock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FirstLonger {
    /// The difference of the medians, in nanoseconds; negative if it is shorter.
    pub(crate) median_ns: f64,
    /// The smallest and the largest difference that the intervals of both stacks allow, in nanoseconds; `None` if
    /// one of them has no interval.
    pub(crate) range_ns: Option<(f64, f64)>,
    /// The step that makes more than half of the difference in CPU time, if there is one.
    pub(crate) because: Option<&'static str>,
}

impl FirstLonger {
    /// Returns the difference as a clause: `takes 22.0 ms longer`.
    pub(crate) fn takes(&self) -> String {
        let size = time(self.median_ns.abs());
        match self.median_ns.total_cmp(&0.0) {
            Ordering::Less => format!("takes {size} less"),
            Ordering::Equal => "takes the same time".to_owned(),
            Ordering::Greater => format!("takes {size} longer"),
        }
    }

    /// Judges the difference by its limit, and describes the result.
    pub(crate) fn judge(&self, limit: Threshold) -> (Answer, String) {
        let Threshold { yes, no } = limit;
        match self.range_ns {
            None => {
                let why = format!(
                    "and fewer than {FEWEST} processes of a stack are too few for the limit of {yes}"
                );
                (Answer::Open, why)
            }
            Some((_, high_ns)) if high_ns <= yes.value() => {
                (Answer::Yes, format!("within the limit of {yes}"))
            }
            Some((low_ns, _)) if limit.is_no(low_ns) => {
                let no = no.unwrap_or(yes);
                (Answer::No, format!("beyond the limit of {no}"))
            }
            Some((low_ns, _)) if low_ns > yes.value() => {
                (Answer::WithLosses, format!("beyond the limit of {yes}"))
            }
            Some((low_ns, high_ns)) => {
                let range = format!("{} to {}", signed_time(low_ns), signed_time(high_ns));
                let why = format!("and the interval ({range}) contains the limit of {yes}");
                (Answer::Open, why)
            }
        }
    }
}

/// Compares first connections by wall clock, if both stacks made some and their cost is measurable.
pub(crate) fn first_longer(
    rows: &[ColdRow],
    first: &StackName,
    other: &StackName,
) -> Option<FirstLonger> {
    let rows = rows_of(rows, first, other)?;
    let [first, other] = rows.map(|row| row.wall);
    if !first.is_measurable() || !other.is_measurable() {
        return None;
    }
    let ends = first.interval.zip(other.interval);
    let median_ns = other.median_ns - first.median_ns;
    Some(FirstLonger {
        median_ns,
        range_ns: ends
            .map(|(first, other)| (other.low_ns - first.high_ns, other.high_ns - first.low_ns)),
        because: main_step(rows, median_ns),
    })
}

/// Returns the rows of both stacks, if both have one.
fn rows_of<'a>(
    rows: &'a [ColdRow],
    first: &StackName,
    other: &StackName,
) -> Option<[&'a ColdRow; 2]> {
    let [first, other] = [first, other].map(|stack| rows.iter().find(|row| row.stack == *stack));
    Some([first?, other?])
}

/// Returns the step that makes more than half of the difference in CPU time, if that is as large as connections vary by
/// and goes the same way as the difference in wall clock.
fn main_step(rows: [&ColdRow; 2], wall_ns: f64) -> Option<&'static str> {
    let [first, other] = rows.map(|row| row.cpu.map(|cpu| cpu.median_ns));
    let difference_ns = other? - first?;
    if difference_ns.abs() < LEAST_NS || difference_ns.signum() != wall_ns.signum() {
        return None;
    }
    let [first, other] = rows.map(|row| row.causes.as_ref());
    let (first, other) = (first?, other?);
    let shares = SetUpStep::ALL.iter().map(|step| {
        let [of_first, of_other] = [first, other].map(|of| of.cpu_ns(*step).unwrap_or(0.0));
        (step, (of_other - of_first) / difference_ns)
    });
    let (main, share) = shares.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    (share > 0.5).then(|| step_name(*main))
}

/// Returns the stacks whose first connection has no cost that can be measured.
pub(crate) fn not_measurable<'a>(
    rows: &'a [ColdRow],
    first: &StackName,
    other: &StackName,
) -> Vec<&'a StackName> {
    let rows = rows.iter();
    let rows = rows.filter(|row| row.stack == *first || row.stack == *other);
    rows.filter(|row| !row.is_measurable())
        .map(|row| &row.stack)
        .collect()
}

/// Returns both stacks' cost in a sentence, if both have one.
pub(crate) fn sentence(
    rows: &[ColdRow],
    [first, other]: [&StackName; 2],
    thresholds: &Thresholds,
) -> Option<String> {
    let cost = first_cost(rows, first, other)?;
    let longer = first_longer(rows, first, other)?;
    let (_, judged) = longer.judge(thresholds.of(Quantity::FirstConnection));
    Some(format!(
        "a process' first connection {} with {other} by wall clock, {judged}; it costs {} of {} once, and {} with {first}",
        longer.takes(),
        time(cost.other_ns),
        cost.what,
        time(cost.first_ns),
    ))
}
