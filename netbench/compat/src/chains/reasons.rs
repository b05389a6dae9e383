use netbench_model::chains::ReasonSpec;

use crate::catalogue::entries;

/// Returns the reasons why verifiers disagree: the first one that fits counts.
///
/// # Panics
/// Panics if the file in the source is wrong, which a test finds.
pub fn reasons() -> Vec<ReasonSpec> {
    let text = concat!(
        include_str!("../../../catalogue/chains/reasons.toml"),
        include_str!("../../../catalogue/chains/reasons-extensions.toml"),
    );
    entries("reason", text)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use netbench_model::{
        CertificateFault,
        chains::{ChainCase, Disagreement, Due},
    };

    use super::*;

    /// Pairs of verifiers that no build contains together: their verdicts in separate runs, and the reason.
    #[test]
    fn verifiers_of_other_libraries_have_their_reasons() {
        use CertificateFault::{
            BadCa, BadEncoding, BadPurpose, BadSignature, Other, UnknownCriticalExtension,
            UnknownIssuer, WeakOrUnknownSignature, WrongName,
        };
        for (case, accepts, rejects, fault, reason) in [
            (
                "rollover/intermediate-twice",
                "java",
                "gnutls",
                Other,
                "self-issued-in-path-length",
            ),
            ("depth/20", "boringssl", "nss", UnknownIssuer, "depth"),
            (
                "empty/extended-key-usage-leaf",
                "gnutls",
                "java",
                BadPurpose,
                "empty-purposes",
            ),
            (
                "empty/extended-key-usage-intermediate",
                "nss",
                "openssl",
                BadPurpose,
                "empty-purposes",
            ),
            (
                "foreign-key/dsa-1024",
                "boringssl",
                "openssl",
                WeakOrUnknownSignature,
                "key-of-the-leaf",
            ),
            (
                "foreign-key/p-256-explicit",
                "nss",
                "aws-lc",
                Other,
                "key-of-the-leaf",
            ),
            (
                "foreign-signer/dsa-2048-root",
                "aws-lc",
                "go",
                UnknownIssuer,
                "dsa-of-a-ca",
            ),
            (
                "foreign-signer/dsa-1024-intermediate",
                "java",
                "openssl",
                WeakOrUnknownSignature,
                "short-key-of-a-ca",
            ),
            (
                "foreign-signer/p-192-intermediate",
                "gnutls",
                "openssl",
                WeakOrUnknownSignature,
                "short-key-of-a-ca",
            ),
            (
                "foreign-signer/p-192-root",
                "gnutls",
                "nss",
                BadSignature,
                "p-192-of-a-ca",
            ),
            (
                "key-identifier/authority-wrong-leaf",
                "java",
                "nss",
                UnknownIssuer,
                "authority-key-identifier",
            ),
            (
                "key-identifier/authority-malformed-leaf",
                "java",
                "go",
                BadEncoding,
                "malformed-key-identifier",
            ),
            (
                "key-identifier/authority-critical-root",
                "boringssl",
                "aws-lc",
                UnknownCriticalExtension,
                "root-as-certificate",
            ),
            (
                "information-access/critical",
                "nss",
                "rustls-ring",
                UnknownCriticalExtension,
                "critical-where-it-must-not-be",
            ),
            (
                "many-names/2000-of-each",
                "java",
                "gnutls",
                Other,
                "many-names",
            ),
            (
                "public-suffix/com",
                "java",
                "nss",
                WrongName,
                "wildcard-of-a-top-level-domain",
            ),
            (
                "key-usage/root-signs-lists",
                "nss",
                "java",
                Other,
                "root-as-certificate",
            ),
            (
                "key-usage/intermediate-signs",
                "rustls-ring",
                "java",
                BadPurpose,
                "key-usage-of-authority",
            ),
            (
                "purpose/server-below-any",
                "go",
                "nss",
                BadCa,
                "any-purpose",
            ),
            (
                "revocation/list-expired",
                "rustls-ring",
                "java",
                Other,
                "stale-revocation-list",
            ),
            (
                "encoding/leaf-trailing-data",
                "java",
                "rustls-ring",
                BadEncoding,
                "data-after-a-certificate",
            ),
            (
                "encoding/leaf-trailing-data",
                "java",
                "openssl",
                BadEncoding,
                "data-after-a-certificate",
            ),
        ] {
            let case = ChainCase {
                name: format!("own/{case}"),
                made_of: Vec::new(),
                due: Due::ShouldReject,
                rule: None,
            };
            let found = Disagreement {
                case: &case,
                accepts,
                rejects,
                fault,
            };
            let first = reasons().into_iter().find(|it| it.explains(found));
            let first = first.map(|it| it.name);
            assert_eq!(first.as_deref(), Some(reason), "{}", case.name);
        }
    }

    /// A chain with a bad path and a good one is rejected by a verifier that follows only the bad one, regardless
    /// of its fault, and of whether the other verifier would accept it.
    #[test]
    fn a_good_path_beside_a_bad_one_is_not_found_by_who_follows_one() {
        for (by, of_one_path) in [
            ("by=bad-eku", "purpose-of-authority"),
            ("by=deprecated-crypto", "sha1-in-a-path"),
        ] {
            for (due, reason) in [
                (Due::MustAccept, "one-path-alone"),
                (Due::MustReject, of_one_path),
            ] {
                let case = ChainCase {
                    name: "bettertls/path-building/32".to_owned(),
                    made_of: vec!["bad=root1>ica".to_owned(), by.to_owned()],
                    due,
                    rule: None,
                };
                let found = Disagreement {
                    case: &case,
                    accepts: "java",
                    rejects: "openssl",
                    fault: CertificateFault::UnknownIssuer,
                };
                let first = reasons().into_iter().find(|it| it.explains(found));
                assert_eq!(first.unwrap().name, reason, "{by}, {due}");
            }
        }
    }

    #[test]
    fn every_reason_says_all_that_a_report_shows() {
        let all = reasons();
        let names: HashSet<_> = all.iter().map(|reason| &reason.name).collect();
        assert_eq!(names.len(), all.len(), "a name is there twice");
        for reason in &all {
            for text in [
                &reason.name,
                &reason.why,
                &reason.lost,
                &reason.gained,
                &reason.advice,
            ] {
                assert!(!text.is_empty(), "{}", reason.name);
            }
            assert!(!reason.cases.is_empty(), "{} fits everything", reason.name);
        }
    }
}
