//! The start of each server in a setting, and the suites that it then accepts by its own account.

use std::{
    fs,
    net::SocketAddr,
    process::{Command, Stdio},
};

use netbench_model::tls::{CipherSuite, TlsVersion};
use netbench_testing::program;

use crate::{
    nss::nss_database,
    programs::{listed, nginx, pair, s_server, wait_until_it_listens},
    settings::{Program, Setting},
    support::{Files, HOST, Key, Server, free_address, hex, usable},
};

pub(crate) enum Started {
    /// A server, and the codes that it accepts in each version.
    Serves(Server, Vec<(TlsVersion, Vec<u16>)>),
    /// The program is not installed.
    Skipped(String),
}

/// OpenSSL's default suites of TLS 1.3.
const DEFAULT_13: &[u16] = &[0x1301, 0x1302, 0x1303];

pub(crate) fn start(setting: &Setting, files: &Files) -> Started {
    let program_name = match setting.program {
        Program::Openssl => "openssl",
        Program::Nginx => "nginx",
        Program::Apache => "apache2",
        Program::Haproxy => "haproxy",
        Program::Stunnel => "stunnel4",
        Program::Node => "node",
        Program::Gnutls => "gnutls-serv",
        Program::Nss => "selfserv",
        Program::Go => "go",
    };
    if program(program_name).is_none() {
        return Started::Skipped(format!("{program_name} is not installed"));
    }
    let pair = ["whole.pem", "key.pem"].map(|name| files.read(name));
    files.write("pair.pem", &pair.concat());
    let due = due(setting);
    let server = match setting.program {
        Program::Openssl => openssl(setting, files),
        Program::Nginx => nginx(files, &of_nginx(setting, files)),
        Program::Apache => configured(files, of_apache(setting, files), "apache2", &["-X", "-f"]),
        Program::Haproxy => configured(files, of_haproxy(setting, files), "haproxy", &["-q", "-f"]),
        Program::Stunnel => configured(files, of_stunnel(setting, files), "stunnel4", &[]),
        Program::Node => configured(files, of_node(setting, files), "node", &[]),
        Program::Gnutls => gnutls(setting, files),
        Program::Nss => nss(setting, files),
        Program::Go => go(setting, files),
    };
    Started::Serves(server, due)
}

fn spoken(setting: &Setting) -> Vec<TlsVersion> {
    let (oldest, newest) = setting.versions;
    let all = TlsVersion::ALL.into_iter();
    all.filter(|it| (oldest..=newest).contains(it)).collect()
}

/// Returns the suites that the server accepts: by `openssl ciphers`, by `gnutls-cli --list`, or by the given codes.
fn due(setting: &Setting) -> Vec<(TlsVersion, Vec<u16>)> {
    let spoken = spoken(setting).into_iter();
    let all = spoken.map(|version| (version, due_in(version, setting)));
    all.filter(|(_, codes)| !codes.is_empty()).collect()
}

fn due_in(version: TlsVersion, setting: &Setting) -> Vec<u16> {
    let mut codes = match setting.program {
        Program::Gnutls => by_gnutls(setting.list, version),
        Program::Nss | Program::Go => by_codes(setting, version),
        _ if version == TlsVersion::Tls13 => match setting.newest {
            [] => DEFAULT_13.to_vec(),
            names => CipherSuite::registered()
                .filter(|code| {
                    code.facts()
                        .is_some_and(|suite| names.contains(&suite.name))
                })
                .map(|code| code.0)
                .collect(),
        },
        _ => listed(&[setting.list], version),
    };
    codes.retain(|code| usable(*code, setting.key));
    // Apache removes these from any list, and the others cannot serve them without separate parameters.
    if setting.program != Program::Openssl && setting.program != Program::Nginx {
        codes.retain(|code| {
            let suite = CipherSuite(*code).facts();
            suite.is_none_or(|suite| !suite.name.contains("_anon_"))
        });
    }
    codes
}

fn by_gnutls(priority: &str, version: TlsVersion) -> Vec<u16> {
    let ran = Command::new("gnutls-cli")
        .args(["--list", "--priority", priority])
        .output()
        .unwrap();
    let text = String::from_utf8(ran.stdout).unwrap();
    let codes = text.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, high, low, _] = words[..] else {
            return None;
        };
        name.starts_with("TLS_")
            .then(|| pair(&format!("{high}{low}")))?
    });
    codes.filter(|code| fits(*code, version)).collect()
}

/// Returns the suites of NSS and Go. NSS has suites of TLS 1.3 in its list; Go always has all three of its own.
fn by_codes(setting: &Setting, version: TlsVersion) -> Vec<u16> {
    if setting.program == Program::Go && version == TlsVersion::Tls13 {
        return DEFAULT_13.to_vec();
    }
    codes(setting.list)
        .filter(|code| fits(*code, version))
        .collect()
}

fn fits(code: u16, version: TlsVersion) -> bool {
    let suite = CipherSuite(code).facts();
    suite.is_some_and(|suite| suite.fits(version))
}

fn codes(list: &str) -> impl Iterator<Item = u16> {
    list.split(' ')
        .map(|word| u16::from_str_radix(word, 16).unwrap())
}

fn openssl(setting: &Setting, files: &Files) -> Server {
    let newest = setting.newest.join(":");
    let mut arguments = vec!["-www"];
    if !setting.list.is_empty() {
        arguments.extend(["-cipher", setting.list]);
    }
    if !newest.is_empty() {
        arguments.extend(["-ciphersuites", &newest]);
    }
    let refused = [
        (TlsVersion::Tls10, "-no_tls1"),
        (TlsVersion::Tls11, "-no_tls1_1"),
        (TlsVersion::Tls12, "-no_tls1_2"),
        (TlsVersion::Tls13, "-no_tls1_3"),
    ];
    let spoken = spoken(setting);
    let refused = refused
        .into_iter()
        .filter(|(version, _)| !spoken.contains(version));
    arguments.extend(refused.map(|(_, flag)| flag));
    s_server(files, &arguments)
}

/// Creates parameters of a finite field (RFC 7919), which some servers need for suites with DHE.
fn parameters(files: &Files) -> String {
    let path = files.path("ffdhe2048.pem");
    let arguments = [
        "genpkey",
        "-genparam",
        "-algorithm",
        "DH",
        "-pkeyopt",
        "dh_param:ffdhe2048",
        "-out",
        &path,
    ];
    assert!(
        Command::new("openssl")
            .args(arguments)
            .status()
            .unwrap()
            .success()
    );
    path
}

fn names(setting: &Setting, name: fn(TlsVersion) -> String) -> String {
    spoken(setting)
        .into_iter()
        .map(name)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Formats a version like nginx and Apache.
fn tlsv1(version: TlsVersion) -> String {
    match version {
        TlsVersion::Tls10 => "TLSv1".to_owned(),
        version => format!("TLSv{version}"),
    }
}

fn of_nginx(setting: &Setting, files: &Files) -> String {
    let newest = match setting.newest {
        [] => String::new(),
        names => format!("ssl_conf_command Ciphersuites {};", names.join(":")),
    };
    format!(
        "ssl_protocols {}; ssl_ciphers {}; ssl_dhparam {}; {newest}",
        names(setting, tlsv1),
        setting.list,
        parameters(files)
    )
}

fn of_apache(setting: &Setting, files: &Files) -> impl Fn(SocketAddr) -> (String, String) {
    let modules = ["mpm_event", "authz_core", "ssl", "socache_shmcb"];
    let modules: String = modules
        .map(|name| format!("LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n"))
        .concat();
    let newest = match setting.newest {
        [] => String::new(),
        names => format!("SSLCipherSuite TLSv1.3 {}\n", names.join(":")),
    };
    let (chain, key) = (files.path("whole.pem"), files.path("key.pem"));
    let (pid, log, root) = (files.path("pid"), files.path("log"), files.path(""));
    let protocols = names(setting, |version| format!("+{}", tlsv1(version)));
    let list = setting.list;
    move |address| {
        let text = format!(
            "{modules}ServerRoot {root}\nServerName {HOST}\nPidFile {pid}\nErrorLog {log}\nListen {address}\n\
             DocumentRoot {root}\nSSLEngine on\nSSLProtocol -all {protocols}\nSSLCipherSuite {list}\n{newest}\
             SSLCertificateFile {chain}\nSSLCertificateKeyFile {key}\n"
        );
        ("httpd.conf".to_owned(), text)
    }
}

fn of_haproxy(setting: &Setting, files: &Files) -> impl Fn(SocketAddr) -> (String, String) {
    let newest = match setting.newest {
        [] => String::new(),
        names => format!("ciphersuites {}", names.join(":")),
    };
    let (pair, parameters) = (files.path("pair.pem"), parameters(files));
    let (oldest, last) = setting.versions;
    let list = setting.list;
    move |address| {
        let text = format!(
            "global\n  ssl-dh-param-file {parameters}\ndefaults\n  mode http\n  timeout client 20s\n  \
             timeout connect 5s\n  timeout server 20s\n  timeout http-request 20s\nfrontend tls\n  \
             bind {address} ssl crt {pair} ciphers {list} {newest} ssl-min-ver {} ssl-max-ver {}\n  \
             http-request return status 200\n",
            of_haproxy_version(oldest),
            of_haproxy_version(last)
        );
        ("haproxy.cfg".to_owned(), text)
    }
}

fn of_haproxy_version(version: TlsVersion) -> String {
    format!("TLSv{version}")
}

fn of_stunnel(setting: &Setting, files: &Files) -> impl Fn(SocketAddr) -> (String, String) {
    let newest = match setting.newest {
        [] => String::new(),
        names => format!("ciphersuites = {}\n", names.join(":")),
    };
    let (chain, key, pid) = (
        files.path("whole.pem"),
        files.path("key.pem"),
        files.path("pid"),
    );
    let (oldest, last) = setting.versions;
    let list = setting.list;
    move |address| {
        let text = format!(
            "foreground = yes\npid = {pid}\n[tls]\naccept = {address}\nconnect = 127.0.0.1:9\ncert = {chain}\n\
             key = {key}\nciphers = {list}\n{newest}sslVersionMin = {}\nsslVersionMax = {}\n",
            tlsv1(oldest),
            tlsv1(last)
        );
        ("stunnel.conf".to_owned(), text)
    }
}

fn of_node(setting: &Setting, files: &Files) -> impl Fn(SocketAddr) -> (String, String) {
    let (chain, key) = (files.path("whole.pem"), files.path("key.pem"));
    let (oldest, last) = setting.versions;
    // Its suites of TLS 1.3 are in the same list.
    let list = format!(
        "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256:{}",
        setting.list
    );
    move |address| {
        let text = format!(
            "const fs = require('fs');\nrequire('https').createServer({{ cert: fs.readFileSync('{chain}'), key: \
             fs.readFileSync('{key}'), ciphers: '{list}', minVersion: '{}', maxVersion: '{}' }}, (_, answer) => \
             answer.end('a page')).listen({}, '{}');\n",
            tlsv1(oldest),
            tlsv1(last),
            address.port(),
            address.ip()
        );
        ("server.js".to_owned(), text)
    }
}

/// Starts a program that reads a configuration, which is made for a free address.
fn configured(
    files: &Files,
    configuration: impl Fn(SocketAddr) -> (String, String),
    name: &str,
    before: &[&str],
) -> Server {
    for _ in 0..5 {
        let address = free_address();
        let (file, text) = configuration(address);
        let path = files.write(&file, &text);
        let mut command = Command::new(program(name).unwrap());
        command.args(before).arg(&path);
        if let Some(server) = begun(command, address, files) {
            return server;
        }
    }
    panic!(
        "{name} does not listen: {}",
        fs::read_to_string(files.path("said")).unwrap_or_default()
    );
}

/// Returns the process as soon as it listens.
fn begun(mut command: Command, address: SocketAddr, files: &Files) -> Option<Server> {
    let said = fs::File::create(files.path("said")).unwrap();
    command
        .env("OPENSSL_CONF", "/dev/null")
        .stdin(Stdio::null());
    let child = command
        .stdout(said.try_clone().unwrap())
        .stderr(said)
        .spawn()
        .unwrap();
    let mut server = Server::at(child, address);
    wait_until_it_listens(&mut server, address).then_some(server)
}

fn gnutls(setting: &Setting, files: &Files) -> Server {
    let address = free_address();
    let mut command = Command::new("gnutls-serv");
    command.args([
        "--http",
        "--port",
        &address.port().to_string(),
        "--priority",
        setting.list,
    ]);
    command.args([
        "--x509certfile",
        &files.path("whole.pem"),
        "--x509keyfile",
        &files.path("key.pem"),
    ]);
    begun(command, address, files).expect("gnutls-serv listens")
}

/// Starts NSS's own server, with a separate database.
fn nss(setting: &Setting, files: &Files) -> Server {
    let address = free_address();
    let folder = files.path(&format!("nss-{}", address.port()));
    fs::create_dir_all(&folder).unwrap();
    let database = nss_database(files, &folder);
    let list: String = codes(setting.list)
        .map(|code| format!(":{code:04X}"))
        .collect();
    let (oldest, newest) = setting.versions;
    let mut command = Command::new("selfserv");
    command.args([
        "-d",
        &database,
        "-n",
        "leaf",
        "-V",
        &format!("tls{oldest}:tls{newest}"),
        "-c",
        &list,
    ]);
    command.args(["-p", &address.port().to_string()]);
    if setting.key == Key::EcdsaP256 {
        command.args(["-e", "leaf"]);
    }
    begun(command, address, files).expect("selfserv listens")
}

fn go(setting: &Setting, files: &Files) -> Server {
    let source = include_str!("../../tests/servers/server.go");
    let folder = files.path("go");
    fs::create_dir_all(&folder).unwrap();
    files.write("go/main.go", source);
    files.write("go/go.mod", "module server\n\ngo 1.19\n");
    let built = Command::new("go")
        .current_dir(&folder)
        .envs([
            ("GOFLAGS", "-mod=mod"),
            ("GOPROXY", "off"),
            ("GOTOOLCHAIN", "local"),
        ])
        .args(["build", "-o", "server", "."])
        .output()
        .unwrap();
    assert!(built.status.success(), "{built:?}");
    let (oldest, newest) = setting.versions;
    let suites: Vec<u16> = codes(setting.list).collect();
    let mut command = Command::new(files.path("go/server"));
    command.args([files.path("whole.pem"), files.path("key.pem")]);
    command.args([hex(&[oldest.code()]), hex(&[newest.code()])]);
    command.args([hex(&suites), hex(&[0x1d, 0x17])]);
    Server::that_says(command, "LISTENS ")
}
