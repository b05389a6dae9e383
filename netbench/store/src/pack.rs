use std::{
    fs::{self, File},
    io::{self, BufReader, Read, Write},
    ops::AddAssign,
    path::{Path, PathBuf},
};

use crate::{StoreError, atomic, records};

/// The level of compression, which is high because samples are read often and packed once.
const LEVEL: i32 = 19;

/// The result of packing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Packed {
    /// Size of the files before packing, in bytes.
    pub plain_bytes: u64,
    /// Size of the packed files, in bytes.
    pub packed_bytes: u64,
}

impl AddAssign for Packed {
    fn add_assign(&mut self, more: Self) {
        self.plain_bytes += more.plain_bytes;
        self.packed_bytes += more.packed_bytes;
    }
}

/// Returns the packed name of a file.
pub(crate) fn packed(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".zst");
    name.into()
}

/// Packs one file of records: into a temporary neighbour that is read back and compared, and renamed last. A kill at
/// any moment leaves the plain file, or the packed one, or both, in which case the plain file is read.
pub(crate) fn pack(path: &Path) -> Result<Packed, StoreError> {
    // The lock is held to the end, so that no process appends meanwhile; locking also removes an incomplete last line.
    let plain = records::lock(path)?;
    let target = packed(path);
    if plain.metadata().map_err(StoreError::io(path))?.len() == 0 {
        // The file is empty, or another process has just packed it.
        return Ok(Packed::default());
    }
    atomic::replace(&target, |beside| {
        compress(path, beside)?;
        verify(path, beside)
    })?;
    remove_plain(path, &target).map_err(StoreError::io(&target))
}

/// Removes a file whose records are packed. Returns the sizes of both files.
fn remove_plain(path: &Path, packed: &Path) -> io::Result<Packed> {
    let sizes = Packed {
        plain_bytes: fs::metadata(path)?.len(),
        packed_bytes: fs::metadata(packed)?.len(),
    };
    fs::remove_file(path)?;
    Ok(sizes)
}

fn compress(from: &Path, to: &Path) -> io::Result<()> {
    let mut encoder = zstd::Encoder::new(File::create(to)?, LEVEL)?;
    encoder.include_checksum(true)?;
    io::copy(&mut File::open(from)?, &mut encoder)?;
    let mut file = encoder.finish()?;
    file.flush()?;
    file.sync_all()
}

fn verify(plain: &Path, packed: &Path) -> io::Result<()> {
    let mut plain = BufReader::new(File::open(plain)?).bytes();
    let mut packed = BufReader::new(zstd::Decoder::new(File::open(packed)?)?).bytes();
    loop {
        match (plain.next().transpose()?, packed.next().transpose()?) {
            (None, None) => return Ok(()),
            (a, b) if a == b => {}
            _ => return Err(io::Error::other("what was packed reads back differently")),
        }
    }
}
