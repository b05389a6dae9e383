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

use crate::{Appender, Index, Packed, Repeated, StoreError, atomic, pack, records};

const MANIFEST: &str = "run.json";

/// The folder of one run.
#[derive(Debug, Clone)]
pub struct RunFolder {
    path: PathBuf,
}

/// What every manifest says, whatever the kind of the run.
pub type Head = Manifest<IgnoredAny>;

impl RunFolder {
    /// Makes the folder of a new run, with its parents.
    ///
    /// # Errors
    /// A folder that has something in it, or cannot be made or written to.
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
    /// A folder that is not there, or has no manifest.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        // What cannot be looked at may well be there.
        let about = |path: &Path| match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                Err(StoreError::io(path)(error))
            }
            about => Ok(about.ok()),
        };
        if !about(path)?.is_some_and(|about| about.is_dir()) {
            return Err(StoreError::Missing(path.to_owned()));
        }
        if !about(&path.join(MANIFEST))?.is_some_and(|about| about.is_file()) {
            return Err(StoreError::NotARun(path.to_owned()));
        }
        Ok(Self {
            path: path.to_owned(),
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the run is of.
    ///
    /// # Errors
    /// A manifest that is cut short, of a newer schema, or says nothing of a kind.
    pub fn kind(&self) -> Result<Kind, StoreError> {
        #[derive(serde::Deserialize)]
        struct OnlyKind {
            kind: Kind,
        }
        let OnlyKind { kind } = self.read_manifest()?;
        Ok(kind)
    }

    /// Reads what every manifest says, whatever the kind.
    ///
    /// # Errors
    /// As [`Self::manifest`], but for the kind.
    pub fn head(&self) -> Result<Head, StoreError> {
        self.read_manifest()
    }

    /// Reads the manifest of a run of one kind.
    ///
    /// # Errors
    /// A manifest that is cut short, of a newer schema, or of another kind.
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
        #[derive(serde::Deserialize)]
        struct OnlySchema {
            schema: u64,
        }
        let path = self.path.join(MANIFEST);
        let bytes = fs::read(&path).map_err(StoreError::io(&path))?;
        // The schema first: a manifest of another one may well have another form.
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
    /// What the system says.
    pub fn write_manifest(&self, manifest: &impl Serialize) -> Result<(), StoreError> {
        // A run of many sites has a long one.
        atomic::write_with(&self.path.join(MANIFEST), |file| {
            serde_json::to_writer_pretty(&mut *file, manifest)?;
            file.write_all(b"\n")
        })
    }

    /// Every record, in the order in which they were appended, from the plain file or the packed one. A last
    /// line without its end is what a kill leaves, and is passed over; no file at all is no records.
    ///
    /// # Errors
    /// A whole line that is no record or one of a newer schema, or a packed file that is damaged.
    pub fn records<R: Record>(&self) -> Result<Vec<R>, StoreError> {
        let mut records = Vec::new();
        self.each_record(|record| records.push(record))?;
        Ok(records)
    }

    /// Passes every record to `each`, in the same order: for runs of which no process should hold all.
    ///
    /// # Errors
    /// As [`Self::records`]; `each` has had those before it.
    pub fn each_record<R: Record>(&self, each: impl FnMut(R)) -> Result<(), StoreError> {
        records::read(&self.path.join(R::FILE), each)
    }

    /// Finds the lines in its files of records that repeat one before them. [`Self::records`] passes over them.
    ///
    /// # Errors
    /// What the system says, or a packed file that is damaged.
    pub fn repeated(&self) -> Result<Vec<Repeated>, StoreError> {
        let entries = fs::read_dir(&self.path).map_err(StoreError::io(&self.path))?;
        let mut found = Vec::new();
        for entry in entries {
            let path = entry.map_err(StoreError::io(&self.path))?.path();
            let name = path.to_string_lossy();
            if path.is_file() && (name.ends_with(".jsonl") || name.ends_with(".jsonl.zst")) {
                found.extend(records::repeated(&path)?);
            }
        }
        Ok(found)
    }

    /// Finds the place of each record by a `name` that `K` has of it, to read them one at a time in any
    /// order. Of those of one name the last counts.
    ///
    /// # Errors
    /// As [`Self::records`].
    pub fn index<K: Record>(&self, name: impl Fn(K) -> String) -> Result<Index, StoreError> {
        Index::new(self.path.join(K::FILE), name)
    }

    /// Opens the records for appending, for this process alone. What a kill has left of a last
    /// line is cut off.
    ///
    /// # Errors
    /// [`StoreError::Locked`], [`StoreError::Packed`], or what the system says.
    pub fn appender<R: Record>(&self) -> Result<Appender, StoreError> {
        Appender::open(&self.path.join(R::FILE))
    }

    /// Compresses the run's records with zstd. Each file is read back and compared before the plain one goes.
    /// [`Self::records`] reads both alike.
    ///
    /// # Errors
    /// [`StoreError::Locked`] while another process appends, or what the system says; the plain file is then
    /// still there.
    pub fn pack(&self) -> Result<Packed, StoreError> {
        let mut packed = Packed::default();
        for path in self.plain_records()? {
            packed += pack::pack(&path)?;
        }
        Ok(packed)
    }

    /// Whether a process is appending records to it at the moment.
    ///
    /// # Errors
    /// What the system says.
    pub fn is_in_use(&self) -> Result<bool, StoreError> {
        for path in self.plain_records()? {
            if records::is_locked(&path)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The files of records that are not packed.
    fn plain_records(&self) -> Result<Vec<PathBuf>, StoreError> {
        let entries = fs::read_dir(&self.path).map_err(StoreError::io(&self.path))?;
        let mut paths = Vec::new();
        for entry in entries {
            let path = entry.map_err(StoreError::io(&self.path))?.path();
            let plain = fs::symlink_metadata(&path).is_ok_and(|data| data.is_file());
            if plain && path.extension().is_some_and(|end| end == "jsonl") {
                paths.push(path);
            }
        }
        Ok(paths)
    }

    /// Reads a JSON file of the run that [`Self::write_file`] wrote; none where there is none.
    ///
    /// # Errors
    /// One that is cut short or of another form, or what the system says.
    pub fn read_json<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, StoreError> {
        let path = self.path.join(name);
        let Some(bytes) = records::read_file(&path)? else {
            return Ok(None);
        };
        let read = serde_json::from_slice(&bytes);
        read.map(Some)
            .map_err(|source| StoreError::Manifest { path, source })
    }

    /// Writes a file of the run, whole or not at all, and says where it is.
    ///
    /// # Errors
    /// What the system says.
    pub fn write_file(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, StoreError> {
        let path = self.path.join(name);
        atomic::write(&path, bytes)?;
        Ok(path)
    }
}
