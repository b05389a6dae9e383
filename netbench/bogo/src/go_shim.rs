use std::{fs, path::PathBuf, process::Command, time::Duration};

use serde::Deserialize;

use crate::{
    BogoError, GoToolchain, Runner,
    command::Tool,
    runner::{lock, overlay, short_hash},
};

/// Go's own shim, after its build.
#[derive(Debug)]
pub struct GoShim {
    /// The path of the executable.
    pub program: PathBuf,
    /// The version of Go, and so of crypto/tls.
    pub version: String,
}

const GO: Tool = Tool {
    name: "go",
    needed_for: "the shim of Go's crypto/tls",
    hint: "https://go.dev/dl",
};

const LIMIT: Duration = Duration::from_secs(900);

/// The path of the shim below Go's root.
const SOURCE: &str = "src/crypto/tls/bogo_shim_test.go";

/// The shim's call to connect, which fails where `localhost` is not the address on which the runner listens,
/// and its replacement.
const DIAL: &str = r#"net.Dial("tcp", net.JoinHostPort("localhost", *port))"#;
const DIAL_RUNNER: &str = "netbenchDial(*port)";

/// The code that netbench adds to the package, under this name.
const ADDED: &str = include_str!("hooks/bogo_netbench_test.go");
const ADDED_NAME: &str = "src/crypto/tls/bogo_netbench_test.go";

#[derive(Deserialize)]
#[serde(rename_all = "UPPERCASE")]
struct GoEnv {
    goroot: PathBuf,
    goversion: String,
}

impl GoToolchain {
    /// Returns Go's command with this toolchain, which is downloaded if the command needs it and it is not there.
    fn command(self) -> Command {
        let mut command = Command::new("go");
        if let Self::Version(version) = self {
            command.env("GOTOOLCHAIN", version);
        }
        command
    }
}

/// Finds Go's own shim, or builds it with the toolchain, which takes half a minute.
///
/// # Errors
/// Returns an error without Go, with a Go that has no shim or a different one, and the errors of its build.
pub fn go_shim(
    runner: &Runner,
    toolchain: GoToolchain,
    say: &mut dyn FnMut(&str),
) -> Result<GoShim, BogoError> {
    // The command runs outside of BoringSSL's module, which may require another Go.
    let home = &runner.home;
    let mut command = toolchain.command();
    command
        .args(["env", "-json", "GOROOT", "GOVERSION"])
        .current_dir(home);
    let step = "asking for Go's version";
    let said = runner.run_well(&mut command, GO, step, LIMIT)?;
    let go: GoEnv =
        serde_json::from_slice(&said.out).map_err(|error| BogoError::bad("go env", error))?;
    let source = go.goroot.join(SOURCE);
    let text = fs::read_to_string(&source).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            let why = format!("{} ships no shim; Go 1.26 does", go.goversion);
            BogoError::bad(&source, why)
        }
        _ => BogoError::io(&source)(error),
    })?;
    if text.matches(DIAL).count() != 1 {
        let why = format!("it does not have this once: {DIAL}");
        return Err(BogoError::bad(source, why));
    }
    let text = text.replace(DIAL, DIAL_RUNNER);
    let folder = home.join(format!("{}-{}", go.goversion, short_hash(&[&text, ADDED])));
    let program = folder.join("crypto-tls.test");
    let _lock = lock(home, say)?;
    if !program.is_file() {
        say("Building the shim of Go's crypto/tls (once)");
        let files = [
            (source, "bogo_shim_test.go", text.as_str()),
            (go.goroot.join(ADDED_NAME), "bogo_netbench_test.go", ADDED),
        ];
        let overlay = overlay(&folder, &files)?;
        let partial = folder.join("crypto-tls.partial");
        let mut command = Command::new(go.goroot.join("bin/go"));
        command
            .env("GOTOOLCHAIN", "local")
            // A downloaded toolchain is in the cache of modules, where Go replaces no file. crypto/tls needs no module.
            .env("GOMODCACHE", home.join("no-modules"))
            .args(["test", "-c", "-trimpath", "-overlay"])
            .arg(overlay)
            .arg("-o")
            .arg(&partial)
            .arg("crypto/tls")
            .current_dir(home);
        let step = "building the shim of Go's crypto/tls";
        runner.run_well(&mut command, GO, step, LIMIT)?;
        fs::rename(&partial, &program).map_err(BogoError::io(&program))?;
    }
    Ok(GoShim {
        program,
        version: go.goversion,
    })
}
