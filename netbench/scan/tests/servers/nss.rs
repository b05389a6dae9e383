//! What NSS' own server needs.

use std::process::Command;

use crate::support::Files;

/// A database of NSS in `folder` with the chain and its key, called leaf: what selfserv takes as `-d`.
pub(crate) fn nss_database(files: &Files, folder: &str) -> String {
    let database = format!("sql:{folder}");
    let whole = files.path("whole.p12");
    let run = |program: &str, arguments: &[&str]| {
        let ran = Command::new(program).args(arguments).output();
        let ran = ran.unwrap_or_else(|e| panic!("{program}: {e}"));
        assert!(ran.status.success(), "{program}: {ran:?}");
    };
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
