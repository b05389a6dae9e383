//! Scans of real servers in many settings, compared with each server's own list, suite by suite.
//!
//! `cargo run -p netbench-scan --example configurations [NAME]…` with parts of the names of those to scan; all by
//! default. A server that is not installed is counted as skipped. Exits with 1 if a scan reports a wrong result, or
//! calls an incomplete list complete.

#![expect(clippy::unwrap_used, reason = "a measurement that cannot be made ends")]

use std::process::ExitCode;

use netbench_model::{scan::SiteScan, tls::TlsVersion};

#[path = "../../tests/servers/nss.rs"]
mod nss;
#[path = "../../tests/servers/programs.rs"]
#[expect(dead_code, reason = "the tests need more of it")]
mod programs;
mod servers;
mod settings;
#[path = "../../tests/servers/support.rs"]
#[expect(dead_code, reason = "the tests need more of it")]
mod support;

use servers::Started;
use settings::settings;
use support::{Files, Key, scan, suites};

/// The wrong results of a scan.
#[derive(Default)]
struct Faults {
    /// Suites of versions that the scan reports and the server does not accept.
    wrong: Vec<String>,
    /// Suites of versions that the server accepts and the scan does not report, although the list is called
    /// complete.
    overlooked: Vec<String>,
    /// The same for lists that are not called complete.
    not_seen: Vec<String>,
}

fn main() -> ExitCode {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let files = [Key::Rsa, Key::EcdsaP256].map(Files::new);
    let (mut scanned, mut skipped, mut pairs, mut faulty) = (0, 0, 0, 0);
    for setting in settings() {
        let name = setting.name();
        if !asked.is_empty() && !asked.iter().any(|part| name.contains(part)) {
            continue;
        }
        let files = &files[usize::from(setting.key == Key::EcdsaP256)];
        let (server, due) = match servers::start(&setting, files) {
            Started::Serves(server, due) => (server, due),
            Started::Skipped(why) => {
                println!("{name}: skipped: {why}");
                skipped += 1;
                continue;
            }
        };
        let found = scan(server.address, &[]);
        let faults = compare(&found, &due);
        let count: usize = due.iter().map(|(_, codes)| codes.len()).sum();
        scanned += 1;
        pairs += count;
        let effort = &found.effort;
        println!(
            "{name}: {count} version and suite pairs, {} connections, {} ms",
            effort.enumeration_connections, effort.elapsed_ms
        );
        for (what, pairs) in [
            ("WRONG, not accepted", &faults.wrong),
            (
                "WRONG, overlooked in a list called complete",
                &faults.overlooked,
            ),
            ("not seen, and not called complete", &faults.not_seen),
        ] {
            if !pairs.is_empty() {
                println!("  {what}: {}", pairs.join(", "));
            }
        }
        faulty += u32::from(!faults.wrong.is_empty() || !faults.overlooked.is_empty());
    }
    println!("{scanned} settings, {pairs} pairs: {faulty} wrong; {skipped} skipped");
    match (scanned, faulty) {
        (1.., 0) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// Compares a scan with the codes that the server accepts in each version.
fn compare(found: &SiteScan, due: &[(TlsVersion, Vec<u16>)]) -> Faults {
    let mut faults = Faults::default();
    for version in TlsVersion::ALL {
        let of_version = due.iter().find(|(of, _)| *of == version);
        let due: &[u16] = of_version.map_or(&[], |(_, codes)| codes);
        let seen = suites(found, version);
        let entry = found.versions.iter().find(|v| v.version == version);
        faults.wrong.extend(difference(version, &seen, due));
        let missing = difference(version, due, &seen);
        // A version without an entry is reported as unsupported.
        if entry.is_none_or(|entry| entry.complete) {
            faults.overlooked.extend(missing);
        } else {
            faults.not_seen.extend(missing);
        }
    }
    faults
}

/// Returns the suites of a version that are in `some` and not in `others`.
fn difference(version: TlsVersion, some: &[u16], others: &[u16]) -> Vec<String> {
    let codes = some.iter().filter(|code| !others.contains(code));
    codes.map(|code| format!("{version} {code:04x}")).collect()
}
