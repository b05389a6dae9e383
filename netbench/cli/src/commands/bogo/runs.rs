use std::{
    fs,
    num::NonZero,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use anyhow::{Context, anyhow};
use netbench_bogo::{
    Catalog, Errors, Progress, Results, RunOptions, Runner, ShimConfig, ShimResults, TestPatterns,
    run,
};
use sha2::{Digest, Sha256};

use super::{
    args::BogoHow,
    progress::{Counter, Say},
    shims::{self, Shim},
};

/// What is to be run.
pub(crate) struct Job<'a> {
    pub(crate) runner: &'a Runner,
    pub(crate) catalog: &'a Catalog,
    /// The tests to run; all where there are no patterns.
    pub(crate) tests: Option<&'a TestPatterns>,
    pub(crate) how: &'a BogoHow,
}

/// A shim and its results, which its configuration explains.
pub(crate) struct ShimRun<'a> {
    pub(crate) shim: &'a Shim,
    pub(crate) results: Results,
}

impl ShimRun<'_> {
    pub(crate) fn column(&self) -> ShimResults<'_> {
        ShimResults {
            shim: self.shim.name,
            config: &self.shim.config,
            results: &self.results,
        }
    }
}

/// Tests at one time.
pub(crate) fn jobs(how: &BogoHow) -> u32 {
    let processors = || thread::available_parallelism().map_or(1, NonZero::get);
    how.jobs
        .unwrap_or_else(|| u32::try_from(processors()).unwrap_or(1))
}

/// The runner's tests, from a run of the shim that does nothing, or from the cached results of one.
pub(crate) fn catalog(runner: &Runner, jobs: u32, say: &Say) -> anyhow::Result<Catalog> {
    let program = shims::null(say)?;
    let path = cached(runner, "null", &program, &ShimConfig::default())?;
    if let Ok(results) = Results::read(&path) {
        return Ok(Catalog::from_null_shim(&results));
    }
    say.step("Counting the tests that a shim passes by doing nothing");
    let options = RunOptions {
        name: "null".to_owned(),
        program,
        config: None,
        tests: None,
        skip: Vec::new(),
        jobs,
        idle: Duration::from_secs(10),
        errors: Errors::Any,
    };
    let results = run(runner, &options, &path, &mut |_| {})?;
    Ok(Catalog::from_null_shim(&results))
}

/// The results of every shim: cached ones where runner, shim and configuration are the same, else new
/// ones. Shims run at the same time.
pub(crate) fn all<'a>(
    job: &Job<'_>,
    shims: &'a [Shim],
    say: &Say,
) -> anyhow::Result<Vec<ShimRun<'a>>> {
    let mut runs: Vec<Option<ShimRun<'a>>> = Vec::new();
    let mut plans = Vec::new();
    for (at, shim) in shims.iter().enumerate() {
        let path = cached(job.runner, shim.name, &shim.program, &shim.config)?;
        let old = if job.how.again {
            None
        } else {
            whole(&path, job, &shim.config)
        };
        match old {
            Some(results) => runs.push(Some(ShimRun { shim, results })),
            None => {
                plans.push((at, shim, path));
                runs.push(None);
            }
        }
    }
    if !plans.is_empty() {
        let tests = matching(job).count() * plans.len();
        say.step(&format!("Running {tests} tests"));
        let counter = say.count(tests);
        let side_by_side = u32::try_from(plans.len()).unwrap_or(1);
        let share = jobs(job.how).div_ceil(side_by_side).max(1);
        let ended: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = plans
                .into_iter()
                .map(|(at, shim, path)| {
                    let counter = &counter;
                    let work = move || {
                        one(job, shim, &path, share, counter)
                            .map(|results| ShimRun { shim, results })
                    };
                    (at, shim, scope.spawn(work))
                })
                .collect();
            let join = |(at, shim, handle): (_, _, thread::ScopedJoinHandle<'_, _>)| {
                (at, shim, handle.join())
            };
            threads.into_iter().map(join).collect()
        });
        counter.end();
        for (at, shim, result) in ended {
            let shim: &Shim = shim;
            let died = |_| anyhow!("the thread of {} died", shim.name);
            runs[at] = Some(result.map_err(died)??);
        }
    }
    Ok(runs.into_iter().flatten().collect())
}

/// Runs tests of one shim again, by their names.
pub(crate) fn again(
    job: &Job<'_>,
    shim: &Shim,
    tests: &[&str],
    say: &Say,
) -> anyhow::Result<Results> {
    say.step(&format!("Repeating {} tests of {}", tests.len(), shim.name));
    let names = TestPatterns::new(tests.iter().copied())?;
    let job = Job {
        tests: Some(&names),
        ..*job
    };
    let path =
        cached(job.runner, shim.name, &shim.program, &shim.config)?.with_extension("again.json");
    let counter = say.count(tests.len());
    let results = one(&job, shim, &path, jobs(job.how), &counter);
    counter.end();
    results
}

fn one(
    job: &Job<'_>,
    shim: &Shim,
    path: &Path,
    jobs: u32,
    counter: &Counter,
) -> anyhow::Result<Results> {
    let options = RunOptions {
        name: shim.name.to_owned(),
        program: shim.program.clone(),
        config: shim.config_file.clone(),
        tests: job.tests.map(TestPatterns::joined),
        skip: shim.config.fatal().iter().map(str::to_owned).collect(),
        jobs,
        idle: job.how.timeout,
        errors: Errors::Checked,
    };
    // A part of the tests must not be taken for all of them later.
    let path = if job.tests.is_some() {
        path.with_extension("part.json")
    } else {
        path.to_owned()
    };
    let hear = &mut |Progress::Done(_, outcome)| counter.done(outcome);
    let mut results = run(job.runner, &options, &path, hear)?;
    results.add_skipped(fatal(job, &shim.config));
    Ok(results)
}

fn matching<'a>(job: &'a Job<'_>) -> impl Iterator<Item = &'a str> {
    let matches = |name: &&str| job.tests.is_none_or(|tests| tests.matches(name));
    job.catalog.names().filter(matches)
}

/// The tests that are not run, because the runner crashes.
fn fatal<'a>(job: &'a Job<'_>, config: &'a ShimConfig) -> impl Iterator<Item = &'a str> {
    matching(job).filter(|name| config.fatal().matches(name))
}

/// Cached results, if they are complete; of these, the tests that are wanted.
fn whole(path: &Path, job: &Job<'_>, config: &ShimConfig) -> Option<Results> {
    let mut results = Results::read(path).ok()?;
    let all = Job {
        tests: None,
        ..*job
    };
    results.add_skipped(fatal(&all, config));
    if results.tests.len() != job.catalog.len() {
        return None;
    }
    if let Some(tests) = job.tests {
        results.tests.retain(|name, _| tests.matches(name));
    }
    Some(results)
}

/// The file of a shim's results in the cache. Its name depends on the shim's program and on what its
/// configuration changes in the runner, but not on reasons, which are read each time.
fn cached(
    runner: &Runner,
    name: &str,
    program: &Path,
    config: &ShimConfig,
) -> anyhow::Result<PathBuf> {
    let bytes = fs::read(program).with_context(|| format!("cannot read {}", program.display()))?;
    let mut hash = Sha256::new();
    hash.update(bytes);
    hash.update(config.effect());
    let hash: String = hash
        .finalize()
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let folder = runner.home.join("results");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    sweep(&folder);
    Ok(folder.join(format!("{name}-{hash}.json")))
}

/// Removes what killed runs have left behind. Runs in progress are younger than that.
fn sweep(folder: &Path) {
    const OLD: Duration = Duration::from_secs(24 * 3600);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let made = entry.metadata().and_then(|about| about.modified());
        let age = made.ok().and_then(|made| made.elapsed().ok());
        if path.extension().is_some_and(|end| end == "tmp") && age.is_some_and(|age| age > OLD) {
            // If it stays, it harms no one.
            let _removed = fs::remove_dir_all(path);
        }
    }
}
