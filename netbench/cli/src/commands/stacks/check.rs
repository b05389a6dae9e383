use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use netbench_protocol::StackDescription;
use netbench_report::count;
use netbench_worker_test::{Lack, Rules, check as keeps};
use serde::Serialize;

use super::{args::Check, list::described};
use crate::{
    exit::Ended,
    output,
    workers::{find, in_path, needed},
};

/// The largest number of defects that are printed of a check; `--json` has all.
const SHOWN: usize = 10;

/// The result of a check in `--json`.
#[derive(Serialize)]
struct Checked {
    stack: String,
    check: &'static str,
    outcome: Outcome,
    /// The defects, the reason why the check was impossible, or the limits of a stack that passed.
    reasons: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Outcome {
    Passed,
    Failed,
    Unsupported,
}

pub(super) fn check(options: &Check) -> anyhow::Result<Ended> {
    let stacks = options.stacks.iter().cloned().collect();
    let needed = needed(&stacks, &BTreeSet::new(), &options.own.worker)?;
    let mut all = Vec::new();
    for (stack, program) in find(needed)? {
        let description = described(&stack, &program)?;
        for rules in Rules::ALL.iter().copied() {
            let name = rules.name();
            let (outcome, reasons) = match able(&description, rules) {
                Err(reason) => (Outcome::Unsupported, vec![reason]),
                Ok(tool) => {
                    note!("netbench: {stack}: checking {name}");
                    match keeps(rules, &program, &stack, tool.as_deref()) {
                        Ok(found) if found.wrong.is_empty() => {
                            (Outcome::Passed, lacks_by_reason(&found.lacks))
                        }
                        Ok(found) => (Outcome::Failed, found.wrong),
                        Err(error) => (Outcome::Failed, vec![error]),
                    }
                }
            };
            let checked = Checked {
                stack: stack.clone(),
                check: name,
                outcome,
                reasons,
            };
            if !options.json {
                output::write_lines(&checked.lines())?;
            }
            all.push(checked);
        }
    }
    if options.json {
        output::write_json(&all)?;
    }
    let mut outcomes = all.iter().map(|checked| checked.outcome);
    Ok(match outcomes.any(|outcome| outcome == Outcome::Failed) {
        true => Ended::CheckFailed,
        false => Ended::Well,
    })
}

/// Returns the limits of a stack that keeps the rules: each reason, with the number of cases.
fn lacks_by_reason(lacks: &[Lack]) -> Vec<String> {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for lack in lacks {
        *reasons.entry(&lack.reason).or_default() += 1;
    }
    let lines = reasons.into_iter();
    lines
        .map(|(reason, cases)| {
            format!("unsupported in {}: {reason}", count(cases, "case", "cases"))
        })
        .collect()
}

/// Returns the tool that a check needs, if any.
///
/// # Errors
/// The reason why the check is impossible.
fn able(description: &StackDescription, rules: Rules) -> Result<Option<PathBuf>, String> {
    let mut needed = rules.operations().iter();
    if let Some(operation) = needed.find(|needed| !description.does(**needed)) {
        return Err(format!("the stack does not do \"{operation}\""));
    }
    let Some(tool) = rules.tool() else {
        return Ok(None);
    };
    // Servers are often in a folder that only root has in its path.
    let server = PathBuf::from("/usr/sbin").join(tool);
    let found = in_path(tool).or_else(|| server.is_file().then_some(server));
    found.map_or_else(
        || Err(format!("{tool} is not installed")),
        |tool| Ok(Some(tool)),
    )
}

impl Checked {
    fn lines(&self) -> Vec<String> {
        let outcome = match self.outcome {
            Outcome::Passed => "passed",
            Outcome::Failed => "failed",
            Outcome::Unsupported => "unsupported",
        };
        let mut lines = vec![format!("{}: {}: {outcome}", self.stack, self.check)];
        let shown = self.reasons.iter().take(SHOWN);
        lines.extend(shown.map(|reason| format!("    {reason}")));
        let more = self.reasons.len().saturating_sub(SHOWN);
        if more > 0 {
            lines.push(format!("    and {more} more; --json has all"));
        }
        lines
    }
}
