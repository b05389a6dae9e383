use std::{collections::BTreeMap, fmt::Display};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use jiff::Timestamp;
use netbench_model::{
    chains::{ChainCase, Due},
    compat::{CompatCase, Expected},
};
use netbench_protocol::ChainToVerify;
use serde::Deserialize;

use super::OWN;
use crate::{
    case::{usual_host, usual_sent, usual_trusted},
    catalogue::built_in,
    certificates::{CertificateSpec, ChainSpec, CrlSpec, LEAF},
    chains::Chain,
};

/// The description of a case. Parts that are not given are those of the web: a leaf, an intermediate and a trusted
/// root.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Draft {
    pub(super) name: String,
    pub(super) due: Due,
    /// The paraphrased sentence of a standard that defines the expectation.
    pub(super) rule: Option<String>,
    #[serde(default = "usual_host")]
    host: String,
    #[serde(default)]
    certificates: BTreeMap<String, CertificateSpec>,
    #[serde(default = "usual_sent")]
    pub(super) sent: Vec<String>,
    #[serde(default = "usual_trusted")]
    trusted: Vec<String>,
    #[serde(default)]
    crls: Vec<CrlSpec>,
    /// The time of verification, in seconds from now.
    #[serde(skip)]
    pub(super) at_s: i64,
}

impl Draft {
    pub(super) fn new(kind: &str, name: impl Display, due: Due) -> Self {
        Self {
            name: format!("{OWN}/{kind}/{name}"),
            due,
            rule: None,
            host: usual_host(),
            certificates: BTreeMap::new(),
            sent: usual_sent(),
            trusted: usual_trusted(),
            crls: Vec::new(),
            at_s: 0,
        }
    }

    /// Creates a case whose certificate is also in the catalogue of servers, or that is decided by the same rule.
    /// The expectation and its reason are those of the catalogue.
    pub(super) fn as_in(kind: &str, name: impl Display, case: &str) -> Self {
        Self {
            rule: Some(in_catalogue(case).why.clone()),
            ..Self::new(kind, name, due_in(case))
        }
    }

    /// Describes a certificate.
    pub(super) fn with(mut self, name: impl Display, spec: CertificateSpec) -> Self {
        self.certificates.insert(name.to_string(), spec);
        self
    }

    pub(super) fn leaf(self, spec: CertificateSpec) -> Self {
        self.with(LEAF, spec)
    }

    /// Returns the description of its chain.
    pub(super) fn chain(&self) -> ChainSpec<'_> {
        ChainSpec {
            host: &self.host,
            unit: None,
            certificates: &self.certificates,
            sent: &self.sent,
            trusted: &self.trusted,
            staple: None,
            crls: &self.crls,
        }
    }

    pub(super) fn make(&self, now: Timestamp) -> Chain {
        let made = match self.chain().make(now) {
            Ok(made) => made,
            Err(error) => panic!("{}: {error}", self.name),
        };
        let at = now.as_second().saturating_add(self.at_s);
        Chain {
            case: ChainCase {
                name: self.name.clone(),
                made_of: Vec::new(),
                due: self.due,
                rule: self.rule.clone(),
            },
            question: ChainToVerify {
                chain_base64: base64(&made.sent),
                roots_base64: base64(&made.roots),
                crls_base64: base64(&made.crls),
                host: self.host.clone(),
                at_unix_s: u64::try_from(at).unwrap_or_default(),
            },
        }
    }
}

fn base64(all: &[Vec<u8>]) -> Vec<String> {
    all.iter().map(|der| BASE64_STANDARD.encode(der)).collect()
}

fn in_catalogue(case: &str) -> &'static CompatCase {
    let found = built_in().iter().find(|of| of.record.name == case);
    match found {
        Some(found) => &found.record,
        None => panic!("the catalogue has no case {case:?}"),
    }
}

/// Returns the expectation of a case in the catalogue of servers that has the same rule.
pub(super) fn due_in(case: &str) -> Due {
    match in_catalogue(case).expected {
        Expected::Accepted => Due::ShouldAccept,
        Expected::Rejected(_) => Due::ShouldReject,
    }
}

/// Returns a usual certificate of the web, changed by `change`.
pub(super) fn spec(change: impl FnOnce(&mut CertificateSpec)) -> CertificateSpec {
    let mut spec = CertificateSpec::default();
    change(&mut spec);
    spec
}
