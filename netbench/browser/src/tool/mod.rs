//! Programs other than browsers that fetch pages. Each fetch runs in a new process.

mod curl;
mod node;
mod openssl;
mod python;
mod run;
mod script_output;
mod wget;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use netbench_model::{Failure, tls::named::labels};
use netbench_scratch::Folder;

use self::run::{Ran, run};
use crate::{
    BrowserError, Limit, Network,
    place::Place,
    process,
    program::{on_path, says},
};

labels!(
    /// A program that fetches pages.
    Tool, {
        /// curl.
        Curl = "curl",
        /// GNU Wget.
        Wget = "wget",
        /// Python, by its modules `http.client` and `ssl`.
        Python = "python",
        /// Node.js, by its module `https`.
        Node = "node",
    }
);

impl Tool {
    /// Returns the possible names of its executable, and the name of Debian's package.
    fn programs(self) -> (&'static [&'static str], &'static str) {
        match self {
            Self::Curl => (&["curl"], "curl"),
            Self::Wget => (&["wget"], "wget"),
            Self::Python => (&["python3", "python"], "python3"),
            Self::Node => (&["node", "nodejs"], "nodejs"),
        }
    }
}

/// A program that is installed on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolProgram {
    tool: Tool,
    path: PathBuf,
    version: String,
    library: String,
}

impl ToolProgram {
    /// Searches for a program on the search path, and runs it to get its version.
    ///
    /// # Errors
    /// Returns an error if the program is not installed, or does not report its version.
    pub fn find(tool: Tool) -> Result<Self, BrowserError> {
        let (names, package) = tool.programs();
        let path = names.iter().find_map(|name| on_path(name));
        let path = path.ok_or_else(|| {
            BrowserError::missing(tool.name(), format!("Debian's package is {package}"))
        })?;
        let (arguments, about): (&[&str], ReadAbout) = match tool {
            Tool::Curl => (&["--version"], curl::about),
            Tool::Wget => (&["--version"], wget::about),
            Tool::Python => (&["-c", python::ABOUT], python::about),
            Tool::Node => (&["-p", node::ABOUT], node::about),
        };
        let about = says(Command::new(&path).args(arguments)).and_then(|said| {
            about(&said).ok_or_else(|| "it does not tell its TLS library".to_owned())
        });
        let About {
            executable,
            version,
            library,
        } = about
            .map_err(|why| BrowserError::unusable(format!("{tool} ({})", path.display()), why))?;
        Ok(Self {
            tool,
            path: executable.unwrap_or(path),
            version,
            library,
        })
    }

    /// Returns the kind of program.
    pub fn tool(&self) -> Tool {
        self.tool
    }

    /// Returns the version, as the program reports it.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the name of its TLS library.
    pub fn library(&self) -> &str {
        &self.library
    }
}

/// A function that reads a program's answer about itself; none if the answer lacks a part.
type ReadAbout = fn(&str) -> Option<About>;

/// A program's information about itself.
#[derive(Debug, PartialEq, Eq)]
struct About {
    /// The path of the executable, where the found program only starts it.
    executable: Option<PathBuf>,
    version: String,
    library: String,
}

/// A page that is to be fetched.
#[derive(Debug, Clone, Copy)]
pub struct Fetch<'a> {
    /// The page's address.
    pub url: &'a str,
    /// The only roots that are trusted for it.
    pub roots_pem: &'a str,
}

/// The result of a fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
    /// A response.
    Answered {
        /// The response's status.
        http_status: u16,
        /// Size of its body, in bytes.
        body_bytes: u64,
        /// The application protocol, where the program reports it.
        alpn: Option<String>,
    },
    /// No response.
    Failed {
        /// The failure.
        failure: Failure,
        /// The program's own code of the failure: `exit code 60`, `CERT_HAS_EXPIRED`.
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
    /// Prepares the folder and the environment.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be made.
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
    /// Returns an error if the program ends by a signal, hangs, or prints output that cannot be
    /// parsed.
    pub fn fetch(&self, fetch: Fetch<'_>, limit: Limit<'_>) -> Result<Fetched, BrowserError> {
        let roots = self.folder.path().join("roots.pem");
        let failed = BrowserError::profile("the file of its roots");
        std::fs::write(&roots, fetch.roots_pem).map_err(failed)?;
        let mut command = Command::new(&self.program.path);
        let asked = Asked {
            url: fetch.url,
            roots: &roots,
            folder: self.folder.path(),
            seconds: limit.left().as_secs_f64(),
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
                "it ended with exit code {} and printed \"{}\"",
                ran.code,
                ran.last_line()
            ),
        })
    }
}

/// The interpretation of a program's output, which depends on its TLS library.
type Read = fn(&Ran, &str) -> Option<Fetched>;

/// The parameters of a program's fetch.
struct Asked<'a> {
    url: &'a str,
    roots: &'a Path,
    folder: &'a Path,
    seconds: f64,
}
