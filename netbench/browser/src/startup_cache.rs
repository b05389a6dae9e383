//! Copies a browser's startup cache into fresh profiles, so that the browser does not rebuild it each time.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::BrowserError;

/// Files that a browser keeps in its profile to start faster: its compiled scripts, and the list of its
/// built-in add-ons. They contain no data of any site. The cache is empty for a browser that keeps no such
/// files.
#[derive(Debug, Default)]
pub struct StartupCache {
    /// Paths in the profile, with their contents.
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl StartupCache {
    /// Reads those of these files and folders that exist from a profile.
    pub(crate) fn of_profile(profile: &Path, names: &[&str]) -> Result<Self, BrowserError> {
        Self::read(profile, names).map_err(BrowserError::profile("the browser's startup cache"))
    }

    fn read(profile: &Path, names: &[&str]) -> io::Result<Self> {
        let mut files = Vec::new();
        let mut left: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
        while let Some(path) = left.pop() {
            let full = profile.join(&path);
            if full.is_dir() {
                for entry in fs::read_dir(&full)? {
                    left.push(path.join(entry?.file_name()));
                }
            } else if full.is_file() {
                files.push((path, fs::read(full)?));
            }
        }
        Ok(Self { files })
    }

    pub(crate) fn copy_to(&self, profile: &Path) -> Result<(), BrowserError> {
        self.files
            .iter()
            .try_for_each(|(path, bytes)| {
                let path = profile.join(path);
                path.parent().map_or(Ok(()), fs::create_dir_all)?;
                fs::write(path, bytes)
            })
            .map_err(BrowserError::profile("the browser's startup cache"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_named_goes_from_one_profile_to_the_next() {
        let folder = tempfile::tempdir().expect("a folder");
        let (first, second) = (folder.path().join("first"), folder.path().join("second"));
        fs::create_dir_all(first.join("startupCache/more")).expect("folders");
        for name in [
            "startupCache/a",
            "startupCache/more/b",
            "prefs.js",
            "cookies",
        ] {
            fs::write(first.join(name), name).expect(name);
        }
        let names = ["startupCache", "prefs.js", "missing"];
        let cache = StartupCache::of_profile(&first, &names).expect("it is read");
        cache.copy_to(&second).expect("it is written");
        for name in ["startupCache/a", "startupCache/more/b", "prefs.js"] {
            let text = fs::read_to_string(second.join(name)).expect(name);
            assert_eq!(text, name);
        }
        assert!(!second.join("cookies").exists());
    }
}
