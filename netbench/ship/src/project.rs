//! The minimal client, as the files of a package.

use std::{fs, path::Path};

use sha2::{Digest, Sha256};

use netbench_stacks::ShipStack;

use crate::ShipError;

/// The Cargo.lock of netbench itself, so that every user builds the same versions.
pub const BUILT_IN_LOCK: &str = include_str!("../../../Cargo.lock");

/// The program's name.
pub(crate) const NAME: &str = "ship-client";

const MANIFEST: &str = r#"[package]
name = "ship-client"
version = "0.0.0"
edition = "2021"
publish = false

# A separate package, wherever it lies.
[workspace]

[profile.release]
strip = "symbols"

[dependencies]
http-body-util = "0.1"
hyper = { version = "1", default-features = false, features = ["client", "http1", "http2"] }
hyper-util = { version = "0.1", default-features = false, features = ["client-legacy", "http1", "http2", "tokio"] }
tokio = { version = "1", default-features = false, features = ["net", "rt"] }
"#;

/// Dependencies of no target, which pin the versions that netbench builds by other means.
const PINS: &str = r#"
[target.'cfg(any())'.dependencies]
openssl-src = "=300.5.5"
"#;

const MAIN: &str = r#"//! A minimal client that speaks HTTP over TLS through hyper.

use http_body_util::Empty;
use hyper::body::Bytes;
use hyper_util::{client::legacy::Client, rt::TokioExecutor};

type Error = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Error> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build()?.block_on(run())
}

async fn run() -> Result<(), Error> {
    let connector = CONNECTOR;
    let client: Client<_, Empty<Bytes>> = Client::builder(TokioExecutor::new()).build(connector);
    // Without a URL it shows that the stack starts.
    let Some(url) = std::env::args().nth(1) else {
        println!("ready");
        return Ok(());
    };
    let response = client.get(url.parse()?).await?;
    println!("{}", response.status());
    Ok(())
}
"#;

/// A client of one stack, as files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    manifest: String,
    main: String,
    lock: String,
}

impl Project {
    /// Makes a client of `stack`, with the versions of a Cargo.lock.
    pub fn new(stack: &ShipStack, lock: &str) -> Self {
        let dependencies = stack.dependencies.trim();
        Self {
            manifest: format!("{MANIFEST}{dependencies}\n{PINS}"),
            main: MAIN.replace("CONNECTOR", stack.connector.trim()),
            lock: lock.to_owned(),
        }
    }

    /// Returns the digest of the client's files. Clients with the same digest are identical.
    pub fn sha256(&self) -> String {
        let mut digest = Sha256::new();
        for text in [&self.manifest, &self.main, &self.lock] {
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text);
        }
        format!("{:x}", digest.finalize())
    }

    pub(crate) fn write(&self, folder: &Path) -> Result<(), ShipError> {
        let source = folder.join("src");
        fs::create_dir_all(&source).map_err(ShipError::file(&source))?;
        let files = [
            (folder.join("Cargo.toml"), &self.manifest),
            (source.join("main.rs"), &self.main),
            (folder.join("Cargo.lock"), &self.lock),
        ];
        for (path, text) in files {
            fs::write(&path, text).map_err(ShipError::file(&path))?;
        }
        Ok(())
    }
}

/// Returns the digest of a Cargo.lock.
pub fn lock_sha256(lock: &str) -> String {
    format!("{:x}", Sha256::digest(lock))
}

#[cfg(test)]
mod tests {
    use super::*;
    use netbench_stacks::ship_stacks;

    #[test]
    fn every_stack_is_a_package_of_its_own() {
        let mut digests = std::collections::BTreeSet::new();
        for stack in ship_stacks().unwrap() {
            let project = Project::new(stack, BUILT_IN_LOCK);
            let manifest: toml::Table = project.manifest.parse().expect("a manifest");
            let dependencies = manifest["dependencies"].as_table().expect("a table");
            assert!(dependencies.len() > 4, "{}", stack.name);
            assert!(!project.main.contains("CONNECTOR"), "{}", stack.name);
            // A dependency in the lock is pinned by it.
            for name in dependencies.keys() {
                let line = format!("\nname = \"{name}\"\n");
                assert!(BUILT_IN_LOCK.contains(&line), "{}: {name}", stack.name);
            }
            assert!(digests.insert(project.sha256()), "{}", stack.name);
        }
        let [first, ..] = ship_stacks().unwrap() else {
            panic!("no stack");
        };
        assert_ne!(
            Project::new(first, "").sha256(),
            Project::new(first, " ").sha256()
        );
    }
}
