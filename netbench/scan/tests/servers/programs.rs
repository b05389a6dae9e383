//! The server programs nginx and `openssl s_server`.

use std::{
    fs,
    net::{SocketAddr, TcpStream},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use netbench_model::tls::TlsVersion;
use netbench_testing::Tool;

use crate::support::{Files, HOST, LIMIT, Server, free_address};

/// Mozilla's intermediate set of guideline 5.7, with RSA.
pub(crate) const INTERMEDIATE: &str = "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:\
    ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:\
    ECDHE-RSA-CHACHA20-POLY1305:DHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES256-GCM-SHA384:\
    DHE-RSA-CHACHA20-POLY1305";

/// Starts nginx with these lines in its server block: one process in the foreground, which writes only in its
/// folder.
pub(crate) fn nginx(files: &Files, lines: &str) -> Server {
    let nginx = Tool::Nginx.path().expect("nginx");
    let mut last = String::new();
    // Another process may take the free port before nginx listens on it.
    for _ in 0..5 {
        let address = free_address();
        let log = files.path("log");
        let temp = files.path("temp");
        let configuration = format!(
            "daemon off; master_process off; pid {pid}; error_log {log};\n\
             events {{}}\n\
             http {{ access_log off;\n\
             client_body_temp_path {temp}; proxy_temp_path {temp}; fastcgi_temp_path {temp};\n\
             uwsgi_temp_path {temp}; scgi_temp_path {temp};\n\
             server {{ listen {address} ssl http2; server_name {host};\n\
             ssl_certificate {chain}; ssl_certificate_key {key};\n{lines}\n\
             location / {{ return 200 'a page'; }} }} }}\n",
            pid = files.path("pid"),
            host = HOST,
            chain = files.path("whole.pem"),
            key = files.path("key.pem"),
        );
        let path = files.write("nginx.conf", &configuration);
        let child = Command::new(&nginx)
            .env("OPENSSL_CONF", "/dev/null")
            .args(["-c", &path, "-e", &log])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("nginx begins");
        let mut server = Server::at(child, address);
        if wait_until_it_listens(&mut server, address) {
            return server;
        }
        last = fs::read_to_string(&log).unwrap_or_default();
    }
    panic!("nginx does not listen: {last}");
}

/// Returns false if the server ended, or does not listen in time.
pub(crate) fn wait_until_it_listens(server: &mut Server, address: SocketAddr) -> bool {
    let deadline = Instant::now() + LIMIT;
    while Instant::now() < deadline {
        if server.has_ended() {
            return false;
        }
        if TcpStream::connect(address).is_ok() {
            return true;
        }
        thread::sleep(Duration::from_millis(10));
    }
    false
}

/// Starts `s_server` with these arguments; the settings of the machine's own openssl.cnf have no effect.
pub(crate) fn s_server(files: &Files, arguments: &[&str]) -> Server {
    let mut command = Command::new("openssl");
    command.env("OPENSSL_CONF", "/dev/null");
    command.args(["s_server", "-accept", "127.0.0.1:0"]);
    command.args([
        "-cert",
        &files.path("leaf.pem"),
        "-key",
        &files.path("key.pem"),
    ]);
    command.args(["-cert_chain", &files.path("ca.pem")]);
    command.args(arguments);
    Server::that_says(command, "ACCEPT ")
}

/// Returns the codes of a list in a version, in the list's order; options may precede it.
pub(crate) fn listed(list: &[&str], version: TlsVersion) -> Vec<u16> {
    let flag = match version {
        TlsVersion::Tls10 => "-tls1",
        TlsVersion::Tls11 => "-tls1_1",
        _ => "-tls1_2",
    };
    let ran = Command::new("openssl")
        .env("OPENSSL_CONF", "/dev/null")
        .args(["ciphers", "-s", "-V", flag])
        .args(list)
        .output()
        .expect("openssl is needed for this test");
    assert!(ran.status.success(), "openssl ciphers {list:?}: {ran:?}");
    let text = String::from_utf8(ran.stdout).unwrap();
    text.lines()
        .filter_map(|line| pair(line.trim().split_once(" - ")?.0))
        .collect()
}

/// Parses `0xC0,0x2F`.
pub(crate) fn pair(text: &str) -> Option<u16> {
    let (high, low) = text.split_once(',')?;
    let bytes = [high, low].map(|it| u8::from_str_radix(it.trim_start_matches("0x"), 16).ok());
    Some(u16::from_be_bytes([bytes[0]?, bytes[1]?]))
}
