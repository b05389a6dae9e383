//! Tests of `run-tests`, which runs the test programs that Cargo has built: the programs that it selects, and
//! its treatment of their exit statuses.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use netbench_testing::script;

/// Returns the line that Cargo writes for a test program at `path`, target `name` of the package in `folder`.
fn built(path: &Path, folder: &Path, name: &str) -> String {
    format!(
        r#"{{"reason":"compiler-artifact","manifest_path":"{}/Cargo.toml","executable":"{}","profile":{{"test":true}},"target":{{"name":"{name}","kind":["test"]}}}}"#,
        folder.display(),
        path.display()
    )
}

/// Makes a folder for one test, with a list of three programs. One of the programs fails.
fn three_programs(name: &str) -> (PathBuf, PathBuf) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // The folder exists if an earlier run was killed.
    let _removed = fs::remove_dir_all(&folder);
    let package = folder.join("store");
    fs::create_dir_all(&package).expect("a folder can be made");
    let lines = [
        (
            "fine",
            r#"echo "test fine ... ok in $PWD"; echo "test result: ok. 1 passed; 0 failed""#,
        ),
        ("fails", r#"echo "test by_chance ... FAILED"; exit 101"#),
        ("timing", r#"echo "test result: ok. 4 passed; 0 failed""#),
    ]
    .map(|(program, body)| {
        let path = folder.join(program);
        script(&path, body);
        built(&path, &package, program)
    });
    let other = r#"{"reason":"compiler-artifact","manifest_path":"/x/Cargo.toml","executable":null,"profile":{"test":true},"target":{"name":"x","kind":["lib"]}}"#;
    let list = folder.join("built.json");
    fs::write(&list, format!("{}\n{other}\n", lines.join("\n"))).expect("a file can be written");
    (folder, list)
}

/// Returns the exit code and the log.
fn run_tests(folder: &Path, list: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let log = folder.join("test.log");
    fs::write(&log, "").expect("the log can be written");
    let output = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("run-tests"))
        .args(arguments)
        .arg(&log)
        .arg(list)
        .output()
        .expect("run-tests starts");
    let said = fs::read_to_string(&log).expect("it writes the log");
    assert_eq!(said, String::from_utf8_lossy(&output.stdout));
    let left: Vec<_> = fs::read_dir(folder)
        .expect("a folder can be read")
        .map(|entry| entry.expect("it can be read").file_name())
        .filter(|name| name.to_string_lossy().starts_with("test.log."))
        .collect();
    assert!(
        left.is_empty() || output.status.code() != Some(0),
        "{left:?}"
    );
    (output.status.code(), said)
}

#[test]
fn each_program_runs_in_the_folder_of_its_package_and_a_failure_is_written_as_cargo_does() {
    let (folder, list) = three_programs("run-tests-all");
    let (code, log) = run_tests(&folder, &list, &["--jobs", "3"]);
    assert_eq!(code, Some(101), "{log}");
    let package = folder.join("store");
    assert!(
        log.contains(&format!("ok in {}", package.display())),
        "{log}"
    );
    let failed = format!(
        "     Running store::fails test ({})\ntest by_chance ... FAILED\n\n\
         error: test failed, to rerun pass `store::fails test` (exit code 101)\n",
        folder.join("fails").display()
    );
    assert!(log.contains(&failed), "{log}");
    assert_eq!(log.matches("Running").count(), 3, "{log}");
}

#[test]
fn only_the_programs_that_are_wanted_run() {
    let (folder, list) = three_programs("run-tests-some");
    for (arguments, code, ran) in [
        (["--only", "store::timing"], 0, vec!["timing"]),
        (
            ["--only", "store::timing store::fine"],
            0,
            vec!["fine", "timing"],
        ),
        (
            ["--except", "store::timing store::fine"],
            101,
            vec!["fails"],
        ),
        (["--only", "store::nothing"], 1, vec![]),
    ] {
        let (ended, log) = run_tests(&folder, &list, &arguments);
        assert_eq!(ended, Some(code), "{arguments:?}: {log}");
        let mut names: Vec<_> = log
            .lines()
            .filter_map(|line| line.strip_prefix("     Running store::")?.split(' ').next())
            .collect();
        names.sort_unstable();
        assert_eq!(names, ran, "{arguments:?}");
    }
}

#[test]
fn each_module_of_a_whole_crate_runs_as_a_program() {
    let (folder, list) = three_programs("run-tests-modules");
    let program = folder.join("main-1");
    let body = r#"case "$*" in
    *--list*) printf '%s: test\n' page::a sweep::b sweep::c whole_page::d ;;
    *) echo "test result: ok. 1 passed; 0 failed: $*" ;;
esac"#;
    script(&program, body);
    fs::write(&list, built(&program, &folder.join("store"), "main") + "\n").expect("a list");
    let page = [
        "Running store::page test (page:: --skip whole_page::)",
        "page:: --skip whole_page::",
    ];
    let others = [
        "Running store::sweep test (sweep::)",
        "sweep::",
        "Running store::whole_page test (whole_page::)",
        "whole_page::",
    ];
    for (option, expected) in [("--only", &page[..]), ("--except", &others)] {
        let (code, log) = run_tests(&folder, &list, &[option, "store::page"]);
        assert_eq!(code, Some(0), "{log}");
        let path = format!("({} ", program.display());
        let log = log
            .replace(&path, "(")
            .replace("test result: ok. 1 passed; 0 failed: --show-output ", "");
        assert_eq!(log.lines().map(str::trim).collect::<Vec<_>>(), expected);
    }

    script(&program, "echo 'alone: test'");
    let (code, log) = run_tests(&folder, &list, &[]);
    assert_eq!((code, log.as_str()), (Some(1), ""));
}

#[test]
fn a_list_without_a_program_is_an_error() {
    let (folder, list) = three_programs("run-tests-none");
    fs::write(&list, "{\"reason\":\"build-finished\",\"success\":true}\n")
        .expect("it can be written");
    let (code, log) = run_tests(&folder, &list, &[]);
    assert_eq!((code, log.as_str()), (Some(1), ""));
}
