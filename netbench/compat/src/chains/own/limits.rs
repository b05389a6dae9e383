//! Keys that the web does not use, long and looped paths, many names, and names that no CA may certify.

use netbench_model::chains::Due::{self, MustAccept, MustReject, ShouldAccept, ShouldReject};

use super::{
    draft::{Draft, by, spec},
    names::{general, named},
    trust,
};
use crate::certificates::{CertificateSpec, GeneralName, Hex, KeyKind, KeyUsage, der};

pub(super) fn cases() -> Vec<Draft> {
    [foreign_keys(), depths(), loops(), many_names(), names()].concat()
}

const EC_PUBLIC_KEY: &[u32] = &[1, 2, 840, 10045, 2, 1];

fn hex(text: &str) -> Vec<u8> {
    match Hex::try_from(text.to_owned()) {
        Ok(Hex(bytes)) => bytes,
        Err(error) => panic!("{error}"),
    }
}

/// Returns cases of keys that public CAs do not certify: of a leaf, which signs no certificate, and of CAs.
fn foreign_keys() -> Vec<Draft> {
    const KINDS: &str = "CA/Browser Forum, Baseline Requirements section 6.1.5: keys are RSA of at least 2048 bits, or on P-256, P-384 or P-521";
    const EXPLICIT: &str =
        "RFC 5480 section 2.1.1: specifiedCurve must not be used in certificates";
    let leaf = |name: &str, due: Due, rule, leaf: CertificateSpec| {
        Draft::new("foreign-key", name, due).rule(rule).leaf(leaf)
    };
    let with_public_key = |key: Vec<u8>| spec(|it| it.public_key = Some(key));
    let with_key = |kind: KeyKind| spec(|it| it.key = Some(kind));
    let mut drafts = vec![
        leaf("dsa-1024", ShouldReject, KINDS, with_key(KeyKind::Dsa1024)),
        leaf("p-192", ShouldReject, KINDS, with_key(KeyKind::EcdsaP192)),
        leaf(
            "secp256k1",
            ShouldReject,
            KINDS,
            with_public_key(secp256k1()),
        ),
        leaf(
            "p-256-explicit",
            MustReject,
            EXPLICIT,
            with_public_key(explicit_p256()),
        ),
    ];
    for (name, kind) in [
        ("dsa-1024", KeyKind::Dsa1024),
        ("dsa-2048", KeyKind::Dsa2048),
        ("p-192", KeyKind::EcdsaP192),
    ] {
        for certificate in ["intermediate", "root"] {
            drafts.push(
                Draft::new(
                    "foreign-signer",
                    format!("{name}-{certificate}"),
                    ShouldReject,
                )
                .rule(KINDS)
                .with(certificate, with_key(kind)),
            );
        }
    }
    drafts
}

/// Returns a public key on secp256k1: the base point of the curve (SEC 2 section 2.4.1) is one too.
fn secp256k1() -> Vec<u8> {
    const BASE: &str = "0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8";
    let algorithm = der::sequence(&[&der::oid(EC_PUBLIC_KEY), &der::oid(&[1, 3, 132, 0, 10])]);
    der::sequence(&[&algorithm, &der::bit_string(&hex(BASE))])
}

/// Returns P-256 with all its parameters in place of its name (RFC 3279 section 2.3.5).
fn explicit_p256() -> Vec<u8> {
    const PRIME: &str = "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff";
    const A: &str = "ffffffff00000001000000000000000000000000fffffffffffffffffffffffc";
    const B: &str = "5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b";
    const BASE: &str = "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5";
    const ORDER: &str = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";
    let octets = |text: &str| der::value(der::tag::OCTET_STRING, &hex(text));
    let field = der::sequence(&[
        &der::oid(&[1, 2, 840, 10045, 1, 1]),
        &der::unsigned(&hex(PRIME)),
    ]);
    let curve = der::sequence(&[&octets(A), &octets(B)]);
    let parameters = der::sequence(&[
        &der::unsigned(&[1]),
        &field,
        &curve,
        &octets(BASE),
        &der::unsigned(&hex(ORDER)),
        &der::unsigned(&[1]),
    ]);
    let algorithm = der::sequence(&[&der::oid(EC_PUBLIC_KEY), &parameters]);
    der::sequence(&[&algorithm, &der::bit_string(&hex(BASE))])
}

/// Returns chains of 4 to 20 intermediates.
fn depths() -> Vec<Draft> {
    const RULE: &str = "RFC 5280 section 6.1: a path has any number of certificates; each library has a limit of its own";
    [4u8, 6, 7, 10, 20]
        .into_iter()
        .map(|number| {
            let due = if number <= 4 {
                MustAccept
            } else {
                ShouldAccept
            };
            let mut draft = Draft::new("depth", number, due).rule(RULE);
            let mut sent = Vec::new();
            let mut issuer = "root".to_owned();
            for place in 1..=number {
                let name = format!("intermediate-{place}");
                draft = draft.with(&name, by(&issuer));
                sent.insert(0, name.clone());
                issuer = name;
            }
            sent.insert(0, "leaf".to_owned());
            let sent: Vec<&str> = sent.iter().map(String::as_str).collect();
            draft.leaf(by(&issuer)).sent(&sent)
        })
        .collect()
}

const LOOP: &str = "RFC 5280 section 6.1: a path ends at a trust anchor; a certificate beside it does not make it invalid";

/// Returns CAs that have signed each other.
fn loops() -> Vec<Draft> {
    let crossed = |name: &str, signer: &str| {
        spec(|it| {
            it.subject = Some(trust::name(&format!("{name} of case.netbench.test")));
            it.key_of = Some(name.to_owned());
            it.issuer = Some(signer.to_owned());
        })
    };
    let new = |name: &str, due: Due, sent: &[&str]| {
        Draft::new("cross-signed", name, due)
            .rule(LOOP)
            .with("other", by("other"))
            .with("root-by-other", crossed("root", "other"))
            .with("other-by-root", crossed("other", "root"))
            .sent(sent)
    };
    vec![
        new(
            "both-ways",
            MustAccept,
            &["leaf", "intermediate", "root-by-other", "other-by-root"],
        ),
        new(
            "both-ways-reversed",
            MustAccept,
            &["leaf", "intermediate", "other-by-root", "root-by-other"],
        ),
        new(
            "one-way",
            MustAccept,
            &["leaf", "intermediate", "root-by-other"],
        ),
        new(
            "both-ways-untrusted",
            MustReject,
            &["leaf", "intermediate", "root-by-other", "other-by-root"],
        )
        .with("stranger", by("stranger"))
        .trusted(&["stranger"]),
        three_ways(),
        same_name(),
    ]
}

/// Returns three CAs that have signed each other, two of them with an intermediate: the graph of CVE-2024-0567.
fn three_ways() -> Draft {
    let of = |name: &str| {
        let name = format!("{name} of case.netbench.test");
        spec(|it| it.subject = Some(trust::name(&name)))
    };
    let mut draft = Draft::new("cross-signed", "three-ways", MustAccept)
        .rule(LOOP)
        .with("b", by("b"))
        .with("c", by("c"))
        .with("below-b", by("b"))
        .with("below-c", by("c"));
    let mut sent = vec!["leaf".to_owned(), "intermediate".to_owned()];
    for (name, signer) in [
        ("root", "b"),
        ("root", "c"),
        ("b", "root"),
        ("b", "c"),
        ("c", "root"),
        ("c", "b"),
    ] {
        let crossed = format!("{name}-by-{signer}");
        let mut spec = of(name);
        spec.key_of = Some(name.to_owned());
        spec.issuer = Some(signer.to_owned());
        draft = draft.with(&crossed, spec);
        sent.push(crossed);
    }
    sent.extend(["below-b", "below-c"].map(str::to_owned));
    let sent: Vec<&str> = sent.iter().map(String::as_str).collect();
    draft.sent(&sent)
}

/// Returns two certificates of one CA whose keys have signed each other, and no root.
fn same_name() -> Draft {
    let of = |key: &str, signer: &str| {
        spec(|it| {
            it.subject = Some(trust::name("one CA of case.netbench.test"));
            it.key_of = (key != signer).then(|| key.to_owned());
            it.issuer = Some(signer.to_owned());
        })
    };
    Draft::new("cross-signed", "same-name-untrusted", MustReject)
        .rule(LOOP)
        .with("first", of("first", "first"))
        .with("second", of("second", "second"))
        .with("first-by-second", of("first", "second"))
        .with("second-by-first", of("second", "first"))
        .leaf(by("first"))
        .sent(&["leaf", "first-by-second", "second-by-first"])
}

/// Returns chains in which a verifier may compare each name with each constraint.
fn many_names() -> Vec<Draft> {
    const RULE: &str = "RFC 5280 section 6.1.3 (b) and (c): each name is tested; a limit against denial of service is the library's own";
    let new = |name: &str, due: Due, leaf_names: u16, constraints: u16| {
        let excluded = (0..constraints).map(|at| GeneralName::Dns(format!("x{at}.example")));
        Draft::new("many-names", name, due)
            .rule(RULE)
            .leaf(spec(|it| it.more_names = leaf_names))
            .with("intermediate", spec(|it| it.excluded = excluded.collect()))
    };
    vec![
        new("100-of-each", MustAccept, 100, 100),
        new("2000-names", ShouldAccept, 2000, 1),
        new("2000-constraints", ShouldAccept, 1, 2000),
        new("2000-of-each", ShouldReject, 2000, 2000),
    ]
}

fn names() -> Vec<Draft> {
    const PUBLIC_SUFFIX: &str = "CA/Browser Forum, Baseline Requirements section 3.2.2.6: no wildcard directly left of a public suffix";
    const COMMON_NAME: &str =
        "RFC 9525 section 2: the common name is not used to identify a service";
    const WILDCARD: &str = "RFC 5280 section 4.2.1.10: no name in an excluded subtree is allowed, and the wildcard matches one (RFC 9525 section 6.3)";
    const ROOT: &str = "RFC 5280 section 4.2.1.3: cRLSign is for keys that sign lists; signing certificates needs keyCertSign alone";
    let wildcard = |name: &str, host: &str, names: &str| {
        Draft::new("public-suffix", name, ShouldReject)
            .rule(PUBLIC_SUFFIX)
            .host(host)
            .leaf(named(&[names]))
    };
    let common_name = |name: &str, subject: &str, host: &str, names: &str| {
        let mut leaf = named(&[names]);
        leaf.subject = subject.parse().ok();
        Draft::new("common-name", name, ShouldAccept)
            .rule(COMMON_NAME)
            .host(host)
            .leaf(leaf)
    };
    const HOST: &str = "case.netbench.test";
    const DNS: &str = "dns:case.netbench.test";
    vec![
        wildcard("com", "example.com", "dns:*.com"),
        wildcard("co-uk", "example.co.uk", "dns:*.co.uk"),
        wildcard("github-io", "example.github.io", "dns:*.github.io"),
        wildcard("jp", "example.jp", "dns:*.jp"),
        common_name("upper-case", "CN=CASE.netbench.TEST", HOST, DNS),
        common_name("not-among-the-names", "CN=other.netbench.test", HOST, DNS),
        common_name("address-not-among-the-names", "CN=192.0.2.1", HOST, DNS),
        common_name(
            "address-with-zeros",
            "CN=127.000.000.001",
            "127.0.0.1",
            "ip:127.0.0.1",
        ),
        common_name("long-ipv6", "CN=0:0:0:0:0:0:0:1", "::1", "ip:::1"),
        common_name(
            "u-label",
            "CN=b\u{fc}cher.netbench.test",
            "xn--bcher-kva.netbench.test",
            "dns:xn--bcher-kva.netbench.test",
        ),
        // CVE-2025-61727: Go accepted such names.
        Draft::new(
            "constraint",
            "wildcard-over-the-excluded-name",
            ShouldReject,
        )
        .rule(WILDCARD)
        .leaf(named(&["dns:*.netbench.test"]))
        .with("intermediate", spec(|it| it.excluded = general(&[DNS]))),
        Draft::new("key-usage", "root-signs-certificates-alone", MustAccept)
            .rule(ROOT)
            .with(
                "root",
                spec(|it| it.key_usage = Some(vec![KeyUsage::CertSign])),
            ),
    ]
}
