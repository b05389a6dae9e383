//! Files from the command line.

use std::{
    fs::{self, File},
    io::{self, Read as _},
};

/// Reads a file of at most `most` bytes. Returns `None` where it is longer, or not a regular file.
pub(crate) fn read(path: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
    // The path is checked first, since opening a pipe waits for its other end.
    if !fs::metadata(path)?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}
