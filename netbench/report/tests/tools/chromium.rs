//! Chromium without a window, driven by its DevTools protocol over a pipe: messages of JSON, each
//! ended by a zero byte, on the browser's descriptors 3 and 4.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::allow_attributes,
    clippy::unwrap_used,
    reason = "a test's own helper may panic"
)]

use std::{
    io::{BufRead, BufReader, Write},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The time limit of each request to the browser.
const LIMIT: Duration = Duration::from_secs(60);

/// A browser with one page. The process ends, and its profile is deleted, when this value is dropped.
pub struct Browser {
    child: Child,
    stdin: ChildStdin,
    messages: Receiver<Value>,
    session: Option<String>,
    asked: u64,
    /// The complaints of the page's console and its policy.
    pub complaints: Vec<String>,
    loaded: bool,
    _profile: TempDir,
}

impl Browser {
    pub fn start(program: &Path) -> Self {
        let profile = tempfile::tempdir().unwrap();
        // Its sandbox does not work as root. The pages are this test's own.
        let line = "exec \"$0\" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
                    --disable-extensions --disable-background-networking --remote-debugging-pipe \
                    \"--user-data-dir=$1\" about:blank 3<&0 4>&1 >/dev/null 2>&1 </dev/null";
        let mut child = Command::new("sh")
            .args(["-c", line])
            .arg(program)
            .arg(profile.path())
            .env("HOME", profile.path())
            .env("TMPDIR", profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = child.stdout.take().unwrap();
        let (sender, messages) = channel();
        thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            let mut bytes = Vec::new();
            while reader.read_until(0, &mut bytes).is_ok_and(|n| n > 0) {
                bytes.pop();
                let Ok(message) = serde_json::from_slice(&bytes) else {
                    break;
                };
                if sender.send(message).is_err() {
                    break;
                }
                bytes.clear();
            }
        });
        let mut browser = Self {
            child,
            stdin,
            messages,
            session: None,
            asked: 0,
            complaints: Vec::new(),
            loaded: false,
            _profile: profile,
        };
        let target = browser.ask("Target.createTarget", json!({"url": "about:blank"}));
        let id = target["targetId"].as_str().unwrap();
        let attached = browser.ask(
            "Target.attachToTarget",
            json!({"targetId": id, "flatten": true}),
        );
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Opens a file in such a window.
    pub fn open(&mut self, file: &Path, width: u32, height: u32, theme: &str) {
        let mobile = width < 600;
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile}),
        );
        self.ask(
            "Emulation.setEmulatedMedia",
            json!({"media": "", "features": [{"name": "prefers-color-scheme", "value": theme}]}),
        );
        self.loaded = false;
        let url = format!("file://{}", file.display());
        self.ask("Page.navigate", json!({"url": url}));
        let deadline = Instant::now() + LIMIT;
        while !self.loaded {
            let left = deadline.saturating_duration_since(Instant::now());
            let message = self.messages.recv_timeout(left).unwrap();
            self.hear(&message);
        }
    }

    /// Shows the page as it would be printed from a system with a dark theme.
    pub fn print(&mut self) {
        let dark = json!([{"name": "prefers-color-scheme", "value": "dark"}]);
        self.ask(
            "Emulation.setEmulatedMedia",
            json!({"media": "print", "features": dark}),
        );
    }

    /// Returns the value of an expression on the page, which may be a promise.
    pub fn value(&mut self, expression: &str) -> Value {
        let answer = self.ask(
            "Runtime.evaluate",
            json!({"expression": expression, "returnByValue": true, "awaitPromise": true}),
        );
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {}",
            answer["exceptionDetails"]
        );
        answer["result"]["value"].clone()
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let mut message = json!({"id": self.asked, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.stdin.write_all(&bytes).unwrap();
        let deadline = Instant::now() + LIMIT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let message = self.messages.recv_timeout(left).unwrap();
            if message["id"] == json!(self.asked) {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.hear(&message);
        }
    }

    /// Records an event of the page.
    fn hear(&mut self, message: &Value) {
        let params = &message["params"];
        match message["method"].as_str() {
            Some("Page.loadEventFired") => self.loaded = true,
            Some("Runtime.exceptionThrown") => self.complaints.push(params.to_string()),
            Some("Runtime.consoleAPICalled") => self.complaints.push(params["args"].to_string()),
            Some("Log.entryAdded") => self.complaints.push(params["entry"].to_string()),
            Some("Network.requestWillBeSent") => {
                let url = params["request"]["url"].as_str().unwrap_or_default();
                if !url.starts_with("file:") && !url.starts_with("data:") {
                    self.complaints.push(format!("asked for {url}"));
                }
            }
            _ => {}
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self
            .stdin
            .write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let deadline = Instant::now() + Duration::from_secs(10);
        while Instant::now() < deadline {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        let group = format!("-{}", self.child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.child.wait();
    }
}
