//! Conformance tests of the worker of `go`, except for features that Go has no settings for.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

use netbench_stacks::{CommandRecipe, command_recipe};
use netbench_worker_test::{Rules, ech, lacks_only, nginx, openssl_command, protocol, verify};

const SOURCE: &str = env!("CARGO_MANIFEST_DIR");

const STACK: &str = "go";

netbench_testing::tests! {
    it_serves_and_connects_to_itself: Go;
    it_does_the_suite: Go;
    it_verifies_chains: Go;
    it_decrypts_hellos: Go;
    it_keeps_to_the_protocol: Go;
    it_gets_on_with_the_openssl_command: Go, OpensslCommand;
    it_gets_on_with_nginx: Go, Nginx;
    in_fips_mode_it_does_what_is_approved: Go, OpensslCommand, Nginx;
    it_is_not_taken_for_what_its_library_denies: Go;
    its_source_is_formatted_vetted_and_tested: Go;
}

/// A part of the names of cases that are `unsupported`, and the reason.
type Lack = (&'static str, &'static str);

const CONNECTIONS: [Lack; 3] = [
    ("-secp256r1-", "Go orders groups itself"),
    ("-secp384r1-", "Go orders groups itself"),
    (
        "-no-scheme-for-the-key",
        "Go cannot be told which signature schemes to offer",
    ),
];

const SUITE: [Lack; 3] = [
    ("handshake-session-id_1.2_", "Go's server keeps no sessions"),
    ("_fragment-", "Go cannot be told how long records may be"),
    ("_young-heap", "Go manages the heap itself"),
];

/// The cases of connections in FIPS mode, which has no X25519 that would precede secp256r1.
const FIPS_CONNECTIONS: [Lack; 2] = [
    ("-secp384r1-", "Go orders groups itself"),
    (
        "-no-scheme-for-the-key",
        "Go cannot be told which signature schemes to offer",
    ),
];

/// The first entry that is part of a name counts. The usual group is X25519.
const FIPS_SUITE: [Lack; 5] = [
    SUITE[1],
    SUITE[2],
    ("CHACHA20-POLY1305", "Go in FIPS mode has no suite of"),
    SUITE[0],
    ("", "Go in FIPS mode has no group x25519"),
];

fn recipe() -> &'static CommandRecipe {
    command_recipe(STACK).expect("stack.toml has a command")
}

/// Returns the worker, built as the command builds it.
fn worker() -> &'static Path {
    static WORKER: LazyLock<PathBuf> = LazyLock::new(|| {
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("netbench-worker-go");
        must(&mut recipe().command(Path::new(SOURCE), &program));
        program
    });
    &WORKER
}

/// Runs a command that must succeed, and returns its output.
fn must(command: &mut Command) -> String {
    let done = command.output().expect("it runs");
    let [out, err] =
        [done.stdout, done.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(done.status.success(), "{command:?}: {out}{err}");
    out
}

fn it_serves_and_connects_to_itself() {
    lacks_only(Rules::Connections, worker(), STACK, &CONNECTIONS);
}

fn it_does_the_suite() {
    lacks_only(Rules::Suite, worker(), STACK, &SUITE);
}

fn it_verifies_chains() {
    verify(worker(), STACK);
}

fn it_decrypts_hellos() {
    ech(worker(), STACK);
}

fn it_keeps_to_the_protocol() {
    protocol(worker(), STACK);
}

fn it_gets_on_with_the_openssl_command() {
    openssl_command(worker(), STACK);
}

fn it_gets_on_with_nginx() {
    nginx(worker(), STACK);
}

/// Makes the worker with such an environment.
fn worker_with(environment: &str, folder: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    fs::create_dir_all(&folder).expect("a folder");
    // The rules require the worker's name.
    let program = folder.join("netbench-worker-go.sh");
    let worker = worker().display();
    let script = format!("#!/bin/sh\nexec env {environment} '{worker}'\n");
    netbench_testing::script(&program, &script);
    program
}

fn in_fips_mode_it_does_what_is_approved() {
    let worker = worker_with("NETBENCH_VARIANTS=+fips GODEBUG=fips140=on", "fips");
    let stack = "go+fips";
    lacks_only(Rules::Connections, &worker, stack, &FIPS_CONNECTIONS);
    lacks_only(Rules::Suite, &worker, stack, &FIPS_SUITE);
    verify(&worker, stack);
    protocol(&worker, stack);
    openssl_command(&worker, stack);
    nginx(&worker, stack);
}

fn it_is_not_taken_for_what_its_library_denies() {
    for (environment, folder, stack, reason) in [
        ("NETBENCH_VARIANTS=+fips", "off", "go+fips", "mode is off"),
        ("GODEBUG=fips140=on", "on", "go", "mode is on"),
        (
            "NETBENCH_VARIANTS=+native",
            "native",
            "go+native",
            "a worker in Go has no variants but +fips",
        ),
    ] {
        lacks_only(
            Rules::Suite,
            &worker_with(environment, folder),
            stack,
            &[("", reason)],
        );
    }
}

fn its_source_is_formatted_vetted_and_tested() {
    let toolchain = env::var_os("GOTOOLCHAIN").unwrap_or_else(|| "auto".into());
    let linker = recipe().word("-ldflags").expect("the linker's option");
    let commands: [(&str, &[&str]); 3] = [
        ("go", &["vet", "."]),
        ("go", &["test", linker, "."]),
        ("gofmt", &["-l", "."]),
    ];
    let said = commands.map(|(program, arguments)| {
        let mut command = Command::new(program);
        command.env("GOTOOLCHAIN", &toolchain);
        must(command.args(arguments).current_dir(SOURCE))
    });
    assert_eq!(said[2], "", "not as gofmt writes it");
}
