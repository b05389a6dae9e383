//! The command's errors for wrong command lines, and its options.

use std::fs;

use crate::support::Place;

/// Returns a command line for a good file of sites.
fn with(more: &[&'static str]) -> Vec<&'static str> {
    let site = ["connect", "--sites", "good.txt", "--link", "none"];
    [&site, more].concat()
}

#[test]
fn wrong_input_is_named() {
    let place = Place::new();
    place.write("good.txt", "one.example\n");
    place.write(
        "bad.txt",
        "one.example\nt\x1bwo.example\nthree.example rtt=20 colour=red\none.example\n",
    );
    place.write("empty.txt", "# nothing\n");
    place.write("not-roots.pem", "hello\n");
    fs::create_dir(place.path().join("folder")).unwrap();
    fs::create_dir(place.path().join("cut")).unwrap();
    place.write("cut/run.json", "{\"schema\": 1, \"netb");
    fs::create_dir(place.path().join("newer")).unwrap();
    place.write("newer/run.json", "{\"schema\": 99}");
    let cases: Vec<(Vec<&str>, &[&str])> = vec![
        (
            with(&["--stack", "openssl,nosuch"]),
            &["unknown stack \"nosuch\"", "rustls-ring", "--worker"],
        ),
        (with(&["--stack", "openssl"]), &["at least two stacks"]),
        (with(&["--roots", "missing.pem"]), &["missing.pem"]),
        (with(&["--roots", "not-roots.pem"]), &["not-roots.pem"]),
        (
            with(&["--condition", "warm"]),
            &["warm", "clean, resumed, cold"],
        ),
        (with(&["--condition", "clean,clean"]), &["twice"]),
        (with(&["--rounds", "0"]), &["0"]),
        (with(&["--timeout", "5"]), &["20ms"]),
        (with(&["--live"]), &["--live", "--link"]),
        (with(&["--name", "../x"]), &["letters"]),
        (vec!["connect", "--sites", "missing.txt"], &["missing.txt"]),
        (vec!["connect", "--sites", "empty.txt"], &["empty.txt"]),
        (
            vec!["connect", "--sites", "bad.txt"],
            &[
                "bad.txt: line 2",
                "bad.txt: line 3",
                "rtt",
                "colour",
                "bad.txt: line 4",
            ],
        ),
        (vec!["run", "missing"], &["missing", "no such run folder"]),
        (vec!["run", "folder"], &["folder", "run.json"]),
        (vec!["run", "cut"], &["cut/run.json", "not a manifest"]),
        (
            vec!["run", "newer"],
            &["newer/run.json", "newer than this netbench"],
        ),
        (
            vec!["run", "cut", "--rounds", "3"],
            &["unknown option", "--rounds"],
        ),
        (vec!["runs", "report", "cut"], &["cut/run.json"]),
        (vec!["connect", "http://localhost/"], &["write https://"]),
        (vec!["connect", "https://"], &["no host"]),
        (
            vec!["connect", "https://me:pw@localhost/"],
            &["leave the user name and password out"],
        ),
        (vec!["connect", "https://localhost/#top"], &["never sent"]),
        (
            vec!["connect", "https://localhost:0/"],
            &["from 1 to 65535"],
        ),
        (vec!["connect", "https://[fe80::1%25eth0]/"], &["zone"]),
        (
            vec!["connect", "https://10.1.2.3/"],
            &["10.1.2.3 is not on this machine", "--live"],
        ),
        (
            vec!["connect", "https://a.example:8443/x", "https://localhost/"],
            &[
                "a.example:8443 is not on this machine",
                "--live",
                "--connect-to a.example:8443:127.0.0.1:PORT",
            ],
        ),
        (
            vec![
                "connect",
                "https://localhost",
                "--connect-to",
                "localhost:443:10.0.0.1:",
            ],
            &["10.0.0.1 is not on this machine"],
        ),
        (
            vec!["connect", "https://localhost", "localhost:443"],
            &["given twice"],
        ),
        (
            vec!["connect", "https://localhost", "--connect-to", "a:b"],
            &["HOST1:PORT1:HOST2:PORT2"],
        ),
        (with(&["--connect-to", "a:1:b:2"]), &["for URLs"]),
        (with(&["--method", "POST"]), &["for URLs"]),
        (
            vec!["connect", "https://localhost", "--method", "CONNECT"],
            &["GET, HEAD or POST"],
        ),
        (
            vec!["connect", "https://localhost", "--header", "Host: x"],
            &["host is written by"],
        ),
        (
            vec!["connect", "https://localhost", "--header", "no colon"],
            &["NAME: VALUE"],
        ),
        (
            vec!["connect", "https://localhost", "--pause", "5"],
            &["20ms"],
        ),
        (
            vec!["connect", "https://localhost", "--sites", "good.txt"],
            &["--sites"],
        ),
        (
            vec!["connect", "https://localhost", "--link", "user"],
            &["--link"],
        ),
        (
            vec!["connect", "https://localhost", "--client-key", "k.pem"],
            &["--client-cert"],
        ),
        (
            vec![
                "connect",
                "https://localhost",
                "--client-cert",
                "missing.pem",
            ],
            &["missing.pem", "cannot read"],
        ),
        (
            vec![
                "connect",
                "https://localhost",
                "--client-cert",
                "not-roots.pem",
            ],
            &["not-roots.pem", "no certificate in it"],
        ),
        (
            vec!["scan", "https://a.example/"],
            &["a.example is not on this machine"],
        ),
        (
            vec!["stacks", "hello", "http://a.example/"],
            &["write https://"],
        ),
        (
            vec!["runs", "compare", "missing", "missing"],
            &["no such run folder"],
        ),
        (vec!["setup", "sites", "check", "bad.txt"], &["line 2"]),
    ];
    for (arguments, expected) in cases {
        let done = place.netbench(&arguments).expect(2);
        for part in expected {
            assert!(
                done.stderr.contains(part),
                "{arguments:?}: no {part:?} in {}",
                done.stderr
            );
        }
        assert!(
            !done.stderr.contains('\x1b'),
            "{arguments:?}: {}",
            done.stderr
        );
    }
}

#[test]
fn help_has_examples_and_exit_codes() {
    let place = Place::new();
    let help = place.netbench(&["connect", "--help"]).expect(0).stdout;
    assert!(
        help.contains("Examples:") && help.contains("--live"),
        "{help}"
    );
    let help = place.netbench(&["--help"]).expect(0).stdout;
    assert!(help.contains("Exit codes:"), "{help}");
}

#[test]
fn the_built_in_sites_are_right_and_can_be_begun_from() {
    let place = Place::new();
    let done = place.netbench(&["setup", "sites", "check"]).expect(0);
    assert!(done.stdout.contains("101 sites"), "{}", done.stdout);
    let text = place
        .netbench(&["setup", "sites", "print"])
        .expect(0)
        .stdout;
    place.write("mine.txt", &text);
    place
        .netbench(&["setup", "sites", "check", "mine.txt"])
        .expect(0);
}

#[test]
fn stacks_describe_themselves() {
    let place = Place::new();
    let done = place.netbench(&["stacks"]).expect(0);
    for part in [
        "rustls-aws-lc",
        "OpenSSL 3.5",
        "aws-lc-rs",
        "hyper-openssl",
        "offers by default: TLS 1.3 and 1.2; ",
        "licences: Apache-2.0 OR ISC OR MIT (rustls); ",
    ] {
        assert!(done.stdout.contains(part), "no {part} in {}", done.stdout);
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
