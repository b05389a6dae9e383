//! Reasons of failures that users read name a capability, never a flag of the runner, a test or an identifier of a library.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use netbench_bogo::{KNOWN_SHIMS, KnownShim, OutcomesIn, StoredOutcomes, catalog_path};
use netbench_model::{
    coverage::Support,
    tls::{Alert, ExtensionType, Group, SignatureScheme},
};

/// Names of messages, libraries and algorithms in which a capital follows a small letter.
const NAMES: &[&str] = &[
    "BoringSSL",
    "ChaCha20",
    "ChangeCipherSpec",
    "ClientHello",
    "HelloRequest",
    "HelloRetryRequest",
    "HelloVerifyRequest",
    "KeyUpdate",
    "OpenSSL",
    "ServerHello",
];

fn tree() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn stored(shims: &[&KnownShim]) -> StoredOutcomes {
    let shims: Vec<_> = shims
        .iter()
        .map(|shim| KnownShim::named(shim.name).unwrap())
        .collect();
    StoredOutcomes::read(&OutcomesIn::Tree(tree()), &shims).unwrap()
}

/// Columns with their own outcomes.
fn columns() -> Vec<&'static KnownShim> {
    KNOWN_SHIMS
        .iter()
        .filter(|shim| shim.config_file().is_some())
        .collect()
}

/// The names of all tests, and of what the registry knows.
struct Words {
    tests: BTreeSet<String>,
    registry: BTreeSet<String>,
}

impl Words {
    fn new() -> Self {
        let catalog = std::fs::read_to_string(tree().join(catalog_path())).unwrap();
        let tests = catalog.lines().filter(|line| !line.starts_with('#'));
        let tests = tests.filter_map(|line| line.split('\t').next());
        let alerts = (0..=u8::MAX).map(|code| Alert(code).to_string());
        let codes = (0..=u16::MAX).flat_map(|code| {
            [
                Group(code).to_string(),
                SignatureScheme(code).to_string(),
                ExtensionType(code).to_string(),
            ]
        });
        Self {
            tests: tests.map(str::to_owned).collect(),
            registry: alerts.chain(codes).collect(),
        }
    }

    /// The first word that users of a library cannot know.
    fn foreign<'a>(&self, why: &'a str) -> Option<&'a str> {
        let words = why.split_whitespace().map(|word| {
            word.trim_matches(|c: char| !c.is_alphanumeric() && !"-*_".contains(c))
                .trim_end_matches("'s")
        });
        words.into_iter().find(|word| {
            let known = self.registry.contains(*word) || word.starts_with("TLS_");
            let name = NAMES.iter().any(|name| word.trim_end_matches('s') == *name);
            let chars: Vec<char> = word.chars().collect();
            let camel = chars
                .windows(2)
                .any(|pair| pair[0].is_lowercase() && pair[1].is_uppercase())
                || chars.windows(4).any(|four| {
                    four[..2].iter().all(|c| c.is_uppercase())
                        && four[2..].iter().all(|c| c.is_lowercase())
                });
            let path = chars.windows(3).any(|three| {
                three[1] == '.' && three[0].is_alphabetic() && three[2].is_alphabetic()
            });
            let flag = chars.first() == Some(&'-') && chars.len() > 1;
            let code = path || word.contains("::") || word.contains(['_', '*', '(']);
            flag || self.tests.contains(*word) || (!known && !name && (camel || code))
        })
    }
}

#[test]
fn words_that_users_cannot_know_are_found() {
    let words = Words::new();
    for (why, foreign) in [
        ("missing: QUIC (-expect-quic)", Some("-expect-quic")),
        ("set Config.MinVersion first", Some("Config.MinVersion")),
        ("crypto/tls has QUICConn", Some("QUICConn")),
        ("verified by rustls::Error", Some("rustls::Error")),
        ("as in ALPNClient-DTLS-TLS1", Some("ALPNClient-DTLS-TLS1")),
        ("as in *-TLS12", Some("*-TLS12")),
        ("SSL_key_update is not called", Some("SSL_key_update")),
        (
            "a ClientHello with rsa_pkcs1_sha1, secp521r1 and unknown_ca (RFC 9849 section 4)",
            None,
        ),
        ("BoringSSL's 1/n-1 record splitting", None),
    ] {
        assert_eq!(words.foreign(why), foreign, "{why}");
    }
}

#[test]
fn reasons_of_all_columns_name_capabilities() {
    let words = Words::new();
    let columns = columns();
    let mut shown: BTreeSet<String> = BTreeSet::new();
    let all = stored(&columns);
    let stacks = all.matrix().cells.into_iter().flat_map(|cell| cell.stacks);
    shown.extend(stacks.filter_map(|stack| stack.why));
    shown.extend(all.defects().tests.into_iter().map(|test| test.why));
    for (at, first) in columns.iter().enumerate() {
        for second in &columns[at + 1..] {
            let difference = stored(&[first, second]).difference(None).unwrap();
            let groups = difference.only_first.into_iter();
            let groups = groups.chain(difference.only_second);
            shown.extend(groups.map(|group| group.why));
        }
    }
    assert!(shown.len() > 200, "{}", shown.len());
    let unknown: Vec<_> = shown
        .iter()
        .filter(|why| words.foreign(why).is_some() || why.contains("BoringSSL's interface"))
        .collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
}

#[test]
fn a_feature_in_part_has_all_causes() {
    let cells = stored(&columns()).matrix().cells;
    let stacks = cells.into_iter().flat_map(|cell| cell.stacks);
    let part = stacks.filter(|stack| stack.support == Support::Partly);
    let whys: Vec<String> = part.filter_map(|stack| stack.why).collect();
    let several = whys.iter().filter(|why| {
        let causes: Vec<&str> = why.split("; ").collect();
        let different: BTreeSet<_> = causes.iter().collect();
        assert_eq!(different.len(), causes.len(), "{why}");
        causes
            .iter()
            .filter(|cause| !cause.starts_with("off by default"))
            .count()
            > 1
    });
    assert!(several.count() > 0, "{whys:#?}");
}

#[test]
fn defects_are_counted_by_their_causes() {
    for name in ["openssl", "rustls"] {
        let defects = stored(&[KnownShim::named(name).unwrap()]).defects();
        let causes: BTreeSet<_> = defects
            .tests
            .iter()
            .map(|test| test.causes[0].as_deref())
            .collect();
        assert!(!causes.contains(&None), "{name}");
        assert_eq!(defects.causes_among_all, [causes.len()], "{name}");
        assert!(causes.len() < defects.among_all[0], "{name}");
    }
}
