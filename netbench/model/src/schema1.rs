//! Schema 1, in which each kind of run had a different format of the manifest.

use serde_json::{Map, Value, json};

/// Upgrades a `run.json` of schema 1 to [`crate::SCHEMA_VERSION`]. Missing or invalid parts are kept; the reader of the
/// result reports them.
pub fn upgrade_manifest(manifest: &mut Value) {
    let Some(fields) = manifest.as_object_mut() else {
        return;
    };
    fields.insert("schema".to_owned(), json!(crate::SCHEMA_VERSION));
    match fields.get("kind").and_then(Value::as_str) {
        None => set(fields, "kind", json!("connect")),
        Some("suite") => rename(fields, "suite", "plan"),
        Some("scan") => rename(fields, "scan", "plan"),
        Some("evaluate") => evaluation(fields),
        Some(_) => {}
    }
}

/// Upgrades an evaluation, which had neither machine nor sessions, because its parts are runs that have them.
fn evaluation(fields: &mut Map<String, Value>) {
    fields.insert("kind".to_owned(), json!("evaluation"));
    let parts = fields.remove("parts");
    if let (Some(plan), Some(parts)) =
        (fields.get_mut("plan").and_then(Value::as_object_mut), parts)
    {
        plan.insert("parts".to_owned(), parts);
    }
    let session = json!({
        "started": fields.get("started"),
        "finished": fields.get("finished"),
        "command": fields.remove("command"),
        "interrupted": false,
    });
    set(fields, "sessions", json!([session]));
    set(fields, "workers", json!([]));
    set(fields, "environment", json!({"facts": {}, "variables": {}}));
    set(fields, "warnings", json!([]));
}

/// Sets a field unless it is present.
fn set(fields: &mut Map<String, Value>, name: &str, value: Value) {
    fields.entry(name).or_insert(value);
}

fn rename(fields: &mut Map<String, Value>, from: &str, to: &str) {
    if let Some(value) = fields.remove(from) {
        set(fields, to, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upgraded(mut manifest: Value) -> Value {
        upgrade_manifest(&mut manifest);
        manifest
    }

    #[test]
    fn each_kind_gets_its_name_and_its_plan() {
        for (old, kind) in [
            (json!({"schema": 1, "plan": {"seed": 1}}), "connect"),
            (
                json!({"schema": 1, "kind": "suite", "suite": {"seed": 1}}),
                "suite",
            ),
            (
                json!({"schema": 1, "kind": "scan", "scan": {"seed": 1}}),
                "scan",
            ),
        ] {
            let expected = json!({
                "schema": crate::SCHEMA_VERSION,
                "kind": kind,
                "plan": {"seed": 1},
            });
            assert_eq!(upgraded(old), expected);
        }
    }

    #[test]
    fn an_evaluation_gets_a_session_and_its_parts_into_its_plan() {
        let new = upgraded(json!({
            "schema": 1,
            "kind": "evaluate",
            "started": "then",
            "finished": null,
            "command": ["netbench", "evaluate"],
            "plan": {"seed": 1},
            "parts": [{"part": "suite"}],
        }));
        assert_eq!(new["kind"], "evaluation");
        assert_eq!(
            new["plan"],
            json!({"seed": 1, "parts": [{"part": "suite"}]})
        );
        assert_eq!(
            new["sessions"][0]["command"],
            json!(["netbench", "evaluate"])
        );
        assert!(new.get("command").is_none() && new.get("parts").is_none());
    }

    #[test]
    fn what_is_no_manifest_stays_what_it_is() {
        for value in [json!(null), json!([1]), json!("text")] {
            assert_eq!(upgraded(value.clone()), value);
        }
        let odd = upgraded(json!({"schema": 1, "kind": "evaluate", "plan": 7, "parts": []}));
        assert_eq!(odd["plan"], 7);
        let unknown = upgraded(json!({"schema": 1, "kind": "teapot"}));
        assert_eq!(unknown["kind"], "teapot");
    }
}
