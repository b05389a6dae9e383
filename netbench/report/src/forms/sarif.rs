use serde_json::{Value, json};

use super::{Form, Needs, Options};
use crate::{
    document::{Check, Checked, Document},
    text::plain,
};

/// SARIF 2.1.0, which code hosts show beside the code.
pub(super) const FORM: Form = Form {
    needs: Needs::Checks,
    ..Form::new(
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

/// What is wrong is of a site or a case, and of no line of a file: its place is a logical one.
fn result(suite: &str, check: &Check, why: &str, rule: &str, index: usize) -> Value {
    let (suite, name) = (plain(suite), plain(&check.name));
    let of = check.class.as_deref().map_or(suite.clone(), plain);
    json!({
        "ruleId": rule,
        "ruleIndex": index,
        "level": "error",
        "message": {"text": format!("{of}: {}", plain(why))},
        "locations": [{
            "logicalLocations": [{
                "name": of,
                "fullyQualifiedName": format!("{of}/{name}"),
                "kind": "resource",
            }],
        }],
        "partialFingerprints": {"netbench/v1": format!("{suite}/{of}/{name}")},
    })
}
