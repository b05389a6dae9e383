//! BetterTLS' chains, which a Go program makes once and the cache folder keeps.

use std::{
    env,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::Context;
use netbench_compat::chains::{BetterTls, EXPORTER};
use netbench_model::sanitize_prefix;
use netbench_stacks::cache_folder;

use crate::{interrupt, sites_file::sha256, workers::in_path};

/// The longest time that fetching the module, building and making certificates may take together.
const LIMIT: Duration = Duration::from_secs(300);

/// Returns the chains, or the reason why there are no chains on this machine.
pub(super) fn bettertls() -> anyhow::Result<Result<BetterTls, String>> {
    let home = cache_folder("bettertls")?;
    let id = &sha256(format!("{EXPORTER:?}").as_bytes())[..12];
    let kept = home.join(format!("chains-{id}.jsonl"));
    if let Ok(text) = fs::read_to_string(&kept)
        && let Ok(read) = BetterTls::read(&text)
    {
        return Ok(Ok(read));
    }
    if in_path("go").is_none() {
        return Ok(Err(
            "BetterTLS' chains are made by a Go program, and there is no go (https://go.dev/dl)"
                .to_owned(),
        ));
    }
    note!("netbench: Making the chains of BetterTLS (once)");
    let partial = home.join(format!("{}.partial", std::process::id()));
    let made = export(&home.join(format!("export-{id}")), &partial);
    let read = made.map(|made| {
        made.and_then(|()| {
            let text = fs::read_to_string(&partial).map_err(|error| error.to_string())?;
            let read = BetterTls::read(&text)
                .map_err(|error| format!("what the Go program printed: {error}"))?;
            fs::rename(&partial, &kept).map_err(|error| error.to_string())?;
            Ok(read)
        })
    });
    let _ = fs::remove_file(&partial);
    read
}

/// Runs the Go program, which prints all chains to `partial`.
fn export(folder: &Path, partial: &Path) -> anyhow::Result<Result<(), String>> {
    let log = folder.join("log");
    let files = write_exporter(folder).and_then(|()| {
        let out = File::create(partial)?;
        Ok((out, File::create(&log)?))
    });
    let (out, errors) = files.with_context(|| format!("cannot write {}", folder.display()))?;
    let mut command = go(folder);
    command
        .args(["run", "."])
        .env("GOPROXY", proxies(folder))
        // The checksums are pinned, and the build must not change them.
        .env("GOFLAGS", "-mod=readonly")
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(errors);
    let status = interrupt::status_within(&mut command, LIMIT, || {})?;
    Ok(match status {
        Some(status) if status.success() => Ok(()),
        Some(_) => Err(format!(
            "BetterTLS' chains could not be made: {}",
            last_words(&log)
        )),
        None => Err(format!("BetterTLS' chains were not made within {LIMIT:?}")),
    })
}

fn write_exporter(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut files = EXPORTER.iter();
    files.try_for_each(|(name, text)| fs::write(folder.join(name), text))
}

fn go(folder: &Path) -> Command {
    let mut command = Command::new("go");
    command.current_dir(folder).env("GOWORK", "off");
    if env::var_os("GOTOOLCHAIN").is_none() {
        command.env("GOTOOLCHAIN", "auto");
    }
    command
}

/// Returns the module proxies of Go's settings, without `direct`, which would fetch from any host.
fn proxies(folder: &Path) -> String {
    let said = go(folder).args(["env", "GOPROXY"]).output();
    let said = said.map(|said| String::from_utf8_lossy(&said.stdout).trim().to_owned());
    let said = said.unwrap_or_default();
    let proxies: Vec<&str> = said
        .split([',', '|'])
        .filter(|proxy| !proxy.is_empty() && *proxy != "direct")
        .collect();
    if proxies.is_empty() {
        "off".to_owned()
    } else {
        proxies.join(",")
    }
}

fn last_words(log: &PathBuf) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    sanitize_prefix(last.unwrap_or("go said nothing"), 200)
}
