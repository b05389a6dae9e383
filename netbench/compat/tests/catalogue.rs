//! Tests of the built-in catalogue, and of the errors in a wrong one.

use netbench_compat::{BUILT_IN, catalogue};
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

#[test]
fn general_advice_names_no_library_and_a_librarys_advice_no_other() {
    let is_in = |text: &str, name: &str| {
        let mut found = text.match_indices(name);
        let is_word = |byte: Option<&u8>| byte.is_none_or(|b| !b.is_ascii_alphanumeric());
        found.any(|(at, _)| {
            let (before, end) = (at.checked_sub(1), at + name.len());
            let bytes = text.as_bytes();
            is_word(before.and_then(|at| bytes.get(at)))
                && (name.ends_with('_') || is_word(bytes.get(end)))
        })
    };
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
    let named = |library| {
        cases
            .iter()
            .filter(|case| case.record.advice_by.contains_key(&library))
            .count()
    };
    for library in Library::ALL {
        assert!(named(*library) > 0, "{library}");
    }
}

#[test]
fn advice_belongs_to_the_stack() {
    let cases = catalogue(BUILT_IN).unwrap();
    let case = |name: &str| &cases.iter().find(|c| c.record.name == name).unwrap().record;
    let advice = |name: &str, stack: &str| case(name).advice_for(&StackName::new(stack)).to_owned();
    let of = "suite/static-rsa-cbc";
    assert!(advice(of, "rustls-aws-lc").contains("rustls has no static RSA"));
    assert!(advice(of, "rustls-ring#2").contains("rustls has no static RSA"));
    assert!(advice(of, "go").contains("Go leaves it out by default"));
    assert_eq!(
        advice(of, "mine"),
        "Tell the server's owner to allow ECDHE."
    );
    assert_eq!(advice(of, "openssl@3.5"), advice(of, "mine"));
    let of = "group/x25519mlkem768";
    assert!(advice(of, "rustls-ring").contains("ring does not have it"));
    assert!(!advice(of, "rustls@0.22").contains("ring"));
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
