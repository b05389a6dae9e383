//! The requirements of NSS's own server.

use std::process::Command;

use crate::support::Files;

/// Creates an NSS database in `folder` with the chain and its key, named leaf. Returns the value of selfserv's
/// option `-d`.
pub(crate) fn nss_database(files: &Files, folder: &str) -> String {
    let database = format!("sql:{folder}");
    let whole = files.path("whole.p12");
    let (leaf, key) = (files.path("leaf.pem"), files.path("key.pem"));
    let export = [
        "pkcs12", "-export", "-name", "leaf", "-passout", "pass:", "-in", &leaf, "-inkey", &key,
        "-out", &whole,
    ];
    run("openssl", &export);
    run("certutil", &["-N", "-d", &database, "--empty-password"]);
    run("pk12util", &["-i", &whole, "-d", &database, "-W", ""]);
    database
}

fn run(program: &str, arguments: &[&str]) {
    let ran = Command::new(program).args(arguments).output();
    let ran = ran.unwrap_or_else(|e| panic!("{program}: {e}"));
    assert!(ran.status.success(), "{program}: {ran:?}");
}
