//! The table of the published studies' experiments in `docs/STUDIES.md`: `netbench/catalogue/studies.toml` names them, and
//! the published runs have the figures.
//!
//! `UPDATE_DOCS=1 cargo test -p netbench --test main studies` writes the table again.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{env, fs, path::Path};

use globset::Glob;
use netbench_model::{ConnectManifest, Sample};
use netbench_report::summarize;
use netbench_store::RunFolder;
use serde::Deserialize;
use serde_json::Value;

use crate::support::tree;

/// The end of the paragraph above the table, and the heading below it.
const BEFORE: &str = "above 1, the other is better.\n\n";
const AFTER: &str = "\n## ";

#[derive(Deserialize)]
struct Studies {
    item: Vec<Item>,
}

/// One experiment of a study.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    study: String,
    item: String,
    command: String,
    /// Name of the folder of the published run.
    run: String,
    /// Pattern of the rows of the run's published table.
    rows: Option<String>,
    /// The stack whose factors are compared, if the table has several.
    stack: Option<String>,
    /// JSON pointer of a figure of the run's summary.
    figure: Option<String>,
    /// The meaning of the figure.
    #[serde(default)]
    unit: Unit,
    published: Option<String>,
    remark: Option<String>,
    /// The items of the same study that this one replaces in the count of signs.
    #[serde(default)]
    instead_of: Vec<String>,
}

/// The meaning of a figure of a summary.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Unit {
    /// A number of sites on which the second stack is faster, or a quotient of times.
    #[default]
    Comparison,
    /// A time in nanoseconds.
    Nanoseconds,
    /// A list of sites that failed, each with the stack on which it failed.
    Failures,
}

/// The published and the measured figure of an experiment.
struct Outcome {
    published: String,
    measured: String,
    /// The compared factors; none for a figure.
    factors: Vec<Factor>,
}

/// A factor beside the published one.
struct Factor {
    /// The agreement of the two, as the summary names it.
    agreement: String,
    /// Whether a known fault of the publication affects the row.
    doubtful: bool,
}

fn studies() -> Studies {
    let path = tree().join("netbench/catalogue/studies.toml");
    toml::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

impl Item {
    fn outcome(&self) -> Outcome {
        let run = &self.run;
        let path = tree().join("results").join(run);
        let summary = fs::read_to_string(path.join("summary.json"));
        let summary = summary.unwrap_or_else(|_| panic!("no run {run}"));
        let mut summary: Value = serde_json::from_str(&summary).unwrap();
        if summary["kind"] == "connect" {
            summary = summary_of_samples(&path);
        }
        match (&self.rows, &self.figure) {
            (Some(rows), None) => of_rows(&summary, rows, self.stack.as_deref()),
            (None, Some(figure)) => Outcome {
                published: self.published.clone().unwrap(),
                measured: self.unit.shown(summary.pointer(figure).unwrap()),
                factors: Vec::new(),
            },
            _ => panic!("{}: either rows or a figure", self.item),
        }
    }

    /// Returns the item, with its outcome, as a row of the table.
    fn row(&self, outcome: &Outcome) -> String {
        let is_same = outcome.count("same") == outcome.factors.len();
        assert!(
            is_same || self.remark.is_some(),
            "{}, {}: a difference needs a remark",
            self.study,
            self.item
        );
        let command = match self.command.as_str() {
            "" => "–".to_owned(),
            command => format!("`{command}`"),
        };
        let remark = self.remark.as_deref().unwrap_or_default();
        let (study, item) = (&self.study, &self.item);
        let (published, measured) = (&outcome.published, &outcome.measured);
        let verdict = outcome.verdict();
        format!(
            "| {study} | {item} | {command} | {published} | {measured} | {verdict} | {remark} |\n"
        )
    }
}

impl Outcome {
    fn count(&self, agreement: &str) -> usize {
        let factors = self.factors.iter();
        factors.filter(|it| it.agreement == agreement).count()
    }

    fn verdict(&self) -> String {
        if self.factors.is_empty() {
            return "measured".to_owned();
        }
        let counts = ["same", "same-sign", "other-sign"].map(|name| (self.count(name), name));
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let words: Vec<String> = counts
            .map(|(count, name)| format!("{count} {}", name.replace('-', " ")))
            .collect();
        words.join(", ")
    }
}

/// Returns the sentence about all published factors. An item that repeats others under the publication's conditions
/// replaces them.
fn signs(outcomes: &[(&Item, Outcome)]) -> String {
    let replaced: Vec<(&str, &str)> = outcomes
        .iter()
        .flat_map(|(item, _)| item.instead_of.iter().map(|of| (&*item.study, &**of)))
        .collect();
    for (study, name) in &replaced {
        let mut items = outcomes.iter();
        assert!(
            items.any(|(item, _)| item.study == *study && item.item == *name),
            "{study} has no item {name}"
        );
    }
    let counted: Vec<&Outcome> = outcomes
        .iter()
        .filter(|(item, _)| !replaced.contains(&(&*item.study, &*item.item)))
        .map(|(_, outcome)| outcome)
        .collect();
    let factors = counted.iter().flat_map(|outcome| &outcome.factors);
    let all: Vec<&Factor> = factors.collect();
    let sound: Vec<&Factor> = all.iter().copied().filter(|it| !it.doubtful).collect();
    let same: usize = counted.iter().map(|outcome| outcome.count("same")).sum();
    format!(
        "**Of {} published factors, {} have the published sign, and {same} of them are the same.** Of the {} without a known\n\
         fault of the publication, {} have it. A row \"The same …\" repeats others under the publication's conditions, and is\n\
         counted in place of them.\n",
        all.len(),
        with_published_sign(&all),
        sound.len(),
        with_published_sign(&sound),
    )
}

/// Returns the number and the share of the factors that have the published sign.
fn with_published_sign(factors: &[&Factor]) -> String {
    let signs = factors.iter().filter(|it| it.agreement != "other-sign");
    let signs = signs.count();
    let percent = 100.0 * signs as f64 / factors.len() as f64;
    format!("{signs} ({percent:.1} %)")
}

/// Returns the summary of a run of `connect`, with the figures that the summary beside the samples may still lack.
fn summary_of_samples(path: &Path) -> Value {
    let folder = RunFolder::open(path).unwrap();
    let manifest: ConnectManifest = folder.manifest().unwrap();
    let samples: Vec<Sample> = folder.records().unwrap();
    serde_json::to_value(summarize(&manifest, &samples)).unwrap()
}

/// Compares the factors of the rows of a summary's published table that match a pattern, of all stacks or of one.
fn of_rows(summary: &Value, pattern: &str, stack: Option<&str>) -> Outcome {
    let pattern = Glob::new(pattern).unwrap().compile_matcher();
    let rows = summary["published"]["rows"].as_array().unwrap();
    let (mut today, mut factors) = (Vec::new(), Vec::new());
    for row in rows {
        if !pattern.is_match(row["case"].as_str().unwrap()) {
            continue;
        }
        let compared = row["today"].as_array().unwrap().iter();
        for one in compared.filter(|one| stack.is_none_or(|stack| one["stack"] == stack)) {
            factors.push(Factor {
                agreement: one["agreement"].as_str().unwrap().to_owned(),
                doubtful: row["doubtful"].as_bool().unwrap(),
            });
            today.push(one);
        }
    }
    assert!(!today.is_empty(), "no row matches");
    Outcome {
        published: range(&today, "published"),
        measured: range(&today, "measured"),
        factors,
    }
}

/// Returns the minimum and the maximum of the factors, whose reciprocals the summary has.
fn range(rows: &[&Value], field: &str) -> String {
    let factors = rows.iter().map(|row| 1.0 / row[field].as_f64().unwrap());
    let (low, high) = (
        factors.clone().fold(f64::INFINITY, f64::min),
        factors.fold(f64::NEG_INFINITY, f64::max),
    );
    let (low, high) = (format!("{low:.2}"), format!("{high:.2}"));
    match low == high {
        true => format!("{low}×"),
        false => format!("{low}–{high}×"),
    }
}

impl Unit {
    /// Returns a figure in words. The factor of a quotient of times is above 1 where the second stack is better.
    fn shown(self, value: &Value) -> String {
        match (self, value) {
            (Self::Comparison, Value::Number(number)) if number.is_u64() => {
                format!("faster on {number}")
            }
            (Self::Comparison, _) => format!("{:.2}×", 1.0 / value.as_f64().unwrap()),
            (Self::Nanoseconds, _) => format!("{:.0} µs", value.as_f64().unwrap() / 1e3),
            (Self::Failures, _) => format!("{} failures", value.as_array().unwrap().len()),
        }
    }
}

#[test]
fn the_table_of_experiments_is_that_of_the_published_runs() {
    let path = tree().join("docs/STUDIES.md");
    let text = fs::read_to_string(&path).unwrap();
    let start = text.find(BEFORE).unwrap() + BEFORE.len();
    let end = start + text[start..].find(AFTER).unwrap();
    let studies = studies();
    let items = studies.item.iter();
    let outcomes: Vec<(&Item, Outcome)> = items.map(|item| (item, item.outcome())).collect();
    let rows = outcomes.iter().map(|(item, outcome)| item.row(outcome));
    let rows: String = rows.collect();
    let table = format!(
        "| study | experiment | command | published | measured | agreement | cause or remark |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n{rows}\n{}",
        signs(&outcomes)
    );
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, format!("{}{table}{}", &text[..start], &text[end..])).unwrap();
    } else {
        assert!(
            text[start..end] == table,
            "UPDATE_DOCS=1 writes the table again; it is now\n{table}"
        );
    }
}
