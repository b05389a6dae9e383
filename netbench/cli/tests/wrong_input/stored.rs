//! Stored runs that are no runs, are damaged, or are of another kind.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use crate::{
    Case, check,
    support::{Place, finish, published, words},
};

fn place() -> Place {
    let place = Place::new();
    let (connect, suite) = (published(&place, "101-sites"), published(&place, "bertie"));
    published(&place, "s2n");
    let manifest = fs::read_to_string(connect.join("run.json")).unwrap();
    let read = |run: &Path| -> &'static [u8] {
        let samples = fs::read(run.join("samples.jsonl.zst")).unwrap();
        Box::leak(samples.into_boxed_slice())
    };
    let (samples, of_suite) = (read(&connect), read(&suite));
    let made = |name: &str, manifest: &[u8], samples: Option<(&str, &[u8])>| {
        let folder = place.path().join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("run.json"), manifest).unwrap();
        if let Some((file, samples)) = samples {
            fs::write(folder.join(file), samples).unwrap();
        }
    };
    let packed = |bytes: &'static [u8]| Some(("samples.jsonl.zst", bytes));
    let plain = |bytes: &'static [u8]| Some(("samples.jsonl", bytes));
    let kind = manifest.replacen("\"schema\": 1,", "\"schema\": 1, \"kind\": \"quantum\",", 1);
    let newer = manifest.replacen("\"schema\": 1", "\"schema\": 99", 1);
    let escape = manifest.replacen("\"name\": \"", "\"name\": \"\\u001b[31m", 1);
    made("no-samples", manifest.as_bytes(), None);
    made("garbage-samples", manifest.as_bytes(), packed(b"garbage"));
    made(
        "cut-samples",
        manifest.as_bytes(),
        packed(&samples[..samples.len() / 2]),
    );
    made(
        "text-samples",
        manifest.as_bytes(),
        plain(b"hello\nworld\n"),
    );
    made(
        "binary-samples",
        manifest.as_bytes(),
        plain(b"\0\xff\xfe\n\0\n"),
    );
    made(
        "other-samples",
        manifest.as_bytes(),
        plain(b"{\"schema\":2}\n{}\n"),
    );
    made("suite-samples", manifest.as_bytes(), packed(of_suite));
    made("device-samples", manifest.as_bytes(), None);
    let device = place.path().join("device-samples/samples.jsonl");
    std::os::unix::fs::symlink("/dev/zero", device).unwrap();
    made("pipe-samples", manifest.as_bytes(), None);
    // Nobody writes to it.
    let pipe = place.path().join("pipe-samples/samples.jsonl");
    finish(Command::new("mkfifo").arg(pipe)).expect(0);
    made("cut", &manifest.as_bytes()[..manifest.len() / 2], None);
    made("empty", b"", None);
    made("binary", b"\0\x01\xff\xfe", None);
    made("list", b"[1, 2, 3]", None);
    made("number", b"{\"schema\": \"one\"}", None);
    made("deep", "[".repeat(100_000).as_bytes(), None);
    made("newer", newer.as_bytes(), packed(samples));
    made("kind", kind.as_bytes(), packed(samples));
    made("escape", escape.as_bytes(), plain(b""));
    place.write("file", "text");
    fs::create_dir(place.path().join("folder")).unwrap();
    fs::create_dir_all(place.path().join("is-folder/run.json")).unwrap();
    std::os::unix::fs::symlink("loop", place.path().join("loop")).unwrap();
    place
}

const CASES: &[Case] = &[
    // Paths that are no runs.
    ("report missing", 2, &["missing: no such run folder"]),
    ("report file", 2, &["file"]),
    ("report folder", 2, &["folder: not a run", "run.json"]),
    ("report is-folder", 2, &["is-folder"]),
    ("report loop", 2, &["loop"]),
    ("report /dev/null", 2, &["/dev/null"]),
    ("report bertie/run.json", 2, &["bertie/run.json"]),
    (
        "connect --resume missing",
        2,
        &["missing: no such run folder"],
    ),
    ("connect --resume file", 2, &["file"]),
    ("connect --resume folder", 2, &["folder: not a run"]),
    ("suite --resume cut", 2, &["cut/run.json: not a manifest"]),
    (
        "scan --resume empty",
        2,
        &["empty/run.json: not a manifest"],
    ),
    (
        "evaluate --resume list",
        2,
        &["list/run.json: not a manifest"],
    ),
    // Manifests.
    ("report cut", 2, &["cut/run.json: not a manifest"]),
    ("report empty", 2, &["empty/run.json: not a manifest"]),
    ("report binary", 2, &["binary/run.json: not a manifest"]),
    ("report list", 2, &["list/run.json: not a manifest"]),
    ("report number", 2, &["number/run.json: not a manifest"]),
    ("report deep", 2, &["deep/run.json: not a manifest"]),
    ("report newer", 2, &["schema 99 is newer"]),
    ("report kind", 2, &["unknown kind of run \"quantum\""]),
    ("explain cut", 2, &["cut/run.json: not a manifest"]),
    ("results show binary", 2, &["binary/run.json"]),
    ("results pack missing", 2, &["missing: no such run folder"]),
    ("results list bertie", 2, &["a run, not a folder of runs"]),
    // Samples.
    ("report garbage-samples", 2, &["not a whole zstd file"]),
    ("report cut-samples", 2, &["not a whole zstd file"]),
    ("report text-samples", 2, &["line 1: not a sample"]),
    ("report binary-samples", 2, &["line 1: not a sample"]),
    ("report other-samples", 2, &["line 1: not a sample"]),
    ("report device-samples", 2, &["samples.jsonl: not a file"]),
    ("report pipe-samples", 2, &["samples.jsonl: not a file"]),
    (
        "results pack pipe-samples",
        2,
        &["samples.jsonl: not a file"],
    ),
    ("explain text-samples", 2, &["line 1: not a sample"]),
    ("report suite-samples", 2, &["line 1: not a sample"]),
    ("merge text-samples --out new", 2, &["text-samples"]),
    (
        "results pack text-samples",
        2,
        &[
            "text-samples/samples.jsonl, line 1: not a sample",
            "without this line",
        ],
    ),
    ("results pack binary-samples", 2, &["line 1: not a sample"]),
    (
        "results pack garbage-samples",
        2,
        &["not a whole zstd file"],
    ),
    // The wrong kind.
    (
        "explain bertie --from openssl --to rustls-ring",
        2,
        &["--from", "runs of connect"],
    ),
    ("compare bertie folder", 2, &["folder: not a run"]),
    ("compare bertie 101-sites", 2, &["101-sites"]),
    ("compare bertie s2n", 2, &["the runs differ in"]),
    (
        "compare bertie --stack openssl,rustls-rng",
        2,
        &["did you mean \"rustls-ring\"?"],
    ),
    ("compare bertie --join", 2, &["--join takes two runs"]),
    (
        "compare bertie bertie bertie --fail-on-regression 2%",
        2,
        &["two runs"],
    ),
    (
        "compare bertie --allow-different",
        2,
        &["--allow-different-settings"],
    ),
    (
        "merge bertie --out new",
        2,
        &["runs of suite cannot be merged"],
    ),
    ("merge 101-sites bertie --out new", 2, &["bertie"]),
    (
        "merge 101-sites missing --out new",
        2,
        &["missing: no such run folder"],
    ),
    ("merge 101-sites 101-sites --out new", 2, &["101-sites"]),
    (
        "connect --resume bertie",
        2,
        &["bertie", "suite", "connect"],
    ),
    (
        "suite --resume 101-sites",
        2,
        &["101-sites", "connect", "suite"],
    ),
    (
        "scan --resume 101-sites",
        2,
        &["101-sites", "connect", "scan"],
    ),
    (
        "evaluate --resume bertie",
        2,
        &["bertie", "suite", "evaluation"],
    ),
    ("sites record bertie", 2, &["bertie", "suite", "scan"]),
    (
        "explain 101-sites --from openssl --to boringssl",
        2,
        &["no stack \"boringssl\""],
    ),
    (
        "explain 101-sites --from openssl --to openssl",
        2,
        &["the same stack"],
    ),
    // Destinations of reports.
    ("report bertie --output folder", 1, &["folder", "directory"]),
    (
        "report bertie --output missing/x.html",
        1,
        &["missing/x.html", "No such file"],
    ),
    (
        "report bertie --format html --output file/x",
        1,
        &["file/x"],
    ),
    (
        "report bertie bertie --format csv",
        2,
        &["--format csv takes one run"],
    ),
];

#[test]
fn stored_runs() {
    let place = place();
    check(&place, CASES);
    assert!(!place.path().join("new").exists(), "a merge has begun");
    assert!(!Path::new("/dev/null/summary.md").exists());
}

#[test]
fn a_run_that_may_not_be_read_is_not_called_none() {
    let place = place();
    let locked = place.path().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::copy(
        place.path().join("bertie/run.json"),
        locked.join("run.json"),
    )
    .unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    // Root may read every file, unless it runs without these capabilities.
    let without = "--bounding-set=-dac_override,-dac_read_search";
    let is_root = finish(Command::new("id").arg("-u")).stdout.trim() == "0";
    for line in [
        "report locked",
        "report locked/run",
        "results pack locked",
        "connect --resume locked",
    ] {
        let netbench = place.command(&words(line));
        let mut command = Command::new(if is_root { "setpriv" } else { "env" });
        command
            .args(is_root.then_some(without))
            .arg(netbench.get_program())
            .args(netbench.get_args());
        let done = finish(command.current_dir(place.path())).expect(1);
        assert!(done.stderr.contains("locked"), "{line}: {}", done.stderr);
        assert!(
            done.stderr.contains("Permission denied"),
            "{line}: {}",
            done.stderr
        );
    }
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
}
