//! Servers behind a limit of connections: a scan does not call unseen values absent. Also tests the rules for every
//! hello.

use std::{
    collections::VecDeque,
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use netbench_model::{
    scan::{ScanOutcome, SiteScan, Tolerance},
    tls::TlsVersion,
};
use netbench_scan::{Limits, ScanPart, codec::ClientHello};

use crate::{
    hostile::scan_within,
    programs::{nginx, s_server},
    replies::{Hostile, alert, answer, read_hello_and_bytes, record, reset},
    support::{Files, Key, limits, scan, shown, suites},
};

/// The treatment of a connection over a limit.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Over {
    Reset,
    Close,
    /// The connection stays open, without a response.
    Drop,
    /// handshake_failure.
    Alert,
    /// The response of an HTTP proxy.
    TooMany,
    /// Another server answers.
    Sorry(SocketAddr),
}

/// The connections of a recent period, including those over the limit, as a stick table of haproxy counts them.
pub(crate) struct Counter {
    most: usize,
    window: Duration,
    begun: Mutex<VecDeque<Instant>>,
    pub(crate) over: AtomicU32,
}

impl Counter {
    pub(crate) fn new(most: usize, window: Duration) -> Self {
        Self {
            most,
            window,
            begun: Mutex::default(),
            over: AtomicU32::new(0),
        }
    }

    fn is_over(&self) -> bool {
        let mut begun = self.begun.lock().unwrap();
        begun.push_back(Instant::now());
        while begun.front().is_some_and(|at| at.elapsed() > self.window) {
            begun.pop_front();
        }
        let over = begun.len() > self.most;
        self.over.fetch_add(u32::from(over), Ordering::Relaxed);
        over
    }
}

fn refuse(mut stream: TcpStream, how: Over) {
    match how {
        Over::Reset => reset(stream),
        Over::Close => {}
        Over::Alert | Over::TooMany => {
            let answer = match how {
                Over::Alert => alert(40),
                _ => b"HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\n\r\n".to_vec(),
            };
            let _ = stream.write_all(&answer);
            crate::hostile::linger(stream);
        }
        Over::Sorry(to) => crate::fronts::relay(&[], stream, to),
        Over::Drop => {
            let mut rest = [0; 4096];
            while stream.read(&mut rest).is_ok_and(|count| count > 0) {}
        }
    }
}

/// Starts a relay to these servers in turn that refuses connections over the limit, and passes each hello to
/// `look`.
pub(crate) fn relay(
    to: &[SocketAddr],
    counter: Arc<Counter>,
    how: Over,
    look: impl Fn(&ClientHello) + Send + Sync + 'static,
) -> Hostile {
    let to = to.to_vec();
    let turn = AtomicUsize::new(0);
    Hostile::new(move |_, mut stream| {
        if counter.is_over() {
            return refuse(stream, how);
        }
        // SSL 3.0 has a hello of the same format.
        let Some((hello, bytes)) = read_hello_and_bytes(&mut stream) else {
            return;
        };
        look(&hello);
        let to = to[turn.fetch_add(1, Ordering::Relaxed) % to.len()];
        crate::fronts::relay(&bytes, stream, to);
    })
}

pub(crate) fn within(seconds: u64) -> Limits {
    Limits {
        timeout: Duration::from_secs(2),
        site_timeout: Duration::from_secs(seconds),
        ..limits(&[ScanPart::Intolerance])
    }
}

/// Checks that no interrupted list is called complete, and that no refusal by the limit is called intolerance.
pub(crate) fn is_sure_of_what_it_says(found: &SiteScan, whole: &SiteScan, name: &str) {
    for version in TlsVersion::ALL {
        let entry = found.versions.iter().find(|v| v.version == version);
        if entry.is_some_and(|entry| entry.complete) {
            let (got, due) = (suites(found, version), suites(whole, version));
            assert_eq!(got, due, "{name}, {version}: {}", shown(found));
        } else {
            let partial = matches!(found.outcome, ScanOutcome::Partial { .. });
            assert!(partial, "{name}, {version}: {}", shown(found));
        }
    }
    for (what, tolerance) in &found.intolerance {
        assert_eq!(*tolerance, Tolerance::Tolerant, "{name}, {what}");
    }
}

pub(crate) fn limits_of_connections_are_waited_for_or_said() {
    let files = Files::new(Key::Rsa);
    let lines = "ssl_protocols TLSv1.2 TLSv1.3;";
    let server = nginx(&files, lines);
    let whole = scan(server.address, &[ScanPart::Intolerance]);
    assert_eq!(whole.outcome, ScanOutcome::Scanned, "{}", shown(&whole));

    let second = Duration::from_secs(1);
    let cases = [
        // Limits for which waiting helps.
        (15, 5 * second, Over::Reset, 2, true),
        (12, 4 * second, Over::Close, 2, true),
        (15, 5 * second, Over::Drop, 2, true),
        (3, second, Over::Close, 2, true),
        // Limits for which the site's time does not suffice.
        (5, 10 * second, Over::Reset, 2, false),
        (10, 10 * second, Over::Drop, 1, false),
        (10, 100 * second, Over::Close, 2, false),
        (10, 100 * second, Over::Drop, 2, false),
        (10, 100 * second, Over::Drop, 1, false),
    ];
    let scans = cases.map(|(most, window, how, per_site, helps)| {
        let counter = Arc::new(Counter::new(most, window));
        let relay = relay(&[server.address], Arc::clone(&counter), how, |_| {});
        thread::spawn(move || {
            let limits = Limits {
                per_site,
                ..within(if helps { 60 } else { 15 })
            };
            let found = scan_within(relay.address, limits);
            drop(relay);
            let name = format!("{most} in {window:?}, {how:?}, {per_site} at a time");
            (found, name, helps, counter.over.load(Ordering::Relaxed))
        })
    });
    for scan in scans {
        let (found, name, helps, over) = scan.join().unwrap();
        assert!(
            over > 0,
            "{name}: the limit was never met: {}",
            shown(&found)
        );
        is_sure_of_what_it_says(&found, &whole, &name);
        if helps {
            assert_eq!(
                found.outcome,
                ScanOutcome::Scanned,
                "{name}: {}",
                shown(&found)
            );
            let said = found
                .notes
                .iter()
                .any(|note| note.starts_with("limits connections"));
            assert!(said, "{name}: {:?}", found.notes);
        }
    }
}

/// Limits behave like those that close the connection, but another server answers.
pub(crate) fn limits_that_answer_are_no_policy_of_the_server() {
    let (files, other) = (Files::new(Key::Rsa), Files::new(Key::Rsa));
    let server = nginx(&files, "ssl_protocols TLSv1.2 TLSv1.3;");
    let sorry = nginx(
        &other,
        "ssl_protocols TLSv1.2; ssl_ciphers ECDHE+AES128+AESGCM;",
    );
    let whole = scan(server.address, &[ScanPart::Features]);
    assert_eq!(whole.outcome, ScanOutcome::Scanned, "{}", shown(&whole));
    let second = Duration::from_secs(1);
    let cases = [
        (15, 5 * second, Over::Alert, true),
        (12, 4 * second, Over::TooMany, true),
        (15, 5 * second, Over::Sorry(sorry.address), true),
        (10, 100 * second, Over::Alert, false),
        (10, 100 * second, Over::TooMany, false),
        (10, 100 * second, Over::Sorry(sorry.address), false),
        // These limits are met in the last parts.
        (26, 100 * second, Over::Alert, false),
    ];
    let scans = cases.map(|(most, window, how, helps)| {
        let counter = Arc::new(Counter::new(most, window));
        let relay = relay(&[server.address], Arc::clone(&counter), how, |_| {});
        thread::spawn(move || {
            let limits = Limits {
                parts: vec![ScanPart::Features],
                ..within(if helps { 90 } else { 15 })
            };
            let found = scan_within(relay.address, limits);
            drop(relay);
            let name = format!("{most} in {window:?}, {how:?}");
            (found, name, helps, counter.over.load(Ordering::Relaxed))
        })
    });
    for scan in scans {
        let (found, name, helps, over) = scan.join().unwrap();
        assert!(over > 0, "{name}: {}", shown(&found));
        is_sure_of_what_it_says(&found, &whole, &name);
        let scanned = found.outcome == ScanOutcome::Scanned;
        assert!(scanned || !helps, "{name}: {}", shown(&found));
        assert!(!found.notes.is_empty(), "{name}");
    }
}

/// Scans behind each kind of limit in this number: so many hellos after the first, over so many seconds. `NETBENCH_LIMIT_RUNS` sets it.
const RUNS: u64 = 2;

pub(crate) fn no_kind_of_limit_misleads() {
    let runs = std::env::var("NETBENCH_LIMIT_RUNS").map_or(RUNS, |runs| runs.parse().unwrap());
    let (files, other) = (Files::new(Key::Rsa), Files::new(Key::Rsa));
    let lines = "ssl_protocols TLSv1.1 TLSv1.2 TLSv1.3; ssl_ciphers HIGH:@SECLEVEL=0;";
    let server = nginx(&files, lines);
    let fewer = nginx(
        &other,
        "ssl_protocols TLSv1.2; ssl_ciphers ECDHE+AES128+AESGCM;",
    );
    let twin = nginx(
        &other,
        "ssl_protocols TLSv1.1 TLSv1.2 TLSv1.3; ssl_ciphers AESGCM;",
    );
    let whole = scan(server.address, &[ScanPart::Features]);
    assert_eq!(whole.outcome, ScanOutcome::Scanned, "{}", shown(&whole));
    let kinds = [
        Over::Alert,
        Over::TooMany,
        Over::Sorry(fewer.address),
        Over::Sorry(twin.address),
        Over::Close,
        Over::Reset,
        Over::Drop,
    ];
    let (mut scanned, mut partial) = (0, 0);
    for run in 0..runs {
        let scans = kinds.map(|how| {
            // The limit is met at another hello in each run.
            let most = 4 + usize::try_from(run * 5 % 37).unwrap();
            let window = Duration::from_secs([2, 5, 100][usize::try_from(run % 3).unwrap()]);
            let counter = Arc::new(Counter::new(most, window));
            let relay = relay(&[server.address], counter, how, |_| {});
            thread::spawn(move || {
                let limits = Limits {
                    parts: vec![ScanPart::Features],
                    ..within(30)
                };
                let found = scan_within(relay.address, limits);
                drop(relay);
                (format!("{how:?}, {most} in {window:?}"), found)
            })
        });
        for scan in scans {
            let (name, found) = scan.join().unwrap();
            is_sure_of_what_it_says(&found, &whole, &name);
            match found.outcome {
                ScanOutcome::Scanned => scanned += 1,
                _ => partial += 1,
            }
        }
    }
    println!("{scanned} scanned, {partial} in part, none wrong");
}

pub(crate) fn a_server_that_refuses_without_an_alert_is_known_whole() {
    // The server closes, or is silent, on each hello without a common suite, and answers all others.
    let cases = [
        (Over::Reset, 2),
        (Over::Close, 2),
        (Over::Close, 1),
        (Over::Drop, 2),
        (Over::Drop, 1),
    ];
    for (how, per_site) in cases {
        let server = Hostile::new(move |_, mut stream| {
            let Some(hello) = crate::replies::read_hello(&mut stream) else {
                return;
            };
            match answer(&hello, &[]) {
                Ok(messages) => {
                    let _ = stream.write_all(&record(22, &messages.concat()));
                    crate::hostile::linger(stream);
                }
                Err(70) => {
                    let _ = stream.write_all(&alert(70));
                    crate::hostile::linger(stream);
                }
                Err(_) => refuse(stream, how),
            }
        });
        let limits = Limits {
            per_site,
            ..within(60)
        };
        let found = scan_within(server.address, limits);
        assert_eq!(
            found.outcome,
            ScanOutcome::Scanned,
            "{how:?}, {per_site} at a time: {}",
            shown(&found)
        );
        let mut due = crate::replies::SUITES;
        due.sort_unstable();
        assert_eq!(suites(&found, TlsVersion::Tls12), due, "{how:?}");
        let waited = found
            .notes
            .iter()
            .any(|note| note.starts_with("limits connections"));
        assert!(!waited, "{:?}", found.notes);
    }
}

pub(crate) fn servers_that_do_not_agree_behind_one_address_are_not_known_whole() {
    let files = Files::new(Key::Rsa);
    let other_files = Files::new(Key::Rsa);
    let more = "ssl_protocols TLSv1.2 TLSv1.3; ssl_ciphers ECDHE+AESGCM:ECDHE+CHACHA20;";
    let fewer = "ssl_protocols TLSv1.2 TLSv1.3; ssl_ciphers ECDHE+AES128+AESGCM;";
    let old = "ssl_protocols TLSv1.2; ssl_ciphers ECDHE+AESGCM:ECDHE+CHACHA20;";
    let first = nginx(&files, more);
    let whole = scan(first.address, &[ScanPart::Features]);
    for lines in [fewer, old] {
        let second = nginx(&other_files, lines);
        for _ in 0..5 {
            let to = [first.address, second.address];
            let counter = Arc::new(Counter::new(usize::MAX, Duration::ZERO));
            let relay = relay(&to, counter, Over::Close, |_| {});
            let limits = Limits {
                parts: vec![ScanPart::Features],
                ..within(60)
            };
            let found = scan_within(relay.address, limits);
            is_sure_of_what_it_says(&found, &whole, lines);
        }
    }
}

pub(crate) fn hellos_keep_to_the_rules() {
    let files = Files::new(Key::EcdsaP256);
    // A server without x25519.
    let settings: [&[&str]; 2] = [
        &["-groups", "P-256:P-384"],
        &["-groups", "P-384", "-tls1_2"],
    ];
    for arguments in settings {
        let server = s_server(&files, arguments);
        let broken: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = Arc::clone(&broken);
        let counter = Arc::new(Counter::new(usize::MAX, Duration::ZERO));
        let relay = relay(&[server.address], counter, Over::Close, move |hello| {
            seen.lock().unwrap().extend(faults(hello));
        });
        let found = scan_within(relay.address, within(60));
        assert_eq!(found.outcome, ScanOutcome::Scanned, "{}", shown(&found));
        assert!(found.intolerance.len() >= 6, "{}", shown(&found));
        for (what, tolerance) in &found.intolerance {
            assert_eq!(*tolerance, Tolerance::Tolerant, "{what}: {}", shown(&found));
        }
        let broken = broken.lock().unwrap();
        assert!(broken.is_empty(), "{broken:?}");
    }
}

pub(crate) fn the_curve_of_the_certificate_is_no_intolerance() {
    let files = Files::new(Key::EcdsaP256);
    let words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:brainpoolP384r1 -nodes -days 30 -subj /CN=scan.test";
    let made = Command::new("openssl")
        .args(words.split(' '))
        .args([
            "-keyout",
            &files.path("key.pem"),
            "-out",
            &files.path("leaf.pem"),
        ])
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let server = s_server(&files, &[]);
    let found = scan(server.address, &[ScanPart::Intolerance]);
    assert_eq!(found.outcome, ScanOutcome::Scanned, "{}", shown(&found));
    assert!(found.intolerance.len() >= 6, "{}", shown(&found));
    for (what, tolerance) in &found.intolerance {
        assert_eq!(*tolerance, Tolerance::Tolerant, "{what}: {}", shown(&found));
    }
}

/// Returns the violations of RFC 8446, sections 4.1.2, 4.2 and 4.2.8, in a hello.
fn faults(hello: &ClientHello) -> Vec<String> {
    let mut found = Vec::new();
    if has_duplicates(&hello.suites) {
        found.push("a suite twice".to_owned());
    }
    if has_duplicates(&hello.groups()) {
        found.push("a group twice".to_owned());
    }
    let codes: Vec<u16> = hello.extensions.iter().map(|(code, _)| *code).collect();
    if has_duplicates(&codes) {
        found.push(format!("an extension twice: {codes:?}"));
    }
    let groups = hello.groups();
    let places: Vec<Option<usize>> = hello
        .shares()
        .iter()
        .map(|(share, _)| groups.iter().position(|group| group == share))
        .collect();
    if places.contains(&None) {
        found.push("a share of a group that is not offered".to_owned());
    }
    if !places.is_sorted() {
        found.push("shares in another order than groups".to_owned());
    }
    found
}

fn has_duplicates(codes: &[u16]) -> bool {
    let mut places = codes.iter().enumerate();
    places.any(|(place, code)| codes[..place].contains(code))
}
