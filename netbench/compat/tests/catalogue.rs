//! Tests of the built-in catalogue, and of the errors in a wrong one.

use netbench_compat::{BUILT_IN, Case, catalogue};
use netbench_model::{Library, StackName, compat::Expected};

/// A valid case, for tests that make one part of it wrong.
const CASE: &str = r#"
[[case]]
name = "a/case"
about = "does nothing"
expect = ["expired"]
why = "because"
advice = "none"
"#;

#[test]
fn the_catalogue_is_read_and_every_chain_can_be_made() {
    let cases = catalogue(BUILT_IN).unwrap();
    assert!(cases.len() >= 90, "{}", cases.len());
    for case in &cases {
        let record = &case.record;
        for text in [&record.about, &record.why, &record.advice] {
            assert!(text.len() > 3, "{}: {text:?}", record.name);
        }
        assert!(record.name.contains('/'), "{}", record.name);
    }
    let refused = cases
        .iter()
        .filter(|c| c.record.expected != Expected::Accepted);
    // A catalogue with cases of only one kind would be satisfied by a stack that accepts all servers, or none.
    assert!((20..cases.len() - 20).contains(&refused.count()));
}

/// Words that name a library. Commands that a user runs, such as `openssl pkcs12`, are in lower case.
const LIBRARIES: [&str; 16] = [
    "OpenSSL",
    "SSL_",
    "X509_",
    "rustls",
    "webpki",
    "ring",
    "aws-lc",
    "hyper",
    "Go",
    "GODEBUG",
    "GnuTLS",
    "BoringSSL",
    "s2n",
    "NSS",
    "JSSE",
    "mbedTLS",
];

/// Returns whether the text contains the name as a word.
fn is_in(text: &str, name: &str) -> bool {
    let mut found = text.match_indices(name);
    found.any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        !before.ends_with(|c: char| c.is_ascii_alphanumeric())
            && (name.ends_with('_') || !after.starts_with(|c: char| c.is_ascii_alphanumeric()))
    })
}

#[test]
fn general_advice_names_no_library_and_a_librarys_advice_no_other() {
    assert!(is_in("take ring.", "ring") && !is_in("a string", "ring"));
    let cases = catalogue(BUILT_IN).unwrap();
    for case in &cases {
        let record = &case.record;
        for library in LIBRARIES {
            let text = &record.advice;
            assert!(!is_in(text, library), "{}: {text}", record.name);
        }
        for (library, text) in &record.advice_by {
            let others: &[&str] = match library {
                Library::Rustls | Library::RustlsRing => {
                    &["OpenSSL", "SSL_", "X509_", "Go", "BoringSSL"]
                }
                Library::Openssl => &["rustls", "webpki", "ring", "Go", "BoringSSL"],
                Library::Boringssl => &["rustls", "webpki", "ring", "Go", "OpenSSL"],
                Library::Go => &["rustls", "webpki", "ring", "OpenSSL", "hyper", "SSL_"],
            };
            for other in others {
                assert!(!is_in(text, other), "{}, {library}: {text}", record.name);
            }
            assert_ne!(text, &record.advice, "{}, {library}", record.name);
        }
    }
    for library in Library::ALL {
        let mut advice = cases.iter().map(|case| &case.record.advice_by);
        assert!(advice.any(|by| by.contains_key(library)), "{library}");
    }
}

fn advice<'a>(cases: &'a [Case], name: &str, stack: &str) -> &'a str {
    let mut cases = cases.iter().map(|case| &case.record);
    let case = cases.find(|case| case.name == name).expect(name);
    case.advice_for(&StackName::new(stack))
}

#[test]
fn advice_belongs_to_the_stack() {
    let cases = catalogue(BUILT_IN).unwrap();
    let of = "suite/static-rsa-cbc";
    for stack in ["rustls-aws-lc", "rustls-ring#2"] {
        assert!(advice(&cases, of, stack).contains("rustls has no static RSA"));
    }
    assert!(advice(&cases, of, "go").contains("Go leaves it out by default"));
    for stack in ["mine", "openssl@3.5"] {
        let general = "Tell the server's owner to allow ECDHE.";
        assert_eq!(advice(&cases, of, stack), general);
    }
    let of = "group/x25519mlkem768";
    assert!(advice(&cases, of, "rustls-ring").contains("ring does not have it"));
    assert!(!advice(&cases, of, "rustls@0.22").contains("ring"));
}

#[test]
fn an_error_names_its_line_and_field() {
    let cases = [
        (
            CASE.replace("expired", "expird"),
            "line 5: expect: unknown reason \"expird\"; did you mean \"expired\"?",
        ),
        (
            CASE.replace("[\"expired\"]", "\"yes\""),
            "line 5: expect: invalid value: string \"yes\", expected \"accepted\", or a list",
        ),
        (
            CASE.replace("[\"expired\"]", "[]"),
            "line 5: expect: invalid length 0",
        ),
        (
            CASE.replace("about", "abuot"),
            "line 4: unknown field `abuot`; did you mean \"about\"?",
        ),
        (
            CASE.replace("why = \"because\"\n", ""),
            "missing field `why`",
        ),
        (
            format!("{CASE}advice-by.rustsl = \"none\""),
            "line 8: advice-by.rustsl: ",
        ),
        (
            format!("{CASE}server.versions = [\"1.9\"]"),
            "line 8: server.versions: ",
        ),
        (
            format!("{CASE}client.visits = \"thrice\""),
            "line 8: client.visits: unknown variant `thrice`; did you mean \"twice\"?",
        ),
        (
            format!("{CASE}client.headers = {{ upgrade = \"a\\u0001\" }}"),
            "line 2: client.headers: \"upgrade\" is no header",
        ),
        (
            format!("{CASE}certificates.leaf = {{ flaw = \"none\" }}"),
            "line 8: ",
        ),
        (
            format!("{CASE}certificates.leaf = {{ names = [\"case.test\"] }}"),
            "expected dns:, ip:, email: or directory:",
        ),
        (
            format!("{CASE}sent = [\"leaf\", \"nobody\"]"),
            "line 2: case \"a/case\": there is no certificate \"nobody\"",
        ),
        (
            format!(
                "{CASE}certificates.intermediate = {{ key = \"ecdsa-p384\", digest = \"sha256\" }}\ncertificates.leaf = {{ digest = \"sha1\" }}"
            ),
            "cannot sign with Sha1",
        ),
        (
            format!("{CASE}{CASE}"),
            "line 9: name: there is another case \"a/case\"",
        ),
        (
            CASE.replace("a/case", "A case"),
            "line 2: name: small letters",
        ),
        ("case = 1".to_owned(), "line 1: case: "),
        ("".to_owned(), "line 1: "),
        ("[[case]\n".to_owned(), "line 1: "),
    ];
    for (text, due) in cases {
        let error = catalogue(&text).unwrap_err().to_string();
        assert!(error.contains(due), "{error}\nand not: {due}");
        assert!(!error.contains('\n'), "{error}");
    }
}
