//! Real servers on loopback: `openssl s_server` and nginx.

use std::{
    net::{IpAddr, SocketAddr, TcpListener, TcpStream},
    process::{self, Child, Command, Stdio},
    sync::atomic::{AtomicU16, Ordering},
};

use crate::support::{Place, until};
use netbench_lab::Lab;
use netbench_model::{HostName, KeyType, LabProfile, Site};
use netbench_testing::Tool;

/// A server that ends with the test.
pub(crate) struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Server {
    /// Starts the server, without waiting until it listens.
    pub(crate) fn begin(command: &mut Command) -> Self {
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Self(child.unwrap())
    }
}

pub(crate) fn start(command: &mut Command, address: SocketAddr) -> Server {
    let server = Server::begin(command);
    until("the server", || TcpStream::connect(address).is_ok());
    server
}

/// Returns an unused port, a new one for each call: below the range of outgoing connections, whose ports change.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 10_000 + u16::try_from(process::id() % 10_000).unwrap();
    (0..1000)
        .map(|_| first + NEXT.fetch_add(1, Ordering::Relaxed))
        .find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .expect("a port is free")
}

/// Writes `chain.pem`, `key.pem` and `ca.pem` for a host.
pub(crate) fn certificates(place: &Place, host: &str, port: u16) {
    let host: HostName = host.parse().unwrap();
    let lab = LabProfile {
        key: KeyType::EcdsaP256,
        ..LabProfile::default()
    };
    let sites = [Site {
        lab: lab.into(),
        ..Site::new(host, port)
    }];
    let lab = Lab::new(&sites).unwrap();
    let served = lab.serve_sites(&sites, |_| SocketAddr::from(([127, 0, 0, 1], port)));
    let site = &served.values().next().unwrap()[0];
    place.write("chain.pem", &site.chain_pem);
    place.write("key.pem", &site.key_pem);
    place.write("ca.pem", lab.ca_pem());
}

/// Starts `openssl s_server` at 127.0.0.1, with additional options.
pub(crate) fn s_server(place: &Place, port: u16, more: &[&str]) -> Server {
    let mut command = Command::new("openssl");
    let accept = format!("127.0.0.1:{port}");
    command
        .args(["s_server", "-quiet", "-www", "-accept", &accept])
        .args(["-cert", "chain.pem", "-cert_chain", "chain.pem"])
        .args(["-key", "key.pem"])
        .args(more)
        .current_dir(place.path());
    start(&mut command, ([127, 0, 0, 1], port).into())
}

/// Starts nginx at an address, with `locations` in its server's block.
pub(crate) fn nginx(place: &Place, address: IpAddr, port: u16, locations: &str) -> Server {
    let folder = place.path().display();
    let address = SocketAddr::new(address, port);
    let server = format!(
        "server {{ listen {address} ssl http2; ssl_certificate {folder}/chain.pem;\n\
         ssl_certificate_key {folder}/key.pem; ssl_protocols TLSv1.2 TLSv1.3;\n\
         {locations} }}"
    );
    start(&mut nginx_command(place, &server), address)
}

/// Returns nginx with these servers' blocks, which writes all files into the place's folder.
pub(crate) fn nginx_command(place: &Place, servers: &str) -> Command {
    let folder = place.path().display().to_string();
    let configuration = format!(
        "daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;\n\
         events {{}}\n\
         http {{ access_log off;\n\
         client_body_temp_path {folder}/1; proxy_temp_path {folder}/2; fastcgi_temp_path {folder}/3;\n\
         uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;\n\
         {servers} }}\n"
    );
    place.write("nginx.conf", &configuration);
    let mut command = Command::new(Tool::Nginx.path().unwrap());
    command.args(["-c", &format!("{folder}/nginx.conf"), "-p", &folder]);
    command.args(["-e", &format!("{folder}/error.log")]);
    command
}
