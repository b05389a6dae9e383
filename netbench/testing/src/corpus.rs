use std::{fs, path::Path};

/// Passes each file in the corpus of each fuzz target to the function that the target calls, and then to `check` after the names
/// of target and file. The targets and corpora are in the folder `fuzz` of the crate in `folder`.
///
/// # Panics
/// Panics if a parser or `check` panics, or if a target lacks its file or has fewer than three files in its corpus.
pub fn read_corpora<P: Fn(&[u8])>(
    folder: &str,
    parsers: &[(&str, P)],
    check: impl Fn(&str, &str, &[u8]),
) {
    let fuzz = Path::new(folder).join("fuzz");
    for (name, parser) in parsers {
        let target = fuzz.join(format!("fuzz_targets/{name}.rs"));
        assert!(target.is_file(), "no fuzz target {name}");
        let corpus = fuzz.join("corpus").join(name);
        let mut count = 0;
        for entry in fs::read_dir(corpus).expect("a corpus") {
            let path = entry.expect("a file of a corpus").path();
            let bytes = fs::read(&path).expect("a readable file");
            parser(&bytes);
            let file = path.file_name().unwrap_or_default();
            check(name, &file.to_string_lossy(), &bytes);
            count += 1;
        }
        assert!(count >= 3, "{name}: {count} files");
    }
}
