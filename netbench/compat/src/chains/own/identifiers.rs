//! Extensions that help a verifier to find a path, certificates that a CA issues to itself, and malformed
//! extensions.

use netbench_model::chains::Due::{self, MustAccept, MustReject, ShouldAccept, ShouldReject};

use super::{
    draft::{Draft, by, spec},
    trust::name,
};
use crate::certificates::{
    AUTHORITY_KEY_IDENTIFIER, CertificateSpec, Critical, Extra, SUBJECT_KEY_IDENTIFIER,
    der::{self, tag},
};

pub(super) fn cases() -> Vec<Draft> {
    [key_identifiers(), rollover(), information_access(), empty()].concat()
}

const AUTHORITY_INFORMATION_ACCESS: &[u32] = &[1, 3, 6, 1, 5, 5, 7, 1, 1];
const NAME_CONSTRAINTS: &[u32] = &[2, 5, 29, 30];
const EXTENDED_KEY_USAGE: &[u32] = &[2, 5, 29, 37];

fn extra(oid: &'static [u32], critical: Critical, content: Vec<u8>) -> Extra {
    Extra {
        oid,
        critical,
        content,
    }
}

/// Returns a certificate without an extension that usual ones of the web have.
fn without(oid: &'static [u32]) -> CertificateSpec {
    spec(|it| it.without.push(oid))
}

/// Returns a certificate whose extension has another content.
fn in_place(oid: &'static [u32], critical: Critical, content: Vec<u8>) -> CertificateSpec {
    spec(|it| {
        it.without.push(oid);
        it.extra.push(extra(oid, critical, content));
    })
}

fn key_identifiers() -> Vec<Draft> {
    const HELPS: &str = "RFC 5280 section 4.2.1.1: the key identifier helps to find the issuer's key; section 6.1 does not test it";
    const CRITICAL: &str =
        "RFC 5280 sections 4.2.1.1 and 4.2.1.2: CAs must mark the key identifiers as not critical";
    const CA_HAS: &str =
        "RFC 5280 section 4.2.1.2: the subject key identifier must be in certificates of CAs";
    const OF_ANCHOR: &str = "RFC 5280 section 6.1.1 (d): a trust anchor is a name and a key; its extensions are not an input";
    const MALFORMED: &str =
        "RFC 5280 section 4.2.1.1: AuthorityKeyIdentifier is a SEQUENCE, and this is not DER";
    let new = |name: &str, due: Due, rule| Draft::new("key-identifier", name, due).rule(rule);
    let authority_id = |bytes: &[u8]| der::sequence(&[&der::value(tag::primitive(0), bytes)]);
    let subject_id = |bytes: &[u8]| der::value(tag::OCTET_STRING, bytes);
    let named_issuer = |serial: &[u8]| {
        let directory = der::value(
            tag::constructed(4),
            &der::sequence(&[&der::value(
                tag::SET,
                &der::sequence(&[
                    &der::oid(&[2, 5, 4, 3]),
                    &der::value(tag::UTF8_STRING, b"another CA"),
                ]),
            )]),
        );
        der::sequence(&[
            &der::value(tag::constructed(1), &directory),
            &der::value(tag::primitive(2), serial),
        ])
    };
    vec![
        new("authority-missing-leaf", ShouldAccept, HELPS).leaf(without(AUTHORITY_KEY_IDENTIFIER)),
        new("authority-missing-intermediate", ShouldAccept, HELPS)
            .with("intermediate", without(AUTHORITY_KEY_IDENTIFIER)),
        new("authority-missing-root", MustAccept, "RFC 5280 section 4.2.1.1: a self-signed certificate may leave the authority key identifier out")
            .with("root", without(AUTHORITY_KEY_IDENTIFIER)),
        new("authority-wrong-leaf", ShouldReject, HELPS).leaf(in_place(
            AUTHORITY_KEY_IDENTIFIER,
            Critical::No,
            authority_id(&[0x55; 20]),
        )),
        new("authority-wrong-intermediate", ShouldReject, HELPS).with(
            "intermediate",
            in_place(
                AUTHORITY_KEY_IDENTIFIER,
                Critical::No,
                authority_id(&[0x55; 20]),
            ),
        ),
        new("authority-empty-leaf", ShouldAccept, HELPS).leaf(in_place(
            AUTHORITY_KEY_IDENTIFIER,
            Critical::No,
            der::sequence(&[]),
        )),
        new("authority-other-issuer-leaf", ShouldReject, HELPS).leaf(in_place(
            AUTHORITY_KEY_IDENTIFIER,
            Critical::No,
            named_issuer(&[1]),
        )),
        new("authority-critical-leaf", ShouldReject, CRITICAL).leaf(in_place(
            AUTHORITY_KEY_IDENTIFIER,
            Critical::Yes,
            der::sequence(&[]),
        )),
        new("authority-malformed-leaf", ShouldReject, MALFORMED).leaf(in_place(
            AUTHORITY_KEY_IDENTIFIER,
            Critical::No,
            vec![0x30, 0x05, 0x80],
        )),
        new("subject-missing-leaf", MustAccept, "RFC 5280 section 4.2.1.2: an end entity's certificate should have the subject key identifier, and need not")
            .leaf(without(SUBJECT_KEY_IDENTIFIER)),
        new("subject-missing-intermediate", ShouldAccept, CA_HAS)
            .with("intermediate", without(SUBJECT_KEY_IDENTIFIER)),
        new("subject-missing-root", ShouldAccept, CA_HAS)
            .with("root", without(SUBJECT_KEY_IDENTIFIER)),
        // The certificate below names no key, so that the new identifier is not wrong.
        new("subject-critical-intermediate", ShouldReject, CRITICAL)
            .leaf(without(AUTHORITY_KEY_IDENTIFIER))
            .with(
                "intermediate",
                in_place(
                    SUBJECT_KEY_IDENTIFIER,
                    Critical::Yes,
                    subject_id(&[0x66; 20]),
                ),
            ),
        new("authority-critical-root", ShouldAccept, OF_ANCHOR).with(
            "root",
            in_place(
                AUTHORITY_KEY_IDENTIFIER,
                Critical::Yes,
                der::sequence(&[]),
            ),
        ),
        new("subject-critical-root", ShouldAccept, OF_ANCHOR)
            .with("intermediate", without(AUTHORITY_KEY_IDENTIFIER))
            .with(
                "root",
                in_place(
                    SUBJECT_KEY_IDENTIFIER,
                    Critical::Yes,
                    subject_id(&[0x66; 20]),
                ),
            ),
        // Two certificates of one name and one key: the identifier of the first leads to no root.
        new("subject-ambiguous", MustAccept, HELPS)
            .with(
                "copy",
                spec(|it| {
                    it.subject = Some(name("intermediate of case.netbench.test"));
                    it.key_of = Some("intermediate".to_owned());
                    it.without.push(SUBJECT_KEY_IDENTIFIER);
                }),
            )
            .sent(&["leaf", "intermediate", "copy"]),
    ]
}

/// Returns chains of a CA whose key is replaced: the old key signs a certificate for the new one, under the same
/// name.
fn rollover() -> Vec<Draft> {
    const COUNTS: &str =
        "RFC 5280 section 4.2.1.9: self-issued certificates do not count toward the path length";
    const SELF_ISSUED: &str = "RFC 5280 section 3.2: self-issued certificates, in which issuer and subject are the same, support changes in policy or operations";
    let new = |case: &str, due: Due, rule| Draft::new("rollover", case, due).rule(rule);
    let new_key = |issuer: &str| {
        spec(|it| {
            it.subject = Some(name("intermediate of case.netbench.test"));
            it.issuer = Some(issuer.to_owned());
        })
    };
    let rolled = |draft: Draft| {
        draft
            .with("rolled", new_key("intermediate"))
            .leaf(by("rolled"))
            .sent(&["leaf", "rolled", "intermediate"])
    };
    let of_root = || {
        spec(|it| {
            it.subject = Some(name("root of case.netbench.test"));
            it.issuer = Some("root".to_owned());
        })
    };
    vec![
        rolled(new("intermediate", MustAccept, SELF_ISSUED)),
        rolled(new("intermediate-path-length-0", MustAccept, COUNTS))
            .with("intermediate", spec(|it| it.path_length = Some(0))),
        rolled(new("intermediate-twice", MustAccept, COUNTS))
            .with("intermediate", spec(|it| it.path_length = Some(0)))
            .with("again", new_key("rolled"))
            .leaf(by("again"))
            .sent(&["leaf", "again", "rolled", "intermediate"]),
        new("root-new-with-old", MustAccept, SELF_ISSUED)
            .with("new-root", of_root())
            .with("intermediate", by("new-root"))
            .sent(&["leaf", "intermediate", "new-root"]),
        // The new root is trusted, and certificates that the old one signed must still lead there.
        new("root-old-with-new", MustAccept, SELF_ISSUED)
            .with(
                "new-root",
                spec(|it| {
                    it.subject = Some(name("root of case.netbench.test"));
                    it.issuer = Some("new-root".to_owned());
                }),
            )
            .with(
                "old-with-new",
                spec(|it| {
                    it.subject = Some(name("root of case.netbench.test"));
                    it.key_of = Some("root".to_owned());
                    it.issuer = Some("new-root".to_owned());
                }),
            )
            .sent(&["leaf", "intermediate", "old-with-new"])
            .trusted(&["new-root"]),
        new("no-ca", MustReject, "RFC 5280 section 6.1.4 (k): a certificate that signs others must be one of a CA, also where it is self-issued")
            .with(
                "rolled",
                spec(|it| {
                    it.subject = Some(name("intermediate of case.netbench.test"));
                    it.issuer = Some("intermediate".to_owned());
                    it.ca = Some(false);
                }),
            )
            .leaf(by("rolled"))
            .sent(&["leaf", "rolled", "intermediate"]),
    ]
}

fn information_access() -> Vec<Draft> {
    const NOT_EMPTY: &str =
        "RFC 5280 section 4.2.2.1: AuthorityInfoAccessSyntax has at least one AccessDescription";
    const CRITICAL: &str = "RFC 5280 section 4.2.2.1: CAs must mark this extension as not critical";
    let new = |name: &str, due: Due, rule, content: Vec<u8>, critical| {
        let spec = spec(|it| {
            it.extra
                .push(extra(AUTHORITY_INFORMATION_ACCESS, critical, content));
        });
        Draft::new("information-access", name, due)
            .rule(rule)
            .leaf(spec)
    };
    let ocsp = der::sequence(&[&der::sequence(&[
        &der::oid(&[1, 3, 6, 1, 5, 5, 7, 48, 1]),
        &der::value(tag::primitive(6), b"http://ocsp.netbench.test/"),
    ])]);
    vec![
        new("usual", MustAccept, NOT_EMPTY, ocsp.clone(), Critical::No),
        new(
            "empty",
            ShouldReject,
            NOT_EMPTY,
            der::sequence(&[]),
            Critical::No,
        ),
        new(
            "malformed",
            ShouldReject,
            NOT_EMPTY,
            vec![0x30, 0x0a, 0x30],
            Critical::No,
        ),
        new("critical", ShouldReject, CRITICAL, ocsp, Critical::Yes),
    ]
}

fn empty() -> Vec<Draft> {
    const SUBTREES: &str = "RFC 5280 section 4.2.1.10: GeneralSubtrees has at least one GeneralSubtree, and CAs must not issue empty name constraints";
    const PURPOSES: &str =
        "RFC 5280 section 4.2.1.12: ExtKeyUsageSyntax has at least one KeyPurposeId";
    let new = |name: &str, due: Due, rule| Draft::new("empty", name, due).rule(rule);
    let constrained = |content: Vec<u8>| {
        spec(|it| {
            it.extra
                .push(extra(NAME_CONSTRAINTS, Critical::Yes, content))
        })
    };
    let purposes = |own: fn(&mut CertificateSpec)| {
        spec(|it| {
            own(it);
            it.extra
                .push(extra(EXTENDED_KEY_USAGE, Critical::No, der::sequence(&[])));
        })
    };
    vec![
        new("name-constraints", ShouldReject, SUBTREES)
            .with("intermediate", constrained(der::sequence(&[]))),
        new("permitted-subtrees", ShouldReject, SUBTREES).with(
            "intermediate",
            constrained(der::sequence(&[&der::value(tag::constructed(0), &[])])),
        ),
        new("excluded-subtrees", ShouldReject, SUBTREES).with(
            "intermediate",
            constrained(der::sequence(&[&der::value(tag::constructed(1), &[])])),
        ),
        new("extended-key-usage-leaf", ShouldReject, PURPOSES)
            .leaf(purposes(|it| it.purposes = Some(Vec::new()))),
        new("extended-key-usage-intermediate", ShouldReject, PURPOSES)
            .with("intermediate", purposes(|_| ())),
    ]
}
