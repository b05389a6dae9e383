use std::{ffi::OsString, path::Path, sync::Arc};

use netbench_model::{Depth, EvaluationPlan, Profile, RequestRecord};
use netbench_report::{FEWEST_ROUNDS, Found, Report};

use crate::{client::Unstored, kinds::connect};

use super::parts::{
    Part, RUN, Results, Step, Steps, Unsupported, common_arguments, run_in, site_arguments, words,
};

pub(super) const PART: Part = Part {
    name: "connections",
    needs: None,
    steps,
    unstored: Unstored::of_connect,
    collect,
};

/// The folder of the run in which both stacks have the same settings.
const SAME_SETTINGS: &str = "same-settings";

const CONDITIONS: &str = "clean,resumed,cold";

fn rounds(plan: &EvaluationPlan) -> u32 {
    if let Some(asked) = plan.connections.rounds {
        return asked;
    }
    match plan.depth {
        // The smallest number of rounds after which a site has a verdict.
        Depth::Quick => FEWEST_ROUNDS,
        Depth::Full => 10,
    }
}

/// The largest number of sites to which a quick evaluation connects.
const QUICK_SITES: u32 = 50;

/// Returns the step at which sites are picked: in a quick evaluation, the smallest that leaves no more than
/// [`QUICK_SITES`]. The first sites would be a poor sample: lists are sorted, often by a property that makes neighbours
/// alike.
fn every(plan: &EvaluationPlan) -> u32 {
    match plan.depth {
        Depth::Quick if plan.limit.is_none() => plan.sites.div_ceil(QUICK_SITES).max(1),
        Depth::Quick | Depth::Full => 1,
    }
}

fn steps(plan: &EvaluationPlan) -> Result<Steps, Unsupported> {
    let every = every(plan);
    let mut notes = Vec::new();
    if every > 1 {
        let (some, all) = (plan.sites.div_ceil(every), plan.sites);
        notes.push(format!(
            "--quick connected to {some} of the {all} sites; `--limit {all}` connects to all"
        ));
    }
    let mut steps = Steps {
        notes,
        ..Steps::runs([(RUN, arguments(plan))])
    };
    if plan.client_profile == Some(Profile::Library) {
        let pinned = EvaluationPlan {
            client_profile: Some(Profile::Default),
            ..plan.clone()
        };
        steps.steps.push(Step {
            arguments: arguments(&pinned),
            results: Results::Run(SAME_SETTINGS),
            only_if: Some(other_work),
        });
    }
    Ok(steps)
}

/// Returns the reason to measure once more with the same settings, or `None` if there is none: the stacks, each with
/// its own settings, agreed on different things with most sites, so that times of the same work need the same settings.
fn other_work(folder: &Path, plan: &EvaluationPlan) -> anyhow::Result<Option<&'static str>> {
    let Some(run) = run_in(&folder.join(RUN)) else {
        return Ok(None);
    };
    let summary = connect::read(&run)?.summary;
    let needed = summary.did_other_work(&plan.from, &plan.to);
    Ok(needed.then_some(
        "once more with the same settings for both: with their own they agree on different suites or groups",
    ))
}

fn arguments(plan: &EvaluationPlan) -> Vec<OsString> {
    let rounds = rounds(plan);
    let mut arguments = words(&format!(
        "connect --condition {CONDITIONS} --rounds {rounds}"
    ));
    arguments.extend(common_arguments(plan, "--stack"));
    arguments.extend(site_arguments(plan));
    // Evaluations that record no profile began when this was the default of connect.
    if plan.client_profile.is_none() {
        arguments.extend(["--client-profile".into(), Profile::Default.name().into()]);
    }
    if let Some(pause_ms) = plan.connections.pause_ms {
        arguments.extend(["--pause".into(), format!("{pause_ms}ms").into()]);
    }
    let method = &plan.connections.request.method;
    if *method != RequestRecord::default().method {
        arguments.extend(["--method".into(), method.into()]);
    }
    let every = every(plan);
    if every > 1 {
        arguments.extend(["--every".into(), every.to_string().into()]);
    }
    arguments
}

fn collect(
    folder: &Path,
    _plan: &EvaluationPlan,
    found: &mut Found,
    runs: &mut Vec<Box<dyn Report>>,
) -> anyhow::Result<()> {
    for (name, found) in [
        (RUN, &mut found.connections),
        (SAME_SETTINGS, &mut found.same_settings),
    ] {
        if let Some(run) = run_in(&folder.join(name)) {
            let run = connect::read(&run)?;
            *found = Some(Arc::clone(&run.summary));
            runs.push(Box::new(run));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_quick_evaluation_connects_to_no_more_sites_than_it_has_time_for() {
        let plan = |depth: &str, sites: u32, limit: Option<u32>| -> EvaluationPlan {
            let plan = json!({
                "from": "openssl", "to": "rustls-aws-lc", "depth": depth, "target": "lab",
                "sites_file": null, "limit": limit, "sites": sites, "seed": 1, "workers": [], "parts": [],
            });
            serde_json::from_value(plan).unwrap()
        };
        for (depth, sites, limit, some) in [
            ("quick", 0, None, None),
            ("quick", 50, None, None),
            ("quick", 51, None, Some("26")),
            ("quick", 101, None, Some("34")),
            ("quick", 10_000, None, Some("50")),
            ("quick", 101, Some(101), None),
            ("full", 101, None, None),
        ] {
            let Ok(steps) = steps(&plan(depth, sites, limit)) else {
                panic!("every plan has connections");
            };
            let arguments = &steps.steps[0].arguments;
            assert_eq!(arguments.iter().any(|a| a == "--every"), some.is_some());
            // An evaluation without a profile is older than today's default.
            let mut pairs = arguments.windows(2);
            assert!(pairs.any(|pair| pair == ["--client-profile", "default"]));
            match some {
                Some(some) => assert!(
                    steps.notes[0].starts_with(&format!("--quick connected to {some} of the ")),
                    "{:?}",
                    steps.notes
                ),
                None => assert!(steps.notes.is_empty(), "{:?}", steps.notes),
            }
        }
    }
}
