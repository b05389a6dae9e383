use globset::Glob;
use netbench_model::{FailureClass, FailureReason};

use crate::cases::{Case, Outcome};

/// An exception for cases of failing connections that have another outcome with a library.
///
/// The exception is printed. It must match at least one case, and be needed in every case that it matches.
#[derive(Debug, Clone)]
pub struct Exception {
    /// The cases, as a glob.
    pub cases: &'static str,
    /// The outcome of the cases.
    pub comes_to: ComesTo,
    /// The behaviour of the library.
    pub why: &'static str,
}

/// The outcome of a case with an exception.
#[derive(Debug, Clone)]
pub enum ComesTo {
    /// A failure of another class, or for another reason.
    Failure(FailureClass, FailureReason),
    /// A connection of TLS 1.3 without an application protocol.
    NoProtocol,
}

/// The exceptions of one stack, with the number of matching cases.
pub(crate) struct Exceptions<'a>(Vec<(&'a Exception, u32)>);

impl<'a> Exceptions<'a> {
    pub(crate) fn new(declared: &'a [Exception]) -> Self {
        Self(declared.iter().map(|one| (one, 0)).collect())
    }

    /// Returns the case with the outcome of its exception, if it has one.
    pub(crate) fn of(&mut self, case: &Case) -> Option<Case> {
        let (exception, met) = self.0.iter_mut().find(|(exception, _)| {
            Glob::new(exception.cases).is_ok_and(|glob| glob.compile_matcher().is_match(&case.name))
        })?;
        *met += 1;
        let mut case = case.clone();
        case.outcome = match exception.comes_to.clone() {
            ComesTo::Failure(class, reason) => Outcome::Failure(class, Some(reason)),
            ComesTo::NoProtocol => {
                case.due.alpn = None;
                Outcome::Success
            }
        };
        Some(case)
    }

    /// Prints the matched exceptions, and returns an error for each unmatched one.
    pub(crate) fn end(self, stack: &str) -> Vec<String> {
        let mut wrong = Vec::new();
        for (Exception { cases, why, .. }, met) in self.0 {
            if met == 0 {
                wrong.push(format!(
                    "{cases}: declared as an exception, and no case is like it"
                ));
            } else {
                eprintln!("{stack}: an exception in {met} cases like {cases}: {why}");
            }
        }
        wrong
    }
}
