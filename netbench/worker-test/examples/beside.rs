//! The suite's figures beside those of plain programs: `cargo run --release -p netbench-worker-test --example beside`.
//!
//! A plain program calls a library as its users do, and has no code of netbench in what it times: `stacks/*/benches/plain` are those of
//! rustls, OpenSSL, s2n-tls and Bertie, and `stacks/go/plain_test.go` that of Go. Each is built, and takes turns with the stack's worker on one core. What
//! cannot be built or does not run is skipped, and named with the reason.

#![expect(clippy::expect_used, reason = "an example may panic")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use netbench_model::{Aead, HandshakeKind, KeyType, Scenario, SessionSettings, TlsVersion, Work};
use netbench_stacks::command_recipe;
use netbench_stats::quantile_sorted;
use netbench_worker_test::plain::{Beside, BesideUnit, Harness, JSON, PROCESSES, material};
use serde::Serialize;

const USAGE: &str = "\
Usage: beside [--processes N] [--json FILE] [STACK…]

Stacks: rustls, openssl, s2n-tls, bertie, go; all of them where none is named.
  --processes N  processes of each side, each with another layout of memory; 9 by default
  --json FILE    writes all figures to FILE too";

const STACKS: [&str; 5] = ["rustls", "openssl", "s2n-tls", "bertie", GO];

const GO: &str = "go";

/// The variable that tells Go's plain program the file of its certificates.
const GO_MATERIAL: &str = "NETBENCH_PLAIN_MATERIAL";

/// Handshakes of one process of Go.
const GO_OPERATIONS: u32 = 300;

/// The difference of times within which netbench agrees with a plain program.
const AGREES: f64 = 0.01;

/// The same for factors between stacks.
const AGREES_IN_FACTORS: f64 = 0.015;

/// The same for memory.
const AGREES_IN_MEMORY: f64 = 0.02;

/// The same for the 95th percentile over the median.
const AGREES_IN_TAIL: f64 = 0.05;

/// All figures, as the file of JSON has them.
#[derive(Debug, Default, Serialize)]
struct Comparison {
    rows: Vec<Beside>,
    factors: Vec<Factor>,
    /// Stacks without figures, and the reason.
    skipped: Vec<(String, String)>,
}

/// The speed of one stack relative to another, by plain programs and by the harness.
#[derive(Debug, Serialize)]
struct Factor {
    case: String,
    stack: String,
    other: String,
    plain: f64,
    harness: f64,
}

struct Arguments {
    stacks: Vec<String>,
    processes: u64,
    json: Option<PathBuf>,
}

fn main() -> ExitCode {
    let Some(arguments) = arguments(env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let mut found = Comparison::default();
    for stack in &arguments.stacks {
        eprintln!("beside: {stack}: building and taking turns");
        let rows = match stack.as_str() {
            GO => rows_of_go(arguments.processes),
            _ => rows(stack, arguments.processes),
        };
        match rows {
            Ok(rows) => found.rows.extend(rows),
            Err(why) => {
                eprintln!("beside: {stack}: skipped: {why}");
                found.skipped.push((stack.clone(), why));
            }
        }
    }
    found.factors = factors(&found.rows);
    print!("{}", text(&found));
    if let Some(path) = &arguments.json {
        let json = serde_json::to_string_pretty(&found).expect("plain figures");
        if let Err(error) = fs::write(path, json + "\n") {
            eprintln!("beside: cannot write {}: {error}", path.display());
            return ExitCode::FAILURE;
        }
    }
    if found.rows.is_empty() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// Reads the arguments, or returns `None` if they are wrong.
fn arguments(mut given: impl Iterator<Item = String>) -> Option<Arguments> {
    let mut arguments = Arguments {
        stacks: Vec::new(),
        processes: 9,
        json: None,
    };
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--processes" => {
                arguments.processes = given.next()?.parse().ok()?;
                if arguments.processes == 0 {
                    return None;
                }
            }
            "--json" => arguments.json = Some(given.next()?.into()),
            stack if STACKS.contains(&stack) => arguments.stacks.push(argument),
            _ => return None,
        }
    }
    if arguments.stacks.is_empty() {
        arguments.stacks = STACKS.map(str::to_owned).to_vec();
    }
    Some(arguments)
}

/// Has a stack's plain program take turns with its worker.
fn rows(stack: &str, processes: u64) -> Result<Vec<Beside>, String> {
    let package = format!("netbench-stack-{stack}");
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args([
            "bench",
            "--quiet",
            "--locked",
            "--package",
            &package,
            "--bench",
            "plain",
        ])
        .current_dir(tree())
        .env(JSON, "1")
        .env(PROCESSES, processes.to_string());
    let lines = said(&mut command)?;
    let lines = lines.lines().filter(|line| line.starts_with('{'));
    let rows: Result<Vec<Beside>, _> = lines.map(serde_json::from_str).collect();
    rows.map_err(|error| format!("a line is no figure: {error}"))
}

/// Has Go's plain program, which `go test -bench` runs, and its worker take turns process by process.
fn rows_of_go(processes: u64) -> Result<Vec<Beside>, String> {
    let place = tempfile::tempdir().map_err(|error| error.to_string())?;
    let [worker, plain, certificates] =
        ["worker", "plain", "certificates.json"].map(|name| place.path().join(name));
    let folder = tree().join("stacks/go");
    let recipe = command_recipe(GO).expect("the recipe of go");
    said(&mut recipe.command(&folder, &worker))?;
    let linker = recipe.word("-ldflags").expect("the linker's option");
    let compile = ["test", "-c", linker, "-o"];
    said(
        Command::new("go")
            .args(compile)
            .arg(&plain)
            .arg(".")
            .current_dir(&folder),
    )?;
    let json = serde_json::to_string(&material()).expect("certificates");
    fs::write(&certificates, json).map_err(|error| error.to_string())?;
    let cases = [
        (
            "BenchmarkPlainFull12",
            TlsVersion::Tls12,
            HandshakeKind::Full,
        ),
        (
            "BenchmarkPlainFull13",
            TlsVersion::Tls13,
            HandshakeKind::Full,
        ),
        (
            "BenchmarkPlainTicket12",
            TlsVersion::Tls12,
            HandshakeKind::Ticket,
        ),
    ];
    let mut figures = [const { Vec::new() }; 3];
    for process in 1..=processes {
        let harness = Harness::on_one_core(&worker, GO, process);
        for ((name, version, kind), figures) in cases.iter().zip(&mut figures) {
            let settings = SessionSettings::usual(*version, KeyType::Rsa2048, Aead::Aes128Gcm);
            let kind = *kind;
            let scenario = Scenario::timed(Work::Handshake { kind, settings });
            let plain = said(
                Command::new(&plain)
                    .args(["-test.run", "^$", "-test.bench", &format!("^{name}$")])
                    .args(["-test.benchtime", &format!("{GO_OPERATIONS}x")])
                    .env(GO_MATERIAL, &certificates)
                    .current_dir(place.path()),
            )?;
            let words: Vec<&str> = plain.split_whitespace().collect();
            let mut plain = [f64::NAN; 3];
            for (ns, unit) in plain.iter_mut().zip(["p10-ns", "p50-ns", "p95-ns"]) {
                let at = words.iter().position(|word| *word == unit);
                let value = at.and_then(|at| words.get(at.checked_sub(1)?)?.parse().ok());
                *ns = value.ok_or_else(|| format!("{name} has no {unit}"))?;
            }
            let timings = harness.both_sides(&scenario, GO_OPERATIONS);
            let own = [0.10, 0.50, 0.95].map(|share| quantile_sorted(&timings, share));
            figures.push([plain, own.map(|ns| ns.unwrap_or(f64::NAN))]);
        }
    }
    let rows = cases.iter().zip(&figures);
    let rows = rows.map(|((_, version, kind), figures)| {
        let settings = SessionSettings::usual(*version, KeyType::Rsa2048, Aead::Aes128Gcm);
        let kind = *kind;
        let scenario = Scenario::timed(Work::Handshake { kind, settings });
        Beside::of_processes(GO, format!("{scenario}_both"), figures)
    });
    Ok(rows.collect())
}

fn tree() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Returns the output of a command that succeeds, otherwise the first line of its error output.
fn said(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let reason = said.lines().find(|line| !line.trim().is_empty());
    Err(format!(
        "{program}: {}",
        reason.unwrap_or("it failed without a word")
    ))
}

/// The factors between stacks in the cases that several have: the first such stack's time over that of each other.
fn factors(rows: &[Beside]) -> Vec<Factor> {
    let timed = rows
        .iter()
        .filter(|row| row.unit == BesideUnit::Nanoseconds);
    let mut factors = Vec::new();
    for (at, row) in timed.clone().enumerate() {
        let later = timed.clone().skip(at + 1);
        for other in later.filter(|other| other.case == row.case && other.stack != row.stack) {
            factors.push(Factor {
                case: row.case.clone(),
                stack: other.stack.clone(),
                other: row.stack.clone(),
                plain: other.plain.low / row.plain.low,
                harness: other.harness.low / row.harness.low,
            });
        }
    }
    factors
}

fn text(found: &Comparison) -> String {
    let mut lines = vec![
        "p10 of the plain program and of netbench, their difference (lowest and highest of a process), and p95/p50 of each"
            .to_owned(),
    ];
    for row in &found.rows {
        let unit = match row.unit {
            BesideUnit::Nanoseconds => "ns",
            BesideUnit::Bytes => "bytes",
        };
        let tails = row.plain.tail().zip(row.harness.tail());
        let tails = tails.map_or_else(String::new, |(plain, harness)| {
            format!("  {plain:.3} {harness:.3}")
        });
        lines.push(format!(
            "{:<14} {:<66} {:>9.0} {:>9.0} {unit}  {:>7} ({} … {}){tails}",
            row.stack,
            row.case,
            row.plain.low,
            row.harness.low,
            percent(row.ratio),
            percent(row.lowest_ratio),
            percent(row.highest_ratio),
        ));
    }
    if !found.factors.is_empty() {
        lines.push("factors between stacks: by plain programs, by netbench, difference".to_owned());
    }
    for factor in &found.factors {
        lines.push(format!(
            "{:<66} {} / {}  {:.3} {:.3}  {:>7}",
            factor.case,
            factor.stack,
            factor.other,
            factor.plain,
            factor.harness,
            percent(factor.harness / factor.plain),
        ));
    }
    let mut rows = found.rows.iter();
    let (timed, held): (Vec<&Beside>, Vec<_>) = rows
        .by_ref()
        .partition(|row| row.unit == BesideUnit::Nanoseconds);
    let times: Vec<f64> = timed.iter().map(|row| row.ratio).collect();
    let tails = timed
        .iter()
        .filter_map(|row| Some(row.harness.tail()? / row.plain.tail()?));
    let sizes = held.iter().map(|row| row.ratio);
    let factors = found.factors.iter();
    let factors = factors.map(|factor| factor.harness / factor.plain);
    for (what, most, ratios) in [
        ("times at p10", AGREES, times),
        ("p95/p50", AGREES_IN_TAIL, tails.collect()),
        ("memory", AGREES_IN_MEMORY, sizes.collect()),
        ("factors", AGREES_IN_FACTORS, factors.collect()),
    ] {
        let within = ratios.iter().filter(|ratio| (**ratio - 1.0).abs() <= most);
        let number = within.count();
        lines.push(format!(
            "{what}: {number} of {} within {:.1} %",
            ratios.len(),
            most * 100.0
        ));
    }
    for (stack, why) in &found.skipped {
        lines.push(format!("skipped: {stack}: {why}"));
    }
    lines.join("\n") + "\n"
}

fn percent(ratio: f64) -> String {
    format!("{:+.1} %", (ratio - 1.0) * 100.0)
}
