//! Conformance tests of the worker of `java`, except for features that JSSE has no settings for.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

use netbench_stacks::command_recipe;
use netbench_worker_test::{Rules, lacks_only, nginx, openssl_command, protocol, verify};

const SOURCE: &str = env!("CARGO_MANIFEST_DIR");

const STACK: &str = "java";

netbench_testing::tests! {
    it_serves_and_connects_to_itself: Javac;
    it_does_the_suite: Javac;
    it_keeps_to_the_protocol: Javac;
    it_verifies_chains: Javac;
    it_gets_on_with_the_openssl_command: Javac, OpensslCommand;
    it_gets_on_with_nginx: Javac, Nginx;
    its_source_has_no_warnings: Javac;
}

/// A part of the names of cases that are `unsupported`, and the reason.
type Lack = (&'static str, &'static str);

const CONNECTIONS: [Lack; 2] = [
    ("-secp256r1-", "JSSE orders groups itself"),
    ("-secp384r1-", "JSSE orders groups itself"),
];

const SUITE: [Lack; 2] = [
    (
        "_fragment-",
        "JSSE can be told how long packets may be, and not how much plaintext",
    ),
    ("_young-heap", "Java manages the heap itself"),
];

/// Returns the command that compiles the worker.
fn build(program: &Path) -> Command {
    let recipe = command_recipe(STACK).expect("stack.toml has a command");
    recipe.command(Path::new(SOURCE), program)
}

/// Returns the worker, compiled as the command compiles it.
fn worker() -> &'static Path {
    static WORKER: LazyLock<PathBuf> = LazyLock::new(|| {
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("netbench-worker-java");
        must(&mut build(&program));
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
    format!("{out}{err}")
}

fn it_serves_and_connects_to_itself() {
    lacks_only(Rules::Connections, worker(), STACK, &CONNECTIONS);
}

fn it_does_the_suite() {
    lacks_only(Rules::Suite, worker(), STACK, &SUITE);
}

fn it_keeps_to_the_protocol() {
    protocol(worker(), STACK);
}

fn it_verifies_chains() {
    verify(worker(), STACK);
}

fn it_gets_on_with_the_openssl_command() {
    openssl_command(worker(), STACK);
}

fn it_gets_on_with_nginx() {
    nginx(worker(), STACK);
}

fn its_source_has_no_warnings() {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("netbench-worker-java-again");
    assert_eq!(must(&mut build(&program)), "");
}
