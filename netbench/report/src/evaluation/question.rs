//! Questions of a decision maker, with their answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::finding::{Finding, Severity};
use crate::text::capital;

/// Maximum number of findings that a card and a terminal show for a question.
pub(super) const SHOWN: usize = 7;

/// A question with its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// The question.
    #[schemars(extend("x-key" = "item"))]
    pub question: String,
    /// The verdict.
    pub answer: Answer,
    /// The verdict in a sentence.
    pub because: String,
    /// The figures that carry it, the strongest first.
    pub figures: Vec<KeyFigure>,
    /// The findings; the most severe ones come first, and among those the ones that most users meet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Breakages and deteriorations that no family has, one a line.
    pub breaks: Vec<String>,
    /// Improvements, one a line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gains: Vec<String>,
    /// Subjects that were not tested, with the reasons.
    pub missing: Vec<String>,
}

/// A figure that carries a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyFigure {
    /// The value with its unit: `3 of 101`, `−0.2 %`.
    pub value: String,
    /// The subject of the figure.
    #[schemars(extend("x-key" = "item"))]
    pub label: String,
}

/// A verdict on a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Yes.
    Yes,
    /// Yes, but with losses.
    WithLosses,
    /// No.
    No,
    /// The data does not answer the question.
    #[default]
    Open,
}

impl Answer {
    /// Returns the answer that is worse for someone who would switch; an open answer is never the worse one.
    pub(super) fn worse_of(self, other: Self) -> Self {
        let ranked = [Self::No, Self::WithLosses, Self::Yes, Self::Open].into_iter();
        let mut worst = ranked.filter(|answer| [self, other].contains(answer));
        worst.next().unwrap_or(self)
    }

    /// Returns the answer after a finding that alone would give `other`: an open answer becomes a no or stays open.
    pub(super) fn worsened_by(self, other: Self) -> Self {
        match other {
            Self::Yes | Self::Open => self,
            Self::WithLosses => self.at_best_with_losses(),
            Self::No => Self::No,
        }
    }

    /// Returns the answer after a part of the question that alone has the answer `other`: an open part leaves a yes open.
    pub(super) fn limited_by(self, other: Self) -> Self {
        match (self, other) {
            (Self::Yes, Self::Open) => Self::Open,
            _ => self.worsened_by(other),
        }
    }

    /// Turns a yes into a yes with losses; an open answer stays open.
    pub(super) fn at_best_with_losses(self) -> Self {
        match self {
            Self::Yes => Self::WithLosses,
            answer => answer,
        }
    }

    /// Returns the answer in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::WithLosses => "yes, with losses",
            Self::No => "no",
            Self::Open => "open",
        }
    }
}

/// The subject of a question, in the order of the questions of an evaluation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// The features that the sites need.
    Supports,
    /// Failures and defects.
    #[default]
    Works,
    /// The speed.
    Fast,
    /// The behaviour of browsers.
    Browsers,
}

impl Subject {
    pub(super) const ALL: [Self; 4] = [Self::Supports, Self::Works, Self::Fast, Self::Browsers];
}

/// A question of a document, and the section with its figures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// The subject of the question.
    pub subject: Subject,
    /// The question with its answer.
    pub question: Question,
    /// The compared stacks: `rustls-aws-lc in place of openssl`.
    pub about: String,
    /// The id of the section with the details.
    pub section: Option<String>,
    /// The id of the section with the advice, if there is any.
    pub act: Option<String>,
    /// Warnings that a reader must know before quoting its figures.
    pub warnings: Vec<String>,
}

/// The heading of losses in security.
const UNDUE: &str = "What it would accept and must refuse:";

/// The heading of all other changes for the worse.
const WORSE: &str = "What would change for the worse:";

impl Question {
    pub(super) fn open(question: String) -> Self {
        Self {
            question,
            ..Self::default()
        }
    }

    pub(super) fn figure(&mut self, value: impl ToString, label: impl Into<String>) {
        self.figures.push(KeyFigure {
            value: value.to_string(),
            label: label.into(),
        });
    }

    pub(crate) fn in_a_sentence(&self) -> String {
        format!("{}. {}", capital(self.answer.words()), self.because)
    }

    /// Returns the lines for a card and a terminal, at most seven: the worst findings with their advice, and the other
    /// breakages. Losses in security are apart from the others, and have three places where both need more than there are.
    pub(crate) fn worst(&self) -> Vec<(&'static str, Vec<String>)> {
        let (undue, other): (Vec<_>, Vec<_>) = self
            .findings
            .iter()
            .partition(|finding| finding.severity == Severity::AcceptsForbidden);
        let others = other.len() + self.breaks.len();
        let undue_shown = undue.len().min(SHOWN.saturating_sub(others).max(SHOWN / 2));
        let room = SHOWN - undue_shown;
        let breaks_shown = self
            .breaks
            .len()
            .min(room.saturating_sub(other.len()).max(room / 2));
        let other_shown = other.len().min(room - breaks_shown);
        let mut worse = self.breaks[..breaks_shown].to_vec();
        worse.extend(other[..other_shown].iter().map(with_advice));
        let hidden = self.findings.len() + self.breaks.len() - worse.len() - undue_shown;
        let undue = undue[..undue_shown].iter().map(with_advice).collect();
        let mut groups = vec![(WORSE, worse), (UNDUE, undue)];
        let first = self.findings.first().map(|finding| finding.severity);
        if first == Some(Severity::AcceptsForbidden) && self.breaks.is_empty() {
            groups.reverse();
        }
        groups.retain(|(_, lines)| !lines.is_empty());
        if let Some((_, last)) = groups.last_mut().filter(|_| hidden > 0) {
            last.push(format!("and {hidden} more: see the table"));
        }
        groups
    }
}

fn with_advice(finding: &&Finding) -> String {
    format!("{}. {}", finding.line(), finding.advice)
}

/// Returns whether no question has the answer *no*. A run of one kind fails by its answers only if the user sets
/// thresholds: without them, it only measures.
pub(crate) fn none_is_no(questions: &[Asked]) -> bool {
    let mut answers = questions.iter().map(|asked| asked.question.answer);
    answers.all(|answer| answer != Answer::No)
}
