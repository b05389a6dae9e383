//! WebKitGTK, driven by its MiniBrowser and its WebDriver, on a separate display. GnuTLS trusts the roots in
//! the system's file of roots, so a separate file is mounted in its place.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use netbench_model::{Negotiated, browser::Visit};
use netbench_protocol::SERVER_VIEW_HEADER;
use netbench_scratch::Folder;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    BrowserError, Limit, Page, Shown, Surroundings,
    codes::WEBKIT_REFUSES,
    driven::Driven,
    page::{alpn, server_view},
    place::Place,
    process::Process,
    program::on_path,
    timing::{EXPRESSION, NavigationTiming},
    webdriver::WebDriver,
};

const NAME: &str = "WebKitGTK";

/// The name of its driver.
const DRIVER: &str = "WebKitWebDriver";

/// The virtual display that it draws to.
const DISPLAY: &str = "Xvfb";

/// The address of the driver, in a namespace that has no other driver.
const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 4444);

/// The file of roots that GnuTLS reads.
const ROOTS: &str = "/etc/ssl/certs/ca-certificates.crt";

/// The message of its error page for a load that it has cancelled itself.
const CANCELLED: &str = "Operation was cancelled";

/// Number of times that a page whose load was cancelled is opened again.
const CANCELLED_LOADS: usize = 3;

/// Starts a display, and on it the command in its arguments.
const ON_A_DISPLAY: &str = include_str!("webkit/on-a-display.sh");

/// A script that runs the program in its argument to print its version, which requires a display. The display
/// ends with its only window, and after a time limit in any case.
const VERSION: &str = include_str!("webkit/version.sh");

/// A script that returns the data of the shown page. The head of the page's own response cannot be read: the
/// script requests the page again over the existing connection, and the server describes that connection in
/// its response. If there are several connections, the page's own is the one that resumed no session: in a
/// fresh profile, it was the first.
const REPORT: &str = include_str!("webkit/report.js");

/// A script that returns the shown content, which is a page from a connection if it has a protocol.
const LOOK: &str = include_str!("webkit/look.js");

/// A WebKitGTK with one page.
pub(crate) struct WebKit {
    driver: WebDriver,
    session: String,
    process: Process,
}

/// The report on the shown page.
#[derive(Debug, Clone, Deserialize)]
struct PageReport<P> {
    /// The page, where it was loaded over a connection.
    page: Option<P>,
    /// The scheme of the URL that is shown instead.
    #[serde(default)]
    at: String,
    /// The text that is shown instead.
    #[serde(default)]
    shown: String,
}

#[derive(Debug, Clone, Deserialize)]
struct Looked {
    protocol: String,
    bytes: u64,
}

#[derive(Debug, Clone, Deserialize)]
struct Seen {
    protocol: String,
    timing: String,
    /// The status of the same page over the same connection; 0 where there was none.
    status: u16,
    headers: Value,
}

impl WebKit {
    pub(crate) fn start(
        program: &Path,
        folder: Folder,
        surroundings: &Surroundings<'_>,
        limit: Limit<'_>,
    ) -> Result<Self, BrowserError> {
        let mut place = Place::prepare(surroundings.network, None, folder.path())?;
        let mut roots = fs::read_to_string(ROOTS).map_err(BrowserError::profile(ROOTS))?;
        roots.push_str(surroundings.trust.pem());
        let file = folder.path().join("roots.pem");
        fs::write(&file, roots).map_err(BrowserError::profile("its file of roots"))?;
        place.mount(&file, c"/etc/ssl/certs/ca-certificates.crt")?;
        // A display has files there, which are removed with the folder.
        place.mount(folder.path(), c"/tmp")?;
        let mut command = Command::new("sh");
        command
            .args(["-c", ON_A_DISPLAY, "sh", DRIVER])
            // Without an address, the driver also requires IPv6.
            .arg(format!("--host={}", ADDRESS.ip()))
            .arg(format!("--port={}", ADDRESS.port()))
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        place.enter(&mut command, Path::new("/tmp"));
        // There is neither a bus nor a graphics card for the browser.
        command
            .env("NO_AT_BRIDGE", "1")
            .env("GSETTINGS_BACKEND", "memory")
            .env("LIBGL_ALWAYS_SOFTWARE", "1");
        let mut process = Process::start(NAME, &mut command, folder)?;
        let namespace = surroundings.network.namespace;
        let driver = WebDriver::connect(ADDRESS, &mut process, namespace, limit)
            .map_err(|unanswered| process.failed(unanswered, "start"))?;
        let mut webkit = Self {
            driver,
            session: String::new(),
            process,
        };
        let options = json!({"binary": program, "args": ["--automation"]});
        let capabilities =
            json!({"acceptInsecureCerts": false, "webkitgtk:browserOptions": options});
        let session = json!({"capabilities": {"alwaysMatch": capabilities}});
        let session = webkit.post("/session", &session, "open a page", limit)?;
        session["sessionId"]
            .as_str()
            .unwrap_or_default()
            .clone_into(&mut webkit.session);
        Ok(webkit)
    }

    /// Opens a page and runs a script in it, or returns the code of the shown error.
    fn open<P: DeserializeOwned>(
        &mut self,
        url: &str,
        command: &str,
        script: &str,
        limit: Limit<'_>,
    ) -> Result<Result<P, String>, BrowserError> {
        let doing = "load the page";
        // If the next page is refused for its certificate, the previous page stays.
        self.command("url", &json!({"url": "about:blank"}), doing, limit)?;
        self.command("url", &json!({"url": url}), doing, limit)?;
        let script = json!({"script": script, "args": []});
        let report = self.command(command, &script, "report the page", limit)?;
        let report: PageReport<P> = serde_json::from_value(report)
            .map_err(|error| format!("its report cannot be read: {error}"))
            .map_err(BrowserError::answer(NAME))?;
        Ok(report
            .page
            .ok_or_else(|| error_code(&report.at, &report.shown)))
    }

    /// Returns the settings beyond those required to drive it, for the record.
    pub(crate) fn settings() -> Vec<String> {
        vec!["--automation".to_owned()]
    }

    /// Searches for the browser, and for the programs that drive it. The browser is on no search path.
    pub(crate) fn find() -> Result<PathBuf, BrowserError> {
        let browser = libraries().into_iter().find_map(|folder| {
            let names = ["webkit2gtk-4.1", "webkitgtk-6.0", "webkit2gtk-4.0"];
            let mut paths = names
                .iter()
                .map(|name| folder.join(name).join("MiniBrowser"));
            paths.find(|path| path.is_file())
        });
        let Some(browser) = browser else {
            let help = "its MiniBrowser is in none of the folders of libraries; Debian's package is libwebkit2gtk-4.1-0";
            return Err(BrowserError::missing("webkitgtk", help));
        };
        for (program, package, what) in [
            (DRIVER, "webkit2gtk-driver", "drives WebKitGTK"),
            (DISPLAY, "xvfb", "is the display that WebKitGTK draws to"),
        ] {
            if on_path(program).is_none() {
                let help = format!("it {what}; Debian's package is {package}");
                return Err(BrowserError::missing(program, help));
            }
        }
        if !Path::new(ROOTS).is_file() {
            let help = "GnuTLS reads its roots there; Debian's package is ca-certificates";
            return Err(BrowserError::missing(ROOTS, help));
        }
        Ok(browser)
    }

    /// Returns the command by which the browser at this path prints its version.
    pub(crate) fn version(path: &Path) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", VERSION, "sh"]).arg(path);
        command
    }

    fn command(
        &mut self,
        name: &str,
        body: &Value,
        doing: &str,
        limit: Limit<'_>,
    ) -> Result<Value, BrowserError> {
        let path = format!("/session/{}/{name}", self.session);
        self.post(&path, body, doing, limit)
    }

    fn post(
        &mut self,
        path: &str,
        body: &Value,
        doing: &str,
        limit: Limit<'_>,
    ) -> Result<Value, BrowserError> {
        self.driver
            .post(path, body, limit)
            .map_err(|unanswered| self.process.failed(unanswered, doing))
    }
}

impl Driven for WebKit {
    fn visit(&mut self, url: &str, limit: Limit<'_>) -> Result<Page, BrowserError> {
        let script = REPORT
            .replace("TIMING", EXPRESSION)
            .replace("VIEW", SERVER_VIEW_HEADER);
        match self.open(url, "execute/async", &script, limit)? {
            Ok(seen) => loaded(&seen).map_err(BrowserError::answer(NAME)),
            Err(code) => Ok(Page::Error { code }),
        }
    }

    /// Opens a page without its times. The status of the response is not reported: its head is in the answer
    /// only to a second request, over the same connection, which some servers close.
    fn look(&mut self, url: &str, limit: Limit<'_>) -> Result<Shown, BrowserError> {
        let mut shown = self.open(url, "execute/sync", LOOK, limit)?;
        // Sometimes WebKitGTK cancels a load and shows that instead of the reason.
        for _ in 0..CANCELLED_LOADS {
            if shown.as_ref().is_err_and(|code| code == CANCELLED) {
                shown = self.open(url, "execute/sync", LOOK, limit)?;
            }
        }
        Ok(match shown {
            Err(code) => Shown::Error {
                code,
                certificate_base64: None,
            },
            Ok(Looked { protocol, bytes }) => Shown::Loaded {
                client: Negotiated {
                    alpn: alpn(&protocol),
                    ..Negotiated::default()
                },
                http_status: None,
                body_bytes: bytes,
            },
        })
    }

    fn close_connections(&mut self, _: Limit<'_>) -> Result<(), BrowserError> {
        let why = "its driver has no way to close connections";
        Err(BrowserError::unusable("webkitgtk", why))
    }

    fn quit(self: Box<Self>, _: Limit<'_>) -> Result<Folder, BrowserError> {
        let why = "under automation it keeps no profile";
        Err(BrowserError::unusable("webkitgtk", why))
    }

    fn process(&self) -> &Process {
        &self.process
    }
}

/// Returns the folders in which a browser may be that users do not start directly.
fn libraries() -> Vec<PathBuf> {
    let mut folders = vec![PathBuf::from("/usr/libexec"), PathBuf::from("/usr/lib64")];
    let entries = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    folders.extend(entries.map(|entry| entry.path()));
    folders
}

/// Returns the code of an error: the text of its error page, or, where it shows none, its signal for a
/// refused certificate.
fn error_code(at: &str, shown: &str) -> String {
    let words = shown.trim();
    match (at, words) {
        ("about:", "") => WEBKIT_REFUSES.to_owned(),
        (at, "") => format!("a page of {at}"),
        _ => netbench_model::sanitize_prefix(words, 300),
    }
}

fn loaded(seen: &Seen) -> Result<Page, String> {
    let timing = NavigationTiming::parse(&seen.timing)?;
    Ok(Page::completed(Visit {
        times: timing.times()?,
        client: Negotiated {
            alpn: alpn(&seen.protocol),
            ..Negotiated::default()
        },
        server: server_view(&seen.headers),
        http_status: seen.status,
        body_bytes: timing.decoded_body_size,
        objects: timing.objects()?,
        ..Visit::default()
    }))
}

#[cfg(test)]
mod tests {
    use netbench_model::{CipherSuite, ServerView, TlsVersion};

    use super::*;

    #[test]
    fn an_error_page_is_reported_with_its_text() {
        assert_eq!(error_code("about:", " \n"), "load-failed-with-tls-errors");
        let words = "Could not connect to a.example: Connection refused";
        assert_eq!(error_code("https:", words), words);
        assert_eq!(error_code("http:", ""), "a page of http:");
    }

    #[test]
    fn a_page_is_the_one_that_the_server_describes_over_its_connection() {
        let timing = r#"{"domainLookupStart":1,"domainLookupEnd":2,"connectStart":2,"secureConnectionStart":22,
            "connectEnd":47,"requestStart":47,"responseStart":69,"responseEnd":70,"decodedBodySize":1000}"#;
        let negotiated = Negotiated {
            version: Some(TlsVersion::Tls13),
            suite: Some(CipherSuite::TLS_AES_128_GCM_SHA256),
            alpn: Some("h2".to_owned()),
            ..Negotiated::default()
        };
        let view = ServerView {
            negotiated: negotiated.clone(),
            compute_ns: 1,
        };
        let server = serde_json::to_string(&view).expect("JSON");
        let mut seen = Seen {
            protocol: "h2".to_owned(),
            timing: timing.to_owned(),
            status: 200,
            headers: json!({"x-netbench-server": server}),
        };
        let page = loaded(&seen);
        let Ok(Page::Loaded(page)) = page else {
            panic!("it is a page: {page:?}");
        };
        assert_eq!((page.server, page.client), (Some(view), negotiated));
        seen.headers = json!({});
        let Ok(Page::Loaded(page)) = loaded(&seen) else {
            panic!("it is a page");
        };
        assert_eq!((page.server, page.client.version), (None, None));
    }
}
