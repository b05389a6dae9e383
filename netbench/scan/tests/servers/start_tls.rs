//! Servers that are asked for TLS in plain text.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    os::unix::fs::{PermissionsExt, chown},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use netbench_model::{
    StartTls,
    scan::{FailedClass, ScanOutcome, SiteScan},
    tls::TlsVersion,
};
use netbench_scan::{
    ScanPart, TrustAnchors,
    codec::{StartTlsDialogue, StartTlsStep},
};
use netbench_testing::Tool;

use crate::{
    fronts::join,
    libraries::serve,
    oracle::Truth,
    programs::wait_until_it_listens,
    replies::Hostile,
    scanners::costs_at_most_three_times_nmap,
    support::{Files, HOST, Key, Server, free_address, limits, scan_target, shown, target},
};

fn scan(address: SocketAddr, protocol: StartTls) -> SiteScan {
    let target = netbench_scan::ScanTarget {
        start_tls: Some(protocol),
        ..target(address)
    };
    scan_target(target, limits(ScanPart::ALL), TrustAnchors::default())
}

/// A server that begins with TLS, and asks this one for it, for the brute force.
fn begins_with_tls(to: SocketAddr, protocol: StartTls) -> Hostile {
    Hostile::new(move |_, client| {
        let mut server = TcpStream::connect(to).unwrap();
        server
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        let (mut dialogue, first) = StartTlsDialogue::new(protocol, HOST);
        server.write_all(&first.unwrap_or_default()).unwrap();
        let mut room = [0; 4096];
        loop {
            let count = server.read(&mut room).unwrap();
            assert!(count > 0, "{protocol}: the server is gone");
            match dialogue.push(&room[..count]) {
                StartTlsStep::Wait => {}
                StartTlsStep::Send(bytes) => server.write_all(&bytes).unwrap(),
                StartTlsStep::Handshake => break,
                StartTlsStep::Leave(why) => panic!("{protocol}: {why}"),
            }
        }
        join(client, server);
    })
}

/// Scans a server and compares it with the brute force.
fn is_found(server: &Server, protocol: StartTls) {
    let found = scan(server.address, protocol);
    let truth = Truth::of(begins_with_tls(server.address, protocol).address);
    let name = protocol.name();
    println!(
        "{name}: {} pairs, {} connections for the enumeration, {} in all, {:?}",
        truth.pairs(),
        found.effort.enumeration_connections,
        found.effort.connections,
        found.notes
    );
    truth.is_found_by(&found, name);
    assert!(!found.chains.is_empty(), "{name}: {}", shown(&found));
    assert_eq!(found.features.http_status, None, "{name}");
    let newest = found.version(TlsVersion::Tls13);
    assert!(newest.is_some(), "{name}: {}", shown(&found));
}

/// A folder that others may enter, and what is to be in it.
fn folder(files: &Files, name: &str) -> String {
    let path = files.path(name);
    std::fs::create_dir(&path).unwrap();
    let open = std::fs::Permissions::from_mode(0o755);
    for folder in [files.path(""), path.clone()] {
        std::fs::set_permissions(folder, open.clone()).unwrap();
    }
    path
}

pub(crate) fn postfix_is_enumerated() {
    let files = Files::new(Key::Rsa);
    let (settings, queue, data) = (
        folder(&files, "settings"),
        folder(&files, "queue"),
        folder(&files, "data"),
    );
    for name in ["active", "incoming", "pid", "private", "public"] {
        std::fs::create_dir(format!("{queue}/{name}")).unwrap();
    }
    let id = Command::new("id").args(["-u", "postfix"]).output().unwrap();
    let user: u32 = String::from_utf8(id.stdout)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    for owned in [format!("{queue}/private"), data.clone()] {
        chown(owned, Some(user), None).unwrap();
    }
    files.write(
        "settings/main.cf",
        &format!(
            "compatibility_level = 3.6\nqueue_directory = {queue}\ndata_directory = {data}\n\
             inet_interfaces = 127.0.0.1\ninet_protocols = ipv4\nmyhostname = {HOST}\nmydestination =\n\
             smtpd_tls_cert_file = {}\nsmtpd_tls_key_file = {}\nsmtpd_tls_security_level = may\n",
            files.path("whole.pem"),
            files.path("key.pem"),
        ),
    );
    let server = listening(|address| {
        files.write(
            "settings/master.cf",
            &format!(
                "{address} inet n - n - - smtpd\nanvil unix - - n - 1 anvil\n\
                 tlsmgr unix - - n 1000? 1 tlsmgr\n\
                 proxymap unix - - n - - proxymap\nrewrite unix - - n - - trivial-rewrite\n"
            ),
        );
        let mut command = Command::new("/usr/lib/postfix/sbin/master");
        command.args(["-d", "-c", &settings]);
        command
    });
    is_found(&server, StartTls::Smtp);
}

pub(crate) fn dovecot_is_enumerated() {
    for (protocol, name) in [(StartTls::Imap, "imap"), (StartTls::Pop3, "pop3")] {
        let files = Files::new(Key::Rsa);
        is_found(&dovecot(&files, name), protocol);
    }
}

/// Dovecot chooses suites for which it has no parameters, and closes where others send an alert.
pub(crate) fn dovecot_costs_no_more_than_three_times_the_connections_of_nmap() {
    let files = Files::new(Key::Rsa);
    let server = dovecot(&files, "imap");
    let target = netbench_scan::ScanTarget {
        start_tls: Some(StartTls::Imap),
        ..target(server.address)
    };
    let found = scan_target(target, limits(&[]), TrustAnchors::default());
    let begins = begins_with_tls(server.address, StartTls::Imap);
    costs_at_most_three_times_nmap(&found, begins.address, "Dovecot");
}

/// Starts Dovecot for one protocol.
fn dovecot(files: &Files, name: &str) -> Server {
    let base = folder(files, &format!("{name}-base"));
    serve(Tool::Dovecot, |address| {
        let configuration = format!(
            "base_dir = {base}\nstate_dir = {base}\nlog_path = {base}/log\nprotocols = {name}\n\
             listen = 127.0.0.1\nssl = required\nssl_cert = <{chain}\nssl_key = <{key}\n\
             ssl_min_protocol = TLSv1.2\ndefault_internal_user = root\ndefault_internal_group = root\n\
             default_login_user = nobody\nservice anvil {{\n chroot =\n}}\n\
             service {name}-login {{\n chroot =\n service_count = 0\n inet_listener {name} {{\n  port = {port}\n }}\n \
             inet_listener {name}s {{\n  port = 0\n }}\n}}\n\
             passdb {{\n driver = static\n args = nopassword=y\n}}\n\
             userdb {{\n driver = static\n args = uid=nobody gid=nogroup home={base}\n}}\n",
            chain = files.path("whole.pem"),
            key = files.path("key.pem"),
            port = address.port(),
        );
        let path = files.write(&format!("{name}.conf"), &configuration);
        ["-F", "-c", &path].map(str::to_owned).to_vec()
    })
}

pub(crate) fn slapd_is_enumerated() {
    let files = Files::new(Key::Rsa);
    let configuration = format!(
        "include /etc/ldap/schema/core.schema\nTLSCertificateFile {}\nTLSCertificateKeyFile {}\n\
         database monitor\n",
        files.path("whole.pem"),
        files.path("key.pem"),
    );
    let path = files.write("slapd.conf", &configuration);
    let server = serve(Tool::Slapd, |address| {
        let url = format!("ldap://{address}");
        ["-f", &path, "-h", &url, "-d", "0"]
            .map(str::to_owned)
            .to_vec()
    });
    is_found(&server, StartTls::Ldap);
}

pub(crate) fn postgresql_is_enumerated() {
    let program = Tool::Postgres.path().unwrap();
    let initdb = std::fs::canonicalize(&program)
        .unwrap()
        .with_file_name("initdb");
    let files = Files::new(Key::Rsa);
    let data = folder(&files, "data");
    give_to_nobody(Path::new(&data), 0o700);
    let made = as_nobody(&initdb)
        .args(["-D", &data, "-A", "trust", "-U", "netbench"])
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    for (from, to) in [("whole.pem", "server.crt"), ("key.pem", "server.key")] {
        let to = Path::new(&data).join(to);
        std::fs::copy(files.path(from), &to).unwrap();
        give_to_nobody(&to, 0o600);
    }
    let server = listening(|address| {
        let mut command = as_nobody(&program);
        command.args(["-D", &data, "-p", &address.port().to_string()]);
        for setting in [
            "ssl=on",
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
        ] {
            command.args(["-c", setting]);
        }
        command
    });
    is_found(&server, StartTls::Postgresql);
}

/// Returns a command that runs the program without root's rights, with which PostgreSQL refuses to run.
fn as_nobody(program: &Path) -> Command {
    if Tool::Root.missing().is_some() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "nobody", "--regid", "nogroup", "--clear-groups"]);
    command.arg(program);
    command
}

/// Sets the mode of a file, and its owner as far as this process may.
fn give_to_nobody(path: &Path, mode: u32) {
    let mode = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(path, mode).unwrap();
    if Tool::Root.missing().is_none() {
        chown(path, Some(65_534), Some(65_534)).unwrap();
    }
}

pub(crate) fn prosody_is_enumerated() {
    let files = Files::new(Key::Rsa);
    let data = folder(&files, "data");
    let server = serve(Tool::Prosody, |address| {
        let configuration = format!(
            "pidfile = \"{data}/pid\"\ndata_path = \"{data}\"\nmodules_enabled = {{ \"tls\" }}\n\
             modules_disabled = {{ \"s2s\" }}\nc2s_ports = {{ {port} }}\nc2s_interfaces = {{ \"127.0.0.1\" }}\n\
             s2s_ports = {{}}\nhttp_ports = {{}}\nhttps_ports = {{}}\nrun_as_root = true\nlog = {{}}\n\
             VirtualHost \"{HOST}\"\nssl = {{ certificate = \"{chain}\", key = \"{key}\" }}\n",
            port = address.port(),
            chain = files.path("whole.pem"),
            key = files.path("key.pem"),
        );
        let path = files.write("prosody.cfg.lua", &configuration);
        ["--config", &path, "-F"].map(str::to_owned).to_vec()
    });
    is_found(&server, StartTls::Xmpp);
}

/// Runs a program that listens where it is asked to.
pub(crate) fn listening(command: impl Fn(SocketAddr) -> Command) -> Server {
    for _ in 0..5 {
        let address = free_address();
        let child = command(address)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server begins");
        let mut server = Server::at(child, address);
        if wait_until_it_listens(&mut server, address) {
            return server;
        }
    }
    panic!("the server does not listen");
}

pub(crate) fn a_server_that_refuses_is_named_with_its_words() {
    let cases: [(&'static [u8], &'static [u8], StartTls, &str); 5] = [
        (b"554 no \x1b[31mservice\r\n", b"", StartTls::Smtp, "554 no"),
        (
            b"220 x\r\n",
            b"250 x\r\n",
            StartTls::Smtp,
            "does not offer STARTTLS",
        ),
        (
            b"SSH-2.0-OpenSSH\r\n",
            b"",
            StartTls::Imap,
            "SSH-2.0-OpenSSH",
        ),
        (b"", b"N", StartTls::Postgresql, "has no TLS"),
        (b"+OK\r\n", b"-ERR busy\r\n", StartTls::Pop3, "-ERR busy"),
    ];
    for (first, then, protocol, word) in cases {
        let server = Hostile::new(move |_, mut stream| {
            let mut room = [0; 4096];
            let _ = stream.write_all(first);
            while !then.is_empty() && stream.read(&mut room).is_ok_and(|count| count > 0) {
                let _ = stream.write_all(then);
            }
            crate::hostile::linger(stream);
        });
        let found = scan(server.address, protocol);
        let ScanOutcome::Failed { class, detail } = &found.outcome else {
            panic!("{protocol}: {}", shown(&found));
        };
        assert_eq!(*class, FailedClass::StartTls, "{protocol}: {detail}");
        assert!(detail.contains(word), "{protocol}: {detail}");
        assert!(!detail.contains('\x1b'), "{detail:?}");
    }
}
