//! Conformance tests of the worker of `rustls-ring` and `rustls-aws-lc`.

use std::path::Path;

use netbench_tls::{Aead, HeapState, KeyType, Scenario, SessionSettings, Timing, TlsVersion, Work};
use netbench_worker_test::{
    conformance, documented, nginx, openssl_command, plain::Harness, protocol, set_up, suite,
    verify,
};

const WORKER: &str = env!("CARGO_BIN_EXE_netbench-worker-rustls");

const STACKS: [&str; 2] = ["rustls-ring", "rustls-aws-lc"];
/// Variants without hyper-rustls.
const PLAIN: [&str; 2] = ["rustls-ring+plain", "rustls-aws-lc+plain"];
/// Variants that do only the suite.
const SUITE_ONLY: [&str; 3] = [
    "rustls-aws-lc+unbuffered",
    "rustls-aws-lc+no-buffer-limit",
    "rustls-ring+no-buffer-limit",
];

netbench_testing::tests! {
    ring_serves_and_connects_to_itself;
    aws_lc_serves_and_connects_to_itself;
    without_hyper_rustls_they_connect_as_with_it;
    they_keep_to_the_protocol;
    ring_answers_as_documented;
    they_take_the_steps_of_their_set_up;
    they_get_on_with_the_openssl_command: OpensslCommand;
    they_get_on_with_nginx: Nginx;
    they_do_the_suite;
    they_verify_chains;
    a_new_process_returns_the_memory_of_large_writes;
}

fn ring_serves_and_connects_to_itself() {
    conformance(Path::new(WORKER), "rustls-ring");
}

fn aws_lc_serves_and_connects_to_itself() {
    conformance(Path::new(WORKER), "rustls-aws-lc");
}

fn without_hyper_rustls_they_connect_as_with_it() {
    for stack in PLAIN {
        conformance(Path::new(WORKER), stack);
    }
}

fn they_keep_to_the_protocol() {
    for stack in STACKS.into_iter().chain(PLAIN) {
        protocol(Path::new(WORKER), stack);
    }
}

fn ring_answers_as_documented() {
    documented(Path::new(WORKER), "rustls-ring");
}

fn they_take_the_steps_of_their_set_up() {
    for stack in STACKS {
        set_up(Path::new(WORKER), stack);
    }
}

fn they_get_on_with_the_openssl_command() {
    for stack in STACKS {
        openssl_command(Path::new(WORKER), stack);
    }
}

fn they_verify_chains() {
    for stack in STACKS {
        verify(Path::new(WORKER), stack);
    }
}

fn they_get_on_with_nginx() {
    for stack in STACKS {
        nginx(Path::new(WORKER), stack);
    }
}

fn they_do_the_suite() {
    for stack in STACKS.into_iter().chain(SUITE_ONLY) {
        suite(Path::new(WORKER), stack);
    }
}

/// glibc returns the top of the heap of a new process to the system, and the next write pays for each of its pages.
fn a_new_process_returns_the_memory_of_large_writes() {
    const WRITE: u32 = 1 << 20;
    const PAGES: f64 = (WRITE / 4096) as f64;
    let unlimited = "rustls-aws-lc+no-buffer-limit";
    let (all, few) = (PAGES / 2.0..=2.0 * PAGES, 0.0..=PAGES / 8.0);
    for (stack, heap, timing, pages) in [
        (unlimited, HeapState::Young, Timing::Whole, &all),
        (unlimited, HeapState::Settled, Timing::Whole, &few),
        ("rustls-aws-lc", HeapState::Young, Timing::Whole, &few),
        // The records of a whole write stay in the library.
        ("rustls-aws-lc", HeapState::Young, Timing::Bench, &all),
    ] {
        let scenario = Scenario::timed(Work::Bulk {
            settings: SessionSettings::usual(TlsVersion::Tls12, KeyType::Rsa2048, Aead::Aes128Gcm),
            write_bytes: WRITE,
            amount_bytes: Work::USUAL_AMOUNT_BYTES,
            max_fragment_bytes: None,
            heap,
        });
        let scenario = scenario.with_timing(timing);
        let faults = Harness::on_one_core(Path::new(WORKER), stack, 0).page_faults(&scenario, 80);
        assert!(
            pages.contains(&faults),
            "{stack}, {heap}, {timing}: {faults}"
        );
    }
}
