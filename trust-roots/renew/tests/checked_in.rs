//! The files that are checked in are those that the crate in `Cargo.lock` makes.

use std::{fs, path::Path};

use netbench_roots_renew::{render, row, sha256_hex, source};

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_checksum_in_the_readme_is_that_of_the_file() {
    let (pem, readme) = (read("mozilla.pem"), read("README.md"));
    assert_eq!(
        row(&readme, "sha256"),
        Some(sha256_hex(pem.as_bytes()).as_str())
    );
    let count = pem
        .lines()
        .filter(|line| *line == "-----BEGIN CERTIFICATE-----")
        .count();
    assert_eq!(
        row(&readme, "certificates"),
        Some(count.to_string().as_str())
    );
}

#[test]
fn the_files_are_as_the_crate_makes_them() {
    let readme = read("README.md");
    let date = row(&readme, "date").unwrap();
    let made = render(&source(&read("../Cargo.lock")).unwrap(), date).unwrap();
    let advice = "run `cargo run -p netbench-roots-renew`";
    assert!(
        made.pem == read("mozilla.pem"),
        "mozilla.pem is out of date: {advice}"
    );
    assert_eq!(made.readme, readme, "README.md is out of date: {advice}");
}

#[test]
fn a_lock_file_without_the_crate_is_an_error() {
    for text in [
        "",
        "[[package]]\nname = \"other\"\n",
        "[[package]]\nname = \"webpki-root-certs\"\nversion = \"1.0.0\"\n",
    ] {
        assert!(source(text).is_err(), "{text:?}");
    }
}
