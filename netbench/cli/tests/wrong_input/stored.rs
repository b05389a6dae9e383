//! Stored runs that are no runs, are damaged, or are of another kind.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use super::{Case, check};
use crate::support::{Place, finish, published, text, words};

fn place() -> Place {
    let place = Place::new();
    let (connect, suite) = (published(&place, "101-sites"), published(&place, "bertie"));
    published(&place, "s2n");
    let manifest = text(&connect, "run.json");
    let [samples, of_suite] =
        [&connect, &suite].map(|run| fs::read(run.join("samples.jsonl.zst")).unwrap());
    let kind = manifest.replacen("\"schema\": 1,", "\"schema\": 1, \"kind\": \"quantum\",", 1);
    let newer = manifest.replacen("\"schema\": 1", "\"schema\": 99", 1);
    let escape = manifest.replacen("\"name\": \"", "\"name\": \"\\u001b[31m", 1);
    let (plain, packed) = ("samples.jsonl", "samples.jsonl.zst");
    let whole = manifest.as_bytes();
    for (name, manifest, samples) in [
        ("no-samples", whole, None),
        ("garbage-samples", whole, Some((packed, &b"garbage"[..]))),
        (
            "cut-samples",
            whole,
            Some((packed, &samples[..samples.len() / 2])),
        ),
        ("text-samples", whole, Some((plain, b"hello\nworld\n"))),
        ("binary-samples", whole, Some((plain, b"\0\xff\xfe\n\0\n"))),
        (
            "other-samples",
            whole,
            Some((plain, b"{\"schema\":2}\n{}\n")),
        ),
        ("suite-samples", whole, Some((packed, &of_suite))),
        ("device-samples", whole, None),
        ("pipe-samples", whole, None),
        ("cut", &whole[..whole.len() / 2], None),
        ("empty", b"", None),
        ("binary", b"\0\x01\xff\xfe", None),
        ("list", b"[1, 2, 3]", None),
        ("number", b"{\"schema\": \"one\"}", None),
        ("deep", &[b'['; 100_000], None),
        ("newer", newer.as_bytes(), Some((packed, &samples))),
        ("kind", kind.as_bytes(), Some((packed, &samples))),
        ("escape", escape.as_bytes(), Some((plain, b""))),
    ] {
        let folder = place.path().join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("run.json"), manifest).unwrap();
        if let Some((file, samples)) = samples {
            fs::write(folder.join(file), samples).unwrap();
        }
    }
    let device = place.path().join("device-samples/samples.jsonl");
    std::os::unix::fs::symlink("/dev/zero", device).unwrap();
    // It has no writer.
    let pipe = place.path().join("pipe-samples/samples.jsonl");
    finish(Command::new("mkfifo").arg(pipe)).expect(0);
    place.write("file", "text");
    fs::create_dir(place.path().join("folder")).unwrap();
    fs::create_dir_all(place.path().join("is-folder/run.json")).unwrap();
    std::os::unix::fs::symlink("loop", place.path().join("loop")).unwrap();
    place
}

const CASES: &[Case] = &[
    // Paths that are no runs.
    ("runs report missing", 2, &["missing: no such run folder"]),
    ("runs report file", 2, &["file"]),
    ("runs report folder", 2, &["folder: not a run", "run.json"]),
    ("runs report is-folder", 2, &["is-folder"]),
    ("runs report loop", 2, &["loop"]),
    ("runs report /dev/null", 2, &["/dev/null"]),
    ("runs report bertie/run.json", 2, &["bertie/run.json"]),
    ("run missing", 2, &["missing: no such run folder"]),
    ("run file", 2, &["file"]),
    ("run folder", 2, &["folder: not a run"]),
    ("run cut", 2, &["cut/run.json: not a manifest"]),
    ("run empty", 2, &["empty/run.json: not a manifest"]),
    ("run list", 2, &["list/run.json: not a manifest"]),
    // Manifests.
    ("runs report cut", 2, &["cut/run.json: not a manifest"]),
    ("runs report empty", 2, &["empty/run.json: not a manifest"]),
    (
        "runs report binary",
        2,
        &["binary/run.json: not a manifest"],
    ),
    ("runs report list", 2, &["list/run.json: not a manifest"]),
    (
        "runs report number",
        2,
        &["number/run.json: not a manifest"],
    ),
    ("runs report deep", 2, &["deep/run.json: not a manifest"]),
    ("runs report newer", 2, &["schema 99 is newer"]),
    ("runs report kind", 2, &["unknown kind of run \"quantum\""]),
    ("runs explain cut", 2, &["cut/run.json: not a manifest"]),
    ("runs show binary", 2, &["binary/run.json"]),
    (
        "runs prune --compress missing",
        2,
        &["missing: no such folder of runs"],
    ),
    ("runs list bertie", 2, &["a run, not a folder of runs"]),
    // Samples.
    ("runs report garbage-samples", 2, &["not a whole zstd file"]),
    ("runs report cut-samples", 2, &["not a whole zstd file"]),
    ("runs report text-samples", 2, &["line 1: not a sample"]),
    ("runs report binary-samples", 2, &["line 1: not a sample"]),
    ("runs report other-samples", 2, &["line 1: not a sample"]),
    (
        "runs report device-samples",
        2,
        &["samples.jsonl: not a file"],
    ),
    (
        "runs report pipe-samples",
        2,
        &["samples.jsonl: not a file"],
    ),
    (
        "runs prune --compress pipe-samples",
        2,
        &["samples.jsonl: not a file"],
    ),
    ("runs explain text-samples", 2, &["line 1: not a sample"]),
    ("runs report suite-samples", 2, &["line 1: not a sample"]),
    ("runs merge text-samples --out new", 2, &["text-samples"]),
    (
        "runs prune --compress text-samples",
        2,
        &[
            "text-samples/samples.jsonl, line 1: not a sample",
            "without this line",
        ],
    ),
    (
        "runs prune --compress binary-samples",
        2,
        &["line 1: not a sample"],
    ),
    (
        "runs prune --compress garbage-samples",
        2,
        &["not a whole zstd file"],
    ),
    // The wrong kind.
    (
        "runs explain bertie --from openssl --to rustls-ring",
        2,
        &["--from", "runs of connect"],
    ),
    ("runs compare bertie folder", 2, &["folder: not a run"]),
    ("runs compare bertie 101-sites", 2, &["101-sites"]),
    ("runs compare bertie s2n", 2, &["the runs differ in"]),
    (
        "runs compare bertie --stack openssl,rustls-rng",
        2,
        &["did you mean \"rustls-ring\"?"],
    ),
    ("runs compare bertie --join", 2, &["--join takes two runs"]),
    (
        "runs compare bertie bertie bertie --fail-on-regression 2%",
        2,
        &["two runs"],
    ),
    (
        "runs compare bertie --allow-different",
        2,
        &["--allow-different-settings"],
    ),
    (
        "runs merge bertie --out new",
        2,
        &["runs of suite cannot be merged"],
    ),
    ("runs merge 101-sites bertie --out new", 2, &["bertie"]),
    (
        "runs merge 101-sites missing --out new",
        2,
        &["missing: no such run folder"],
    ),
    (
        "runs merge 101-sites 101-sites --out new",
        2,
        &["101-sites"],
    ),
    (
        "run bertie --client-cert me.pem",
        2,
        &["a run of suite presents no certificate"],
    ),
    (
        "run bertie --header X-Key:1",
        2,
        &["a run of suite sends no headers"],
    ),
    ("run kind", 2, &["unknown kind of run \"quantum\""]),
    ("run newer", 2, &["schema 99 is newer"]),
    ("setup sites record bertie", 2, &["bertie", "suite", "scan"]),
    (
        "runs explain 101-sites --from openssl --to boringssl",
        2,
        &["no stack \"boringssl\""],
    ),
    (
        "runs explain 101-sites --from openssl --to openssl",
        2,
        &["the same stack"],
    ),
    // Destinations of reports.
    (
        "runs report bertie --output folder",
        1,
        &["folder", "directory"],
    ),
    (
        "runs report bertie --output missing/x.html",
        1,
        &["missing/x.html", "No such file"],
    ),
    (
        "runs report bertie --format html --output file/x",
        1,
        &["file/x"],
    ),
    (
        "runs report bertie bertie --format csv",
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
        "runs report locked",
        "runs report locked/run",
        "runs prune --compress locked",
        "run locked",
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
