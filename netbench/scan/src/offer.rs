//! The offer of a stack, read from its own ClientHello.

use netbench_model::{
    scan::{ExtensionOffer, NamedCode, Offer, ShareOffer},
    tls::{CipherSuite, ExtensionType, Group, SignatureScheme, TlsVersion, is_grease},
};

use crate::{
    codec::{ClientHello, extension},
    fingerprint::{ja3, ja3_text, ja4},
    text::{as_u32, clean},
};

/// Signalling values in the list of suites (RFC 5746, RFC 7507).
const SIGNALS: [u16; 2] = [0x00ff, 0x5600];

/// `signature_algorithms_cert` (RFC 8446 section 4.2.3).
const SIGNATURES_CERT: u16 = 50;

/// Returns the offer of `stack` in this hello.
pub fn offer(stack: &str, hello: &ClientHello) -> Offer {
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
        wire_bytes: as_u32(hello.wire_bytes),
        message_bytes: as_u32(hello.message_bytes),
        versions,
        suites: all_named(suites, CipherSuite),
        groups: all_named(hello.groups(), Group),
        shares: hello
            .shares()
            .into_iter()
            .map(|(group, public)| ShareOffer {
                group: if is_grease(group) {
                    "GREASE".to_owned()
                } else {
                    Group(group).to_string()
                },
                bytes: as_u32(public.len()),
            })
            .collect(),
        signatures: all_named(hello.signatures(), SignatureScheme),
        certificate_signatures: certificate_signatures
            .map(|codes| all_named(codes, SignatureScheme)),
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
                bytes: as_u32(body.len()),
            })
            .collect(),
        has_certificate: false,
        has_nagle: false,
        ja3: ja3(hello),
        ja3_text: ja3_text(hello),
        ja4: ja4(hello),
    }
}

/// Returns the codes that are not GREASE, with their names.
fn all_named<T: ToString>(codes: Vec<u16>, of: fn(u16) -> T) -> Vec<NamedCode> {
    let codes = codes.into_iter().filter(|code| !is_grease(*code));
    codes.map(|code| NamedCode::new(code, of(code))).collect()
}
