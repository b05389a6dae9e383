//! The parts of an evaluation that each question names. A verdict rests on all of them: an untested part keeps a
//! question open, so that leaving a part out never improves an answer.

use netbench_model::{PartState, named::labels};

use super::{
    evidence::Evidence,
    question::{Answer, Question},
};
use crate::text::capital;

labels!(
    /// A part of an evaluation that a question rests on.
    Basis, {
        /// BoringSSL's protocol tests: features and defects.
        Features = "features",
        /// The scan of the sites.
        Sites = "sites",
        /// Servers, certificate chains and trust stores of the catalogues.
        Compat = "compat",
        /// Connections to the sites.
        Connections = "connections",
        /// The suite in memory.
        Suite = "suite",
    }
);

/// The parts that the three questions name. If the first part of a question is missing, the question's own reason
/// explains it.
const NAMED: [&[Basis]; 3] = [
    &[Basis::Sites, Basis::Features],
    &[Basis::Connections, Basis::Compat, Basis::Features],
    &[Basis::Connections, Basis::Suite],
];

/// The extent to which a part was tested.
enum Tested<'a> {
    Whole,
    /// The part ended before the tests were complete, for this reason.
    InPart(&'a str),
    /// The part was not tested, for this reason.
    Not(&'a str),
    /// The part does not exist for these stacks, for this reason: the question then excludes it by name.
    Excluded(&'a str),
}

impl Basis {
    fn subject(self) -> &'static str {
        match self {
            Self::Features => "protocol support",
            Self::Sites => "the reach of the sites",
            Self::Compat => "compatibility",
            Self::Connections => "connections",
            Self::Suite => "speed in memory",
        }
    }

    /// Returns the subject with its verb: `compatibility was`, `connections were`.
    fn was(self) -> String {
        let verb = match self {
            Self::Connections => "were",
            _ => "was",
        };
        format!("{} {verb}", self.subject())
    }

    /// Returns whether a question can be answered without the part if a stack does not support it. Without the
    /// sites, the connections or the catalogues, a question would be empty.
    fn may_be_excluded(self) -> bool {
        matches!(self, Self::Features | Self::Suite)
    }

    fn has_evidence(self, evidence: &Evidence<'_>) -> bool {
        match self {
            Self::Features => {
                evidence.found.matrix.is_some() || evidence.older_features().is_some()
            }
            Self::Sites => evidence.losses().is_some(),
            Self::Compat => evidence.found.compat.is_some(),
            Self::Connections => evidence.connections.is_some_and(|run| run.run.samples > 0),
            Self::Suite => evidence.suites.iter().any(|suite| !suite.cases.is_empty()),
        }
    }

    fn tested<'a>(self, evidence: &Evidence<'a>) -> Tested<'a> {
        let mut parts = evidence.parts.into_iter().flatten();
        let record = parts.find(|record| record.part == self.name());
        let why = evidence.why_missing(self.name()).unwrap_or_default();
        match record.map(|record| &record.state) {
            Some(PartState::Interrupted | PartState::Failed { .. })
                if self.has_evidence(evidence) =>
            {
                Tested::InPart(why)
            }
            _ if self == Self::Compat && few_servers(evidence) => Tested::InPart(FEW_SERVERS),
            _ if self.has_evidence(evidence) => Tested::Whole,
            Some(PartState::Unsupported { .. }) if self.may_be_excluded() => Tested::Excluded(why),
            _ => Tested::Not(why),
        }
    }
}

/// The minimum share of the servers that the stack in use connected to, or refused, with which the other was tested too.
const COMPARED_SERVERS: f64 = 0.9;

const FEW_SERVERS: &str = "one of the stacks supports too few of the test servers";

/// Returns whether too few servers of the catalogue have an outcome with both stacks.
fn few_servers(evidence: &Evidence<'_>) -> bool {
    let compat = evidence.found.compat.as_deref();
    compat.is_some_and(|compat| {
        (compat.told_of_both() as f64) < COMPARED_SERVERS * compat.told_of_first() as f64
    })
}

/// Keeps each of the three questions of an evaluation open where a part that it names was not tested. An answer that the
/// part cannot change remains: no result of a part makes "with losses" better, and only the parts that were tested make
/// it a no.
pub(super) fn cap(questions: &mut [Question], evidence: &Evidence<'_>) {
    for (question, named) in questions.iter_mut().zip(NAMED) {
        let explained = question.answer == Answer::Open;
        let mut untested = Vec::new();
        for (at, basis) in named.iter().enumerate() {
            let (tested, why) = match basis.tested(evidence) {
                Tested::Whole => continue,
                Tested::Not(_) if at == 0 && explained => continue,
                Tested::Not(why) => ("not tested", why),
                Tested::InPart(why) => ("tested in part", why),
                Tested::Excluded(why) => {
                    exclude(question, *basis, why.trim_end_matches('.'));
                    continue;
                }
            };
            let why = why.trim_end_matches('.');
            untested.push(format!("{} {tested} ({why})", basis.was()));
        }
        if untested.is_empty() {
            continue;
        }
        let untested = listed(untested);
        question.because = match question.answer {
            Answer::Yes => format!("Not decided: {untested}. {}", question.because),
            _ => format!("{} Also, {untested}.", question.because),
        };
        if question.answer == Answer::Yes {
            question.answer = Answer::Open;
        }
    }
}

/// States in the question and in its reason that a part is excluded from the answer.
fn exclude(question: &mut Question, basis: Basis, why: &str) {
    let subject = basis.subject();
    let asked = question.question.trim_end_matches('?');
    question.question = format!("{asked} ({subject} not included)?");
    question.because = format!(
        "{} {} is not included: {why}.",
        question.because.trim_end(),
        capital(subject)
    );
}

/// Returns the untested parts without which no question is decided: `compatibility was not tested`. Returns `None`
/// if all were tested.
pub(super) fn untested(evidence: &Evidence<'_>) -> Option<String> {
    let (mut in_part, mut not) = (Vec::new(), Vec::new());
    for basis in Basis::ALL.iter().copied() {
        match basis.tested(evidence) {
            Tested::InPart(_) => in_part.push(basis),
            Tested::Not(_) => not.push(basis),
            Tested::Whole | Tested::Excluded(_) => {}
        }
    }
    match (in_part.is_empty(), not.is_empty()) {
        (_, true) => said(&in_part, "tested in part"),
        (true, false) => said(&not, "not tested"),
        // The sentence has room for one clause.
        (false, false) => said(&[in_part, not].concat(), "not tested in full"),
    }
}

/// Returns what holds for parts: `compatibility was not tested`. Returns `None` for no parts.
fn said(bases: &[Basis], what: &str) -> Option<String> {
    let subjects = bases.iter().map(|basis| basis.subject().to_owned());
    match bases {
        [] => None,
        [basis] => Some(format!("{} {what}", basis.was())),
        _ => Some(format!("{} were {what}", listed(subjects.collect()))),
    }
}

/// Returns the subjects that the questions exclude: `speed in memory`. Returns `None` if there are none.
pub(super) fn excluded(evidence: &Evidence<'_>) -> Option<String> {
    let bases = Basis::ALL.iter();
    let excluded = bases.filter(|it| matches!(it.tested(evidence), Tested::Excluded(_)));
    let subjects: Vec<String> = excluded.map(|it| it.subject().to_owned()).collect();
    (!subjects.is_empty()).then(|| listed(subjects))
}

/// Joins words: `a`, `a and b`, `a, b and c`.
fn listed(mut words: Vec<String>) -> String {
    match words.pop() {
        Some(last) if !words.is_empty() => format!("{} and {last}", words.join(", ")),
        last => last.unwrap_or_default(),
    }
}
