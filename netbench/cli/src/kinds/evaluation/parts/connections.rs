use std::{path::Path, sync::Arc, time::Duration};

use netbench_model::{Condition, ConnectManifest, Depth, EvaluationPlan, Profile};
use netbench_report::{ConnectSummary, FEWEST_ROUNDS};

use super::part::{
    Load, Needs, Part, RUN, Results, Step, Steps, begun_in, roots, sites, stacks, usual,
};
use crate::{
    client::Unstored,
    kinds::connect::{self, Connect, ConnectRun},
    pipeline::Measured,
    targets,
};

pub(super) const PART: Part = Part {
    name: "connections",
    needs: Needs::Workers,
    load: Load::Timed,
    steps,
    collect,
};

/// The folder of the run in which both stacks have the same settings.
const SAME_SETTINGS: &str = "same-settings";

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
const QUICK_SITES: u32 = 20;

/// Returns the step at which sites are picked: in a quick evaluation, the smallest that leaves no more than
/// [`QUICK_SITES`]. The first sites would be a poor sample: lists are sorted, often by a property that makes neighbours
/// alike.
fn every(plan: &EvaluationPlan) -> u32 {
    match plan.depth {
        Depth::Quick if plan.limit.is_none() => plan.sites.div_ceil(QUICK_SITES).max(1),
        Depth::Quick | Depth::Full => 1,
    }
}

fn steps<'a>(plan: &'a EvaluationPlan, unstored: &'a Unstored) -> Result<Steps<'a>, String> {
    let every = every(plan);
    let mut notes = Vec::new();
    if every > 1 {
        let (some, all) = (plan.sites.div_ceil(every), plan.sites);
        notes.push(format!(
            "--quick connected to {some} of the {all} sites; `--limit {all}` connects to all"
        ));
    }
    // Evaluations that record no profile began when this was the default of connect.
    let profile = plan.client_profile.unwrap_or(Profile::Default);
    let mut steps = vec![step(RUN, plan, profile, unstored)];
    if profile == Profile::Library {
        steps.push(Step {
            only_if: Some(other_work),
            ..step(SAME_SETTINGS, plan, Profile::Default, unstored)
        });
    }
    Ok(Steps { steps, notes })
}

fn step<'a>(
    folder: &'static str,
    plan: &'a EvaluationPlan,
    profile: Profile,
    unstored: &'a Unstored,
) -> Step<'a> {
    Step::run(folder, move || connections(plan, profile, unstored)).with(unstored.clone())
}

/// Returns the reason to measure once more with the same settings, or `None` if there is none: the stacks, each with
/// its own settings, agreed on different things with most sites, so that times of the same work need the same settings.
fn other_work(folder: &Path, plan: &EvaluationPlan) -> anyhow::Result<Option<&'static str>> {
    let Some(run) = begun_in(&folder.join(RUN)) else {
        return Ok(None);
    };
    let summary = ConnectRun::read(&run)?.summary;
    let needed = summary.did_other_work(&plan.from, &plan.to);
    Ok(needed.then_some(
        "once more with the same settings for both: with their own they agree on different suites or groups",
    ))
}

fn connections(
    plan: &EvaluationPlan,
    profile: Profile,
    unstored: &Unstored,
) -> anyhow::Result<ConnectManifest> {
    let mut options: Connect = usual()?;
    options.stacks = stacks(plan);
    (options.over, options.targets) = sites(plan);
    options.roots = roots(plan);
    options.path.link = targets::link(plan.link.as_deref())?;
    options.every = every(plan);
    options.condition = vec![Condition::Clean, Condition::Resumed, Condition::Cold];
    options.rounds = rounds(plan);
    options.start.seed = Some(plan.seed);
    options.request.pause = plan.connections.pause_ms.map(Duration::from_millis);
    plan.connections
        .request
        .method
        .clone_into(&mut options.request.method);
    options.unstored = unstored.clone();
    let mut manifest = connect::plan(&options)?;
    manifest.plan.client.profile = profile;
    Ok(manifest)
}

fn collect(folder: &Path, _: &EvaluationPlan, results: &mut Results) -> anyhow::Result<()> {
    results.found.connections = summary(&folder.join(RUN), results)?;
    results.found.same_settings = summary(&folder.join(SAME_SETTINGS), results)?;
    Ok(())
}

fn summary(run: &Path, results: &mut Results) -> anyhow::Result<Option<Arc<ConnectSummary>>> {
    results.add::<ConnectRun, _>(run, |run| Arc::clone(&run.summary))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plan(depth: &str, sites: u32, limit: Option<u32>) -> EvaluationPlan {
        let plan = json!({
            "from": "openssl", "to": "rustls-aws-lc", "depth": depth, "target": "lab",
            "sites_file": null, "limit": limit, "sites": sites, "seed": 1, "workers": [], "parts": [],
        });
        serde_json::from_value(plan).unwrap()
    }

    #[test]
    fn a_quick_evaluation_connects_to_no_more_sites_than_it_has_time_for() {
        let unstored = Unstored::default();
        for (depth, sites, limit, some) in [
            ("quick", 20, None, None),
            ("quick", 21, None, Some("11")),
            ("quick", 101, None, Some("17")),
            ("quick", 10_000, None, Some("20")),
            ("quick", 101, Some(101), None),
            ("full", 101, None, None),
        ] {
            let plan = plan(depth, sites, limit);
            let Ok(steps) = steps(&plan, &unstored) else {
                panic!("every plan has connections");
            };
            match some {
                Some(some) => assert!(
                    steps.notes[0].starts_with(&format!("--quick connected to {some} of the ")),
                    "{:?}",
                    steps.notes
                ),
                None => assert!(steps.notes.is_empty(), "{:?}", steps.notes),
            }
        }
        // The built-in list has 101 sites.
        let quick = plan("quick", 101, None);
        let connect = connections(&quick, Profile::Library, &Unstored::default()).unwrap();
        assert_eq!(connect.plan.sites.len(), 17);
        assert_eq!(connect.plan.client.profile, Profile::Library);
        assert_eq!(connect.plan.rounds, FEWEST_ROUNDS);
    }
}
