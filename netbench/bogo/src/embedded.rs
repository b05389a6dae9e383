use std::{
    borrow::Cow,
    fs, io,
    path::{Path, PathBuf},
};

use crate::BogoError;

/// The location of stored outcomes and of the shims' configurations that explain them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutcomesIn {
    /// A source tree.
    Tree(PathBuf),
    /// This program, with the files that the source tree had when it was built.
    Program,
}

macro_rules! embedded {
    ($($path:literal),+ $(,)?) => {
        &[$(($path, include_str!(concat!("../../../", $path)))),+]
    };
}

/// Files of the source tree, by their paths in it.
const FILES: &[(&str, &str)] = embedded![
    "results/bogo/tests.tsv",
    "results/bogo/boringssl.tsv",
    "results/bogo/go.tsv",
    "results/bogo/go@1.27.tsv",
    "results/bogo/openssl.tsv",
    "results/bogo/openssl-system.tsv",
    "results/bogo/openssl@4.0.tsv",
    "results/bogo/rustls.tsv",
    "results/bogo/rustls-ring.tsv",
    "results/bogo/rustls@0.23.31.tsv",
    "results/bogo/rustls@0.24-dev.tsv",
    "bogo-shims/configs/go.json",
    "bogo-shims/configs/go@1.27.json",
    "bogo-shims/configs/openssl.json",
    "bogo-shims/configs/openssl-system.json",
    "bogo-shims/configs/openssl@4.0.json",
    "bogo-shims/configs/rustls.json",
    "bogo-shims/configs/rustls-ring.json",
    "bogo-shims/configs/rustls@0.23.31.json",
    "bogo-shims/configs/rustls@0.24-dev.json",
    "bogo-shims/configs/ignored.tsv",
];

impl OutcomesIn {
    /// Returns the text of a file by its path in the source tree, or `None` where there is no such
    /// file.
    pub(crate) fn text(&self, path: &Path) -> Result<Option<Cow<'static, str>>, BogoError> {
        match self {
            Self::Tree(tree) => {
                let path = tree.join(path);
                match fs::read_to_string(&path) {
                    Ok(text) => Ok(Some(text.into())),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                    Err(error) => Err(BogoError::io(path)(error)),
                }
            }
            Self::Program => {
                let file = FILES.iter().find(|(name, _)| Path::new(name) == path);
                Ok(file.map(|(_, text)| (*text).into()))
            }
        }
    }

    /// Returns the text of a required file.
    pub(crate) fn needed(&self, path: &Path) -> Result<Cow<'static, str>, BogoError> {
        self.text(path)?
            .ok_or_else(|| BogoError::bad(path, "there is no such file"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KNOWN_SHIMS, StoredOutcomes};

    #[test]
    fn the_program_has_what_the_source_tree_has() {
        let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let tree = OutcomesIn::Tree(tree);
        for (path, text) in FILES {
            let path = Path::new(path);
            assert_eq!(tree.needed(path).unwrap(), *text, "{}", path.display());
        }
        for folder in ["results/bogo", "bogo-shims/configs"] {
            let OutcomesIn::Tree(tree) = &tree else {
                unreachable!()
            };
            for entry in fs::read_dir(tree.join(folder)).unwrap() {
                let path = Path::new(folder).join(entry.unwrap().file_name());
                let text = OutcomesIn::Program.text(&path).unwrap();
                assert!(text.is_some(), "{} is not embedded", path.display());
            }
        }
        let all: Vec<_> = KNOWN_SHIMS.iter().collect();
        let [of_tree, of_program] = [&tree, &OutcomesIn::Program].map(|place| {
            let stored = StoredOutcomes::read(place, &all).unwrap();
            stored.coverage(None).unwrap()
        });
        assert_eq!(of_tree, of_program);
    }
}
