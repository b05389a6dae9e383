use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use anyhow::{Context, anyhow};
use netbench_bogo::{
    Catalog, Results, RunOptions, Runner, ShimConfig, ShimResults, TestPatterns, run,
};
use netbench_model::coverage::TestOutcome;
use netbench_report::count;
use netbench_stacks::cache_folder;
use sha2::{Digest, Sha256};

use super::{
    args::BogoHow,
    cost::cost_of,
    shims::{self, Shim},
};
use crate::{
    cost::{Piece, about, cores},
    interrupt,
    options::Output,
    progress::Progress,
};

/// Everything that the runs of all shims share.
pub(crate) struct Setup<'a> {
    pub(crate) runner: Runner,
    /// The runner's tests.
    pub(crate) catalog: Catalog,
    /// Number of tests that run at the same time.
    pub(crate) jobs: u32,
    pub(crate) progress: Progress,
    how: &'a BogoHow,
}

impl<'a> Setup<'a> {
    /// Builds the runner, if it does not exist.
    pub(crate) fn new(how: &'a BogoHow, output: &Output) -> anyhow::Result<Self> {
        let progress = Progress::counting(output, ("test", "tests"));
        let stop = interrupt::stop_on_signals()?;
        let cache = cache_folder("bogo")?;
        let runner = Runner::make(&cache, stop, &mut |step| progress.stage(step))?;
        let jobs = how.jobs.unwrap_or_else(|| cores().into());
        Ok(Self {
            catalog: catalog(&runner, jobs, &progress)?,
            runner,
            jobs,
            progress,
            how,
        })
    }

    /// Returns the run of these tests, or of all.
    pub(crate) fn job<'s>(&'s self, tests: Option<&'s TestPatterns>) -> Job<'s> {
        Job { setup: self, tests }
    }
}

/// Returns the runner's tests, from a run of the shim that does nothing or from the cached results of such a run.
fn catalog(runner: &Runner, jobs: u32, progress: &Progress) -> anyhow::Result<Catalog> {
    let program = shims::null(progress)?;
    let path = cached(runner, "null", [program.as_path()], &ShimConfig::default())?;
    let facts = path.with_extension("tsv");
    if let (Ok(results), Ok(facts)) = (Results::read(&path), fs::read_to_string(&facts)) {
        return Ok(Catalog::from_null_shim(&results, &facts)?);
    }
    // The runner appends to the file.
    if facts.exists() {
        fs::remove_file(&facts).with_context(|| format!("cannot remove {}", facts.display()))?;
    }
    progress.stage("Counting the tests that a shim passes by doing nothing");
    let options = RunOptions {
        name: "null".to_owned(),
        program,
        config: None,
        tests: None,
        skip: Vec::new(),
        jobs,
        idle: Duration::from_secs(10),
        extra: Vec::new(),
        facts: Some(facts.clone()),
    };
    let results = run(runner, &options, &path, &mut |_, _| {})?;
    let facts =
        fs::read_to_string(&facts).with_context(|| format!("cannot read {}", facts.display()))?;
    Ok(Catalog::from_null_shim(&results, &facts)?)
}

/// A shim with its results, which its configuration explains.
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

/// The kernel takes arguments of at most 128 KiB.
const LONGEST_ARGUMENT: usize = 100_000;

#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    pub(crate) setup: &'a Setup<'a>,
    /// The tests to run, or `None` for all.
    pub(crate) tests: Option<&'a TestPatterns>,
}

impl Job<'_> {
    /// Returns the results of every shim. Results are cached where runner, shim and configuration are the same; the
    /// others are new. Shims run at the same time.
    pub(crate) fn run<'s>(&self, shims: &'s [Shim]) -> anyhow::Result<Vec<ShimRun<'s>>> {
        let Setup { how, progress, .. } = self.setup;
        let mut found = Vec::new();
        for shim in shims {
            let path = self.cached(shim)?;
            let old = if how.again {
                None
            } else {
                self.whole(&path, &shim.config)
            };
            found.push((shim, path, old));
        }
        let new = found.iter().filter(|(.., old)| old.is_none()).count();
        if new > 0 {
            let tests = self.matching().count() * new;
            let cost = cost_of(tests as u64, self.setup.jobs);
            progress.stage(&format!(
                "Running {}, about {}",
                count(tests, "test", "tests"),
                about(cost.time)
            ));
            progress.begin(cost.pieces, 0, cost.time);
        }
        let side_by_side = u32::try_from(new.max(1)).unwrap_or(1);
        let share = self.setup.jobs.div_ceil(side_by_side).max(1);
        let runs = thread::scope(|scope| {
            let threads = found.into_iter().map(|(shim, path, old)| {
                let thread = scope.spawn(move || match old {
                    Some(results) => Ok(results),
                    None => self.run_one(shim, &path, share),
                });
                (shim, thread)
            });
            let threads: Vec<_> = threads.collect();
            let ended = threads.into_iter().map(|(shim, thread)| {
                let results = thread
                    .join()
                    .map_err(|_| anyhow!("the thread of {} died", shim.name))??;
                Ok(ShimRun { shim, results })
            });
            // All threads are joined, even after an error.
            ended.collect::<Vec<_>>()
        });
        progress.end();
        runs.into_iter().collect()
    }

    /// Runs the named tests of one shim again.
    pub(crate) fn repeat(&self, shim: &Shim, tests: &[&str]) -> anyhow::Result<Results> {
        let progress = &self.setup.progress;
        progress.stage(&format!("Repeating {} tests of {}", tests.len(), shim.name));
        let names = TestPatterns::new(tests.iter().copied())?;
        let job = Job {
            tests: Some(&names),
            ..*self
        };
        let path = self.cached(shim)?.with_extension("again.json");
        let cost = cost_of(tests.len() as u64, self.setup.jobs);
        progress.begin(cost.pieces, 0, cost.time);
        let results = job.run_one(shim, &path, self.setup.jobs);
        progress.end();
        results
    }

    fn run_one(&self, shim: &Shim, path: &Path, jobs: u32) -> anyhow::Result<Results> {
        // A later run must not mistake a part of the tests for all of them.
        let (parts, path) = match self.tests {
            Some(tests) => {
                let parts = tests.joined_in(LONGEST_ARGUMENT).into_iter().map(Some);
                (parts.collect(), path.with_extension("part.json"))
            }
            None => (vec![None], path.to_owned()),
        };
        let each = cost_of(1, self.setup.jobs).time;
        let mut results = Results::default();
        for tests in parts {
            let options = RunOptions {
                name: shim.name.to_owned(),
                program: shim.program.clone(),
                config: shim.config_file.clone(),
                tests,
                skip: shim.config.fatal().iter().map(str::to_owned).collect(),
                jobs,
                idle: self.setup.how.timeout,
                extra: shim.extra(),
                facts: None,
            };
            let Setup {
                runner, progress, ..
            } = self.setup;
            let part = run(runner, &options, &path, &mut |test, outcome| {
                progress.ended(
                    || format!("{}, {test}: {outcome:?}", shim.name),
                    outcome == TestOutcome::Failed,
                    Piece::Done(each),
                );
            })?;
            results.tests.extend(part.tests);
        }
        results.add_skipped(self.fatal(&shim.config));
        Ok(results)
    }

    fn matching(&self) -> impl Iterator<Item = &str> {
        self.setup
            .catalog
            .names()
            .filter(|name| self.tests.is_none_or(|tests| tests.matches(name)))
    }

    /// Returns the tests that are not run because they crash the runner.
    fn fatal(&self, config: &ShimConfig) -> impl Iterator<Item = &str> {
        self.matching().filter(|name| config.fatal().matches(name))
    }

    /// Reads cached results if they are complete, and returns those of the wanted tests.
    fn whole(&self, path: &Path, config: &ShimConfig) -> Option<Results> {
        let mut results = Results::read(path).ok()?;
        let all = Job {
            tests: None,
            ..*self
        };
        results.add_skipped(all.fatal(config));
        if results.tests.len() != self.setup.catalog.len() {
            return None;
        }
        if let Some(tests) = self.tests {
            results.tests.retain(|name, _| tests.matches(name));
        }
        Some(results)
    }

    fn cached(&self, shim: &Shim) -> anyhow::Result<PathBuf> {
        cached(&self.setup.runner, shim.name, shim.programs(), &shim.config)
    }
}

/// Returns the file of a shim's results in the cache. Its name depends on the shim's programs and on the changes that
/// its configuration makes in the runner, but not on reasons, which are read each time.
fn cached<'p>(
    runner: &Runner,
    name: &str,
    programs: impl IntoIterator<Item = &'p Path>,
    config: &ShimConfig,
) -> anyhow::Result<PathBuf> {
    let mut hash = Sha256::new();
    for program in programs {
        let bytes =
            fs::read(program).with_context(|| format!("cannot read {}", program.display()))?;
        hash.update(bytes);
    }
    hash.update(runner.program.as_os_str().as_encoded_bytes());
    hash.update(config.effect());
    let hash = format!("{:x}", hash.finalize());
    let folder = runner.home.join("results");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    sweep(&folder);
    Ok(folder.join(format!("{name}-{}.json", &hash[..16])))
}

/// Removes the remains of killed runs. Runs in progress are younger than `OLD`.
fn sweep(folder: &Path) {
    const OLD: Duration = Duration::from_secs(24 * 3600);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let made = entry.metadata().and_then(|about| about.modified());
        let age = made.ok().and_then(|made| made.elapsed().ok());
        if path.extension().is_some_and(|end| end == "tmp") && age.is_some_and(|age| age > OLD) {
            // A file that stays does no harm.
            let _removed = fs::remove_dir_all(path);
        }
    }
}
