use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        atomic::Ordering,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use netbench_model::coverage::TestOutcome;

use crate::{
    BogoError, Results, Runner,
    command::{end, tail},
    runner::{FACTS_VARIABLE, remove},
};

/// Options of a shim's run.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// The shim's name, for messages.
    pub name: String,
    /// The shim's executable.
    pub program: PathBuf,
    /// The shim's configuration, in the runner's format.
    pub config: Option<PathBuf>,
    /// Patterns of the tests to run; all if there is none.
    pub tests: Option<String>,
    /// Number of concurrent tests.
    pub jobs: u32,
    /// Patterns of tests that are not run.
    pub skip: Vec<String>,
    /// The time that the runner waits for the shim's data.
    pub idle: Duration,
    /// Additional arguments of the shim for every test.
    pub extra: Vec<String>,
    /// The file for the facts of each test, for the shim that does nothing: its refusals need no reason. Another shim must
    /// report the error that a test expects, or the corresponding one in its configuration.
    pub facts: Option<PathBuf>,
}

/// The maximum time without output of the runner, longer than any test.
const QUIET: Duration = Duration::from_secs(180);

/// The interval at which a wait checks whether to stop.
const LOOK: Duration = Duration::from_millis(50);

/// Runs a shim, writes the runner's own results to `output`, and reads them. `hear` is called at the end of each test.
///
/// # Errors
/// Returns an error if the runner dies or hangs, and [`BogoError::Stopped`]. A shim that crashes or hangs
/// only fails its test.
pub fn run(
    runner: &Runner,
    options: &RunOptions,
    output: &Path,
    hear: &mut dyn FnMut(&str, TestOutcome),
) -> Result<Results, BogoError> {
    starts(options)?;
    let scratch = output.with_extension("tmp");
    remove(&scratch)?;
    fs::create_dir_all(&scratch).map_err(BogoError::io(&scratch))?;
    let result = run_in(runner, options, output, &scratch, hear);
    remove(&scratch)?;
    result
}

/// Checks that the program starts: one that cannot would fail every test for the same reason.
fn starts(options: &RunOptions) -> Result<(), BogoError> {
    let program = options.program.as_path();
    let mut command = Command::new(program);
    command.args(&options.extra);
    command.arg("-is-handshaker-supported").stdin(Stdio::null());
    let why = match command.output() {
        Err(error) => error.to_string(),
        Ok(output) => match String::from_utf8_lossy(&output.stdout).trim() {
            "Yes" | "No" if output.status.success() => return Ok(()),
            _ => {
                let said = String::from_utf8_lossy(&output.stderr);
                format!("{}, {}", output.status, tail(&said))
            }
        },
    };
    let program = program.to_owned();
    Err(BogoError::NoShim { program, why })
}

fn run_in(
    runner: &Runner,
    options: &RunOptions,
    output: &Path,
    scratch: &Path,
    hear: &mut dyn FnMut(&str, TestOutcome),
) -> Result<Results, BogoError> {
    let raw = scratch.join("results.json");
    let mut command = command(runner, options, &raw);
    // The runner keeps certificates in temporary files, which would remain if it were killed.
    command.env("TMPDIR", scratch);
    let mut child = command.spawn().map_err(BogoError::io(&runner.program))?;
    let (lines, heard) = mpsc::channel();
    let out = child.stdout.take();
    let err = child.stderr.take();
    let reader = thread::spawn(move || {
        for line in out
            .into_iter()
            .flat_map(|out| BufReader::new(out).split(b'\n'))
        {
            let Ok(line) = line else { break };
            if lines
                .send(String::from_utf8_lossy(&line).into_owned())
                .is_err()
            {
                break;
            }
        }
    });
    let errors = thread::spawn(move || {
        let lines = err
            .into_iter()
            .flat_map(|err| BufReader::new(err).split(b'\n'));
        let text: Vec<_> = lines.map_while(Result::ok).collect();
        String::from_utf8_lossy(&text.join(&b'\n')).into_owned()
    });
    let mut last = "none".to_owned();
    let mut said = Vec::new();
    let mut spoke = Instant::now();
    loop {
        match heard.recv_timeout(LOOK) {
            _ if runner.stop.load(Ordering::Relaxed) => {
                end(&mut child);
                return Err(BogoError::Stopped);
            }
            Ok(line) => {
                spoke = Instant::now();
                if let Some((name, outcome)) = test_done(&line) {
                    last = name.to_owned();
                    said.clear();
                    hear(name, outcome);
                } else if said.len() < 40 {
                    said.push(line);
                }
            }
            Err(RecvTimeoutError::Timeout) if spoke.elapsed() < QUIET => {}
            Err(RecvTimeoutError::Timeout) => {
                end(&mut child);
                return Err(BogoError::RunnerStuck {
                    shim: options.name.clone(),
                    quiet: QUIET,
                    last,
                });
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let status = child.wait().map_err(BogoError::io(&runner.program))?;
    let _joined = reader.join();
    let errors = errors.join().unwrap_or_default();
    if errors.contains("No tests run") {
        return Err(BogoError::NoTests {
            glob: options.tests.clone().unwrap_or_default(),
        });
    }
    // The runner's exit status is 1 if any test failed.
    if !matches!(status.code(), Some(0 | 1)) || !raw.is_file() {
        let all = format!("{}\n{errors}", said.join("\n"));
        let said = tail(&all);
        let shim = options.name.clone();
        return Err(BogoError::RunnerDied {
            status: status.to_string(),
            shim,
            said,
        });
    }
    let results = Results::read(&raw)?;
    fs::rename(&raw, output).map_err(BogoError::io(output))?;
    Ok(results)
}

fn command(runner: &Runner, options: &RunOptions, raw: &Path) -> Command {
    let mut command = Command::new(&runner.program);
    command.current_dir(&runner.folder);
    // The runner's shims are in the group too.
    command.process_group(0);
    command.arg("-shim-path").arg(&options.program);
    command.arg("-json-output").arg(raw);
    command.args(["-pipe", "-allow-unimplemented", "-include-disabled"]);
    // These tests require a second process of BoringSSL.
    let skip = ["*-Hints"]
        .into_iter()
        .chain(options.skip.iter().map(String::as_str));
    command.arg("-skip").arg(skip.collect::<Vec<_>>().join(";"));
    command.arg("-num-workers").arg(options.jobs.to_string());
    command
        .arg("-idle-timeout")
        .arg(format!("{}ms", options.idle.as_millis()));
    if let Some(config) = &options.config {
        command.arg("-shim-config").arg(config);
    }
    if let Some(tests) = &options.tests {
        command.arg("-test").arg(tests);
    }
    if !options.extra.is_empty() {
        command
            .arg("-shim-extra-flags")
            .arg(options.extra.join(";"));
    }
    match &options.facts {
        Some(path) => command.arg("-loose-errors").env(FACTS_VARIABLE, path),
        None => command.env_remove(FACTS_VARIABLE),
    };
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn test_done(line: &str) -> Option<(&str, TestOutcome)> {
    let words = [
        ("PASSED (", TestOutcome::Passed),
        ("FAILED (", TestOutcome::Failed),
        ("UNIMPLEMENTED (", TestOutcome::Unsupported),
    ];
    words
        .into_iter()
        .find_map(|(word, outcome)| Some((line.strip_prefix(word)?.strip_suffix(')')?, outcome)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_runner() {
        assert_eq!(
            test_done("PASSED (ALPN-1)"),
            Some(("ALPN-1", TestOutcome::Passed))
        );
        assert_eq!(
            test_done("UNIMPLEMENTED (X)"),
            Some(("X", TestOutcome::Unsupported))
        );
        assert_eq!(test_done("\tPASSED (X)"), None);
        assert_eq!(test_done("FAILED"), None);
    }
}
