//! The cryptographic part of a full handshake, if a run has measured both.

use netbench_model::{
    ClientAuth, HandshakeKind, Measure, Primitive, Scenario, SessionSettings, StackName,
    SuiteManifest, SuiteSample, TlsVersion, Work,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CaseRow, SuiteSummary, summarize_suite};
use crate::{
    Extent,
    cell::Cell,
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
    let low = |primitive: Primitive, stack: &StackName| {
        let scenario = Scenario::timed(Work::Crypto { primitive });
        let row = cases.iter().find(|row| row.case.scenario == scenario)?;
        Some(row.of(stack)?.low)
    };
    let verification_ns = |settings: &SessionSettings, stack: &StackName| {
        let timed = cases.iter().filter_map(|row| match row.case.scenario {
            Scenario {
                work:
                    Work::Verify {
                        key,
                        chain_length,
                        roots,
                    },
                counted: false,
            } if (key, chain_length) == (settings.key, settings.chain_length) => {
                Some((roots, row.of(stack)?.low))
            }
            _ => None,
        });
        let fewest = timed.min_by_key(|(roots, _)| *roots);
        fewest.map(|(_, low)| low)
    };
    let of = |row: &CaseRow, stack: &StackName, total_ns: f64| {
        let Work::Handshake { kind, settings } = row.case.scenario.work else {
            return None;
        };
        let timed_alone = !row.case.scenario.counted
            && kind == HandshakeKind::Full
            && settings.version == TlsVersion::Tls13
            && settings.client_auth == ClientAuth::Off;
        if !timed_alone {
            return None;
        }
        let (key, group) = (settings.key, settings.group);
        let (signature_ns, key_exchange_ns) = match row.case.measure {
            Measure::Server => (
                low(Primitive::Sign { key }, stack)?,
                low(Primitive::Respond { group }, stack)?,
            ),
            _ => (
                low(Primitive::Verify { key }, stack)?,
                low(Primitive::KeyShare { group }, stack)?
                    + low(Primitive::Agree { group }, stack)?,
            ),
        };
        Some(HandshakeBreakdown {
            scenario: row.case.scenario.to_string(),
            side: row.case.measure,
            stack: stack.clone(),
            total_ns,
            signature_ns,
            key_exchange_ns,
            verification_ns: match row.case.measure {
                Measure::Server => None,
                _ => verification_ns(&settings, stack),
            },
        })
    };
    let all = cases.iter().flat_map(|row| {
        let stacks = row.stacks.iter();
        stacks.filter_map(move |figures| of(row, &figures.stack, figures.low))
    });
    all.collect()
}

/// Builds the table, if there are breakdowns.
pub(super) fn items(summary: &SuiteSummary) -> Vec<Item> {
    if summary.breakdowns.is_empty() {
        return Vec::new();
    }
    let rows = summary.breakdowns.iter();
    vec![
        Item::heading("What of a full handshake is cryptography"),
        Item::text(
            "Each operation was timed by itself. Signature: the server makes the handshake's signature, the client verifies \
             it. Key exchange: the server's share and secret, or the client's. Certificates: the client's verification of \
             the server's chain, where the run timed one of the same keys and length. Rest: everything else.",
        ),
        Table::of(rows)
            .col("handshake", 0, |row| Cell::text(&row.scenario))
            .col("side", 0, |row| Cell::text(row.side))
            .col("stack", 0, |row| Cell::text(&row.stack))
            .col("whole", 0, |row| Cell::Time(row.total_ns))
            .col("signature", 0, |row| Cell::Time(row.signature_ns))
            .col("key exchange", 0, |row| Cell::Time(row.key_exchange_ns))
            .col("certificates", 0, |row| Cell::time(row.verification_ns))
            .col("rest", 1, |row| Cell::Time(row.rest_ns()))
            .item(),
    ]
}

/// A run of the suite as `netbench runs explain` shows it.
#[derive(Debug, Clone)]
pub struct SuiteExplained {
    summary: SuiteSummary,
}

impl SuiteExplained {
    /// Returns the explanation of a run's manifest and all of its samples.
    pub fn new(manifest: &SuiteManifest, samples: &[SuiteSample]) -> Self {
        Self {
            summary: summarize_suite(manifest, samples),
        }
    }

    /// Returns whether the run has measurements that can be explained.
    pub fn explains(&self) -> bool {
        !self.summary.breakdowns.is_empty()
    }
}

impl Report for SuiteExplained {
    fn document(&self, _: Extent) -> Document<'_> {
        let sentences = self
            .summary
            .breakdowns
            .iter()
            .map(HandshakeBreakdown::sentence);
        let mut all: Vec<Item> = sentences.map(Item::Text).collect();
        all.extend(items(&self.summary));
        Document {
            sections: vec![Section {
                id: "cryptography".to_owned(),
                items: all,
                missing: (!self.explains()).then(|| {
                    "The run has no full handshake of TLS 1.3 together with the cryptography of its key and group: \
                     `netbench suite handshake crypto verify` measures both, and certificates too."
                        .to_owned()
                }),
                ..Section::default()
            }],
            data: vec![&self.summary],
            ..Document::new(
                "explain",
                format!("netbench runs explain: {}", self.summary.run.head.name),
            )
        }
    }
}
