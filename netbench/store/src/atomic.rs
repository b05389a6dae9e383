use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::Path,
};

use crate::StoreError;

/// Writes a whole file or none of it: the data goes to a temporary neighbour, which is then renamed.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    write_with(path, |file| file.write_all(bytes))
}

/// Writes the output of `content` in the same way.
pub(crate) fn write_with(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), StoreError> {
    replace(path, |beside| {
        let mut file = BufWriter::new(File::create(beside)?);
        content(&mut file)?;
        file.into_inner()?.sync_all()
    })
}

/// Replaces a file by the temporary neighbour that `make` writes, which is removed if that fails.
pub(crate) fn replace(
    path: &Path,
    make: impl FnOnce(&Path) -> io::Result<()>,
) -> Result<(), StoreError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let beside = Path::new(&beside);
    let made = make(beside).and_then(|()| fs::rename(beside, path));
    made.map_err(|error| {
        let _ = fs::remove_file(beside);
        StoreError::io(path)(error)
    })
}
