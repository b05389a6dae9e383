use std::process::Command;

use serde_json::Value;
use toml::Table;

use super::*;

/// Returns the registry of the files that the command contains.
fn embedded() -> Registry {
    let texts = EMBEDDED.iter();
    let texts = texts.map(|(folder, text)| ((*folder).to_owned(), (*text).to_owned()));
    Registry::of(texts.collect()).unwrap()
}

fn in_tree(path: &str) -> String {
    format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))
}

/// Returns the error of the file of a folder `mine`, beside those that the command contains.
fn error_of(text: &str) -> String {
    let mut texts: BTreeMap<String, String> = EMBEDDED
        .iter()
        .map(|(folder, text)| ((*folder).to_owned(), (*text).to_owned()))
        .collect();
    texts.insert("mine".to_owned(), text.to_owned());
    Registry::of(texts).unwrap_err().to_string()
}

#[test]
fn wrong_files_are_refused_with_file_and_line() {
    let stack = "[[stack]]\nname = \"mine\"\nabout = \"one\"\n";
    let cases = [
        (
            "tests = \"apart\"\n[build\n".to_owned(),
            2,
            "unclosed table",
        ),
        (stack.to_owned(), 1, "missing field `tests`"),
        (
            "tests = \"never\"\n".to_owned(),
            1,
            "unknown variant `never`",
        ),
        (
            format!("tests = \"apart\"\n{stack}abuot = \"\"\n"),
            5,
            "unknown field `abuot`",
        ),
        (
            "tests = \"apart\"\n[[stack]]\nname = \"mine\"\nabout = 7\n".to_owned(),
            4,
            "invalid type",
        ),
        (
            format!("tests = \"apart\"\n[build]\nneeds = [\n\"perl\",\n\"pearl\"]\n{stack}"),
            5,
            "those of all stacks are C compiler, C++ compiler, CMake",
        ),
        (
            format!("tests = \"apart\"\nlibraries = [\"mylib\"]\n{stack}"),
            2,
            "no [licences] have the licence",
        ),
        (
            format!("tests = \"apart\"\n{}", stack.replace("mine", "aws-lc")),
            3,
            "stacks/aws-lc/stack.toml has a stack of this name too",
        ),
        (
            format!(
                "tests = \"apart\"\n{}",
                stack.replace("mine", "mine+jemalloc")
            ),
            3,
            "not a name of a stack",
        ),
        (
            format!("tests = \"apart\"\n{}", stack.replace("mine", "../mine")),
            3,
            "not a name of a stack",
        ),
        (
            format!("tests = \"apart\"\n{stack}fips = true\n"),
            3,
            "there is no [fips]",
        ),
        (
            format!("tests = \"apart\"\n{stack}pins = [\"mine@1.0\"]\n"),
            3,
            "pins are for a PACKAGE@VERSION",
        ),
        (
            format!(
                "tests = \"apart\"\n{}pins = [\"mine@1.20\"]\n",
                stack.replace("mine", "mine@1.2")
            ),
            3,
            "no pin has the version of the name",
        ),
        (
            format!("tests = \"apart\"\n{stack}openssl = \"2.0\"\n"),
            5,
            "no such release",
        ),
        (
            format!("tests = \"apart\"\n[build.command]\nwords = [\"make\"]\n{stack}"),
            2,
            "no word is {program}",
        ),
        ("tests = \"apart\"\n".to_owned(), 1, "missing field `stack`"),
    ];
    for (text, line, expected) in cases {
        assert_refused(&text, line, expected);
    }
}

#[test]
fn keys_without_effect_are_refused() {
    let stack = "[[stack]]\nname = \"mine\"\nabout = \"one\"\n";
    let make = "[build.command]\nwords = [\"make\", \"{program}\"]\n";
    let need = "what = \"a tool\"\npackages = \"tool\"\ncheck = 'true'\n";
    let cases = [
        (
            format!("tests = \"apart\"\n[needs.tool]\n{need}{stack}"),
            2,
            "no `needs` name it",
        ),
        (
            format!("tests = \"apart\"\n[fips]\n{stack}"),
            2,
            "no stack has `fips = true`",
        ),
        (
            format!(
                "tests = \"apart\"\nlibraries = [\n\"ring\"]\n{stack}libraries = [\"rustls\"]\n"
            ),
            3,
            "each stack has its own libraries",
        ),
        (
            format!("tests = \"apart\"\n[licences]\nmylib = \"MIT\"\n{stack}"),
            3,
            "no worker has this library",
        ),
        (
            format!("tests = \"apart\"\n[build]\nown-workspace = true\n{stack}"),
            1,
            "only \"all-stacks\" builds",
        ),
        (
            format!("tests = \"apart\"\n[build]\ncompiles-c = true\n{make}{stack}"),
            4,
            "with-others have no effect",
        ),
        (
            format!(
                "tests = \"all-stacks\"\n[build]\nown-workspace = true\nwith-others = true\n{stack}"
            ),
            1,
            "no effect in a separate workspace",
        ),
        (
            format!("tests = \"apart\"\n{stack}compared = true\n"),
            3,
            "only a version needs `compared = true`",
        ),
        (
            format!("tests = \"apart\"\n{make}{stack}pins = [\"mine@1.2\"]\n"),
            5,
            "pins and openssl have no effect",
        ),
        (
            format!("tests = \"apart\"\n[fips]\nfeature = \"fips\"\n{make}{stack}fips = true\n"),
            2,
            "a feature has no effect",
        ),
    ];
    for (text, line, expected) in cases {
        assert_refused(&text, line, expected);
    }
}

fn assert_refused(text: &str, line: usize, expected: &str) {
    let error = error_of(text);
    let start = format!("stacks/mine/stack.toml:{line}: ");
    assert!(
        error.starts_with(&start) && error.contains(expected),
        "{text}\n{expected}\n{error}"
    );
}

#[test]
fn the_example_of_the_guide_is_right() {
    let guide = fs::read_to_string(in_tree("docs/ADD-A-STACK.md")).unwrap();
    let (_, rest) = guide.split_once("```toml\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let registry = Registry::of([("mylib".to_owned(), example.to_owned())].into());
    let [stack] = &registry.unwrap().stacks[..] else {
        panic!("{example}");
    };
    assert_eq!(stack.name, "mylib");
    assert_eq!(stack.build.needs[1].what, "mylib's headers");
}

#[test]
fn no_crate_of_netbench_depends_on_one_of_stacks() {
    for entry in fs::read_dir(in_tree("netbench")).unwrap() {
        let manifest = entry.unwrap().path().join("Cargo.toml");
        if let Ok(text) = fs::read_to_string(&manifest) {
            let depends = text.contains("stacks/") || text.contains("netbench-stack-");
            assert!(!depends, "{}", manifest.display());
        }
    }
}

#[test]
fn a_stack_needs_no_more_than_its_file() {
    let text = "tests = \"apart\"\nlibraries = [\"mylib\"]\n[licences]\nmylib = \"MIT\"\n\
                [[stack]]\nname = \"mine\"\nabout = \"one\"\n[[stack]]\nname = \"mine+fast\"\n\
                about = \"two\"\narguments = [\"--features\", \"fast\"]\n";
    let stacks = Registry::of([("mine".to_owned(), text.to_owned())].into());
    let stacks = stacks.unwrap().stacks;
    let [usual, fast] = &stacks[..] else {
        panic!("{stacks:?}");
    };
    assert_eq!(usual.executable, "netbench-worker-mine");
    assert_eq!(
        (usual.build.folder.as_str(), fast.build.folder.as_str()),
        ("", "fast")
    );
    assert_eq!(usual.licences[0].spdx, "MIT");
    let Recipe::Cargo(recipe) = &usual.build.recipe else {
        panic!("{usual:?}");
    };
    assert_eq!(recipe.package, "netbench-stack-mine");
}

#[test]
fn versions_are_sorted_by_their_numbers() {
    let sorted = [
        "a",
        "a@0.9",
        "a@0.23.5",
        "a@0.23.40",
        "a@0.24-dev",
        "a@1.1.1w",
        "b",
    ];
    assert!(sorted.is_sorted_by_key(|stack| order(stack)));
}

#[test]
fn each_release_of_openssl_is_a_stack() {
    let stacks = embedded().stacks;
    for release in RELEASES {
        let name = format!("openssl@{}", release.line);
        let stack = stacks.iter().find(|stack| stack.name == name).unwrap();
        let about = format!("OpenSSL {}, otherwise as openssl", release.version);
        assert_eq!(stack.about, about);
    }
}

#[test]
fn variants_of_a_version_have_its_worker() {
    let stacks = embedded().stacks;
    let folders = ["openssl@3.6", "openssl@3.6+memory-bio"].map(|name| {
        let stack = stacks.iter().find(|stack| stack.name == name);
        stack.unwrap().build.folder.clone()
    });
    assert_eq!(folders, ["openssl@3.6", "openssl@3.6"]);
}

#[test]
fn manifests_have_the_packages_and_executables_of_their_stacks() {
    for stack in embedded().stacks {
        let manifest = in_tree(&format!("{}/Cargo.toml", stack.build.source));
        let manifest: Table = fs::read_to_string(manifest).unwrap().parse().unwrap();
        let Recipe::Cargo(recipe) = &stack.build.recipe else {
            continue;
        };
        assert_eq!(
            manifest["package"]["name"].as_str(),
            Some(recipe.package.as_str())
        );
        let executable = manifest["bin"][0]["name"].as_str();
        assert_eq!(executable, Some(stack.executable.as_str()));
        let is_workspace = manifest.contains_key("workspace");
        assert_eq!(is_workspace, recipe.own_workspace, "{}", stack.name);
    }
}

#[test]
fn the_next_line_of_rustls_is_the_one_that_its_worker_requests() {
    let manifest = fs::read_to_string(in_tree("stacks/rustls-dev/Cargo.toml")).unwrap();
    let stacks = embedded().stacks;
    let next = stacks
        .iter()
        .find(|stack| stack.name.ends_with("-dev"))
        .unwrap();
    let version = next.about.split([' ', ',']).nth(1).unwrap();
    let requested = format!("rustls = {{ version = \"={version}\"");
    assert!(manifest.contains(&requested), "{requested}");
    let (line, _) = version.split_once(".0-dev").unwrap();
    assert_eq!(next.name, format!("rustls@{line}-dev"));
}

/// Returns the packages of the workspace in `folder` with their declared licences; `None` if some of them have not been
/// downloaded.
fn declared(folder: &str) -> Option<BTreeMap<String, String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--locked", "--offline", "--format-version", "1"])
        .args(["--manifest-path", &in_tree(&format!("{folder}/Cargo.toml"))])
        .output()
        .expect("cargo metadata runs");
    if !output.status.success() {
        return None;
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata");
    let packages = metadata["packages"].as_array().expect("packages").iter();
    let declared = packages.map(|it| ["name", "license"].map(|key| it[key].as_str()));
    let declared = declared.filter_map(|[name, licence]| Some((name?.into(), licence?.into())));
    Some(declared.collect())
}

#[test]
fn licences_are_those_that_the_packages_declare() {
    let common = declared(".").expect("the crates of this test are there");
    let mut own = BTreeMap::new();
    for stack in embedded().stacks {
        assert!(!stack.licences.is_empty(), "{}", stack.name);
        let source = stack.build.source.clone();
        let declared = match &stack.build.recipe {
            Recipe::Cargo(recipe) if recipe.own_workspace => {
                match own
                    .entry(source.clone())
                    .or_insert_with(|| declared(&source))
                {
                    Some(declared) => declared,
                    None => continue,
                }
            }
            _ => &common,
        };
        for Licence { library, spdx } in &stack.licences {
            // Other libraries have a name that no package can have.
            if !library.contains([' ', '.']) && library.to_lowercase() == *library {
                assert_eq!(declared.get(library), Some(spdx), "{library}");
            }
        }
    }
}
