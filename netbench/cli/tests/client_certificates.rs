//! Sites that require a client certificate: emulated servers ask for it, and clients send one of the size that the site says.

use netbench_model::{Condition, Outcome, Sample};

use crate::support::{Place, measured};

/// The bytes of the client's certificates, and the sites that require them.
const SITES: [(u64, &str); 6] = [
    (0, "plain.example"),
    (1_000, "a.example client-cert=ecdsa-p256"),
    (
        12_000,
        "b.example client-cert=ecdsa-p256/12000 server=rustls-aws-lc",
    ),
    (2_000, "c.example client-cert=rsa-2048/2000 tls=1.2"),
    (9_000, "d.example client-cert=mldsa-65"),
    (
        30_000,
        "e.example client-cert=mldsa-44/30000 server=rustls-aws-lc",
    ),
];

fn samples(place: &Place, line: &str) -> Vec<Sample> {
    let line =
        format!("connect --sites sites.txt --rounds 1 --link none --client-profile default {line}");
    place.succeeds(&line);
    measured(&place.run())
}

#[test]
fn servers_ask_and_clients_send_the_bytes_that_the_site_says() {
    let place = Place::with_sites(&(SITES.map(|(_, line)| line).join("\n") + "\n"));
    let samples = samples(&place, "--condition clean,resumed");
    assert_eq!(samples.len(), 2 * 2 * SITES.len());
    for (bytes, line) in SITES {
        let name = line.split(' ').next().unwrap();
        for sample in samples.iter().filter(|sample| sample.site == name) {
            let Outcome::Ok(figures) = &sample.outcome else {
                panic!("{sample:?}");
            };
            let sent = figures.transfer.handshake_bytes_out;
            // A resumed client sends a ticket, in which the server may have stored the certificates.
            let due = match sample.condition {
                Condition::Resumed => 0,
                _ => bytes,
            };
            // Beside the certificates are the hello, a signature of at most 3,309 bytes, and Finished.
            let most = match bytes {
                0 => 2_500,
                _ => bytes + 8_000,
            };
            assert!((due..most).contains(&sent), "{sent}: {sample:?}");
        }
    }
}

#[test]
fn a_stack_without_the_signature_of_its_certificate_is_not_tried() {
    let place = Place::with_sites("a.example client-cert=mldsa-65 key=ecdsa-p256\nplain.example\n");
    for sample in samples(&place, "--stack openssl,rustls-ring") {
        match (sample.stack.as_str(), &sample.outcome) {
            (_, outcome) if sample.site == "plain.example" => {
                assert!(outcome.ok().is_some(), "{sample:?}");
            }
            ("openssl", outcome) => assert!(outcome.ok().is_some(), "{sample:?}"),
            (_, Outcome::Unsupported { reason }) => {
                assert!(reason.contains("mldsa"), "{reason}");
            }
            _ => panic!("{sample:?}"),
        }
    }
}
