use std::{
    fs::File,
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, BufReader, Seek, Write},
    os::unix::fs::FileExt,
    path::PathBuf,
};

use netbench_model::Record;

use crate::{
    StoreError,
    records::{self, Stored},
};

/// The position of each record of a run, by the record's name.
#[derive(Debug)]
pub struct Index {
    path: PathBuf,
    /// The plain file; `None` if there are no records.
    file: Option<File>,
    /// Hash of the name, offset and length of each record, sorted by the hash.
    places: Vec<(Key, u64, u32)>,
}

/// The hash of a name: the names of a million sites would need most of the memory. A collision of 128 bits is
/// negligible.
type Key = [u64; 2];

fn key(name: &str) -> Key {
    [0, 1].map(|which: u8| {
        let mut hasher = DefaultHasher::new();
        (which, name).hash(&mut hasher);
        hasher.finish()
    })
}

impl Index {
    pub(crate) fn new<K: Record>(
        path: PathBuf,
        name: impl Fn(K) -> String,
    ) -> Result<Self, StoreError> {
        let (file, path) = match records::stored(&path)? {
            None => (None, path),
            Some(Stored::Plain(file)) => (Some(file), path),
            Some(Stored::Packed(packed, path)) => {
                let unpacked = unpack(packed).map_err(StoreError::unpacking(&path))?;
                (Some(unpacked), path)
            }
        };
        let mut places = Vec::new();
        if let Some(file) = &file {
            records::lines(
                BufReader::new(file),
                &path,
                StoreError::io(&path),
                |record, place| {
                    // Lines are shorter than 4 GiB.
                    let length = u32::try_from(place.end - place.start).unwrap_or(u32::MAX);
                    places.push((key(&name(record)), place.start, length));
                },
            )?;
        }
        places.sort_unstable();
        Ok(Self { path, file, places })
    }

    /// Returns the number of names.
    pub fn names(&self) -> usize {
        self.places.chunk_by(|(a, ..), (b, ..)| a == b).count()
    }

    /// Reads the record with this name, if it exists.
    ///
    /// # Errors
    /// A record that no longer exists or is not an `R`, or an error of the system.
    pub fn read<R: Record>(&self, name: &str) -> Result<Option<R>, StoreError> {
        let (Some(file), Some((_, start, length))) = (&self.file, self.place(name)) else {
            return Ok(None);
        };
        let failed = StoreError::io(&self.path);
        let mut line = vec![0; *length as usize];
        file.read_exact_at(&mut line, *start).map_err(&failed)?;
        let record = serde_json::from_slice(&line);
        record
            .map(Some)
            .map_err(|error| failed(io::Error::other(error)))
    }

    /// Returns whether a record with this name exists.
    pub fn has(&self, name: &str) -> bool {
        self.place(name).is_some()
    }

    /// Returns the last of several positions.
    fn place(&self, name: &str) -> Option<&(Key, u64, u32)> {
        let key = key(name);
        let end = self.places.partition_point(|(of, ..)| *of <= key);
        self.places[..end].last().filter(|(of, ..)| *of == key)
    }
}

/// Decompresses a packed file to a temporary file, which is deleted when it is closed.
fn unpack(packed: File) -> io::Result<File> {
    let mut plain = tempfile::tempfile()?;
    io::copy(&mut zstd::Decoder::new(packed)?, &mut plain)?;
    plain.flush()?;
    plain.rewind()?;
    Ok(plain)
}
