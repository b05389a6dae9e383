use std::{ffi::OsString, path::Path};

use clap::ArgMatches;

use super::file::{ConfigFile, Setting, Value};
use crate::exit::WrongInput;

/// A key that `netbench.toml` may have.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) name: &'static str,
    value_kind: ValueKind,
    /// The key's purpose, for the file that `netbench setup config` writes.
    about: &'static str,
    /// An example value for that file, as TOML.
    example: &'static str,
    /// The commands that read the key.
    read_by: &'static [&'static str],
    /// The options that the key sets, as far as a command has them.
    sets: &'static [&'static str],
}

#[derive(Debug, PartialEq, Eq)]
enum ValueKind {
    /// A path, relative to the folder of `netbench.toml`.
    File,
    /// A path like [`Self::File`], or `mozilla` or `native`.
    Roots,
    Text,
    Number,
    /// Names of stacks.
    Stacks,
    /// A list of texts.
    Texts,
}

const KEYS: [Key; 8] = [
    Key {
        name: "stacks",
        value_kind: ValueKind::Stacks,
        about: "The stack in use now, then the ones it is compared with",
        example: r#"["openssl", "rustls-aws-lc"]"#,
        read_by: &["evaluate", "connect", "suite", "stacks hello"],
        sets: &["from", "to", "stack"],
    },
    Key {
        name: "sites",
        value_kind: ValueKind::File,
        about: "The sites file, from this folder (evaluate, connect, scan)",
        example: r#""sites.txt""#,
        read_by: &["evaluate", "connect", "scan"],
        sets: &["sites"],
    },
    Key {
        name: "roots",
        value_kind: ValueKind::Roots,
        about: "Trust roots: mozilla, native, or a PEM file (evaluate, connect, scan)",
        example: r#""mozilla""#,
        read_by: &["evaluate", "connect", "scan"],
        sets: &["roots"],
    },
    Key {
        name: "client-profile",
        value_kind: ValueKind::Text,
        about: "How to set up the connectors: default, servo, library (evaluate, connect, scan, stacks hello)",
        example: r#""library""#,
        read_by: &["evaluate", "connect", "scan", "stacks hello"],
        sets: &["client-profile"],
    },
    Key {
        name: "link",
        value_kind: ValueKind::Text,
        about: "How to emulate the network: auto, user, tun, netem, none (evaluate, connect, scan)",
        example: r#""auto""#,
        read_by: &["evaluate", "connect", "scan"],
        sets: &["link"],
    },
    Key {
        name: "rounds",
        value_kind: ValueKind::Number,
        about: "Rounds of connections (evaluate, connect)",
        example: "10",
        read_by: &["evaluate", "connect"],
        sets: &["rounds"],
    },
    Key {
        name: "thresholds",
        value_kind: ValueKind::Texts,
        about: "What is still a yes, and what is a no (evaluate, connect, scan, suite; see their --help)",
        example: r#"["connection-time=5%..20%", "lost-sites=0%..1%", "false-accepts=0..1"]"#,
        read_by: &["evaluate", "connect", "scan", "suite"],
        sets: &["threshold"],
    },
    Key {
        name: "fail-on-regression",
        value_kind: ValueKind::Text,
        about: "The change at which `netbench runs compare` of two runs fails",
        example: r#""5%""#,
        read_by: &["runs compare"],
        sets: &["fail-on-regression"],
    },
];

/// Returns the names of all keys.
pub(super) fn names() -> [&'static str; KEYS.len()] {
    KEYS.each_ref().map(|key| key.name)
}

/// Returns the key with this name.
pub(super) fn named(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// Returns whether a command reads any key.
pub(super) fn is_read_by(command: &str) -> bool {
    KEYS.iter().any(|key| key.read_by.contains(&command))
}

/// Returns the file that `netbench setup config` writes: every key, with only the stacks set.
pub(crate) fn template() -> String {
    let mut text = "\
# Options of netbench for this folder and the folders in it. Options of the command line come first, and
# --no-config leaves this file out. Real hosts are contacted only with --live on the command line.
"
    .to_owned();
    for key in &KEYS {
        let Key {
            name,
            about,
            example,
            value_kind,
            ..
        } = key;
        let comment = if *value_kind == ValueKind::Stacks {
            ""
        } else {
            "# "
        };
        text.push_str(&format!("\n# {about}.\n{comment}{name} = {example}\n"));
    }
    text
}

impl Setting {
    /// Returns the options of a command that the setting sets, with their values.
    pub(super) fn options(
        &self,
        command: &str,
        file: &ConfigFile,
        asked: &ArgMatches,
    ) -> Result<Vec<(&'static str, OsString)>, WrongInput> {
        let options: &[_] = if self.key.read_by.contains(&command) {
            self.key.sets
        } else {
            &[]
        };
        let mut set = Vec::new();
        for option in options.iter().copied() {
            // One run, or three and more, have no before and after.
            if option == "fail-on-regression"
                && asked.get_raw("runs").is_some_and(|runs| runs.len() != 2)
            {
                continue;
            }
            let value = self.value_of(option, file).map_err(|expected| {
                let why = format!("{}: {expected} is expected", self.key.name);
                file.wrong(self.line, &why)
            });
            set.push((option, value?));
        }
        Ok(set)
    }

    /// Returns the value for an option, or a description of the expected values.
    fn value_of(&self, option: &str, file: &ConfigFile) -> Result<OsString, &'static str> {
        match (&self.key.value_kind, &self.value) {
            (ValueKind::Roots, Value::Text(text)) if text == "mozilla" || text == "native" => {
                Ok(text.into())
            }
            (ValueKind::File | ValueKind::Roots, Value::Text(path)) => {
                Ok(file.beside(Path::new(path)).into())
            }
            (ValueKind::File | ValueKind::Roots, _) => Err("the name of a file"),
            (ValueKind::Text, Value::Text(text)) => Ok(text.into()),
            (ValueKind::Text, _) => Err("a text in quotes"),
            (ValueKind::Number, Value::Number(number)) => Ok(number.to_string().into()),
            (ValueKind::Number, _) => Err("a whole number"),
            (ValueKind::Texts, Value::Texts(texts)) => Ok(texts.join(",").into()),
            (ValueKind::Texts, _) => Err("a list of texts in quotes"),
            (ValueKind::Stacks, Value::Texts(stacks)) => match (option, stacks.as_slice()) {
                ("from", [from, _, ..]) => Ok(from.into()),
                ("to", [_, to, ..]) => Ok(to.into()),
                ("stack", [_, _, ..]) => Ok(stacks.join(",").into()),
                _ => Err("a list of at least two stacks"),
            },
            (ValueKind::Stacks, _) => {
                Err("a list of stacks, such as [\"openssl\", \"rustls-ring\"],")
            }
        }
    }
}
