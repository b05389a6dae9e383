//! Tests of the codec's contract, for any bytes: it never panics, never reads beyond the end, and reads its own
//! output. The corpus of the fuzz targets runs through the same functions.

#![expect(
    clippy::unwrap_used,
    reason = "a test ends with what is not as it should be"
)]

use netbench_model::tls::CipherSuite;
use netbench_scan::{
    codec::{
        ClientHello, FlightReader, HelloSpec, KeyShare, Reader, ServerHello, ServerKeyExchange,
        Step, extension,
    },
    parsers,
};
use proptest::{collection::vec, option, prelude::*};

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn hello() -> impl Strategy<Value = HelloSpec> {
    let codes = vec(any::<u16>(), 1..60);
    let share = (any::<u16>(), vec(any::<u8>(), 1..40))
        .prop_map(|(group, public)| KeyShare { group, public });
    let more = (0x2000..0x3000u16, vec(any::<u8>(), 0..40));
    (
        (
            any::<u16>(),
            any::<[u8; 32]>(),
            vec(any::<u8>(), 0..=32),
            codes.clone(),
        ),
        (
            option::of("[a-z]{1,20}\\.test"),
            option::of(vec(any::<u16>(), 1..9)),
            option::of(codes.clone()),
            option::of(codes),
            option::of(vec(share, 0..4)),
        ),
        (
            option::of(vec(vec(any::<u8>(), 1..20), 1..4)),
            option::of(vec(any::<u8>(), 0..300)),
            vec(more, 0..4),
            0..3000usize,
        ),
    )
        .prop_map(|(head, lists, rest)| HelloSpec {
            legacy_version: head.0,
            record_version: 0x0301,
            random: head.1,
            session_id: head.2,
            suites: head.3,
            compression: vec![0],
            extensions: true,
            server_name: lists.0,
            versions: lists.1,
            groups: lists.2,
            signatures: lists.3,
            shares: lists.4,
            alpn: rest.0,
            ticket: rest.1,
            more: rest.2,
            pad_to: rest.3,
            last: None,
        })
}

/// Returns bytes that look like records, so that more than the first header is read.
fn nearly_records() -> impl Strategy<Value = Vec<u8>> {
    let message = (0u8..25, vec(any::<u8>(), 0..200)).prop_map(|(kind, body)| {
        let length = u32::try_from(body.len()).unwrap().to_be_bytes();
        [&[kind, length[1], length[2], length[3]], body.as_slice()].concat()
    });
    let record = (20u8..25, vec(message, 0..4)).prop_map(|(content, messages)| {
        let payload = messages.concat();
        let length = u16::try_from(payload.len()).unwrap().to_be_bytes();
        [&[content, 3, 3, length[0], length[1]], payload.as_slice()].concat()
    });
    (
        vec(record, 0..6),
        vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    )
        .prop_map(|(records, changes)| {
            let mut bytes = records.concat();
            for (at, byte) in changes {
                if !bytes.is_empty() {
                    let at = at.index(bytes.len());
                    bytes[at] = byte;
                }
            }
            bytes
        })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_hello_is_read_as_it_was_written(spec in hello(), most in 1..2000usize) {
        let bytes = spec.records(most);
        let read = ClientHello::of_records(&bytes).unwrap().unwrap();
        prop_assert_eq!(read.wire_bytes, bytes.len());
        prop_assert_eq!(read.message_bytes, spec.message().len());
        prop_assert!(read.message_bytes >= spec.pad_to.min(3000));
        prop_assert_eq!(read.legacy_version, spec.legacy_version);
        prop_assert_eq!(read.random, spec.random);
        prop_assert_eq!(&read.session_id, &spec.session_id);
        prop_assert_eq!(&read.suites, &spec.suites);
        prop_assert_eq!(read.versions(), spec.versions.clone().unwrap_or(vec![spec.legacy_version]));
        prop_assert_eq!(read.groups(), spec.groups.clone().unwrap_or_default());
        prop_assert_eq!(read.signatures(), spec.signatures.clone().unwrap_or_default());
        prop_assert_eq!(read.alpn(), spec.alpn.clone().unwrap_or_default());
        let shares: Vec<_> = spec.shares.iter().flatten().map(|s| (s.group, s.public.as_slice())).collect();
        prop_assert_eq!(read.shares(), shares);
        prop_assert_eq!(read.extension(extension::SESSION_TICKET), spec.ticket.as_deref());
        for (code, _) in &spec.more {
            let first = spec.more.iter().find(|(other, _)| other == code).unwrap();
            prop_assert_eq!(read.extension(*code), Some(first.1.as_slice()));
        }
        // A part of the message is no hello yet, regardless of its end.
        for cut in [1, 5, 6, bytes.len() / 2, bytes.len() - 1] {
            prop_assert_eq!(ClientHello::of_records(&bytes[..cut]), Ok(None));
        }
    }

    #[test]
    fn any_bytes_are_read_without_harm(bytes in vec(any::<u8>(), 0..600)) {
        for (_, parser) in parsers::ALL {
            parser(&bytes);
        }
    }

    #[test]
    fn bytes_like_records_are_read_without_harm(bytes in nearly_records()) {
        for (_, parser) in parsers::ALL {
            parser(&bytes);
        }
    }

    #[test]
    fn a_reader_takes_what_is_there(bytes in vec(any::<u8>(), 0..100), steps in vec(0..8u8, 0..30)) {
        let mut reader = Reader::new(&bytes);
        let mut left = bytes.len();
        for step in steps {
            let taken = match step {
                0 => reader.u8().map(|_| 1),
                1 => reader.u16().map(|_| 2),
                2 => reader.u24().map(|_| 3),
                3 => reader.u32().map(|_| 4),
                4 => reader.take(9).map(<[u8]>::len),
                5 => reader.vec8().map(|taken| 1 + taken.len()),
                6 => reader.vec16().map(|taken| 2 + taken.len()),
                _ => reader.vec24().map(|taken| 3 + taken.len()),
            };
            let Some(taken) = taken else { break };
            prop_assert!(taken <= left);
            left -= taken;
        }
        prop_assert!(reader.rest().len() <= left);
        prop_assert!(reader.is_empty());
    }

    #[test]
    fn a_server_hello_is_read_as_it_was_written(
        random in any::<[u8; 32]>(),
        session_id in vec(any::<u8>(), 0..=32),
        code in any::<u16>(),
        share in vec(any::<u8>(), 0..100),
        name in vec(any::<u8>(), 1..20),
    ) {
        let mut body = vec![3, 3];
        body.extend(random);
        body.push(u8::try_from(session_id.len()).unwrap());
        body.extend(&session_id);
        body.extend(code.to_be_bytes());
        body.push(0);
        let mut extensions = vec![0, 43, 0, 2, 3, 4, 0, 51];
        extensions.extend(sized(&[&[0, 0x1d], sized(&share).as_slice()].concat()));
        extensions.extend([0, 16]);
        let one = [&[u8::try_from(name.len()).unwrap()], name.as_slice()].concat();
        extensions.extend(sized(&sized(&one)));
        body.extend(sized(&extensions));
        let read = ServerHello::parse(&body).unwrap();
        prop_assert_eq!(read.version, 0x0304);
        prop_assert_eq!(read.random, random);
        prop_assert_eq!(read.suite, code);
        prop_assert_eq!(read.group(), Some(0x1d));
        prop_assert_eq!(read.share(), Some((0x1d, share.as_slice())));
        prop_assert_eq!(read.alpn(), Some(name));
        prop_assert_eq!(read.session_id, session_id);
        // With a byte more or less it is invalid.
        prop_assert_eq!(ServerHello::parse(&body[..body.len() - 1]), None);
        body.push(0);
        prop_assert_eq!(ServerHello::parse(&body), None);
    }
}

/// Returns the bytes after their length.
fn sized(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap();
    [&length.to_be_bytes(), bytes].concat()
}

#[test]
fn key_exchanges_are_read_by_their_suite() {
    let curve = [&[3, 0, 0x1d, 2, 7, 8, 8, 4], &[0, 1, 9][..]].concat();
    let field = [0, 2, 0x80, 1, 0, 1, 2, 0, 1, 5, 4, 1, 0, 1, 9];
    // A suite and a version; then the parsed curve, the prime's bits, and the scheme.
    type Read = (Option<u16>, Option<u32>, Option<u16>);
    let cases: [(u16, u16, &[u8], Read); 5] = [
        (0xc02f, 0x0303, &curve, (Some(0x1d), None, Some(0x0804))),
        (0xc013, 0x0302, &curve, (Some(0x1d), None, None)),
        (0x009e, 0x0303, &field, (None, Some(16), Some(0x0401))),
        (0x0033, 0x0301, &field, (None, Some(16), None)),
        // An anonymous exchange is not signed.
        (0xc018, 0x0303, &curve, (Some(0x1d), None, None)),
    ];
    for (code, version, body, due) in cases {
        let suite = CipherSuite(code).facts().unwrap();
        let read = ServerKeyExchange::parse(body, suite, version).unwrap();
        let bits = read.prime.map(|prime| prime.bits);
        assert_eq!((read.group, bits, read.signature), due, "{code:#06x}");
        assert_eq!(ServerKeyExchange::parse(&body[..4], suite, version), None);
    }
}

/// Every file of the corpus is passed to the function that its fuzz target calls; real flights and hellos in the
/// corpus must be read to their end.
#[test]
fn the_corpus_is_read_without_harm() {
    netbench_testing::read_corpora(
        env!("CARGO_MANIFEST_DIR"),
        &parsers::ALL,
        |name, file, bytes| {
            if name == "flight" && file.starts_with("done-") {
                let end = FlightReader::default().push(bytes);
                assert_eq!(end, Ok(Step::Done), "{file}");
            }
            if name == "client_hello" {
                let hello = ClientHello::of_records(bytes).unwrap().unwrap();
                assert!(hello.suites.len() > 2, "{file}");
            }
        },
    );
}
