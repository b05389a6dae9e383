use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use netbench_model::{
    Alpn, Condition, KeyType, LabProfile, Profile, Role, SignatureScheme, Switch, TlsVersion,
};
use netbench_protocol::{Operation, ResponseBody};
use netbench_runner::WorkerProgram;
use tempfile::TempDir;

use crate::{
    bench::{configure, connect, describe, profile, start},
    cases::{Agreed, Case, good, offer_only},
    findings::error_of,
    judge::{self, Connector},
    site::{HOST, OnlySite},
};

/// Time limit of another program.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

pub(crate) fn run(program: &WorkerProgram, stack: &str) -> Result<Vec<String>, String> {
    let mut wrong = Vec::new();
    for key in [KeyType::Rsa2048, KeyType::EcdsaP256] {
        let site = OnlySite::with_key(stack, key)?;
        let folder = Files::new(&site)?;
        for version in TlsVersion::OFFERED.iter().copied() {
            let checked = to_server(program, stack, &folder, &site.roots_pem, version, key);
            wrong.extend(error_of(format!("to s_server, {version}, {key}"), checked));
        }
        let mut server = start(program)?;
        let address = site.serve(&mut server, stack)?;
        for version in TlsVersion::OFFERED.iter().copied() {
            let checked = from_client(&folder, address, version);
            wrong.extend(error_of(
                format!("from s_client, {version}, {key}"),
                checked,
            ));
        }
    }
    wrong.extend(old_versions(program, stack)?);
    Ok(wrong)
}

/// Checks a site with TLS 1.0 and 1.1, with a client at security level 0, if the stack has these versions.
fn old_versions(program: &WorkerProgram, stack: &str) -> Result<Option<String>, String> {
    let mut server = start(program)?;
    let can = describe(&mut server, stack)?;
    if !can.does(Operation::DeprecatedVersions) {
        return Ok(None);
    }
    let profile = LabProfile {
        tls: vec![TlsVersion::Tls10, TlsVersion::Tls11],
        ocsp: Switch::On,
        ..LabProfile::default()
    };
    let site = OnlySite::new(stack, HOST, profile)?;
    let folder = Files::new(&site)?;
    let address = site.serve(&mut server, stack)?;
    let mut versions = [TlsVersion::Tls10, TlsVersion::Tls11].into_iter();
    Ok(versions.find_map(|version| {
        let checked = from_client(&folder, address, version);
        error_of(format!("from s_client, {version}"), checked)
    }))
}

/// The certificates in files for other programs, in a folder that only this user can read.
pub(crate) struct Files(TempDir);

impl Files {
    pub(crate) fn new(site: &OnlySite) -> Result<Self, String> {
        const END: &str = "-----END CERTIFICATE-----\n";
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let server = &site.server;
        let (leaf, rest) = server
            .chain_pem
            .split_once(END)
            .ok_or("the chain is not PEM")?;
        let leaf = format!("{leaf}{END}");
        for (name, text) in [
            ("leaf", leaf.as_str()),
            ("chain", rest),
            ("whole", &server.chain_pem),
            ("key", &server.key_pem),
            ("roots", &site.roots_pem),
        ] {
            fs::write(folder.path().join(name), text).map_err(|e| e.to_string())?;
        }
        Ok(Self(folder))
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }
}

/// A process that is killed when the value is dropped.
pub(crate) struct Ended(pub(crate) Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A running `openssl` command.
pub(crate) struct OpenSslCommand(Ended);

impl OpenSslCommand {
    fn start(arguments: &[&str]) -> Result<Self, String> {
        Self::start_in(arguments, ".")
    }

    /// Starts the command in a folder, whose files a server may serve.
    pub(crate) fn start_in(arguments: &[&str], folder: &str) -> Result<Self, String> {
        Command::new("openssl")
            .args(arguments)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map(|child| Self(Ended(child)))
            .map_err(|e| e.to_string())
    }

    /// Returns the address of a server that listens on any port.
    pub(crate) fn address(&mut self) -> Result<SocketAddr, String> {
        self.read_until(|text| {
            let line = text.lines().find_map(|line| line.strip_prefix("ACCEPT "))?;
            line.trim().parse::<SocketAddr>().ok()
        })
    }

    /// Reads the output of the command until `done` returns a value.
    fn read_until<T: Send + 'static>(
        &mut self,
        done: impl Fn(&str) -> Option<T> + Send + 'static,
    ) -> Result<T, String> {
        let stdout = self.0.0.stdout.take().ok_or("no pipe")?;
        let (sender, found) = mpsc::channel();
        thread::spawn(move || {
            let mut text = String::new();
            // The limit bounds the memory; the command prints far less.
            let mut reader = BufReader::new(stdout.take(1 << 20));
            loop {
                let more = reader.read_line(&mut text).unwrap_or(0);
                if let Some(result) = done(&text) {
                    let _ = sender.send(Ok(result));
                    // Reading continues, so that the command never blocks on its output.
                    let _ = std::io::copy(&mut reader, &mut std::io::sink());
                    return;
                }
                if more == 0 {
                    let _ = sender.send(Err(text));
                    return;
                }
            }
        });
        match found.recv_timeout(LIMIT) {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(text)) => Err(format!("the command ended after: {text}")),
            Err(_) => Err(format!(
                "the command printed no valid answer within {LIMIT:?}"
            )),
        }
    }
}

fn flag(version: TlsVersion) -> &'static str {
    match version {
        TlsVersion::Tls10 => "-tls1",
        TlsVersion::Tls11 => "-tls1_1",
        TlsVersion::Tls13 => "-tls1_3",
        _ => "-tls1_2",
    }
}

/// Makes a full and a resumed connection to `openssl s_server`.
fn to_server(
    program: &WorkerProgram,
    stack: &str,
    files: &Files,
    roots_pem: &str,
    version: TlsVersion,
    key: KeyType,
) -> Result<(), String> {
    let (leaf, chain, key_file) = (files.path("leaf"), files.path("chain"), files.path("key"));
    let mut server = OpenSslCommand::start(&[
        "s_server",
        "-accept",
        "127.0.0.1:0",
        "-www",
        "-cert",
        &leaf,
        "-cert_chain",
        &chain,
        "-key",
        &key_file,
        "-alpn",
        "http/1.1",
        flag(version),
    ])?;
    let address = server.address()?;
    let visits = Visits {
        address,
        version,
        key,
        alpn: Alpn::Http11,
    };
    visits.judge(program, stack, roots_pem)
}

/// A full and a resumed connection to a server that is independent of netbench.
pub(crate) struct Visits {
    pub(crate) address: SocketAddr,
    /// The version, key and protocol that must be negotiated.
    pub(crate) version: TlsVersion,
    pub(crate) key: KeyType,
    pub(crate) alpn: Alpn,
}

impl Visits {
    pub(crate) fn judge(
        &self,
        program: &WorkerProgram,
        stack: &str,
        roots_pem: &str,
    ) -> Result<(), String> {
        let mut worker = start(program)?;
        let can = describe(&mut worker, stack)?;
        let mut case = Case {
            name: HOST.to_owned(),
            condition: Condition::Resumed,
            ..good("")
        };
        let settings = &mut case.client;
        offer_only(&can, settings);
        settings.profile = profile(&mut worker, &can)?;
        settings.versions = vec![self.version];
        settings.alpn = vec![self.alpn];
        let mut due = Agreed {
            version: self.version,
            group: settings.groups.first().copied(),
            signatures: match self.key {
                KeyType::Rsa2048 => &[SignatureScheme::RSA_PSS_RSAE_SHA256],
                _ => &[SignatureScheme::ECDSA_SECP256R1_SHA256],
            },
            alpn: Some(self.alpn),
            ..case.due.clone()
        };
        if settings.profile == Profile::Library {
            // The library's default groups and schemes may differ.
            (due.group, due.signatures) = (None, &[]);
        }
        configure(&mut worker, stack, &case, roots_pem)?;
        let (address, condition) = (self.address, case.condition);
        let prime = connect(&mut worker, &case, address, condition, Role::Prime)?;
        if matches!(prime, ResponseBody::Unsupported { .. }) {
            let clean = Condition::Clean;
            let full = connect(&mut worker, &case, address, clean, Role::Measured)?;
            return judge::judge_foreign(&due, Connector::Made, &full);
        }
        judge::judge_foreign(&due, Connector::Made, &prime).map_err(|e| format!("prime: {e}"))?;
        due.resumed = true;
        due.signatures = &[];
        due.group = due.group.filter(|_| self.version == TlsVersion::Tls13);
        let resumed = connect(&mut worker, &case, address, condition, Role::Measured)?;
        judge::judge_foreign(&due, Connector::Kept, &resumed).map_err(|e| format!("resumed: {e}"))
    }
}

/// Checks the output of `openssl s_client` with a server.
fn from_client(files: &Files, address: SocketAddr, version: TlsVersion) -> Result<(), String> {
    let (roots, address) = (files.path("roots"), address.to_string());
    let mut client = OpenSslCommand::start(&[
        "s_client",
        "-connect",
        &address,
        "-servername",
        HOST,
        "-verify_hostname",
        HOST,
        "-verify_return_error",
        "-CAfile",
        &roots,
        "-alpn",
        "http/1.1",
        "-status",
        "-cipher",
        match version.is_deprecated() {
            true => "DEFAULT:@SECLEVEL=0",
            false => "DEFAULT",
        },
        flag(version),
    ])?;
    if let Some(stdin) = client.0.0.stdin.as_mut() {
        let request = format!("GET / HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n");
        // A refused handshake closes the pipe; the output of the command contains the reason.
        let _ = stdin.write_all(request.as_bytes());
        let _ = stdin.flush();
    }
    let text = client.read_until(|text| text.contains("</p>").then(|| text.to_owned()))?;
    for due in [
        "OCSP Response Status: successful",
        "ALPN protocol: http/1.1",
        "Verify return code: 0 (ok)",
        "HTTP/1.1 200 OK",
        "x-netbench-server: ",
    ] {
        if !text.contains(due) {
            return Err(format!("no {due:?} in: {text}"));
        }
    }
    Ok(())
}
