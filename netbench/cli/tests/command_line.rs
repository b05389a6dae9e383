//! The command's errors for wrong command lines, and its options.

use std::fs;

use crate::support::{Place, assert_contains};

#[test]
fn help_has_examples_and_exit_codes() {
    let place = Place::new();
    let help = place.succeeds("connect --help").stdout;
    assert_contains(&help, "Examples:");
    assert_contains(&help, "--live");
    let help = place.succeeds("--help").stdout;
    assert!(help.contains("Exit codes:"), "{help}");
}

#[test]
fn the_built_in_sites_are_right_and_can_be_begun_from() {
    let place = Place::new();
    let done = place.succeeds("setup sites check");
    done.prints("101 sites");
    let text = place.succeeds("setup sites print").stdout;
    place.write("mine.txt", &text);
    place.succeeds("setup sites check mine.txt");
}

#[test]
fn stacks_describe_themselves() {
    let place = Place::new();
    let done = place.succeeds("stacks");
    for part in [
        "rustls-aws-lc",
        "OpenSSL 3.5",
        "aws-lc-rs",
        "hyper-openssl",
        "offers by default: TLS 1.3 and 1.2; ",
        "licences: Apache-2.0 OR ISC OR MIT (rustls); ",
    ] {
        done.prints(part);
    }
}

#[test]
fn the_command_links_no_tls_library() {
    let binary = fs::read(env!("CARGO_BIN_EXE_netbench")).unwrap();
    // Symbols or messages that occur only in a TLS library.
    for mark in [
        "SSL_CTX_new",
        "ossl_statem",
        "SSL_do_handshake",
        // The names as in symbols: `ship` contains the plain names in texts.
        "12hyper_rustls",
        "12tokio_rustls",
    ] {
        let found = binary
            .windows(mark.len())
            .any(|window| window == mark.as_bytes());
        assert!(!found, "{mark} is in the command");
    }
}
