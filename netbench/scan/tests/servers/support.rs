//! Servers in processes, their certificates, and scans of them.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    process::{Child, Command, Stdio},
    sync::{Arc, atomic::AtomicBool, mpsc},
    thread,
    time::Duration,
};

use netbench_model::{
    scan::SiteScan,
    tls::{Authentication, CipherSuite, TlsVersion},
};
use netbench_scan::{Limits, Place, ScanClient, ScanPart, ScanTarget, TrustAnchors, scan_all};
use rcgen::{BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use tempfile::TempDir;

/// The site's name in all tests.
pub(crate) const HOST: &str = "scan.test";

/// The time limit for the start of a program.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// The kind of a server's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Rsa,
    EcdsaP256,
}

/// A folder with a chain of a leaf and its issuer, and the leaf's key; deleted when this value is dropped.
pub(crate) struct Files {
    folder: TempDir,
    pub(crate) root_pem: String,
}

impl Files {
    pub(crate) fn new(key: Key) -> Self {
        Self::with_subject(key, HOST)
    }

    /// Creates the files with a leaf whose subject has this common name.
    pub(crate) fn with_subject(key: Key, subject: &str) -> Self {
        let (chain, leaf_key, root_pem) = chain(key, subject);
        let folder = tempfile::tempdir().unwrap();
        let files = Self { folder, root_pem };
        files.write("key.pem", &leaf_key.serialize_pem());
        files.write_bytes("key.der", &leaf_key.serialize_der());
        for (name, certificate) in ["leaf", "ca"].iter().zip(&chain) {
            files.write(&format!("{name}.pem"), &certificate.pem());
            files.write_bytes(&format!("{name}.der"), certificate.der());
        }
        files.write(
            "whole.pem",
            &chain.map(|certificate| certificate.pem()).concat(),
        );
        files
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        self.write_bytes(name, text.as_bytes())
    }

    fn write_bytes(&self, name: &str, contents: &[u8]) -> String {
        let path = self.path(name);
        fs::write(&path, contents).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }
}

/// Returns a leaf and the intermediate that issued it; the leaf's key; the root, as PEM.
fn chain(key: Key, subject: &str) -> ([Certificate; 2], KeyPair, String) {
    let root_key = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
    let root_pem = authority("root").self_signed(&root_key).unwrap().pem();
    let root = Issuer::new(authority("root"), root_key);
    let middle_key = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
    let middle = authority("intermediate").signed_by(&middle_key, &root);
    let issuer = Issuer::new(authority("intermediate"), middle_key);
    let leaf_key = match key {
        Key::Rsa => {
            KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, rcgen::RsaKeySize::_2048).unwrap()
        }
        Key::EcdsaP256 => KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap(),
    };
    let mut leaf = CertificateParams::new([HOST.to_owned()]).unwrap();
    leaf.distinguished_name.push(DnType::CommonName, subject);
    let leaf = leaf.signed_by(&leaf_key, &issuer).unwrap();
    ([leaf, middle.unwrap()], leaf_key, root_pem)
}

fn authority(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
}

/// A server's process; it ends when this value is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Starts a process that writes its listening address to its standard output after `mark`.
    pub(crate) fn that_says(mut command: Command, mark: &'static str) -> Self {
        let name = format!("{:?}", command.get_program());
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("{name} is needed for this test: {e}"));
        let mut errors = child.stderr.take().unwrap();
        let stdout = child.stdout.take().unwrap();
        let (told, said) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line).into_owned();
                if let Some((_, address)) = line.split_once(mark) {
                    // The test may have given up; the rest is read so that no pipe fills.
                    let _ = told.send(address.trim().to_owned());
                }
            }
        });
        let Ok(address) = said.recv_timeout(LIMIT) else {
            let _ = child.kill();
            let mut words = String::new();
            let _ = errors.read_to_string(&mut words);
            let _ = child.wait();
            panic!("{name} does not say where it listens: {words}");
        };
        thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
        let address = address.parse().unwrap();
        Self { child, address }
    }

    /// Returns a server of a process that listens at the requested address.
    pub(crate) fn at(child: Child, address: SocketAddr) -> Self {
        Self { child, address }
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }
}

/// Returns an address that is currently free.
pub(crate) fn free_address() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap()
}

pub(crate) fn target(address: SocketAddr) -> ScanTarget {
    ScanTarget {
        site: HOST.to_owned(),
        host: HOST.to_owned(),
        port: address.port(),
        path: "/".to_owned(),
        place: Place::At(address),
        start_tls: None,
    }
}

/// Returns limits for a busy machine: no server that answers counts as silent.
pub(crate) fn limits(parts: &[ScanPart]) -> Limits {
    Limits {
        timeout: Duration::from_secs(20),
        site_timeout: Duration::from_secs(300),
        parts: parts.to_vec(),
        ..Limits::default()
    }
}

pub(crate) fn scan_with(address: SocketAddr, limits: Limits, roots: TrustAnchors) -> SiteScan {
    scan_target(target(address), limits, roots)
}

pub(crate) fn scan_target(
    target: ScanTarget,
    limits: Limits,
    client: impl Into<ScanClient>,
) -> SiteScan {
    let mut found = None;
    let stop = Arc::new(AtomicBool::new(false));
    let targets = vec![target];
    scan_all::<std::io::Error>(targets, limits, client, &stop, |scan| {
        found = Some(scan.clone());
        Ok(())
    })
    .unwrap();
    found.expect("a result for the one target")
}

pub(crate) fn scan(address: SocketAddr, parts: &[ScanPart]) -> SiteScan {
    scan_with(address, limits(parts), TrustAnchors::default())
}

/// Returns the codes of a version's suites, sorted; empty if the version is not supported.
pub(crate) fn suites(scan: &SiteScan, version: TlsVersion) -> Vec<u16> {
    let mut codes: Vec<u16> = in_order(scan, version);
    codes.sort_unstable();
    codes
}

/// Returns the codes of a version's suites, in the order of the server's choices.
pub(crate) fn in_order(scan: &SiteScan, version: TlsVersion) -> Vec<u16> {
    let found = scan.version(version).map(|v| &v.suites);
    found.into_iter().flatten().map(|s| s.code).collect()
}

/// Returns the names of a version's groups, in the order in which they were learned.
pub(crate) fn groups(scan: &SiteScan, version: TlsVersion) -> Vec<String> {
    let found = scan.version(version).map(|v| &v.groups);
    found
        .into_iter()
        .flatten()
        .map(|g| g.name.clone())
        .collect()
}

/// Returns whether a server with such a key can use the suite.
pub(crate) fn usable(code: u16, key: Key) -> bool {
    let Some(suite) = CipherSuite(code).facts() else {
        return false;
    };
    match suite.authentication {
        Authentication::Any | Authentication::Anonymous => true,
        Authentication::Rsa => key == Key::Rsa,
        Authentication::Ecdsa => key == Key::EcdsaP256,
        _ => false,
    }
}

/// Returns these numbers as an argument of the server in Go.
pub(crate) fn hex(codes: &[u16]) -> String {
    let words: Vec<String> = codes.iter().map(|code| format!("{code:x}")).collect();
    words.join(",")
}

/// Returns the text of a scan for a failed test.
pub(crate) fn shown(scan: &SiteScan) -> String {
    serde_json::to_string_pretty(scan).unwrap()
}
