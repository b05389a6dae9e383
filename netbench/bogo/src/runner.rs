use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use netbench_model::coverage::RunnerId;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::{
    BogoError,
    command::{Said, Tool, run, run_well, tail},
    source,
};

/// The runner, after its build.
#[derive(Debug)]
pub struct Runner {
    /// The runner's identity.
    pub id: RunnerId,
    /// The path of the executable.
    pub program: PathBuf,
    /// The folder in which it must be run.
    pub folder: PathBuf,
    /// BoringSSL's source with the keys added.
    pub source: PathBuf,
    /// The folder for all files that are made with this runner.
    pub home: PathBuf,
    /// A flag that stops the current run or build once it is true.
    pub stop: Arc<AtomicBool>,
}

const GO: Tool = Tool {
    name: "go",
    needed_for: "the BoringSSL runner",
    hint: "https://go.dev/dl, or the package golang-go; any Go from 1.21 on fetches the version it needs",
};

const GO_LIMIT: Duration = Duration::from_secs(900);

const MAKE_KEYS: &str = include_str!("make_keys.go");

/// The code that netbench adds to the runner, and the lines of the runner that call it: the original line,
/// and the line with the call.
const HOOKS: &str = include_str!("hooks/netbench_hooks.go");
const CALLS: [(&str, &str); 3] = [
    (
        "\tshim, err := newShimProcess(dispatcher, shimPath, flags, env)\n",
        "\tenv = netbenchBegin(test, flags, env)\n\tshim, err := newShimProcess(dispatcher, shimPath, flags, env)\n",
    ),
    (
        "\t\t\treturn errUnimplemented\n",
        "\t\t\tnetbenchUnimplemented(test, shim.stderr.String())\n\t\t\treturn errUnimplemented\n",
    ),
    (
        "\t\t\t\t\t\ttestOutput.AddSkip(msg.test.name)\n",
        "\t\t\t\t\t\ttestOutput.AddSkip(msg.test.name)\n\t\t\t\t\t\tnetbenchSkipped(testOutput, msg.test.name)\n",
    ),
];

/// The environment variable that names the file for the facts of each test.
pub(crate) const FACTS_VARIABLE: &str = "NETBENCH_BOGO_FACTS";

impl Runner {
    /// Returns the identity of the runner that [`Runner::make`] builds.
    ///
    /// # Errors
    /// Returns an error if the pin is invalid.
    pub fn pinned() -> Result<RunnerId, BogoError> {
        source::pinned()
    }

    /// Returns the name of the executable, which depends on the code that netbench adds to it.
    pub fn program_name() -> String {
        format!("runner-{}", hooks_hash())
    }

    /// Builds the runner under `cache`, or finds it there. `say` is called with each step that takes time.
    ///
    /// # Errors
    /// Returns [`BogoError::NoTool`] without Go, and the errors of its build.
    pub fn make(
        cache: &Path,
        stop: Arc<AtomicBool>,
        say: &mut dyn FnMut(&str),
    ) -> Result<Self, BogoError> {
        let id = source::pinned()?;
        let short = id.checksum.get(..8).unwrap_or(&id.checksum);
        let home = cache.join(format!("{}-{}-{short}", id.package, id.version));
        fs::create_dir_all(&home).map_err(BogoError::io(&home))?;
        let source = home.join("source");
        let runner = Self {
            program: home.join(Self::program_name()),
            folder: source.join("ssl/test/runner"),
            id,
            source,
            home,
            stop,
        };
        let _lock = lock(&runner.home, say)?;
        if !(runner.program.is_file() && runner.folder.is_dir()) {
            runner.build(say)?;
        }
        Ok(runner)
    }

    fn build(&self, say: &mut dyn FnMut(&str)) -> Result<(), BogoError> {
        let step = "asking for Go's version";
        let limit = Duration::from_secs(30);
        self.run_well(Command::new("go").arg("version"), GO, step, limit)?;
        if !self.source.is_dir() {
            say(&format!(
                "Downloading BoringSSL ({} {})",
                self.id.package, self.id.version
            ));
            let from = source::fetch(&self.home, &self.stop)?;
            let partial = self.home.join("source.partial");
            remove(&partial)?;
            copy_folder(&from, &partial)?;
            say("Making the keys of the runner");
            self.make_keys(&partial.join("ssl/test/runner"))?;
            fs::rename(&partial, &self.source).map_err(BogoError::io(&self.source))?;
        }
        say("Building the runner (once)");
        let partial = self.home.join("runner.partial");
        let mut command = Command::new("go");
        command
            .args(["test", "-c", "-overlay"])
            .arg(self.overlay()?)
            .arg("-o")
            .arg(&partial)
            .arg(".")
            .current_dir(&self.folder);
        if std::env::var_os("GOTOOLCHAIN").is_none() {
            command.env("GOTOOLCHAIN", "auto");
        }
        let step = "building the runner";
        let said = run(&mut command, GO, step, GO_LIMIT, &self.stop)?;
        if !said.well {
            let toolchain = ["toolchain", "requires go", "GOTOOLCHAIN"];
            let last = tail(&said.err);
            return Err(if toolchain.iter().any(|word| said.err.contains(*word)) {
                BogoError::GoToolchain { said: last }
            } else {
                BogoError::build(step, last)
            });
        }
        fs::rename(&partial, &self.program).map_err(BogoError::io(&self.program))
    }

    /// Writes the runner's source with netbench's calls to separate files, and returns the overlay file that
    /// makes Go use them.
    fn overlay(&self) -> Result<PathBuf, BogoError> {
        let path = self.folder.join("runner.go");
        let mut text = fs::read_to_string(&path).map_err(BogoError::io(&path))?;
        for (line, with_call) in CALLS {
            if text.matches(line).count() != 1 {
                let why = format!("it does not have this line once: {}", line.trim());
                return Err(BogoError::bad(path, why));
            }
            text = text.replace(line, with_call);
        }
        let files = [
            (path, "runner.go", text.as_str()),
            (
                self.folder.join("netbench_hooks.go"),
                "netbench_hooks.go",
                HOOKS,
            ),
        ];
        overlay(&self.home.join("hooks"), &files)
    }

    fn make_keys(&self, folder: &Path) -> Result<(), BogoError> {
        let program = self.home.join("make_keys.go");
        fs::write(&program, MAKE_KEYS).map_err(BogoError::io(&program))?;
        let mut command = Command::new("go");
        // The command runs outside of BoringSSL's module, so that any Go can be used.
        command
            .arg("run")
            .arg(&program)
            .arg(folder)
            .current_dir(&self.home);
        let step = "making the keys of the runner";
        self.run_well(&mut command, GO, step, GO_LIMIT)?;
        Ok(())
    }

    /// Runs a program as [`run_well`] does, until the runner is stopped.
    pub(crate) fn run_well(
        &self,
        command: &mut Command,
        tool: Tool,
        step: &str,
        limit: Duration,
    ) -> Result<Said, BogoError> {
        run_well(command, tool, step, limit, &self.stop)
    }
}

/// Returns the hash of the hooks, since other hooks make another runner.
fn hooks_hash() -> String {
    short_hash(&[HOOKS, &format!("{CALLS:?}")])
}

/// Returns a name for a program that is built from these texts.
pub(crate) fn short_hash(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text);
    }
    let bytes = hash.finalize();
    bytes
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Writes files into `folder` that replace other files for Go, or add new ones: each with the replaced path,
/// its name and its text. Returns Go's overlay file.
pub(crate) fn overlay(
    folder: &Path,
    files: &[(PathBuf, &str, &str)],
) -> Result<PathBuf, BogoError> {
    fs::create_dir_all(folder).map_err(BogoError::io(folder))?;
    let mut replace = serde_json::Map::new();
    for (place, name, text) in files {
        let written = folder.join(name);
        fs::write(&written, text).map_err(BogoError::io(&written))?;
        replace.insert(place.display().to_string(), json!(written));
    }
    let overlay = folder.join("overlay.json");
    let text = json!({ "Replace": replace }).to_string();
    fs::write(&overlay, text).map_err(BogoError::io(&overlay))?;
    Ok(overlay)
}

/// Locks the folder, as two commands must not build the same program at once; the lock ends with the process.
pub(crate) fn lock(home: &Path, say: &mut dyn FnMut(&str)) -> Result<File, BogoError> {
    let path = home.join("lock");
    let file = File::create(&path).map_err(BogoError::io(&path))?;
    if file.try_lock().is_err() {
        say("Waiting for another netbench that is building the same");
        file.lock().map_err(BogoError::io(&path))?;
    }
    Ok(file)
}

pub(crate) fn remove(path: &Path) -> Result<(), BogoError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(BogoError::Io {
            path: path.to_owned(),
            source: error,
        }),
        _ => Ok(()),
    }
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), BogoError> {
    fs::create_dir_all(to).map_err(BogoError::io(to))?;
    for entry in fs::read_dir(from).map_err(BogoError::io(from))? {
        let entry = entry.map_err(BogoError::io(from))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type().map_err(BogoError::io(&source))?.is_dir() {
            copy_folder(&source, &target)?;
        } else {
            // Only the contents are copied: a vendored source may be read-only, and the copy may not.
            let bytes = fs::read(&source).map_err(BogoError::io(&source))?;
            fs::write(&target, bytes).map_err(BogoError::io(&target))?;
        }
    }
    Ok(())
}
