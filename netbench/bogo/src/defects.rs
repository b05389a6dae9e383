use netbench_model::coverage::{
    Category, Conduct, DefectTest, Defects, Ending, RunnerId, TestOutcome,
};

use crate::{Catalog, Expects, ShimResults, TestResult};

/// The tests in which at least one of these shims' stacks does what it must not. Those that a shim passes by doing
/// nothing are among them: a library that accepts what such a test sends shows that it does.
pub fn defects_of(runner: &RunnerId, catalog: &Catalog, shims: &[ShimResults<'_>]) -> Defects {
    let mut defects = Defects {
        runner: runner.clone(),
        shims: shims.iter().map(|shim| shim.shim.to_owned()).collect(),
        run_by_all: 0,
        among_those: vec![0; shims.len()],
        among_all: vec![0; shims.len()],
        tests: Vec::new(),
        warnings: Vec::new(),
    };
    for (name, expects, about) in catalog.tests() {
        let conduct = |shim: &ShimResults<'_>| conduct(shim, name, expects);
        let conducts: Vec<Conduct> = shims.iter().map(conduct).collect();
        let by_all = !conducts.contains(&Conduct::NotRun);
        defects.run_by_all += usize::from(by_all);
        for (at, conduct) in conducts.iter().enumerate() {
            let defect = usize::from(conduct.is_defect());
            defects.among_all[at] += defect;
            defects.among_those[at] += if by_all { defect } else { 0 };
        }
        let at_fault = conducts.iter().position(|conduct| conduct.is_defect());
        let Some(shim) = at_fault.and_then(|at| shims.get(at)) else {
            continue;
        };
        defects.tests.push(DefectTest {
            test: name.to_owned(),
            role: about.role,
            protocol: about.protocol,
            sends: about.sends.clone(),
            wants: about.error.clone(),
            conducts,
            why: why(shim, name),
        });
    }
    defects.tests.sort_by(|one, other| {
        let key = |test: &DefectTest| (test.why.clone(), test.conducts.clone(), test.test.clone());
        key(one).cmp(&key(other))
    });
    defects
}

fn conduct(shim: &ShimResults<'_>, test: &str, expects: Expects) -> Conduct {
    let Some(result) = shim.results.tests.get(test) else {
        return Conduct::NotRun;
    };
    match result.outcome {
        TestOutcome::Passed => return Conduct::Right,
        TestOutcome::Unsupported => return Conduct::NotRun,
        TestOutcome::Failed => {}
    }
    let category = shim.config.reason(test).map(|(category, _)| category);
    if matches!(category, Some(Category::Runner | Category::Chance)) {
        return Conduct::NotRun;
    }
    match result.ending() {
        Ending::Crashed(_) => return Conduct::Crashed,
        // A shim waits for ever too where its library has no call for what the test asks.
        Ending::Hung if !matches!(category, Some(Category::Boringssl | Category::Missing)) => {
            return Conduct::Hung;
        }
        Ending::Hung | Ending::Exited => {}
    }
    match (category, expects) {
        (Some(Category::Defect) | None, _) if is_success(result) => Conduct::Accepted,
        (Some(Category::Defect) | None, Expects::Success) => Conduct::Refused,
        _ => Conduct::Excused,
    }
}

fn is_success(result: &TestResult) -> bool {
    result.error.starts_with("unexpected success")
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
