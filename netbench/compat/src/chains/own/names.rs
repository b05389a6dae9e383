//! Names: the meaning of a wildcard, notations of a host, and constraints that BetterTLS does not test.

use netbench_model::chains::Due::{self, MustAccept, MustReject, ShouldAccept, ShouldReject};

use super::draft::{Draft, spec};
use crate::certificates::{CertificateSpec, GeneralName};

const USUAL: &str = "case.netbench.test";

pub(super) fn cases() -> Vec<Draft> {
    let kinds = [("wildcard", WILDCARDS), ("host", HOSTS)];
    let of_list = kinds.iter().flat_map(|(kind, list)| {
        list.iter().map(|(name, names, host, due)| {
            Draft::new(kind, name, *due).host(host).leaf(named(names))
        })
    });
    of_list.chain(others()).chain(constraints()).collect()
}

/// The name of the case, the names of the leaf, the host, and the expectation.
type Named = (&'static str, &'static [&'static str], &'static str, Due);

/// Cases of RFC 9525 section 6.3: a wildcard is the whole leftmost label, and stands for one label.
const WILDCARDS: &[Named] = &[
    ("one-label", &["dns:*.netbench.test"], USUAL, MustAccept),
    (
        "two-labels",
        &["dns:*.netbench.test"],
        "a.case.netbench.test",
        MustReject,
    ),
    (
        "no-label",
        &["dns:*.netbench.test"],
        "netbench.test",
        MustReject,
    ),
    ("upper-case", &["dns:*.NETBENCH.test"], USUAL, MustAccept),
    (
        "a-label",
        &["dns:*.netbench.test"],
        "xn--caf-dma.netbench.test",
        MustAccept,
    ),
    ("first-part", &["dns:c*.netbench.test"], USUAL, ShouldReject),
    ("last-part", &["dns:*e.netbench.test"], USUAL, ShouldReject),
    (
        "middle-part",
        &["dns:c*e.netbench.test"],
        USUAL,
        ShouldReject,
    ),
    (
        "part-of-a-label",
        &["dns:xn--*.netbench.test"],
        "xn--caf-dma.netbench.test",
        ShouldReject,
    ),
    ("second-label", &["dns:case.*.test"], USUAL, MustReject),
    ("two-wildcards", &["dns:*.*.test"], USUAL, MustReject),
    ("top-level", &["dns:*.test"], "case.test", ShouldReject),
    ("everything", &["dns:*"], USUAL, MustReject),
    (
        "everything-one-label",
        &["dns:*"],
        "localhost",
        ShouldReject,
    ),
    ("address", &["dns:*.0.0.1"], "127.0.0.1", MustReject),
    (
        "among-others",
        &["dns:a.test", "dns:*.netbench.test"],
        USUAL,
        MustAccept,
    ),
];

const HOSTS: &[Named] = &[
    (
        "upper-case-host",
        &["dns:case.netbench.test"],
        "CASE.netbench.test",
        MustAccept,
    ),
    (
        "upper-case-name",
        &["dns:CASE.netbench.TEST"],
        USUAL,
        MustAccept,
    ),
    (
        "dot-after-host",
        &["dns:case.netbench.test"],
        "case.netbench.test.",
        ShouldAccept,
    ),
    (
        "dot-after-name",
        &["dns:case.netbench.test."],
        USUAL,
        ShouldReject,
    ),
    (
        "dot-after-both",
        &["dns:case.netbench.test."],
        "case.netbench.test.",
        ShouldReject,
    ),
    (
        "dot-before-name",
        &["dns:.netbench.test"],
        USUAL,
        MustReject,
    ),
    (
        "end-of-name",
        &["dns:acase.netbench.test"],
        USUAL,
        MustReject,
    ),
    ("end-of-host", &["dns:netbench.test"], USUAL, MustReject),
    (
        "underscore",
        &["dns:a_case.netbench.test"],
        "a_case.netbench.test",
        ShouldAccept,
    ),
    (
        "space-after-name",
        &["dns:case.netbench.test "],
        USUAL,
        MustReject,
    ),
    (
        "nul-in-name",
        &["dns:case.netbench.test\0.evil.test"],
        USUAL,
        MustReject,
    ),
    ("one-label", &["dns:localhost"], "localhost", MustAccept),
    (
        "label-of-63",
        &[concat!(
            "dns:",
            "a23456789012345678901234567890123456789012345678901234567890123",
            ".test"
        )],
        "a23456789012345678901234567890123456789012345678901234567890123.test",
        MustAccept,
    ),
    (
        "empty-name-beside",
        &["dns:", "dns:case.netbench.test"],
        USUAL,
        ShouldReject,
    ),
    (
        "email-alone",
        &["email:case.netbench.test"],
        USUAL,
        MustReject,
    ),
    ("ipv4", &["ip:127.0.0.1"], "127.0.0.1", MustAccept),
    ("ipv4-other", &["ip:127.0.0.2"], "127.0.0.1", MustReject),
    ("ipv4-as-dns", &["dns:127.0.0.1"], "127.0.0.1", MustReject),
    (
        "ipv4-in-ipv6",
        &["ip:::ffff:127.0.0.1"],
        "127.0.0.1",
        ShouldReject,
    ),
    ("ipv6", &["ip:::1"], "::1", MustAccept),
    ("ipv6-long", &["ip:::1"], "0:0:0:0:0:0:0:1", MustAccept),
    (
        "address-of-8-bytes",
        &["ip:127.0.0.1/1.1.1.1"],
        "127.0.0.1",
        MustReject,
    ),
];

fn others() -> Vec<Draft> {
    let new = |name: &str, due: Due| Draft::new("host", name, due);
    let common_name = |name: &str, names: &[&str]| {
        let mut leaf = named(names);
        leaf.subject = format!("CN={name}").parse().ok();
        leaf
    };
    vec![
        new("common-name-alone", ShouldReject).leaf(common_name(USUAL, &[])),
        new("common-name-and-email", ShouldReject).leaf(common_name(USUAL, &["email:a@b.test"])),
        new("common-name-beside-another", MustReject).leaf(common_name(USUAL, &["dns:a.test"])),
        new("no-name-at-all", MustReject).leaf(spec(|it| {
            it.names = Some(Vec::new());
            it.subject = "".parse().ok();
        })),
        new("empty-subject", MustAccept).leaf(spec(|it| it.subject = "".parse().ok())),
        new("last-of-200", MustAccept).leaf(spec(|it| it.more_names = 200)),
    ]
}

fn constraints() -> Vec<Draft> {
    let new = |name: &str, due: Due, permitted: &[&str], excluded: &[&str]| {
        let constrained = spec(|it| {
            it.permitted = general(permitted);
            it.excluded = general(excluded);
        });
        Draft::new("constraint", name, due).with("intermediate", constrained)
    };
    let company = "directory:O=A company";
    let of_company = || spec(|it| it.subject = "O=A company,CN=A server".parse().ok());
    let wildcard = || named(&["dns:*.netbench.test"]);
    vec![
        new("parent", MustAccept, &["dns:netbench.test"], &[]),
        new("itself", MustAccept, &["dns:case.netbench.test"], &[]),
        new("child", MustReject, &["dns:a.case.netbench.test"], &[]),
        new("dot-before", ShouldAccept, &["dns:.netbench.test"], &[]),
        new(
            "dot-before-itself",
            ShouldReject,
            &["dns:.case.netbench.test"],
            &[],
        ),
        new("end-of-a-label", MustReject, &["dns:etbench.test"], &[]),
        new("upper-case", MustAccept, &["dns:NETBENCH.test"], &[]),
        new("everything", MustAccept, &["dns:"], &[]),
        new("nothing", MustReject, &[], &["dns:"]),
        new(
            "excluded-upper-case",
            MustReject,
            &[],
            &["dns:NETBENCH.test"],
        ),
        new(
            "excluded-sibling",
            MustAccept,
            &[],
            &["dns:a.netbench.test"],
        ),
        new(
            "permitted-and-excluded",
            MustReject,
            &["dns:netbench.test"],
            &["dns:case.netbench.test"],
        ),
        new(
            "wildcard-permitted",
            MustAccept,
            &["dns:netbench.test"],
            &[],
        )
        .leaf(wildcard()),
        new(
            "wildcard-of-a-child-permitted",
            ShouldReject,
            &["dns:case.netbench.test"],
            &[],
        )
        .leaf(wildcard()),
        new(
            "wildcard-of-an-excluded-child",
            ShouldReject,
            &[],
            &["dns:a.netbench.test"],
        )
        .leaf(wildcard()),
        new("email-permitted", MustAccept, &["email:netbench.test"], &[]),
        new(
            "address-permitted",
            MustAccept,
            &["ip:10.0.0.0/255.0.0.0"],
            &[],
        ),
        new(
            "address-of-odd-mask",
            ShouldReject,
            &["ip:127.0.0.1/255.0.255.0"],
            &[],
        )
        .host("127.0.0.1")
        .leaf(named(&["ip:127.0.0.1"])),
        new(
            "directory-itself",
            MustAccept,
            &["directory:O=A company,CN=A server"],
            &[],
        )
        .leaf(spec(|it| {
            it.subject = "O=A company,CN=A server".parse().ok();
        })),
        new("directory-above", MustAccept, &[company], &[]).leaf(of_company()),
        new("directory-other", MustReject, &["directory:O=Another"], &[]).leaf(of_company()),
        new("directory-excluded", MustReject, &[], &[company]).leaf(of_company()),
        new(
            "directory-other-excluded",
            MustAccept,
            &[],
            &["directory:O=Another"],
        )
        .leaf(of_company()),
        Draft::new("constraint", "of-the-root", ShouldReject)
            .with("root", spec(|it| it.permitted = general(&["dns:a.test"]))),
    ]
}

pub(super) fn named(names: &[&str]) -> CertificateSpec {
    spec(|it| it.names = Some(general(names)))
}

pub(super) fn general(names: &[&str]) -> Vec<GeneralName> {
    names
        .iter()
        .map(|text| match GeneralName::try_from((*text).to_owned()) {
            Ok(name) => name,
            Err(error) => panic!("{error}"),
        })
        .collect()
}
