//! Go's crypto/tls: an implementation independent of OpenSSL, with its own order.

use std::process::Command;

use netbench_model::{
    scan::{Observed, Order},
    tls::{CipherSuite, TlsVersion},
};
use netbench_scan::ScanPart;
use netbench_testing::Tool;
use tempfile::TempDir;

use crate::oracle::Truth;
use crate::support::{Files, Key, Server, groups, hex, scan, shown, suites, usable};

const SOURCE: &str = include_str!("server.go");

/// Builds the server's program into a separate folder.
fn build() -> TempDir {
    let go = Tool::Go.path().unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("main.go"), SOURCE).unwrap();
    std::fs::write(folder.path().join("go.mod"), "module server\n\ngo 1.19\n").unwrap();
    let built = Command::new(go)
        .current_dir(folder.path())
        .env("GOFLAGS", "-mod=mod")
        .env("GOPROXY", "off")
        .env("GOTOOLCHAIN", "local")
        .args(["build", "-o", "server", "."])
        .output()
        .unwrap();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    folder
}

struct Setting {
    key: Key,
    versions: &'static [TlsVersion],
    /// The settings of the server below TLS 1.3, in an order that it ignores.
    suites: &'static [u16],
    groups: &'static [u16],
    names: &'static [&'static str],
}

pub(crate) fn suites_agree_with_the_setting_one_by_one() {
    use TlsVersion::{Tls10, Tls11, Tls12, Tls13};
    let folder = build();
    const ALL: &[u16] = &[
        0x0005, 0x000a, 0x002f, 0x0035, 0x003c, 0x009c, 0x009d, 0xc007, 0xc009, 0xc00a, 0xc011,
        0xc012, 0xc013, 0xc014, 0xc023, 0xc027, 0xc02b, 0xc02c, 0xc02f, 0xc030, 0xcca8, 0xcca9,
    ];
    let settings = [
        Setting {
            key: Key::Rsa,
            versions: &[Tls10, Tls11, Tls12, Tls13],
            suites: ALL,
            groups: &[0x1d, 0x17, 0x18, 0x19],
            names: &["secp256r1", "secp384r1", "secp521r1", "x25519"],
        },
        Setting {
            key: Key::EcdsaP256,
            versions: &[Tls12],
            suites: ALL,
            groups: &[0x17, 0x18],
            names: &["secp256r1", "secp384r1"],
        },
        Setting {
            key: Key::Rsa,
            versions: &[Tls12, Tls13],
            suites: &[0x009c, 0xc02f],
            groups: &[0x1d],
            names: &["x25519"],
        },
        Setting {
            key: Key::EcdsaP256,
            versions: &[Tls13],
            suites: &[],
            groups: &[0x18, 0x1d],
            names: &["secp384r1", "x25519"],
        },
    ];
    for setting in settings {
        check(&folder, &setting);
    }
}

fn check(folder: &TempDir, setting: &Setting) {
    let files = Files::new(setting.key);
    let (oldest, newest) = (
        setting.versions[0],
        setting.versions[setting.versions.len() - 1],
    );
    let mut command = Command::new(folder.path().join("server"));
    command.args([files.path("whole.pem"), files.path("key.pem")]);
    command.args([hex(&[oldest.code()]), hex(&[newest.code()])]);
    command.args([hex(setting.suites), hex(setting.groups)]);
    let server = Server::that_says(command, "LISTENS ");
    let found = scan(server.address, ScanPart::ALL);
    Truth::of(server.address).is_found_by(&found, "Go");
    for version in TlsVersion::ALL {
        let mut due: Vec<u16> = match version {
            _ if !setting.versions.contains(&version) => Vec::new(),
            TlsVersion::Tls13 => vec![0x1301, 0x1302, 0x1303],
            _ => setting.suites.to_vec(),
        };
        due.retain(|code| {
            let suite = CipherSuite(*code).facts().unwrap();
            usable(*code, setting.key) && suite.fits(version)
        });
        due.sort_unstable();
        assert_eq!(suites(&found, version), due, "{version}: {}", shown(&found));
        if let Some(entry) = found.version(version).filter(|_| due.len() > 2) {
            assert_eq!(
                entry.suite_order,
                Order::Server,
                "{version}: {}",
                shown(&found)
            );
        }
    }
    let mut names = groups(&found, newest);
    names.sort_unstable();
    assert_eq!(names, setting.names, "{}", shown(&found));
    let f = &found.features;
    if setting.versions.contains(&TlsVersion::Tls13) && setting.groups.len() > 1 {
        assert_eq!(f.share_order, Some(Order::Server), "{}", shown(&found));
    }
    assert_eq!(f.http_status, Some(418), "{}", shown(&found));
    assert_eq!(f.alpn, ["http/1.1"], "{}", shown(&found));
    if newest == TlsVersion::Tls13 {
        assert_eq!(f.resumption_tls13, Observed::Yes, "{}", shown(&found));
    }
}
