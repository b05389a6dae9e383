//! Servo, in a program of netbench (`netbench/browser/servo`) that takes commands from its driver. The connection's
//! times are those of its packets, since Servo does not report them.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use netbench_model::{
    Negotiated,
    browser::{ObjectsLoad, PageRequest, Visit, VisitTimes},
};
use netbench_scratch::Folder;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    BrowserError, Limit, Page, Shown, Surroundings, driven::Driven, page::server_view, pipe::Pipe,
    place::Place, process::Process, product::ServoTls,
};

const NAME: &str = "Servo";

/// An expression with the text of Servo's own error page, or `null` on any other page.
const ERROR: &str = include_str!("servo/error.js");

/// A script that returns the data of the shown page. Servo reports neither the head of the page's own response nor its
/// size: the script requests the page again over the existing connection, which the server describes in its response.
const REPORT: &str = include_str!("servo/report.js");

/// A script that returns the shown content.
const LOOK: &str = include_str!("servo/look.js");

/// The button of Servo's error page that allows the certificate until the browser ends.
const ALLOW: &str = "#allow";

/// The time in which Servo's own threads see that their connections have ended. A page that is requested earlier can fail:
/// its request is written to a connection that has ended.
const SETTLING: Duration = Duration::from_millis(100);

/// Maximum length of an error page's text, in characters.
const LONGEST_ERROR: usize = 300;

/// A Servo with one page.
pub(crate) struct Servo {
    pipe: Pipe<Answer>,
    process: Process,
}

/// A command to the program.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Task<'a> {
    Open(&'a str),
    Press(&'a str),
    Run(&'a str),
    CloseConnections,
}

/// An answer of the program.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Answer {
    Ready {},
    Done {
        value: Value,
    },
    Failed {
        reason: String,
    },
    Crashed {
        reason: String,
        console: Vec<String>,
    },
}

/// The report on the shown page.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Report<P> {
    Page(P),
    Error(ErrorPage),
}

/// Servo's own error page.
#[derive(Debug, Deserialize)]
struct ErrorPage {
    text: String,
    /// The server's certificate, DER in base64 without padding.
    certificate: Option<String>,
}

/// A page that was loaded.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Seen {
    again: Again,
    objects: Vec<Object>,
    /// The beginning of the navigation by CLOCK_MONOTONIC. The other marks count from it.
    time_origin: f64,
    /// The time directly before the search for an existing connection and the name's lookup.
    secure_connection_start: f64,
    response_end: f64,
    load_event_start: f64,
}

/// The answer to the page's second request.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Again {
    status: u16,
    headers: Value,
    bytes: u64,
}

/// An image of the page.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Object {
    response_end: f64,
    url: String,
    is_whole: bool,
}

#[derive(Debug, Deserialize)]
struct Looked {
    bytes: u64,
}

impl Servo {
    pub(crate) fn start(
        program: &Path,
        tls: ServoTls,
        folder: Folder,
        surroundings: &Surroundings<'_>,
        limit: Limit<'_>,
    ) -> Result<Self, BrowserError> {
        let place = Place::prepare(surroundings.network, None, folder.path())?;
        let roots = folder.path().join("roots.pem");
        fs::write(&roots, surroundings.trust.pem())
            .map_err(BrowserError::profile("its file of roots"))?;
        let profile = folder.path().join("profile");
        fs::create_dir_all(&profile).map_err(BrowserError::profile("its folder"))?;
        let mut command = Command::new(program);
        command
            .arg("--ca")
            .arg(&roots)
            .arg("--profile")
            .arg(&profile)
            .args(Self::provider(tls))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        place.enter(&mut command, folder.path());
        // There is neither a display nor a graphics card for the browser.
        command
            .env("XDG_RUNTIME_DIR", folder.path())
            .env("LIBGL_ALWAYS_SOFTWARE", "1");
        let mut process = Process::start(NAME, &mut command, folder)?;
        let (stdin, stdout) = process.pipes()?;
        let mut servo = Self {
            pipe: Pipe::new(stdin, stdout, b'\n'),
            process,
        };
        let ready = servo.pipe.receive(limit);
        match ready.map_err(|unanswered| servo.process.failed(unanswered, "start"))? {
            Answer::Ready {} => Ok(servo),
            answer => Err(BrowserError::answer(NAME)(format!(
                "it is not ready: {answer:?}"
            ))),
        }
    }

    /// Returns the options for the provider of cryptography.
    fn provider(tls: ServoTls) -> &'static [&'static str] {
        match tls {
            ServoTls::AwsLc | ServoTls::OpenSsl => &[],
            ServoTls::Ring => &["--provider", "ring"],
        }
    }

    /// Returns the settings beyond those required to drive it, for the record.
    pub(crate) fn settings(tls: ServoTls) -> Vec<String> {
        Self::provider(tls)
            .chunks(2)
            .map(|option| option.join(" "))
            .collect()
    }

    /// Opens a page and runs a script in it, or returns the shown error.
    fn open<P: DeserializeOwned>(
        &mut self,
        url: &str,
        script: &str,
        limit: Limit<'_>,
    ) -> Result<Result<P, ErrorPage>, BrowserError> {
        self.ask(&Task::Open(url), "load the page", limit)?;
        self.report(script, limit)
    }

    /// Runs a script in the page, or returns the shown error.
    fn report<P: DeserializeOwned>(
        &mut self,
        script: &str,
        limit: Limit<'_>,
    ) -> Result<Result<P, ErrorPage>, BrowserError> {
        let script = script.replace("ERROR", ERROR.trim());
        let report = self.ask(&Task::Run(&script), "report the page", limit)?;
        let report: Report<P> = serde_json::from_value(report)
            .map_err(|error| format!("its report cannot be read: {error}"))
            .map_err(BrowserError::answer(NAME))?;
        Ok(match report {
            Report::Page(page) => Ok(page),
            Report::Error(page) => Err(page),
        })
    }

    fn shown(found: Result<Looked, ErrorPage>) -> Shown {
        match found {
            Err(page) => Shown::Error {
                code: page.code(),
                certificate_base64: page.certificate.map(padded),
            },
            Ok(Looked { bytes }) => Shown::Loaded {
                client: Negotiated::default(),
                http_status: None,
                body_bytes: bytes,
            },
        }
    }

    /// Returns the value of a command that the browser carries out.
    fn ask(
        &mut self,
        task: &Task<'_>,
        doing: &str,
        limit: Limit<'_>,
    ) -> Result<Value, BrowserError> {
        let sent = self.pipe.send(task);
        let answer = sent.and_then(|()| self.pipe.receive(limit));
        match answer.map_err(|unanswered| self.process.failed(unanswered, doing))? {
            Answer::Done { value } => Ok(value),
            Answer::Failed { reason } => Err(BrowserError::answer(NAME)(
                netbench_model::sanitize_prefix(&reason, LONGEST_ERROR),
            )),
            Answer::Crashed { reason, console } => Err(BrowserError::Ended {
                browser: NAME,
                doing: doing.to_owned(),
                said: crash(&reason, &console),
            }),
            Answer::Ready {} => Err(BrowserError::answer(NAME)("it started again".to_owned())),
        }
    }
}

impl Driven for Servo {
    fn visit(&mut self, url: &str, limit: Limit<'_>) -> Result<Page, BrowserError> {
        match self.open::<Seen>(url, REPORT, limit)? {
            Ok(seen) => loaded(&seen).map_err(BrowserError::answer(NAME)),
            Err(page) => Ok(Page::Error { code: page.code() }),
        }
    }

    /// Opens a page without its times. The status of the response is not reported: its head is in the answer only to a
    /// second request, over the same connection, which some servers close.
    fn look(&mut self, url: &str, limit: Limit<'_>) -> Result<Shown, BrowserError> {
        let found = self.open(url, LOOK, limit)?;
        Ok(Self::shown(found))
    }

    fn proceed(&mut self, limit: Limit<'_>) -> Result<Shown, BrowserError> {
        self.ask(&Task::Press(ALLOW), "allow the certificate", limit)?;
        let found = self.report(LOOK, limit)?;
        Ok(Self::shown(found))
    }

    fn close_connections(&mut self, limit: Limit<'_>) -> Result<(), BrowserError> {
        self.ask(&Task::CloseConnections, "close its connections", limit)?;
        thread::sleep(SETTLING);
        Ok(())
    }

    /// Ends the program's stdin, on which it saves its profile and ends.
    fn quit(self: Box<Self>, limit: Limit<'_>) -> Result<Folder, BrowserError> {
        let Self { pipe, process } = *self;
        drop(pipe);
        process.ended(limit)
    }

    fn process(&self) -> &Process {
        &self.process
    }
}

impl ErrorPage {
    fn code(&self) -> String {
        netbench_model::sanitize_prefix(self.text.trim(), LONGEST_ERROR)
    }
}

/// Returns a base64 text with its padding.
fn padded(text: String) -> String {
    let padding = "=".repeat(text.len().next_multiple_of(4) - text.len());
    text + &padding
}

/// Returns the message of a panic and the console's last line, after a colon.
fn crash(reason: &str, console: &[String]) -> String {
    let last = console.last().map(|line| format!("; console: {line}"));
    let text = format!(": {reason}{}", last.unwrap_or_default());
    netbench_model::sanitize_prefix(&text, LONGEST_ERROR)
}

/// Returns the loaded page. The times of TCP connect and the handshake are 0 until they are taken from the packets.
fn loaded(seen: &Seen) -> Result<Page, String> {
    Ok(Page::completed(Visit {
        times: VisitTimes {
            total_ns: Some(time_ns(seen.secure_connection_start, seen.response_end)?),
            ..VisitTimes::default()
        },
        server: server_view(&seen.again.headers),
        http_status: seen.again.status,
        body_bytes: seen.again.bytes,
        objects: objects(seen)?,
        begun_ns: nanoseconds(seen.time_origin + seen.secure_connection_start),
        ..Visit::default()
    }))
}

/// Returns the images of the page, or `None` where it had none. Servo does not report sizes: a whole image has the size
/// that its URL requests, because an incomplete one is no image.
fn objects(seen: &Seen) -> Result<Option<ObjectsLoad>, String> {
    let whole: Vec<&Object> = seen.objects.iter().filter(|it| it.is_whole).collect();
    if seen.objects.is_empty() {
        return Ok(None);
    }
    let last = whole.iter().map(|it| it.response_end).fold(0.0, f64::max);
    Ok(Some(ObjectsLoad {
        loaded: u32::try_from(whole.len()).unwrap_or(u32::MAX),
        bytes: whole.iter().filter_map(|it| requested_bytes(&it.url)).sum(),
        reused: 0,
        last_object_ns: time_ns(seen.secure_connection_start, last)?,
        load_ns: time_ns(seen.secure_connection_start, seen.load_event_start)?,
    }))
}

/// Returns the size of an image of the lab, which is in its URL.
fn requested_bytes(url: &str) -> Option<u64> {
    let (_, path) = url.split_once("://")?.1.split_once('/')?;
    let path = path.split('?').next()?;
    match PageRequest::of_path(&format!("/{path}"))? {
        PageRequest::Object(bytes) => Some(bytes),
        PageRequest::Page(_) => None,
    }
}

/// Returns the time between two marks, which are in milliseconds.
fn time_ns(from_ms: f64, to_ms: f64) -> Result<u64, String> {
    let ns = nanoseconds(to_ms - from_ms).filter(|_| from_ms > 0.0);
    ns.ok_or_else(|| format!("its timing is not in order: from {from_ms} to {to_ms} ms"))
}

/// Returns a time in nanoseconds, or `None` if it is negative or longer than 30 years.
fn nanoseconds(ms: f64) -> Option<u64> {
    let ns = (ms * 1e6).round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 0 to 10^18"
    )]
    (0.0..1e18).contains(&ns).then_some(ns as u64)
}

#[cfg(test)]
mod tests {
    use netbench_model::{ServerView, TlsVersion};
    use netbench_protocol::SERVER_VIEW_HEADER;
    use serde_json::json;

    use super::*;

    fn seen(objects: &Value) -> Seen {
        let view = ServerView {
            negotiated: Negotiated {
                version: Some(TlsVersion::Tls13),
                ..Negotiated::default()
            },
            compute_ns: 1,
        };
        let view = serde_json::to_string(&view).expect("JSON");
        let seen = json!({
            "again": {"status": 200, "headers": {SERVER_VIEW_HEADER: view}, "bytes": 1_000},
            "objects": objects,
            "timeOrigin": 5_000.0,
            "secureConnectionStart": 2.5,
            "responseEnd": 102.5,
            "loadEventStart": 190.0,
        });
        serde_json::from_value(seen).expect("a page")
    }

    #[test]
    fn a_page_has_its_end_and_the_servers_view() {
        let Ok(Page::Loaded(page)) = loaded(&seen(&json!([]))) else {
            panic!("it is a page");
        };
        assert_eq!(page.times.total_ns, Some(100_000_000));
        assert_eq!(page.begun_ns, Some(5_002_500_000));
        assert_eq!((page.times.tcp_ns, page.times.tls_ns), (0, 0));
        assert_eq!(page.client.version, Some(TlsVersion::Tls13));
        assert_eq!((page.http_status, page.body_bytes), (200, 1_000));
        assert_eq!(page.objects, None);
    }

    #[test]
    fn only_whole_images_count_with_the_sizes_of_their_urls() {
        let path = "https://o1.a.example:8443/.well-known/netbench/object";
        let objects = json!([
            {"responseEnd": 150.0, "url": format!("{path}/2048?0"), "isWhole": true},
            {"responseEnd": 180.0, "url": format!("{path}/40960?1"), "isWhole": true},
            {"responseEnd": 185.0, "url": format!("{path}/8192?2"), "isWhole": false},
        ]);
        let objects = super::objects(&seen(&objects))
            .expect("times")
            .expect("objects");
        assert_eq!((objects.loaded, objects.bytes), (2, 2_048 + 40_960));
        assert_eq!(
            (objects.last_object_ns, objects.load_ns),
            (177_500_000, 187_500_000)
        );
        for url in [
            "https://a.example/",
            "https://a.example",
            "",
            "a/.well-known/netbench/object/1",
        ] {
            assert_eq!(requested_bytes(url), None, "{url}");
        }
    }

    #[test]
    fn marks_that_are_not_in_order_are_no_times() {
        assert_eq!(time_ns(1.0, 2.5), Ok(1_500_000));
        for (from_ms, to_ms) in [(0.0, 5.0), (5.0, 4.0), (1.0, f64::NAN), (1.0, 1e99)] {
            time_ns(from_ms, to_ms).expect_err("no time");
        }
    }

    #[test]
    fn answers_of_the_program_are_read() {
        let done: Answer = serde_json::from_str(r#"{"done":{"value":1,"console":["log: a"]}}"#)
            .expect("an answer");
        assert!(matches!(done, Answer::Done { value } if value == 1));
        let ready = r#"{"ready":{"version":"Servo 0.7.0"}}"#;
        assert!(matches!(serde_json::from_str(ready), Ok(Answer::Ready {})));
        assert_eq!(
            crash("why", &["log: a".to_owned(), "error: b".to_owned()]),
            ": why; console: error: b"
        );
    }

    #[test]
    fn certificates_get_their_padding() {
        for (text, padded_text) in [("", ""), ("AA", "AA=="), ("AAA", "AAA="), ("AAAA", "AAAA")] {
            assert_eq!(padded(text.to_owned()), padded_text);
        }
    }
}
