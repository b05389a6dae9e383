use netbench_model::{
    SCHEMA_VERSION, StackName,
    ship::{Found, ShipManifest, ShipOutcome, ShipPlan, ShipSample, Shipped},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    run::last_command,
    text::{bytes, count},
};

/// What a run of `ship` found: its `summary.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShipSummary {
    /// [`netbench_model::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// What was done.
    pub run: ShipHead,
    /// Each stack, in the order in which they were asked for.
    pub stacks: Vec<ShipRow>,
    /// What differs from the first stack, in words.
    pub differences: Vec<String>,
    /// What a reader must know before quoting a figure.
    pub warnings: Vec<String>,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShipHead {
    /// The run's name.
    pub name: String,
    /// The version of netbench.
    pub netbench: String,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// The last command line.
    pub command: Vec<String>,
    /// The Cargo.lock that pinned the versions.
    pub lock: String,
    /// `cargo --version`.
    pub cargo: String,
    /// The first line of `rustc -vV`.
    pub rustc: String,
}

/// A stack, and what came of the client that was built with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShipRow {
    /// The stack.
    pub stack: StackName,
    /// What came of it; none where it was not reached.
    pub outcome: Option<ShipOutcome>,
}

impl ShipRow {
    /// The client, where it was built.
    pub fn shipped(&self) -> Option<&Shipped> {
        match &self.outcome {
            Some(ShipOutcome::Built(shipped)) => Some(shipped),
            Some(ShipOutcome::Failed { .. }) | None => None,
        }
    }
}

/// Sums a run up. Of a stack that was built twice the last build counts.
pub fn summarize_ship(manifest: &ShipManifest, samples: &[ShipSample]) -> ShipSummary {
    let plan = &manifest.plan;
    let row = |stack: &StackName| ShipRow {
        stack: stack.clone(),
        outcome: samples
            .iter()
            .rev()
            .find(|sample| sample.stack == *stack)
            .map(|sample| sample.outcome.clone()),
    };
    let stacks: Vec<ShipRow> = plan.stacks.iter().map(row).collect();
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
        schema: SCHEMA_VERSION,
        run: ShipHead {
            name: manifest.name.clone(),
            netbench: manifest.netbench.clone(),
            started: manifest.started.clone(),
            command: last_command(manifest),
            lock: plan.lock.clone(),
            cargo: plan.cargo.clone(),
            rustc: plan.rustc.lines().next().unwrap_or_default().to_owned(),
        },
        differences: differences(&stacks),
        stacks,
        warnings,
    }
}

/// Where a program would have two providers of cryptography, of which rustls chooses none.
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
    for row in stacks {
        let Some(shipped) = row.shipped() else {
            continue;
        };
        if shipped.providers.len() > 1 {
            warnings.push(format!(
                "the client of {} has rustls with {}; {PANICS}",
                row.stack,
                shipped.providers.join(" and ")
            ));
        }
    }
    warnings
}

/// What each stack changes for who ships a client, in place of the first.
fn differences(stacks: &[ShipRow]) -> Vec<String> {
    let Some((first, others)) = stacks.split_first() else {
        return Vec::new();
    };
    let Some(before) = first.shipped() else {
        return Vec::new();
    };
    let in_words =
        |row: &ShipRow| Some(difference(&first.stack, before, &row.stack, row.shipped()?));
    others.iter().filter_map(in_words).collect()
}

fn difference(from: &StackName, before: &Shipped, to: &StackName, now: &Shipped) -> String {
    let more = |is_more: bool| if is_more { "more" } else { "less" };
    let apart = |a: u64, b: u64| a.abs_diff(b) as f64;
    let size = match now.program_bytes == before.program_bytes {
        true => "a program of the same size".to_owned(),
        false => format!(
            "a program with {} {}",
            bytes(apart(now.program_bytes, before.program_bytes)),
            more(now.program_bytes > before.program_bytes)
        ),
    };
    let cpu = format!(
        "{:.0} s {} of computing to build",
        apart(now.build_cpu_ms, before.build_cpu_ms) / 1000.0,
        more(now.build_cpu_ms > before.build_cpu_ms)
    );
    let (crates, c_lines) = (now.crates.len(), now.c_lines());
    let lines = format!(
        "{} of C and assembly in place of {}",
        count(c_lines, "line", "lines"),
        before.c_lines()
    );
    let tools = |has: &Shipped, lacks: &Shipped| {
        let only = has.tools.iter().filter(|tool| !lacks.tools.contains(tool));
        only.cloned().collect::<Vec<_>>().join(", ")
    };
    let needs = match (tools(now, before), tools(before, now)) {
        (new, old) if new.is_empty() && old.is_empty() => String::new(),
        (new, old) if new.is_empty() => format!("; it does without {old}"),
        (new, old) if old.is_empty() => format!("; it needs {new} too"),
        (new, old) => format!("; it needs {new}, and does without {old}"),
    };
    format!(
        "{to} in place of {from}: {size}, {cpu}, {} in place of {}, {lines}{needs}.",
        count(crates, "crate", "crates"),
        before.crates.len()
    )
}
