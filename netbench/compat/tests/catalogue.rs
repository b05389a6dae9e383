//! The built-in catalogue, and what is said of a wrong one.

use netbench_compat::{BUILT_IN, catalogue};
use netbench_model::compat::Expected;

/// A case that is right, for tests that make one thing in it wrong.
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
    // A catalogue of the one kind alone would be met by a stack that takes everything, or nothing.
    assert!((20..cases.len() - 20).contains(&refused.count()));
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
