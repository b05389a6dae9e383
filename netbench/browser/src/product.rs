use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    str::FromStr,
    time::{Duration, Instant},
};

use crate::{BrowserError, chromium::Chromium, firefox::Firefox, webkit::WebKit};

/// How long a program may take to say its version.
const VERSION_LIMIT: Duration = Duration::from_secs(20);

/// A browser that can be driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Product {
    /// Chromium, or Chrome.
    Chromium,
    /// Firefox, or its extended support release.
    Firefox,
    /// WebKitGTK, by the MiniBrowser that comes with it.
    WebKitGtk,
}

impl Product {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::Chromium, Self::Firefox, Self::WebKitGtk];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chromium => "chromium",
            Self::Firefox => "firefox",
            Self::WebKitGtk => "webkitgtk",
        }
    }

    /// Its TLS library.
    pub fn library(self) -> &'static str {
        match self {
            Self::Chromium => "BoringSSL",
            Self::Firefox => "NSS",
            Self::WebKitGtk => "GnuTLS",
        }
    }

    /// What is set for every visit beyond what is needed to drive it.
    pub fn settings(self) -> Vec<String> {
        match self {
            Self::Chromium => Chromium::settings(),
            Self::Firefox => Firefox::settings(),
            Self::WebKitGtk => WebKit::settings(),
        }
    }

    /// Whether it sandboxes itself. WebKitGTK does so for applications that ask for it, and MiniBrowser does not ask.
    pub fn has_sandbox(self) -> bool {
        self != Self::WebKitGtk
    }

    /// Whether what it learns of a server on one port leaves the others alone. In WebKitGTK a load that was refused can cancel
    /// the next one.
    pub fn keeps_ports_apart(self) -> bool {
        self != Self::WebKitGtk
    }

    /// Whether it goes on without a client certificate that a server asks for. WebKitGTK's MiniBrowser asks its user.
    pub fn needs_no_user(self) -> bool {
        self != Self::WebKitGtk
    }

    /// Whether a page is told how long the objects are that it has from other origins, where these allow it.
    pub fn tells_sizes_of_other_origins(self) -> bool {
        self != Self::WebKitGtk
    }

    /// Whether it can be told to close its connections, without which no second visit resumes a session.
    pub fn closes_connections(self) -> bool {
        self != Self::WebKitGtk
    }

    /// Whether its marks of a connection are those of its packets. WebKitGTK's are whole milliseconds, and that between TCP
    /// connect and the handshake is late.
    pub fn marks_connections(self) -> bool {
        self != Self::WebKitGtk
    }

    /// Whether it tells when a page's last byte came. Firefox's `responseEnd` of a navigation is its `responseStart`.
    pub fn marks_ends(self) -> bool {
        self != Self::Firefox
    }

    /// What its program may be called.
    fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Chromium => &["chromium", "chromium-browser", "google-chrome"],
            Self::Firefox => &["firefox-esr", "firefox"],
            Self::WebKitGtk => &["MiniBrowser"],
        }
    }

    /// Debian's package of it.
    fn package(self) -> &'static str {
        match self {
            Self::Chromium => "chromium",
            Self::Firefox => "firefox-esr",
            Self::WebKitGtk => "libwebkit2gtk-4.1-0",
        }
    }

    /// The first version whose answers are understood.
    fn oldest(self) -> u32 {
        match self {
            // `--headless` without a value is the whole browser.
            Self::Chromium => 132,
            // `--remote-allow-system-access`, without which scripts on its own side are refused.
            Self::Firefox => 138,
            Self::WebKitGtk => 2,
        }
    }
}

impl FromStr for Product {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "webkit" => Ok(Self::WebKitGtk),
            _ => netbench_model::tls::one_of("browser", text, &Self::ALL),
        }
    }
}

impl std::fmt::Display for Product {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// A browser that is installed here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserProgram {
    product: Product,
    path: PathBuf,
    version: String,
}

impl BrowserProgram {
    /// Looks for a browser on the search path, and asks it for its version.
    ///
    /// # Errors
    /// It is not there, does not say its version, or is too old.
    pub fn find(product: Product) -> Result<Self, BrowserError> {
        if product == Product::WebKitGtk {
            return Self::at(product, WebKit::find()?);
        }
        let names = product.programs();
        let path = names.iter().find_map(|name| on_path(name));
        let path = path.ok_or_else(|| BrowserError::Missing {
            what: product.to_string(),
            help: format!(
                "none of {} is on the search path; Debian's package is {}",
                names.join(", "),
                product.package()
            ),
        })?;
        Self::at(product, path)
    }

    /// The browser whose program is at `path`.
    ///
    /// # Errors
    /// It does not say its version, or is too old.
    pub fn at(product: Product, path: PathBuf) -> Result<Self, BrowserError> {
        let unusable = |why: String| BrowserError::Unusable {
            what: format!("{product} ({})", path.display()),
            why,
        };
        let mut command = match product {
            Product::WebKitGtk => WebKit::version(&path),
            Product::Chromium | Product::Firefox => Command::new(&path),
        };
        let said = says(command.arg("--version")).map_err(unusable)?;
        let said = said.lines().next().unwrap_or_default().trim().to_owned();
        let number = said
            .split(|c: char| !c.is_ascii_digit())
            .find(|digits| !digits.is_empty())
            .and_then(|digits| digits.parse::<u32>().ok());
        match number {
            None => Err(unusable(format!("its version is \"{said}\""))),
            Some(number) if number < product.oldest() => Err(unusable(format!(
                "{said} is too old, {} is the first that can be driven",
                product.oldest()
            ))),
            Some(_) => Ok(Self {
                product,
                version: said,
                path,
            }),
        }
    }

    /// Which browser it is.
    pub fn product(&self) -> Product {
        self.product
    }

    /// Its program.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its own account of its version.
    pub fn version(&self) -> &str {
        &self.version
    }
}

/// A program on the search path.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

/// What a program prints when it is asked for its version, without what a terminal would obey.
pub(crate) fn says(command: &mut Command) -> Result<String, String> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let begun = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if begun.elapsed() < VERSION_LIMIT => {
                std::thread::sleep(Duration::from_millis(10));
            }
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return Err("it does not say its version".to_owned());
            }
        }
    };
    if !status.success() {
        return Err(format!("asked for its version, it ended with {status}"));
    }
    let mut said = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        use std::io::Read;
        let _ = stdout.take(4_096).read_to_end(&mut said);
    }
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<_> = said.lines().map(netbench_model::sanitize).collect();
    Ok(lines.join("\n"))
}
