//! Line counts of a crate's sources.

use std::{fs, io, path::Path};

/// Line counts of a crate's sources.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Lines {
    /// Lines of Rust that contain `unsafe`.
    pub(crate) with_unsafe: u32,
    /// Lines of C, C++ and assembly, without blank lines.
    pub(crate) of_c: u32,
}

/// Folders that no build reads.
const ASIDE: [&str; 8] = [
    "target", "tests", "test", "benches", "examples", "fuzz", "doc", "docs",
];

const C: [&str; 9] = ["c", "h", "cc", "cpp", "hpp", "s", "S", "asm", "inc"];

/// The maximum depth of folders, greater than in any crate: recursion through a symbolic link to a
/// parent ends here.
const DEEPEST: u32 = 24;

/// Counts the lines of all sources under `folder`, except tests and the like.
pub(crate) fn count(folder: &Path) -> io::Result<Lines> {
    let mut lines = Lines::default();
    walk(folder, &mut lines, 0)?;
    Ok(lines)
}

fn walk(folder: &Path, lines: &mut Lines, depth: u32) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (kind, path) = (entry.file_type()?, entry.path());
        if kind.is_dir() {
            let name = entry.file_name();
            if depth < DEEPEST && !ASIDE.iter().any(|aside| name == *aside) {
                walk(&path, lines, depth + 1)?;
            }
        } else if kind.is_file() {
            let extension = path
                .extension()
                .and_then(|e| e.to_str())
                .unwrap_or_default();
            if extension == "rs" {
                lines.with_unsafe += with_unsafe(&read(&path)?);
            } else if C.contains(&extension) {
                lines.of_c += not_blank(&read(&path)?);
            }
        }
    }
    Ok(())
}

fn read(path: &Path) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned())
}

fn with_unsafe(text: &str) -> u32 {
    number(
        text.lines()
            .filter(|line| {
                let code = line.split("//").next().unwrap_or_default();
                code.split(|c: char| !c.is_alphanumeric() && c != '_')
                    .any(|word| word == "unsafe")
            })
            .count(),
    )
}

fn not_blank(text: &str) -> u32 {
    number(text.lines().filter(|line| !line.trim().is_empty()).count())
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_counted_and_comments_and_tests_are_not() {
        let place = tempfile::tempdir().unwrap();
        for (name, text) in [
            (
                "src/lib.rs",
                "#![forbid(unsafe_code)]\n// unsafe\nunsafe fn f() {}\nfn g() { unsafe { f() } } // SAFETY\n",
            ),
            ("csrc/a.c", "int a;\n\nint b;\n"),
            ("csrc/deep/b.S", "ret\n"),
            ("tests/c.rs", "unsafe fn f() {}\n"),
            ("src/data.bin", "\u{0}\n"),
        ] {
            let path = place.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let lines = count(place.path()).unwrap();
        assert_eq!(
            lines,
            Lines {
                with_unsafe: 2,
                of_c: 3
            }
        );
    }
}
