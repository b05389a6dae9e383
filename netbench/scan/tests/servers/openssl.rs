//! `openssl s_server` in many settings. Its expected offer comes from `openssl ciphers`.

use std::time::Duration;

use netbench_model::{
    scan::{Anchor, Observed, Order, ScanOutcome, SiteScan},
    tls::TlsVersion,
};
use netbench_scan::{Limits, ScanPart, TrustAnchors};

use crate::{
    programs::{listed, s_server},
    support::{Files, Key, groups, in_order, limits, scan, scan_with, shown, suites, usable},
};

struct Setting {
    name: &'static str,
    key: Key,
    arguments: &'static [&'static str],
    /// The list of suites below TLS 1.3.
    list: &'static str,
    versions: &'static [TlsVersion],
    /// Suites of TLS 1.3, in the order of the server's choices.
    newest: &'static [u16],
    order: Order,
    most_connections: u32,
}

const DEFAULT_13: &[u16] = &[0x1302, 0x1303, 0x1301];

pub(crate) fn suites_agree_with_the_setting_one_by_one() {
    use TlsVersion::{Tls10, Tls11, Tls12, Tls13};
    let all = "ALL:@SECLEVEL=0";
    let settings = [
        Setting {
            name: "everything, the client's order",
            key: Key::Rsa,
            arguments: &["-cipher", "ALL:@SECLEVEL=0"],
            list: all,
            versions: &[Tls10, Tls11, Tls12, Tls13],
            newest: DEFAULT_13,
            order: Order::Client,
            most_connections: 100,
        },
        Setting {
            name: "everything, the server's order",
            key: Key::Rsa,
            arguments: &["-cipher", "ALL:@SECLEVEL=0", "-serverpref"],
            list: all,
            versions: &[Tls10, Tls11, Tls12, Tls13],
            newest: DEFAULT_13,
            order: Order::Server,
            most_connections: 110,
        },
        Setting {
            name: "everything with an ECDSA key",
            key: Key::EcdsaP256,
            arguments: &["-cipher", "ALL:@SECLEVEL=0", "-serverpref"],
            list: all,
            versions: &[Tls10, Tls11, Tls12, Tls13],
            newest: DEFAULT_13,
            order: Order::Server,
            most_connections: 100,
        },
        Setting {
            name: "TLS 1.0 alone",
            key: Key::Rsa,
            arguments: &["-cipher", "ALL:@SECLEVEL=0", "-tls1"],
            list: all,
            versions: &[Tls10],
            newest: &[],
            order: Order::Client,
            most_connections: 60,
        },
        Setting {
            name: "TLS 1.1 alone, elliptic suites alone",
            key: Key::Rsa,
            arguments: &[
                "-cipher",
                "kECDHE+aRSA:@SECLEVEL=0",
                "-tls1_1",
                "-serverpref",
            ],
            list: "kECDHE+aRSA:@SECLEVEL=0",
            versions: &[Tls11],
            newest: &[],
            order: Order::Server,
            most_connections: 40,
        },
        Setting {
            name: "TLS 1.2 alone, key exchange by RSA alone",
            key: Key::Rsa,
            arguments: &["-cipher", "kRSA", "-tls1_2", "-serverpref"],
            list: "kRSA",
            versions: &[Tls12],
            newest: &[],
            order: Order::Server,
            most_connections: 50,
        },
        Setting {
            name: "TLS 1.3 alone, one suite",
            key: Key::EcdsaP256,
            arguments: &["-tls1_3", "-ciphersuites", "TLS_AES_128_CCM_SHA256"],
            list: "",
            versions: &[Tls13],
            newest: &[0x1304],
            order: Order::Single,
            most_connections: 30,
        },
        Setting {
            name: "a hole in the versions",
            key: Key::Rsa,
            arguments: &[
                "-no_tls1_2",
                "-no_tls1",
                "-cipher",
                "AES:@SECLEVEL=0",
                "-serverpref",
            ],
            list: "AES:@SECLEVEL=0",
            versions: &[Tls11, Tls13],
            newest: DEFAULT_13,
            order: Order::Server,
            most_connections: 60,
        },
    ];
    for setting in settings {
        check(&setting);
    }
}

fn check(setting: &Setting) {
    let name = setting.name;
    let files = Files::new(setting.key);
    let server = s_server(&files, setting.arguments);
    let found = scan(server.address, &[]);
    let shown = format!("{name}: {}", shown(&found));
    assert_eq!(found.outcome, ScanOutcome::Scanned, "{shown}");
    let spoken: Vec<TlsVersion> = TlsVersion::ALL
        .into_iter()
        .filter(|version| found.version(*version).is_some())
        .collect();
    assert_eq!(spoken, setting.versions, "{shown}");
    for version in setting.versions.iter().copied() {
        let (mut due, order) = if version == TlsVersion::Tls13 {
            (setting.newest.to_vec(), Order::Server)
        } else {
            let mut due = listed(&[setting.list], version);
            due.retain(|code| usable(*code, setting.key));
            (due, setting.order)
        };
        let entry = found.version(version).unwrap();
        assert!(entry.complete, "{version} {shown}");
        if version != TlsVersion::Tls13 {
            assert_eq!(entry.suite_order, setting.order, "{version} {shown}");
        }
        if setting.order == Order::Server && order == Order::Server {
            assert_eq!(in_order(&found, version), due, "{version} {shown}");
        }
        due.sort_unstable();
        assert_eq!(suites(&found, version), due, "{version} {shown}");
    }
    let used = found.effort.enumeration_connections;
    assert!(
        used <= setting.most_connections && used + 1 == found.effort.connections,
        "{used} connections: {shown}"
    );
}

pub(crate) fn groups_agree_with_the_setting_in_its_order() {
    let cases: [(&[&str], &[&str]); 4] = [
        (&["-groups", "X25519"], &["x25519"]),
        (
            &["-groups", "P-521:X25519:P-256", "-serverpref"],
            &["secp521r1", "x25519", "secp256r1"],
        ),
        (
            &["-groups", "X448:P-384:X25519:P-256:P-521", "-serverpref"],
            &["x448", "secp384r1", "x25519", "secp256r1", "secp521r1"],
        ),
        (
            &["-groups", "P-256:ffdhe3072:ffdhe2048", "-serverpref"],
            &["secp256r1", "ffdhe3072", "ffdhe2048"],
        ),
    ];
    let files = Files::new(Key::Rsa);
    for (arguments, due) in cases {
        let server = s_server(&files, arguments);
        let found = scan(server.address, &[]);
        assert_eq!(groups(&found, TlsVersion::Tls13), due, "{}", shown(&found));
        let elliptic: Vec<&str> = due
            .iter()
            .filter(|name| !name.starts_with("ffdhe"))
            .copied()
            .collect();
        assert_eq!(
            groups(&found, TlsVersion::Tls12),
            elliptic,
            "{}",
            shown(&found)
        );
    }
}

/// A prime that belongs to no standard, as `openssl dhparam 1024` generates one in some time.
const OWN_DH: &str = "-----BEGIN DH PARAMETERS-----\n\
    MIGHAoGBAOcNVYpYw6lIRfKxvl8Ihh+gyq26nFMhw+p+UqyrJ3Ae2H26RwPBN2Kz\n\
    UiPKCMOo4Qxky1ql4Nhcapm8ztnyikR+PebdEitZ8hfNudbums1oP5CCPoMUypBi\n\
    tl529tXatU+4qQL8d4JLUorFNR0L3xT764Q+N6KX7VdEtGhUvulXAgEC\n\
    -----END DH PARAMETERS-----\n";

pub(crate) fn sizes_of_finite_fields_are_reported() {
    let files = Files::new(Key::Rsa);
    // Any number of 1024 bits suffices: no handshake is finished with it.
    let own = files.write("dh.pem", OWN_DH);
    let cases: [(&[&str], u32, &str); 2] = [
        (
            &[
                "-dhparam",
                &own,
                "-cipher",
                "kDHE+aRSA:@SECLEVEL=0",
                "-tls1_2",
            ],
            1024,
            "own",
        ),
        (&["-cipher", "kDHE+aRSA", "-tls1_2"], 2048, "modp"),
    ];
    for (arguments, bits, origin) in cases {
        let server = s_server(&files, arguments);
        let found = scan(server.address, &[]);
        let version = found.version(TlsVersion::Tls12).expect("TLS 1.2");
        assert!(!version.suites.is_empty());
        for suite in &version.suites {
            let prime = suite.dh.as_ref().expect(&suite.name);
            assert_eq!((prime.bits, prime.origin.as_str()), (bits, origin));
        }
    }
}

pub(crate) fn features_agree_with_the_setting() {
    let files = Files::new(Key::Rsa);
    let status = files.path("ocsp.der");
    // An OCSPResponse with the status tryLater (RFC 6960 section 4.2.1).
    std::fs::write(&status, [0x30, 3, 0x0a, 1, 3]).unwrap();

    // `-www` answers no HEAD: the parts must not depend on it.
    let plain = brief_scan(&files, &["-www"], ScanPart::ALL);
    let f = &plain.features;
    assert_eq!(plain.outcome, ScanOutcome::Scanned, "{}", shown(&plain));
    assert_eq!(
        [&f.tickets_tls12, &f.resumption_tls12, &f.resumption_tls13],
        [&Observed::Yes; 3],
        "{}",
        shown(&plain)
    );
    assert_eq!(f.tickets_tls13, Some(2), "{}", shown(&plain));
    assert_eq!(f.early_data_bytes, Some(0));
    assert_eq!(f.extended_master_secret, Observed::Yes);
    assert_eq!(f.secure_renegotiation, Observed::Yes);
    assert_eq!(
        [&f.ocsp_stapling, &f.compression, &f.heartbeat],
        [&Observed::No; 3]
    );
    assert_eq!(f.client_certificate, Observed::No);
    assert_eq!(f.client_certificate_required, Observed::No);
    // OpenSSL accepts any present share of a group that it supports.
    let shares = f.shares_taken.iter().flatten();
    let shares: Vec<&str> = shares.map(|group| group.name.as_str()).collect();
    assert!(
        ["x25519", "secp256r1", "secp384r1"]
            .iter()
            .all(|group| shares.contains(group)),
        "{}",
        shown(&plain)
    );
    assert_eq!(f.share_order, Some(Order::Client), "{}", shown(&plain));
    assert_eq!(f.fallback_scsv, Observed::Yes);
    assert!(f.alpn.is_empty());

    let rich = [
        "-alpn",
        "h2,http/1.1",
        "-status_file",
        &status,
        "-verify",
        "1",
        "-no_ticket",
        "-www",
        "-cipher",
        "AES128-SHA:ECDHE-RSA-AES128-GCM-SHA256",
        "-num_tickets",
        "0",
    ];
    let rich = brief_scan(&files, &rich, ScanPart::ALL);
    let f = &rich.features;
    assert_eq!(f.alpn, ["h2", "http/1.1"], "{}", shown(&rich));
    assert_eq!(f.ocsp_stapling, Observed::Yes, "{}", shown(&rich));
    assert_eq!(f.client_certificate, Observed::Yes);
    assert_eq!(f.client_certificate_required, Observed::No);
    assert_eq!(f.tickets_tls12, Observed::No, "{}", shown(&rich));
    assert_eq!(f.session_ids, Observed::Yes, "{}", shown(&rich));
    assert_eq!(f.resumption_tls12, Observed::Yes, "{}", shown(&rich));
    assert_eq!(f.encrypt_then_mac, Observed::Yes, "{}", shown(&rich));

    let early = ["-early_data", "-max_early_data", "12345", "-tls1_3"];
    let early = brief_scan(&files, &early, &[ScanPart::Sessions]);
    assert_eq!(
        early.features.early_data_bytes,
        Some(12_345),
        "{}",
        shown(&early)
    );

    let strict = ["-Verify", "1", "-alpn", "acme"];
    let strict = brief_scan(&files, &strict, ScanPart::ALL);
    assert_eq!(
        strict.features.client_certificate,
        Observed::Yes,
        "{}",
        shown(&strict)
    );
    assert_eq!(
        strict.features.client_certificate_required,
        Observed::Yes,
        "{}",
        shown(&strict)
    );
    // The server requires an application protocol that no browser has, and is scanned without.
    assert!(
        strict.version(TlsVersion::Tls13).is_some(),
        "{}",
        shown(&strict)
    );
    assert!(
        strict.version(TlsVersion::Tls12).is_some(),
        "{}",
        shown(&strict)
    );
}

/// Scans `s_server` with these arguments, with a short time limit of an answer.
fn brief_scan(files: &Files, arguments: &[&str], parts: &[ScanPart]) -> SiteScan {
    let server = s_server(files, arguments);
    let limits = Limits {
        timeout: Duration::from_secs(4),
        ..limits(parts)
    };
    scan_with(server.address, limits, TrustAnchors::default())
}

pub(crate) fn signatures_and_chains_agree_with_the_certificate() {
    let files = Files::new(Key::EcdsaP256);
    let server = s_server(&files, &["-www"]);
    let roots = TrustAnchors::of_pem(&files.root_pem);
    let found = scan_with(server.address, limits(&[ScanPart::Signatures]), roots);
    let signatures = found.signatures.iter();
    let (new, old): (Vec<_>, Vec<_>) = signatures
        .filter(|it| matches!(it.version, TlsVersion::Tls12 | TlsVersion::Tls13))
        .partition(|it| it.version == TlsVersion::Tls13);
    assert_eq!(new.len(), 1, "{}", shown(&found));
    assert_eq!(new[0].name, "ecdsa_secp256r1_sha256");
    assert!(old.iter().any(|it| it.name == new[0].name), "{old:?}");
    assert!(old.iter().all(|it| it.name.starts_with("ecdsa")), "{old:?}");
    let [chain] = &found.chains[..] else {
        panic!("not one chain: {}", shown(&found));
    };
    assert_eq!(chain.certificates.len(), 2);
    assert_eq!(chain.anchor, Anchor::Known, "{}", shown(&found));
    assert!(chain.in_order && chain.names_match && !chain.has_root);
    let leaf = &chain.certificates[0];
    assert_eq!((leaf.key.as_str(), leaf.key_bits), ("ec", 256));
    assert_eq!(leaf.curve.as_deref(), Some("secp256r1"));
    assert_eq!(leaf.names, [crate::support::HOST]);
    assert!(leaf.valid_now && !leaf.is_ca && chain.certificates[1].is_ca);

    let files = Files::new(Key::Rsa);
    let server = s_server(&files, &["-www", "-sigalgs", "RSA-PSS+SHA384:RSA+SHA256"]);
    let found = scan(server.address, &[ScanPart::Signatures]);
    let all: Vec<(TlsVersion, &str)> = found
        .signatures
        .iter()
        .map(|s| (s.version, s.name.as_str()))
        .collect();
    for due in [
        (TlsVersion::Tls13, "rsa_pss_rsae_sha384"),
        (TlsVersion::Tls12, "rsa_pss_rsae_sha384"),
        (TlsVersion::Tls12, "rsa_pkcs1_sha256"),
    ] {
        assert!(all.contains(&due), "{due:?} of {all:?}");
    }
    assert_eq!(all.len(), 3, "{all:?}");
}

pub(crate) fn two_certificates_hide_no_suite() {
    let (rsa, ecdsa) = (Files::new(Key::Rsa), Files::new(Key::EcdsaP256));
    let list = "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES256-GCM-SHA384:\
        ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256:AES128-SHA:\
        ECDHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-CHACHA20-POLY1305";
    for prefers in [&["-serverpref"][..], &[]] {
        let (second, key) = (ecdsa.path("leaf.pem"), ecdsa.path("key.pem"));
        let mut arguments = vec!["-cipher", list, "-dcert", &second, "-dkey", &key];
        arguments.extend(prefers);
        let server = s_server(&rsa, &arguments);
        let found = scan(server.address, &[]);
        let entry = found.version(TlsVersion::Tls12).expect("TLS 1.2");
        let mut due = listed(&[list], TlsVersion::Tls12);
        if entry.suite_order == Order::Server {
            assert!(!prefers.is_empty(), "{}", shown(&found));
            assert_eq!(
                in_order(&found, TlsVersion::Tls12),
                due,
                "{}",
                shown(&found)
            );
        }
        due.sort_unstable();
        assert_eq!(suites(&found, TlsVersion::Tls12), due, "{}", shown(&found));
        assert_eq!(found.outcome, ScanOutcome::Scanned, "{}", shown(&found));
        assert_eq!(found.chains.len(), 2, "{}", shown(&found));
    }
}
