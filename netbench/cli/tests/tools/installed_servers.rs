//! Sites whose servers are installed programs, from a user's perspective.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{fs, process::Stdio};

use netbench_model::{Condition, Group, Outcome, Sample, TlsVersion};
use netbench_report::ConnectSummary;

use crate::support::{
    Place, failure, figures, finish, in_a_line, json, manifest, marked_processes, measured,
    names_in, signal, until,
};

netbench_testing::module_tests! {
    nginx_serves_what_its_sites_say: Nginx;
    apache_serves_what_its_sites_say: Apache;
    haproxy_serves_what_its_sites_say: Haproxy;
    node_serves_what_its_sites_say: Node;
    s_server_serves_what_its_sites_say: OpensslCommand;
    s_server_speaks_no_http2: OpensslCommand;
    rustls_is_short_for_a_server;
    a_server_that_is_not_installed_is_said_to_be;
    a_server_that_will_not_start_costs_its_sites_alone;
    a_server_is_no_stack;
    nothing_is_left_of_a_server: Haproxy;
}

/// Returns two sites for a server, and one that no installed server supports.
fn sites(server: &str, protocols: &str) -> String {
    format!(
        "* server={server}\n\
         new.example tls=1.3 suites=TLS_AES_256_GCM_SHA384 groups=secp256r1 key=ecdsa-p256 alpn={protocols} body=100k\n\
         old.example tls=1.2 suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 groups=x25519 alpn=http/1.1 chain=3/4032\n\
         silent.example fault=silent\n"
    )
}

fn connect(place: &Place, more: &str) -> ConnectSummary {
    let line = format!(
        "-q --json --client-profile default --rounds 1 --link none --stack rustls-ring,openssl {more}"
    );
    json(&place.connect(&line).stdout)
}

fn nginx_serves_what_its_sites_say() {
    serves_what_its_sites_say("nginx", "h2,http/1.1", "nginx/");
}

fn apache_serves_what_its_sites_say() {
    serves_what_its_sites_say("apache", "h2,http/1.1", "Apache/");
}

fn haproxy_serves_what_its_sites_say() {
    serves_what_its_sites_say("haproxy", "h2,http/1.1", "HAProxy");
}

fn node_serves_what_its_sites_say() {
    serves_what_its_sites_say("node", "h2,http/1.1", "v");
}

fn s_server_serves_what_its_sites_say() {
    serves_what_its_sites_say("openssl-s_server", "http/1.1", "OpenSSL ");
}

fn s_server_speaks_no_http2() {
    let place = Place::with_sites("a.example server=openssl-s_server\n");
    let line = "-q --client-profile default --rounds 1 --link none --stack rustls-ring,openssl";
    // Without pairs of samples, there is nothing to compare.
    place
        .netbench_line(&format!("connect --sites sites.txt {line}"))
        .expect(3);
    for sample in measured(&place.run()) {
        let Outcome::Unsupported { reason } = &sample.outcome else {
            panic!("{sample:?}");
        };
        let due = "alpn=h2,http/1.1: openssl-s_server can be set to http/1.1 or none";
        assert_eq!(reason, due);
    }
}

fn rustls_is_short_for_a_server() {
    let place = Place::with_sites("a.example server=rustls\n");
    let summary = connect(&place, "");
    assert_eq!(summary.failures.len(), 0, "{:?}", summary.failures);
    let workers = manifest(&place.run()).workers;
    let are_used =
        ["rustls-aws-lc", "rustls"].map(|stack| workers.iter().any(|worker| worker.stack == stack));
    assert_eq!(are_used, [true, false], "{workers:?}");
}

fn serves_what_its_sites_say(server: &str, protocols: &str, version: &str) {
    let place = Place::with_sites(&sites(server, protocols));
    let first_protocol = protocols.split(',').next().unwrap();
    let summary = connect(&place, "--condition clean,resumed");
    assert_eq!(summary.failures.len(), 0, "{:?}", summary.failures);
    let run = place.run();
    let manifest = manifest(&run);
    let record = manifest.workers.iter().find(|w| w.stack == server).unwrap();
    assert!(record.library.starts_with(version), "{record:?}");
    let samples = measured(&run);
    assert_eq!(samples.len(), 12);
    for sample in &samples {
        match (sample.site.as_str(), &sample.outcome) {
            ("silent.example", Outcome::Unsupported { reason }) => {
                let due = format!("fault=silent: {server} cannot be made to do this wrong");
                assert_eq!(*reason, due);
            }
            ("silent.example", other) => panic!("{other:?}"),
            ("new.example", _) => is_what_was_asked_for(sample, Some(first_protocol)),
            _ => is_what_was_asked_for(sample, None),
        }
    }
}

/// Asserts that a sample has the site's settings. `new_protocol` is the protocol of the newer site,
/// or `None` for the older site.
fn is_what_was_asked_for(sample: &Sample, new_protocol: Option<&str>) {
    let is_new = new_protocol.is_some();
    let measured = figures(sample);
    let server = &measured.server.as_ref().unwrap().negotiated;
    let (version, suite, group, alpn, bytes) = if let Some(alpn) = new_protocol {
        let suite = "TLS_AES_256_GCM_SHA384";
        (TlsVersion::Tls13, suite, Group::SECP256R1, alpn, 100 << 10)
    } else {
        let suite = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256";
        (TlsVersion::Tls12, suite, Group::X25519, "http/1.1", 4096)
    };
    for side in [&measured.client, server] {
        assert_eq!(side.version, Some(version), "{sample:?}");
        assert_eq!(side.suite.unwrap().to_string(), suite);
        assert_eq!(side.alpn.as_deref(), Some(alpn));
        assert_eq!(side.resumed, sample.condition == Condition::Resumed);
        // A resumption in TLS 1.2 has no group.
        let group_is_due = is_new || sample.condition == Condition::Clean;
        assert!(
            !group_is_due || side.group.is_none_or(|of| of == group),
            "{sample:?}"
        );
    }
    assert_eq!(measured.body_bytes, bytes);
}

fn a_server_that_is_not_installed_is_said_to_be() {
    let place = Place::with_sites("a.example server=node\n");
    let line = "connect -q --sites sites.txt --rounds 1 --link none --stack rustls-ring,openssl";
    let mut command = place.command_line(line);
    // Without pairs of samples, there is nothing to compare.
    let done = finish(command.env("PATH", place.path())).expect(3);
    let told = in_a_line(&done.stdout);
    let due = "No connection over loopback was made: none failed with openssl that works with rustls-ring. \
               One site was not tried: node is not installed";
    assert!(told.contains(due), "{told}");
    assert!(!told.contains("Yes."), "{told}");
    for sample in measured(&place.run()) {
        let Outcome::Unsupported { reason } = &sample.outcome else {
            panic!("{sample:?}");
        };
        assert_eq!(reason, "node is not installed: apt-get install nodejs");
    }
}

fn a_server_that_will_not_start_costs_its_sites_alone() {
    let place = Place::with_sites("a.example server=haproxy\nb.example server=rustls-ring\n");
    let bin = place.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let body = "[ \"$1\" = -vv ] && echo 'HAProxy version 99' && exit\necho '[ALERT] no such thing' >&2; exit 1";
    netbench_testing::script(&bin.join("haproxy"), body);
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let line = "connect -q --sites sites.txt --rounds 1 --link none --stack rustls-ring,openssl";
    finish(place.command_line(line).env("PATH", path)).expect(0);
    for sample in measured(&place.run()) {
        if sample.site == "b.example" {
            assert!(sample.outcome.ok().is_some(), "{sample:?}");
            continue;
        }
        assert_eq!(failure(&sample).as_deref(), Some("setup: no server"));
        let Outcome::Failed(why) = &sample.outcome else {
            panic!("{sample:?}");
        };
        let due =
            "the server haproxy could not be set up: haproxy will not start: [ALERT] no such thing";
        assert_eq!(why.detail, due);
    }
}

fn a_server_is_no_stack() {
    let place = Place::with_sites("a.example server=ngnix\n");
    place.refuses(2, r#"
        connect --stack nginx,openssl => nginx is no stack: it serves emulated sites (server=nginx in a sites file)
        connect --sites sites.txt => did you mean "nginx"?
    "#);
}

fn nothing_is_left_of_a_server() {
    for name in ["INT", "KILL"] {
        let place = Place::with_sites("a.example server=haproxy\n");
        let temporary = place.temporary();
        let mark = format!("TMPDIR={}", temporary.display());
        let line =
            "connect --sites sites.txt --rounds 9999 --link none --stack rustls-ring,openssl";
        let mut command = place.command_line(line);
        let child = command
            .env("TMPDIR", &temporary)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut child = child.unwrap();
        until("samples", || place.lines("samples.jsonl") >= 4);
        let mut commands = marked_processes(&mark).into_iter();
        assert!(commands.any(|command| command.contains("haproxy.cfg")));
        assert!(!names_in(&temporary).is_empty());
        signal(name, child.id());
        child.wait().unwrap();
        until("the end of the server", || {
            marked_processes(&mark).is_empty()
        });
        until("the end of its folder", || names_in(&temporary).is_empty());
    }
}
