//! Servers that never end, choose values that were not offered, or send bytes that must not reach a terminal: a
//! scan of them has bounds, and reports its findings.

use std::{io::Write, thread, time::Duration};

use netbench_model::{
    scan::{FailedClass, ScanOutcome},
    tls::TlsVersion,
};
use netbench_scan::Limits;

use crate::{
    hostile::{leaf, limits, linger, says, scan_within},
    replies::{
        Hostile, SUITES, alert, answer, certificate, key_exchange, length24, message, read_hello,
        record, server_hello,
    },
    support::{HOST, in_order, shown},
};

pub(crate) fn endless_answers_are_cut_and_said() {
    // The bytes that the server sends repeatedly after its ServerHello.
    let cases: [(&str, Vec<u8>, &str); 4] = [
        (
            "a certificate of 10 MB",
            [
                &[22, 3, 3, 64, 0, 11],
                &length24(10_000_000)[..],
                &[0; 16_380],
            ]
            .concat(),
            "a handshake message of 10000000 bytes",
        ),
        (
            "certificates without end",
            record(22, &certificate(&[vec![0x30; 9000]])),
            "more than 512 KiB",
        ),
        (
            "unknown messages",
            record(22, &message(99, &[0; 1000])),
            "more than 512 KiB",
        ),
        ("warnings", record(21, &[1, 100]), "more than 512 KiB"),
    ];
    for (name, over_and_over, due) in cases {
        let server = Hostile::new(move |_, mut stream| {
            let Some(hello) = read_hello(&mut stream) else {
                return;
            };
            let Ok(messages) = answer(&hello, &[]) else {
                let _ = stream.write_all(&alert(40));
                return linger(stream);
            };
            let _ = stream.write_all(&record(22, &messages[0]));
            for _ in 0..2_000_000 / over_and_over.len() {
                if stream.write_all(&over_and_over).is_err() {
                    return;
                }
            }
            linger(stream);
        });
        let found = scan_within(server.address, limits());
        assert_eq!(
            in_order(&found, TlsVersion::Tls12),
            SUITES,
            "{name}: {}",
            shown(&found)
        );
        let said = found.notes.iter().any(|note| note.contains(due));
        assert!(said, "{name}: {:?}", found.notes);
        let most = u64::from(found.effort.connections) * 600_000;
        assert!(found.effort.bytes_in < most, "{name}: {}", shown(&found));
    }
}

pub(crate) fn servers_that_change_their_mind_are_left_in_the_end() {
    let chains: Vec<Vec<u8>> = (0..12).map(|n| leaf(&format!("{n}.test"), HOST)).collect();
    // Another version, suite and chain each time; sometimes no response.
    let server = Hostile::new(move |number, mut stream| {
        let Some(hello) = read_hello(&mut stream) else {
            return;
        };
        let n = number as usize;
        let version = [0x0303, 0x0301, 0x0302, 0x0300][n % 4];
        let suite = hello.suites[n * 7 % hello.suites.len()];
        let mut bytes = record(22, &server_hello(version, suite, &[]));
        bytes.extend(record(
            22,
            &certificate(&[chains[n % chains.len()].clone()]),
        ));
        bytes.extend(record(22, &message(14, &[])));
        if number % 5 == 4 {
            bytes = alert(40);
        }
        let _ = stream.write_all(&bytes);
        linger(stream);
    });
    let found = scan_within(server.address, limits());
    assert!(found.is_scanned(), "{}", shown(&found));
    assert!(found.effort.connections < 700, "{}", shown(&found));
    assert!(
        found.chains.len() > 2 && found.chains.len() <= 8,
        "{}",
        shown(&found)
    );
    assert!(
        found
            .notes
            .iter()
            .any(|note| note.contains("different chains")),
        "{:?}",
        found.notes
    );
}

pub(crate) fn choices_that_were_not_offered_end_the_enumeration() {
    type Answer = fn() -> Vec<u8>;
    let cases: [(&str, Answer, &str); 4] = [
        (
            "a suite that was not offered",
            || record(22, &server_hello(0x0303, 0x0a0a, &[])),
            "chose a suite that was not offered",
        ),
        (
            "TLS 1.3 without a group",
            || record(22, &server_hello(0x0303, 0x1301, &[(43, vec![3, 4])])),
            "chose no group",
        ),
        (
            "TLS 1.3 with a group that there is not",
            || {
                record(
                    22,
                    &server_hello(0x0303, 0x1301, &[(43, vec![3, 4]), (51, vec![0xaa, 0xaa])]),
                )
            },
            "chose what was not offered",
        ),
        (
            "a version that there is not",
            || record(22, &server_hello(0x0399, 0x002f, &[])),
            "chose a version that was not offered",
        ),
    ];
    for (name, bytes, due) in cases {
        let server = says(bytes());
        let found = scan_within(server.address, limits());
        let said = found.notes.iter().any(|note| note.contains(due));
        assert!(said, "{name}: {}", shown(&found));
        assert!(found.effort.connections < 100, "{name}: {}", shown(&found));
        let malformed = FailedClass::Malformed;
        let failed =
            matches!(&found.outcome, ScanOutcome::Failed { class, .. } if *class == malformed);
        assert!(failed, "{name}: {}", shown(&found));
        assert!(found.versions.iter().all(|v| !v.supported), "{name}");
    }

    // A new signature scheme each time, and always a wrong one.
    let server = Hostile::new(|number, mut stream| {
        let Some(hello) = read_hello(&mut stream) else {
            return;
        };
        let Ok(mut messages) = answer(&hello, &[]) else {
            let _ = stream.write_all(&alert(40));
            return linger(stream);
        };
        if messages.len() == 4 {
            messages[2] = key_exchange(u16::try_from(number % 60_000).unwrap());
        }
        let _ = stream.write_all(&record(22, &messages.concat()));
        linger(stream);
    });
    let found = scan_within(server.address, limits());
    assert!(found.signatures.len() <= 64, "{}", shown(&found));
    assert!(found.effort.connections < 300, "{}", shown(&found));
}

pub(crate) fn nothing_of_a_server_reaches_a_result_unescaped() {
    const EVIL: &str = "\u{1b}[31mred\u{202e}txt.exe\u{7}\r\n\u{9b}2J";
    let chain = vec![leaf(EVIL, "\u{1b}]0;title\u{7}.test")];
    let server = Hostile::new(move |_, mut stream| {
        let Some(hello) = read_hello(&mut stream) else {
            return;
        };
        let bytes = match answer(&hello, &chain) {
            Ok(mut messages) => {
                let name = b"\x1b[2Jh2";
                let mut alpn = vec![0, 7, 6];
                alpn.extend(&name[..6]);
                let suite = u16::from_be_bytes([messages[0][39], messages[0][40]]);
                messages[0] = server_hello(0x0303, suite, &[(16, alpn)]);
                record(22, &messages.concat())
            }
            Err(description) => alert(description),
        };
        let _ = stream.write_all(&bytes);
        linger(stream);
    });
    let found = scan_within(server.address, limits());
    let leaf = &found.chains[0].certificates[0];
    assert!(leaf.subject.contains("red"), "{}", shown(&found));
    assert_eq!(found.features.alpn.len(), 1, "{}", shown(&found));
    clean(&serde_json::to_value(&found).unwrap());
}

fn clean(value: &serde_json::Value) {
    use serde_json::Value as V;
    match value {
        V::String(text) => {
            for c in text.chars() {
                let is_bad = c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c);
                assert!(!is_bad, "{text:?}");
            }
        }
        V::Array(all) => all.iter().for_each(clean),
        V::Object(all) => all.values().for_each(clean),
        _ => {}
    }
}

pub(crate) fn what_was_found_is_kept_when_the_time_is_up() {
    let server = Hostile::new(|_, mut stream| {
        let Some(hello) = read_hello(&mut stream) else {
            return;
        };
        // A whole scan needs some forty of these.
        thread::sleep(Duration::from_millis(400));
        let bytes = match answer(&hello, &[]) {
            Ok(messages) => record(22, &messages.concat()),
            Err(description) => alert(description),
        };
        let _ = stream.write_all(&bytes);
        linger(stream);
    });
    let brief = Limits {
        site_timeout: Duration::from_secs(4),
        ..limits()
    };
    let found = scan_within(server.address, brief);
    let due = ScanOutcome::Partial {
        why: "not done within 4 s".to_owned(),
    };
    assert_eq!(found.outcome, due, "{}", shown(&found));
    let suites = in_order(&found, TlsVersion::Tls12);
    assert!(!suites.is_empty(), "{}", shown(&found));
    assert!(suites.iter().all(|code| SUITES.contains(code)));
}
