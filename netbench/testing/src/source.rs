use std::{
    fs,
    path::{Path, PathBuf},
};

/// Searches for `#[test]` in the source of a test target without the standard harness: the file `main`, as in
/// `file!()`, and all files of its folder where that file is a `main.rs`.
///
/// # Panics
/// Panics if there is a `#[test]`: the compiler has dropped that test.
pub fn no_lost_tests(main: &str) {
    let main = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(main);
    let files = match main.parent() {
        Some(folder) if main.ends_with("main.rs") => sources(folder),
        _ => vec![main],
    };
    for file in files {
        // Where the source is not available, only the compiler's lints find such a function.
        let Ok(text) = fs::read_to_string(&file) else {
            continue;
        };
        assert!(
            !has_test(&text),
            "{}: a function with #[test] would never run: it belongs into the list of tests!",
            file.display()
        );
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

fn has_test(text: &str) -> bool {
    text.lines().any(|line| line.trim() == "#[test]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_test_is_seen() {
        assert!(has_test("use a;\n\n  #[test]\nfn t() {}"));
        assert!(!has_test("/// Not `#[test]`.\nfn t() {}"));
        assert!(
            std::panic::catch_unwind(|| no_lost_tests("netbench/testing/src/source.rs")).is_err()
        );
        no_lost_tests("netbench/testing/src/lib.rs");
    }
}
