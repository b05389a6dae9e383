//! `--live`, against real servers on loopback: `openssl s_server` and nginx.

use std::{
    fs,
    net::{SocketAddr, TcpListener, TcpStream},
    process::{self, Child, Command, Stdio},
    sync::atomic::{AtomicU16, Ordering},
};

use crate::support::{Place, failure, manifest, measured, until};
use netbench_lab::Lab;
use netbench_model::parse_sites;
use netbench_testing::Tool;

/// A server that ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(command: &mut Command, address: SocketAddr) -> Server {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let server = Server(child);
    until("the server", || TcpStream::connect(address).is_ok());
    server
}

/// A port that nobody listens at, another for each call: below those of outgoing connections, which come
/// and go.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 10_000 + u16::try_from(process::id() % 10_000).unwrap();
    (0..1000)
        .map(|_| first + NEXT.fetch_add(1, Ordering::Relaxed))
        .find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .expect("a port is free")
}

/// Writes `chain.pem`, `key.pem` and `ca.pem` for 127.0.0.1.
fn certificates(place: &Place, port: u16) {
    let sites = parse_sites(&format!("127.0.0.1:{port} key=ecdsa-p256")).unwrap();
    let lab = Lab::new(&sites).unwrap();
    let served = lab.serve_sites(&sites, |_| SocketAddr::from(([127, 0, 0, 1], port)));
    let site = &served.values().next().unwrap()[0];
    place.write("chain.pem", &site.chain_pem);
    place.write("key.pem", &site.key_pem);
    place.write("ca.pem", lab.ca_pem());
}

fn s_server(place: &Place, port: u16) -> Server {
    let mut command = Command::new("openssl");
    command
        .args([
            "s_server",
            "-quiet",
            "-www",
            "-accept",
            &format!("127.0.0.1:{port}"),
        ])
        .args([
            "-cert",
            "chain.pem",
            "-cert_chain",
            "chain.pem",
            "-key",
            "key.pem",
        ])
        .current_dir(place.path());
    start(&mut command, ([127, 0, 0, 1], port).into())
}

fn nginx(place: &Place, port: u16) -> Server {
    let folder = place.path().display();
    let configuration = format!(
        "daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;\n\
         events {{}}\n\
         http {{ access_log off;\n\
         client_body_temp_path {folder}/1; proxy_temp_path {folder}/2; fastcgi_temp_path {folder}/3;\n\
         uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;\n\
         server {{ listen 127.0.0.1:{port} ssl http2; ssl_certificate {folder}/chain.pem;\n\
         ssl_certificate_key {folder}/key.pem; ssl_protocols TLSv1.2 TLSv1.3;\n\
         location / {{ return 200 'hello from nginx'; }} }} }}\n"
    );
    place.write("nginx.conf", &configuration);
    let mut command = Command::new(Tool::Nginx.path().unwrap());
    command.args([
        "-c",
        &format!("{folder}/nginx.conf"),
        "-p",
        &folder.to_string(),
    ]);
    command.args(["-e", &format!("{folder}/error.log")]);
    start(&mut command, ([127, 0, 0, 1], port).into())
}

fn measures(server: fn(&Place, u16) -> Server, conditions: &str, alpn: &str) {
    let place = Place::new();
    let port = free_port();
    certificates(&place, port);
    let _server = server(&place, port);
    place.write("sites.txt", &format!("127.0.0.1:{port}\n"));
    let arguments = [
        "connect",
        "--live",
        "--sites",
        "sites.txt",
        "--roots",
        "ca.pem",
    ];
    let more = ["--rounds", "1", "--condition", conditions];
    let done = place
        .netbench(&[&arguments[..], &more[..]].concat())
        .expect(0);
    assert!(
        done.stderr
            .contains("--live: connecting over the real network"),
        "{}",
        done.stderr
    );
    let run = place.run();
    assert_eq!(manifest(&run).link, None);
    let samples = measured(&run);
    assert_eq!(samples.len(), 2 * conditions.split(',').count());
    for sample in &samples {
        let figures = sample
            .outcome
            .ok()
            .unwrap_or_else(|| panic!("{:?}", sample.outcome));
        assert_eq!(figures.client.alpn.as_deref().unwrap_or("none"), alpn);
        assert_eq!(figures.server, None);
        assert_eq!(figures.http_status, 200);
    }
    // One connection at a time, with a pause between.
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

pub(crate) fn openssl_s_server() {
    measures(s_server, "clean", "none");
}

pub(crate) fn nginx_clean_and_resumed() {
    measures(nginx, "clean,resumed", "h2");
}

pub(crate) fn a_name_that_does_not_resolve_is_a_failure_of_its_own() {
    let place = Place::new();
    place.write("sites.txt", "no-such-host.invalid\n");
    let arguments = ["connect", "--live", "--sites", "sites.txt", "--rounds", "1"];
    place.netbench(&arguments).expect(3);
    for sample in measured(&place.run()) {
        assert_eq!(failure(&sample).as_deref(), Some("resolve: not found"));
    }
}
