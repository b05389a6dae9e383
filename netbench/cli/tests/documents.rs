//! The documents: the output that they show is the command's, and their links lead somewhere.
//!
//! `UPDATE_DOCS=1 cargo test -p netbench --test main documents` writes the output again.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::support::{finish, json};

fn tree() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn markdown_in(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
}

/// Returns the documents of the tree, those of the stacks included.
fn documents() -> Vec<PathBuf> {
    let tree = tree();
    let mut all: Vec<PathBuf> = markdown_in(&tree)
        .chain(markdown_in(&tree.join("docs")))
        .chain([tree.join("results/README.md")])
        .collect();
    for entry in fs::read_dir(tree.join("stacks")).unwrap() {
        all.extend(markdown_in(&entry.unwrap().path()));
    }
    all.sort();
    all
}

/// Returns the output of a shell's line at the top of the tree, where `netbench` is the command under test.
fn output_of(line: &str) -> String {
    let home = tempfile::tempdir().unwrap();
    let folder = Path::new(env!("CARGO_BIN_EXE_netbench")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell
        .args(["-c", line])
        .current_dir(tree())
        .env("PATH", path)
        .env("HOME", home.path())
        .env("XDG_CACHE_HOME", home.path())
        .env("COLUMNS", "120")
        .env("LC_ALL", "C.UTF-8")
        .env("NO_COLOR", "1");
    finish(&mut shell).expect(0).stdout
}

/// A document with the output of its commands as it is now.
struct Renewed {
    text: String,
    /// Number of commands with output.
    outputs: usize,
}

fn is_command(line: &str) -> bool {
    line.trim_start().starts_with("$ ")
}

/// Runs the commands of all `console` blocks that show output. In a block without output, commands may do anything.
fn renewed(document: &str) -> Renewed {
    let mut text = String::new();
    let mut outputs = 0;
    let mut lines = document.lines().peekable();
    while let Some(line) = lines.next() {
        text.push_str(line);
        text.push('\n');
        if line.trim_start() != "```console" {
            continue;
        }
        let mut block = Vec::new();
        while let Some(line) = lines.next_if(|line| line.trim_start() != "```") {
            block.push(line);
        }
        let shows_output = block.iter().any(|line| !is_command(line));
        for line in block
            .iter()
            .filter(|line| !shows_output || is_command(line))
        {
            text.push_str(line);
            text.push('\n');
            if shows_output {
                outputs += 1;
                text.push_str(&output_of(line.trim_start().trim_start_matches("$ ")));
            }
        }
        // Without output, the block would not be checked from then on.
        let is_shown = !text.lines().last().is_some_and(is_command);
        assert!(is_shown || !shows_output, "{} prints nothing", block[0]);
    }
    Renewed { text, outputs }
}

#[test]
fn output_in_the_documents_is_that_of_the_command() {
    let mut outputs = 0;
    let mut differing = Vec::new();
    for path in documents() {
        let text = fs::read_to_string(&path).unwrap();
        let now = renewed(&text);
        outputs += now.outputs;
        if now.text == text {
            continue;
        }
        if env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&path, now.text).unwrap();
        } else {
            let line = text.lines().zip(now.text.lines()).position(|(a, b)| a != b);
            let (line, lines) = (line.unwrap_or_default(), now.text.lines());
            let shown: Vec<&str> = lines.skip(line).take(5).collect();
            differing.push(format!(
                "{}:{}: it is now\n{}",
                path.display(),
                line + 1,
                shown.join("\n")
            ));
        }
    }
    assert!(outputs > 6, "{outputs} outputs");
    assert!(
        differing.is_empty(),
        "UPDATE_DOCS=1 writes the output again:\n{}",
        differing.join("\n")
    );
}

/// Returns the name by which a link reaches a heading.
fn anchor(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = heading.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
        _ => None,
    });
    kept.collect()
}

/// Returns the lines outside code blocks.
fn prose(markdown: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    markdown.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

fn anchors(path: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(path).unwrap();
    prose(&text)
        .filter(|line| line.starts_with('#'))
        .map(anchor)
        .collect()
}

/// Returns the targets of links, except web addresses.
fn links(markdown: &str) -> Vec<&str> {
    let targets = prose(markdown).flat_map(|line| line.split("](").skip(1));
    let targets = targets.filter_map(|rest| Some(rest.split_once(')')?.0));
    targets.filter(|target| !target.contains("://")).collect()
}

#[test]
fn links_of_the_documents_lead_somewhere() {
    let mut broken = Vec::new();
    let mut checked = 0;
    for path in documents() {
        let text = fs::read_to_string(&path).unwrap();
        for link in links(&text) {
            checked += 1;
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => path.clone(),
                file => path.parent().unwrap().join(file),
            };
            let leads =
                target.exists() && (heading.is_empty() || anchors(&target).contains(heading));
            if !leads {
                broken.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(checked > 100, "{checked} links");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_first_documents_are_short() {
    for (document, most) in [("README.md", 1_000), ("docs/METHOD.md", 5_000)] {
        let text = fs::read_to_string(tree().join(document)).unwrap();
        let words = text.split_whitespace().count();
        assert!(words < most, "{document} has {words} words");
    }
}

/// The folders of stacks for tests alone, and of code that stacks share.
const NO_STACKS: [&str; 2] = ["libssl", "slowed"];

#[test]
fn every_stack_has_a_readme_in_the_table_of_stacks() {
    let tree = tree();
    let table = fs::read_to_string(tree.join("docs/STACKS.md")).unwrap();
    let listed: BTreeSet<&str> = links(&table).into_iter().collect();
    let folders = fs::read_dir(tree.join("stacks")).unwrap();
    let folders = folders.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let missing: Vec<String> = folders
        .filter(|name| !NO_STACKS.contains(&name.as_str()))
        .map(|name| format!("../stacks/{name}/README.md"))
        .filter(|readme| !listed.contains(readme.as_str()))
        .collect();
    assert!(missing.is_empty(), "docs/STACKS.md lacks {missing:?}");
}

/// Returns the numbers of a version such as `1.90`, of which the last may be missing.
fn numbers(version: &str) -> Vec<u64> {
    let mut numbers: Vec<u64> = version
        .split('.')
        .map(|part| part.parse().unwrap())
        .collect();
    numbers.resize(3, 0);
    numbers
}

fn metadata() -> Value {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["metadata", "--locked", "--offline", "--format-version", "1"])
        .current_dir(tree());
    json(&finish(&mut cargo).expect(0).stdout)
}

fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value[field].as_str()
}

fn list<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    value[field].as_array().unwrap().iter()
}

/// Returns the packages that a build of the package compiles.
fn compiled<'a>(package: &'a str, nodes: &BTreeMap<&'a str, &'a Value>) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::from([package]);
    let mut waiting = vec![package];
    while let Some(next) = waiting.pop() {
        for dependency in list(nodes[next], "deps") {
            let is_of_tests = list(dependency, "dep_kinds").all(|kind| kind["kind"] == "dev");
            let id = text(dependency, "pkg").unwrap();
            if !is_of_tests && found.insert(id) {
                waiting.push(id);
            }
        }
    }
    found
}

/// No crate that a package is built from needs a newer Rust than the package's manifest states.
#[test]
fn the_stated_rust_is_new_enough_for_every_crate() {
    let metadata = metadata();
    let needed: BTreeMap<&str, &str> = list(&metadata, "packages")
        .filter_map(|package| Some((text(package, "id")?, text(package, "rust_version")?)))
        .collect();
    let nodes = list(&metadata["resolve"], "nodes");
    let nodes: BTreeMap<&str, &Value> = nodes
        .map(|node| (text(node, "id").unwrap(), node))
        .collect();
    let mut wrong = Vec::new();
    let members = list(&metadata, "workspace_members").map(|id| id.as_str().unwrap());
    let members: Vec<&str> = members.collect();
    for &member in &members {
        let stated = needed[member];
        let newer = compiled(member, &nodes).into_iter().filter(|id| {
            needed
                .get(id)
                .is_some_and(|needed| numbers(needed) > numbers(stated))
        });
        wrong.extend(
            newer.map(|id| format!("{member} states {stated}, and {id} needs {}", needed[id])),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    // The README's command builds these.
    let built = ["/cli#", "/stacks/openssl#", "/stacks/rustls#"];
    let newest = members
        .into_iter()
        .filter(|id| built.iter().any(|path| id.contains(path)))
        .map(|id| needed[id])
        .max_by_key(|version| numbers(version));
    let readme = fs::read_to_string(tree().join("README.md")).unwrap();
    let named = format!("Rust {}", newest.unwrap());
    assert!(readme.contains(&named), "README.md does not name {named}");
}

/// The reports of published runs are those that the command makes from their samples today: `release/reports` writes
/// them again.
#[test]
fn published_reports_are_current() {
    let mut compared = 0;
    for entry in fs::read_dir(tree().join("results")).unwrap() {
        let run = entry.unwrap().path();
        if !run.join("run.json").is_file() {
            continue;
        }
        let name = run.file_name().unwrap().to_str().unwrap();
        let page = match run.join("report.html").is_file() {
            true => ("report.html", "html"),
            false => ("summary.md", "markdown"),
        };
        let files = [page, ("report.svg", "svg")];
        for (file, format) in files
            .into_iter()
            .filter(|(file, _)| run.join(file).is_file())
        {
            let stored = fs::read_to_string(run.join(file)).unwrap();
            let line = format!("netbench runs report results/{name} --format {format}");
            assert!(output_of(&line) == stored, "{name}/{file} is not current");
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared}");
    for (file, runs) in [
        ("rustls-vs-openssl.md", "results/*-vm-rustls-vs-openssl"),
        (
            "openssl-to-rustls.md",
            "results/*-vm-evaluate results/*-vm-evaluate-2 results/*-vm-evaluate-3",
        ),
    ] {
        let line = format!("netbench runs compare {runs} --quiet --format markdown");
        let stored = fs::read_to_string(tree().join("results").join(file)).unwrap();
        assert!(output_of(&line) == stored, "results/{file} is not current");
    }
}
