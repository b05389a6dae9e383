use std::{collections::BTreeMap, fmt::Display};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use jiff::Timestamp;
use netbench_model::{
    chains::{ChainCase, Due},
    compat::{CompatCase, Expected},
};
use netbench_protocol::ChainToVerify;

use super::OWN;
use crate::{
    catalogue::built_in,
    certificates::{CertificateSpec, ChainSpec, CrlSpec, LEAF},
    chains::Chain,
};

/// The host of a case that does not concern hosts.
const HOST: &str = "case.netbench.test";

/// The description of a case. Parts that are not given are those of the web: a leaf, an intermediate and a trusted
/// root.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) name: String,
    pub(super) due: Due,
    rule: Option<&'static str>,
    host: String,
    certificates: BTreeMap<String, CertificateSpec>,
    sent: Vec<String>,
    trusted: Vec<String>,
    crls: Vec<CrlSpec>,
    /// The time of verification, in seconds from now.
    pub(super) at_s: i64,
}

impl Draft {
    pub(super) fn new(kind: &str, name: impl Display, due: Due) -> Self {
        Self {
            name: format!("{OWN}/{kind}/{name}"),
            due,
            rule: None,
            host: HOST.to_owned(),
            certificates: BTreeMap::new(),
            sent: owned(&[LEAF, "intermediate"]),
            trusted: owned(&["root"]),
            crls: Vec::new(),
            at_s: 0,
        }
    }

    /// Creates a case whose certificate is also in the catalogue of servers, or that is decided by the same rule.
    /// The expectation and its reason are those of the catalogue.
    pub(super) fn as_in(kind: &str, name: impl Display, case: &str) -> Self {
        Self::new(kind, name, due_in(case)).rule(&in_catalogue(case).why)
    }

    /// Describes a certificate.
    pub(super) fn with(mut self, name: impl Display, spec: CertificateSpec) -> Self {
        self.certificates.insert(name.to_string(), spec);
        self
    }

    /// Sets the paraphrased sentence of a standard that defines the expectation.
    pub(super) fn rule(mut self, rule: &'static str) -> Self {
        self.rule = Some(rule);
        self
    }

    pub(super) fn leaf(self, spec: CertificateSpec) -> Self {
        self.with(LEAF, spec)
    }

    pub(super) fn host(mut self, host: &str) -> Self {
        host.clone_into(&mut self.host);
        self
    }

    pub(super) fn sent(mut self, names: &[&str]) -> Self {
        self.sent = owned(names);
        self
    }

    pub(super) fn trusted(mut self, names: &[&str]) -> Self {
        self.trusted = owned(names);
        self
    }

    pub(super) fn crls(mut self, lists: &[CrlSpec]) -> Self {
        self.crls = lists.to_vec();
        self
    }

    pub(super) fn at(mut self, seconds_from_now: i64) -> Self {
        self.at_s = seconds_from_now;
        self
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
        let text = |all: &[Vec<u8>]| all.iter().map(|der| BASE64_STANDARD.encode(der)).collect();
        let at = now.as_second().saturating_add(self.at_s);
        Chain {
            case: ChainCase {
                name: self.name.clone(),
                made_of: Vec::new(),
                due: self.due,
                rule: self.rule.map(str::to_owned),
            },
            question: ChainToVerify {
                chain_base64: text(&made.sent),
                roots_base64: text(&made.roots),
                crls_base64: text(&made.crls),
                host: self.host.clone(),
                at_unix_s: u64::try_from(at).unwrap_or_default(),
            },
        }
    }
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

/// Returns a certificate that is signed by `issuer`.
pub(super) fn by(issuer: &str) -> CertificateSpec {
    spec(|it| it.issuer = Some(issuer.to_owned()))
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
