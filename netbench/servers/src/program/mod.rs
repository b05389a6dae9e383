//! The table of servers: the executables, capabilities and configuration of each.

mod apache;
mod haproxy;
mod nginx;
mod node;
mod s_server;

use std::{
    collections::BTreeSet,
    env, io,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use netbench_protocol::{Operation, PAGE_LINE, ServeSite, StackDescription};
use netbench_tls::{
    Alpn, CipherSuite, Fault, Group, SignatureScheme, WorkerRecord, sanitize_prefix,
};

use crate::words;

/// The file with a server's log and output.
pub(crate) const LOG: &str = "log";

/// Every server.
pub(crate) static PROGRAMS: [&Program; 5] = [
    &apache::APACHE,
    &haproxy::HAPROXY,
    &nginx::NGINX,
    &node::NODE,
    &s_server::S_SERVER,
];

/// The folders of servers, which the `PATH` of an ordinary user often lacks.
const SERVER_FOLDERS: [&str; 2] = ["/usr/sbin", "/usr/local/sbin"];

/// A server that may be installed.
pub(crate) struct Program {
    /// The server's name in sites files.
    pub(crate) name: &'static str,
    /// The names of its executable.
    executables: &'static [&'static str],
    /// The name of Debian's package.
    package: &'static str,
    /// The arguments with which the server prints its version and that of its TLS library.
    version: &'static [&'static str],
    /// The lists of application protocols that can be configured; empty where the server accepts any list.
    alpn: &'static [&'static [Alpn]],
    /// The numbers of tickets that can be configured; empty where the server accepts any number.
    tickets: &'static [u8],
    staples: Staples,
    pub(crate) answers: Answers,
    /// The longest body that the server sends in the configuration used here.
    most_body: u64,
    /// A last line of the server's log that carries no information; empty where there is none.
    pub(crate) closing: &'static str,
    /// Function that returns the configuration files.
    pub(crate) files: fn(&Plan<'_>) -> Vec<Content>,
    /// Function that returns the command line.
    pub(crate) arguments: fn(&Plan<'_>) -> Vec<String>,
}

/// Whether a server staples a configured response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Staples {
    Given,
    /// The server staples no response, or only a response that it has fetched.
    Nothing,
}

/// The program that writes the responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answers {
    /// The server. One process serves all sites.
    ByItself,
    /// This worker. The server does TLS, and passes data through its standard input and output. Each site has
    /// a separate server.
    ThroughWorker,
}

/// A server, with its state of installation on this machine.
pub(crate) struct Installed {
    pub(crate) program: &'static Program,
    /// The executable, or `None` where the server is not installed.
    pub(crate) path: Option<PathBuf>,
    version: String,
    openssl: Option<(u32, u32)>,
}

/// The task of a server.
pub(crate) struct Plan<'a> {
    /// The server's private folder.
    pub(crate) folder: &'a Path,
    /// Whether the server is started by root. Some servers must then change to another user.
    pub(crate) is_root: bool,
    pub(crate) sites: &'a [Placed<'a>],
}

/// A site, and the address on which it listens.
#[derive(Clone, Copy)]
pub(crate) struct Placed<'a> {
    pub(crate) number: usize,
    pub(crate) address: SocketAddr,
    pub(crate) site: &'a ServeSite,
}

/// A file for a server.
pub(crate) struct Content {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) mode: u32,
}

impl Installed {
    /// Searches for a server and runs it to get its version.
    pub(crate) fn look(program: &&'static Program) -> Self {
        let path = program.executables.iter().find_map(|name| find(name));
        let said = path
            .as_deref()
            .map(|path| says(path, program.version))
            .unwrap_or_default();
        Self {
            program,
            version: version(&said),
            openssl: openssl(&said),
            path,
        }
    }

    pub(crate) fn describe(&self) -> StackDescription {
        StackDescription {
            record: WorkerRecord {
                executable: self.program.executables[0].to_owned(),
                stack: self.program.name.to_owned(),
                library: match &self.path {
                    Some(_) => self.version.clone(),
                    None => "not installed".to_owned(),
                },
                provider: self
                    .openssl
                    .map(|(major, minor)| format!("OpenSSL {major}.{minor}")),
                connector: "none".to_owned(),
                build: Default::default(),
            },
            operations: [Operation::Serve].into(),
            trust_sources: Vec::new(),
            groups: Group::OFFERED
                .iter()
                .copied()
                .filter(|group| self.has_group(*group))
                .collect(),
            suites: CipherSuite::SERVED.to_vec(),
            signatures: if self.is_post_quantum() {
                SignatureScheme::known()
            } else {
                SignatureScheme::OFFERED.to_vec()
            },
        }
    }

    /// Returns the message that the server is not installed, with the command that installs it.
    pub(crate) fn missing(&self) -> String {
        let Program { name, package, .. } = self.program;
        format!("{name} is not installed: apt-get install {package}")
    }

    /// Returns the reason why the server cannot serve the site, with the field of the sites file that
    /// requires the missing feature.
    pub(crate) fn cannot(&self, site: &ServeSite) -> Option<String> {
        let program = self.program;
        let name = program.name;
        if self.path.is_none() {
            return Some(self.missing());
        }
        match site.fault {
            None | Some(Fault::WrongName | Fault::UnknownRoot | Fault::Expired) => {}
            Some(fault) => {
                return Some(format!(
                    "fault={fault}: {name} cannot be made to do this wrong"
                ));
            }
        }
        if let Some(group) = site.groups.iter().find(|group| !self.has_group(**group)) {
            return Some(format!(
                "groups={group}: the TLS library of {name} here does not have it"
            ));
        }
        if !program.alpn.is_empty() && !program.alpn.contains(&site.alpn.as_slice()) {
            let lists = program.alpn.iter().map(|list| joined(list));
            return Some(format!(
                "alpn={}: {name} can be set to {}",
                joined(&site.alpn),
                words::joined(lists, " or ")
            ));
        }
        if !program.tickets.is_empty() && !program.tickets.contains(&site.tickets) {
            return Some(format!(
                "tickets={}: {name} sends {}",
                site.tickets,
                words::joined(program.tickets, " or ")
            ));
        }
        if site.ocsp_base64.is_some() && program.staples == Staples::Nothing {
            return Some(format!(
                "ocsp=on: {name} staples no response that it is given"
            ));
        }
        if site.body_bytes > program.most_body {
            return Some(format!(
                "body={}: {name} holds a whole body in memory, and sends at most {} bytes here",
                site.body_bytes, program.most_body
            ));
        }
        site.congestion.as_ref().map(|congestion| {
            format!("{name} has no setting for the congestion control {congestion}")
        })
    }

    /// Reports whether the server supports a group. The hybrid group was added in OpenSSL 3.5.
    fn has_group(&self, group: Group) -> bool {
        group != Group::X25519MLKEM768 || self.is_post_quantum()
    }

    /// Reports whether the server has ML-KEM and ML-DSA, which were added in OpenSSL 3.5. Where the library is not known,
    /// the server reports an unsupported group or key itself.
    fn is_post_quantum(&self) -> bool {
        self.openssl.is_none_or(|version| version >= (3, 5))
    }
}

impl Plan<'_> {
    /// Returns the path of a file in the format of configurations.
    pub(crate) fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// Returns the files that every server reads: certificates, keys and bodies.
    pub(crate) fn contents(&self) -> io::Result<Vec<Content>> {
        let mut contents = Vec::new();
        let mut bodies = BTreeSet::new();
        for placed in self.sites {
            let site = placed.site;
            let both = format!("{}{}", site.chain_pem, site.key_pem);
            contents.push(Content::private(placed.chain(), site.chain_pem.as_bytes()));
            contents.push(Content::private(placed.key(), site.key_pem.as_bytes()));
            contents.push(Content::private(placed.both(), both.as_bytes()));
            if let Some(staple) = &site.ocsp_base64 {
                let staple = BASE64_STANDARD.decode(staple).map_err(io::Error::other)?;
                contents.push(Content::private(placed.staple(), &staple));
            }
            bodies.insert(site.body_bytes);
        }
        for bytes in bodies {
            let length = usize::try_from(bytes).map_err(io::Error::other)?;
            contents.push(Content {
                name: page(bytes),
                bytes: PAGE_LINE.iter().copied().cycle().take(length).collect(),
                mode: 0o644,
            });
        }
        Ok(contents)
    }
}

impl Placed<'_> {
    pub(crate) fn chain(&self) -> String {
        format!("{}.chain", self.number)
    }

    pub(crate) fn key(&self) -> String {
        format!("{}.key", self.number)
    }

    /// Returns the name of the file with the chain without the site's own certificate.
    pub(crate) fn issuers(&self) -> String {
        format!("{}.issuers", self.number)
    }

    /// Returns the name of the file with the chain followed by the key.
    pub(crate) fn both(&self) -> String {
        format!("{}.pem", self.number)
    }

    /// Returns the name of the file with the response to staple. HAProxy requires this name.
    pub(crate) fn staple(&self) -> String {
        format!("{}.ocsp", self.both())
    }

    pub(crate) fn page(&self) -> String {
        page(self.site.body_bytes)
    }

    /// Returns the suites of TLS 1.3, or those of earlier versions, in the site's order.
    pub(crate) fn suites(&self, is_wanted: impl Fn(&CipherSuite) -> bool) -> String {
        let all = match self.site.suites.as_slice() {
            [] => CipherSuite::OFFERED,
            chosen => chosen,
        };
        let suites = all.iter().filter(|suite| is_wanted(suite));
        words::list(suites.map(|suite| words::suite_name(*suite)))
    }

    /// Returns the groups, in the site's order; empty for the server's default groups.
    pub(crate) fn groups(&self) -> String {
        let groups = self.site.groups.iter();
        words::list(groups.map(|group| words::group_name(*group)))
    }

    /// Returns the names of the site's oldest and newest version.
    pub(crate) fn oldest_and_newest(&self) -> [Option<String>; 2] {
        let versions = self.site.versions.iter();
        [versions.clone().min(), versions.max()]
            .map(|version| version.copied().map(words::version_name))
    }
}

impl Content {
    /// Makes a file that only the server's first process can read.
    pub(crate) fn private(name: String, bytes: &[u8]) -> Self {
        Self {
            name,
            bytes: bytes.to_vec(),
            mode: 0o600,
        }
    }
}

fn page(bytes: u64) -> String {
    format!("page-{bytes}")
}

fn joined(list: &[Alpn]) -> String {
    match list {
        [] => "none".to_owned(),
        list => words::joined(list, ","),
    }
}

fn find(name: &str) -> Option<PathBuf> {
    let paths = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&paths)
        .chain(SERVER_FOLDERS.map(PathBuf::from))
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

/// Returns all output of a program. The program answers at once and ends; netbench waits for this worker's
/// description with a limit.
fn says(path: &Path, arguments: &[&str]) -> String {
    let output = Command::new(path)
        .args(arguments)
        .stdin(Stdio::null())
        .output();
    output
        .map(|output| [output.stdout, output.stderr].concat())
        .map(|said| String::from_utf8_lossy(&said).into_owned())
        .unwrap_or_default()
}

/// Returns the first line that contains a version: `nginx version: nginx/1.22.1`.
fn version(said: &str) -> String {
    let line = said
        .lines()
        .find(|line| line.contains(|c: char| c.is_ascii_digit()))
        .unwrap_or("unknown");
    let line = line.rsplit("version: ").next().unwrap_or(line);
    sanitize_prefix(line.trim(), 100)
}

/// Returns the version of OpenSSL that the server runs with: the last version in the output, as the version
/// that the server was built with precedes it.
fn openssl(said: &str) -> Option<(u32, u32)> {
    said.rmatch_indices("OpenSSL ").find_map(|(at, word)| {
        let mut numbers = said[at + word.len()..].split(|c: char| !c.is_ascii_digit());
        let major = numbers.next()?.parse().ok()?;
        Some((major, numbers.next()?.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_programs_say() {
        let nginx = "nginx version: nginx/1.22.1\nbuilt with OpenSSL 3.0.1 2022 (running with OpenSSL 3.5.2 2025)\n\
                     configure arguments: --with-openssl\n";
        assert_eq!(version(nginx), "nginx/1.22.1");
        assert_eq!(openssl(nginx), Some((3, 5)));
        let haproxy = "HAProxy version 2.6.12-1 2026/10/17 - https://haproxy.org/\n\
                       Built with OpenSSL version : OpenSSL 3.0.22 25 Aug 2026\nOpenSSL library supports SNI : yes\n";
        assert_eq!(
            version(haproxy),
            "HAProxy version 2.6.12-1 2026/10/17 - https://haproxy.org/"
        );
        assert_eq!(openssl(haproxy), Some((3, 0)));
        assert_eq!(version("v20.20.2\nOpenSSL 3.0.19+quic\n"), "v20.20.2");
        assert_eq!(openssl("built with LibreSSL 3.8.0"), None);
        assert_eq!(version(""), "unknown");
    }
}
