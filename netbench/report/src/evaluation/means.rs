//! Means over the cases of a part of the suite.

use netbench_model::{Measure, Part};
use netbench_stats::UndecidedReason;

use super::{Evidence, Question};
use crate::{
    CaseRow, CaseVerdict, SuiteSummary,
    suite::row_name,
    text::{change, count, time_and_change},
};

/// The cost of a part of the suite, over its cases.
pub(super) struct Mean {
    pub(super) part: Part,
    pub(super) label: &'static str,
    /// The cases with a figure, and their ratios.
    pub(super) told: Vec<(String, f64)>,
    /// Cases without: with too few rounds, or of a machine that was never quiet.
    pub(super) untold: Vec<String>,
    pub(super) ratio: f64,
    /// The same mean of what the stack in use takes, where that is a time of one operation.
    pub(super) from_ns: Option<f64>,
}

impl Mean {
    /// Whether every case has a figure. A mean without some of them could leave out the worst one.
    pub(super) fn is_whole(&self) -> bool {
        self.untold.is_empty()
    }

    /// Adds the mean to the figures, or the cases one by one where some have no figure.
    pub(super) fn tell(&self, question: &mut Question) {
        if !self.is_whole() {
            let untold = count(self.untold.len(), "case", "cases");
            let missing = format!(
                "{}: {untold} with too few rounds or without a quiet moment: {}",
                self.label,
                self.untold.join(", ")
            );
            question.missing.push(missing);
            for (name, ratio) in &self.told {
                question.figure(change(*ratio), format!("{}: {name}", self.label));
            }
            return;
        }
        let cases = count(self.told.len(), "case", "cases");
        let label = format!("{} (geometric mean of {cases})", self.label);
        let figure = match self.from_ns {
            Some(from_ns) => time_and_change(from_ns, self.ratio),
            None => change(self.ratio),
        };
        question.figure(figure, label);
    }
}

/// Whether there is enough behind a ratio to be read. What it is has no part in that.
fn tells(verdict: &CaseVerdict) -> bool {
    let never_quiet = matches!(
        verdict.undecided,
        Some(UndecidedReason::FewQuietTurns | UndecidedReason::NeverQuiet)
    );
    verdict.paired.interval.is_some() && !never_quiet
}

/// The one figure for each part of the suite that is shown wherever the run is summed up. A geometric
/// mean, because ratios multiply; of the client's cases, because it is clients that would switch, and
/// a middle of both sides' cases would hide which side gains.
pub(super) fn means(suite: &SuiteSummary, evidence: &Evidence<'_>) -> Vec<Mean> {
    let parts = [
        (
            Part::Handshake,
            Measure::Client,
            "client's side of a handshake in memory",
        ),
        (Part::Bulk, Measure::Receive, "receiving of data in memory"),
        (Part::Verify, Measure::Whole, "verification of a chain"),
        (Part::Connector, Measure::Whole, "making of a connector"),
        (
            Part::Memory,
            Measure::Peak,
            "peak memory of a process with many sessions",
        ),
    ];
    let mean = |(part, measure, label): (Part, Measure, &'static str)| {
        let verdicts: Vec<(&CaseRow, &CaseVerdict)> = suite
            .cases
            .iter()
            .filter(|row| row.part == part && row.case.measure == measure)
            .flat_map(|row| row.verdicts.iter().map(move |verdict| (row, verdict)))
            .filter(|(_, verdict)| verdict.other == *evidence.to)
            .collect();
        let (told, untold): (Vec<_>, Vec<_>) =
            verdicts.iter().partition(|(_, verdict)| tells(verdict));
        let name = |row: &CaseRow| row_name(&row.name).to_string();
        let of_one_operation = matches!(part, Part::Handshake | Part::Verify | Part::Connector);
        let from = told
            .iter()
            .map(|(row, _)| row.of(evidence.from).map(|figures| figures.low));
        let from: Option<Vec<f64>> = from.filter(|_| of_one_operation).collect();
        (!verdicts.is_empty()).then(|| Mean {
            part,
            label,
            told: told
                .iter()
                .map(|(row, verdict)| (name(row), verdict.paired.ratio))
                .collect(),
            untold: untold.iter().map(|(row, _)| name(row)).collect(),
            ratio: geometric_mean(told.iter().map(|(_, verdict)| verdict.paired.ratio)),
            from_ns: from
                .filter(|from| !from.is_empty())
                .map(|from| geometric_mean(from.into_iter())),
        })
    };
    parts.into_iter().filter_map(mean).collect()
}

/// 1 of nothing.
fn geometric_mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    (values.map(f64::ln).sum::<f64>() / count).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_given_only_of_all_cases() {
        type Row = (
            &'static [&'static str],
            &'static [&'static str],
            &'static [&'static str],
            usize,
        );
        let cases: [Row; 3] = [
            (&["a", "b"], &[], &["data (geometric mean of 2 cases)"], 0),
            (&["a", "b"], &["c"], &["data: a", "data: b"], 1),
            (&[], &["a", "c"], &[], 1),
        ];
        for (told, untold, labels, missing) in cases {
            let mut question = Question::open(String::new());
            let mean = Mean {
                part: Part::Bulk,
                label: "data",
                told: told.iter().map(|name| ((*name).to_owned(), 1.1)).collect(),
                untold: untold.iter().map(|name| (*name).to_owned()).collect(),
                ratio: 1.1,
                from_ns: None,
            };
            mean.tell(&mut question);
            let figures: Vec<&str> = question.figures.iter().map(|f| f.label.as_str()).collect();
            assert_eq!(figures, labels);
            assert_eq!(question.missing.len(), missing);
            let names_all = |line: &String| untold.iter().all(|name| line.contains(name));
            assert!(question.missing.iter().all(names_all));
        }
    }
}
