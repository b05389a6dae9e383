//! Runs the command as a user would, with a time limit, in a separate folder.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::allow_attributes,
    clippy::unwrap_used,
    reason = "each test binary uses some of it"
)]

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use netbench_model::{ConnectManifest, Outcome, Role, Sample};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use tempfile::TempDir;

/// The longest time that a test's command may take.
pub const LIMIT: Duration = Duration::from_secs(400);

/// Splits a command line into words.
pub fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// The result of a command.
pub struct Done {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Done {
    /// Panics with the whole output, unless the exit code is `code`.
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "stdout: {}\nstderr: {}",
            self.stdout,
            self.stderr
        );
        self
    }
}

/// A folder for one test, in which runs are stored in `runs/`.
pub struct Place {
    pub dir: TempDir,
}

impl Place {
    pub fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    /// Makes a folder with these sites in `sites.txt`.
    pub fn with_sites(sites: &str) -> Self {
        let place = Self::new();
        place.write("sites.txt", sites);
        place
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Writes an executable shell script with this name.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        netbench_testing::script(&path, text);
        path
    }

    /// Returns the command `netbench` with these arguments, in this folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_netbench"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env("NO_COLOR", "1")
            .env("COLUMNS", "100")
            // Facts that earlier runs stored about the machine must not influence a test.
            .env("XDG_CACHE_HOME", self.path().join("cache"));
        command
    }

    pub fn netbench(&self, arguments: &[&str]) -> Done {
        finish(&mut self.command(arguments))
    }

    /// Runs `netbench` with the words of this line.
    pub fn netbench_line(&self, line: &str) -> Done {
        self.netbench(&words(line))
    }

    /// Starts `netbench`, for [`wait`] or [`interrupt`].
    pub fn begin(&self, arguments: &[&str]) -> Child {
        piped(&mut self.command(arguments))
    }

    /// Runs `netbench connect` to the sites of `sites.txt`, which must succeed.
    pub fn connect(&self, more: &str) -> Done {
        let line = format!("connect --sites sites.txt {more}");
        self.netbench_line(&line).expect(0)
    }

    /// Runs `netbench runs merge` with these runs.
    pub fn merge(&self, runs: &[&Path], more: &str) -> Done {
        let runs = runs.iter().map(|run| run.to_str().unwrap());
        let arguments: Vec<&str> = ["runs", "merge"]
            .into_iter()
            .chain(runs)
            .chain(more.split_whitespace())
            .collect();
        self.netbench(&arguments)
    }

    /// Panics unless these runs are refused by `netbench runs merge` for this reason.
    pub fn expect_no_merge(&self, runs: &[&Path], why: &str) {
        let done = self.merge(runs, "--out new").expect(2);
        assert!(done.stderr.contains(why), "{why}: {}", done.stderr);
        assert!(!self.path().join("new").exists());
    }

    /// Returns the runs under `runs/`, if the folder exists already.
    fn runs(&self) -> Vec<PathBuf> {
        let runs = fs::read_dir(self.path().join("runs")).into_iter().flatten();
        runs.map(|entry| entry.unwrap().path()).collect()
    }

    /// Returns the only run under `runs/`.
    pub fn run(&self) -> PathBuf {
        let mut runs = self.runs();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs.remove(0)
    }

    /// Returns the run under `runs/` with this name.
    pub fn named(&self, name: &str) -> PathBuf {
        let ends = format!("-{name}");
        let mut runs = self.runs().into_iter();
        runs.find(|path| path.to_str().unwrap().ends_with(&ends))
            .unwrap()
    }

    /// Returns the current number of lines in a file of the only run.
    pub fn lines(&self, file: &str) -> usize {
        let text = self.runs().first().map(|run| run.join(file));
        let text = text.and_then(|path| fs::read_to_string(path).ok());
        text.map_or(0, |text| text.lines().count())
    }
}

pub fn json<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap()
}

/// Reads a file of a folder.
pub fn text(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

/// Reads a JSON file of a run.
pub fn kept<T: DeserializeOwned>(run: &Path, name: &str) -> T {
    json(&text(run, name))
}

pub fn manifest(run: &Path) -> ConnectManifest {
    kept(run, "run.json")
}

/// Changes a run's manifest.
pub fn edit<M: DeserializeOwned + Serialize>(run: &Path, change: impl FnOnce(&mut M)) {
    let mut manifest: M = kept(run, "run.json");
    change(&mut manifest);
    fs::write(run.join("run.json"), serde_json::to_vec(&manifest).unwrap()).unwrap();
}

/// Reads the samples of a run of any kind.
pub fn samples_of<S: DeserializeOwned>(run: &Path) -> Vec<S> {
    text(run, "samples.jsonl").lines().map(json).collect()
}

pub fn samples(run: &Path) -> Vec<Sample> {
    samples_of(run)
}

/// Panics unless `document` conforms to the published schema of that name.
pub fn check(schema: &str, document: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas");
    let schema: Value = kept(&path, schema);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let document = json(document);
    let errors: Vec<String> = validator
        .iter_errors(&document)
        .map(|error| format!("{error} at {}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
}

pub fn measured(run: &Path) -> Vec<Sample> {
    samples(run)
        .into_iter()
        .filter(|sample| sample.role == Role::Measured)
        .collect()
}

/// Returns `class: reason` of a failed sample.
pub fn failure(sample: &Sample) -> Option<String> {
    match &sample.outcome {
        Outcome::Failed(failure) => Some(format!("{}: {}", failure.class, failure.reason)),
        _ => None,
    }
}

pub fn finish(command: &mut Command) -> Done {
    wait(piped(command))
}

pub fn piped(command: &mut Command) -> Child {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Runs a command whose stdout and stderr are closed pipes, and returns its exit code.
pub fn finish_unread(command: &mut Command) -> Option<i32> {
    let [stdout, stderr] = [(); 2].map(|()| {
        let (_, unread) = std::io::pipe().unwrap();
        unread
    });
    command.stdin(Stdio::null()).stdout(stdout).stderr(stderr);
    end(&mut command.spawn().unwrap())
}

/// Presses Ctrl-C, and waits for a command whose output is piped.
pub fn interrupt(child: Child) -> Done {
    signal("INT", child.id());
    wait(child)
}

/// Sends a signal to a process.
pub fn signal(name: &str, pid: u32) {
    let how = format!("-{name}");
    finish(Command::new("kill").args([how, pid.to_string()])).expect(0);
}

/// Waits for a command whose output is piped.
pub fn wait(mut child: Child) -> Done {
    let stdout = read_in_thread(child.stdout.take().unwrap());
    let stderr = read_in_thread(child.stderr.take().unwrap());
    let code = end(&mut child);
    Done {
        code,
        stdout: stdout.join().unwrap(),
        stderr: stderr.join().unwrap(),
    }
}

fn read_in_thread(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut text = String::new();
        pipe.read_to_string(&mut text).unwrap();
        text
    })
}

/// Waits for the end of a child, and kills it at the time limit.
pub fn end(child: &mut Child) -> Option<i32> {
    let deadline = Instant::now() + LIMIT;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if Instant::now() > deadline {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("no end within {LIMIT:?}");
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until `ready` returns true.
pub fn until(what: &str, mut ready: impl FnMut() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !ready() {
        assert!(Instant::now() < deadline, "waited for {what} in vain");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the command lines of the processes that have `mark` in their environment.
pub fn marked_processes(mark: &str) -> Vec<String> {
    let commands = marked(mark).into_iter().map(|(_, command)| command);
    commands.collect()
}

/// Returns the numbers and command lines of the processes that have `mark` in their environment.
pub fn marked(mark: &str) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        let path = entry.path();
        let environ = fs::read(path.join("environ")).unwrap_or_default();
        if String::from_utf8_lossy(&environ).contains(mark) {
            let command = fs::read(path.join("cmdline")).unwrap_or_default();
            // A process that has ended and was not waited for has no command line.
            if !command.is_empty() {
                let command = String::from_utf8_lossy(&command).replace('\0', " ");
                found.push((pid, command));
            }
        }
    }
    found
}

/// Returns the root of the source tree.
pub fn tree() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Returns the folder of a published run, given by the end of its name.
pub fn published_run(end: &str) -> PathBuf {
    let runs = fs::read_dir(tree().join("results")).unwrap();
    let mut runs = runs.map(|entry| entry.unwrap().path());
    runs.find(|path| path.to_string_lossy().ends_with(end))
        .unwrap()
}

/// Copies a published run, given by the end of its name, to a folder where a test may write.
pub fn published(place: &Place, end: &str) -> PathBuf {
    let run = published_run(end);
    let copy = place.path().join(end);
    fs::create_dir(&copy).unwrap();
    for file in ["run.json", "samples.jsonl.zst"] {
        fs::copy(run.join(file), copy.join(file)).unwrap();
    }
    copy
}

/// Returns the names of the files and folders in a folder.
pub fn names_in(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    names
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect()
}

/// Returns a worker that `./test` has built next to the command.
pub fn built(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_netbench")).with_file_name(name);
    assert!(
        path.is_file(),
        "{} is missing: ./test builds it, and so does cargo build -p",
        path.display()
    );
    path
}
