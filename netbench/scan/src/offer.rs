//! The offer of a stack, read from its own ClientHello.

use netbench_model::{
    scan::{ExtensionOffer, NamedCode, Offer, ShareOffer},
    tls::{CipherSuite, ExtensionType, Group, SignatureScheme, TlsVersion, is_grease},
};

use crate::{
    codec::{ClientHello, compression::algorithm_name, extension},
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
        certificate_compression: Some(all_named(hello.certificate_compression(), algorithm_name)),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the algorithms of a hello whose `compress_certificate` has this body.
    fn algorithms(body: Option<&[u8]>) -> Option<String> {
        let extension = body.map(|body| (extension::COMPRESS_CERTIFICATE, body.to_vec()));
        let hello = ClientHello {
            message_bytes: 0,
            wire_bytes: 0,
            legacy_version: 0x0303,
            random: [0; 32],
            session_id: Vec::new(),
            suites: Vec::new(),
            compression: vec![0],
            extensions: extension.into_iter().collect(),
        };
        let codes = offer("one", &hello).certificate_compression?;
        let codes = codes
            .iter()
            .map(|code| format!("{} {}", code.code, code.name));
        Some(codes.collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn algorithms_for_certificates_are_read_in_their_order() {
        let cases: [(Option<&[u8]>, &str); 8] = [
            (None, ""),
            (Some(&[2, 0, 2]), "2 brotli"),
            (Some(&[6, 0, 3, 0, 1, 0, 2]), "3 zstd, 1 zlib, 2 brotli"),
            // A number without a name, and one of those that RFC 8701 reserves.
            (
                Some(&[6, 0x40, 1, 0x1a, 0x1a, 0, 1]),
                "16385 algorithm 16385, 1 zlib",
            ),
            (Some(&[0]), ""),
            // Bodies that are cut, or of an odd length.
            (Some(&[]), ""),
            (Some(&[4, 0, 2]), ""),
            (Some(&[3, 0, 2, 0]), ""),
        ];
        for (body, due) in cases {
            assert_eq!(algorithms(body).as_deref(), Some(due), "{body:?}");
        }
    }
}
