//! The network stack of Servo with OpenSSL: the published crate servo-net, as `netbench/browser/servo/openssl/` changes it.
//!
//! The folder holds a patch and, in a file, the SHA-256 of each file to which the patch applies. Another version of the
//! crate, or a changed file, is an error: its meaning under the patch is unknown.

use std::{
    collections::BTreeMap,
    env, fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use diffy::{
    Hunk, Line, apply,
    patch_set::{FileOperation, ParseOptions, PatchSet, PatchSetParseError},
};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::SourceTree;

/// The crate that the patch applies to.
const NAME: &str = "servo-net";
/// Its version.
const VERSION: &str = "0.7.0";

/// The package whose lock file names the published crate.
const SERVO: &str = "netbench/browser/servo";
/// The folder of the patch and of the checksums, in [`SERVO`].
const RECIPE: &str = "openssl";

/// A patched crate that was not made.
#[derive(Debug, thiserror::Error)]
pub enum PatchError {
    /// Cargo did not start.
    #[error("cannot run `cargo metadata`; a Rust toolchain is needed (https://rustup.rs)")]
    Cargo(#[source] io::Error),
    /// Cargo failed: the manifest, and Cargo's message.
    #[error("`cargo metadata` failed for {manifest}: {1}", manifest = .0.display())]
    Metadata(PathBuf, String),
    /// Cargo's answer has another form.
    #[error("cannot read the answer of `cargo metadata`")]
    Answer(#[from] serde_json::Error),
    /// The package does not depend on the crate: the manifest.
    #[error("{manifest} has no dependency {NAME}", manifest = .0.display())]
    Absent(PathBuf),
    /// The crate has a version that the patch is not for.
    #[error("the patch is for {NAME} {VERSION}, and the lock file has {0}")]
    Version(String),
    /// A line of the file of checksums is not a checksum and a name.
    #[error("{file}:{1}: not a SHA-256, two spaces and a name", file = .0.display())]
    Checksums(PathBuf, usize),
    /// A file is not the one that the patch was made for.
    #[error("{NAME} {VERSION} has another {file}: expected SHA-256 {expected}, found {found}")]
    Changed {
        /// The file, relative to the crate's folder.
        file: String,
        /// The checked-in checksum.
        expected: String,
        /// The checksum of the file.
        found: String,
    },
    /// The patch is malformed.
    #[error("cannot read the patch for {NAME}")]
    Patch(#[from] PatchSetParseError),
    /// The patch does more than to change lines of a file that has a checksum: the change.
    #[error("the patch for {NAME} has a change without a checksum: {0}")]
    Unchecked(String),
    /// The patch changes nothing in a file that has a checksum: the file.
    #[error("the patch for {NAME} does not change {0}")]
    Unchanged(String),
    /// A hunk does not fit to the lines at its place.
    #[error("hunk {hunk} of the patch for {NAME} does not fit to {file}")]
    Hunk {
        /// The file, relative to the crate's folder.
        file: String,
        /// The number of the hunk in the file, counted from 1.
        hunk: usize,
    },
    /// An error of a file: the attempt, and the file.
    #[error("cannot {0} {file}", file = .1.display())]
    File(&'static str, PathBuf, #[source] io::Error),
}

/// Makes the patched crate in the folder `into`. The function does not write files that have the right content already,
/// because Cargo compiles files with a new modification time again.
///
/// # Errors
/// Returns an error if the published crate cannot be fetched, or is not exactly the one that the patch is for.
pub fn patched_servo_net(tree: &SourceTree, into: &Path) -> Result<(), PatchError> {
    let servo = tree.root().join(SERVO);
    let published = Published::of(&servo.join("Cargo.toml"))?;
    Recipe::read(&servo.join(RECIPE))?.patch(&published, into)
}

/// The crate as its registry has it.
#[derive(Debug)]
struct Published {
    version: String,
    folder: PathBuf,
}

impl Published {
    /// Returns the crate that the lock file beside the manifest names. Cargo fetches it, unless it has before.
    fn of(manifest: &Path) -> Result<Self, PatchError> {
        #[derive(Deserialize)]
        struct Metadata {
            packages: Vec<Package>,
        }
        #[derive(Deserialize)]
        struct Package {
            name: String,
            version: String,
            manifest_path: PathBuf,
        }
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .args(["metadata", "--locked", "--format-version", "1"])
            .arg("--manifest-path")
            .arg(manifest)
            .stdin(Stdio::null())
            .output()
            .map_err(PatchError::Cargo)?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(PatchError::Metadata(manifest.to_owned(), said));
        }
        let metadata: Metadata = serde_json::from_slice(&output.stdout)?;
        let mut packages = metadata.packages.into_iter();
        let found = packages
            .find(|package| package.name == NAME)
            .and_then(|package| {
                let folder = package.manifest_path.parent()?.to_owned();
                let version = package.version;
                Some(Self { version, folder })
            });
        found.ok_or_else(|| PatchError::Absent(manifest.to_owned()))
    }
}

/// A patch, and the checksums of the files that it changes.
#[derive(Debug)]
struct Recipe {
    patch: String,
    checksums: BTreeMap<String, String>,
}

impl Recipe {
    fn read(folder: &Path) -> Result<Self, PatchError> {
        let path = folder.join(format!("{NAME}-{VERSION}.sha256"));
        let mut checksums = BTreeMap::new();
        for (index, line) in read(&path)?.lines().enumerate() {
            let (checksum, file) = line
                .split_once("  ")
                .ok_or_else(|| PatchError::Checksums(path.clone(), index + 1))?;
            checksums.insert(file.to_owned(), checksum.to_owned());
        }
        Ok(Self {
            patch: read(&folder.join(format!("{NAME}-{VERSION}.patch")))?,
            checksums,
        })
    }

    fn patch(&self, published: &Published, into: &Path) -> Result<(), PatchError> {
        if published.version != VERSION {
            return Err(PatchError::Version(published.version.clone()));
        }
        let patched = self.patched(&published.folder)?;
        copy(&published.folder, into, Path::new(""), &patched)
    }

    /// Returns the new content of each file that the patch changes.
    fn patched(&self, source: &Path) -> Result<BTreeMap<PathBuf, String>, PatchError> {
        let mut checked = BTreeMap::new();
        for (file, expected) in &self.checksums {
            let text = read(&source.join(file))?;
            let found = format!("{:x}", Sha256::digest(&text));
            if found != *expected {
                return Err(PatchError::Changed {
                    file: file.clone(),
                    expected: expected.clone(),
                    found,
                });
            }
            checked.insert(file.as_str(), text);
        }
        let mut patched = BTreeMap::new();
        for change in PatchSet::parse(&self.patch, ParseOptions::unidiff()) {
            let change = change?;
            let operation = change.operation().strip_prefix(1);
            let file = match &operation {
                FileOperation::Modify { original, modified } if original == modified => {
                    Some(&**original)
                }
                _ => None,
            };
            let text = file.and_then(|file| checked.remove(file));
            let (Some(file), Some(text), Some(hunks)) = (file, text, change.patch().as_text())
            else {
                return Err(PatchError::Unchecked(format!("{operation:?}")));
            };
            // `apply` alone would also accept lines like those of the hunk elsewhere in the file.
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            let all = hunks.hunks();
            let new = match all.iter().position(|hunk| !fits(&lines, hunk)) {
                Some(index) => Err(index + 1),
                None => apply(&text, hunks).map_err(|_| all.len()),
            };
            let new = new.map_err(|hunk| PatchError::Hunk {
                file: file.to_owned(),
                hunk,
            })?;
            patched.insert(PathBuf::from(file), new);
        }
        match checked.into_keys().next() {
            Some(file) => Err(PatchError::Unchanged(file.to_owned())),
            None => Ok(patched),
        }
    }
}

/// Returns whether the file has the hunk's old lines at the hunk's place.
fn fits(lines: &[&str], hunk: &Hunk<'_, str>) -> bool {
    let old = hunk.lines().iter().filter_map(|line| match line {
        Line::Context(line) | Line::Delete(line) => Some(*line),
        Line::Insert(_) => None,
    });
    let start = hunk.old_range().start().saturating_sub(1);
    let here = lines.get(start..).unwrap_or_default();
    here.iter().copied().take(hunk.old_range().len()).eq(old)
}

/// Copies the file or folder `path` of `from` to the same place of `to`, with the new content of patched files.
fn copy(
    from: &Path,
    to: &Path,
    path: &Path,
    patched: &BTreeMap<PathBuf, String>,
) -> Result<(), PatchError> {
    let (source, target) = (from.join(path), to.join(path));
    if source.is_dir() {
        fs::create_dir_all(&target).map_err(failed("make", &target))?;
        for entry in fs::read_dir(&source).map_err(failed("read", &source))? {
            let entry = entry.map_err(failed("read", &source))?;
            copy(from, to, &path.join(entry.file_name()), patched)?;
        }
        return Ok(());
    }
    let content = match patched.get(path) {
        Some(text) => text.clone().into_bytes(),
        None => fs::read(&source).map_err(failed("read", &source))?,
    };
    if fs::read(&target).is_ok_and(|there| there == content) {
        return Ok(());
    }
    fs::write(&target, content).map_err(failed("write", &target))
}

fn read(path: &Path) -> Result<String, PatchError> {
    fs::read_to_string(path).map_err(failed("read", path))
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> PatchError {
    let path = path.to_path_buf();
    move |source| PatchError::File(action, path, source)
}

#[cfg(test)]
#[path = "servo_openssl_tests.rs"]
mod tests;
