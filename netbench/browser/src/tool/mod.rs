//! Programs other than browsers that fetch pages. Each fetch runs in a new process.

mod curl;
mod node;
mod openssl;
mod python;
mod run;
mod told;
mod wget;

use std::{
    path::{Path, PathBuf},
    process::Command,
    str::FromStr,
    time::Instant,
};

use netbench_model::Failure;
use netbench_scratch::Folder;

use self::run::{Ran, run};
use crate::{
    BrowserError, Limit, Network,
    place::Place,
    process,
    product::{on_path, says},
};

/// A program that fetches pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tool {
    /// curl.
    Curl,
    /// GNU Wget.
    Wget,
    /// Python's own `http.client` and `ssl`.
    Python,
    /// Node.js' own `https`.
    Node,
}

impl Tool {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Curl, Self::Wget, Self::Python, Self::Node];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Curl => "curl",
            Self::Wget => "wget",
            Self::Python => "python",
            Self::Node => "node",
        }
    }

    /// What its program may be called, and Debian's package of it.
    fn programs(self) -> (&'static [&'static str], &'static str) {
        match self {
            Self::Curl => (&["curl"], "curl"),
            Self::Wget => (&["wget"], "wget"),
            Self::Python => (&["python3", "python"], "python3"),
            Self::Node => (&["node", "nodejs"], "nodejs"),
        }
    }
}

impl FromStr for Tool {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        netbench_model::tls::one_of("program", text, &Self::ALL)
    }
}

impl std::fmt::Display for Tool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// A program that is installed here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolProgram {
    tool: Tool,
    path: PathBuf,
    version: String,
    library: String,
}

impl ToolProgram {
    /// Looks for a program on the search path, and asks it for its version.
    ///
    /// # Errors
    /// It is not there, or does not say its version.
    pub fn find(tool: Tool) -> Result<Self, BrowserError> {
        let (names, package) = tool.programs();
        let path = names.iter().find_map(|name| on_path(name));
        let path = path.ok_or_else(|| BrowserError::Missing {
            what: tool.to_string(),
            help: format!("Debian's package is {package}"),
        })?;
        let asked = match tool {
            Tool::Curl => says(Command::new(&path).arg("--version")).map(|said| curl::about(&said)),
            Tool::Wget => says(Command::new(&path).arg("--version")).map(|said| wget::about(&said)),
            Tool::Python => says(Command::new(&path).args(["-c", python::ABOUT]))
                .map(|said| python::about(&said)),
            Tool::Node => {
                says(Command::new(&path).args(["-p", node::ABOUT])).map(|said| node::about(&said))
            }
        };
        let about = asked
            .and_then(|about| about.ok_or_else(|| "it does not tell its TLS library".to_owned()));
        let About {
            executable,
            version,
            library,
        } = about.map_err(|why| BrowserError::Unusable {
            what: format!("{tool} ({})", path.display()),
            why,
        })?;
        Ok(Self {
            tool,
            path: executable.unwrap_or(path),
            version,
            library,
        })
    }

    /// Which program it is.
    pub fn tool(&self) -> Tool {
        self.tool
    }

    /// Its own account of its version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Its TLS library.
    pub fn library(&self) -> &str {
        &self.library
    }
}

/// What a program says of itself.
#[derive(Debug, PartialEq, Eq)]
struct About {
    /// Itself, where what was found only leads to it.
    executable: Option<PathBuf>,
    version: String,
    library: String,
}

/// A page that is to be fetched.
#[derive(Debug, Clone, Copy)]
pub struct Fetch<'a> {
    /// Its address.
    pub url: &'a str,
    /// What is trusted for it, and nothing else is.
    pub roots_pem: &'a str,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
    /// A response.
    Answered {
        /// Its status.
        http_status: u16,
        /// Bytes of its body.
        body_bytes: u64,
        /// The application protocol, where the program tells.
        alpn: Option<String>,
    },
    /// None.
    Failed {
        /// Why.
        failure: Failure,
        /// The program's own name of it: `exit code 60`, `CERT_HAS_EXPIRED`.
        code: String,
    },
}

/// A program that fetches pages inside a network, with a private folder.
pub struct Fetcher<'a> {
    program: &'a ToolProgram,
    place: Place<'a>,
    folder: Folder,
}

impl<'a> Fetcher<'a> {
    /// Gets ready.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn new(program: &'a ToolProgram, network: Network<'a>) -> Result<Self, BrowserError> {
        let folder = process::folder()?;
        Ok(Self {
            place: Place::prepare(network, None, folder.path())?,
            program,
            folder,
        })
    }

    /// Fetches a page.
    ///
    /// # Errors
    /// The program ends by a signal, hangs, or says what cannot be understood.
    pub fn fetch(&self, fetch: Fetch<'_>, limit: Limit<'_>) -> Result<Fetched, BrowserError> {
        let roots = self.folder.path().join("roots.pem");
        std::fs::write(&roots, fetch.roots_pem).map_err(|source| BrowserError::Profile {
            what: "the file of its roots".to_owned(),
            source,
        })?;
        let mut command = Command::new(&self.program.path);
        let asked = Asked {
            url: fetch.url,
            roots: &roots,
            folder: self.folder.path(),
            seconds: limit
                .deadline
                .saturating_duration_since(Instant::now())
                .as_secs_f64(),
        };
        let read = match self.program.tool {
            Tool::Curl => curl::ask(&mut command, asked),
            Tool::Wget => wget::ask(&mut command, asked),
            Tool::Python => python::ask(&mut command, asked),
            Tool::Node => node::ask(&mut command, asked),
        };
        self.place.enter(&mut command, self.folder.path());
        let name = self.program.tool.name();
        let ran = run(name, command, self.folder.path(), limit)?;
        read(&ran, &self.program.library).ok_or_else(|| BrowserError::Answer {
            browser: name,
            what: format!(
                "it ended with exit code {} and said \"{}\"",
                ran.code,
                ran.last_line()
            ),
        })
    }
}

/// How what a program printed is understood, by its TLS library.
type Read = fn(&Ran, &str) -> Option<Fetched>;

/// What a program is asked.
struct Asked<'a> {
    url: &'a str,
    roots: &'a Path,
    folder: &'a Path,
    seconds: f64,
}
