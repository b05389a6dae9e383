//! The protocol in the name of a test, which the runner passes to shims in the environment.
//!
//! A test that expects a refusal does not check at which version the library refused. A library without the
//! protocol of the test refuses for another reason, or at another version, which proves nothing.

use crate::Failure;

/// The environment variable with the protocol: the transport and the version, in the runner's terms.
pub(crate) const VARIABLE: &str = "NETBENCH_BOGO_NAMED";

/// A protocol that a library does not have: the transport and the version, in the runner's terms, such as `dtls TLS13`,
/// and the name for users.
pub type Lacking = (&'static str, &'static str);

/// Refuses a test of a protocol that the library lacks.
///
/// # Errors
/// Returns [`Failure::Unsupported`] with the protocol.
pub fn refuse(named: Option<&str>, lacking: &[Lacking]) -> Result<(), Failure> {
    match lacking.iter().find(|(lacked, _)| named == Some(lacked)) {
        Some((_, name)) => Err(Failure::unsupported(*name)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LACKING: &[Lacking] = &[("dtls TLS13", "DTLS 1.3")];

    #[test]
    fn a_test_of_a_protocol_that_the_library_lacks_is_unsupported() {
        let refused = refuse(Some("dtls TLS13"), LACKING).unwrap_err();
        assert_eq!(refused.to_string(), "unsupported: DTLS 1.3");
        for named in [None, Some("dtls TLS12"), Some("tls TLS13"), Some("")] {
            assert!(refuse(named, LACKING).is_ok(), "{named:?}");
        }
    }
}
