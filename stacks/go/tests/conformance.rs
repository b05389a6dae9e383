//! The worker of `go` as every worker must be.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

use netbench_runner::go_build;
use netbench_worker_test::{nginx, openssl_command, protocol};

const SOURCE: &str = env!("CARGO_MANIFEST_DIR");

const STACK: &str = "go";

netbench_testing::tests! {
    it_keeps_to_the_protocol: Go;
    it_gets_on_with_the_openssl_command: Go, OpensslCommand;
    it_gets_on_with_nginx: Go, Nginx;
    its_source_is_formatted_vetted_and_tested: Go;
}

/// The worker, built as the command builds it.
fn worker() -> &'static Path {
    static WORKER: LazyLock<PathBuf> = LazyLock::new(|| {
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("netbench-worker-go");
        must(&mut go_build(Path::new(SOURCE), &program));
        program
    });
    &WORKER
}

/// Runs a command that must end well, and gives what it printed.
fn must(command: &mut Command) -> String {
    let done = command.output().expect("it runs");
    let [out, err] =
        [done.stdout, done.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(done.status.success(), "{command:?}: {out}{err}");
    out
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

fn its_source_is_formatted_vetted_and_tested() {
    let go = |program: &str, arguments: &[&str]| {
        let toolchain = env::var_os("GOTOOLCHAIN").unwrap_or_else(|| "auto".into());
        let mut command = Command::new(program);
        command.env("GOTOOLCHAIN", toolchain);
        must(command.args(arguments).current_dir(SOURCE))
    };
    go("go", &["vet", "."]);
    go("go", &["test", "."]);
    assert_eq!(go("gofmt", &["-l", "."]), "", "not as gofmt writes it");
}
