use std::collections::BTreeSet;

use netbench_model::{
    compat::Judgement,
    coverage::{Category, DefectTest, Defects, Ending, RunnerId, TestOutcome},
};

use crate::{Catalog, Expects, ShimResults, TestResult};

/// Returns the tests in which at least one of these shims' stacks violates its protocol. Tests that a shim
/// passes without doing anything are included: a library that accepts the invalid messages of such a test
/// shows its defect. Defects in tests with the same reason in a shim's configuration have one cause.
pub fn defects_of(runner: &RunnerId, catalog: &Catalog, shims: &[ShimResults<'_>]) -> Defects {
    let mut defects = Defects {
        runner: runner.clone(),
        shims: shims.iter().map(|shim| shim.shim.to_owned()).collect(),
        run_by_all: 0,
        among_those: vec![0; shims.len()],
        among_all: vec![0; shims.len()],
        causes_among_those: Vec::new(),
        causes_among_all: Vec::new(),
        tests: Vec::new(),
        warnings: Vec::new(),
    };
    let mut causes_among_those = vec![BTreeSet::new(); shims.len()];
    let mut causes_among_all = causes_among_those.clone();
    for (name, expects, about) in catalog.tests() {
        let judgements: Vec<Judgement> = shims
            .iter()
            .map(|shim| judgement(shim, name, expects))
            .collect();
        let by_all = !judgements.contains(&Judgement::Unsupported);
        defects.run_by_all += usize::from(by_all);
        let causes = shims.iter().zip(&judgements);
        let causes =
            causes.map(|(shim, judgement)| judgement.is_defect().then(|| cause(shim, name)));
        let causes: Vec<Option<String>> = causes.collect();
        for (at, cause) in causes.iter().enumerate() {
            let Some(cause) = cause else { continue };
            defects.among_all[at] += 1;
            causes_among_all[at].insert(cause.clone());
            if by_all {
                defects.among_those[at] += 1;
                causes_among_those[at].insert(cause.clone());
            }
        }
        let Some(at_fault) = causes.iter().position(Option::is_some) else {
            continue;
        };
        defects.tests.push(DefectTest {
            test: name.to_owned(),
            role: about.role,
            protocol: about.protocol,
            sends: about.sends.clone(),
            wants: about.error.clone(),
            judgements,
            why: why(&shims[at_fault], name),
            causes,
        });
    }
    defects.causes_among_those = causes_among_those.iter().map(BTreeSet::len).collect();
    defects.causes_among_all = causes_among_all.iter().map(BTreeSet::len).collect();
    defects
        .tests
        .sort_by_cached_key(|test| (test.why.clone(), test.judgements.clone(), test.test.clone()));
    defects
}

fn judgement(shim: &ShimResults<'_>, test: &str, expects: Expects) -> Judgement {
    let Some(result) = shim.results.tests.get(test) else {
        return Judgement::Unsupported;
    };
    match result.outcome {
        TestOutcome::Passed => return Judgement::Right,
        TestOutcome::Unsupported => return Judgement::Unsupported,
        TestOutcome::Failed => {}
    }
    let category = shim.config.reason(test).map(|(category, _)| category);
    if matches!(category, Some(Category::Runner | Category::Chance)) {
        return Judgement::Unsupported;
    }
    match result.ending() {
        Ending::Crashed(_) => return Judgement::Crashed,
        // A shim also hangs where its library has no call that the test requires.
        Ending::Hung if !matches!(category, Some(Category::Boringssl | Category::Missing)) => {
            return Judgement::Hung;
        }
        Ending::Hung | Ending::Exited => {}
    }
    match (category, expects) {
        (Some(Category::Defect) | None, _) if is_success(result) => Judgement::FalseAccept,
        (Some(Category::Defect) | None, Expects::Success) => Judgement::FalseReject,
        _ => Judgement::Excused,
    }
}

fn is_success(result: &TestResult) -> bool {
    result.error.starts_with("unexpected success")
}

/// Returns the reason of a defect in a shim's configuration, or the test's name where it has none there.
fn cause(shim: &ShimResults<'_>, test: &str) -> String {
    let reason = shim.config.reason(test);
    reason.map_or(test, |(_, words)| words).to_owned()
}

fn why(shim: &ShimResults<'_>, test: &str) -> String {
    match shim.config.reason(test) {
        Some((_, words)) => words.to_owned(),
        None => {
            let line = shim.results.tests.get(test).map(TestResult::line);
            line.unwrap_or_default()
        }
    }
}
