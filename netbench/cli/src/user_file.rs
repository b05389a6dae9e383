//! Text files that a user names. Each is read up to a limit, and devices, which may have no end, are refused.

use std::{fs::File, io::Read, os::unix::fs::FileTypeExt, path::Path};

use serde::de::DeserializeOwned;

use crate::exit::WrongInput;

/// Reads a file of at most `max_bytes`, or a pipe such as the shell's `<(…)`.
///
/// # Errors
/// The reason why the file cannot be read, without its name.
pub(crate) fn read_text(path: &Path, max_bytes: u64) -> Result<String, String> {
    let metadata = path.metadata().map_err(|error| error.to_string())?;
    let file_type = metadata.file_type();
    if file_type.is_char_device() || file_type.is_block_device() {
        return Err("a device; the name of a file is expected".to_owned());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(max_bytes + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    if bytes.len() as u64 > max_bytes {
        let limit = match max_bytes >> 20 {
            0 => format!("{max_bytes} bytes"),
            mebibytes => format!("{mebibytes} MiB"),
        };
        return Err(format!(
            "longer than {limit}, which is the limit for such a file"
        ));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("line {line}: not UTF-8")
    })
}

/// The name of a built-in file in plans and messages.
pub(crate) const BUILT_IN: &str = "built-in";

/// Returns the name and the text of a file, or those of a built-in text if there is no file.
pub(crate) fn read_or(
    built_in: &str,
    file: Option<&Path>,
    max_bytes: u64,
) -> Result<(String, String), WrongInput> {
    let Some(path) = file else {
        return Ok((BUILT_IN.to_owned(), built_in.to_owned()));
    };
    let name = path.display().to_string();
    match read_text(path, max_bytes) {
        Ok(text) => Ok((name, text)),
        Err(why) => Err(WrongInput(format!("{name}: {why}"))),
    }
}

/// Parses a TOML file.
///
/// # Errors
/// The first defect of the file, with its line.
pub(crate) fn parse_toml<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start).min(text.len());
        let line = text[..start].matches('\n').count() + 1;
        let what = error.message().lines().next().unwrap_or_default();
        format!("line {line}: {what}")
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn devices_and_long_files_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        for (name, bytes) in [
            ("short", &b"12345678"[..]),
            ("long", b"123456789"),
            ("latin1", b"a\n\xe9"),
        ] {
            fs::write(folder.join(name), bytes).expect("a file");
        }
        let short = read_text(&folder.join("short"), 8);
        assert_eq!(short, Ok("12345678".to_owned()));
        for (path, why) in [
            ("long", "longer than 8 bytes"),
            ("latin1", "line 2: not UTF-8"),
            ("/dev/zero", "a device"),
            ("/dev/null", "a device"),
            ("", "directory"),
            // A regular file with a reported size of 0.
            ("/proc/cpuinfo", "longer than 8 bytes"),
        ] {
            let said = read_text(&folder.join(path), 8).expect_err(why);
            assert!(said.contains(why), "{path}: {said}");
        }
    }
}
