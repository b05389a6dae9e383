//! `netbench browser` from a user's perspective.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use netbench_model::{
    Condition, TlsVersion,
    browser::{Mark, VisitOutcome, VisitSample},
};
use netbench_report::{BrowserSummary, VisitPhase};
use netbench_testing::script;

use crate::support::{
    Done, Place, check, finish, json, marked_processes, names_in, samples_of, until, words,
};

netbench_testing::module_tests! {
    chromium_visits_pages: Chromium, Certutil, UserNamespaces, UserMounts;
    firefox_visits_pages: Firefox, Certutil, UserNamespaces, UserMounts;
    webkitgtk_visits_pages: WebKitGtk, Certutil, UserNamespaces, UserMounts;
    chromium_visits_pages_of_several_objects: Chromium, Certutil, UserNamespaces, UserMounts;
    firefox_visits_pages_of_several_objects: Firefox, Certutil, UserNamespaces, UserMounts;
    error_pages_of_chromium_have_codes: Chromium, Certutil, UserNamespaces, UserMounts;
    webkitgtk_visits_pages_of_several_objects: WebKitGtk, Certutil, UserNamespaces, UserMounts;
    error_pages_of_webkitgtk_have_words: WebKitGtk, Certutil, UserNamespaces, UserMounts;
    webkitgtk_without_a_display_is_missing_it: WebKitGtk;
    error_pages_of_firefox_have_codes: Firefox, Certutil, UserNamespaces, UserMounts;
    a_browser_that_hangs_or_ends_leaves_nothing: Certutil, UserNamespaces, UserMounts;
    a_browser_that_does_not_start_in_time_ends_no_run: Certutil, UserNamespaces, UserMounts;
    netbench_that_is_killed_leaves_nothing: Certutil, UserNamespaces, UserMounts;
    wrong_input_is_said_in_a_line;
}

const SITES: &str = "\
near.example server=rustls-ring rtt=10ms
far.example server=rustls-ring rtt=120ms tls=1.2 key=rsa-2048 body=350k
";

/// The reason why a visit has no times.
const LATE_MARKS: &str = "its marks of the connection are not those of the packets";

/// The largest number of runs of which one must have a visit with times.
const MOST_RUNS: usize = 8;

fn samples(place: &Place) -> Vec<VisitSample> {
    samples_of(&place.run())
}

fn chromium_visits_pages() {
    pages_are_visited_and_compared_with_their_packets("chromium");
}

fn firefox_visits_pages() {
    pages_are_visited_and_compared_with_their_packets("firefox");
}

fn pages_are_visited_and_compared_with_their_packets(browser: &str) {
    let place = Place::with_sites(SITES);
    let line = format!(
        "browser -q --json --sites sites.txt --browser {browser} --stack rustls-ring --seed 7 \
         --condition clean,resumed --timeout 120s"
    );
    let summary: BrowserSummary = place.document("browser-summary.json", &line);
    assert_eq!(summary.failures, []);
    let rows = summary.clients.iter();
    let clients: Vec<_> = rows.map(|row| (row.client.as_str(), row.loaded)).collect();
    let both = [(browser, 2), ("rustls-ring", 2)];
    assert_eq!(clients, [both, both].concat());
    // No packet went to another address.
    let mut packets = summary
        .elsewhere
        .iter()
        .filter(|row| !row.to.starts_with("name "));
    assert_eq!(packets.next(), None);
    assert_eq!((summary.observed, summary.packets[0].visits), (8, 4));
    let mut shown = 0;
    for sample in samples(&place) {
        let visit = sample.outcome.ok().unwrap();
        let rtt_ms = if sample.site.starts_with("near") {
            10
        } else {
            120
        };
        let resumed = visit.server.as_ref().unwrap().negotiated.resumed;
        assert_eq!(resumed, sample.condition == Condition::Resumed);
        let seen = sample.link.as_ref().unwrap();
        let seen_ms = seen.tcp_ns.unwrap() / 1_000_000;
        assert!((rtt_ms..rtt_ms + 5).contains(&seen_ms), "{seen:?}");
        // Delays of a busy machine lengthen one phase without shortening the other.
        let told_ms = (visit.times.tcp_ns + visit.times.tls_ns) / 1_000_000;
        assert!(told_ms + 1 >= 2 * rtt_ms, "{sample:?}");
        let is_firefox = sample.client.as_str() == "firefox";
        // On a busy machine, a client may report its request long before the request leaves.
        let Some(first_byte_ns) = seen.first_byte_ns else {
            assert_eq!(visit.times.total_ns.is_none(), is_firefox, "{sample:?}");
            continue;
        };
        shown += 1;
        assert_eq!(visit.from_packets.contains(&Mark::End), is_firefox);
        // A long body ends some flights after its first record, whatever the client marks.
        let flights = if rtt_ms == 10 { 0 } else { 2 };
        let total_ns = visit.times.total_ns.unwrap();
        assert!(
            total_ns + 2_000_000 >= first_byte_ns + flights * rtt_ms * 1_000_000,
            "{sample:?}"
        );
    }
    assert!(shown >= 4, "{shown} of 8 responses were seen");
    let client = &summary.clients[0];
    let mut rows = client.phases.iter();
    let total = rows.find(|row| row.phase == VisitPhase::Total);
    // The visits whose first byte was seen have a total.
    let timed = samples(&place)
        .iter()
        .filter(|it| (&it.client, it.condition) == (&client.client, client.condition))
        .filter(|it| it.outcome.ok().unwrap().times.total_ns.is_some())
        .count();
    assert_eq!(total.map_or(0, |row| row.figures.count), timed as u64);
}

/// Visits sites until a browser that has late marks also has a visit with times. On a busy machine, the marks of
/// WebKitGTK may be far from the packets, and such visits have no times.
fn with_times(sites: &str, line: &str) -> (Place, Done) {
    for _ in 0..MOST_RUNS {
        let place = Place::with_sites(sites);
        let temporary = place.temporary();
        let done = finish(place.command_line(line).env("TMPDIR", &temporary));
        assert_eq!(names_in(&temporary), [""; 0]);
        if !place.path().join("runs").exists() {
            // The caller shows why.
            return (place, done);
        }
        let samples = samples(&place);
        let late = samples.iter().find(|sample| has_late_marks(sample));
        let has_times = late.is_none_or(|late| {
            let mut samples = samples.iter();
            samples.any(|it| it.client == late.client && it.outcome.ok().is_some())
        });
        if has_times {
            return (place, done);
        }
    }
    panic!("inconclusive, the machine is busy: no visit of {MOST_RUNS} runs had times: {line}")
}

fn has_late_marks(sample: &VisitSample) -> bool {
    matches!(&sample.outcome, VisitOutcome::Unsupported { reason } if reason == LATE_MARKS)
}

/// WebKitGTK's driver cannot close connections, so that no connection is resumed, and its marks are whole milliseconds.
fn webkitgtk_visits_pages() {
    let line = "browser -q --json --sites sites.txt --browser webkit --stack rustls-ring --seed 7 \
                --condition clean,resumed --rounds 3 --timeout 120s";
    let (place, done) = with_times(SITES, line);
    let done = done.expect(0);
    check("browser-summary.json", &done.stdout);
    let summary: BrowserSummary = json(&done.stdout);
    assert_eq!(summary.failures, []);
    assert_eq!(summary.elsewhere, []);
    let (resumed, without_times): (Vec<_>, Vec<_>) = summary
        .unsupported
        .iter()
        .partition(|row| row.condition == Condition::Resumed);
    assert_eq!(resumed.iter().map(|row| row.visits).sum::<u64>(), 6);
    for row in without_times {
        assert_eq!(row.reason, LATE_MARKS);
    }
    let own = samples(&place);
    let own = own.iter().filter(|it| it.client.as_str() == "webkitgtk");
    let (clean, resumed): (Vec<_>, Vec<_>) =
        own.partition(|sample| sample.condition == Condition::Clean);
    assert_eq!((clean.len(), resumed.len()), (6, 6));
    for sample in resumed {
        assert!(matches!(sample.outcome, VisitOutcome::Unsupported { .. }));
    }
    let timed = clean.iter().filter_map(|it| Some((it, it.outcome.ok()?)));
    let timed: Vec<_> = timed.collect();
    assert!(!timed.is_empty(), "{clean:?}");
    for (sample, visit) in timed {
        let (rtt_ms, version) = match sample.site.as_str() {
            "near.example" => (10, TlsVersion::Tls13),
            _ => (60, TlsVersion::Tls12),
        };
        let server = visit.server.as_ref().unwrap();
        assert_eq!(server.negotiated.version, Some(version));
        let seen = sample.link.as_ref().unwrap();
        assert_eq!(Some(visit.times.tcp_ns), seen.tcp_ns);
        let told_ms = (visit.times.tcp_ns + visit.times.tls_ns) / 1_000_000;
        assert!(told_ms + 2 >= 2 * rtt_ms, "{sample:?}");
    }
}

fn webkitgtk_visits_pages_of_several_objects() {
    objects_of_pages_come_over_few_connections("webkitgtk");
}

fn error_pages_of_webkitgtk_have_words() {
    error_pages_have_codes(
        "webkitgtk",
        [
            ("other", "load-failed-with-tls-errors"),
            ("other", "load-failed-with-tls-errors"),
            ("other", "load-failed-with-tls-errors"),
            (
                "refused",
                "Could not connect to d.example: Connection refused",
            ),
        ],
    );
}

fn webkitgtk_without_a_display_is_missing_it() {
    let place = Place::with_sites(SITES);
    let folder = place.path().join("bin");
    fs::create_dir(&folder).unwrap();
    let driver = netbench_testing::program("WebKitWebDriver").unwrap();
    std::os::unix::fs::symlink(driver, folder.join("WebKitWebDriver")).unwrap();
    let line = "browser -q --sites sites.txt --browser webkitgtk";
    let done = finish(place.command_line(line).env("PATH", &folder)).expect(1);
    let said = "Xvfb is not installed: it is the display that WebKitGTK draws to";
    done.tells(said);
}

fn chromium_visits_pages_of_several_objects() {
    objects_of_pages_come_over_few_connections("chromium");
}

fn firefox_visits_pages_of_several_objects() {
    objects_of_pages_come_over_few_connections("firefox");
}

fn objects_of_pages_come_over_few_connections(browser: &str) {
    let cases = [
        (1, "h2,http/1.1", 1..=2),
        (1, "http/1.1", 2..=7),
        // Chromium opens up to six connections to an origin until it knows that the origin supports HTTP/2.
        (3, "h2,http/1.1", 3..=18),
    ];
    for (origins, alpn, due) in cases {
        let site = format!("a.example server=rustls-ring rtt=20ms alpn={alpn}\n");
        let line = format!(
            "browser -q --json --sites sites.txt --limit 1 --browser {browser} --seed 7 \
             --page objects=24,origins={origins} --timeout 120s"
        );
        // WebKitGTK does not report the length of objects from other origins.
        if browser == "webkitgtk" && origins > 1 {
            let place = Place::with_sites(&site);
            place.netbench_line(&line).expect(3);
            let [sample] = &samples(&place)[..] else {
                panic!("one visit");
            };
            assert!(matches!(sample.outcome, VisitOutcome::Unsupported { .. }));
            continue;
        }
        let (place, done) = with_times(&site, &line);
        let done = done.expect(0);
        check("browser-summary.json", &done.stdout);
        let summary: BrowserSummary = json(&done.stdout);
        assert_eq!(summary.failures, []);
        let [sample] = &samples(&place)[..] else {
            panic!("one visit");
        };
        let visit = sample.outcome.ok().unwrap();
        let objects = visit.objects.unwrap();
        let page = summary.run.page.as_ref().unwrap();
        assert_eq!(objects.loaded, 24);
        assert_eq!(objects.bytes, page.object_bytes.iter().sum::<u64>());
        assert!(objects.last_object_ns > visit.times.request_ns());
        assert!(objects.load_ns + 200_000 >= objects.last_object_ns);
        // Three round trips for the page, and one more for its objects.
        assert!(objects.last_object_ns >= 79_000_000, "{objects:?}");
        let seen = sample.link.as_ref().unwrap();
        assert!(
            due.contains(&seen.connections),
            "{origins} {alpn}: {seen:?}"
        );
        assert!(objects.reused + seen.connections >= 24, "{objects:?}");
        assert_eq!(seen.elsewhere, []);
        let row = summary.clients[0].objects.as_ref().unwrap();
        assert_eq!(row.connections, Some(f64::from(seen.connections)));
        let last = summary.clients[0].phases.last().map(|row| row.phase);
        assert_eq!(last, Some(VisitPhase::Load));
    }
}

fn error_pages_of_chromium_have_codes() {
    error_pages_have_codes(
        "chromium",
        [
            ("expired", "net::ERR_CERT_DATE_INVALID"),
            ("wrong-name", "net::ERR_CERT_COMMON_NAME_INVALID"),
            ("unknown-issuer", "net::ERR_CERT_AUTHORITY_INVALID"),
            ("refused", "net::ERR_CONNECTION_REFUSED"),
        ],
    );
}

fn error_pages_of_firefox_have_codes() {
    error_pages_have_codes(
        "firefox",
        [
            ("expired", "SEC_ERROR_EXPIRED_CERTIFICATE"),
            ("wrong-name", "SSL_ERROR_BAD_CERT_DOMAIN"),
            ("unknown-issuer", "SEC_ERROR_UNKNOWN_ISSUER"),
            ("refused", "NS_ERROR_CONNECTION_REFUSED"),
        ],
    );
}

fn error_pages_have_codes(browser: &str, due: [(&str, &str); 4]) {
    let place = Place::with_sites(
        "* server=rustls-ring rtt=10ms\na.example fault=expired\nb.example fault=wrong-name\n\
         c.example fault=unknown-root\nd.example fault=refuse\n",
    );
    let line = format!("browser -q --json --sites sites.txt --browser {browser} --timeout 120s");
    let done = place.succeeds(&line);
    let summary: BrowserSummary = json(&done.stdout);
    let told = summary.failures.iter();
    let told: Vec<_> = told
        .map(|row| (row.reason.as_str(), row.code.as_str()))
        .collect();
    assert_eq!(told, due);
}

/// Makes a browser that prints its version, and then runs the script `then`.
fn with_browser(place: &Place, then: &str) -> String {
    let folder = place.path().join("bin");
    fs::create_dir_all(&folder).unwrap();
    let body = format!("[ \"$1\" = --version ] && echo 'Chromium 999.0' && exit\n{then}");
    script(&folder.join("chromium"), &body);
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

/// Returns the command that visits a site with a browser that runs `then`, and its folder for temporary files.
fn driving(place: &Place, then: &str, limit: &str) -> (Command, PathBuf) {
    let path = with_browser(place, then);
    let temporary = place.temporary();
    // The user as which the browser runs must be able to reach its profile.
    for folder in [place.path(), &temporary] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let line = format!("browser -q --sites sites.txt --limit 1 --timeout {limit}");
    let mut command = place.command_line(&line);
    command.env("PATH", path).env("TMPDIR", &temporary);
    (command, temporary)
}

fn browser_folder(temporary: &Path) -> Option<PathBuf> {
    let mut names = names_in(temporary).into_iter();
    let name = names.find(|name| name.starts_with("netbench-browser-"))?;
    Some(temporary.join(name))
}

fn netbench_that_is_killed_leaves_nothing() {
    let place = Place::with_sites(SITES);
    let (mut command, temporary) = driving(&place, "sleep 300 & exec sleep 300", "100s");
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    until("the browser's folder", || {
        browser_folder(&temporary).is_some()
    });
    let browser = browser_folder(&temporary).unwrap();
    let mark = format!("HOME={}", browser.display());
    until("the browser", || !marked_processes(&mark).is_empty());
    child.kill().unwrap();
    child.wait().unwrap();
    until("the end of the browser", || {
        marked_processes(&mark).is_empty()
    });
    until("the end of its folder", || names_in(&temporary).is_empty());
}

fn a_browser_that_hangs_or_ends_leaves_nothing() {
    let cases = [
        (
            "sleep 300 & echo a >&2; sleep 300",
            "did not open a page within the time limit",
        ),
        (
            "echo no such display >&2; exit 1",
            "ended while it was to open a page: no such display",
        ),
        (
            "echo 'Running as root without --no-sandbox is not supported' >&2; exit 1",
            "--no-sandbox runs it without one, which is recorded",
        ),
    ];
    for (then, said) in cases {
        let place = Place::with_sites(SITES);
        let (mut command, temporary) = driving(&place, then, "2s");
        let begun = Instant::now();
        let done = finish(&mut command).expect(1);
        done.tells(said);
        assert!(begun.elapsed() < Duration::from_secs(60));
        assert_eq!(names_in(&temporary), [""; 0], "{then}");
        assert!(!place.path().join("runs").exists());
    }
}

fn a_browser_that_does_not_start_in_time_ends_no_run() {
    let place = Place::with_sites(SITES);
    let (mut command, temporary) = driving(&place, "sleep 300 & exec sleep 300", "3s");
    let more = "--browser chromium --stack rustls-ring --rounds 4";
    let done = finish(command.args(words(more)));
    done.expect_one(&[0, 3]);
    let (browsers, stacks): (Vec<_>, Vec<_>) = samples(&place)
        .into_iter()
        .partition(|sample| sample.client.as_str() == "chromium");
    assert_eq!((browsers.len(), stacks.len()), (4, 4));
    assert!(
        stacks.iter().all(|sample| sample.outcome.ok().is_some()),
        "{stacks:?}"
    );
    let reasons: Vec<&str> = browsers
        .iter()
        .map(|sample| match &sample.outcome {
            VisitOutcome::Discarded { reason } => reason.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    // The browser was started three times, and then given up.
    assert!(
        reasons[..3]
            .iter()
            .all(|why| why.starts_with("the browser did not start: ")),
        "{reasons:?}"
    );
    assert!(
        reasons[3].starts_with("the browser was given up"),
        "{reasons:?}"
    );
    done.prints("3 visits of chromium not made");
    assert_eq!(names_in(&temporary), [""; 0]);
}

fn wrong_input_is_said_in_a_line() {
    let place = Place::new();
    place.refuses(
        2,
        r#"
        browser --browser chromum => did you mean "chromium"
        browser --link none => does not keep a browser off the network
        browser --condition cold => cold is no condition of a browser
        browser --browser chromium,chromium => names chromium twice
        browser --timeout 1ms => expected from
        browser --page objects=24,origins=30 => expected from 1 to 20
        browser --page objects=24,origins=6 --stack rustls-ring => --page is for browsers alone
        browser --page 24 => expected objects=N,origins=N
    "#,
    );
}
