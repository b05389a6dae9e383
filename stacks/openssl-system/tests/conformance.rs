//! Conformance tests of the worker of `openssl-system`; or, where it was built together with the worker of
//! `openssl` and linked to its library, a test that it refuses to measure that one.

use std::{
    path::Path,
    process::{Command, ExitCode},
};

use netbench_stack_openssl::{LINKED, Library};
use netbench_testing::{Test, Tool, run};
use netbench_worker_test::{conformance, nginx, openssl_command, protocol, suite, verify};

const WORKER: &str = env!("CARGO_BIN_EXE_netbench-worker-openssl-system");

const VENDORED: bool = matches!(LINKED, Library::Vendored);

fn main() -> ExitCode {
    let refuses = VENDORED.then(|| Test::of("it_refuses_another_library", refuses_another_library));
    run([
        test("it_serves_and_connects_to_itself", conformance),
        test("it_keeps_to_the_protocol", protocol),
        test("it_verifies_chains", verify),
        test("it_gets_on_with_the_openssl_command", openssl_command).needs(Tool::OpensslCommand),
        test("it_gets_on_with_nginx", nginx).needs(Tool::Nginx),
        test("it_does_the_suite", suite),
    ]
    .into_iter()
    .chain(refuses))
}

fn test(name: &str, test: fn(&Path, &str)) -> Test {
    let another = "built together with the stack openssl, and linked with its libssl";
    Test::new(name, move || {
        test(Path::new(WORKER), "openssl-system");
        Ok(())
    })
    .needs_that("system-libssl", move || {
        VENDORED.then(|| another.to_owned())
    })
}

fn refuses_another_library() {
    let output = Command::new(WORKER).output().expect("the worker starts");
    assert!(!output.status.success());
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(words.contains("build its package alone"), "{words}");
}
