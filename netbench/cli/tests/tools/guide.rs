//! The commands that docs/ADD-A-STACK.md and docs/WORKER-PROTOCOL.md give to a reader.

use std::{path::Path, process::Command};

use crate::support::{Place, finish, measured, text, tree, words};

netbench_testing::module_tests! {
    the_commands_of_the_guide_work: Go, UserNamespaces;
    the_command_of_the_protocol_works: Python, UserNamespaces;
    files_that_the_guides_name_exist;
}

const GUIDE: &str = include_str!("../../../../docs/ADD-A-STACK.md");
const PROTOCOL: &str = include_str!("../../../../docs/WORKER-PROTOCOL.md");

/// Returns the command lines in a document's `console` blocks.
fn commands(document: &str) -> Vec<&str> {
    let mut blocks = document.split("```").skip(1).step_by(2);
    let mut lines = Vec::new();
    for block in blocks.by_ref() {
        if let Some(block) = block.strip_prefix("console\n") {
            lines.extend(block.lines().map(|line| line.trim_start_matches("$ ")));
        }
    }
    lines
}

/// Runs a line's `netbench` command, and returns the number of a stack's connections that were
/// measured.
fn connections(place: &Place, line: &str, stack: &str, code: i32) -> usize {
    let line = line.strip_prefix("netbench ").unwrap();
    place.netbench_line(line).expect(code);
    let samples = measured(&place.run());
    let own = samples
        .iter()
        .filter(|sample| sample.stack.as_str() == stack);
    own.inspect(|sample| assert!(sample.outcome.ok().is_some(), "{sample:?}"))
        .count()
}

fn the_commands_of_the_guide_work() {
    let place = Place::new();
    let program = place.path().join("netbench-worker-mine");
    let program = program.to_str().unwrap();
    let lines = commands(GUIDE);
    let [build, connect, test] = lines[..] else {
        panic!("a command of the guide is not run here: {lines:?}");
    };
    let build = build.replace("/tmp/netbench-worker-mine", program);
    let mut build = words(&build).into_iter();
    let mut command = Command::new(build.next().unwrap());
    finish(command.args(build).current_dir(tree())).expect(0);
    let connect = connect.replace("/tmp/netbench-worker-mine", program);
    assert_eq!(
        connections(&place, &connect, "go", 0),
        9,
        "3 sites in 3 rounds"
    );
    // The command tests a whole package.
    let package = test.strip_prefix("cargo test -p ").unwrap();
    let manifest = text(tree(), "stacks/go/Cargo.toml");
    assert!(
        manifest.contains(&format!("name = \"{package}\"")),
        "{test}"
    );
}

fn the_command_of_the_protocol_works() {
    let place = Place::new();
    let source = include_str!("worker.py").replace("\"stack\": \"python\"", "\"stack\": \"mine\"");
    let source = source.replace(
        "request[\"stack\"] == \"python\"",
        "request[\"stack\"] == \"mine\"",
    );
    let source = place.write("worker.py", &source);
    place.script("my-worker", &format!("exec python3 '{}'", source.display()));
    let lines = commands(PROTOCOL);
    let [connect] = lines[..] else {
        panic!("a command of the protocol is not run here: {lines:?}");
    };
    // All sites and rounds would take a quarter of an hour.
    let connect = format!("{connect} --limit 2 --rounds 1");
    // Python's ssl reports no group, so that no pair is known to have done the same work.
    assert_eq!(connections(&place, &connect, "mine", 3), 2);
}

fn files_that_the_guides_name_exist() {
    for document in [GUIDE, PROTOCOL] {
        let code = document.split('`').skip(1).step_by(2);
        let files = code.filter(|code| {
            let path = Path::new(code);
            code.contains('/')
                && !code.contains([' ', '$', '=', '<'])
                && path.extension().is_some()
                && path.is_relative()
        });
        let files: Vec<&str> = files.collect();
        assert!(files.len() > 3, "{files:?}");
        for file in files {
            assert!(tree().join(file).exists(), "{file} is named and not there");
        }
    }
}
