//! Tests of `second-try`, which runs failed tests once more: the tests that it finds in a log, and its report
//! on each.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use netbench_testing::script;

/// Makes a folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // The folder exists if an earlier run was killed.
    let _removed = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}

fn second_try(folder: &Path, log: &str) -> Output {
    let path = folder.join("log");
    fs::write(&path, log).expect("the log can be written");
    Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("second-try"))
        .arg(path)
        .arg(folder.join("output"))
        .output()
        .expect("second-try starts")
}

#[test]
fn each_failed_test_is_run_once_more() {
    let folder = folder("second-try");
    let program = folder.join("program-0c4b");
    // The program runs in the folder of its package, and reports the test that was requested.
    let body = r#"grep -q netbench-testing Cargo.toml || exit 9
echo "$*" >> "$0.ran"
case "$2" in
    steady) echo "test result: FAILED. 0 passed; 1 failed"; exit 101 ;;
    gone) echo "test result: ok. 0 passed; 0 failed" ;;
    '') echo "test result: ok. 7 passed; 0 failed; 1 ignored" ;;
    *) echo "test result: ok. 1 passed; 0 failed" ;;
esac"#;
    script(&program, body);
    let source = "program: netbench/testing/tests/second_try.rs netbench/testing/src/lib.rs\n";
    fs::write(program.with_extension("d"), source).expect("a file can be written");
    let died = folder.join("died-11");
    fs::copy(&program, &died).expect("a file can be copied");
    fs::copy(program.with_extension("d"), died.with_extension("d")).expect("it can be copied");
    let (program, died) = (program.display(), died.display());
    let log = format!(
        "     Running tests/fine.rs ({program}x)\ntest fine ... ok\ntest result: ok. 1 passed; 0 failed\n\
         \x20    Running tests/a.rs ({program})\ntest by_chance ... FAILED\ntest fine ... ok\n\
         test [needs x] steady   ... FAILED\ntest a::gone ... FAILED\n\nfailures:\n\n---- by_chance ----\n\
         oh ... FAILED\n\nfailures:\n    by_chance\n\ntest result: FAILED. 1 passed; 3 failed\n\
         error: test failed, to rerun pass `-p a --test a`\n\
         \x20    Running tests/died.rs ({died} a::)\nrunning 8 tests\n\
         error: test failed, to rerun pass `-p a --test died`\n"
    );
    let output = second_try(&folder, &log.replace("a::gone", "gone"));
    let said = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = said.lines().collect();
    let died = format!("second try of all passed: {died} a::");
    assert_eq!(
        lines,
        [
            died.as_str(),
            "test result: ok. 7 passed; 0 failed; 1 ignored",
            "second try passed: by_chance",
            "second try failed: gone",
            "second try failed: steady",
        ]
    );
    assert_eq!(output.status.code(), Some(1));
    let ran = fs::read_to_string(folder.join("program-0c4b.ran")).expect("it ran");
    assert_eq!(ran.lines().count(), 3, "{ran}");
    let ran = fs::read_to_string(folder.join("died-11.ran")).expect("it ran");
    assert_eq!(ran, "a::\n");
    fs::remove_dir_all(folder).expect("the folder can be removed");
}

#[test]
fn nothing_is_run_where_nothing_or_too_much_failed() {
    let folder = folder("second-try-none");
    let output = second_try(&folder, "     Running tests/a.rs (/a)\ntest a ... ok\n");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.is_empty());

    let many: String = (0..30).map(|n| format!("test t{n} ... FAILED\n")).collect();
    let output = second_try(&folder, &format!("     Running tests/a.rs (/a)\n{many}"));
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("more than 20"), "{said}");
    fs::remove_dir_all(folder).expect("the folder can be removed");
}
