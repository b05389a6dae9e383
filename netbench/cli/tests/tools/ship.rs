//! `netbench ship` from a user's perspective, with a cargo that builds nothing, and once with the
//! real one.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{fs, process::Command, time::Duration};

use netbench_model::{
    breakage::Predicts,
    ship::{Found, ShipOutcome},
};
use netbench_report::{BreakagesReport, ShipSummary};

use crate::support::{Place, check, check_lines, finish, interrupt, json, piped, text, until};

netbench_testing::module_tests! {
    a_client_is_described_by_what_cargo_made;
    a_result_is_kept_until_something_matters;
    what_cannot_be_built_is_said_and_the_rest_goes_on;
    an_interrupted_build_leaves_nothing_behind;
    two_providers_in_one_program_are_told;
    wrong_input_is_said_in_a_line;
}

/// A replacement for cargo: it makes a program from a script, and starts a compiler and perl.
const CARGO: &str = r#"
case "$1" in
--version) echo "cargo 1.99.0"; exit ;;
metadata)
    grep -q '"ring"' Cargo.toml && name=rustls || name=openssl
    grep -q '"aws_lc_rs", "ring"' Cargo.toml && features='"aws_lc_rs", "ring", "std"' || features='"std"'
    cat <<END
{"packages": [
  {"id": "client", "name": "ship-client", "version": "0.0.0", "license": null, "manifest_path": "$PWD/Cargo.toml"},
  {"id": "a", "name": "$name", "version": "0.10.71", "license": "MIT \u001b[31m", "manifest_path": "$SOURCES/Cargo.toml"},
  {"id": "b", "name": "unused", "version": "1.0.0", "license": "GPL-3.0", "manifest_path": "$SOURCES/Cargo.toml"}
], "resolve": {"nodes": [{"id": "a", "features": [$features]}, {"id": "b", "features": ["ring"]}]}}
END
    exit ;;
fetch) exit ;;
esac
[ -n "$SLOW" ] && { echo begun > "$SLOW"; sleep 60; }
[ -n "$BREAKS" ] && grep -q "$BREAKS" Cargo.toml && { echo "error: no such library" >&2; exit 101; }
perl -e 1
mkdir -p target
printf '#!/bin/sh\necho ready\n' > target/ship-client
[ -n "$PANICS" ] && grep -q "$PANICS" Cargo.toml && printf '#!/bin/sh\necho no CryptoProvider >&2\nexit 101\n' > target/ship-client
chmod +x target/ship-client
echo '{"reason": "compiler-artifact", "package_id": "a"}'
echo '{"reason": "compiler-artifact", "package_id": "client", "executable": "'$PWD'/target/ship-client"}'
"#;

/// Makes a folder with this cargo, and sources of a crate.
fn place() -> Place {
    let place = Place::new();
    place.script("cargo", CARGO);
    place.script(
        "rustc",
        "echo rustc 1.99.0; echo host: x86_64-unknown-linux-gnu",
    );
    fs::create_dir_all(place.path().join("sources/src")).unwrap();
    place.write("sources/src/lib.rs", "unsafe fn f() {}\n");
    place.write("sources/a.c", "int a;\nint b;\n");
    place
}

fn ship(place: &Place, line: &str) -> Command {
    let mut command = place.command_line(line);
    for (variable, file) in [
        ("CARGO", "cargo"),
        ("RUSTC", "rustc"),
        ("SOURCES", "sources"),
    ] {
        command.env(variable, place.path().join(file));
    }
    command
}

fn summary(command: &mut Command) -> ShipSummary {
    let done = finish(command).expect(0);
    check("ship-summary.json", &done.stdout);
    json(&done.stdout)
}

fn a_client_is_described_by_what_cargo_made() {
    let place = place();
    let line = "ship --stack openssl,rustls-ring --json";
    let summary = summary(&mut ship(&place, line));
    let [openssl, ring] = &summary.stacks[..] else {
        panic!("{summary:?}");
    };
    let shipped = openssl.shipped().unwrap();
    assert_eq!(
        shipped.program_bytes,
        "#!/bin/sh\necho ready\n".len() as u64
    );
    assert_eq!((shipped.unsafe_lines(), shipped.c_lines()), (1, 2));
    assert_eq!(
        shipped.crates.len(),
        1,
        "what was not compiled is not shipped"
    );
    assert_eq!(shipped.tools, ["perl"]);
    let advisories: Vec<&str> = shipped.advisories.iter().map(|of| of.id.as_str()).collect();
    assert_eq!(advisories, ["RUSTSEC-2025-0022"]);
    assert_eq!(ring.shipped().unwrap().advisories, []);
    let run = place.run();
    let manifest = text(&run, "run.json");
    check("ship-run.json", &manifest);
    check_lines("ship-sample.json", &text(&run, "samples.jsonl"));
    for format in ["terminal", "markdown", "csv"] {
        let line = format!("runs report RUN --format {format}");
        let done = place.succeeds(&line);
        done.prints("rustls-ring");
        assert!(!done.stdout.contains('\u{1b}'), "{format}");
    }
    assert_eq!(builds(&place), Vec::<String>::new());
}

/// Returns the folders of builds in the cache.
fn builds(place: &Place) -> Vec<String> {
    let cache = place.path().join("cache/netbench/ship");
    let entries = fs::read_dir(cache).into_iter().flatten();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("build-")).collect()
}

fn a_result_is_kept_until_something_matters() {
    let place = place();
    let lock = "version = 4\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n";
    place.write("own.lock", lock);
    let rustc = "echo rustc 2.0.0; echo host: x86_64-unknown-linux-gnu";
    for (more, new_rustc, due) in [
        ("", None, Found::Built),
        ("", None, Found::Cached),
        ("--fresh", None, Found::Built),
        ("--lock own.lock", None, Found::Built),
        ("", Some(rustc), Found::Built),
    ] {
        if let Some(rustc) = new_rustc {
            place.script("rustc", rustc);
        }
        let line = format!("ship --stack openssl --json {more}");
        let summary = summary(&mut ship(&place, &line));
        assert_eq!(summary.stacks[0].shipped().unwrap().found, due, "{more}");
    }
}

fn what_cannot_be_built_is_said_and_the_rest_goes_on() {
    let place = place();
    let mut command = ship(&place, "ship --stack openssl,rustls-ring --json");
    let summary = summary(command.env("BREAKS", "vendored"));
    let [openssl, ring] = &summary.stacks[..] else {
        panic!("{summary:?}");
    };
    let Some(ShipOutcome::Failed { why }) = &openssl.outcome else {
        panic!("{openssl:?}");
    };
    assert!(why.contains("error: no such library"), "{why}");
    assert!(ring.shipped().is_some());
    let told = summary
        .warnings
        .iter()
        .any(|text| text.contains("no such library"));
    assert!(told, "{:?}", summary.warnings);
}

fn two_providers_in_one_program_are_told() {
    let place = place();
    let line = "ship --stack rustls-two-providers,openssl --json --fresh";
    let [both, other] = [("aws_lc_rs", 0), ("vendored", 1)].map(|(panics, row)| {
        let summary = summary(ship(&place, line).env("PANICS", panics));
        match &summary.stacks[row].outcome {
            Some(ShipOutcome::Failed { why }) => why.clone(),
            other => panic!("{other:?}"),
        }
    });
    assert_eq!(
        both,
        "its client ends at its start, because rustls has the features of aws-lc-rs and ring in it: \
         ClientConfig::builder() panics unless CryptoProvider::install_default() was called before (no CryptoProvider)"
    );
    let listed = place.netbench_line("compat breakages --json");
    let listed: BreakagesReport = json(&listed.expect(0).stdout);
    let mut told = 0;
    for breakage in &listed.breakages {
        if let Some(by) = breakage.answer.tried()
            && by.command == Predicts::Ship
        {
            assert_eq!(by.case, "rustls-two-providers");
            assert!(both.starts_with(&by.today), "{}", by.today);
            told += 1;
        }
    }
    assert_eq!(told, 1);
    // The reason of any other client that does not start is the client's message.
    assert_eq!(other, "the client that was built: no CryptoProvider");
    // A client that starts nevertheless has selected a provider.
    let chosen = summary(&mut ship(&place, line));
    let shipped = chosen.stacks[0].shipped().unwrap();
    assert_eq!(shipped.providers, ["aws-lc-rs", "ring"]);
    let told = "the client of rustls-two-providers has rustls with aws-lc-rs and ring";
    assert!(
        chosen.warnings[0].starts_with(told),
        "{:?}",
        chosen.warnings
    );
    // The user's own lock file.
    place.write(
        "own.lock",
        "version = 4\n[[package]]\nname = \"rustls\"\nversion = \"0.23.46\"\ndependencies = [\"aws-lc-rs\", \"ring\"]\n",
    );
    let own = summary(&mut ship(
        &place,
        "ship --stack openssl --json --lock own.lock",
    ));
    let told = "in own.lock, rustls depends on aws-lc-rs and ring";
    assert!(own.warnings[0].starts_with(told), "{:?}", own.warnings);
}

fn an_interrupted_build_leaves_nothing_behind() {
    let place = place();
    let begun = place.path().join("begun");
    let mut command = ship(&place, "ship --stack openssl");
    let child = piped(command.env("SLOW", &begun));
    until("the build", || begun.is_file());
    let asked = std::time::Instant::now();
    interrupt(child).expect(130);
    assert!(asked.elapsed() < Duration::from_secs(10));
    assert_eq!(builds(&place), Vec::<String>::new());
    let mut processes = fs::read_dir("/proc").unwrap().flatten();
    let sleeps = processes.any(|entry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let here = place.path().to_str().unwrap().as_bytes();
        line.windows(here.len()).any(|part| part == here)
    });
    assert!(!sleeps, "cargo is gone");
    // The interrupted run is resumed.
    let summary = summary(&mut ship(&place, "run --json RUN"));
    assert!(summary.stacks[0].shipped().is_some());
}

fn wrong_input_is_said_in_a_line() {
    let place = place();
    place.write("broken.lock", "version = 4\n[[package]\n");
    place.write("empty.lock", "version = 4\n");
    place.refuses(
        2,
        r#"
        ship --stack opensl => did you mean "openssl"
        ship --lock none.lock => none.lock:
        ship --lock broken.lock => broken.lock: line 2
        ship --lock empty.lock => no [[package]]
    "#,
    );
    let mut without = ship(&place, "ship");
    let done = finish(without.env("CARGO", place.path().join("nothing"))).expect(2);
    done.tells("https://rustup.rs");
    assert!(!place.path().join("runs").exists(), "nothing was begun");
}
