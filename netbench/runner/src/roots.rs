//! Layouts of a system's trust store, each presented to each stack as if it were this system's.

use std::{
    collections::BTreeMap,
    fs, io,
    ops::ControlFlow,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use jiff::Timestamp;
use netbench_compat::stores::{Layout, StoreFile, Stores};
use netbench_link::FileView;
use netbench_model::{
    SCHEMA_VERSION,
    chains::ChainOutcome,
    roots::{RootsClient, RootsOutcome, RootsSample},
};
use netbench_protocol::{ChainToVerify, RequestBody, ResponseBody, Verify};

use crate::{Launch, WorkerError, Workers, chains::outcome, launch::System};

/// The time limit of a stack for reading a store and verifying four chains: OpenSSL takes seconds for 10,000 roots.
const LIMIT: Duration = Duration::from_secs(60);

/// The places of trust stores on different systems. Those that exist on this one are covered.
const PLACES: [&str; 7] = [
    "etc",
    "usr/local/share/ca-certificates",
    "usr/share/ca-certificates",
    "usr/local/ssl",
    "usr/share/pki",
    "var/lib/ca-certificates",
    "var/ssl",
];

/// The file in `/etc` that the program loader needs.
const LOADER: &str = "etc/ld.so.cache";

/// An error that prevents layouts from being tested.
#[derive(Debug, thiserror::Error)]
pub enum RootsError {
    /// A certificate of the layout with this name cannot be made.
    #[error("layout {0}: {1}")]
    Certificate(String, String),
    /// A file of the layout with this name cannot be written.
    #[error("layout {0}: cannot write its files: {1}")]
    Write(String, #[source] io::Error),
}

/// Tests each client with its `wanted` layouts, and passes each sample to `found`, which can end the run, as does `stop`
/// when it becomes true.
///
/// # Errors
/// Returns the first error that prevents a layout from being made.
pub fn try_layouts(
    workers: &Workers,
    stop: &AtomicBool,
    clients: &[RootsClient],
    layouts: &[Layout],
    wanted: impl Fn(&RootsClient, &Layout) -> bool,
    mut found: impl FnMut(RootsSample) -> ControlFlow<()>,
) -> Result<(), RootsError> {
    let now = Timestamp::now();
    let files = tempfile::Builder::new().prefix("netbench-roots-").tempdir();
    let place = files.map_err(|source| RootsError::Write("of any name".to_owned(), source))?;
    let mut stores = Stores::new(now)
        .map_err(|what| RootsError::Certificate("of the sites".to_owned(), what))?;
    for layout in layouts {
        let left: Vec<_> = clients
            .iter()
            .filter(|client| wanted(client, layout))
            .collect();
        if left.is_empty() {
            continue;
        }
        let files = stores.files(layout, now);
        let files = files.map_err(|what| RootsError::Certificate(layout.name.clone(), what))?;
        let folder = place.path().join(&layout.name);
        let written = write(&folder, &files);
        let places = written.map_err(|source| RootsError::Write(layout.name.clone(), source))?;
        let system = FileView::new(&places).map(|view| System {
            view,
            environment: layout.environment.clone(),
        });
        for client in left {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let outcome = match &system {
                Err(error) => RootsOutcome::Unsupported {
                    reason: error.to_string(),
                },
                Ok(system) => match ask(workers, client, system, &stores, now) {
                    Some(outcome) => outcome,
                    None => return Ok(()),
                },
            };
            let sample = RootsSample {
                schema: SCHEMA_VERSION,
                layout: layout.name.clone(),
                client: client.clone(),
                outcome,
            };
            if found(sample).is_break() {
                return Ok(());
            }
        }
        let _ = fs::remove_dir_all(&folder);
    }
    Ok(())
}

/// Asks a client for its outcome. Returns `None` if the run was stopped.
fn ask(
    workers: &Workers,
    client: &RootsClient,
    system: &System,
    stores: &Stores,
    now: Timestamp,
) -> Option<RootsOutcome> {
    let Some(source) = &client.source else {
        let reason = format!(
            "stack {} has no trust source: its worker is always given roots",
            client.stack
        );
        return Some(RootsOutcome::Unsupported { reason });
    };
    let launch = Launch {
        system: Some(system),
        ..workers.launch(None)
    };
    let request = RequestBody::Verify(Verify {
        stack: client.stack.stack().to_owned(),
        trust: Some(source.clone()),
        chains: stores
            .sites
            .iter()
            .map(|(site, sent)| ChainToVerify {
                chain_base64: sent.clone(),
                roots_base64: Vec::new(),
                crls_base64: Vec::new(),
                host: site.host.clone(),
                at_unix_s: u64::try_from(now.as_second()).unwrap_or_default(),
            })
            .collect(),
    });
    let started = workers.start(client.stack.stack(), &launch);
    let answered = started.and_then(|mut worker| worker.ask(request, LIMIT));
    Some(match answered {
        Ok(ResponseBody::Verified {
            chains,
            trust: Some(trust),
        }) if chains.len() == stores.sites.len() => {
            let names = stores.sites.iter().map(|(site, _)| site.name.clone());
            let sites: BTreeMap<String, ChainOutcome> =
                names.zip(chains.into_iter().map(outcome)).collect();
            RootsOutcome::Made {
                connector_ns: trust.connector_ns,
                roots: trust.roots,
                origin: trust.origin,
                sites,
            }
        }
        Ok(ResponseBody::Failed(failure)) => RootsOutcome::Refused {
            detail: failure.detail,
        },
        Ok(ResponseBody::Unsupported { reason }) | Err(WorkerError::Refused(reason)) => {
            RootsOutcome::Unsupported { reason }
        }
        Ok(other) => RootsOutcome::Unsupported {
            reason: WorkerError::another_kind(&other).to_string(),
        },
        Err(WorkerError::Stopped) => return None,
        Err(error) => RootsOutcome::Broken {
            detail: error.to_string(),
        },
    })
}

/// Writes the files of a layout below `folder`, and returns which file is to be seen at which place.
fn write(folder: &Path, files: &[StoreFile]) -> io::Result<Vec<(PathBuf, PathBuf)>> {
    for file in files {
        let path = folder.join(&file.path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        match &file.text {
            Some(text) => {
                fs::write(&path, text)?;
                fs::set_permissions(&path, fs::Permissions::from_mode(file.mode))?;
            }
            None => symlink(&file.to, &path)?,
        }
    }
    let mut seen = Vec::new();
    for place in PLACES {
        let system = Path::new("/").join(place);
        if system.is_dir() {
            fs::create_dir_all(folder.join(place))?;
            seen.push((folder.join(place), system));
        }
    }
    let loader = Path::new("/").join(LOADER);
    if loader.is_file() {
        fs::copy(&loader, folder.join(LOADER))?;
    }
    Ok(seen)
}
