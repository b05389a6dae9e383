//! Equality of the schemas under `netbench/schemas/` and those of the types. `UPDATE_SCHEMAS=1` writes them.

use std::{fs, path::Path};

use netbench_report::schemas;

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
            "{path:?} is nobody's"
        );
    }
}
