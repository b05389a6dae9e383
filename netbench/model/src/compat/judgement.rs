use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::{
    CertificateFault, Failure, FailureClass, FailureReason,
    chains::{ChainOutcome, Due},
    named::{one_of, text_in_json, words},
};

use super::CompatOutcome;

/// The reason why a stack refused a server, in a word that all stacks share: the fault of the certificate, or else the
/// class of the failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Refusal {
    /// The fault of the certificate.
    Certificate(CertificateFault),
    /// The class of any other failure.
    Class(FailureClass),
}

impl Refusal {
    /// Returns every refusal, the faults of certificates first.
    pub fn all() -> impl Iterator<Item = Self> {
        let faults = CertificateFault::ALL.iter().map(|f| Self::Certificate(*f));
        let classes = FailureClass::ALL.iter();
        let classes = classes.filter(|class| **class != FailureClass::Certificate);
        faults.chain(classes.map(|class| Self::Class(*class)))
    }

    /// Returns the refusal of a failed connection.
    pub fn of(failure: &Failure) -> Self {
        match &failure.reason {
            FailureReason::Certificate(fault) => Self::Certificate(*fault),
            _ if failure.class == FailureClass::Certificate => {
                Self::Certificate(CertificateFault::Other)
            }
            _ => Self::Class(failure.class),
        }
    }

    /// Returns the word of the refusal.
    pub fn name(self) -> &'static str {
        match self {
            Self::Certificate(fault) => fault.name(),
            Self::Class(class) => class.name(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Refusal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all: Vec<_> = Self::all().collect();
        one_of("reason", text, &all)
    }
}

text_in_json!(Refusal);

impl JsonSchema for Refusal {
    fn schema_name() -> Cow<'static, str> {
        "Refusal".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<_> = Self::all().map(Self::name).collect();
        json_schema!({
            "description": "What a stack finds wrong with a certificate, or the class of its failure.",
            "type": "string",
            "enum": names
        })
    }
}

/// The correct behaviour of a client with a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Expected {
    /// Show the page.
    Accepted,
    /// Refuse the server, for one of these reasons.
    Rejected(Vec<Refusal>),
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accepted => f.pad("accepted"),
            Self::Rejected(reasons) => {
                let names: Vec<_> = reasons.iter().map(|reason| reason.name()).collect();
                f.pad(&format!("rejected: {}", names.join(" or ")))
            }
        }
    }
}

words!(
    /// The outcome of a client in a case compared with the correct outcome, worst first: towards a server, with a
    /// certificate chain or a trust store, or in a protocol test.
    Judgement, {
        /// The process ended.
        #[serde(alias = "crashed")]
        Crashed = "crash",
        /// The client neither accepted nor refused within the time limit.
        #[serde(alias = "hung")]
        Hung = "hang",
        /// The client refused what it should accept: the page does not load.
        #[serde(alias = "refused")]
        FalseReject = "rejected wrongly",
        /// The client accepted what it should refuse: no warning is shown.
        #[serde(alias = "accepted")]
        FalseAccept = "accepted wrongly",
        /// The client refused correctly, but for another reason: the user reads a wrong explanation.
        WrongReason = "wrong reason",
        /// The client did something else than the case expects, for a reason that is not a defect.
        Excused = "excused",
        /// The client cannot do what the case requires, or the outcome cannot be determined.
        #[serde(alias = "not run")]
        Unsupported = "unsupported",
        /// The client behaved correctly.
        Right = "right",
    }
);

impl Judgement {
    /// Returns the judgement of a connection.
    pub fn of(expected: &Expected, outcome: &CompatOutcome) -> Self {
        use CompatOutcome as O;
        match (outcome, expected) {
            (O::Crash { .. }, _) => Self::Crashed,
            // The case's server never answers some hellos.
            (O::Hang { .. }, Expected::Rejected(reasons))
                if reasons.contains(&Refusal::Class(FailureClass::Timeout)) =>
            {
                Self::Right
            }
            (O::Hang { .. }, _) => Self::Hung,
            (O::Unsupported { .. }, _) => Self::Unsupported,
            (O::Accepted { .. }, Expected::Accepted) => Self::Right,
            (O::Accepted { .. }, Expected::Rejected(_)) => Self::FalseAccept,
            (O::Rejected { .. }, Expected::Accepted) => Self::FalseReject,
            (O::Rejected { reason, .. }, Expected::Rejected(reasons)) => {
                if reasons.contains(reason) {
                    Self::Right
                } else {
                    Self::WrongReason
                }
            }
        }
    }

    /// Returns whether the client violates the protocol.
    pub fn is_defect(self) -> bool {
        matches!(
            self,
            Self::FalseAccept | Self::FalseReject | Self::Crashed | Self::Hung
        )
    }

    /// Returns the judgement of a verification, given the correct verdict.
    pub fn of_chain(due: Due, outcome: &ChainOutcome) -> Self {
        match outcome {
            ChainOutcome::Crash { .. } => Self::Crashed,
            ChainOutcome::Hang { .. } => Self::Hung,
            ChainOutcome::Unsupported { .. } => Self::Unsupported,
            ChainOutcome::Accepted if !due.accepts() => Self::FalseAccept,
            ChainOutcome::Rejected { .. } if due.accepts() => Self::FalseReject,
            ChainOutcome::Accepted | ChainOutcome::Rejected { .. } => Self::Right,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejected(reason: &str) -> CompatOutcome {
        CompatOutcome::Rejected {
            reason: reason.parse().unwrap(),
            library: String::new(),
            detail: String::new(),
            alert: None,
            http_status: None,
        }
    }

    #[test]
    fn every_outcome_is_judged_by_what_was_expected() {
        let accepted = CompatOutcome::Accepted {
            version: None,
            suite: None,
            group: None,
            alpn: None,
        };
        let due = Expected::Rejected(vec!["expired".parse().unwrap()]);
        let never = Expected::Rejected(vec!["timeout".parse().unwrap()]);
        let hang = CompatOutcome::Hang { after_ms: 1 };
        for (expected, outcome, judged) in [
            (&Expected::Accepted, &accepted, Judgement::Right),
            (
                &Expected::Accepted,
                &rejected("expired"),
                Judgement::FalseReject,
            ),
            (&due, &accepted, Judgement::FalseAccept),
            (&due, &rejected("expired"), Judgement::Right),
            (&due, &rejected("wrong-name"), Judgement::WrongReason),
            (&due, &hang, Judgement::Hung),
            (&never, &hang, Judgement::Right),
            (&never, &accepted, Judgement::FalseAccept),
        ] {
            assert_eq!(Judgement::of(expected, outcome), judged, "{outcome:?}");
        }
    }

    #[test]
    fn reasons_are_read_as_they_are_written() {
        for refusal in Refusal::all() {
            assert_eq!(refusal.name().parse(), Ok(refusal));
        }
        let error = "expird".parse::<Refusal>().unwrap_err();
        assert!(error.contains("did you mean \"expired\""), "{error}");
    }
}
