//! Means over the cases of a part of the suite.

use itertools::Itertools;
use netbench_model::{Measure, Part, Quantity, Threshold};
use netbench_stats::{RoundsNeeded, UndecidedReason};

use super::{evidence::Evidence, question::Question};
use crate::{
    CaseVerdict,
    suite::row_name,
    text::{change, count, some_of, time_and_change},
};

/// The factor by which a mean must exceed a limit if cases have too few operations in a turn, whose figures deviate by
/// up to 10 %. It is 1.25 for the usual limit of 5 %.
const FEW_OPERATIONS: f64 = 1.25 / 1.05;

/// The parts of the suite that have a mean, each with the measure of its cases and a label.
pub(super) const PARTS: [(Part, Measure, &str); 6] = [
    (
        Part::Handshake,
        Measure::Client,
        "client's side of a handshake in memory",
    ),
    (Part::Bulk, Measure::Send, "sending of data in memory"),
    (Part::Bulk, Measure::Receive, "receiving of data in memory"),
    (Part::Verify, Measure::Whole, "verification of a chain"),
    (Part::Connector, Measure::Whole, "making of a connector"),
    (
        Part::Memory,
        Measure::Peak,
        "peak memory of a process with many sessions",
    ),
];

/// The cost of a part of the suite, over its cases.
pub(super) struct Mean {
    pub(super) part: Part,
    /// The name: `handshake`, or `bulk sent`.
    pub(super) name: String,
    pub(super) label: &'static str,
    /// The cases with a figure, and their ratios. Cases whose turns have too few operations are included: their
    /// figures can be a few percent off, so that no answer rests on them.
    pub(super) reported: Vec<(String, f64)>,
    /// The cases without a figure to judge by, each with the reason.
    pub(super) unreported: Vec<(String, NoFigure)>,
    pub(super) ratio: f64,
    /// The limit of the ratio's excess over 1.
    pub(super) limit: Threshold,
    /// The mean time of one operation with the stack in use, if the cases measure such a time.
    pub(super) from_ns: Option<f64>,
}

impl Mean {
    pub(super) fn is_headline(&self) -> bool {
        is_headline(self.part)
    }

    /// Returns whether every case has a figure. A mean without some of them could leave out the worst one.
    pub(super) fn is_whole(&self) -> bool {
        self.unreported.is_empty()
    }

    /// Returns whether the mean exceeds the limit. Cases whose turns have too few operations count if the mean exceeds
    /// the limit by more than their figures can deviate.
    pub(super) fn is_slower(&self) -> bool {
        self.certain()
            .is_some_and(|ratio| ratio > self.limit.yes.ratio())
    }

    /// Returns whether the mean alone makes the answer a no: every connection pays the cost, or each process with many
    /// sessions does.
    pub(super) fn is_no(&self) -> bool {
        let counts = self.is_headline() || self.part == Part::Memory;
        counts
            && self
                .certain()
                .is_some_and(|ratio| self.limit.is_no(ratio - 1.0))
    }

    /// Returns the ratio that the mean has at least.
    fn certain(&self) -> Option<f64> {
        if self.is_whole() {
            Some(self.ratio)
        } else {
            self.has_figures().then_some(self.ratio / FEW_OPERATIONS)
        }
    }

    /// Returns whether an answer can rest on the mean.
    pub(super) fn is_decided(&self) -> bool {
        self.is_whole() || self.is_slower()
    }

    /// Returns whether every case has a figure, which can be a few percent off.
    fn has_figures(&self) -> bool {
        self.reasons().all(|why| why == NoFigure::FewOperations)
    }

    pub(super) fn reasons(&self) -> impl Iterator<Item = NoFigure> {
        self.unreported.iter().map(|(_, why)| *why)
    }

    /// Adds the mean to the figures, or the individual cases if some have no figure.
    pub(super) fn tell(&self, question: &mut Question) {
        if !self.is_whole() {
            let reasons = NoFigure::in_words(self.reasons());
            let cases = some_of(3, self.unreported.iter().map(|(name, _)| name));
            let missing = format!("{}: {reasons}: {cases}", self.label);
            question.missing.push(missing);
        }
        if !self.has_figures() {
            for (name, ratio) in &self.reported {
                question.figure(change(*ratio), format!("{}: {name}", self.label));
            }
            return;
        }
        let cases = count(self.reported.len(), "case", "cases");
        let label = format!("{} (geometric mean of {cases})", self.label);
        let figure = match self.from_ns {
            Some(from_ns) => time_and_change(from_ns, self.ratio),
            None => change(self.ratio),
        };
        question.figure(figure, label);
    }
}

pub(super) fn quantity_of(part: Part) -> Quantity {
    match part {
        Part::Memory => Quantity::Memory,
        _ => Quantity::InMemory,
    }
}

/// Returns whether every connection pays the cost of a part: handshakes, and data in either direction.
pub(super) fn is_headline(part: Part) -> bool {
    matches!(part, Part::Handshake | Part::Bulk)
}

/// The reason why a case has no reliable figure, or no verdict. The figure itself has no part in the first three
/// reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum NoFigure {
    FewOperations,
    NeverQuiet,
    FewQuietTurns,
    FewRounds,
    DependsOnDisturbance,
    WideInterval,
    AtTheLimit,
}

impl NoFigure {
    /// Returns the reason why the ratio of a case cannot be read; `None` if it can.
    fn of(verdict: &CaseVerdict) -> Option<Self> {
        match verdict.undecided {
            Some(UndecidedReason::FewOperations) => Some(Self::FewOperations),
            Some(UndecidedReason::NeverQuiet) => Some(Self::NeverQuiet),
            Some(UndecidedReason::FewQuietTurns) => Some(Self::FewQuietTurns),
            Some(UndecidedReason::DependsOnDisturbance) | None => {
                verdict.change.interval.is_none().then_some(Self::FewRounds)
            }
        }
    }

    /// Returns the reason why a case has no verdict; `None` if it has one.
    pub(super) fn of_undecided(verdict: &CaseVerdict) -> Option<Self> {
        if verdict.change.verdict.is_decided() {
            return None;
        }
        Some(match (verdict.undecided, verdict.rounds_needed) {
            (Some(UndecidedReason::DependsOnDisturbance), _) => Self::DependsOnDisturbance,
            (None, Some(RoundsNeeded::AtTheLimit)) => Self::AtTheLimit,
            _ => Self::of(verdict).unwrap_or(Self::WideInterval),
        })
    }

    /// Returns the reasons of some cases with their numbers, and whether more rounds help: `2 cases with too few rounds,
    /// which more add to`.
    pub(super) fn in_words(cases: impl IntoIterator<Item = Self>) -> String {
        let reasons = cases.into_iter().counts().into_iter().sorted();
        let reasons = reasons.map(|(reason, cases)| {
            let cases = count(cases, "case", "cases");
            let why = match reason {
                Self::FewOperations => {
                    "whose turns have fewer than 20 operations, as in runs of earlier versions"
                }
                Self::NeverQuiet => {
                    "on a machine that was never quiet, which more rounds do not change"
                }
                Self::FewQuietTurns => {
                    "with too few quiet turns: more rounds on a quieter machine add to them"
                }
                Self::FewRounds => "with too few rounds: more rounds decide",
                Self::DependsOnDisturbance => {
                    "that depend on how busy the machine is: a quieter machine decides"
                }
                Self::WideInterval => "with a wide interval: more rounds decide",
                Self::AtTheLimit => "at the limit, which no number of rounds decides",
            };
            format!("{cases} {why}")
        });
        reasons.collect_vec().join("; ")
    }
}

/// The figures for each part of the suite that are shown wherever the run is summed up. A geometric
/// mean, because ratios multiply; of the client's cases, because it is clients that would switch, and
/// a middle of both sides' cases would hide which side gains. Data is sent by the server's side: a client protects what it
/// sends with the same code.
pub(super) fn means(evidence: &Evidence<'_>) -> Vec<Mean> {
    PARTS
        .into_iter()
        .filter_map(|(part, measure, label)| mean(evidence, part, measure, label))
        .collect()
}

/// Returns the mean over the cases of one part and measure; `None` where no case was compared.
fn mean(
    evidence: &Evidence<'_>,
    part: Part,
    measure: Measure,
    label: &'static str,
) -> Option<Mean> {
    let (mut reported, mut unreported, mut from) = (Vec::new(), Vec::new(), Vec::new());
    let verdicts = evidence.verdicts();
    let verdicts = verdicts.filter(|(row, _)| row.part == part && row.case.measure == measure);
    for (row, verdict) in verdicts {
        let name = row_name(&row.name);
        let no_figure = NoFigure::of(verdict);
        if matches!(no_figure, None | Some(NoFigure::FewOperations)) {
            reported.push((name.clone(), verdict.change.ratio));
            from.push(row.of(evidence.from).map(|figures| figures.low));
        }
        unreported.extend(no_figure.map(|why| (name, why)));
    }
    let of_one_operation = matches!(part, Part::Handshake | Part::Verify | Part::Connector);
    let from: Option<Vec<f64>> = from.into_iter().collect();
    (!reported.is_empty() || !unreported.is_empty()).then(|| Mean {
        part,
        name: match part {
            Part::Bulk => format!("{} {}", part.name(), measure.name()),
            _ => part.name().to_owned(),
        },
        label,
        limit: evidence.thresholds.of(quantity_of(part)),
        ratio: geometric_mean(reported.iter().map(|(_, ratio)| *ratio)),
        from_ns: from
            .filter(|from| of_one_operation && !from.is_empty())
            .map(|from| geometric_mean(from.into_iter())),
        reported,
        unreported,
    })
}

/// Returns the geometric mean; 1 if there are no values.
pub(super) fn geometric_mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    (values.map(f64::ln).sum::<f64>() / count).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean<'a>(
        part: Part,
        reported: &[&str],
        unreported: impl IntoIterator<Item = (&'a str, NoFigure)>,
        ratio: f64,
    ) -> Mean {
        let reported = reported.iter().map(|name| ((*name).to_owned(), ratio));
        let unreported = unreported.into_iter();
        let unreported = unreported.map(|(name, why)| (name.to_owned(), why));
        Mean {
            part,
            name: part.name().to_owned(),
            label: "data",
            limit: Quantity::InMemory.usual(),
            reported: reported.collect(),
            unreported: unreported.collect(),
            ratio,
            from_ns: None,
        }
    }

    #[test]
    fn a_mean_is_given_only_of_all_cases() {
        type Row = (
            &'static [&'static str],
            &'static [&'static str],
            NoFigure,
            &'static [&'static str],
            usize,
        );
        const MEAN: &str = "data (geometric mean of 2 cases)";
        use NoFigure::{FewOperations, FewRounds};
        let cases: [Row; 4] = [
            (&["a", "b"], &[], FewRounds, &[MEAN], 0),
            (&["a", "b"], &["c"], FewRounds, &["data: a", "data: b"], 1),
            (&[], &["a", "c"], FewRounds, &[], 1),
            (&["a", "b"], &["b"], FewOperations, &[MEAN], 1),
        ];
        for (reported, unreported, why, labels, missing) in cases {
            let mut question = Question::open(String::new());
            let without = unreported.iter().map(|name| (*name, why));
            let mean = mean(Part::Bulk, reported, without, 1.1);
            mean.tell(&mut question);
            let figures: Vec<&str> = question.figures.iter().map(|f| f.label.as_str()).collect();
            assert_eq!(figures, labels);
            assert_eq!(question.missing.len(), missing);
            let mut missing = question.missing.iter();
            assert!(missing.all(|line| unreported.iter().all(|name| line.contains(name))));
        }
    }

    /// Figures that can be 10 % off decide only what they cannot be wrong about.
    #[test]
    fn a_mean_of_few_operations_decides_only_what_is_clear() {
        use NoFigure::{FewOperations, NeverQuiet};
        for (unreported, ratio, slower, is_no, decided) in [
            (None, 1.04, false, false, true),
            (None, 1.06, true, false, true),
            (None, 10.1, true, true, true),
            (Some(FewOperations), 1.06, false, false, false),
            (Some(FewOperations), 10.1, true, false, true),
            (Some(FewOperations), 39.0, true, true, true),
            (Some(FewOperations), 0.5, false, false, false),
            (Some(NeverQuiet), 39.0, false, false, false),
        ] {
            let without = unreported.map(|why| ("a", why));
            let mean = mean(Part::Handshake, &["a"], without, ratio);
            let found = (mean.is_slower(), mean.is_no(), mean.is_decided());
            assert_eq!(found, (slower, is_no, decided), "{unreported:?} {ratio}");
        }
    }
}
