use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use netbench_model::{Kind, Manifest, Plan, Record, SCHEMA_VERSION, upgrade_manifest};
use serde::{
    Serialize,
    de::{DeserializeOwned, IgnoredAny},
};

use crate::{
    Appender, Index, Packed, Repeated, StoreError, atomic, pack,
    records::{self, OnlySchema},
};

const MANIFEST: &str = "run.json";

/// The folder of one run.
#[derive(Debug, Clone)]
pub struct RunFolder {
    path: PathBuf,
}

/// The part of a manifest that does not depend on the kind of the run.
pub type Head = Manifest<IgnoredAny>;

impl RunFolder {
    /// Creates the folder of a new run, with its parents.
    ///
    /// # Errors
    /// A folder that is not empty, or cannot be made or written to.
    pub fn create(path: &Path, manifest: &impl Serialize) -> Result<Self, StoreError> {
        fs::create_dir_all(path).map_err(StoreError::io(path))?;
        if fs::read_dir(path)
            .map_err(StoreError::io(path))?
            .next()
            .is_some()
        {
            return Err(StoreError::InUse(path.to_owned()));
        }
        let folder = Self {
            path: path.to_owned(),
        };
        folder.write_manifest(manifest)?;
        Ok(folder)
    }

    /// Opens the folder of a run that has begun.
    ///
    /// # Errors
    /// A folder that does not exist, or has no manifest.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if !metadata(path)?.is_some_and(|metadata| metadata.is_dir()) {
            return Err(StoreError::Missing(path.to_owned()));
        }
        if !metadata(&path.join(MANIFEST))?.is_some_and(|metadata| metadata.is_file()) {
            return Err(StoreError::NotARun(path.to_owned()));
        }
        Ok(Self {
            path: path.to_owned(),
        })
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the kind of the run.
    ///
    /// # Errors
    /// A manifest that is truncated, of a newer schema, or without a kind.
    pub fn kind(&self) -> Result<Kind, StoreError> {
        #[derive(serde::Deserialize)]
        struct OnlyKind {
            kind: Kind,
        }
        let OnlyKind { kind } = self.read_manifest()?;
        Ok(kind)
    }

    /// Reads the part of the manifest that does not depend on the kind.
    ///
    /// # Errors
    /// As [`Self::manifest`], except for the kind.
    pub fn head(&self) -> Result<Head, StoreError> {
        self.read_manifest()
    }

    /// Reads the manifest of a run of one kind.
    ///
    /// # Errors
    /// A manifest that is truncated, of a newer schema, or of another kind.
    pub fn manifest<P: Plan>(&self) -> Result<Manifest<P>, StoreError> {
        let found = self.kind()?;
        if found != P::KIND {
            return Err(StoreError::OtherKind {
                path: self.path.clone(),
                found,
                wanted: P::KIND,
            });
        }
        self.read_manifest()
    }

    fn read_manifest<M: DeserializeOwned>(&self) -> Result<M, StoreError> {
        let path = self.path.join(MANIFEST);
        let bytes = fs::read(&path).map_err(StoreError::io(&path))?;
        // The schema is read first, because a manifest of another schema may have a different format.
        let schema = serde_json::from_slice(&bytes).map(|OnlySchema { schema }| schema);
        let read = match schema {
            Ok(found) if found > u64::from(SCHEMA_VERSION) => {
                return Err(StoreError::Newer { path, found });
            }
            Ok(1) => serde_json::from_slice(&bytes).and_then(|mut manifest| {
                upgrade_manifest(&mut manifest);
                serde_json::from_value(manifest)
            }),
            _ => serde_json::from_slice(&bytes),
        };
        read.map_err(|source| StoreError::Manifest { path, source })
    }

    /// Writes the manifest, whole or not at all.
    ///
    /// # Errors
    /// An error of the system.
    pub fn write_manifest(&self, manifest: &impl Serialize) -> Result<(), StoreError> {
        // The manifest of a run with many sites is long.
        atomic::write_with(&self.path.join(MANIFEST), |file| {
            serde_json::to_writer_pretty(&mut *file, manifest)?;
            file.write_all(b"\n")
        })
    }

    /// Returns every record, in the order in which they were appended, from the plain file or the packed one. An
    /// incomplete last line, which a kill leaves, is skipped; a missing file has no records.
    ///
    /// # Errors
    /// A complete line that is not a record or is of a newer schema, or a packed file that is damaged.
    pub fn records<R: Record>(&self) -> Result<Vec<R>, StoreError> {
        let mut records = Vec::new();
        self.each_record(|record| records.push(record))?;
        Ok(records)
    }

    /// Passes every record to `each`, in the same order, for runs whose records do not fit into memory.
    ///
    /// # Errors
    /// As [`Self::records`]; `each` has received the records before the error.
    pub fn each_record<R: Record>(&self, each: impl FnMut(R)) -> Result<(), StoreError> {
        records::read(&self.path.join(R::FILE), each)
    }

    /// Finds the lines in the files of records that repeat an earlier line. [`Self::records`] skips them.
    ///
    /// # Errors
    /// An error of the system, or a packed file that is damaged.
    pub fn repeated(&self) -> Result<Vec<Repeated>, StoreError> {
        let mut found = Vec::new();
        for path in self.entries()? {
            let name = path.to_string_lossy();
            if path.is_file() && (name.ends_with(".jsonl") || name.ends_with(".jsonl.zst")) {
                found.extend(records::repeated(&path)?);
            }
        }
        Ok(found)
    }

    /// Finds the position of each record, under the `name` of its `K`, to read the records one at a time in any order.
    /// The last of several records with the same name counts.
    ///
    /// # Errors
    /// As [`Self::records`].
    pub fn index<K: Record>(&self, name: impl Fn(K) -> String) -> Result<Index, StoreError> {
        Index::new(self.path.join(K::FILE), name)
    }

    /// Opens the records for appending, exclusively for this process. An incomplete last line, which a kill leaves, is
    /// removed.
    ///
    /// # Errors
    /// [`StoreError::Locked`], [`StoreError::Packed`], or an error of the system.
    pub fn appender<R: Record>(&self) -> Result<Appender, StoreError> {
        Appender::open(&self.path.join(R::FILE))
    }

    /// Compresses the run's records with zstd. Each packed file is read back and compared before the plain file is
    /// removed. [`Self::records`] reads both.
    ///
    /// # Errors
    /// [`StoreError::Locked`] while another process appends, or an error of the system; the plain file then still
    /// exists.
    pub fn pack(&self) -> Result<Packed, StoreError> {
        let mut packed = Packed::default();
        for path in self.plain_records()? {
            packed += pack::pack(&path)?;
        }
        Ok(packed)
    }

    /// Returns whether a process is currently appending records to the run.
    ///
    /// # Errors
    /// An error of the system.
    pub fn is_in_use(&self) -> Result<bool, StoreError> {
        for path in self.plain_records()? {
            if records::is_locked(&path)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the files of records that are not packed.
    fn plain_records(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut paths = self.entries()?;
        paths.retain(|path| {
            let plain = fs::symlink_metadata(path).is_ok_and(|data| data.is_file());
            plain && path.extension().is_some_and(|end| end == "jsonl")
        });
        Ok(paths)
    }

    fn entries(&self) -> Result<Vec<PathBuf>, StoreError> {
        let entries = fs::read_dir(&self.path).map_err(StoreError::io(&self.path))?;
        let paths = entries.map(|entry| Ok(entry?.path()));
        paths
            .collect::<io::Result<_>>()
            .map_err(StoreError::io(&self.path))
    }

    /// Reads a JSON file of the run that [`Self::write_file`] wrote, or returns `None` if it does not exist.
    ///
    /// # Errors
    /// A file that is truncated or of another format, or an error of the system.
    pub fn read_json<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, StoreError> {
        let path = self.path.join(name);
        let Some(bytes) = records::read_file(&path)? else {
            return Ok(None);
        };
        let read = serde_json::from_slice(&bytes);
        read.map(Some)
            .map_err(|source| StoreError::Manifest { path, source })
    }

    /// Writes a file of the run, whole or not at all, and returns its path.
    ///
    /// # Errors
    /// An error of the system.
    pub fn write_file(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, StoreError> {
        let path = self.path.join(name);
        atomic::write(&path, bytes)?;
        Ok(path)
    }
}

/// Returns the metadata of a path, or `None` if it does not exist. A path without permission may exist.
fn metadata(path: &Path) -> Result<Option<fs::Metadata>, StoreError> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(StoreError::io(path)(error))
        }
        metadata => Ok(metadata.ok()),
    }
}
