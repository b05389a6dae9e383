use std::{path::PathBuf, process::Command, time::Duration};

use crate::{BogoError, Runner, command::Tool, runner::lock};

const CMAKE: Tool = Tool {
    name: "cmake",
    needed_for: "BoringSSL's own shim",
    hint: "the package cmake",
};

const NINJA: Tool = Tool {
    name: "ninja",
    needed_for: "BoringSSL's own shim",
    hint: "the package ninja-build",
};

const LIMIT: Duration = Duration::from_secs(3600);

/// Finds BoringSSL's own shim, or builds it from the runner's source with `jobs` compilers at a time, which
/// takes about four minutes of CPU time.
///
/// # Errors
/// Returns an error without cmake or ninja, and their own errors.
pub fn boringssl_shim(
    runner: &Runner,
    jobs: u32,
    say: &mut dyn FnMut(&str),
) -> Result<PathBuf, BogoError> {
    let folder = runner.home.join("boringssl");
    let program = folder.join("ssl/test/bssl_shim");
    let _lock = lock(&runner.home, say)?;
    if program.is_file() {
        return Ok(program);
    }
    for tool in [CMAKE, NINJA] {
        let step = format!("asking for {}'s version", tool.name);
        runner.run_well(
            Command::new(tool.name).arg("--version"),
            tool,
            &step,
            Duration::from_secs(30),
        )?;
    }
    say("Building BoringSSL's own shim (once)");
    let mut command = Command::new("cmake");
    command
        .arg("-GNinja")
        .arg("-S")
        .arg(&runner.source)
        .arg("-B")
        .arg(&folder);
    command.arg("-DCMAKE_BUILD_TYPE=Release");
    runner.run_well(&mut command, CMAKE, "cmake for BoringSSL's shim", LIMIT)?;
    let mut command = Command::new("ninja");
    command
        .arg("-C")
        .arg(&folder)
        .arg("-j")
        .arg(jobs.to_string())
        .arg("bssl_shim");
    runner.run_well(&mut command, NINJA, "building BoringSSL's shim", LIMIT)?;
    Ok(program)
}
