//! `--live`, against real servers on loopback: `openssl s_server` and nginx.

use std::{fs, net::Ipv4Addr};

use crate::{
    servers::{Server, certificates, free_port, nginx, s_server},
    support::{Place, failure, figures, manifest, measured},
};

netbench_testing::module_tests! {
    openssl_s_server: OpensslCommand;
    nginx_clean_and_resumed: Nginx;
    a_name_that_does_not_resolve_is_a_failure_of_its_own;
}

fn measures(server: fn(&Place, u16) -> Server, conditions: &str, alpn: &str) {
    let place = Place::new();
    let port = free_port();
    certificates(&place, "127.0.0.1", port);
    let _server = server(&place, port);
    place.write("sites.txt", &format!("127.0.0.1:{port}\n"));
    let line = format!("--live --roots ca.pem --rounds 1 --condition {conditions}");
    let done = place.connect(&line);
    done.tells("--live: connecting over the real network");
    let run = place.run();
    assert_eq!(manifest(&run).link, None);
    let samples = measured(&run);
    assert_eq!(samples.len(), 2 * conditions.split(',').count());
    for sample in &samples {
        let figures = figures(sample);
        assert_eq!(figures.client.alpn.as_deref().unwrap_or("none"), alpn);
        assert_eq!(figures.server, None);
        assert_eq!(figures.http_status, 200);
    }
    // Connections are sequential, with a pause between them.
    let mut starts: Vec<_> = crate::support::samples(&run)
        .iter()
        .map(|s| s.started_unix_ms)
        .collect();
    starts.sort_unstable();
    assert!(
        starts.windows(2).all(|pair| pair[1] - pair[0] >= 990),
        "{starts:?}"
    );
    fs::remove_dir_all(run).unwrap();
}

fn openssl_s_server() {
    measures(|place, port| s_server(place, port, &[]), "clean", "none");
}

fn nginx_of_a_page(place: &Place, port: u16) -> Server {
    let page = "location / { return 200 'hello from nginx'; }";
    nginx(place, Ipv4Addr::LOCALHOST.into(), port, page)
}

fn nginx_clean_and_resumed() {
    measures(nginx_of_a_page, "clean,resumed", "h2");
}

fn a_name_that_does_not_resolve_is_a_failure_of_its_own() {
    let place = Place::new();
    place.write("sites.txt", "no-such-host.invalid\n");
    let line = "connect --live --sites sites.txt --rounds 1";
    place.netbench_line(line).expect(3);
    for sample in measured(&place.run()) {
        assert_eq!(failure(&sample).as_deref(), Some("resolve: not found"));
    }
}
