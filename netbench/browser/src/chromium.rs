//! Chromium, driven by its DevTools protocol.

use std::{
    ffi::{CStr, OsStr},
    fs,
    os::unix::ffi::OsStrExt,
    path::Path,
    process::{Command, Stdio},
};

use netbench_model::{
    CipherSuite, EchStatus, Group, Negotiated, SignatureScheme, TlsVersion,
    browser::{Sandbox, Visit},
};
use netbench_scratch::Folder;
use serde_json::{Value, json};

use crate::{
    BrowserError, HttpsRecords, Limit, Page, Surroundings,
    devtools::DevTools,
    driven::Driven,
    error::Unanswered,
    page::{alpn, server_view},
    place::{Place, other_user},
    process::{Process, QUIT},
    timing::{EXPRESSION, NavigationTiming},
};

/// Options that disable its own traffic, and prompts to its user.
const OPTIONS: [&str; 16] = [
    "--headless",
    "--disable-gpu",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-sync",
    "--metrics-recording-only",
    "--password-store=basic",
    // A server may advertise HTTP/3, which is not measured.
    "--disable-quic",
];

/// Features that are disabled; the last makes it ask for HTTPS records.
const FEATURES: [&str; 5] = [
    "OptimizationHints",
    "MediaRouter",
    "Translate",
    "NetworkTimeServiceQuerying",
    "UseDnsHttpsSvcb",
];

/// A preference that users can set: Chromium does not preconnect. Such a connection would not be the page's
/// own.
const PREFERENCES: &str = r#"{"net":{"network_prediction_options":2}}"#;

/// Chromium's internal page that can close its connections.
const NET_INTERNALS: &str = "chrome://net-internals/";

const NAME: &str = "Chromium";

/// Returns a folder with a short path, at which the browser's temporary files can be mounted. Chromium creates a
/// socket among these files, and crashes if the socket's path exceeds 107 bytes, the limit of `sockaddr_un`.
fn short_path(folder: &Path) -> Option<&'static CStr> {
    let mut targets = [c"/var/tmp", c"/mnt"].into_iter();
    targets.find(|target| {
        let target = Path::new(OsStr::from_bytes(target.to_bytes()));
        target.is_dir() && !folder.starts_with(target)
    })
}

/// A Chromium with one page.
pub(crate) struct Chromium {
    devtools: DevTools,
    session: String,
    process: Process,
}

impl Chromium {
    pub(crate) fn start(
        program: &Path,
        folder: Folder,
        surroundings: &Surroundings<'_>,
        limit: Limit<'_>,
    ) -> Result<Self, BrowserError> {
        let profile = BrowserError::profile("its folder");
        let user = other_user(surroundings.sandbox)?;
        let mut place = Place::prepare(surroundings.network, user, folder.path())?;
        let temporary = short_path(folder.path());
        if let Some(target) = temporary {
            let source = folder.path().join("tmp");
            fs::create_dir_all(&source).map_err(&profile)?;
            place.mount(&source, target)?;
        }
        surroundings
            .trust
            .copy_to(&folder.path().join(".pki/nssdb"))?;
        let preferences = folder.path().join("profile/Default");
        fs::create_dir_all(&preferences).map_err(&profile)?;
        let preferences = preferences.join("Preferences");
        // In the profile of an earlier start, the browser has added its own.
        if !preferences.exists() {
            fs::write(preferences, PREFERENCES).map_err(&profile)?;
        }
        place.give(folder.path()).map_err(&profile)?;

        // The pipes are its descriptors 3 and 4.
        let line = "exec \"$@\" 3<&0 4>&1 >&2 </dev/null";
        let mut command = Command::new("sh");
        command
            .args(["-c", line, "sh"])
            .arg(program)
            .args(OPTIONS)
            .arg(disabled_features(surroundings.https_records))
            .arg("--remote-debugging-pipe")
            .arg(format!(
                "--user-data-dir={}",
                folder.path().join("profile").display()
            ))
            .args((surroundings.sandbox == Sandbox::Off).then_some("--no-sandbox"))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        place.enter(&mut command, folder.path());
        if let Some(target) = temporary {
            command.env("TMPDIR", OsStr::from_bytes(target.to_bytes()));
        }
        let mut process = Process::start(NAME, &mut command, folder)?;
        let (stdin, stdout) = process.pipes()?;
        let mut chromium = Self {
            devtools: DevTools::new(stdin, stdout),
            session: String::new(),
            process,
        };
        chromium.session = chromium.open_page("about:blank", limit)?;
        for domain in ["Page", "Network"] {
            chromium.ask(&format!("{domain}.enable"), json!({}), "get ready", limit)?;
        }
        // A page's timing must not be that of the browser's cache.
        let uncached = json!({"cacheDisabled": true});
        chromium.ask("Network.setCacheDisabled", uncached, "get ready", limit)?;
        Ok(chromium)
    }

    /// Opens an additional page, and returns its session.
    fn open_page(&mut self, url: &str, limit: Limit<'_>) -> Result<String, BrowserError> {
        let opened = self
            .devtools
            .ask(None, "Target.createTarget", json!({"url": url}), limit);
        let attached = opened.and_then(|target| {
            let attach = json!({"targetId": target["targetId"], "flatten": true});
            self.devtools
                .ask(None, "Target.attachToTarget", attach, limit)
        });
        match attached {
            Ok(attached) => Ok(text(&attached["sessionId"])),
            Err(unanswered) => Err(self.process.failed(unanswered, "open a page")),
        }
    }

    fn ask(
        &mut self,
        method: &str,
        params: Value,
        doing: &str,
        limit: Limit<'_>,
    ) -> Result<Value, BrowserError> {
        self.devtools
            .ask(Some(&self.session), method, params, limit)
            .map_err(|unanswered| self.process.failed(unanswered, doing))
    }
}

impl Driven for Chromium {
    fn visit(&mut self, url: &str, limit: Limit<'_>) -> Result<Page, BrowserError> {
        let doing = "load the page";
        self.devtools.forget_events();
        let answer = self.ask("Page.navigate", json!({"url": url}), doing, limit)?;
        if let Some(code) = answer["errorText"].as_str() {
            return Ok(Page::Error {
                code: netbench_model::sanitize(code),
            });
        }
        let loader = text(&answer["loaderId"]);
        let mut response = Value::Null;
        loop {
            let (method, mut params) = self
                .devtools
                .event(&self.session, limit)
                .map_err(|unanswered| self.process.failed(unanswered, doing))?;
            let is_the_page = params["requestId"].as_str() == Some(&loader);
            match method.as_str() {
                "Network.responseReceived" if is_the_page => response = params["response"].take(),
                "Network.loadingFailed" if is_the_page => {
                    return Ok(Page::Error {
                        code: netbench_model::sanitize(&text(&params["errorText"])),
                    });
                }
                "Page.loadEventFired" if !response.is_null() => break,
                "Inspector.targetCrashed" => {
                    return Err(self.process.failed(Unanswered::Ended, doing));
                }
                _ => {}
            }
        }
        let timing = self.ask(
            "Runtime.evaluate",
            json!({"expression": EXPRESSION, "returnByValue": true}),
            "tell the page's timing",
            limit,
        )?;
        loaded(&response, &text(&timing["result"]["value"])).map_err(BrowserError::answer(NAME))
    }

    fn close_connections(&mut self, limit: Limit<'_>) -> Result<(), BrowserError> {
        let doing = "close its connections";
        let session = self.open_page(NET_INTERNALS, limit)?;
        let own = std::mem::replace(&mut self.session, session);
        // The page has `chrome.send` only once it is loaded.
        let expression = "new Promise((done, failed) => { let tries = 0; const look = () => { \
             if (location.protocol === 'chrome:' && typeof chrome === 'object' && chrome.send) { \
             chrome.send('closeIdleSockets'); setTimeout(() => done('closed'), 50); } \
             else if (++tries > 100) failed('no chrome.send'); else setTimeout(look, 20); }; look(); })";
        let asked = self.ask(
            "Runtime.evaluate",
            json!({"expression": expression, "returnByValue": true, "awaitPromise": true}),
            doing,
            limit,
        );
        self.session = own;
        if asked?["result"]["value"] == json!("closed") {
            return Ok(());
        }
        let what = format!("{NET_INTERNALS} does not {doing}");
        Err(BrowserError::answer(NAME)(what))
    }

    fn quit(mut self: Box<Self>, limit: Limit<'_>) -> Result<Folder, BrowserError> {
        match self.devtools.ask(None, "Browser.close", json!({}), limit) {
            // Chromium may end before it has answered.
            Ok(_) | Err(Unanswered::Ended) => self.process.ended(limit),
            Err(unanswered) => Err(self.process.failed(unanswered, QUIT)),
        }
    }

    fn process(&self) -> &Process {
        &self.process
    }
}

fn loaded(response: &Value, timing: &str) -> Result<Page, String> {
    let timing = NavigationTiming::parse(timing)?;
    let status = response["status"].as_u64().unwrap_or_default();
    Ok(Page::completed(Visit {
        times: timing.times()?,
        client: negotiated(response)?,
        server: server_view(&response["headers"]),
        http_status: u16::try_from(status).unwrap_or_default(),
        body_bytes: timing.decoded_body_size,
        objects: timing.objects()?,
        ..Visit::default()
    }))
}

/// Returns the option that disables its features.
fn disabled_features(https_records: HttpsRecords) -> String {
    let features = match https_records {
        HttpsRecords::Off => &FEATURES[..],
        HttpsRecords::On => &FEATURES[..FEATURES.len() - 1],
    };
    format!("--disable-features={}", features.join(","))
}

/// Returns the negotiated parameters from the response's `SecurityDetails`.
fn negotiated(response: &Value) -> Result<Negotiated, String> {
    let details = &response["securityDetails"];
    let Some(protocol) = details["protocol"].as_str() else {
        return Err("it tells nothing of the connection's security".to_owned());
    };
    let version: TlsVersion = protocol
        .trim_start_matches("TLS ")
        .parse()
        .map_err(|_| format!("it tells of the protocol \"{protocol}\""))?;
    let group = details["keyExchangeGroup"].as_str().unwrap_or_default();
    let signature = details["serverSignatureAlgorithm"].as_u64();
    let signature = signature.and_then(|code| u16::try_from(code).ok());
    let is_ech = details["encryptedClientHello"] == json!(true);
    Ok(Negotiated {
        ech: is_ech.then_some(EchStatus::Accepted),
        version: Some(version),
        suite: suite(
            version,
            details["keyExchange"].as_str().unwrap_or_default(),
            details["cipher"].as_str().unwrap_or_default(),
        ),
        group: self::group(group),
        signature: signature.filter(|code| *code > 0).map(SignatureScheme),
        alpn: alpn(response["protocol"].as_str().unwrap_or_default()),
        ..Negotiated::default()
    })
}

/// Returns the suite with the parts of the name that DevTools reports, or `None` where they are ambiguous.
fn suite(version: TlsVersion, key_exchange: &str, cipher: &str) -> Option<CipherSuite> {
    let hash = match cipher {
        "AES_128_GCM" | "CHACHA20_POLY1305" => "SHA256",
        "AES_256_GCM" => "SHA384",
        _ => return None,
    };
    let name = match version {
        TlsVersion::Tls13 => format!("TLS_{cipher}_{hash}"),
        _ => format!("TLS_{key_exchange}_WITH_{cipher}_{hash}"),
    };
    name.parse().ok()
}

/// Returns the group of a name; BoringSSL has different names for the NIST curves.
fn group(name: &str) -> Option<Group> {
    match name {
        "P-256" => Some(Group::SECP256R1),
        "P-384" => Some(Group::SECP384R1),
        name => name.parse().ok(),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

impl Chromium {
    /// Returns the settings beyond those required to drive it, for the record.
    pub(crate) fn settings() -> Vec<String> {
        let options = OPTIONS.iter().map(ToString::to_string);
        options
            .chain([
                disabled_features(HttpsRecords::Off),
                format!("Preferences={PREFERENCES}"),
            ])
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn security_details_are_read_into_registered_names() {
        let response = json!({
            "protocol": "h2",
            "securityDetails": {
                "protocol": "TLS 1.3", "keyExchange": "", "keyExchangeGroup": "X25519MLKEM768",
                "cipher": "AES_128_GCM", "serverSignatureAlgorithm": 2052,
            },
        });
        let agreed = negotiated(&response).expect("details");
        assert_eq!(agreed.version, Some(TlsVersion::Tls13));
        assert_eq!(agreed.suite, Some(CipherSuite::TLS_AES_128_GCM_SHA256));
        assert_eq!(agreed.group, Some(Group::X25519MLKEM768));
        assert_eq!(agreed.signature, Some(SignatureScheme(0x0804)));
        assert_eq!(agreed.alpn.as_deref(), Some("h2"));
        negotiated(&json!({"protocol": "h2"})).expect_err("no details");
    }

    #[test]
    fn older_suites_are_put_together() {
        let ecdsa = CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256;
        let rsa = CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384;
        for (key_exchange, cipher, due) in [
            ("ECDHE_ECDSA", "CHACHA20_POLY1305", Some(ecdsa)),
            ("ECDHE_RSA", "AES_256_GCM", Some(rsa)),
            ("RSA", "AES_128_CBC", None),
        ] {
            assert_eq!(suite(TlsVersion::Tls12, key_exchange, cipher), due);
        }
        assert_eq!(group("P-256"), Some(Group::SECP256R1));
        assert_eq!(group("X25519"), Some(Group::X25519));
    }
}
