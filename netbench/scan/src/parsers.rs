//! Every parser of a peer's bytes, each as one function: the fuzz targets in `fuzz/` call them, and the tests that
//! run their corpus.
//!
//! A function panics if the parser breaks its contract, and returns no value.

use netbench_model::{
    StartTls,
    tls::{CipherSuite, TlsVersion},
};

use crate::{
    codec::{
        CertificateRequest, ClientHello, EchConfig, EchContents, FlightReader, Reader, Records,
        ServerHello, ServerKeyExchange, StartTlsDialogue, StartTlsStep, Step,
        compression::CompressedCertificate, dns, ech_configs, extension::ENCRYPTED_CLIENT_HELLO,
        https_answer, messages, put_extension, put_u16, put_vec8, put_vec16, vec16,
    },
    session::{ResponseHead, parse_message13},
    x509::{self, TrustAnchors},
};

/// The name of a parser, of its fuzz target and of its corpus folder, with its function.
pub type Parser = (&'static str, fn(&[u8]));

/// All of them.
pub const ALL: [Parser; 12] = [
    ("flight", flight),
    ("records", records),
    ("client_hello", client_hello),
    ("messages", all_messages),
    ("encrypted13", encrypted13),
    ("certificates", certificates),
    ("compressed", compressed),
    ("ech_configs", ech_list),
    ("ech_written", ech_written),
    ("https_record", https_record),
    ("response", response),
    ("start_tls", start_tls),
];

/// Parses a server's first flight, and the same bytes as the flight after a HelloRetryRequest: at once, and in pieces, which
/// must give the same result.
pub fn flight(bytes: &[u8]) {
    let readers: [fn() -> FlightReader; 2] = [FlightReader::default, || {
        FlightReader::after_retry(Records::default())
    }];
    for reader in readers {
        let whole = read(reader(), bytes.chunks(bytes.len().max(1)));
        for size in [1, 7, 100] {
            let parts = read(reader(), bytes.chunks(size));
            assert_eq!(whole, parts, "in pieces of {size} bytes");
        }
    }
}

/// Returns how a flight ended (done, incomplete, an alert, an error) and its contents.
fn read<'a>(
    mut reader: FlightReader,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> (String, Option<crate::codec::Flight>) {
    for piece in pieces {
        match reader.push(piece) {
            Ok(Step::More) => {}
            end => return (format!("{end:?}"), reader.flight().cloned()),
        }
    }
    ("more".to_owned(), reader.flight().cloned())
}

/// Parses records, which must never carry more bytes than arrived.
pub fn records(bytes: &[u8]) {
    let mut reader = Records::default();
    reader.push(bytes);
    let mut carried = 0;
    while let Ok(Some(record)) = reader.next_record() {
        carried += 5 + record.payload.len();
        assert_eq!(carried + reader.waiting(), bytes.len());
    }
}

/// A server's side of a dialogue in plain text, of each protocol: it ends, or waits for more than has arrived.
pub fn start_tls(bytes: &[u8]) {
    for protocol in StartTls::ALL {
        let (mut dialogue, _) = StartTlsDialogue::new(*protocol, "fuzz.test");
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            match dialogue.push(line) {
                StartTlsStep::Wait | StartTlsStep::Send(_) => {}
                StartTlsStep::Handshake => break,
                StartTlsStep::Leave(why) => {
                    assert!(why.len() <= 2_000);
                    break;
                }
            }
        }
    }
}

/// A client's hello, of records.
pub fn client_hello(bytes: &[u8]) {
    let Ok(Some(hello)) = ClientHello::of_records(bytes) else {
        return;
    };
    assert!(hello.wire_bytes <= bytes.len() && hello.message_bytes <= hello.wire_bytes);
    let said = [
        hello.versions().len(),
        hello.groups().len(),
        hello.signatures().len(),
        hello.shares().len(),
        hello.alpn().len(),
        hello.suites.len(),
    ];
    assert!(said.iter().all(|count| *count <= bytes.len()));
}

/// Parses the bodies of a server's messages before TLS 1.3: the first byte selects the message.
pub fn all_messages(bytes: &[u8]) {
    let Some((which, body)) = bytes.split_first() else {
        return;
    };
    match which % 6 {
        0 => {
            if let Some(hello) = ServerHello::parse(body) {
                let _ = (hello.group(), hello.share(), hello.alpn());
            }
        }
        1 => {
            let all = messages::certificates(body).unwrap_or_default();
            assert!(all.iter().map(Vec::len).sum::<usize>() <= body.len());
        }
        2 => {
            let all = messages::certificate_entries(body).unwrap_or_default();
            assert!(all.iter().map(|(der, _)| der.len()).sum::<usize>() <= body.len());
        }
        3 => {
            for suite in CipherSuite::registered().filter_map(CipherSuite::facts) {
                for version in TlsVersion::ALL {
                    ServerKeyExchange::parse(body, suite, version.code());
                }
            }
        }
        4 => {
            let asked = CertificateRequest::parse12(body).unwrap_or_default();
            assert!(2 * asked.schemes.len() <= body.len());
        }
        _ => {
            let asked = CertificateRequest::parse13(body).unwrap_or_default();
            assert!(asked.context.len() + 2 * asked.schemes.len() <= body.len());
        }
    }
}

/// Parses messages of TLS 1.3 as they are inside the encryption, in sequence.
pub fn encrypted13(bytes: &[u8]) {
    parse_message13(bytes);
}

/// Parses a chain of certificates: each is DER after its length in two bytes.
pub fn certificates(bytes: &[u8]) {
    let mut reader = Reader::new(bytes);
    let mut ders = Vec::new();
    while let Some(der) = reader.vec16() {
        if ders.len() == 4 {
            break;
        }
        ders.push(der.to_vec());
    }
    let roots = TrustAnchors::of_pem(&String::from_utf8_lossy(reader.rest()));
    let chain = x509::chain(&ders, TlsVersion::Tls12, "scan.test", &roots, 0);
    for certificate in &chain.certificates {
        let names = certificate.names.iter();
        for text in names.chain([&certificate.subject, &certificate.issuer]) {
            assert!(!text.chars().any(char::is_control), "{text:?}");
        }
    }
    for der in &ders {
        x509::rsa_public_key(der);
    }
}

/// Parses the body of a compressed Certificate message. The result has the stated length.
pub fn compressed(bytes: &[u8]) {
    let Some(message) = CompressedCertificate::parse(bytes) else {
        return;
    };
    if let Ok(body) = message.decompress() {
        assert_eq!(u32::try_from(body.len()), Ok(message.length));
        let _ = messages::certificate_entries(&body);
    }
}

/// Parses a list of configurations of Encrypted ClientHello. A configuration of an unknown version before the others is
/// skipped, and a list that ends early has fewer configurations or is none.
pub fn ech_list(bytes: &[u8]) {
    let configs = ech_configs(bytes).unwrap_or_default();
    let contents = configs.iter().filter_map(|config| config.contents.as_ref());
    let lengths = contents.map(|it| 4 * it.suites.len() + it.public_name.len());
    assert!(4 * configs.len() + lengths.sum::<usize>() <= bytes.len());
    if configs.is_empty() || bytes.len() > 1_000 {
        return;
    }
    let unknown = EchConfig {
        version: 0x7a7a,
        contents: None,
    };
    let longer = [&[0x7a, 0x7a, 0, 1, 0xff], &bytes[2..]].concat();
    let found = ech_configs(&vec16(&longer)).unwrap_or_default();
    assert_eq!(found.first(), Some(&unknown));
    assert!(configs.starts_with(&found[1..]) && configs.len() <= found.len());
    for end in 2..bytes.len() {
        let found = ech_configs(&vec16(&bytes[2..end])).unwrap_or_default();
        assert!(configs.starts_with(&found), "{end} bytes");
    }
}

/// Writes configurations that the bytes describe, in a list in an HTTPS record: the same are read.
pub fn ech_written(bytes: &[u8]) {
    let mut reader = Reader::new(bytes);
    let (mut configs, mut written) = (Vec::new(), Vec::new());
    while let Some(config) = described(&mut reader, &mut written) {
        configs.push(config);
        if configs.len() == 32 {
            break;
        }
    }
    let list = vec16(&written);
    // A longer list has no place in a record, nor in a message of the DNS.
    if configs.is_empty() || list.len() > 60_000 {
        return;
    }
    assert_eq!(ech_configs(&list), Some(configs));
    // The priority, the record's name as the target, and the parameter.
    let mut record = vec![0, 1, 0];
    put_extension(&mut record, dns::ECH, &list);
    let mut message = vec![0, 7, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 0];
    message.extend([0, 0, 65, 0, 1, 0, 0, 0, 60]);
    put_vec16(&mut message, &record);
    let answer = https_answer(&message).expect("an answer");
    let found: Vec<_> = answer.records.iter().map(|it| it.ech.as_ref()).collect();
    assert_eq!(found, [Some(&list)]);
}

/// Returns a configuration that bytes describe, and writes it. The first byte selects an unknown version or that of the RFC.
fn described(from: &mut Reader<'_>, to: &mut Vec<u8>) -> Option<EchConfig> {
    let is_unknown = from.u8()? & 1 == 1;
    if is_unknown {
        let (version, body) = (from.u16()?, from.vec16()?);
        let version = version ^ u16::from(version == ENCRYPTED_CLIENT_HELLO);
        put_extension(to, version, body);
        let contents = None;
        return Some(EchConfig { version, contents });
    }
    let (id, kem, key) = (from.u8()?, from.u16()?, from.vec8()?);
    let (pairs, _) = from.vec8()?.as_chunks::<4>();
    let suites = pairs
        .iter()
        .map(|[a, b, c, d]| (u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])));
    let contents = EchContents {
        id,
        kem,
        suites: suites.collect(),
        maximum_name_length: from.u8()?,
        public_name: from.vec8()?.to_vec(),
    };
    let mut body = vec![id];
    put_u16(&mut body, kem);
    put_vec16(&mut body, key);
    put_vec16(&mut body, pairs.as_flattened());
    body.push(contents.maximum_name_length);
    put_vec8(&mut body, &contents.public_name);
    put_vec16(&mut body, from.vec8()?);
    put_extension(to, ENCRYPTED_CLIENT_HELLO, &body);
    Some(EchConfig {
        version: ENCRYPTED_CLIENT_HELLO,
        contents: Some(contents),
    })
}

/// Parses a DNS server's answer with HTTPS records.
pub fn https_record(bytes: &[u8]) {
    let records = https_answer(bytes).map(|answer| answer.records);
    let records = records.unwrap_or_default();
    let lengths = records.iter().map(|it| {
        it.ech.as_ref().map_or(0, Vec::len) + it.alpn.iter().map(Vec::len).sum::<usize>()
    });
    assert!(lengths.sum::<usize>() <= bytes.len());
}

/// Parses the head of an HTTP response.
pub fn response(bytes: &[u8]) {
    if let Some(head) = ResponseHead::parse(bytes) {
        for text in [head.strict_transport_security, head.alt_svc]
            .into_iter()
            .flatten()
        {
            assert!(!text.chars().any(char::is_control), "{text:?}");
        }
    }
}
