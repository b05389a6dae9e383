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
        CertificateRequest, ClientHello, FlightReader, Records, ServerHello, ServerKeyExchange,
        StartTlsDialogue, StartTlsStep, Step, compression::CompressedCertificate, ech_configs,
        https_answer, messages,
    },
    session::{ResponseHead, parse_message13},
    x509::{self, TrustAnchors},
};

/// The name of a parser, of its fuzz target and of its corpus folder, with its function.
pub type Parser = (&'static str, fn(&[u8]));

/// All of them.
pub const ALL: [Parser; 11] = [
    ("flight", flight),
    ("records", records),
    ("client_hello", client_hello),
    ("messages", all_messages),
    ("encrypted13", encrypted13),
    ("certificates", certificates),
    ("compressed", compressed),
    ("ech_configs", ech_list),
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
    let mut reader = crate::codec::Reader::new(bytes);
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

/// Parses a list of configurations of Encrypted ClientHello.
pub fn ech_list(bytes: &[u8]) {
    let configs = ech_configs(bytes).unwrap_or_default();
    let contents = configs.iter().filter_map(|config| config.contents.as_ref());
    let lengths = contents.map(|it| 4 * it.suites.len() + it.public_name.len());
    assert!(4 * configs.len() + lengths.sum::<usize>() <= bytes.len());
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
