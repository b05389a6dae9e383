use netbench_model::{
    StackName,
    ship::{Found, ShipManifest, ShipOutcome, ShipPlan, ShipSample, Shipped},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    differences::only,
    run::{RunHead, SummaryHead},
    text::{bytes, count, grouped},
};

/// The findings of a run of `ship`: its `summary.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShipSummary {
    /// The schema, the kind and the seed.
    #[serde(flatten)]
    pub head: SummaryHead,
    /// The run's settings.
    pub run: ShipHead,
    /// Each stack, in the order of the command line.
    pub stacks: Vec<ShipRow>,
    /// The differences from the first stack, in words.
    pub differences: Vec<String>,
    /// Warnings that a reader must know before quoting a figure.
    pub warnings: Vec<String>,
}

/// The settings of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShipHead {
    /// The fields that all runs have.
    #[serde(flatten)]
    pub head: RunHead,
    /// The Cargo.lock that pinned the versions.
    pub lock: String,
    /// The output of `cargo --version`.
    pub cargo: String,
    /// The first line of `rustc -vV`.
    pub rustc: String,
}

/// A stack, with the outcome of the client that was built with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShipRow {
    /// The stack.
    pub stack: StackName,
    /// The outcome; absent if the stack was not reached.
    pub outcome: Option<ShipOutcome>,
}

impl ShipRow {
    /// Returns the client, if it was built.
    pub fn shipped(&self) -> Option<&Shipped> {
        match &self.outcome {
            Some(ShipOutcome::Built(shipped)) => Some(shipped),
            Some(ShipOutcome::Failed { .. }) | None => None,
        }
    }
}

/// Summarizes a run. If a stack was built twice, the last build counts.
pub fn summarize_ship(manifest: &ShipManifest, samples: &[ShipSample]) -> ShipSummary {
    let plan = &manifest.plan;
    let stacks = plan.stacks.iter().map(|stack| {
        let mut builds = samples.iter().rev();
        let last = builds.find(|sample| sample.stack == *stack);
        ShipRow {
            stack: stack.clone(),
            outcome: last.map(|sample| sample.outcome.clone()),
        }
    });
    let stacks: Vec<ShipRow> = stacks.collect();
    let mut warnings = manifest.warnings.clone();
    for row in &stacks {
        match &row.outcome {
            None => warnings.push(format!(
                "{} was not built: the run was ended early",
                row.stack
            )),
            Some(ShipOutcome::Failed { why }) => {
                warnings.push(format!("{} was not built: {why}", row.stack));
            }
            Some(ShipOutcome::Built(shipped)) if shipped.found == Found::Cached => {
                warnings.push(format!(
                    "{} is of an earlier build of the same sources; --fresh builds it again",
                    row.stack
                ));
            }
            Some(ShipOutcome::Built(_)) => {}
        }
    }
    warnings.extend(two_providers(plan, &stacks));
    ShipSummary {
        head: SummaryHead::of(manifest),
        run: ShipHead {
            head: RunHead::of(manifest),
            lock: plan.lock.clone(),
            cargo: plan.cargo.clone(),
            rustc: plan.rustc.lines().next().unwrap_or_default().to_owned(),
        },
        differences: differences(&stacks),
        stacks,
        warnings,
    }
}

/// Warns of programs with two providers of cryptography, of which rustls chooses neither.
fn two_providers(plan: &ShipPlan, stacks: &[ShipRow]) -> Vec<String> {
    const PANICS: &str = "ClientConfig::builder() then panics unless CryptoProvider::install_default() was called before";
    let mut warnings = Vec::new();
    if plan.lock_providers.len() > 1 {
        warnings.push(format!(
            "in {}, rustls depends on {}; {PANICS}. `cargo tree -e features -i rustls` shows which crate asks for which",
            plan.lock,
            plan.lock_providers.join(" and ")
        ));
    }
    let built = stacks.iter();
    let built = built.filter_map(|row| Some((&row.stack, &row.shipped()?.providers)));
    let several = built.filter(|(_, providers)| providers.len() > 1);
    warnings.extend(several.map(|(stack, providers)| {
        let providers = providers.join(" and ");
        format!("the client of {stack} has rustls with {providers}; {PANICS}")
    }));
    warnings
}

/// Returns the changes by each stack, in place of the first, for the developer of a client.
fn differences(stacks: &[ShipRow]) -> Vec<String> {
    let Some((first, others)) = stacks.split_first() else {
        return Vec::new();
    };
    let Some(before) = first.shipped() else {
        return Vec::new();
    };
    others
        .iter()
        .filter_map(|row| Some(difference(&first.stack, before, &row.stack, row.shipped()?)))
        .collect()
}

fn difference(from: &StackName, before: &Shipped, to: &StackName, now: &Shipped) -> String {
    let size = match more_or_less(now.program_bytes, before.program_bytes) {
        (0, _) => "a program of the same size".to_owned(),
        (by, more) => format!("a program with {} {more}", bytes(by as f64)),
    };
    let (by, more) = more_or_less(now.build_cpu_ms, before.build_cpu_ms);
    let cpu = format!("{:.0} s {more} of CPU time to build", by as f64 / 1000.0);
    let (crates, c_lines) = (now.crates.len(), now.c_lines());
    let lines = format!(
        "{} lines of C and assembly in place of {}",
        grouped(c_lines as f64),
        grouped(before.c_lines() as f64)
    );
    let [new, old] = [(now, before), (before, now)]
        .map(|(these, those)| only(&these.tools, &those.tools).join(", "));
    let needs = match (new, old) {
        (new, old) if new.is_empty() && old.is_empty() => String::new(),
        (new, old) if new.is_empty() => format!("; it does not need {old}"),
        (new, old) if old.is_empty() => format!("; it needs {new} too"),
        (new, old) => format!("; it needs {new}, and does not need {old}"),
    };
    format!(
        "{to} in place of {from}: {size}, {cpu}, {} in place of {}, {lines}{needs}.",
        count(crates, "crate", "crates"),
        before.crates.len()
    )
}

/// Returns the distance of two figures, and whether the first is more or less.
fn more_or_less(now: u64, before: u64) -> (u64, &'static str) {
    let word = if now > before { "more" } else { "less" };
    (now.abs_diff(before), word)
}
