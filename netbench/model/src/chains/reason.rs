use serde::{Deserialize, Serialize};

use crate::{CertificateFault, Standing};

use super::{ChainCase, Due};

/// The reason why verifiers disagree about some chains, and its meaning for the users of a client. An empty field
/// matches every case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ReasonSpec {
    /// The name of the reason.
    pub name: String,
    /// Prefixes of the names of the cases, one of which must match.
    #[serde(default)]
    pub cases: Vec<String>,
    /// The properties of the cases, all of which must match.
    #[serde(default)]
    pub made_of: Vec<String>,
    /// The correct verdicts on the cases, one of which must match.
    #[serde(default)]
    pub due: Vec<Due>,
    /// Prefixes of the name of the stack that rejects, one of which must match.
    #[serde(default)]
    pub rejects: Vec<String>,
    /// Prefixes of the name of the stack that accepts, one of which must match.
    #[serde(default)]
    pub accepts: Vec<String>,
    /// The reasons of the rejection, one of which must match.
    #[serde(default)]
    pub faults: Vec<CertificateFault>,
    /// The effect of a refusal of such chains on a user, if the correct verdict does not determine it.
    #[serde(default)]
    pub standing: Option<Standing>,
    /// The reason why one stack accepts and the other does not.
    pub why: String,
    /// The effect on a user if the new stack rejects.
    pub lost: String,
    /// The effect on a user if the new stack accepts.
    pub gained: String,
    /// The remedy.
    pub advice: String,
}

/// A case that one stack accepts and another rejects.
#[derive(Debug, Clone, Copy)]
pub struct Disagreement<'a> {
    /// The case.
    pub case: &'a ChainCase,
    /// The stack that accepts.
    pub accepts: &'a str,
    /// The stack that rejects.
    pub rejects: &'a str,
    /// The reason of the rejection.
    pub fault: CertificateFault,
}

impl ReasonSpec {
    /// Returns whether this reason explains the disagreement.
    pub fn explains(&self, found: Disagreement<'_>) -> bool {
        begins(&self.cases, &found.case.name)
            && (self.due.is_empty() || self.due.contains(&found.case.due))
            && begins(&self.accepts, found.accepts)
            && begins(&self.rejects, found.rejects)
            && (self.faults.is_empty() || self.faults.contains(&found.fault))
            && self
                .made_of
                .iter()
                .all(|part| found.case.made_of.contains(part))
    }
}

/// Returns whether the name begins with one of the known beginnings, or none are known.
fn begins(known: &[String], name: &str) -> bool {
    known.is_empty() || known.iter().any(|begin| name.starts_with(begin.as_str()))
}
