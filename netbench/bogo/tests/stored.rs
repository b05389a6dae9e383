//! Tests of the stored outcomes: no feature is credited that was not checked, and the matrix agrees with the
//! knowledge of experts on the libraries.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "stored/expected.rs"]
mod expected;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use netbench_bogo::{
    Baseline, Catalog, Expects, KNOWN_SHIMS, KnownShim, OutcomesIn, ShimResults, StoredOutcomes,
    matrix_of, outcomes_path,
};
use netbench_model::coverage::{Matrix, Protocol, Role, Support, TestOutcome};

use expected::EXPECTED;

const SHIMS: [(&str, &str); 9] = [
    ("openssl", "openssl"),
    ("openssl@4.0", "openssl"),
    ("openssl-system", "openssl"),
    ("rustls", "rustls"),
    ("rustls-ring", "rustls"),
    ("rustls@0.23.31", "rustls"),
    ("rustls@0.24-dev", "rustls"),
    ("go", "go"),
    ("go@1.27", "go"),
];

fn tree() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn catalog() -> Catalog {
    Catalog::read(&tree().join("results/bogo/tests.tsv")).unwrap()
}

fn baseline(shim: &str) -> Baseline {
    Baseline::read(&tree().join(outcomes_path(shim))).unwrap()
}

fn matrix() -> Matrix {
    let known: Vec<_> = SHIMS
        .iter()
        .map(|(name, _)| KnownShim::named(name).unwrap())
        .collect();
    let stored = StoredOutcomes::read(&OutcomesIn::Tree(tree()), &known).unwrap();
    stored.matrix()
}

/// Returns the flags that the shim of a library supports, by the table of the shims.
fn supported(library: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(tree().join("bogo-shims/src/flags.tsv")).unwrap();
    let rows = text.lines().filter(|line| {
        let shims = line.split('\t').nth(2).unwrap();
        shims.split(',').any(|shim| shim == library)
    });
    let mut flags: BTreeSet<_> = rows
        .map(|line| line.split('\t').next().unwrap().to_owned())
        .collect();
    if library == "go" {
        flags.extend(prefixed());
    }
    flags
}

/// Returns the flags for single connections that Go's shim reads.
fn prefixed() -> impl Iterator<Item = String> {
    let path = tree().join("bogo-shims/src/shim_go/mod.rs");
    let text = fs::read_to_string(path).unwrap();
    let (_, rest) = text.split_once("const PREFIXED: &[&str] = &[").unwrap();
    let (list, _) = rest.split_once("];").unwrap();
    let flags = list.split('"').filter(|word| word.starts_with('-'));
    let flags: Vec<_> = flags.map(str::to_owned).collect();
    flags.into_iter()
}

#[test]
fn no_test_passes_with_a_flag_that_its_shim_does_not_read() {
    let catalog = catalog();
    let ignored = fs::read_to_string(tree().join("bogo-shims/configs/ignored.tsv")).unwrap();
    let ignored: BTreeSet<&str> = ignored
        .lines()
        .filter_map(|l| l.split('\t').next())
        .collect();
    for (shim, library) in SHIMS {
        let known = supported(library);
        let tests = baseline(shim).tests;
        let passed = tests
            .iter()
            .filter(|(_, test)| test.outcome == TestOutcome::Passed);
        let mut seen = 0;
        for (name, _) in passed {
            for flag in &catalog.about(name).unwrap().flags {
                seen += 1;
                let ignored = shim != "go" && ignored.contains(flag.as_str());
                let read = known.contains(flag) || ignored;
                assert!(read, "{shim} passes {name} and does not read {flag}");
            }
        }
        assert!(seen > 1000, "{shim}: {seen}");
    }
}

#[test]
fn nothing_passes_over_a_protocol_that_a_library_does_not_have() {
    use Protocol::{Dtls10, Dtls12, Dtls13, Tls10, Tls11};
    let catalog = catalog();
    for (shim, missing) in [
        ("openssl", &[Dtls13][..]),
        ("openssl@4.0", &[Dtls13]),
        ("openssl-system", &[Dtls13, Protocol::Quic]),
        ("rustls", &[Tls10, Tls11, Dtls10, Dtls12, Dtls13]),
        ("rustls-ring", &[Tls10, Tls11, Dtls10, Dtls12, Dtls13]),
        ("rustls@0.24-dev", &[Tls10, Tls11, Dtls10, Dtls12, Dtls13]),
        ("go", &[Dtls10, Dtls12, Dtls13, Protocol::Quic]),
        ("go@1.27", &[Dtls10, Dtls12, Dtls13, Protocol::Quic]),
    ] {
        for (name, test) in baseline(shim).tests {
            let about = catalog.about(&name).unwrap();
            let versions = ["TLS1-", "TLS11-", "TLS12-", "TLS13-"];
            // A name with two versions has those of both sides.
            let named = versions
                .iter()
                .filter(|v| {
                    let name = format!("-{name}-");
                    name.contains(&format!("-{v}")) || name.contains(&format!("-D{v}"))
                })
                .count()
                == 1;
            let proves = catalog.expects(&name) != Some(Expects::NothingProved);
            let there = about
                .protocol
                .is_none_or(|protocol| !missing.contains(&protocol));
            assert!(
                there || !named || !proves || test.outcome != TestOutcome::Passed,
                "{shim} passes {name}"
            );
        }
    }
}

#[test]
fn every_failure_has_a_reason_and_every_shim_that_is_no_control_has_outcomes() {
    for shim in KNOWN_SHIMS
        .iter()
        .filter(|shim| shim.config_file().is_some())
    {
        let config = shim.config(&OutcomesIn::Tree(tree())).unwrap();
        let tests = baseline(shim.name).tests;
        let failed = tests
            .iter()
            .filter(|(_, test)| test.outcome == TestOutcome::Failed);
        let bare: Vec<_> = failed
            .filter(|(name, _)| config.reason(name).is_none())
            .collect();
        assert!(bare.is_empty(), "{}: {bare:?}", shim.name);
    }
}

/// Returns the flags that the BoGo shim in the text of Go's file reads, and those that it declares and does
/// not read.
fn flags_of_go(source: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let (declared, code) = source.split_once("func bogoShim()").unwrap();
    let (mut read, mut unread) = (BTreeSet::new(), BTreeSet::new());
    for line in declared.lines().filter(|line| line.contains(" = flag")) {
        let (variable, rest) = line.trim().split_once(' ').unwrap();
        let flag = format!("-{}", rest.split('"').nth(1).unwrap());
        let used = code.contains(&format!("*{variable}"));
        if variable != "_" && used {
            read.insert(flag);
        } else {
            unread.insert(flag);
        }
    }
    (read, unread)
}

#[test]
fn gos_shim_reads_the_flags_that_are_let_through_to_it_and_no_others() {
    let go = Command::new("go").args(["env", "GOROOT"]).output().unwrap();
    let root = String::from_utf8(go.stdout).unwrap();
    let path = Path::new(root.trim()).join("src/crypto/tls/bogo_shim_test.go");
    let Ok(source) = fs::read_to_string(&path) else {
        eprintln!("skipped: this Go ships no shim ({})", path.display());
        return;
    };
    let (mut read, unread) = flags_of_go(&source);
    // The runner passes these flags to no test.
    for flag in ["-is-handshaker-supported", "-wait-for-debugger"] {
        assert!(read.remove(flag), "{flag}");
    }
    assert_eq!(supported("go"), read);
    assert!(unread.contains("-enable-early-data"), "{unread:?}");
}

#[test]
fn files_have_the_form_in_which_they_are_written() {
    for shim in &KNOWN_SHIMS {
        let text = fs::read_to_string(tree().join(outcomes_path(shim.name))).unwrap();
        let outcomes = baseline(shim.name);
        let written = match shim.differs_from {
            None => outcomes.to_text(),
            Some(base) => outcomes.differences_to_text(base, &baseline(base)),
        };
        assert!(text == written, "{}", shim.name);
    }
}

#[test]
fn outcomes_name_the_version_of_a_library_that_the_source_tree_does_not_fix() {
    for (shim, start) in [
        ("go", "go1."),
        ("go@1.27", "go1.27."),
        ("openssl-system", "OpenSSL 3."),
    ] {
        let library = baseline(shim).library.unwrap();
        assert!(library.starts_with(start), "{library}");
    }
    for shim in ["openssl", "openssl@4.0", "rustls", "rustls-ring"] {
        assert_eq!(baseline(shim).library, None, "{shim}");
    }
}

#[test]
fn the_matrix_says_what_experts_expect() {
    let matrix = matrix();
    let mut cells = BTreeMap::new();
    for cell in &matrix.cells {
        for (shim, stack) in matrix.shims.iter().zip(&cell.stacks) {
            let place = (
                shim.as_str(),
                cell.role,
                cell.feature.as_str(),
                cell.protocol,
            );
            cells.insert(place, stack);
        }
    }
    let mut wrong = Vec::new();
    for (shim, role, feature, protocols, want) in EXPECTED {
        let roles: Vec<Role> = role
            .parse()
            .map_or_else(|_| Role::ALL.to_vec(), |role| vec![role]);
        for (role, protocol) in pairs(&roles, protocols) {
            let Some(stack) = cells.get(&(*shim, role, *feature, protocol)) else {
                // A feature may have tests in only one role.
                continue;
            };
            let fits = match *want {
                "has" => matches!(
                    stack.support,
                    Support::Works | Support::OffByDefault | Support::Partly
                ),
                "works" => stack.support == Support::Works,
                "off" => stack.support == Support::OffByDefault,
                "hides" => stack.support == Support::NotTestable,
                _ => stack.support == Support::Absent,
            };
            if !fits {
                wrong.push(format!(
                    "{shim} {role} {feature} {protocol} {want}: {stack:?}"
                ));
            }
        }
        let any = cells.keys().any(|place| place.2 == *feature);
        assert!(any, "there is no cell of {feature}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn features_have_no_cell_in_versions_that_do_not_define_them() {
    let matrix = matrix();
    for (feature, protocols) in [
        (
            "Downgrade signal (SCSV)",
            &[Protocol::Tls13, Protocol::Dtls13][..],
        ),
        (
            "Delegated credentials",
            &[Protocol::Tls10, Protocol::Tls11, Protocol::Tls12],
        ),
        ("ALPS", &[Protocol::Tls10, Protocol::Tls11, Protocol::Tls12]),
        (
            "Encrypted ClientHello",
            &[Protocol::Tls12, Protocol::Dtls12],
        ),
        ("External PSK", &[Protocol::Tls12, Protocol::Dtls12]),
    ] {
        let cells = matrix.cells.iter().filter(|cell| cell.feature == feature);
        let protocols_of: Vec<_> = cells.map(|cell| cell.protocol).collect();
        assert!(!protocols_of.is_empty(), "{feature}");
        let wrong = protocols_of.iter().find(|p| protocols.contains(p));
        assert_eq!(wrong, None, "{feature}");
    }
}

fn pairs(roles: &[Role], protocols: &str) -> Vec<(Role, Protocol)> {
    let protocols: Vec<Protocol> = protocols.split(',').map(|p| p.parse().unwrap()).collect();
    let pairs = roles
        .iter()
        .flat_map(|role| protocols.iter().map(|p| (*role, *p)));
    pairs.collect()
}

/// Tests that fresh results, whose messages have several lines, have the matrix of stored ones.
#[test]
fn a_message_of_several_lines_is_read_as_one() {
    let baseline = baseline("rustls");
    let shim = KnownShim::named("rustls").unwrap();
    let config = shim.config(&OutcomesIn::Tree(tree())).unwrap();
    let [long, short] = ["\nand more", ""].map(|end| {
        let mut results = baseline.results();
        for test in results.tests.values_mut() {
            if test.outcome == TestOutcome::Unsupported {
                test.error.push_str(end);
            }
        }
        let column = ShimResults {
            shim: shim.name,
            config: &config,
            results: &results,
        };
        matrix_of(&baseline.runner_id().unwrap(), &catalog(), &[column])
    });
    assert_eq!(long, short);
}
