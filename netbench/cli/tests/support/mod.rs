//! Runs the command as a user would, with a time limit, in a separate folder.
#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    clippy::allow_attributes,
    clippy::unwrap_used,
    reason = "each test binary uses some of it"
)]

mod processes;
mod refusals;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command},
};

pub use self::{
    processes::{
        Done, end, finish, finish_unread, interrupt, mark, marked, marked_processes, piped, signal,
        starting, until, wait,
    },
    refusals::{cases, os_words, rows},
};
use netbench_model::{ConnectManifest, Measured, Outcome, Role, Sample};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Splits a command line into words.
pub fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Gives an option to a line with each of these values.
pub fn with_each<'a>(
    line: &str,
    option: &str,
    values: impl IntoIterator<Item = &'a str>,
) -> String {
    let mut line = line.to_owned();
    for value in values {
        line.push_str(&format!(" {option} {value}"));
    }
    line
}

/// Panics with the text, unless it contains `part`.
#[track_caller]
pub fn assert_contains(text: &str, part: &str) {
    assert!(text.contains(part), "no {part:?} in {text}");
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

    /// Makes a folder for temporary files.
    pub fn temporary(&self) -> PathBuf {
        let folder = self.path().join("tmp");
        fs::create_dir(&folder).unwrap();
        folder
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

    /// Returns the command `netbench` with the words of this line, in which `RUN` stands for the only run.
    pub fn command_line(&self, line: &str) -> Command {
        if line.contains("RUN") {
            let line = line.replace("RUN", self.run().to_str().unwrap());
            return self.command(&words(&line));
        }
        self.command(&words(line))
    }

    /// Runs `netbench` with the words of a [line](Self::command_line).
    pub fn netbench_line(&self, line: &str) -> Done {
        finish(&mut self.command_line(line))
    }

    /// Runs `netbench`, which must succeed, with the words of a [line](Self::command_line).
    #[track_caller]
    pub fn succeeds(&self, line: &str) -> Done {
        self.netbench_line(line).expect(0)
    }

    /// Runs `netbench`, which must succeed, and returns its output, a document of the published schema of that name.
    #[track_caller]
    pub fn document<T: DeserializeOwned>(&self, schema: &str, line: &str) -> T {
        let done = self.succeeds(line);
        check(schema, &done.stdout);
        json(&done.stdout)
    }

    /// Starts `netbench` with the words of a [line](Self::command_line), for [`wait`] or [`interrupt`].
    pub fn begin(&self, line: &str) -> Child {
        piped(&mut self.command_line(line))
    }

    /// Runs `netbench connect` to the sites of `sites.txt`, which must succeed.
    pub fn connect(&self, more: &str) -> Done {
        self.succeeds(&format!("connect --sites sites.txt {more}"))
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
        done.tells(why);
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

/// Returns the figures of a sample, which must have succeeded.
#[track_caller]
pub fn figures(sample: &Sample) -> &Measured {
    let figures = sample.outcome.ok();
    figures.unwrap_or_else(|| panic!("{sample:?}"))
}

/// Replaces the samples of a run.
pub fn write_samples<S: Serialize>(run: &Path, samples: &[S]) {
    let lines = samples
        .iter()
        .map(|sample| serde_json::to_string(sample).unwrap() + "\n");
    fs::write(run.join("samples.jsonl"), lines.collect::<String>()).unwrap();
}

/// Keeps only the first samples of a run, and returns them.
pub fn keep_samples(run: &Path, number: usize) -> String {
    let all = text(run, "samples.jsonl");
    let kept: String = all.split_inclusive('\n').take(number).collect();
    fs::write(run.join("samples.jsonl"), &kept).unwrap();
    kept
}

/// Joins the words of a text, which may be broken into lines, by single spaces.
pub fn in_a_line(text: &str) -> String {
    words(text).join(" ")
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

/// Panics unless every line conforms to the published schema of that name. Returns the number of lines.
pub fn check_lines(schema: &str, lines: &str) -> usize {
    for line in lines.lines() {
        check(schema, line);
    }
    lines.lines().count()
}

/// Panics unless runs of these names are compared only if the user allows it, because of a setting of this name.
pub fn compared_if_allowed(place: &Place, names: [&str; 2], setting: &str, printed: &str) {
    let [one, other] = names.map(|name| place.named(name).display().to_string());
    let line = format!("runs compare {one} {other}");
    place.refuses(2, &format!("{line} => {setting}"));
    place
        .succeeds(&format!("{line} --allow-different-settings"))
        .prints(printed);
}

/// Panics unless the only run's report in Markdown is again what `first` printed, and these lines print these texts.
pub fn reported_again(place: &Place, first: &Done, lines: &[(&str, &str)]) {
    let again = place.netbench_line("runs report RUN --format markdown");
    assert_eq!(again.expect(0).stdout, first.stdout);
    for (line, text) in lines {
        place.netbench_line(line).expect(0).prints(text);
    }
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

/// Returns the description that a scripted worker of the stack `mine` gives of itself.
pub fn description_of_mine(operations: &[&str]) -> Value {
    json!({
        "id": 1, "type": "description", "protocol": netbench_protocol::PROTOCOL_VERSION,
        "stacks": [{
            "record": {"executable": "mine", "stack": "mine", "library": "none", "provider": null,
                       "connector": "none", "build": {}},
            "operations": operations,
            "groups": ["x25519"],
            "suites": ["TLS_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"],
        }],
    })
}

/// Makes a worker of rustls that does not do an operation.
pub fn without_operation(place: &Place, name: &str, operation: &str) {
    let worker = built("netbench-worker-rustls");
    let text = format!("'{}' | sed -u 's/\"{operation}\",//g'", worker.display());
    place.script(name, &text);
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
