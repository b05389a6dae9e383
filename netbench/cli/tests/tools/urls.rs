//! Servers named by URLs: `openssl s_server` and nginx on loopback, without `--live`.

use std::{
    fs,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener},
    path::Path,
    process::Command,
};

use netbench_model::{Outcome, Target};

use crate::{
    servers::{certificates, free_port, nginx, s_server},
    support::{
        Place, assert_contains, check, figures, finish, in_a_line, manifest, measured, names_in,
        text, words,
    },
};

netbench_testing::module_tests! {
    a_server_that_asks_for_a_certificate_gets_it: OpensslCommand;
    paths_headers_and_ipv6_reach_nginx: Nginx;
    a_name_can_be_led_to_a_server_of_this_machine: OpensslCommand;
    an_evaluation_takes_urls_and_an_internal_ca: OpensslCommand;
    an_internal_ca_that_is_not_given_is_named_as_the_cause: OpensslCommand;
    a_hello_is_shown_as_a_host_would_get_it;
}

/// Returns the contents of all files in a folder, as one text.
fn contents(folder: &Path) -> String {
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let texts = files.map(|path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned());
    texts.collect()
}

/// Makes `cc.pem`, a certificate that is its own root, and `secret-folder/ck.pem`, its key.
fn client_certificate(place: &Place) {
    fs::create_dir(place.path().join("secret-folder")).unwrap();
    let line = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=client -days 2 \
                -addext extendedKeyUsage=clientAuth -keyout secret-folder/ck.pem -out cc.pem";
    let mut command = Command::new("openssl");
    finish(command.args(words(line)).current_dir(place.path())).expect(0);
}

fn a_server_that_asks_for_a_certificate_gets_it() {
    let place = Place::new();
    let port = free_port();
    certificates(&place, "localhost", port);
    client_certificate(&place);
    let _server = s_server(
        &place,
        port,
        &["-Verify", "1", "-verify_return_error", "-CAfile", "cc.pem"],
    );
    let url = format!("https://localhost:{port}/");
    let with = "--client-cert cc.pem --client-key secret-folder/ck.pem";
    let line = format!(
        "connect {url} --roots ca.pem --rounds 1 --condition clean,resumed --name with {with}"
    );
    place.succeeds(&line);
    let run = place.named("with");
    let samples = measured(&run);
    assert_eq!(samples.len(), 4);
    for sample in &samples {
        let figures = figures(sample);
        assert_eq!(figures.http_status, 200);
    }
    let plan = manifest(&run).plan;
    assert_eq!(plan.target, Target::Loopback);
    assert_eq!(
        plan.client_certificate.map(|shown| shown.certificates),
        Some(1)
    );

    // Neither the key nor its path is stored.
    let kept = contents(&run);
    let key = text(place.path(), "secret-folder/ck.pem");
    let secret = key.lines().nth(1).unwrap();
    assert_contains(&kept, "--client-cert cc.pem --client-key KEY.pem");
    for hidden in [secret, "secret-folder", "PRIVATE KEY"] {
        assert!(!kept.contains(hidden), "{hidden}");
    }
    // Without the certificate, the run cannot be resumed; with it, no work remains.
    let refused = place.netbench_line("run RUN").expect(2);
    refused.tells("--client-cert");
    place.succeeds(&format!("run RUN {with}"));
    assert_eq!(measured(&run).len(), 4);

    // A server that receives no certificate refuses every stack.
    let line = format!("connect {url} --roots ca.pem --rounds 1 --name without");
    place.netbench_line(&line).expect(3);
    for sample in measured(&place.named("without")) {
        assert!(matches!(sample.outcome, Outcome::Failed(_)), "{sample:?}");
    }
    // A key of another certificate is refused before anything is measured.
    let line = format!("connect {url} --client-cert cc.pem --client-key key.pem");
    let refused = place.netbench_line(&line).expect(2);
    refused.tells("not the key");
}

fn paths_headers_and_ipv6_reach_nginx() {
    let mut hosts: Vec<(&str, IpAddr)> = vec![("127.0.0.1", Ipv4Addr::LOCALHOST.into())];
    // Some machines have no IPv6.
    if TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok() {
        hosts.push(("::1", Ipv6Addr::LOCALHOST.into()));
    }
    for (host, address) in hosts {
        let place = Place::new();
        let port = free_port();
        certificates(&place, host, port);
        let _server = nginx(
            &place,
            address,
            port,
            "location / { return 404; }\n\
             location = /page { if ($http_x_key != 'a: b') { return 403; } if ($arg_q != '1') { return 400; }\n\
             if ($request_method != POST) { return 405; } return 200 'the page'; }",
        );
        let shown = if address.is_ipv6() {
            format!("[{host}]")
        } else {
            host.to_owned()
        };
        let url = format!("https://{shown}:{port}/page?q=1");
        let line = format!(
            "connect {url} --roots ca.pem --rounds 1 --condition clean,resumed,cold --method POST"
        );
        let mut arguments = words(&line);
        arguments.extend(["--header", "X-Key: a: b", "--json"]);
        let done = place.netbench(&arguments).expect(0);
        check("connect-summary.json", &done.stdout);
        let run = place.run();
        let samples = measured(&run);
        assert_eq!(samples.len(), 6);
        for sample in &samples {
            let figures = figures(sample);
            assert_eq!(
                (figures.http_status, figures.body_bytes),
                (200, 8),
                "{}",
                sample.stack
            );
            assert_eq!(figures.client.alpn.as_deref(), Some("h2"));
            assert_eq!(sample.site, format!("{shown}:{port}/page?q=1"));
        }
        let kept = text(&run, "run.json");
        check("run.json", &kept);
        assert!(kept.contains("x-key") && !kept.contains("a: b"), "{kept}");
        // A shell accepts the line that repeats the run as it is.
        let report = place.succeeds("runs report RUN");
        let text = in_a_line(&report.stdout);
        assert!(text.contains(&format!("connect '{url}'")), "{text}");
        assert!(text.contains("--header 'X-Key: VALUE'"), "{text}");
    }
}

fn a_name_can_be_led_to_a_server_of_this_machine() {
    let place = Place::new();
    let port = free_port();
    certificates(&place, "site.example", port);
    let _server = s_server(&place, port, &[]);
    let rule = format!("site.example:443:127.0.0.1:{port}");
    let led = format!("https://site.example/ --roots ca.pem --connect-to {rule}");
    place.succeeds(&format!("connect {led} --rounds 1 --name connect"));
    for sample in measured(&place.named("connect")) {
        assert!(sample.outcome.ok().is_some(), "{:?}", sample.outcome);
        assert_eq!(sample.site, "site.example");
    }
    let done = place.netbench_line(&format!(
        "scan {led} --against openssl,rustls-ring --name scan --json"
    ));
    let scan: serde_json::Value = serde_json::from_str(&done.expect(0).stdout).unwrap();
    assert_eq!(scan["run"]["place"], "loopback");
    assert_eq!(scan["sites"][0]["site"], "site.example");
    assert_eq!(scan["sites"][0]["host"], "site.example");
    let line = "connect https://site.example/ --roots ca.pem";
    let refused = place.netbench_line(line).expect(2);
    refused.tells("site.example is not on this machine");
    refused.tells("--live").tells("--connect-to");
}

fn an_internal_ca_that_is_not_given_is_named_as_the_cause() {
    let place = Place::new();
    let port = free_port();
    certificates(&place, "localhost", port);
    let _server = s_server(&place, port, &[]);
    let url = format!("https://localhost:{port}/");
    let cause = "The certificates of 1 of 1 site lead to no trusted root: if your own CA issued them, give it with \
                 `--roots my-ca.pem`.";
    for (line, code) in [
        ("scan", 0),
        ("scan --against openssl,rustls-ring", 0),
        ("connect --stack openssl,rustls-ring --rounds 1", 3),
    ] {
        let without = place.netbench_line(&format!("{line} {url}")).expect(code);
        let text = in_a_line(&without.stdout);
        assert_eq!(text.matches(cause).count(), 1, "{line}: {text}");
        let line = format!("{line} {url} --roots ca.pem");
        let with = place.succeeds(&line);
        assert!(
            !with.stdout.contains("no trusted root"),
            "{line}: {}",
            with.stdout
        );
    }
}

fn an_evaluation_takes_urls_and_an_internal_ca() {
    let place = Place::new();
    let port = free_port();
    certificates(&place, "localhost", port);
    let _server = s_server(&place, port, &[]);
    let line = format!(
        "evaluate https://localhost:{port}/ --roots ca.pem --part sites,connections --rounds 1 --json"
    );
    let mut arguments = words(&line);
    arguments.extend(["--header", "X-Key: secret-value"]);
    let done = place.netbench(&arguments).expect(0);
    check("evaluation.json", &done.stdout);
    let evaluation: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    let plan = &evaluation["run"]["plan"];
    assert_eq!(plan["target"], "loopback");
    assert_eq!(plan["sites"], 1);
    for part in ["sites", "connections"] {
        let mut parts = plan["parts"].as_array().unwrap().iter();
        let part = parts.find(|record| record["part"] == part).unwrap();
        assert_eq!(part["state"]["state"], "done", "{part}");
    }
    let connections = place.run().join("connections/run");
    let run = connections.join(&names_in(&connections)[0]);
    // Clean, resumed and cold connections, of two stacks.
    let samples = measured(&run);
    assert_eq!(samples.len(), 6);
    assert!(
        samples.iter().all(|sample| sample.outcome.ok().is_some()),
        "{samples:?}"
    );
    assert!(!contents(&run).contains("secret-value"));
    // The evaluation cannot be resumed without the header, whose value is not stored.
    place.refuses(2, "run RUN => x-key");
    place.succeeds("run RUN --header X-Key:secret-value");
}

fn a_hello_is_shown_as_a_host_would_get_it() {
    let place = Place::new();
    let [usual, host, longer, address] = [
        "",
        "https://host.example:8443/path",
        "https://longer-host.example/",
        "https://[2001:db8::1]/",
    ]
    .map(|target| {
        let line = format!("stacks hello {target} --stack rustls-ring --json");
        let done = place.succeeds(&line);
        let hellos: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
        hellos["hellos"][0]["message_bytes"].as_u64().unwrap()
    });
    assert_eq!(host, usual);
    // The hello contains a name, but not an address.
    assert_eq!(longer, usual + "longer-".len() as u64);
    assert!(address < usual);
}
