//! Servers that refuse for unusual reasons.

use std::io::Write;

use netbench_model::{
    scan::{Observed, ScanOutcome},
    tls::{CipherSuite, TlsVersion},
};
use netbench_scan::{ScanPart, codec::ClientHello};

use crate::{
    hostile::{limits, linger, scan_within},
    programs::{listed, s_server},
    rare_libraries::selfserv,
    replies::{Hostile, alert, read_hello, record, retry_request},
    support::{Files, Key, groups, in_order, scan, shown, suites, usable},
};

/// The suites and groups of the scripted servers, in their order.
const NEWEST: [u16; 4] = [0x1301, 0x1302, 0x1303, 0x1304];
const GROUPS: [u16; 2] = [0x17, 0x1d];

const HANDSHAKE_FAILURE: u8 = 40;
const ILLEGAL_PARAMETER: u8 = 47;
const PROTOCOL_VERSION: u8 = 70;

/// The alert with which a server refuses a hello that it could answer.
type WhyNot = fn(&ClientHello) -> Option<u8>;

/// Starts a server of only TLS 1.3; `why_not` may refuse a hello for another reason.
fn tls13(why_not: WhyNot) -> Hostile {
    Hostile::new(move |_, mut stream| {
        let Some(hello) = read_hello(&mut stream) else {
            return;
        };
        let _ = stream.write_all(&answer13(&hello, why_not));
        linger(stream);
    })
}

fn answer13(hello: &ClientHello, why_not: WhyNot) -> Vec<u8> {
    if !hello.versions().contains(&0x0304) {
        return alert(PROTOCOL_VERSION);
    }
    if let Some(description) = why_not(hello) {
        return alert(description);
    }
    let suite = NEWEST.iter().find(|code| hello.suites.contains(code));
    let group = GROUPS.iter().find(|code| hello.groups().contains(code));
    match (suite, group) {
        (Some(suite), Some(group)) => record(22, &retry_request(*suite, *group)),
        _ => alert(HANDSHAKE_FAILURE),
    }
}

/// Returns the alert for a hello of TLS 1.3 alone with a group that is wrong.
fn refuse_groups(hello: &ClientHello, is_wrong: fn(u16) -> bool) -> Option<u8> {
    let only_newest = !hello.versions().contains(&0x0303);
    let refused = only_newest && hello.groups().into_iter().any(is_wrong);
    refused.then_some(ILLEGAL_PARAMETER)
}

pub(crate) fn refused_groups_hide_no_suite_of_tls_1_3() {
    let ways: [(&str, WhyNot); 2] = [
        // tlslite-ng behaves like this (RFC 8446 section 4.2.7).
        ("groups of older versions", |hello| {
            refuse_groups(hello, |code| matches!(code, 0x01..=0x16 | 0x1a..=0x1c))
        }),
        ("groups that it does not have", |hello| {
            refuse_groups(hello, |code| !GROUPS.contains(&code))
        }),
    ];
    for (what, why_not) in ways {
        let server = tls13(why_not);
        let found = scan_within(server.address, limits());
        let name = format!("{what}: {}", shown(&found));
        assert_eq!(in_order(&found, TlsVersion::Tls13), NEWEST, "{name}");
        let newest = found.version(TlsVersion::Tls13).expect("TLS 1.3");
        assert!(newest.complete, "{name}");
    }
    // A server that answers only hellos that offer old versions as well.
    let server = tls13(|hello| {
        let oldest = hello.versions().contains(&0x0302);
        (!oldest).then_some(ILLEGAL_PARAMETER)
    });
    let found = scan_within(server.address, limits());
    let newest = found.version(TlsVersion::Tls13).expect("TLS 1.3");
    assert!(!newest.complete, "{}", shown(&found));
    let partial = matches!(found.outcome, ScanOutcome::Partial { .. });
    assert!(partial, "{}", shown(&found));
    let said = found.notes.iter().any(|note| note.contains("there may be"));
    assert!(said, "{}", shown(&found));
}

pub(crate) fn suites_with_pre_shared_keys_are_found_in_old_versions() {
    let (all, files) = ("ALL:@SECLEVEL=0", Files::new(Key::Rsa));
    for (flag, version) in [("-tls1", TlsVersion::Tls10), ("-tls1_1", TlsVersion::Tls11)] {
        let server = s_server(&files, &["-cipher", all, "-psk", "0123456789abcdef", flag]);
        let found = scan(server.address, &[]);
        let mut due = listed(&["-psk", all], version);
        due.retain(|code| {
            let suite = CipherSuite(*code).facts();
            usable(*code, Key::Rsa) || suite.is_some_and(|s| s.name.contains("PSK"))
        });
        // TLS_ECDHE_PSK_WITH_AES_256_CBC_SHA384 is among them.
        assert!(due.contains(&0xc038), "{due:x?}");
        due.sort_unstable();
        assert_eq!(suites(&found, version), due, "{}", shown(&found));
        assert_eq!(found.outcome, ScanOutcome::Scanned, "{}", shown(&found));
    }
}

pub(crate) fn what_is_encrypted_is_read_where_ccm_is_chosen_first() {
    let files = Files::new(Key::EcdsaP256);
    let list = "TLS_AES_128_CCM_SHA256:TLS_AES_128_CCM_8_SHA256:TLS_AES_256_GCM_SHA384";
    let server = s_server(&files, &["-www", "-tls1_3", "-ciphersuites", list]);
    let found = scan(server.address, ScanPart::ALL);
    assert_eq!(found.outcome, ScanOutcome::Scanned, "{}", shown(&found));
    assert_eq!(in_order(&found, TlsVersion::Tls13).len(), 3);
    assert_eq!(found.chains.len(), 1, "{}", shown(&found));
    assert!(!found.signatures.is_empty(), "{}", shown(&found));
    let features = &found.features;
    assert_eq!(features.http_status, Some(200), "{}", shown(&found));
    assert_eq!(features.tickets_tls13, Some(2), "{}", shown(&found));
    assert_eq!(features.resumption_tls13, Observed::Yes);

    let alone = ["-www", "-tls1_3", "-ciphersuites", "TLS_AES_128_CCM_SHA256"];
    let server = s_server(&files, &alone);
    let found = scan(server.address, ScanPart::ALL);
    assert_eq!(in_order(&found, TlsVersion::Tls13), [0x1304]);
    assert_eq!(found.features.tickets_tls13, None);
    assert_eq!(found.features.resumption_tls13, Observed::Unknown);
    let said = found.notes.iter().any(|note| note.contains("CCM"));
    assert!(said, "{}", shown(&found));
}

pub(crate) fn nss_resumes_and_renegotiates() {
    let files = Files::new(Key::Rsa);
    let server = selfserv(&files, &["-V", "tls1.0:tls1.2"]);
    let found = scan(server.address, ScanPart::ALL);
    assert_eq!(found.outcome, ScanOutcome::Scanned, "{}", shown(&found));
    let features = &found.features;
    assert_eq!(
        features.resumption_tls12,
        Observed::Yes,
        "{}",
        shown(&found)
    );
    assert_eq!(features.client_renegotiation, Observed::Yes);
    assert!(groups(&found, TlsVersion::Tls12).contains(&"x25519".to_owned()));
}
