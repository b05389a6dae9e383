//! Advice about losses: the reason, the setting of the new stack that helps, and the remedy of the site's operator.
//! The statements about libraries come from using them, and are not tested here.

use std::{collections::BTreeMap, sync::LazyLock};

use netbench_model::{Library, StackName};
use serde::Deserialize;

/// The advice about a stack that is unknown here.
const OTHER: &str = "Look for a setting in the library's documentation.";

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "it is in the source, and tested")]
    toml::from_str(include_str!("../../../catalogue/advice.toml")).expect("the advice can be read")
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Catalogue {
    /// The advice of a library for the reasons without their own.
    libraries: BTreeMap<Library, String>,
    reasons: BTreeMap<String, Reason>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reason {
    why: String,
    server: String,
    /// The remedy with every library.
    client: Option<String>,
    #[serde(default)]
    client_by: BTreeMap<Library, String>,
}

impl Reason {
    fn client(&'static self, library: Library) -> Option<&'static String> {
        self.client_by
            .get(&library)
            .or_else(|| self.client_by.get(&library.base()))
            .or_else(|| CATALOGUE.libraries.get(&library.base()))
    }
}

/// Advice about the sites that are lost for one reason.
pub(super) struct Advice {
    /// The reason why the new stack does not reach them.
    pub(super) why: &'static str,
    /// The remedy in the client.
    pub(super) client: &'static str,
    /// The remedy on the server.
    pub(super) server: &'static str,
}

/// Returns the advice about sites that `to` loses for a reason, by the reason's name.
pub(super) fn advice(reason: &str, to: &StackName) -> Advice {
    let Some(reason) = CATALOGUE.reasons.get(reason) else {
        return Advice {
            why: "The detail in the table below has the library's own words.",
            client: OTHER,
            server: "Look at the server's own log of the refused handshake.",
        };
    };
    let client = reason.client.as_ref();
    Advice {
        why: &reason.why,
        client: client
            .or_else(|| reason.client(Library::of(to)?))
            .map_or(OTHER, String::as_str),
        server: &reason.server,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use netbench_model::scan::LossReason;

    use super::{
        super::{Families, Member},
        *,
    };

    #[test]
    fn every_reason_has_advice_for_every_library() {
        let reasons = LossReason::ALL.iter().map(|reason| reason.name());
        assert!(CATALOGUE.reasons.keys().eq(&BTreeSet::from_iter(reasons)));
        for (name, reason) in &CATALOGUE.reasons {
            assert_eq!(Families::built_in().check(Member::Loss, name), Ok(()));
            for stack in ["rustls-aws-lc", "servo", "openssl@3.0.19", "boringssl"] {
                let advice = advice(name, &StackName::new(stack));
                assert_eq!(advice.why, reason.why, "{stack}");
                assert!(!advice.client.is_empty() && !advice.server.is_empty());
                assert_ne!(advice.client, OTHER, "{stack}");
            }
        }
        let none = "No setting helps: rustls has none of them.";
        assert_eq!(client("cbc-only", "rustls-ring"), none);
        assert_eq!(client("cbc-only", "mine"), OTHER);
        assert_eq!(client("CBC only", "rustls-ring"), OTHER);
        assert!(client("signature", "rustls-ring").contains("aws-lc-rs"));
        assert_eq!(client("signature", "rustls-aws-lc"), none);
        assert!(client("version", "openssl-system").contains("SECLEVEL"));
    }

    fn client(reason: &str, stack: &str) -> &'static str {
        advice(reason, &StackName::new(stack)).client
    }
}
