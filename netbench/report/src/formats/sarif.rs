use serde_json::{Value, json};

use super::{Format, Needs, Options};
use crate::{
    document::{Check, Checked, Document},
    text::plain,
};

pub(super) const FORMAT: Format = Format {
    needs: Needs::Checks,
    ..Format::new(
        "sarif",
        "sarif",
        "What failed, as SARIF 2.1.0, for code scanning",
        render,
    )
};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

fn render(document: &Document<'_>, _: &Options) -> Vec<u8> {
    let mut rules: Vec<String> = Vec::new();
    let mut results = Vec::new();
    for suite in &document.checks {
        for check in &suite.checks {
            if let Checked::Failed { why, class } = &check.outcome {
                let rule = plain(class);
                let at = rules.iter().position(|known| *known == rule);
                let at = at.unwrap_or_else(|| {
                    rules.push(rule.clone());
                    rules.len() - 1
                });
                results.push(result(&suite.name, check, why, &rule, at));
            }
        }
    }
    let rules: Vec<Value> = rules
        .iter()
        .map(|rule| json!({"id": rule, "shortDescription": {"text": rule}}))
        .collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "netbench",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "automationDetails": {"id": format!("netbench {}/{}", document.kind, plain(&document.name))},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    let mut bytes = serde_json::to_vec_pretty(&log).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Returns the result of a failed check. A failure belongs to a site or a case, not to a line of a file: its
/// location is a logical one. Code hosts refuse a result without a file and a line, and receive the site's name as
/// the file.
fn result(suite: &str, check: &Check, why: &str, rule: &str, index: usize) -> Value {
    let (suite, name) = (plain(suite), plain(&check.name));
    let of = check.class.as_deref().map_or(suite.clone(), plain);
    json!({
        "ruleId": rule,
        "ruleIndex": index,
        "level": "error",
        "message": {"text": format!("{of}: {}", plain(why))},
        "locations": [{
            "physicalLocation": {
                "artifactLocation": {"uri": relative_uri(&of)},
                "region": {"startLine": 1},
            },
            "logicalLocations": [{
                "name": of,
                "fullyQualifiedName": format!("{of}/{name}"),
                "kind": "resource",
            }],
        }],
        "partialFingerprints": {"netbench/v1": format!("{suite}/{of}/{name}")},
    })
}

/// Encodes a name as the path of a relative reference (RFC 3986 section 4.2).
fn relative_uri(name: &str) -> String {
    let mut uri = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_sites_are_no_schemes_of_a_uri() {
        assert_eq!(relative_uri("www.example.test"), "www.example.test");
        assert_eq!(relative_uri("localhost:8443/a"), "localhost%3A8443%2Fa");
        assert_eq!(relative_uri("[::1]:443"), "%5B%3A%3A1%5D%3A443");
    }
}
