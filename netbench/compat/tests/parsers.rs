//! Each parser has a fuzz target, whose corpus runs through the same function.

use std::{fs, path::Path};

use netbench_compat::parsers;

/// Every file of the corpus is passed to the function that its fuzz target calls.
#[test]
fn the_corpus_is_read_without_harm() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let corpus = fuzz.join("corpus");
    for (name, parser) in parsers::ALL {
        let target = fuzz.join(format!("fuzz_targets/{name}.rs"));
        assert!(target.is_file(), "no fuzz target {name}");
        let mut count = 0;
        for entry in fs::read_dir(corpus.join(name)).unwrap() {
            parser(&fs::read(entry.unwrap().path()).unwrap());
            count += 1;
        }
        assert!(count >= 3, "{name}: {count} files");
    }
}
