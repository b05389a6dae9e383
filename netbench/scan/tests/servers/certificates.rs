//! Certificates of TLS 1.3 as a server sends them: compressed, or two by key.

use std::io::Write;

use aws_lc_rs::agreement::{PrivateKey, UnparsedPublicKey, X25519, agree};
use netbench_model::{
    scan::{ScanOutcome, SiteScan},
    tls::TlsVersion,
};
use netbench_scan::{
    ScanPart,
    codec::{ClientHello, Reader, extension},
    crypto::{Hash, Protection13},
};

use crate::{
    hostile::{leaf, limits, linger, scan_within},
    programs::s_server,
    replies::{
        Hostile, alert, length24, message, read_hello_and_bytes, record, retry_request,
        server_hello,
    },
    support::{Files, HOST, Key, scan, shown},
};

const SUITE: u16 = 0x1301;
const GROUP: u16 = 0x1d;

/// Returns the algorithm, the stated length and the compressed bytes for a hello that offers these algorithms; `None` to
/// send the message as it is.
type Compress = fn(offered: &[u16], body: &[u8]) -> Option<(u16, usize, Vec<u8>)>;

/// Starts a server of only TLS 1.3 that compresses its certificate.
fn compressing(compress: Compress) -> Hostile {
    let leaf = leaf(HOST, HOST);
    Hostile::new(move |_, mut stream| {
        if let Some((hello, bytes)) = read_hello_and_bytes(&mut stream) {
            let answer = flight(&hello, &bytes, &leaf, compress).unwrap_or_else(|bytes| bytes);
            // The client may have closed already.
            let _ = stream.write_all(&answer);
            linger(stream);
        }
    })
}

/// Returns the server's whole flight, or its refusal.
fn flight(
    hello: &ClientHello,
    bytes: &[u8],
    leaf: &[u8],
    compress: Compress,
) -> Result<Vec<u8>, Vec<u8>> {
    const HANDSHAKE_FAILURE: u8 = 40;
    const PROTOCOL_VERSION: u8 = 70;
    if !hello.versions().contains(&TlsVersion::Tls13.code()) {
        return Err(alert(PROTOCOL_VERSION));
    }
    if !hello.suites.contains(&SUITE) || !hello.groups().contains(&GROUP) {
        return Err(alert(HANDSHAKE_FAILURE));
    }
    let theirs = share(hello).ok_or_else(|| record(22, &retry_request(SUITE, GROUP)))?;
    let own = PrivateKey::generate(&X25519).unwrap();
    let public = own.compute_public_key().unwrap();
    let theirs = UnparsedPublicKey::new(&X25519, theirs);
    let shared = agree(&own, theirs, (), |secret| Ok(secret.to_vec())).unwrap();
    let share = [&[0, 0x1d, 0, 32], public.as_ref()].concat();
    let server_hello = server_hello(0x0303, SUITE, &[(43, vec![3, 4]), (51, share)]);

    let hash = Hash::of(SUITE);
    let transcript = [handshake(bytes), server_hello.clone()].concat();
    let early = hash.extract(&[], &[]);
    let derived = hash.derive(&early, "derived", &hash.of_bytes(&[]));
    let secret = hash.extract(&derived, &shared);
    let pair = Protection13::pair(SUITE, &secret, "hs", &hash.of_bytes(&transcript));
    let [_, mut protection] = pair.unwrap();
    let messages = [
        message(8, &[0, 0]),
        certificate(hello, leaf, compress),
        // A signature and a proof that no scan checks.
        message(15, &[4, 3, 0, 1, 7]),
        message(20, &[0; 32]),
    ];
    let sealed = protection.seal(22, &messages.concat()).unwrap();
    Ok([record(22, &server_hello), sealed].concat())
}

/// Returns the client's share of the only group.
fn share(hello: &ClientHello) -> Option<&[u8]> {
    let shares = Reader::new(hello.extension(extension::KEY_SHARE)?).vec16()?;
    let mut shares = Reader::new(shares);
    loop {
        let (group, public) = (shares.u16()?, shares.vec16()?);
        if group == GROUP {
            return Some(public);
        }
    }
}

/// Returns the handshake message in records.
fn handshake(bytes: &[u8]) -> Vec<u8> {
    let mut records = Reader::new(bytes);
    let mut message = Vec::new();
    while let (Some(_), Some(payload)) = (records.take(3), records.vec16()) {
        message.extend_from_slice(payload);
    }
    message
}

fn certificate(hello: &ClientHello, leaf: &[u8], compress: Compress) -> Vec<u8> {
    let entry = [&length24(leaf.len())[..], leaf, &[0, 0]].concat();
    let body = [&[0], &length24(entry.len())[..], &entry].concat();
    let offered = hello.extension(extension::COMPRESS_CERTIFICATE);
    let offered = offered.and_then(|offer| Reader::new(Reader::new(offer).vec8()?).u16s());
    match compress(&offered.unwrap_or_default(), &body) {
        None => message(11, &body),
        Some((algorithm, stated, compressed)) => {
            let parts = [
                &algorithm.to_be_bytes()[..],
                &length24(stated),
                &length24(compressed.len()),
                &compressed,
            ];
            message(25, &parts.concat())
        }
    }
}

fn zlib(body: &[u8]) -> Vec<u8> {
    miniz_oxide::deflate::compress_to_vec_zlib(body, 9)
}

/// Returns a stream of brotli with one block that is not compressed (RFC 7932 section 9.2).
fn brotli(body: &[u8]) -> Vec<u8> {
    const UNCOMPRESSED: u32 = 1 << 20;
    const LAST_AND_EMPTY: u8 = 3;
    let length = u32::try_from(body.len() - 1).unwrap();
    let header = (length << 4 | UNCOMPRESSED).to_le_bytes();
    [&header[..3], body, &[LAST_AND_EMPTY]].concat()
}

fn zstd(body: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(body, 19).unwrap()
}

/// A server, with the algorithms and the words of a fault that are due.
struct Case {
    name: &'static str,
    compress: Compress,
    algorithms: &'static [&'static str],
    fault: Option<&'static str>,
}

pub(crate) fn compressed_certificates_are_read() {
    let cases = [
        Case {
            name: "none",
            compress: |_, _| None,
            algorithms: &[],
            fault: None,
        },
        Case {
            name: "one",
            compress: |offered, body| offered.contains(&2).then(|| (2, body.len(), brotli(body))),
            algorithms: &["brotli"],
            fault: None,
        },
        Case {
            name: "all, in its own order",
            compress: |offered, body| {
                let mut own = [3, 1, 2].into_iter();
                let algorithm = own.find(|code| offered.contains(code))?;
                let compressed = [zlib, brotli, zstd][usize::from(algorithm) - 1](body);
                Some((algorithm, body.len(), compressed))
            },
            algorithms: &["zstd", "zlib", "brotli"],
            fault: None,
        },
        Case {
            name: "a bomb",
            compress: |offered, _| {
                offered
                    .contains(&1)
                    .then(|| (1, 1_000, zlib(&vec![0; 1 << 20])))
            },
            algorithms: &["zlib"],
            fault: Some("more than the stated 1000 bytes"),
        },
        Case {
            name: "a wrong length",
            compress: |offered, body| {
                offered
                    .contains(&3)
                    .then(|| (3, body.len() + 1, zstd(body)))
            },
            algorithms: &["zstd"],
            fault: Some("instead of the stated"),
        },
        Case {
            name: "a large length",
            compress: |offered, body| offered.contains(&1).then(|| (1, 0xff_ffff, zlib(body))),
            algorithms: &["zlib"],
            fault: Some("a stated length of 16777215 bytes"),
        },
        Case {
            name: "another algorithm",
            compress: |offered, body| (!offered.is_empty()).then(|| (9, body.len(), body.to_vec())),
            algorithms: &["algorithm 9"],
            fault: Some("the algorithm is not known"),
        },
        Case {
            name: "random bytes",
            compress: |offered, body| {
                offered
                    .contains(&2)
                    .then(|| (2, body.len(), vec![0x11; 99]))
            },
            algorithms: &["brotli"],
            fault: Some("cannot be decompressed"),
        },
    ];
    for case in cases {
        let server = compressing(case.compress);
        let found = scan_within(server.address, limits());
        let name = format!("{}: {}", case.name, shown(&found));
        assert_eq!(found.outcome, ScanOutcome::Scanned, "{name}");
        // The certificate is the same, whether it was compressed or not.
        assert_eq!(found.chains.len(), 1, "{name}");
        let compression = found.features.certificate_compression.as_ref();
        let compression = compression.unwrap_or_else(|| panic!("not known: {name}"));
        let names: Vec<&str> = compression.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, case.algorithms, "{name}");
        for scan in compression {
            let fault = scan.fault.as_deref();
            match case.fault {
                None => assert_eq!(fault, None, "{name}"),
                Some(words) => assert!(fault.unwrap().contains(words), "{name}"),
            }
        }
        let notes = found.notes.join("\n");
        let is_named = case.fault.is_none_or(|words| notes.contains(words));
        assert!(is_named, "{name}");
        assert_eq!(
            notes.contains("was not offered"),
            case.algorithms == ["algorithm 9"],
            "{name}"
        );
    }
}

/// A server of only TLS 1.3 chooses between its certificates by the signature scheme.
pub(crate) fn both_certificates_of_a_server_are_seen() {
    let (rsa, ecdsa) = (Files::new(Key::Rsa), Files::new(Key::EcdsaP256));
    let (second, key) = (ecdsa.path("leaf.pem"), ecdsa.path("key.pem"));
    for version in ["-tls1_3", "-tls1_2"] {
        let server = s_server(&rsa, &[version, "-dcert", &second, "-dkey", &key]);
        let found = scan(server.address, &[ScanPart::Signatures]);
        let mut keys = leaf_keys(&found);
        keys.sort_unstable();
        assert_eq!(keys, ["ec", "rsa"], "{version}: {}", shown(&found));
    }
}

fn leaf_keys(found: &SiteScan) -> Vec<&str> {
    let leaves = found
        .chains
        .iter()
        .filter_map(|chain| chain.certificates.first());
    leaves.map(|leaf| leaf.key.as_str()).collect()
}
