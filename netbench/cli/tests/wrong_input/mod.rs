//! Wrong inputs, as users give them: each ends with its exit code and a message that names the error, in at most three
//! lines, before anything is measured.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod arguments;
mod files;
mod numbers;
mod pipes;
mod stored;
use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::ffi::OsStrExt,
};

use crate::support::{Place, finish};

/// The largest number of lines of a message.
const MOST_LINES: usize = 3;

/// The largest number of characters of a line; longer lines are not read.
const MOST_CHARACTERS: usize = 700;

/// A command line, its exit code, and the texts that the message must contain.
pub(crate) type Case = (&'static str, i32, &'static [&'static str]);

/// Runs every command line in the place, and reports all deviations at once.
pub(crate) fn check(place: &Place, cases: &[Case]) {
    let cases: Vec<(Vec<OsString>, i32, &[&str])> = cases
        .iter()
        .map(|(line, code, says)| (os_words(line), *code, *says))
        .collect();
    check_words(place, &cases, MOST_LINES);
}

pub(crate) fn os_words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

/// Runs commands like [`check`], with arguments that need not be words.
pub(crate) fn check_words(
    place: &Place,
    cases: &[(Vec<OsString>, i32, &[&str])],
    most_lines: usize,
) {
    let mut wrong = Vec::new();
    for (words, code, says) in cases {
        let mut command = place.command(&[]);
        command.args(words).env("CI", "");
        // Variables that the tests' machine may set.
        command.env_remove("GITHUB_STEP_SUMMARY");
        command.env_remove("JOB_COMPLETION_INDEX");
        command.env_remove("SLURM_ARRAY_TASK_ID");
        let done = finish(&mut command);
        let stderr = &done.stderr;
        let mut faults = Vec::new();
        if done.code != Some(*code) {
            faults.push(format!("exit code {:?} instead of {code}", done.code));
        }
        for part in *says {
            if !stderr.contains(part) {
                faults.push(format!("does not say {part:?}"));
            }
        }
        let lines = stderr.lines().count();
        if lines > most_lines || lines == 0 {
            faults.push(format!("{lines} lines"));
        }
        if stderr
            .lines()
            .any(|line| line.chars().count() > MOST_CHARACTERS)
        {
            faults.push("a line that is too long".to_owned());
        }
        if stderr.contains("panicked") || !stderr.starts_with("netbench: ") {
            faults.push("is no message".to_owned());
        }
        if stderr.chars().any(|c| c.is_control() && c != '\n') {
            faults.push("has control characters".to_owned());
        }
        if place.path().join("runs").exists() {
            fs::remove_dir_all(place.path().join("runs")).unwrap();
            faults.push("began a run".to_owned());
        }
        if !faults.is_empty() {
            let stdout = &done.stdout;
            wrong.push(format!(
                "{words:?}: {}\n{stderr}{stdout}",
                faults.join(", ")
            ));
        }
        if std::env::var_os("SHOW_MESSAGES").is_some() {
            println!("{words:?} -> {:?}\n{stderr}", done.code);
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} cases:\n\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

/// Returns an argument with these bytes.
pub(crate) fn bytes(bytes: &[u8]) -> OsString {
    OsStr::from_bytes(bytes).to_owned()
}
