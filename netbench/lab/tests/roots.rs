//! Tests of the trust roots: loading, resizing, the lab's own roots among them, and invalid files.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use std::{fs, io::Write as _, path::Path, sync::LazyLock};

use netbench_lab::{Lab, MAX_ROOTS, Roots, RootsError};
use netbench_model::{RootsSource, parse_sites};
use proptest::prelude::*;
use support::certificates;

const END: &str = "-----END CERTIFICATE-----\n";

fn mozilla() -> Roots {
    static LOADED: LazyLock<Roots> = LazyLock::new(|| Roots::load(&RootsSource::Mozilla).unwrap());
    LOADED.clone()
}

/// Checks that the count is right, that the set has only certificates, and that a client would
/// accept each.
fn check(roots: &Roots) {
    let ders = certificates(&roots.pem);
    assert_eq!(ders.len(), roots.count as usize);
    assert_eq!(roots.pem.matches(END).count(), roots.count as usize);
    assert!(!roots.pem.contains('#'));
    for der in &ders {
        webpki::anchor_from_trusted_cert(der).unwrap();
    }
}

#[test]
fn mozillas_set_is_whole() {
    let roots = mozilla();
    check(&roots);
    assert!(roots.count > 100, "{}", roots.count);
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../trust-roots/README.md");
    assert!(fs::read_to_string(readme).unwrap().contains(&roots.sha256));
}

#[test]
fn sets_can_be_resized() {
    let all = mozilla();
    for count in [0, 1, 50, all.count] {
        let fewer = all.clone().resized(count).unwrap();
        check(&fewer);
        assert_eq!(fewer.count, count);
        assert!(all.pem.starts_with(&fewer.pem));
        assert_eq!((&fewer.sha256, &fewer.source), (&all.sha256, &all.source));
    }
    let more = all.clone().resized(159).unwrap();
    check(&more);
    assert_eq!(more.count, 159);
    assert!(more.pem.starts_with(&all.pem));

    // Each root has a different name, and together they are about as large as Mozilla's.
    let more = certificates(&more.pem);
    let (known, padding) = more.split_at(all.count as usize);
    let mut subjects: Vec<_> = padding
        .iter()
        .map(|der| {
            webpki::anchor_from_trusted_cert(der)
                .unwrap()
                .subject
                .to_vec()
        })
        .collect();
    subjects.sort();
    subjects.dedup();
    assert_eq!(subjects.len(), padding.len());
    let [known, padding] =
        [known, padding].map(|ders| ders.iter().map(|der| der.len()).sum::<usize>() / ders.len());
    assert!(
        padding.abs_diff(known) * 5 < known,
        "{padding} against {known} bytes on average"
    );

    assert!(matches!(
        all.resized(MAX_ROOTS + 1),
        Err(RootsError::TooMany(_))
    ));
}

#[test]
fn the_labs_roots_take_the_place_of_others_in_the_middle() {
    let sites = parse_sites("a.example\nb.example key=ecdsa-p256\n").unwrap();
    let lab = Lab::new(&sites).unwrap();
    let own = certificates(lab.ca_pem());
    assert_eq!(own.len(), 2);
    for (count, expected, at) in [(118, 118, 58), (3, 3, 0), (2, 2, 0), (1, 2, 0), (0, 2, 0)] {
        let roots = mozilla().resized(count).unwrap().with_lab_ca(lab.ca_pem());
        check(&roots);
        assert_eq!(roots.count, expected, "of {count}");
        assert_eq!(certificates(&roots.pem)[at..at + 2], own[..], "of {count}");
    }
    let before = mozilla();
    assert_eq!(before.clone().with_lab_ca(""), before);
}

fn with_line(lines: &[&str], number: usize, text: &str) -> Vec<u8> {
    let mut lines = lines.to_vec();
    lines[number - 1] = text;
    format!("# a comment\n\n{}\n", lines.join("\n")).into_bytes()
}

#[test]
fn wrong_files_are_named_with_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let one = mozilla().resized(1).unwrap().pem;
    let lines: Vec<&str> = one.lines().collect();
    let last = lines.len();
    let der = certificates(&one)[0].to_vec();
    let key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    for (name, bytes, expected) in [
        ("empty.pem", vec![], "no certificate in it"),
        (
            "text.pem",
            b"hello\x1b[31m\n".to_vec(),
            "no certificate in it",
        ),
        ("key.pem", key.as_bytes().to_vec(), "and no certificate"),
        ("root.der", der, "it is DER; expected PEM"),
        (
            "star.pem",
            with_line(&lines, 3, "AA**"),
            "line 5 is not base64",
        ),
        (
            "length.pem",
            with_line(&lines, 3, "A"),
            "line 3 is not base64",
        ),
        (
            "cut.pem",
            with_line(&lines, last, ""),
            "the certificate that begins at line 3 does not end",
        ),
        (
            "twice.pem",
            with_line(&lines, last, lines[0]),
            "the certificate that begins at line 3 does not end",
        ),
        (
            "zeros.pem",
            with_line(&lines, 2, &"A".repeat(64)),
            "line 3 is base64, but not a certificate",
        ),
        (
            "nothing.pem",
            format!("{}\n{END}", lines[0]).into_bytes(),
            "line 1 is base64, but not a certificate",
        ),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let error = Roots::load(&RootsSource::File(path.to_str().unwrap().to_owned()))
            .unwrap_err()
            .to_string();
        assert!(error.contains(name) && error.contains(expected), "{error}");
        assert!(!error.contains('\u{1b}'));
    }
    for (path, expected) in [
        (
            folder.path().join("absent\u{1b}.pem"),
            "cannot read the trust roots",
        ),
        (folder.path().to_owned(), "expected a regular file"),
        ("/dev/zero".into(), "expected a regular file"),
    ] {
        let error = Roots::load(&RootsSource::File(path.to_str().unwrap().to_owned()))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(expected) && !error.contains('\u{1b}'),
            "{error}"
        );
    }
    let large = folder.path().join("large.pem");
    fs::File::create(&large)
        .unwrap()
        .set_len(17 * 1024 * 1024)
        .unwrap();
    let error = Roots::load(&RootsSource::File(large.to_str().unwrap().to_owned())).unwrap_err();
    assert!(matches!(error, RootsError::NotRegular { .. }), "{error}");
}

#[test]
fn a_file_may_have_comments_crlf_and_other_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("roots.pem");
    let two = mozilla().resized(2).unwrap();
    let mut file = fs::File::create(&path).unwrap();
    file.write_all(b"# caf\xe9\r\n-----BEGIN X509 CRL-----\r\nAAAA\r\n-----END X509 CRL-----\r\n")
        .unwrap();
    file.write_all(two.pem.replace('\n', "\r\n").as_bytes())
        .unwrap();
    let source = RootsSource::File(path.to_str().unwrap().to_owned());
    let roots = Roots::load(&source).unwrap();
    assert_eq!((roots.pem, roots.count, roots.source), (two.pem, 2, source));
}

#[test]
fn the_systems_roots_load_or_say_that_there_are_none() {
    match Roots::load(&RootsSource::Native) {
        Ok(roots) => {
            assert!(roots.count > 0);
            assert_eq!(certificates(&roots.pem).len(), roots.count as usize);
        }
        Err(error) => assert!(matches!(error, RootsError::NoNative(_)), "{error}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn no_damage_to_a_file_makes_it_panic(at in 0usize..4000, with in prop::collection::vec(any::<u8>(), 0..20)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("roots.pem");
        let mut bytes = mozilla().resized(2).unwrap().pem.into_bytes();
        let at = at.min(bytes.len());
        bytes.splice(at..(at + with.len()).min(bytes.len()), with);
        fs::write(&path, bytes).unwrap();
        if let Ok(roots) = Roots::load(&RootsSource::File(path.to_str().unwrap().to_owned())) {
            prop_assert_eq!(certificates(&roots.pem).len(), roots.count as usize);
        }
    }
}
