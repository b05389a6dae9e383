use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::catalogue::entries;

/// A layout of a system's trust roots.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Layout {
    /// Its name.
    pub name: String,
    /// A description.
    pub about: String,
    /// The sites that a user of such a system expects to load.
    pub trusts: Vec<String>,
    /// Environment variables of its programs.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    pub(super) files: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Entry {
    /// The path below `/`.
    pub(super) path: PathBuf,
    pub(super) form: Form,
    #[serde(default)]
    pub(super) holds: Vec<Held>,
    /// The target, for a link.
    #[serde(default)]
    pub(super) to: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Form {
    Bundle,
    UnreadableBundle,
    Folder,
    HashedFolder,
    RejectingFolder,
    Link,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Held {
    Public,
    Corporate,
    Expired,
    Distrusted,
    Garbage,
    #[serde(rename = "10000")]
    Many,
}

impl Held {
    /// Returns the name of the site that chains to this root.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Corporate => "corporate",
            Self::Expired => "expired",
            Self::Distrusted => "distrusted",
            Self::Garbage | Self::Many => "",
        }
    }
}

/// A file of a layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreFile {
    /// The path below `/`.
    pub path: PathBuf,
    /// The contents; `None` for a link.
    pub text: Option<String>,
    /// The target of a link.
    pub to: PathBuf,
    /// Its permissions.
    pub mode: u32,
}

impl StoreFile {
    pub(super) fn text(path: &Path, text: String) -> Self {
        Self {
            path: path.to_owned(),
            text: Some(text),
            to: PathBuf::new(),
            mode: 0o644,
        }
    }

    pub(super) fn link(path: &Path, to: &Path) -> Self {
        Self {
            path: path.to_owned(),
            text: None,
            to: to.to_owned(),
            mode: 0o777,
        }
    }
}

/// Returns the built-in layouts.
///
/// # Panics
/// Panics if the file in the source is wrong, which a test finds.
pub fn layouts() -> Vec<Layout> {
    entries("layout", include_str!("../../../catalogue/stores.toml"))
}
