//! Stored runs that are no runs, are damaged, or are of another kind.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use crate::support::{Place, finish, published, starting, text};

fn place() -> Place {
    let place = Place::new();
    let (connect, suite) = (published(&place, "101-sites"), published(&place, "bertie"));
    published(&place, "s2n");
    let manifest = text(&connect, "run.json");
    let [samples, of_suite] =
        [&connect, &suite].map(|run| fs::read(run.join("samples.jsonl.zst")).unwrap());
    let kind = manifest.replacen("\"kind\": \"connect\"", "\"kind\": \"quantum\"", 1);
    let newer = manifest.replacen("\"schema\": 2", "\"schema\": 99", 1);
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

const CASES: &str = r#"
# Paths that are no runs.
runs report missing => missing: no such run folder
runs report file => file
runs report folder => folder: not a run & run.json
runs report is-folder => is-folder
runs report loop => loop
runs report /dev/null => /dev/null
runs report bertie/run.json => bertie/run.json
runs report missing --format html => missing
runs report folder --format html => run.json
run . => not a run: the folder has no run.json
run missing => missing: no such run folder
run file => file
run folder => folder: not a run
run cut => cut/run.json: not a manifest
run empty => empty/run.json: not a manifest
run list => list/run.json: not a manifest
# Manifests.
runs report cut => cut/run.json: not a manifest
runs report empty => empty/run.json: not a manifest
runs report binary => binary/run.json: not a manifest
runs report list => list/run.json: not a manifest
runs report number => number/run.json: not a manifest
runs report deep => deep/run.json: not a manifest
runs report newer => schema 99 is newer
runs report kind => unknown kind of run "quantum"
runs report cut --format html => cut/run.json
runs explain cut => cut/run.json: not a manifest
runs show binary => binary/run.json
runs prune --compress missing => missing: no such folder of runs
runs list bertie => a run, not a folder of runs
# Samples.
runs report garbage-samples => not a whole zstd file
runs report cut-samples => not a whole zstd file
runs report text-samples => line 1: not a sample
runs report binary-samples => line 1: not a sample
runs report other-samples => line 1: not a sample
runs report device-samples => samples.jsonl: not a file
runs report pipe-samples => samples.jsonl: not a file
runs prune --compress pipe-samples => samples.jsonl: not a file
runs explain text-samples => line 1: not a sample
runs report suite-samples => line 1: not a sample
runs merge text-samples --out new => text-samples
runs prune --compress text-samples => text-samples/samples.jsonl, line 1: not a sample & without this line
runs prune --compress binary-samples => line 1: not a sample
runs prune --compress garbage-samples => not a whole zstd file
# The wrong kind.
runs explain bertie --from openssl --to rustls-ring => --from & runs of connect
runs compare missing missing => no such run folder
runs compare bertie folder => folder: not a run
runs compare bertie 101-sites => 101-sites
runs compare bertie s2n => the runs differ in
runs compare bertie --stack openssl,rustls-rng => did you mean "rustls-ring"?
runs compare bertie --join => --join takes two runs
runs compare bertie bertie bertie --fail-on-regression 2% => two runs
runs compare bertie --allow-different => --allow-different-settings
runs merge bertie --out new => runs of suite cannot be merged
runs merge 101-sites bertie --out new => bertie
runs merge 101-sites missing --out new => missing: no such run folder
runs merge 101-sites 101-sites --out new => 101-sites
run bertie --client-cert me.pem => a run of suite presents no certificate
run bertie --header X-Key:1 => a run of suite sends no headers
run kind => unknown kind of run "quantum"
run cut --rounds 3 => unknown option & --rounds
run newer => newer/run.json & schema 99 is newer than this netbench
setup sites record bertie => bertie & suite & scan
runs explain 101-sites --from openssl --to boringssl => no stack "boringssl"
runs explain 101-sites --from openssl --to openssl => the same stack
# Destinations of reports.
runs report bertie s2n --open => --output
runs report bertie bertie --format csv => --format csv takes one run
"#;

const FAILURES: &str = r"
# Destinations of reports.
runs report bertie --output folder => folder & directory
runs report bertie --output missing/x.html => missing/x.html & No such file
runs report bertie --format html --output file/x => file/x
";

#[test]
fn stored_runs() {
    let place = place();
    place.refuses(2, CASES);
    place.refuses(1, FAILURES);
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
        let mut command = Command::new(if is_root { "setpriv" } else { "env" });
        command.args(is_root.then_some(without));
        let done = finish(starting(&mut command, &place.command_line(line))).expect(1);
        done.tells("locked");
        done.tells("Permission denied");
    }
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
}
