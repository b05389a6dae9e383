//! A test's expectations of each connection, compared with a library's view of it.
//!
//! BoringSSL keeps the properties of a full handshake with the session, and its shim compares them on every
//! connection. Another library may report fewer properties of a resumed connection. A property that it does
//! not report was not checked, and the test is unsupported.

use std::fmt::Debug;

use crate::{Failure, Options};

/// A property of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known<T> {
    /// The value that the library reports.
    Is(T),
    /// The library cannot report the property, which has this name for users.
    Unreported(&'static str),
}

/// The result of the verification of the peer's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verification {
    /// The certificate was accepted.
    Accepted,
    /// The certificate was refused.
    Refused,
}

/// Whether a HelloRetryRequest preceded the handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// A HelloRetryRequest was sent or received.
    Was,
    /// There was no HelloRetryRequest.
    WasNot,
}

/// The properties that a test may expect of each connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reported {
    /// The result of the verification.
    pub verification: Known<Verification>,
    /// The code point of the scheme of the peer's signature, or `None` without a signature.
    pub signature: Known<Option<u16>>,
    /// Whether there was a HelloRetryRequest.
    pub retry: Known<Retry>,
    /// The stapled OCSP response; empty if there was none.
    pub staple: Known<Vec<u8>>,
    /// The code point of the group, or `None` without a key exchange in a group.
    pub group: Known<Option<u16>>,
}

impl Reported {
    /// Compares the properties with the test's expectations of this connection.
    ///
    /// # Errors
    /// Returns [`Failure::Failed`] for the first property that differs, [`Failure::Unsupported`] for the
    /// first that is expected and not reported.
    pub fn check(&self, options: &Options) -> Result<(), Failure> {
        if options.on("-expect-verify-result") {
            compare(
                "-expect-verify-result",
                || match options.on("-verify-fail") {
                    true => Verification::Refused,
                    false => Verification::Accepted,
                },
                &self.verification,
            )?;
        }
        for (flag, reported) in [
            ("-expect-peer-signature-algorithm", &self.signature),
            ("-expect-curve-id", &self.group),
        ] {
            // Zero is no expectation.
            let code = options.codes(flag).pop().filter(|code| *code != 0);
            if code.is_some() {
                compare(flag, || code, reported)?;
            }
        }
        for (flag, want) in [
            ("-expect-hrr", Retry::Was),
            ("-expect-no-hrr", Retry::WasNot),
        ] {
            if options.on(flag) {
                compare(flag, || want, &self.retry)?;
            }
        }
        match options.bytes("-expect-ocsp-response") {
            Some(want) if !want.is_empty() => {
                compare("-expect-ocsp-response", || want.to_vec(), &self.staple)
            }
            _ => Ok(()),
        }
    }
}

/// Compares one property. The expected value is looked up only where there is one to compare it with, since a
/// flag that is looked up counts as read.
fn compare<T: PartialEq + Debug>(
    flag: &str,
    want: impl FnOnce() -> T,
    reported: &Known<T>,
) -> Result<(), Failure> {
    match reported {
        Known::Unreported(what) => Err(Failure::unsupported(format!(
            "the library does not tell {what}"
        ))),
        Known::Is(got) => {
            let want = want();
            if *got == want {
                Ok(())
            } else {
                Err(Failure::failed(format!("{flag} {want:?}, got {got:?}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::OptionSets;

    const FULL: Reported = Reported {
        verification: Known::Is(Verification::Accepted),
        signature: Known::Is(Some(0x0804)),
        retry: Known::Is(Retry::Was),
        staple: Known::Is(Vec::new()),
        group: Known::Is(Some(29)),
    };

    /// Checks a first and a resumed connection.
    fn check(args: &[&str], resumed: &Reported) -> Result<(), Failure> {
        let args = args.iter().map(OsString::from);
        let sets = OptionSets::parse(args, "rustls").unwrap();
        let first = Reported {
            staple: Known::Is(b"response".to_vec()),
            ..FULL
        };
        first.check(&sets.initial)?;
        resumed.check(&sets.resume)
    }

    /// Returns expectations, each with a resumed connection that differs from it, and one that does not
    /// report the property.
    fn cases() -> Vec<(Vec<&'static str>, Reported, Reported)> {
        let what = "a property of a resumed connection";
        vec![
            (
                vec!["-expect-verify-result"],
                Reported {
                    verification: Known::Is(Verification::Refused),
                    ..FULL
                },
                Reported {
                    verification: Known::Unreported(what),
                    ..FULL
                },
            ),
            (
                vec!["-expect-peer-signature-algorithm", "2052"],
                Reported {
                    signature: Known::Is(None),
                    ..FULL
                },
                Reported {
                    signature: Known::Unreported(what),
                    ..FULL
                },
            ),
            (
                vec!["-expect-hrr"],
                Reported {
                    retry: Known::Is(Retry::WasNot),
                    ..FULL
                },
                Reported {
                    retry: Known::Unreported(what),
                    ..FULL
                },
            ),
            (
                vec!["-expect-ocsp-response", "cmVzcG9uc2U="],
                FULL,
                Reported {
                    staple: Known::Unreported(what),
                    ..FULL
                },
            ),
            (
                vec!["-expect-curve-id", "29"],
                Reported {
                    group: Known::Is(Some(23)),
                    ..FULL
                },
                Reported {
                    group: Known::Unreported(what),
                    ..FULL
                },
            ),
        ]
    }

    #[test]
    fn an_expectation_of_each_connection_is_compared_on_the_resumed_one_too() {
        let same = Reported {
            staple: Known::Is(b"response".to_vec()),
            ..FULL
        };
        for (args, differs, _) in cases() {
            assert!(check(&args, &same).is_ok(), "{args:?}");
            let failure = check(&args, &differs);
            assert!(matches!(failure, Err(Failure::Failed(_))), "{args:?}");
        }
        let none = check(&["-expect-no-hrr"], &FULL);
        assert!(matches!(none, Err(Failure::Failed(_))));
    }

    #[test]
    fn an_expected_property_that_is_not_reported_is_unsupported() {
        for (args, _, unreported) in cases() {
            let failure = check(&args, &unreported).unwrap_err();
            let Failure::Unsupported(why) = failure else {
                panic!("{args:?}: {failure}");
            };
            assert!(why.starts_with("the library does not tell"), "{why}");
            // The test has no expectation of the resumed connection here.
            assert!(check(&[], &unreported).is_ok());
            let initial = format!("-on-initial{}", args[0]);
            let of_first: Vec<&str> = std::iter::once(initial.as_str())
                .chain(args[1..].iter().copied())
                .collect();
            assert!(check(&of_first, &unreported).is_ok(), "{of_first:?}");
        }
    }

    #[test]
    fn an_expected_refusal_stays_unread_without_a_reported_result() {
        let args = ["-expect-verify-result", "-verify-fail"].map(OsString::from);
        let sets = OptionSets::parse(args, "rustls").unwrap();
        let unreported = Reported {
            verification: Known::Unreported("a result"),
            ..FULL
        };
        assert!(unreported.check(&sets.initial).is_err());
        assert!(sets.unread().contains("-verify-fail"));
        assert!(matches!(FULL.check(&sets.initial), Err(Failure::Failed(_))));
    }
}
