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
    use super::*;
    use std::collections::HashSet;

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
