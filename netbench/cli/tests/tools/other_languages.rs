//! A worker in another language than Rust, together with one in Rust.

use netbench_model::{Outcome, SuiteOutcome, SuiteSample};

use crate::support::{Place, figures, measured, samples_of, with_each};

netbench_testing::module_tests! {
    go_and_rust_connect_to_each_other: Go;
    go_does_the_suite_beside_rust: Go;
    a_worker_in_python_is_believed_where_packets_agree: Python, UserNamespaces;
    a_worker_that_is_a_client_alone_passes_its_checks: Python;
}

const SITES: &str = "\
rust.example  server=rustls-ring  key=ecdsa-p256
go.example    server=go           key=rsa-2048
old.example   server=go           key=rsa-2048 tls=1.2 alpn=http/1.1
";

fn go_and_rust_connect_to_each_other() {
    let place = Place::with_sites(SITES);
    let line = "--stack rustls-ring,go --condition clean,resumed,cold --rounds 2 --link none";
    place.connect(line);
    let samples = measured(&place.run());
    assert_eq!(samples.len(), 3 * 2 * 3 * 2);
    for sample in &samples {
        let figures = figures(sample);
        assert!(
            figures.phases.cpu_ns > 0 && figures.transfer.tcp.is_some(),
            "{sample:?}"
        );
    }
}

fn go_does_the_suite_beside_rust() {
    let place = Place::new();
    let cases = [
        "handshake-full_1.3_ECDHE_RSA_AES256-GCM_SHA384",
        "handshake-ticket_1.2_ECDHE_ECDSA_CHACHA20-POLY1305_SHA256",
        "bulk_1.3_ECDHE_ECDSA_AES128-GCM_SHA256",
        "verify_ecdsa-p256_chain-2_roots-10",
        "memory-100_1.3_ECDHE_ECDSA_AES128-GCM_SHA256",
    ];
    let line = "suite --stack rustls-ring,go --rounds 1 --trial 30ms";
    place.succeeds(&with_each(line, "--case", cases));
    let samples: Vec<SuiteSample> = samples_of(&place.run());
    assert_eq!(samples.len(), 2 * cases.len());
    for sample in &samples {
        assert!(matches!(sample.outcome, SuiteOutcome::Ok(_)), "{sample:?}");
    }
}

/// Two sites with truthful answers of the worker, and one site for each of its wrong answers.
const TOLD: &str = "\
honest.example    server=rustls-ring key=ecdsa-p256 rtt=10ms alpn=http/1.1
old.example       server=rustls-ring key=rsa-2048 tls=1.2 rtt=10ms alpn=http/1.1
instant.example   server=rustls-ring rtt=10ms alpn=http/1.1
endless.example   server=rustls-ring rtt=10ms alpn=http/1.1
constant.example  server=rustls-ring rtt=10ms alpn=http/1.1
uncounted.example server=rustls-ring rtt=10ms alpn=http/1.1
null.example      server=rustls-ring rtt=10ms alpn=http/1.1
unknown.example   server=rustls-ring rtt=10ms alpn=http/1.1
";

fn python_worker(place: &Place) -> String {
    let source = place.write("worker.py", include_str!("worker.py"));
    let program = place.script(
        "python-worker",
        &format!("exec python3 '{}'", source.display()),
    );
    format!("python={}", program.display())
}

fn a_worker_in_python_is_believed_where_packets_agree() {
    let place = Place::with_sites(TOLD);
    let worker = python_worker(&place);
    let line = format!(
        "connect --sites sites.txt --stack rustls-ring,python --worker {worker} --rounds 1 --condition clean --client-profile library"
    );
    place.succeeds(&line);
    let samples = measured(&place.run());
    let own: Vec<_> = samples
        .iter()
        .filter(|sample| sample.stack.as_str() == "python")
        .collect();
    assert_eq!(own.len(), 8);
    let due = [
        (
            "instant.example",
            "verification time",
            "phases.verify_ns is 1:",
        ),
        (
            "endless.example",
            "verification time",
            "phases.verify_ns is",
        ),
        ("constant.example", "bytes", "passed the link"),
        (
            "uncounted.example",
            "no figure",
            "transfer.handshake_bytes_in is 0",
        ),
        (
            "null.example",
            "nonsense",
            "phases.client_hello_ns: invalid type: null",
        ),
        (
            "unknown.example",
            "nonsense",
            "transfer: missing field `bytes_out`",
        ),
    ];
    for sample in own {
        let lie = due.iter().find(|(site, ..)| *site == sample.site);
        match (lie, &sample.outcome) {
            (None, Outcome::Ok(measured)) => assert_eq!(measured.phases.verify_ns, None),
            (Some((_, reason, detail)), Outcome::Failed(failure)) => {
                assert_eq!(failure.reason.to_string(), *reason, "{failure:?}");
                assert!(failure.detail.contains(detail), "{failure:?}");
                assert!(failure.detail.len() < 200, "{failure:?}");
            }
            _ => panic!("{sample:?}"),
        }
    }
}

fn a_worker_that_is_a_client_alone_passes_its_checks() {
    let place = Place::new();
    let worker = python_worker(&place);
    let done = place.netbench(&["stacks", "check", "python", "--worker", &worker]);
    let done = done.expect(0);
    for line in [
        "python: protocol: passed",
        "python: connections: unsupported",
        "the stack does not do \"serve\"",
    ] {
        done.prints(line);
    }
}
