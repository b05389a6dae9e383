//! The offer of a stack, read from its own ClientHello.

use netbench_model::{
    scan::{ExtensionOffer, NamedCode, Offer, ShareOffer},
    tls::{CipherSuite, ExtensionType, Group, SignatureScheme, TlsVersion, is_grease},
};

use crate::{
    codec::{ClientHello, extension},
    fingerprint::{ja3, ja3_text, ja4},
    text::clean,
};

/// Signalling values in the list of suites (RFC 5746, RFC 7507).
const SIGNALS: [u16; 2] = [0x00ff, 0x5600];

/// `signature_algorithms_cert` (RFC 8446 section 4.2.3).
const SIGNATURES_CERT: u16 = 50;

/// Returns the offer of `stack` in this hello.
pub fn offer(stack: &str, hello: &ClientHello) -> Offer {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let named = |codes: Vec<u16>, name: fn(u16) -> String| -> Vec<NamedCode> {
        let codes = codes.into_iter().filter(|code| !is_grease(*code));
        let named = |code| NamedCode {
            name: name(code),
            code,
        };
        codes.map(named).collect()
    };
    let scheme_name = |code| SignatureScheme(code).to_string();
    let mut versions: Vec<TlsVersion> = hello
        .versions()
        .into_iter()
        .filter_map(TlsVersion::of)
        .collect();
    if hello.extension(extension::SUPPORTED_VERSIONS).is_none() {
        // Before TLS 1.3 a hello names the newest version, and implies the older ones.
        versions = TlsVersion::ALL
            .into_iter()
            .filter(|v| v.code() <= hello.legacy_version && *v != TlsVersion::Ssl3)
            .collect();
    }
    versions.sort_unstable_by(|a, b| b.cmp(a));
    let mut suites = hello.suites.clone();
    suites.retain(|code| !SIGNALS.contains(code));
    let certificate_signatures = hello.extension(SIGNATURES_CERT).and_then(|body| {
        crate::codec::Reader::new(crate::codec::Reader::new(body).vec16()?).u16s()
    });
    Offer {
        stack: stack.to_owned(),
        wire_bytes: number(hello.wire_bytes),
        message_bytes: number(hello.message_bytes),
        versions,
        suites: named(suites, |code| CipherSuite(code).to_string()),
        groups: named(hello.groups(), |code| Group(code).to_string()),
        shares: hello
            .shares()
            .into_iter()
            .map(|(group, public)| ShareOffer {
                group: if is_grease(group) {
                    "GREASE".to_owned()
                } else {
                    Group(group).to_string()
                },
                bytes: number(public.len()),
            })
            .collect(),
        signatures: named(hello.signatures(), scheme_name),
        certificate_signatures: certificate_signatures.map(|codes| named(codes, scheme_name)),
        alpn: hello
            .alpn()
            .iter()
            .map(|name| clean(&String::from_utf8_lossy(name)))
            .collect(),
        extensions: hello
            .extensions
            .iter()
            .map(|(code, body)| ExtensionOffer {
                name: ExtensionType(*code).shown(),
                code: *code,
                bytes: number(body.len()),
            })
            .collect(),
        has_certificate: false,
        has_nagle: false,
        ja3: ja3(hello),
        ja3_text: ja3_text(hello),
        ja4: ja4(hello),
    }
}
