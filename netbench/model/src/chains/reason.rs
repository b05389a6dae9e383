use serde::{Deserialize, Serialize};

use crate::{CertificateFault, Standing, named::one_of};

use super::{ChainCase, Due};

/// Why verifiers disagree about some chains, and what that means for the users of a client. What is empty fits all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ReasonSpec {
    /// Its name.
    pub name: String,
    /// What the names of the cases begin with, one of these.
    #[serde(default)]
    pub cases: Vec<String>,
    /// What the cases are made of, all of these.
    #[serde(default)]
    pub made_of: Vec<String>,
    /// What a verifier should say of the cases, one of these.
    #[serde(default)]
    pub due: Vec<Due>,
    /// What the name of the stack that rejects begins with, one of these.
    #[serde(default)]
    pub rejects: Vec<String>,
    /// What the name of the stack that accepts begins with, one of these.
    #[serde(default)]
    pub accepts: Vec<String>,
    /// Why it rejects, one of these.
    #[serde(default)]
    pub faults: Vec<Fault>,
    /// What a refusal of such chains does to a user, where it does not follow from what a verifier should say.
    #[serde(default)]
    pub standing: Option<Standing>,
    /// Why the one accepts and the other does not.
    pub why: String,
    /// What a user sees where the new stack rejects.
    pub lost: String,
    /// What a user sees where the new stack accepts.
    pub gained: String,
    /// What to do.
    pub advice: String,
}

/// A certificate's fault, by its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Fault(CertificateFault);

impl TryFrom<String> for Fault {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        one_of("reason", &text, CertificateFault::ALL).map(Self)
    }
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
    /// Why it rejects.
    pub fault: CertificateFault,
}

impl ReasonSpec {
    /// Whether it is the reason of this one.
    pub fn explains(&self, found: Disagreement<'_>) -> bool {
        let begins = |known: &[String], name: &str| {
            known.is_empty() || known.iter().any(|begin| name.starts_with(begin.as_str()))
        };
        begins(&self.cases, &found.case.name)
            && (self.due.is_empty() || self.due.contains(&found.case.due))
            && begins(&self.accepts, found.accepts)
            && begins(&self.rejects, found.rejects)
            && (self.faults.is_empty() || self.faults.iter().any(|fault| fault.0 == found.fault))
            && self
                .made_of
                .iter()
                .all(|part| found.case.made_of.contains(part))
    }
}
