use std::{
    fs,
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use netbench_model::{Alpn, KeyType, TlsVersion};
use netbench_runner::WorkerProgram;

use crate::{
    bench::closed_port,
    findings::error_of,
    foreign::{Ended, Files, LIMIT, Visits},
    site::{HOST, OnlySite},
};

/// Makes `stack` of the worker `program` connect to `nginx`, and returns the errors.
pub(crate) fn run(
    nginx: &Path,
    program: &WorkerProgram,
    stack: &str,
) -> Result<Vec<String>, String> {
    let mut wrong = Vec::new();
    for key in [KeyType::Rsa2048, KeyType::EcdsaP256] {
        let site = OnlySite::with_key(stack, key)?;
        let files = Files::new(&site)?;
        let (address, _server) = start(nginx, &files)?;
        for version in TlsVersion::OFFERED.iter().copied() {
            for alpn in Alpn::ALL.iter().copied() {
                let visits = Visits {
                    address,
                    version,
                    key,
                    alpn,
                };
                let judged = visits.judge(program, stack, &site.roots_pem);
                wrong.extend(error_of(
                    format!("to nginx, {version}, {alpn}, {key}"),
                    judged,
                ));
            }
        }
    }
    Ok(wrong)
}

/// Starts nginx with one site, as a single process in the foreground, which only writes to its folder.
fn start(nginx: &Path, files: &Files) -> Result<(SocketAddr, Ended), String> {
    // Another process may bind the free port before nginx does.
    start_once(nginx, files)
        .or_else(|_| start_once(nginx, files))
        .or_else(|_| start_once(nginx, files))
}

fn start_once(nginx: &Path, files: &Files) -> Result<(SocketAddr, Ended), String> {
    let address = closed_port()?;
    let configuration = format!(
        "daemon off; master_process off; pid {pid}; error_log {log};\n\
         events {{}}\n\
         http {{ access_log off;\n\
         client_body_temp_path {temp}; proxy_temp_path {temp}; fastcgi_temp_path {temp};\n\
         uwsgi_temp_path {temp}; scgi_temp_path {temp};\n\
         server {{ listen {address} ssl http2; server_name {HOST};\n\
         ssl_certificate {chain}; ssl_certificate_key {key}; ssl_protocols TLSv1.2 TLSv1.3;\n\
         location / {{ return 200 'A page of a server that knows nothing of netbench.'; }} }} }}\n",
        pid = files.path("pid"),
        log = files.path("log"),
        temp = files.path("temp"),
        chain = files.path("whole"),
        key = files.path("key"),
    );
    let path = files.path("nginx.conf");
    fs::write(&path, configuration).map_err(|e| e.to_string())?;
    let log = files.path("log");
    let child = Command::new(nginx)
        .args(["-c", &path, "-e", &log])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| e.to_string())?;
    let mut server = Ended(child);
    let deadline = Instant::now() + LIMIT;
    while TcpStream::connect(address).is_err() {
        let ended = server.0.try_wait().map_err(|e| e.to_string())?;
        if ended.is_some() || Instant::now() > deadline {
            let words = fs::read_to_string(&log).unwrap_or_default();
            return Err(format!("nginx does not listen: {words}"));
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok((address, server))
}
