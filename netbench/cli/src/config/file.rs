use std::{
    env,
    path::{Path, PathBuf},
};

use netbench_model::suggestion;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::key::{self, Key};
use crate::{exit::WrongInput, user_file::read_text};

/// The name of the configuration file.
pub(crate) const NAME: &str = "netbench.toml";

/// The largest size of the file, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// A `netbench.toml`, read and checked to have only settings.
#[derive(Debug)]
pub(super) struct ConfigFile {
    pub(super) path: PathBuf,
    pub(super) settings: Vec<Setting>,
}

/// A line of the file.
#[derive(Debug)]
pub(super) struct Setting {
    pub(super) key: &'static Key,
    pub(super) value: Value,
    pub(super) line: usize,
}

#[derive(Debug)]
pub(super) enum Value {
    Text(String),
    Texts(Vec<String>),
    Number(i64),
    /// A value that no key accepts.
    Other,
}

impl ConfigFile {
    /// Looks for the file in the current folder and in its ancestors, up to the root of the
    /// repository.
    pub(super) fn find() -> Result<Option<Self>, WrongInput> {
        let Ok(here) = env::current_dir() else {
            return Ok(None);
        };
        for folder in here.ancestors() {
            let path = folder.join(NAME);
            // A link that leads nowhere is found too: a run without the settings that it names would be another one.
            if path.symlink_metadata().is_ok() {
                // A file of this folder is named as the user would name it.
                let path = if folder == here { NAME.into() } else { path };
                return Self::read(path).map(Some);
            }
            if folder.join(".git").exists() {
                break;
            }
        }
        Ok(None)
    }

    fn read(path: PathBuf) -> Result<Self, WrongInput> {
        let text = match path.metadata() {
            Ok(about) if !about.is_file() => {
                Err("not a file; a file with settings is expected, or none".to_owned())
            }
            _ => read_text(&path, MAX_BYTES),
        };
        let text = text.map_err(|e| WrongInput(format!("{}: {e}", path.display())))?;
        let mut file = Self {
            path,
            settings: Vec::new(),
        };
        let table = DeTable::parse(&text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            file.wrong(line_at(&text, start), error.message())
        })?;
        for (name, value) in table.into_inner() {
            let line = line_at(&text, name.span().start);
            let setting =
                setting(name.get_ref(), value, line).map_err(|why| file.wrong(line, &why));
            file.settings.push(setting?);
        }
        file.settings.sort_by_key(|setting| setting.line);
        Ok(file)
    }

    /// Returns the error for a line.
    pub(super) fn wrong(&self, line: usize, why: &str) -> WrongInput {
        WrongInput(format!("{}: line {line}: {why}", self.path.display()))
    }

    /// Returns a path that is relative to the file's folder.
    pub(super) fn beside(&self, path: &Path) -> PathBuf {
        self.path.with_file_name("").join(path)
    }
}

/// Returns the number of the line at an offset of the text.
fn line_at(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}

fn setting(name: &str, value: Spanned<DeValue<'_>>, line: usize) -> Result<Setting, String> {
    match name {
        "live" => Err("real hosts are contacted only with --live on the command line".to_owned()),
        "yes" => Err("--yes is for the command line only".to_owned()),
        name => match key::named(name) {
            Some(key) => Ok(Setting {
                key,
                value: Value::of(value.into_inner()),
                line,
            }),
            None => {
                let (shown, suggestion) = (name.escape_debug(), suggestion(name, &key::names()));
                Err(format!("unknown key \"{shown}\"; {suggestion}"))
            }
        },
    }
}

impl Value {
    fn of(value: DeValue<'_>) -> Self {
        match value {
            DeValue::String(text) => Self::Text(text.into_owned()),
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                .map_or(Self::Other, Self::Number),
            DeValue::Array(values) => {
                let texts: Option<Vec<String>> = values
                    .into_iter()
                    .map(|value| match value.into_inner() {
                        DeValue::String(text) => Some(text.into_owned()),
                        _ => None,
                    })
                    .collect();
                texts.map_or(Self::Other, Self::Texts)
            }
            _ => Self::Other,
        }
    }
}
