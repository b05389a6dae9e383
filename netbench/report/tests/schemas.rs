//! Equality of the schemas under `netbench/schemas/` and those of the types. `UPDATE_SCHEMAS=1` writes them.

use std::{fs, path::Path};

use netbench_report::schemas;
use serde_json::Value;

#[test]
fn schemas_are_checked_in_as_the_types_give_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas");
    let update = std::env::var_os("UPDATE_SCHEMAS").is_some();
    let mut files = Vec::new();
    for schema in schemas() {
        let path = folder.join(schema.file);
        if update {
            fs::write(&path, &schema.text).unwrap();
        }
        let checked_in = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            checked_in == schema.text,
            "netbench/schemas/{} is not what the types give; UPDATE_SCHEMAS=1 cargo test -p netbench-report \
             writes it",
            schema.file
        );
        let schema = serde_json::from_str(&checked_in).unwrap();
        jsonschema::meta::validate(&schema).unwrap();
        files.push(path);
    }
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        assert!(
            files
                .iter()
                .any(|file| file.file_name() == path.file_name()),
            "{path:?} is of no type"
        );
    }
}

/// The schemas of documents that have no summary, and are therefore not written as CSV.
const RECORDS: &[&str] = &[
    "run.json",
    "sample.json",
    "site.json",
    "request.json",
    "response.json",
    "against.json",
];

/// The lists of values without a name, which CSV numbers.
const NUMBERED: &[&str] = &[
    "CaseOfFeatureCase.connections",
    "CaseOfFeatureCase.requests",
    "ChainScan.certificates",
    "Found.suites",
    "LinkRecord.checks",
    "ManySites.alike",
    "Manifest.sessions",
    "Policy.keys",
    "SiteScan.chains",
    "SweepSummary.each_site",
];

#[test]
fn every_row_of_csv_can_be_identified() {
    for schema in schemas() {
        if RECORDS.iter().any(|end| schema.file.ends_with(end)) {
            continue;
        }
        let root: Value = serde_json::from_str(&schema.text).unwrap();
        let of_types = root["$defs"].as_object().into_iter().flatten();
        for (name, part) in of_types.chain([(&schema.file.to_owned(), &root)]) {
            for (field, list) in fields(&root, part) {
                let element = resolved(&root, list)
                    .into_iter()
                    .find_map(|part| part.get("items"));
                let Some(element) = element else { continue };
                let mut keys = fields(&root, element).into_iter();
                let has_key = keys.any(|(_, part)| has(&root, part, "x-key"));
                let is_value = fields(&root, element).is_empty();
                assert!(
                    is_value
                        || has_key
                        || has(&root, list, "x-names")
                        || NUMBERED.contains(&format!("{name}.{field}").as_str()),
                    "{}: the rows of {name}.{field} have no key",
                    schema.file
                );
            }
        }
    }
}

#[test]
fn the_summary_of_every_run_has_the_same_head() {
    let mut kinds = 0;
    for schema in schemas() {
        let file = schema.file;
        let is_of_run = file.ends_with("-summary.json")
            && !file.starts_with("compare")
            && !file.starts_with("joined");
        if !is_of_run && file != "evaluation.json" {
            continue;
        }
        kinds += 1;
        let root: Value = serde_json::from_str(&schema.text).unwrap();
        for field in ["schema", "kind", "run", "seed"] {
            assert!(root["properties"].get(field).is_some(), "{file}: {field}");
        }
        let has_warnings = root["properties"].get("warnings").is_some();
        assert!(has_warnings || file == "explain-summary.json", "{file}");
    }
    assert_eq!(kinds, 11);
}

/// Returns the fields of a value that a part of a schema describes.
fn fields<'a>(root: &'a Value, part: &'a Value) -> Vec<(&'a String, &'a Value)> {
    let parts = resolved(root, part).into_iter();
    let properties = parts.filter_map(|part| part["properties"].as_object());
    properties.flatten().collect()
}

fn has(root: &Value, part: &Value, keyword: &str) -> bool {
    let mut parts = resolved(root, part).into_iter();
    parts.any(|part| part.get(keyword).is_some())
}

/// Returns a part of a schema, with those that it refers to and its alternatives.
fn resolved<'a>(root: &'a Value, part: &'a Value) -> Vec<&'a Value> {
    let mut parts = vec![part];
    let target = part["$ref"]
        .as_str()
        .and_then(|target| root.pointer(target.strip_prefix('#')?));
    let alternatives = ["anyOf", "oneOf", "allOf"].map(|word| part[word].as_array());
    let inner = target
        .into_iter()
        .chain(alternatives.into_iter().flatten().flatten());
    for inner in inner {
        parts.extend(resolved(root, inner));
    }
    parts
}
