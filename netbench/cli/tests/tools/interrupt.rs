//! Ctrl-C and SIGTERM during waits: the command ends, keeps its results, and leaves no processes or files behind. Every
//! wait here would take minutes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    fs,
    net::{Ipv4Addr, TcpListener},
    process::{Child, Command},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::support::{
    Done, Place, description_of_mine, kept, manifest, mark, marked, measured, piped, signal, tree,
    until, wait,
};

netbench_testing::module_tests! {
    a_run_waits_for_no_silent_site;
    a_run_waits_for_no_worker;
    a_second_time_ends_at_once;
    a_suite_waits_for_no_worker;
    an_evaluation_waits_for_no_part;
    a_scan_waits_for_no_silent_server;
    a_build_ends_with_all_that_it_has_started;
    a_run_waits_for_no_long_transfer: UserNamespaces;
}

/// A limit far below the time limits of the waits, and far above the needs of a busy machine.
const SOON: Duration = Duration::from_secs(60);

/// A running command, with a mark in the environment of all its processes.
struct Running {
    child: Child,
    mark: String,
}

impl Running {
    fn begin(place: &Place, mut command: Command) -> Self {
        let mark = mark(place, &mut command);
        let child = piped(&mut command);
        Self { child, mark }
    }

    /// Sends the signal `name`, and waits for the end of the command and all its processes.
    fn stop(self, name: &str) -> Done {
        let asked = Instant::now();
        signal(name, self.child.id());
        let done = wait(self.child).expect(130);
        until("the end of all processes", || marked(&self.mark).is_empty());
        let took = asked.elapsed();
        assert!(took < SOON, "it took {took:?}: {}", done.stderr);
        done.tells("stopping");
        done
    }
}

fn connect(place: &Place, line: &str) -> Running {
    let line = format!("connect --sites sites.txt --rounds 1 --link none {line}");
    Running::begin(place, place.command_line(&line))
}

/// Makes a worker of the stack `mine` that does not answer `hangs`, and reports the request in the file `hangs`.
fn hanging(place: &Place, hangs: &str) {
    let description = description_of_mine(&["connect", "serve", "suite"]);
    let script = format!(
        "while read -r line; do case $line in\n\
         *'\"op\":\"{hangs}\"'*) echo yes > '{}'; sleep 600 & wait ;;\n\
         *describe*) echo '{description}' ;;\n\
         *configure*) echo '{{\"id\":1,\"type\":\"configured\"}}' ;;\nesac; done",
        place.path().join("hangs").display()
    );
    place.script("worker.sh", &script);
}

fn wait_for_file(place: &Place, name: &str) {
    let path = place.path().join(name);
    until(name, || path.exists());
}

fn a_run_waits_for_no_silent_site() {
    for name in ["INT", "TERM"] {
        let place = Place::with_sites("good.example\nsilent.example fault=silent\n");
        let running = connect(&place, "--jobs 2 --timeout 300s");
        // Two connections to the good site, and those that warm two slots up.
        until("samples", || place.lines("samples.jsonl") >= 6);
        let done = running.stop(name);
        let run = place.run();
        let samples = measured(&run);
        assert_eq!(samples.len(), 2, "{samples:?}");
        assert!(samples.iter().all(|sample| sample.site == "good.example"));
        let manifest = manifest(&run);
        assert!(manifest.sessions[0].interrupted && manifest.finished.is_none());
        assert!(run.join("summary.md").is_file());
        done.prints("not finished");
    }
}

fn a_run_waits_for_no_worker() {
    for hangs in ["describe", "configure", "connect", "serve"] {
        let place = Place::with_sites(if hangs == "serve" {
            "good.example server=mine\n"
        } else {
            "good.example\n"
        });
        hanging(&place, hangs);
        let line = "--timeout 300s --stack rustls-ring,mine --worker mine=./worker.sh";
        let running = connect(&place, line);
        wait_for_file(&place, "hangs");
        running.stop("INT");
    }
}

/// The body takes longer than the time limit of five minutes.
fn a_run_waits_for_no_long_transfer() {
    let place = Place::with_sites(
        "good.example server=rustls-ring\nslow.example server=rustls-ring rate=1mbit body=100m\n",
    );
    let line = "connect --sites sites.txt --rounds 1 --jobs 2 --condition clean --yes --timeout 300s \
                --stack rustls-ring,openssl";
    let running = Running::begin(&place, place.command_line(line));
    // Two connections to the good site, and those that warm two slots up: only the transfer remains.
    until("samples", || place.lines("samples.jsonl") >= 6);
    let done = running.stop("INT");
    let run = place.run();
    let samples = measured(&run);
    assert_eq!(samples.len(), 2, "{samples:?}");
    assert!(samples.iter().all(|sample| sample.site == "good.example"));
    assert!(manifest(&run).sessions[0].interrupted);
    done.prints("not finished");
}

fn a_second_time_ends_at_once() {
    // A worker that does not end with its stdin.
    let place = Place::with_sites("good.example\n");
    hanging(&place, "connect");
    let line = "--timeout 300s --stack rustls-ring,mine --worker mine=./worker.sh";
    let running = connect(&place, line);
    wait_for_file(&place, "hangs");
    signal("INT", running.child.id());
    // The process may have ended meanwhile, which is as good.
    let _ = Command::new("kill")
        .args(["-INT", &running.child.id().to_string()])
        .output();
    wait(running.child).expect(130);
    until("the end of all processes", || {
        marked(&running.mark).is_empty()
    });
}

fn a_suite_waits_for_no_worker() {
    let place = Place::new();
    hanging(&place, "prepare");
    let line = "suite verify --rounds 1 --stack rustls-ring,mine --worker mine=./worker.sh";
    let running = Running::begin(&place, place.command_line(line));
    wait_for_file(&place, "hangs");
    running.stop("TERM");
    let manifest: Value = kept(&place.run(), "run.json");
    assert_eq!(manifest["sessions"][0]["interrupted"], true);
}

fn an_evaluation_waits_for_no_part() {
    let place = Place::with_sites("good.example\n");
    hanging(&place, "prepare");
    let line = "evaluate --quick --sites sites.txt --part suite --from rustls-ring --to mine \
                --worker mine=./worker.sh";
    let running = Running::begin(&place, place.command_line(line));
    wait_for_file(&place, "hangs");
    running.stop("INT");
    let manifest: Value = kept(&place.run(), "run.json");
    let parts = manifest["plan"]["parts"].as_array().unwrap();
    let states = parts.iter().map(|part| &part["state"]["state"]);
    assert!(
        states.into_iter().any(|state| state == "interrupted"),
        "{parts:?}"
    );
}

fn a_scan_waits_for_no_silent_server() {
    let place = Place::new();
    let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    server.set_nonblocking(true).unwrap();
    let address = server.local_addr().unwrap();
    // The longest timeout; and a silent server is tried again.
    let line = format!("scan {address} --timeout 60s --retries 5");
    let running = Running::begin(&place, place.command_line(&line));
    let mut accepted = Vec::new();
    until("a connection", || {
        accepted.extend(server.accept());
        !accepted.is_empty()
    });
    running.stop("INT");
}

fn a_build_ends_with_all_that_it_has_started() {
    let place = Place::new();
    let built = place.path().join("building");
    let cargo = place.script(
        "cargo.sh",
        &format!("sleep 600 &\necho yes > '{}'\nwait", built.display()),
    );
    let mut command = place.command(&["stacks", "hello", "--stack", "rustls-aws-lc+nojitter"]);
    command
        .current_dir(tree())
        .env("CARGO", cargo)
        .env("CARGO_TARGET_DIR", place.path().join("target"));
    let running = Running::begin(&place, command);
    wait_for_file(&place, "building");
    running.stop("INT");
    let left = fs::read_dir(place.path()).unwrap();
    assert!(left.flatten().all(|entry| entry.file_name() != "runs"));
}
