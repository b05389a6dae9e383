//! The worker of `openssl-system` as every worker must be; or, where this was built together with the
//! worker of `openssl` and got its library, refusing to measure that one.

use std::{path::Path, process::Command};

use netbench_stack_openssl::{LINKED, Library};
use netbench_worker_test::{conformance, nginx, openssl_command, protocol, suite};

const WORKER: &str = env!("CARGO_BIN_EXE_netbench-worker-openssl-system");

const ANOTHER: &str = "unsupported: this build has another libssl";

#[test]
fn it_serves_and_connects_to_itself() {
    match LINKED {
        Library::System => conformance(Path::new(WORKER), "openssl-system"),
        Library::Vendored => {
            let output = Command::new(WORKER).output().unwrap();
            assert!(!output.status.success());
            let words = String::from_utf8_lossy(&output.stderr);
            assert!(words.contains("build its package alone"), "{words}");
        }
    }
}

#[test]
fn it_keeps_to_the_protocol() {
    match LINKED {
        Library::System => protocol(Path::new(WORKER), "openssl-system"),
        Library::Vendored => println!("{ANOTHER}"),
    }
}

#[test]
fn it_gets_on_with_the_openssl_command() {
    match LINKED {
        Library::System => {
            if let Err(reason) = openssl_command(Path::new(WORKER), "openssl-system") {
                println!("unsupported: {reason}");
            }
        }
        Library::Vendored => println!("{ANOTHER}"),
    }
}

#[test]
fn it_gets_on_with_nginx() {
    match LINKED {
        Library::System => {
            if let Err(reason) = nginx(Path::new(WORKER), "openssl-system") {
                println!("unsupported: {reason}");
            }
        }
        Library::Vendored => println!("{ANOTHER}"),
    }
}

#[test]
fn it_does_the_suite() {
    match LINKED {
        Library::System => suite(Path::new(WORKER), "openssl-system"),
        Library::Vendored => println!("{ANOTHER}"),
    }
}
