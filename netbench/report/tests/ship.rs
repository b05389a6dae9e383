//! The cost of shipping a stack, in every format. `INSTA_UPDATE=always cargo test -p netbench-report --test main ship`
//! writes the snapshots anew; review the changes that you accept.

use netbench_model::{
    Manifest, SCHEMA_VERSION, StackName,
    ship::{
        AdvisoryReach, Found, ShipManifest, ShipOutcome, ShipPlan, ShipSample, Shipped,
        ShippedAdvisory, ShippedCrate,
    },
};
use netbench_report::{Report, ShipSummary, summarize_ship};

use crate::support::{
    formats::{render, terminal},
    manifest::manifest_of,
};

fn package(name: &str, licence: &str, unsafe_lines: u32, c_lines: u32) -> ShippedCrate {
    ShippedCrate {
        name: name.to_owned(),
        version: "1.2.3".to_owned(),
        licence: (!licence.is_empty()).then(|| licence.to_owned()),
        unsafe_lines,
        c_lines,
    }
}

fn shipped(program_bytes: u64, own: Vec<ShippedCrate>, tools: &[&str], found: Found) -> Shipped {
    let mut crates = vec![package("hyper", "MIT", 40, 0)];
    crates.extend(own);
    Shipped {
        program_bytes,
        build_cpu_ms: program_bytes / 50,
        build_ms: 60_000,
        advisories: crates
            .iter()
            .filter(|of| of.name == "openssl")
            .map(|of| ShippedAdvisory {
                id: "RUSTSEC-2025-0022".to_owned(),
                name: of.name.clone(),
                title: "uses memory after it was freed".to_owned(),
                date: Some("2025-04-04".to_owned()),
                severity: None,
                reach: Some(AdvisoryReach::Client),
            })
            .collect(),
        crates,
        providers: Vec::new(),
        tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
        advisories_of: "2026-11-22".to_owned(),
        fips: "none".to_owned(),
        found,
    }
}

fn summary() -> ShipSummary {
    let openssl = vec![
        package("openssl", "Apache-2.0", 900, 0),
        package("openssl-src", "MIT OR Apache-2.0", 0, 600_000),
    ];
    let ring = vec![
        package("ring", "Apache-2.0 AND ISC", 120, 90_000),
        package("own", "", 0, 0),
    ];
    let samples = [
        (
            "openssl",
            ShipOutcome::Built(Box::new(shipped(
                7_600_000,
                openssl,
                &["cc", "make", "perl"],
                Found::Built,
            ))),
        ),
        (
            "rustls-ring",
            ShipOutcome::Built(Box::new(shipped(3_500_000, ring, &["cc"], Found::Cached))),
        ),
        (
            "boringssl",
            ShipOutcome::Failed {
                why: "cargo build: no \u{1b}[31mcmake".to_owned(),
            },
        ),
    ];
    let plan = ShipPlan {
        stacks: samples
            .iter()
            .map(|(stack, _)| StackName::new(*stack))
            .collect(),
        lock: "client/Cargo.lock".to_owned(),
        lock_sha256: String::new(),
        lock_providers: ["aws-lc-rs", "ring"].map(str::to_owned).to_vec(),
        cargo: "cargo 1.99.0".to_owned(),
        rustc: "rustc 1.99.0\nhost: x86_64-unknown-linux-gnu".to_owned(),
        fresh: false,
    };
    let manifest: ShipManifest = Manifest {
        started: "2026-01-01T00:00:00Z".to_owned(),
        finished: Some("2026-01-01T00:05:00Z".to_owned()),
        ..manifest_of(plan)
    };
    let samples = samples.map(|(stack, outcome)| ShipSample {
        schema: SCHEMA_VERSION,
        stack: StackName::new(stack),
        outcome,
    });
    summarize_ship(&manifest, &samples)
}

#[test]
fn costs_in_every_form() {
    let summary = summary();
    assert!(summary.tells());
    for (name, text) in [
        ("ship_terminal", terminal(&summary, 120)),
        ("ship_markdown", render(&summary, "markdown")),
    ] {
        assert!(!text.contains('\u{1b}'), "{text:?}");
        insta::assert_snapshot!(name, text);
    }
    for format in ["csv", "html"] {
        let text = render(&summary, format);
        assert!(
            text.contains("rustls-ring") && !text.contains('\u{1b}'),
            "{format}"
        );
    }
}
