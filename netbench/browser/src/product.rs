use std::{
    path::{Path, PathBuf},
    process::Command,
    str::FromStr,
};

use netbench_model::browser::{Mark, Sandbox};

use crate::{
    BrowserError,
    chromium::Chromium,
    firefox::Firefox,
    program::{on_path, says},
    servo::Servo,
    webkit::WebKit,
};

/// A browser that can be driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Product {
    /// Chromium, or Chrome.
    Chromium,
    /// Firefox, or its extended support release.
    Firefox,
    /// WebKitGTK, by its MiniBrowser.
    WebKitGtk,
    /// Servo, in netbench's own program.
    Servo(ServoTls),
}

/// The TLS library of a Servo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ServoTls {
    /// rustls with AWS-LC, which is Servo's own choice.
    AwsLc,
    /// rustls with ring.
    Ring,
    /// OpenSSL, by a patch to Servo's network stack.
    OpenSsl,
}

impl ServoTls {
    /// Returns the stack with the same TLS library.
    pub fn stack(self) -> &'static str {
        match self {
            Self::AwsLc => "rustls-aws-lc",
            Self::Ring => "rustls-ring",
            Self::OpenSsl => "openssl",
        }
    }
}

impl Product {
    /// Every browser.
    pub const ALL: [Self; 6] = [
        Self::Chromium,
        Self::Firefox,
        Self::WebKitGtk,
        Self::Servo(ServoTls::AwsLc),
        Self::Servo(ServoTls::Ring),
        Self::Servo(ServoTls::OpenSsl),
    ];

    /// Returns the browser's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chromium => "chromium",
            Self::Firefox => "firefox",
            Self::WebKitGtk => "webkitgtk",
            Self::Servo(ServoTls::AwsLc) => "servo",
            Self::Servo(ServoTls::Ring) => "servo+ring",
            Self::Servo(ServoTls::OpenSsl) => "servo+openssl",
        }
    }

    /// Returns the name of its TLS library.
    pub fn library(self) -> &'static str {
        match self {
            Self::Chromium => "BoringSSL",
            Self::Firefox => "NSS",
            Self::WebKitGtk => "GnuTLS",
            Self::Servo(ServoTls::AwsLc) => "rustls with aws-lc-rs",
            Self::Servo(ServoTls::Ring) => "rustls with ring",
            Self::Servo(ServoTls::OpenSsl) => "OpenSSL",
        }
    }

    /// Returns the settings of every visit beyond those required to drive it.
    pub fn settings(self) -> Vec<String> {
        match self {
            Self::Chromium => Chromium::settings(),
            Self::Firefox => Firefox::settings(),
            Self::WebKitGtk => WebKit::settings(),
            Self::Servo(tls) => Servo::settings(tls),
        }
    }

    /// Returns the state of the browser's sandbox where `wanted` is requested. WebKitGTK sandboxes itself for applications
    /// that request it, and MiniBrowser does not; Servo has no sandbox in one process.
    pub fn sandbox(self, wanted: Sandbox) -> Sandbox {
        match self {
            Self::Chromium | Self::Firefox => wanted,
            Self::WebKitGtk | Self::Servo(_) => Sandbox::Off,
        }
    }

    /// Returns whether the browser's state about a server on one port does not affect other ports. In
    /// WebKitGTK, a load that was refused can cancel the next one; Servo keeps sessions by host.
    pub fn keeps_ports_apart(self) -> bool {
        matches!(self, Self::Chromium | Self::Firefox)
    }

    /// Returns whether the browser can use HTTPS records with configurations of Encrypted ClientHello, and reports whether a
    /// server accepted it. Both also send GREASE without a record.
    pub fn uses_https_records(self) -> bool {
        matches!(self, Self::Chromium | Self::Firefox)
    }

    /// Returns whether the browser continues without a client certificate that a server requests. WebKitGTK's
    /// MiniBrowser asks its user.
    pub fn needs_no_user(self) -> bool {
        self != Self::WebKitGtk
    }

    /// Returns whether a page can read the sizes of its objects from other origins, where these allow it.
    pub fn tells_sizes_of_other_origins(self) -> bool {
        self != Self::WebKitGtk
    }

    /// Returns whether the browser can close its connections on request, without which no second visit
    /// resumes a session.
    pub fn closes_connections(self) -> bool {
        self != Self::WebKitGtk
    }

    /// Returns the marks of a visit that the browser does not report, or not as its packets have them. Firefox's
    /// `responseEnd` of a navigation is its `responseStart`. WebKitGTK's marks are whole milliseconds, and that between
    /// TCP connect and the handshake is late. Servo's marks of a connection are 0.
    pub fn unmarked(self) -> &'static [Mark] {
        match self {
            Self::Chromium => &[],
            Self::Firefox => &[Mark::End],
            Self::WebKitGtk => &[Mark::Connected],
            Self::Servo(_) => &[Mark::Connected, Mark::Protected, Mark::FirstByte],
        }
    }

    /// Returns the possible names of its program.
    fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Chromium => &["chromium", "chromium-browser", "google-chrome"],
            Self::Firefox => &["firefox-esr", "firefox"],
            Self::WebKitGtk => &["MiniBrowser"],
            Self::Servo(ServoTls::AwsLc | ServoTls::Ring) => &["netbench-servo"],
            Self::Servo(ServoTls::OpenSsl) => &["netbench-servo-openssl"],
        }
    }

    /// Returns the means of installing it.
    fn help(self) -> &'static str {
        match self {
            Self::Chromium => "Debian's package is chromium",
            Self::Firefox => "Debian's package is firefox-esr",
            Self::WebKitGtk => "Debian's package is libwebkit2gtk-4.1-0",
            Self::Servo(_) => "`netbench stacks build servo-browser` builds it from a source tree",
        }
    }

    /// Returns the first version whose answers are supported.
    fn oldest(self) -> u32 {
        match self {
            // From this version on, `--headless` without a value is the whole browser.
            Self::Chromium => 132,
            // This version added `--remote-allow-system-access`, without which privileged scripts are
            // refused.
            Self::Firefox => 138,
            Self::WebKitGtk => 2,
            Self::Servo(_) => 0,
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

/// A browser that is installed on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserProgram {
    product: Product,
    path: PathBuf,
    version: String,
}

impl BrowserProgram {
    /// Searches for a browser on the search path, and runs it to get its version.
    ///
    /// # Errors
    /// Returns an error if the browser is not installed, does not report its version, or is too old.
    pub fn find(product: Product) -> Result<Self, BrowserError> {
        if product == Product::WebKitGtk {
            return Self::at(product, WebKit::find()?);
        }
        let names = product.programs();
        let path = names.iter().find_map(|name| on_path(name));
        let path = path.ok_or_else(|| {
            let (names, help) = (names.join(", "), product.help());
            let help = format!("none of {names} is on the search path; {help}");
            BrowserError::missing(product.name(), help)
        })?;
        Self::at(product, path)
    }

    /// Returns the browser whose program is at `path`.
    ///
    /// # Errors
    /// Returns an error if the program does not report its version, or is too old.
    pub fn at(product: Product, path: PathBuf) -> Result<Self, BrowserError> {
        match usable_version(product, &path) {
            Ok(version) => Ok(Self {
                product,
                version,
                path,
            }),
            Err(why) => {
                let what = format!("{product} ({})", path.display());
                Err(BrowserError::unusable(what, why))
            }
        }
    }

    /// Returns the kind of browser.
    pub fn product(&self) -> Product {
        self.product
    }

    /// Returns the path of the program.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the version, as the program reports it.
    pub fn version(&self) -> &str {
        &self.version
    }
}

/// Returns the version that the program reports, or the reason why it cannot be driven.
fn usable_version(product: Product, path: &Path) -> Result<String, String> {
    let mut command = match product {
        Product::WebKitGtk => WebKit::version(path),
        Product::Chromium | Product::Firefox | Product::Servo(_) => Command::new(path),
    };
    let said = says(command.arg("--version"))?;
    let said = said.lines().next().unwrap_or_default().trim().to_owned();
    let number = said
        .split(|c: char| !c.is_ascii_digit())
        .find(|digits| !digits.is_empty())
        .and_then(|digits| digits.parse::<u32>().ok());
    match number {
        None => Err(format!("its version is \"{said}\"")),
        Some(number) if number < product.oldest() => Err(format!(
            "{said} is too old, {} is the first that can be driven",
            product.oldest()
        )),
        Some(_) => Ok(said),
    }
}
