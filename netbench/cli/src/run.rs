//! The name, manifest and sessions of a run of any kind.

use jiff::Timestamp;
use netbench_model::{Manifest, Origin, Plan, SCHEMA_VERSION, Session, Thresholds};
use netbench_runner::environment;

use crate::{config, options::StoredIn};

/// Returns the name of a run's folder: time, host, kind, and a number if the name is taken.
pub(crate) fn name(stored_in: &StoredIn, what: &str) -> String {
    let what = stored_in.name.as_deref().unwrap_or(what);
    let host = host();
    let time = Timestamp::now().strftime("%Y-%m-%d-%H%M%S");
    let name = format!("{time}-{host}-{what}");
    let numbered = (2..1000).map(|number| format!("{name}-{number}"));
    std::iter::once(name.clone())
        .chain(numbered)
        .find(|name| !stored_in.out.join(name).exists())
        .unwrap_or(name)
}

/// Returns the manifest of a run of all that its plan has, on this machine. It gets its name when its folder is created.
pub(crate) fn manifest<P: Plan>(plan: P) -> Manifest<P> {
    Manifest {
        schema: SCHEMA_VERSION,
        kind: P::KIND,
        netbench: env!("CARGO_PKG_VERSION").to_owned(),
        name: String::new(),
        started: now(),
        finished: None,
        plan,
        workers: Vec::new(),
        link: None,
        environment: environment(),
        sessions: Vec::new(),
        warnings: Vec::new(),
        origin: Origin::default(),
        thresholds: Thresholds::default(),
    }
}

pub(crate) fn session() -> Session {
    Session {
        started: now(),
        finished: None,
        command: without_secrets(
            config::arguments()
                .iter()
                .map(|word| word.to_string_lossy().into_owned()),
        ),
        interrupted: false,
        served: Vec::new(),
    }
}

/// Returns a command line that may be stored and published: without the path of the client's key, and without the
/// values of headers.
fn without_secrets(words: impl Iterator<Item = String>) -> Vec<String> {
    const OPTIONS: [&str; 2] = ["--client-key", "--header"];
    let mut last = String::new();
    let mut kept = Vec::new();
    for word in words {
        let shown = match word.split_once('=') {
            _ if OPTIONS.contains(&&*last) => hidden(&last, &word),
            Some((option, value)) if OPTIONS.contains(&option) => {
                format!("{option}={}", hidden(option, value))
            }
            _ => word.clone(),
        };
        // A hidden value is never an option, even if it looks like one.
        last = if shown == word { word } else { String::new() };
        kept.push(shown);
    }
    kept
}

/// Returns the stored form of an option's value.
fn hidden(option: &str, value: &str) -> String {
    match (option, value.split_once(':')) {
        ("--header", Some((name, _))) => format!("{name}: VALUE"),
        ("--header", None) => "VALUE".to_owned(),
        _ => "KEY.pem".to_owned(),
    }
}

/// Ends the last session, and also the run unless the session was interrupted.
pub(crate) fn end_session<P>(manifest: &mut Manifest<P>, interrupted: bool) {
    if let Some(session) = manifest.sessions.last_mut() {
        session.finished = Some(now());
        session.interrupted = interrupted;
    }
    if !interrupted {
        manifest.finished = Some(now());
    }
}

/// Returns this machine's name, in a format for file names.
pub(crate) fn host() -> String {
    let host = environment()
        .facts
        .get("hostname")
        .cloned()
        .unwrap_or_default();
    let host: String = host
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
        .take(40)
        .collect();
    if host.is_empty() {
        "host".to_owned()
    } else {
        host
    }
}

/// Returns the time, RFC 3339, UTC.
pub(crate) fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_and_no_value_of_a_header_is_stored() {
        let cases = [
            (
                "netbench|connect|--client-cert|c.pem|--client-key|/home/me/k.pem|-q",
                "netbench|connect|--client-cert|c.pem|--client-key|KEY.pem|-q",
            ),
            ("x|--client-key=/home/me/k.pem", "x|--client-key=KEY.pem"),
            (
                "x|--header|Cookie: a:b|--header=X-Key: c=d|--rounds|3",
                "x|--header|Cookie: VALUE|--header=X-Key: VALUE|--rounds|3",
            ),
            (
                "x|--header|--client-key|--client-key|--header|secret",
                "x|--header|VALUE|--client-key|KEY.pem|secret",
            ),
            ("x|https://a.example/?a=b", "x|https://a.example/?a=b"),
        ];
        for (given, due) in cases {
            let kept = without_secrets(given.split('|').map(str::to_owned));
            assert_eq!(kept.join("|"), due);
        }
    }
}
