//! The clients that are measured from outside: browsers, and programs that fetch pages.

use std::str::FromStr;

use crate::{BrowserError, BrowserProgram, Product, Tool, ToolProgram};

/// A client that is measured from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outside {
    /// A browser.
    Browser(Product),
    /// Another program that fetches pages.
    Tool(Tool),
}

impl Outside {
    /// Returns every client.
    pub fn all() -> impl Iterator<Item = Self> {
        let browsers = Product::ALL.into_iter().map(Self::Browser);
        browsers.chain(Tool::ALL.iter().copied().map(Self::Tool))
    }
}

impl FromStr for Outside {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known: Vec<_> = Self::all().collect();
        netbench_model::tls::one_of("client", text, &known)
    }
}

impl std::fmt::Display for Outside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Browser(product) => product.fmt(f),
            Self::Tool(tool) => tool.fmt(f),
        }
    }
}

/// A client that is installed on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutsideProgram {
    /// A browser.
    Browser(BrowserProgram),
    /// Another program that fetches pages.
    Tool(ToolProgram),
}

impl OutsideProgram {
    /// Searches for a client on the search path, and runs it to get its version.
    ///
    /// # Errors
    /// Returns an error if the client is not installed, does not report its version, or is too old.
    pub fn find(client: Outside) -> Result<Self, BrowserError> {
        Ok(match client {
            Outside::Browser(product) => Self::Browser(BrowserProgram::find(product)?),
            Outside::Tool(tool) => Self::Tool(ToolProgram::find(tool)?),
        })
    }

    /// Returns the version, as the program reports it.
    pub fn version(&self) -> &str {
        match self {
            Self::Browser(program) => program.version(),
            Self::Tool(program) => program.version(),
        }
    }

    /// Returns the name of its TLS library.
    pub fn library(&self) -> &str {
        match self {
            Self::Browser(program) => program.product().library(),
            Self::Tool(program) => program.library(),
        }
    }
}
