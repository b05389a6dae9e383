//! Firefox, driven by Marionette: the page's timing comes from the page, and the TLS library's data on the
//! connection from the browser's privileged context.

use std::{
    fs,
    io::{self, ErrorKind},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use netbench_link::Namespace;
use netbench_model::{
    EchStatus, Group, Negotiated, SignatureScheme, TlsVersion,
    browser::{Sandbox, Visit, VisitTimes},
};
use netbench_scratch::Folder;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    BrowserError, HttpsRecords, Limit, Page, StartupCache, Surroundings,
    driven::Driven,
    error::Unanswered,
    marionette::Marionette,
    page::server_view,
    place::{Place, other_user},
    process::{Process, QUIT},
    timing::{EXPRESSION, NavigationTiming},
};

const NAME: &str = "Firefox";

/// The name of the browser's privileged context.
const OWN: &str = "chrome";

/// The name of its profile, in its folder.
const PROFILE: &str = "profile";

/// The file of the profile in which Firefox writes its port.
const PORT_FILE: &str = "MarionetteActivePort";

/// The polling interval for that file.
const LOOK: Duration = Duration::from_millis(10);

/// The startup cache in its profile, with the files by which it validates the cache: versions and the list of
/// its built-in add-ons.
const STARTUP_CACHE: [&str; 6] = [
    "startupCache",
    "compatibility.ini",
    "prefs.js",
    "addonStartup.json.lz4",
    "extensions.json",
    "extension-store",
];

/// Preferences that disable its own traffic, its caches, and the rounding of its times.
const PREFERENCES: &str = include_str!("firefox/user.js");

/// Preferences that override these where it uses HTTPS records. By default, it does not ask for those of other ports than
/// 443, not while it is driven, and does not wait for one if it has the address already.
const HTTPS_RECORDS: &str = r#"
user_pref("network.dns.native_https_query", true);
user_pref("network.dns.native_https_query_in_automation", true);
user_pref("network.dns.port_prefixed_qname_https_rr", true);
user_pref("network.dns.force_use_https_rr", true);
user_pref("network.dns.echconfig.enabled", true);
"#;

/// A script that makes the browser record the responses for a page.
const WATCH: &str = include_str!("firefox/watch.js");
/// A script that returns the recorded responses, and clears the record.
const SEEN: &str = "return JSON.stringify(globalThis.netbenchSeen.splice(0));";

const CLOSE_CONNECTIONS: &str =
    r#"Services.obs.notifyObservers(null, "net:prune-all-connections"); return true;"#;

/// A script that makes Firefox keep its HSTS policies, which Marionette removes at the end of its session.
const KEEP_POLICIES: &str = r#"const { Certificates } = ChromeUtils.importESModule(
"chrome://remote/content/shared/webdriver/Certificates.sys.mjs");
Certificates.enableSecurityChecks = () => {};"#;

/// A Firefox with one page.
pub(crate) struct Firefox {
    marionette: Marionette,
    process: Process,
}

/// The browser's record of a response, or of the lack of one.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Seen {
    status: u16,
    headers: Value,
    /// The name of an `nsresult`.
    result: String,
    /// The version; 4 is TLS 1.3.
    version: Option<u16>,
    cipher: Option<String>,
    group: Option<String>,
    signature: Option<String>,
    alpn: Option<String>,
    ech: Option<bool>,
    resumed: Option<bool>,
    /// NSS's name of an error.
    code: Option<String>,
}

impl Firefox {
    pub(crate) fn start(
        program: &Path,
        folder: Folder,
        surroundings: &Surroundings<'_>,
        limit: Limit<'_>,
    ) -> Result<Self, BrowserError> {
        let failed = BrowserError::profile("its folder");
        let place = Place::prepare(
            surroundings.network,
            other_user(surroundings.sandbox)?,
            folder.path(),
        )?;
        let profile = folder.path().join(PROFILE);
        surroundings.trust.copy_to(&profile)?;
        if let Some(cache) = surroundings.startup_cache {
            cache.copy_to(&profile)?;
        }
        let records = match surroundings.https_records {
            HttpsRecords::Off => "",
            HttpsRecords::On => HTTPS_RECORDS,
        };
        let preferences = [PREFERENCES, records].concat();
        fs::write(profile.join("user.js"), preferences).map_err(&failed)?;
        // The file is that of an earlier start.
        match fs::remove_file(profile.join(PORT_FILE)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        place.give(folder.path()).map_err(&failed)?;
        let mut command = Command::new(program);
        command
            .args(["--headless", "--no-remote", "--new-instance"])
            .args(["--marionette", "--remote-allow-system-access"])
            .arg("--profile")
            .arg(&profile)
            .arg("about:blank");
        place.enter(&mut command, folder.path());
        command
            .env("MOZ_CRASHREPORTER_DISABLE", "1")
            .env("MOZ_REMOTE_SETTINGS_DEVTOOLS", "1")
            .envs(
                (surroundings.sandbox == Sandbox::Off)
                    .then_some(("MOZ_DISABLE_CONTENT_SANDBOX", "1")),
            )
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let mut process = Process::start(NAME, &mut command, folder)?;
        let marionette = connect(&mut process, surroundings.network.namespace, limit)
            .map_err(|unanswered| process.failed(unanswered, "start"))?;
        let mut firefox = Self {
            marionette,
            process,
        };
        let capabilities = json!({"alwaysMatch": {"acceptInsecureCerts": false}});
        let session = json!({"capabilities": capabilities});
        firefox.ask("WebDriver:NewSession", session, "open a page", limit)?;
        firefox.script(WATCH, OWN, limit)?;
        Ok(firefox)
    }

    /// Returns the settings beyond those required to drive it, for the record.
    pub(crate) fn settings() -> Vec<String> {
        let lines = PREFERENCES.lines();
        let settings = lines.filter_map(|line| {
            let line = line.strip_prefix("user_pref(\"")?.strip_suffix(");")?;
            let (name, value) = line.split_once("\", ")?;
            Some(format!("{name}={value}"))
        });
        settings.collect()
    }

    /// Runs a script in a context: that of the page, or the browser's privileged one.
    fn script(
        &mut self,
        script: &str,
        context: &str,
        limit: Limit<'_>,
    ) -> Result<Value, BrowserError> {
        let (doing, set) = ("tell of the page", "Marionette:SetContext");
        self.ask(set, json!({"value": context}), doing, limit)?;
        let mut execute = json!({"script": script, "args": []});
        if context == OWN {
            // A script can read the variables of others only in a sandbox that all scripts share.
            execute["sandbox"] = json!("system");
            execute["newSandbox"] = json!(false);
        }
        let mut answer = self.ask("WebDriver:ExecuteScript", execute, doing, limit)?;
        self.ask(set, json!({"value": "content"}), doing, limit)?;
        Ok(answer["value"].take())
    }

    fn ask(
        &mut self,
        command: &str,
        params: Value,
        doing: &str,
        limit: Limit<'_>,
    ) -> Result<Value, BrowserError> {
        self.marionette
            .ask(command, params, limit)
            .map_err(|unanswered| self.process.failed(unanswered, doing))
    }

    fn end(mut self, limit: Limit<'_>) -> Result<Folder, BrowserError> {
        let quit = json!({"flags": ["eForceQuit"]});
        match self.marionette.ask("Marionette:Quit", quit, limit) {
            // Firefox may end before it has answered.
            Ok(_) | Err(Unanswered::Ended) => self.process.ended(limit),
            Err(unanswered) => Err(self.process.failed(unanswered, QUIT)),
        }
    }
}

impl Driven for Firefox {
    fn visit(&mut self, url: &str, limit: Limit<'_>) -> Result<Page, BrowserError> {
        self.script(SEEN, OWN, limit)?;
        let navigated = self
            .marionette
            .ask("WebDriver:Navigate", json!({"url": url}), limit);
        let refused = match navigated {
            Ok(_) => None,
            Err(Unanswered::Refused(what)) => Some(what),
            Err(unanswered) => {
                return Err(self.process.failed(unanswered, "load the page"));
            }
        };
        let answer = BrowserError::answer(NAME);
        let seen = self.script(SEEN, OWN, limit)?;
        let seen: Vec<Seen> = serde_json::from_str(seen.as_str().unwrap_or_default())
            .map_err(|error| answer(format!("what it saw cannot be read: {error}")))?;
        if let Some(what) = refused {
            return match error_code(&what, &seen) {
                Some(code) => Ok(Page::Error {
                    code: netbench_model::sanitize(&code),
                }),
                None => Err(answer(netbench_model::sanitize_prefix(&what, 300))),
            };
        }
        let timing = self.script(&format!("return {EXPRESSION};"), "content", limit)?;
        let page = seen.into_iter().find(|seen| seen.status > 0);
        let page = page.ok_or_else(|| answer("it saw no response".to_owned()))?;
        loaded(&page, timing.as_str().unwrap_or_default()).map_err(answer)
    }

    fn close_connections(&mut self, limit: Limit<'_>) -> Result<(), BrowserError> {
        self.script(CLOSE_CONNECTIONS, OWN, limit).map(drop)
    }

    fn into_startup_cache(self: Box<Self>, limit: Limit<'_>) -> Result<StartupCache, BrowserError> {
        let folder = self.end(limit)?;
        StartupCache::of_profile(&folder.path().join(PROFILE), &STARTUP_CACHE)
    }

    fn quit(mut self: Box<Self>, limit: Limit<'_>) -> Result<Folder, BrowserError> {
        self.script(KEEP_POLICIES, OWN, limit)?;
        self.end(limit)
    }

    fn process(&self) -> &Process {
        &self.process
    }
}

/// Waits until the browser listens, inside the namespace.
fn connect(
    process: &mut Process,
    namespace: &Namespace,
    limit: Limit<'_>,
) -> Result<Marionette, Unanswered> {
    let file = process.folder_path().join(PROFILE).join(PORT_FILE);
    let port: u16 = loop {
        let text = fs::read_to_string(&file).unwrap_or_default();
        if let Ok(port) = text.trim().parse() {
            break port;
        }
        if process.has_ended() {
            return Err(Unanswered::Ended);
        }
        limit.check()?;
        thread::sleep(LOOK);
    };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let stream = namespace.run(|| TcpStream::connect_timeout(&address, limit.left().max(LOOK)));
    let stream = stream.map_err(io::Error::other).flatten();
    let stream = stream
        .map_err(|error| Unanswered::Refused(format!("it cannot be connected to: {error}")))?;
    Marionette::new(stream, limit)
}

/// Returns the code of an error page: NSS's, otherwise that of the network, otherwise the page's own.
fn error_code(said: &str, seen: &[Seen]) -> Option<String> {
    let last = seen.last();
    let code = last.and_then(|seen| seen.code.clone());
    let code = code.filter(|code| !code.is_empty());
    let result = last.map(|seen| seen.result.clone());
    let result = result.filter(|result| result.starts_with("NS_ERROR"));
    code.or(result).or_else(|| {
        let (_, after) = said.split_once("about:neterror?e=")?;
        after.split('&').next().map(str::to_owned)
    })
}

fn loaded(page: &Seen, timing: &str) -> Result<Page, String> {
    let timing = NavigationTiming::parse(timing)?;
    let version = match page.version {
        Some(4) => TlsVersion::Tls13,
        Some(3) => TlsVersion::Tls12,
        Some(2) => TlsVersion::Tls11,
        Some(1) => TlsVersion::Tls10,
        other => return Err(format!("it tells of the protocol {other:?}")),
    };
    let [suite, its_group, its_signature] = [&page.cipher, &page.group, &page.signature]
        .map(|name| name.as_deref().unwrap_or_default());
    Ok(Page::Loaded(Box::new(Visit {
        // Firefox's `responseEnd` of a navigation is its `responseStart`, whatever the length of the body.
        times: VisitTimes {
            total_ns: None,
            ..timing.times()?
        },
        client: Negotiated {
            ech: (page.ech == Some(true)).then_some(EchStatus::Accepted),
            version: Some(version),
            suite: suite.parse().ok(),
            group: group(its_group),
            signature: signature(its_signature),
            alpn: page.alpn.clone().filter(|alpn| !alpn.is_empty()),
            resumed: page.resumed.unwrap_or_default(),
            ..Negotiated::default()
        },
        server: server_view(&page.headers),
        http_status: page.status,
        body_bytes: timing.decoded_body_size,
        objects: timing.objects()?,
        ..Visit::default()
    })))
}

/// Returns the group of a name; NSS has different names for groups.
fn group(name: &str) -> Option<Group> {
    let name = match name {
        "P256" => "secp256r1",
        "P384" => "secp384r1",
        "P521" => "secp521r1",
        "mlkem768x25519" => "X25519MLKEM768",
        "mlkem768secp256r1" => "SecP256r1MLKEM768",
        name => name,
    };
    name.parse().ok()
}

/// Returns the signature scheme of NSS's name.
fn signature(name: &str) -> Option<SignatureScheme> {
    let name = match name {
        "RSA-PKCS1-SHA256" => "rsa_pkcs1_sha256",
        "RSA-PKCS1-SHA384" => "rsa_pkcs1_sha384",
        "RSA-PKCS1-SHA512" => "rsa_pkcs1_sha512",
        "RSA-PSS-SHA256" => "rsa_pss_rsae_sha256",
        "RSA-PSS-SHA384" => "rsa_pss_rsae_sha384",
        "RSA-PSS-SHA512" => "rsa_pss_rsae_sha512",
        "ECDSA-P256-SHA256" => "ecdsa_secp256r1_sha256",
        "ECDSA-P384-SHA384" => "ecdsa_secp384r1_sha384",
        "ECDSA-P521-SHA512" => "ecdsa_secp521r1_sha512",
        _ => return None,
    };
    name.parse().ok()
}

#[cfg(test)]
mod tests {
    use netbench_model::CipherSuite;

    use super::*;

    const TIMING: &str = r#"{"domainLookupStart":14,"domainLookupEnd":14.7,"connectStart":14.9,
        "secureConnectionStart":15,"connectEnd":36.3,"requestStart":36.4,"responseStart":37.1,
        "responseEnd":81.8,"decodedBodySize":5}"#;

    fn seen(text: &str) -> Seen {
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn what_nss_knows_is_read_into_registered_names() {
        let page = seen(
            r#"{"status":200,"headers":{},"result":"NS_OK","cipher":"TLS_AES_256_GCM_SHA384",
            "group":"mlkem768x25519","signature":"RSA-PSS-SHA256","version":4,"alpn":"","resumed":true,"code":""}"#,
        );
        let Ok(Page::Loaded(page)) = loaded(&page, TIMING) else {
            panic!("it is a page");
        };
        let agreed = &page.client;
        assert_eq!(agreed.version, Some(TlsVersion::Tls13));
        assert_eq!(agreed.suite, Some(CipherSuite::TLS_AES_256_GCM_SHA384));
        assert_eq!(agreed.group, Some(Group::X25519MLKEM768));
        assert_eq!(agreed.signature, Some(SignatureScheme(0x0804)));
        assert_eq!((agreed.alpn.as_deref(), agreed.resumed), (None, true));
        assert_eq!(page.times.total_ns, None, "it does not tell the end");
        loaded(&seen(r#"{"status":200}"#), TIMING).expect_err("no TLS");
    }

    #[test]
    fn an_error_page_has_the_code_of_whoever_knows_most() {
        let said = "unknown error: Reached error page: about:neterror?e=dnsNotFound&u=https%3A//c";
        let nss = seen(r#"{"code":"SSL_ERROR_BAD_CERT_DOMAIN","result":""}"#);
        let network = seen(r#"{"code":"","result":"NS_ERROR_UNKNOWN_HOST"}"#);
        for (seen, code) in [
            (&[nss][..], "SSL_ERROR_BAD_CERT_DOMAIN"),
            (&[network], "NS_ERROR_UNKNOWN_HOST"),
            (&[], "dnsNotFound"),
        ] {
            assert_eq!(error_code(said, seen).as_deref(), Some(code));
        }
        assert_eq!(error_code("javascript error: x", &[]), None);
    }
}
