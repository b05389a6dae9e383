//! Detection of the tools that a build starts: they are found through a folder of scripts at the head of its
//! PATH. Each script records its name and executes the tool.

use std::{
    collections::BTreeSet,
    env, fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use netbench_stacks::in_path;

use crate::ShipError;

/// Tools that builds of TLS libraries are known to start. A compiler is recorded only where it compiles:
/// rustc links through it with every stack.
const TOOLS: [&str; 16] = [
    "cc", "gcc", "clang", "c++", "g++", "clang++", "as", "nasm", "cmake", "make", "ninja", "perl",
    "go", "git", "python3", "bindgen",
];

/// A folder of scripts, and the file in which they record their names.
pub(crate) struct Watched {
    folder: PathBuf,
    entered: PathBuf,
}

impl Watched {
    /// Makes the scripts in `folder`, for the tools that are installed.
    pub(crate) fn new(folder: PathBuf) -> Result<Self, ShipError> {
        fs::create_dir_all(&folder).map_err(ShipError::file(&folder))?;
        let entered = folder.join("entered");
        for tool in TOOLS {
            let Some(program) = in_path(tool) else {
                continue;
            };
            let path = folder.join(tool);
            write(&path, &script(tool, &program, &entered)).map_err(ShipError::file(&path))?;
        }
        Ok(Self { folder, entered })
    }

    /// Returns the PATH of a build.
    pub(crate) fn path(&self) -> std::ffi::OsString {
        let rest = env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.folder.clone()).chain(env::split_paths(&rest));
        // A folder with a colon in its name cannot be in PATH.
        env::join_paths(folders).unwrap_or(rest)
    }

    /// Returns the names of the tools that were started.
    pub(crate) fn started(&self) -> Vec<String> {
        let text = fs::read_to_string(&self.entered).unwrap_or_default();
        let names: BTreeSet<&str> = text.lines().collect();
        names.into_iter().map(str::to_owned).collect()
    }
}

fn script(tool: &str, program: &Path, entered: &Path) -> String {
    let (program, entered) = (quoted(program), quoted(entered));
    let enter = format!("echo {tool} >> {entered}");
    let compiles = matches!(tool, "cc" | "gcc" | "clang" | "c++" | "g++" | "clang++");
    let enter = match compiles {
        true => format!("case \" $* \" in *' -c '*) {enter} ;; esac"),
        false => enter,
    };
    format!("#!/bin/sh\n{enter}\nexec {program} \"$@\"\n")
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    fs::write(path, text)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_tool_is_entered_by_its_name_and_a_compiler_where_it_compiles() {
        let place = tempfile::tempdir().unwrap();
        let program = place.path().join("it's real");
        netbench_testing::script(&program, "echo \"$1\"");
        let watched = Watched {
            folder: place.path().to_owned(),
            entered: place.path().join("entered"),
        };
        for (tool, argument, started) in [
            ("perl", "Configure", &["perl"][..]),
            ("cc", "-o", &["perl"]),
            ("cc", "-c", &["cc", "perl"]),
        ] {
            let path = place.path().join(tool);
            write(&path, &script(tool, &program, &watched.entered)).unwrap();
            let output = Command::new(path).arg(argument).output().unwrap();
            assert_eq!(output.stdout, format!("{argument}\n").as_bytes());
            assert_eq!(watched.started(), started);
        }
    }
}
