use netbench_model::chains::ReasonSpec;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    reason: Vec<ReasonSpec>,
}

/// Why verifiers disagree: the first that fits counts.
///
/// # Panics
/// Where the file in the source is wrong, which a test finds.
pub fn reasons() -> Vec<ReasonSpec> {
    let text = include_str!("../../../catalogue/chains/reasons.toml");
    #[expect(clippy::expect_used, reason = "it is in the source, and tested")]
    let file: File = toml::from_str(text).expect("the reasons can be read");
    file.reason
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use netbench_model::{
        CertificateFault,
        chains::{ChainCase, Disagreement, Due},
    };

    use super::*;

    /// A chain that has a bad path and a good one is rejected by who follows the bad one alone, whatever is wrong with that and
    /// whether the other would take it.
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
