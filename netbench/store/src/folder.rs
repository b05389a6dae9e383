use std::{
    fs, io,
    path::{Path, PathBuf},
};

use netbench_model::{Record, SCHEMA_VERSION};
use serde::{Serialize, de::DeserializeOwned};

use crate::{Appender, StoreError, atomic, samples};

const MANIFEST: &str = "run.json";
const SAMPLES: &str = "samples.jsonl";
const SCANS: &str = "scan.jsonl";

/// The folder of one run.
#[derive(Debug, Clone)]
pub struct RunFolder {
    path: PathBuf,
}

/// What a run is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunKind {
    /// Connections to sites.
    #[default]
    Connect,
    /// The in-memory suite.
    Suite,
    /// An evaluation, whose parts are runs.
    Evaluate,
    /// What servers speak.
    Scan,
}

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
        if !path.is_dir() {
            return Err(StoreError::Missing(path.to_owned()));
        }
        if !path.join(MANIFEST).is_file() {
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
    /// A manifest that is cut short or of a newer schema.
    pub fn kind(&self) -> Result<RunKind, StoreError> {
        #[derive(serde::Deserialize)]
        struct OnlyKind {
            #[serde(default)]
            kind: RunKind,
        }
        let OnlyKind { kind } = self.manifest()?;
        Ok(kind)
    }

    /// Reads the manifest, which is a [`netbench_model::Manifest`], a
    /// [`netbench_model::SuiteManifest`] … by [`Self::kind`].
    ///
    /// # Errors
    /// One that is cut short or of a newer schema.
    pub fn manifest<M: DeserializeOwned>(&self) -> Result<M, StoreError> {
        #[derive(serde::Deserialize)]
        struct OnlySchema {
            schema: u64,
        }
        let path = self.path.join(MANIFEST);
        let bytes = fs::read(&path).map_err(StoreError::io(&path))?;
        // The schema first: a newer manifest may well have another form.
        match serde_json::from_slice(&bytes) {
            Ok(OnlySchema { schema }) if schema > u64::from(SCHEMA_VERSION) => {
                Err(StoreError::Newer {
                    path,
                    found: schema,
                })
            }
            _ => serde_json::from_slice(&bytes)
                .map_err(|source| StoreError::Manifest { path, source }),
        }
    }

    /// Writes the manifest, whole or not at all.
    ///
    /// # Errors
    /// What the system says.
    pub fn write_manifest(&self, manifest: &impl Serialize) -> Result<(), StoreError> {
        let path = self.path.join(MANIFEST);
        let mut bytes = serde_json::to_vec_pretty(manifest)
            .map_err(|e| StoreError::io(&path)(io::Error::other(e)))?;
        bytes.push(b'\n');
        atomic::write(&path, &bytes)
    }

    /// Every sample, in the order in which they were taken. A last line without its end is what a
    /// kill leaves, and is passed over; no file at all is no samples.
    ///
    /// # Errors
    /// A whole line that is no sample, or one of a newer schema.
    pub fn samples<S: Record + DeserializeOwned>(&self) -> Result<Vec<S>, StoreError> {
        samples::read(&self.path.join(SAMPLES))
    }

    /// Opens the samples for appending, for this process alone. What a kill has left of a last
    /// line is cut off.
    ///
    /// # Errors
    /// [`StoreError::Locked`], or what the system says.
    pub fn appender(&self) -> Result<Appender, StoreError> {
        Appender::open(&self.path.join(SAMPLES))
    }

    /// Every scanned site, in the order in which they were done, as [`Self::samples`] reads samples.
    ///
    /// # Errors
    /// A whole line that is no scan, or one of a newer schema.
    pub fn scans<S: Record + DeserializeOwned>(&self) -> Result<Vec<S>, StoreError> {
        samples::read(&self.path.join(SCANS))
    }

    /// Opens the scanned sites for appending, as [`Self::appender`] does samples.
    ///
    /// # Errors
    /// [`StoreError::Locked`], or what the system says.
    pub fn scan_appender(&self) -> Result<Appender, StoreError> {
        Appender::open(&self.path.join(SCANS))
    }

    /// Reads a JSON file of the run that [`Self::write_file`] wrote; none where there is none.
    ///
    /// # Errors
    /// One that is cut short or of another form, or what the system says.
    pub fn read_json<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, StoreError> {
        let path = self.path.join(name);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::io(path)(error)),
        };
        let read = serde_json::from_slice(&bytes);
        read.map(Some)
            .map_err(|source| StoreError::Manifest { path, source })
    }

    /// Whether a process is appending samples or scans to it at the moment.
    ///
    /// # Errors
    /// What the system says.
    pub fn is_in_use(&self) -> Result<bool, StoreError> {
        Ok(samples::is_locked(&self.path.join(SAMPLES))?
            || samples::is_locked(&self.path.join(SCANS))?)
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
