//! Wrong inputs in tables: each ends with its exit code and a message that names the error, in few lines, before
//! anything is measured.

use std::ffi::OsString;

use super::{Place, finish};

/// The largest number of lines of a message, unless a test says otherwise.
const MOST_LINES: usize = 3;

/// The largest number of characters of a line; longer lines are not read.
const MOST_CHARACTERS: usize = 700;

pub fn os_words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

/// Returns the columns of a table, in whose lines `=>` separates them; lines after `#` are comments.
pub fn rows<const N: usize>(table: &str) -> impl Iterator<Item = [&str; N]> {
    let lines = table.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split(" => ").collect::<Vec<_>>().try_into().unwrap())
}

/// Reads a table: in every line `arguments => text & text`, where the argument `RUN` stands for the only run.
pub fn cases(table: &str) -> Vec<(Vec<OsString>, &str)> {
    rows(table)
        .map(|[arguments, texts]| (os_words(arguments), texts))
        .collect()
}

impl Place {
    /// Runs every line of a [table](cases), and reports all deviations at once.
    #[track_caller]
    pub fn refuses(&self, code: i32, table: &str) {
        self.refuses_within(MOST_LINES, code, &cases(table));
    }

    /// Runs commands like [`refuses`](Self::refuses), with arguments that need not be words.
    #[track_caller]
    pub fn refuses_words(&self, cases: &[(Vec<OsString>, &str)]) {
        self.refuses_within(MOST_LINES, 2, cases);
    }

    /// Runs commands like [`refuses`](Self::refuses), whose messages have at most `most_lines` lines.
    #[track_caller]
    pub fn refuses_within(&self, most_lines: usize, code: i32, cases: &[(Vec<OsString>, &str)]) {
        let deviations = cases
            .iter()
            .filter_map(|(words, texts)| self.deviation(most_lines, code, words, texts));
        let wrong: Vec<String> = deviations.collect();
        assert!(
            wrong.is_empty(),
            "{} of {} cases:\n\n{}",
            wrong.len(),
            cases.len(),
            wrong.join("\n")
        );
    }

    /// Returns the deviations of a command and its output, or `None` if its exit code and its message are as expected.
    fn deviation(
        &self,
        most_lines: usize,
        code: i32,
        words: &[OsString],
        texts: &str,
    ) -> Option<String> {
        let runs = self.runs();
        let mut command = self.command(&[]);
        for word in words {
            match word.to_str() {
                Some("RUN") => command.arg(self.run()),
                _ => command.arg(word),
            };
        }
        command.env("CI", "");
        // Variables that the tests' machine may set.
        command.env_remove("GITHUB_STEP_SUMMARY");
        command.env_remove("JOB_COMPLETION_INDEX");
        command.env_remove("SLURM_ARRAY_TASK_ID");
        let done = finish(&mut command);
        let stderr = &done.stderr;
        let mut faults = Vec::new();
        if done.code != Some(code) {
            faults.push(format!("exit code {:?} instead of {code}", done.code));
        }
        for text in texts.split(" & ").filter(|text| !stderr.contains(text)) {
            faults.push(format!("does not say {text:?}"));
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
        if self.runs().len() != runs.len() {
            faults.push("began a run".to_owned());
        }
        if std::env::var_os("SHOW_MESSAGES").is_some() {
            println!("{words:?} -> {:?}\n{stderr}", done.code);
        }
        let faults = faults.join(", ");
        (!faults.is_empty()).then(|| format!("{words:?}: {faults}\n{stderr}{}", done.stdout))
    }
}
