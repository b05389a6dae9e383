//! The cryptographic part of a full handshake, if a run has measured both.

use netbench_model::{
    ClientAuth, HandshakeKind, Measure, Primitive, Scenario, SessionSettings, StackName, Timing,
    TlsVersion, Work,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CaseRow, StackFigures, SuiteSummary};
use crate::{
    Extent,
    document::{Document, Item, Report, Section, Table},
    text::time,
};

/// A side of a full handshake of TLS 1.3, and the operations of its cryptography. The run timed each operation
/// separately: their sum is no measurement of the handshake.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HandshakeBreakdown {
    /// The handshake.
    #[schemars(extend("x-key" = "item"))]
    pub scenario: String,
    /// The side.
    #[schemars(extend("x-key" = "item"))]
    pub side: Measure,
    /// The stack.
    pub stack: StackName,
    /// The side's whole time.
    pub total_ns: f64,
    /// Creation (server) or verification (client) of the handshake's signature. The certificates' signatures are
    /// not included.
    pub signature_ns: f64,
    /// Creation of key pairs and secret.
    pub key_exchange_ns: f64,
    /// Verification of the server's chain (client), if the run timed one of the same keys and length, with the
    /// smallest number of trust roots that it timed. Absent for a server, and in summaries of earlier versions.
    #[serde(default)]
    pub verification_ns: Option<f64>,
}

impl HandshakeBreakdown {
    fn rest_ns(&self) -> f64 {
        let verification_ns = self.verification_ns.unwrap_or(0.0);
        self.total_ns - self.signature_ns - self.key_exchange_ns - verification_ns
    }

    fn sentence(&self) -> String {
        let (signature, whose) = match self.side {
            Measure::Server => ("signing", "server's"),
            _ => ("verifying the handshake's signature", "client's"),
        };
        let (signature_ns, key_exchange_ns) = (time(self.signature_ns), time(self.key_exchange_ns));
        let parts = match self.verification_ns {
            Some(ns) => format!(
                "{signature_ns} are {signature}, {key_exchange_ns} key exchange and {} verifying the certificates",
                time(ns)
            ),
            None => format!("{signature_ns} are {signature} and {key_exchange_ns} key exchange"),
        };
        format!(
            "{}, {}: of the {whose} {}, {parts}.",
            self.scenario,
            self.stack,
            time(self.total_ns),
        )
    }
}

/// Returns the breakdown of every full handshake of TLS 1.3 whose key and group are covered by the part `crypto`.
pub(super) fn breakdowns(cases: &[CaseRow]) -> Vec<HandshakeBreakdown> {
    let all = cases.iter().flat_map(|row| {
        let stacks = row.stacks.iter();
        stacks.filter_map(|figures| breakdown(cases, row, figures))
    });
    all.collect()
}

fn breakdown(
    cases: &[CaseRow],
    row: &CaseRow,
    StackFigures { stack, low, .. }: &StackFigures,
) -> Option<HandshakeBreakdown> {
    let Scenario {
        work: Work::Handshake { kind, settings },
        counted: false,
        timing: Timing::Whole,
    } = row.case.scenario
    else {
        return None;
    };
    let is_covered = kind == HandshakeKind::Full
        && settings.version == TlsVersion::Tls13
        && settings.client_auth == ClientAuth::Off;
    if !is_covered {
        return None;
    }
    let (key, group) = (settings.key, settings.group);
    let (signature_ns, key_exchange_ns, verification_ns) = match row.case.measure {
        Measure::Server => (
            low_of(cases, Primitive::Sign { key }, stack)?,
            low_of(cases, Primitive::Respond { group }, stack)?,
            None,
        ),
        _ => (
            low_of(cases, Primitive::Verify { key }, stack)?,
            low_of(cases, Primitive::KeyShare { group }, stack)?
                + low_of(cases, Primitive::Agree { group }, stack)?,
            verification_ns(cases, &settings, stack),
        ),
    };
    Some(HandshakeBreakdown {
        scenario: row.case.scenario.to_string(),
        side: row.case.measure,
        stack: stack.clone(),
        total_ns: *low,
        signature_ns,
        key_exchange_ns,
        verification_ns,
    })
}

/// Returns the time of an operation of a stack's cryptography.
fn low_of(cases: &[CaseRow], primitive: Primitive, stack: &StackName) -> Option<f64> {
    let scenario = Scenario::timed(Work::Crypto { primitive });
    let row = cases.iter().find(|row| row.case.scenario == scenario)?;
    Some(row.of(stack)?.low)
}

/// Returns the time of the verification of a chain of the same keys and length, with the fewest trust roots.
fn verification_ns(
    cases: &[CaseRow],
    settings: &SessionSettings,
    stack: &StackName,
) -> Option<f64> {
    let timed = cases.iter().filter_map(|row| match row.case.scenario {
        Scenario {
            work:
                Work::Verify {
                    key,
                    chain_length,
                    roots,
                },
            counted: false,
            timing: _,
        } if (key, chain_length) == (settings.key, settings.chain_length) => {
            Some((roots, row.of(stack)?.low))
        }
        _ => None,
    });
    let fewest = timed.min_by_key(|(roots, _)| *roots);
    fewest.map(|(_, low)| low)
}

pub(super) fn items(summary: &SuiteSummary) -> Vec<Item> {
    Table::of(&summary.breakdowns)
        .text("handshake", 0, |row| &row.scenario)
        .text("side", 0, |row| row.side)
        .text("stack", 0, |row| &row.stack)
        .time("whole", 0, |row| row.total_ns)
        .time("signature", 0, |row| row.signature_ns)
        .time("key exchange", 0, |row| row.key_exchange_ns)
        .time("certificates", 0, |row| row.verification_ns)
        .time("rest", 1, |row| row.rest_ns())
        .explained(
            "What of a full handshake is cryptography",
            "Each operation was timed by itself. Signature: the server makes the handshake's signature, the client verifies \
             it. Key exchange: the server's share and secret, or the client's. Certificates: the client's verification of \
             the server's chain, where the run timed one of the same keys and length. Rest: everything else.",
        )
}

/// A run of the suite as `netbench runs explain` shows it.
#[derive(Debug, Clone)]
pub struct SuiteExplained(pub SuiteSummary);

impl Report for SuiteExplained {
    fn tells(&self) -> bool {
        !self.0.breakdowns.is_empty()
    }

    fn document(&self, _: Extent) -> Document<'_> {
        let Self(summary) = self;
        let breakdowns = summary.breakdowns.iter();
        let sentences = breakdowns.map(|breakdown| Item::Text(breakdown.sentence()));
        let all = sentences.chain(items(summary)).collect();
        let missing = "The run has no full handshake of TLS 1.3 together with the cryptography of its key and group: \
                       `netbench suite handshake crypto verify` measures both, and certificates too.";
        let section = Section::new("cryptography", "", all);
        let section = section.missing((!self.tells()).then_some(missing));
        let title = format!("netbench runs explain: {}", summary.run.head.name);
        Document::of_section("explain", title, section, summary)
    }
}
