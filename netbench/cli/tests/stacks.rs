//! `netbench stacks`: its output, that it builds only on request, and the defects that it finds.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    fs,
    path::Path,
    time::{Duration, SystemTime},
};

use crate::{
    checkout::{
        GO, add_tools, alone, builds, cached_workers, checkout, command_alone,
        fails_with_own_tools, go, log, log_of, remove_tools,
    },
    support::{Place, assert_contains, check, finish, json, names_in},
};

#[test]
fn listing_builds_nothing() {
    let place = checkout();
    for line in ["stacks", "stacks list"] {
        let said = alone(&place, line).expect(0).stdout;
        assert!(said.contains("rustls-ring"), "{said}");
        let missing = "not built; netbench stacks build openssl builds it";
        assert!(said.contains(missing), "{said}");
    }
    let json = alone(&place, "stacks --json").expect(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    check("stacks.json", &json.to_string());
    let stacks = json["stacks"].as_array().unwrap();
    assert!(stacks.iter().any(|stack| stack["stack"] == "openssl"));
    for stack in stacks {
        assert_eq!(stack["worker"], serde_json::Value::Null, "{stack}");
        assert_eq!(stack["state"], "not-built", "{stack}");
        assert_contains(stack["problem"].as_str().unwrap(), "not built");
    }
    assert_eq!(log(&place), "");
}

#[test]
fn a_command_knows_the_checkout_that_it_was_built_from() {
    let place = Place::new();
    let said = alone(&place, "stacks").expect(0).stdout;
    assert!(!said.contains("neither its worker nor"), "{said}");
    let said = alone(&place, "bogo --stored --shim rustls")
        .expect(0)
        .stdout;
    assert!(said.contains("ALPN"), "{said}");
}

#[test]
fn workers_are_built_into_the_cache_and_found_there() {
    let place = checkout();
    let done = alone(
        &place,
        "stacks build openssl openssl+release-buffers rustls-aws-lc+nojitter",
    )
    .expect(0);
    assert_eq!(done.stdout.lines().count(), 2, "{}", done.stdout);
    // One build for both names of a worker.
    let lines = builds::<2>(&place);
    assert_contains(&lines[0], "-p netbench-stack-openssl ");
    assert_contains(&lines[1], "env.AWS_LC_SYS_NO_JITTER_ENTROPY='1'");
    let cache = cached_workers(&place);
    for file in ["netbench-worker-openssl", "nojitter/netbench-worker-rustls"] {
        assert!(cache.join(file).is_file(), "{file}");
    }

    // The worker stays without the checkout's target folder.
    fs::remove_dir_all(place.path().join("target")).unwrap();
    let worker = "#!/bin/sh\nexit 3\n";
    netbench_testing::script(&cache.join("netbench-worker-openssl"), worker);
    let said = alone(&place, "stacks").expect(0).stdout;
    assert!(said.contains("\ndoes not work: stack openssl: "), "{said}");
    let found = format!(
        "in the cache: {}",
        cache.join("netbench-worker-openssl").display()
    );
    assert!(said.contains(&found), "{said}");

    // A worker that was built in the tree later is newer.
    let built = place.path().join("target/release/netbench-worker-openssl");
    fs::create_dir_all(built.parent().unwrap()).unwrap();
    netbench_testing::script(&built, worker);
    make_newer(&built);
    let said = alone(&place, "stacks").expect(0).stdout;
    assert!(said.contains("in the source tree: "), "{said}");
}

/// Makes a file as new as one of the next minute.
fn make_newer(file: &Path) {
    let later = SystemTime::now() + Duration::from_secs(60);
    let file = fs::File::options().append(true).open(file).unwrap();
    file.set_modified(later).unwrap();
}

/// Returns the entry of a stack in `netbench stacks --json`.
fn stack(place: &Place, name: &str) -> serde_json::Value {
    let stacks = alone(place, "stacks --json").expect(0).stdout;
    check("stacks.json", &stacks);
    let stacks: serde_json::Value = json(&stacks);
    let mut stacks = stacks["stacks"].as_array().unwrap().iter();
    stacks.find(|stack| stack["stack"] == name).unwrap().clone()
}

fn build_of_openssl(place: &Place) -> serde_json::Value {
    stack(place, "openssl")["build"].clone()
}

#[test]
fn what_a_build_took_is_kept_with_its_worker_until_that_changes() {
    let place = checkout();
    let slow =
        "sleep 0.3\nmkdir -p \"$7/release\"\necho made > \"$7/release/netbench-worker-openssl\"";
    place.script("cargo", slow);
    alone(&place, "stacks build openssl").expect(0);
    let took = build_of_openssl(&place)["wall_ms"].as_u64().unwrap();
    assert!((300..20_000).contains(&took), "{took}");

    // A build with nothing to do leaves the time unchanged.
    place.script("cargo", "exit 0");
    alone(&place, "stacks build openssl").expect(0);
    assert_eq!(build_of_openssl(&place)["wall_ms"], took);

    // A later build by another tool has no time.
    let built = place.path().join("target/release/netbench-worker-openssl");
    make_newer(&built);
    assert_eq!(build_of_openssl(&place), serde_json::Value::Null);

    alone(&place, "stacks clean").expect(0);
    assert_eq!(names_in(&cached_workers(&place)), [""; 0]);
}

#[test]
fn one_that_cannot_be_built_does_not_keep_the_others_from_it() {
    let place = checkout();
    let done = alone(&place, "stacks build --all").expect(1);
    done.tells("no headers");
    assert!(
        done.stderr.ends_with("not built: openssl-system\n"),
        "{}",
        done.stderr
    );
    for name in [
        "openssl:",
        "rustls-aws-lc:",
        "rustls-aws-lc+nojitter:",
        "counts allocations:",
    ] {
        done.prints(name);
    }
}

#[test]
fn one_call_of_cargo_builds_the_workers_that_a_run_lacks() {
    let place = checkout();
    let line = "suite --stack openssl,rustls-aws-lc,rustls-ring,openssl-system --yes";
    let done = alone(&place, line).expect(1);
    done.tells("Building the openssl worker and the rustls-aws-lc worker (once)");
    let [both, alone] = builds(&place);
    let packages =
        "build --locked --keep-going --release -p netbench-stack-openssl -p netbench-stack-rustls";
    assert!(both.starts_with(packages), "{both}");
    let worker = "build --locked --release -p netbench-stack-openssl-system";
    assert!(alone.starts_with(worker), "{alone}");
}

#[test]
fn a_worker_that_fails_beside_another_is_built_alone_for_its_error() {
    let place = checkout();
    let cargo = r#"echo "$*" >> cargo.log
mkdir -p target/release
case "$*" in *-openssl*) echo > target/release/netbench-worker-openssl ;; esac
case "$*" in *-rustls*) echo "no assembler" >&2; exit 101 ;; esac"#;
    place.script("cargo", cargo);
    let done = alone(&place, "suite --stack openssl,rustls-aws-lc --yes").expect(1);
    let texts = [
        "Not all of them were built",
        "Building the rustls-aws-lc worker (once)",
        "no assembler\n",
        "-p netbench-stack-rustls",
    ];
    let rest = texts.iter().try_fold(&*done.stderr, |rest, text| {
        rest.split_once(text).map(|(_, rest)| rest)
    });
    assert!(rest.is_some(), "{}", done.stderr);
    let [_, alone] = builds(&place);
    assert!(alone.contains("-p netbench-stack-rustls"), "{alone}");
}

#[test]
fn without_cargo_nothing_is_built() {
    let place = checkout();
    fs::remove_file(place.path().join("cargo")).unwrap();
    let said = alone(&place, "stacks build openssl").expect(1).stderr;
    assert!(said.contains("https://rustup.rs"), "{said}");
    assert!(!Path::new(&place.path().join("target")).exists());
}

#[test]
fn a_worker_in_go_is_built_by_go() {
    let place = checkout();
    let done = alone(&place, "stacks build go").expect(0);
    assert_eq!(
        done.stderr, "netbench: Building the go worker (once)\n",
        "{}",
        done.stderr
    );
    let built = place.path().join("target/release/netbench-worker-go");
    let line = log_of(&place, "tools/go.log");
    let options = "-trimpath -buildvcs=false -ldflags=-checklinkname=0";
    let start = format!("build {options} -o {}.", built.display());
    assert!(line.starts_with(&start), "{line}");
    assert_eq!(log(&place), "", "Cargo has no part in it");
    assert!(cached_workers(&place).join("netbench-worker-go").is_file());
    assert!(!built.with_extension("log").exists());
}

#[test]
fn a_worker_in_go_that_cannot_be_built_says_why() {
    let old = "go: go.mod requires go >= 1.26.0 (running go 1.22.1; GOTOOLCHAIN=local)";
    let long: Vec<String> = (1..=30)
        .map(|line| format!("./main.go:{line}:2: wrong"))
        .collect();
    let long = long.join("\n");
    let cases = [
        (old, vec!["a newer Go is needed (https://go.dev/dl)", old]),
        (&long, vec!["main.go:19:2", "main.go:30:2"]),
    ];
    for (said, expected) in cases {
        let place = checkout();
        go(&place, &format!("cat >&2 <<'END'\n{said}\nEND\nexit 1"));
        let done = alone(&place, "stacks build go").expect(1);
        for words in expected {
            done.tells(words);
        }
        assert!(!done.stderr.contains("main.go:18:2"), "{}", done.stderr);
        let kept = place.path().join("target/release/netbench-worker-go.log");
        let names_it = format!("its log is {}", kept.display());
        done.tells(&names_it);
        assert_eq!(fs::read_to_string(&kept).unwrap().trim_end(), said);
    }
}

#[test]
fn without_go_a_worker_in_go_is_not_built() {
    let place = checkout();
    remove_tools(&place, &["go"]);
    let said = fails_with_own_tools(&place, "stacks build go").stderr;
    let missing = "not here: Go\non Debian and Ubuntu: apt-get install golang-go\n";
    assert!(said.contains(missing), "{said}");
    assert!(said.ends_with("not built: go\n"), "{said}");
    assert!(!place.path().join("target").exists());
}

#[test]
fn some_workers_are_built_from_lock_files_of_their_own() {
    let place = checkout();
    alone(
        &place,
        "stacks build servo servo+webpki-roots servo+jemalloc rustls@0.24-dev s2n-tls-openssl",
    )
    .expect(0);
    let expected = [
        "--manifest-path stacks/servo/Cargo.toml",
        "--manifest-path stacks/servo/Cargo.toml --features netbench-worker/jemalloc",
        "--manifest-path stacks/rustls-dev/Cargo.toml",
        "--manifest-path stacks/s2n-tls-openssl/Cargo.toml",
    ];
    for (line, expected) in builds::<4>(&place).iter().zip(expected) {
        assert!(line.ends_with(expected), "{line}");
    }
}

#[test]
fn a_worker_in_java_is_compiled_where_there_is_a_jdk() {
    let place = checkout();
    let done = alone(&place, "stacks build java").expect(0);
    assert!(done.stdout.starts_with("java: "), "{}", done.stdout);
    let built = place.path().join("target/release/netbench-worker-java");
    assert_eq!(fs::read_to_string(&built).unwrap(), "java\n");
    assert_eq!(log(&place), "", "Cargo has no part in it");

    remove_tools(&place, &["javac"]);
    let said = fails_with_own_tools(&place, "stacks build java").stderr;
    let missing = "not here: a JDK, 17 or later (javac in PATH, or in bin of JAVA_HOME)\n";
    assert!(said.contains(missing), "{said}");
    let mut command = command_alone(&place, "stacks build java");
    command.env("JAVA_HOME", place.path().join("no-such-jdk"));
    let said = finish(&mut command).expect(1).stderr;
    assert!(said.contains(missing), "{said}");
}

#[test]
fn a_stack_is_its_folder() {
    let place = checkout();
    let file = place.path().join("stacks/mine/stack.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let text = r#"tests = "apart"
libraries = ["mylib"]

[build]
needs = ["mytool"]

[needs.mytool]
what = "my tool"
packages = "mytool"
check = "[ -e mytool ]"

[licences]
mylib = "MIT"

[[stack]]
name = "mine"
about = "my library"
"#;
    fs::write(&file, text).unwrap();
    let mine = stack(&place, "mine");
    assert_eq!(mine["about"], "my library");
    assert_eq!(mine["licences"][0]["spdx"], "MIT");
    let said = alone(&place, "connect --stack min,openssl")
        .expect(2)
        .stderr;
    assert!(said.contains("did you mean \"mine\"?"), "{said}");

    let said = alone(&place, "stacks build mine").expect(1).stderr;
    let missing = "not here: my tool\non Debian and Ubuntu: apt-get install mytool\n";
    assert!(said.contains(missing), "{said}");
    fs::write(place.path().join("mytool"), "").unwrap();
    let done = alone(&place, "stacks build mine").expect(0);
    assert!(done.stdout.starts_with("mine: "), "{}", done.stdout);
    let built = log(&place);
    assert!(built.contains("-p netbench-stack-mine "), "{built}");

    for (wrong, line, reason) in [
        ("check = \"[ -e mytool ]\"", 7, "missing field `check`"),
        ("about = \"my library\"", 15, "missing field `about`"),
        ("mylib = \"MIT\"", 2, "the licence of this library"),
        ("needs = [\"mytool\"]", 7, "no effect"),
    ] {
        fs::write(&file, text.replace(wrong, "")).unwrap();
        for command in ["stacks", "stacks build openssl", "ship"] {
            let said = alone(&place, command).expect(2).stderr;
            let start = format!("netbench: stacks/mine/stack.toml:{line}: ");
            assert!(said.contains(&start) && said.contains(reason), "{said}");
        }
    }
    fs::write(&file, b"\xff").unwrap();
    let said = alone(&place, "stacks").expect(2).stderr;
    let unreadable = "stacks/mine/stack.toml:1: cannot be read";
    assert!(said.contains(unreadable), "{said}");
}

#[test]
fn what_a_build_lacks_is_found_out_before_it_begins() {
    let place = checkout();
    remove_tools(&place, &["cmake", "c++"]);
    fails_with_own_tools(&place, "stacks build boringssl")
        .tells("CMake, a C++ compiler")
        .tells("apt-get install cmake g++");
    assert_eq!(log(&place), "", "Cargo was not called");

    remove_tools(&place, &["go"]);
    fails_with_own_tools(&place, "stacks build rustls-aws-lc+fips")
        .tells("here: CMake, Go, perl, a C++ compiler")
        .tells("apt-get install cmake golang-go perl g++");
    assert_eq!(log(&place), "", "Cargo was not called");

    add_tools(&place, &["cmake", "c++"]);
    go(&place, GO);
    let done = alone(&place, "stacks build boringssl").expect(0);
    assert!(done.stdout.starts_with("boringssl: "), "{}", done.stdout);

    place.script("tools/pkg-config", r#"[ "$2" = fontconfig ]"#);
    for (stack, lacks, package) in [
        ("servo", "FreeType's", "libfreetype-dev"),
        ("gnutls", "GnuTLS'", "libgnutls28-dev"),
        ("nss", "NSS'", "libnss3-dev"),
    ] {
        let done = alone(&place, &format!("stacks build {stack}")).expect(1);
        done.tells(&format!("not here: {lacks} headers\n"));
        done.tells(&format!("apt-get install {package}"));
    }
}

#[test]
fn what_builds_left_behind_is_deleted_and_workers_are_kept() {
    let place = checkout();
    add_tools(&place, &["gcc", "g++"]);
    alone(&place, "stacks build rustls-ring rustls-ring+jemalloc+gcc").expect(0);
    let target = place.path().join("target");
    // Cargo marks its folders; no other folder is mistaken for one.
    for folder in ["jemalloc+gcc", "openssl@", "release", "mine", "lto+mine"] {
        fs::create_dir_all(target.join(folder)).unwrap();
        fs::write(target.join(folder).join("CACHEDIR.TAG"), "made by Cargo").unwrap();
    }
    fs::create_dir_all(target.join("native")).unwrap();
    fs::write(target.join("native/kept"), "no target folder").unwrap();
    let openssl = place.path().join("cache/netbench/openssl");
    fs::create_dir_all(&openssl).unwrap();
    fs::write(openssl.join("libssl.a"), "a library").unwrap();

    let said = alone(&place, "stacks clean --objects").expect(0).stdout;
    assert_eq!(said.lines().count(), 3, "{said}");
    for gone in [
        &openssl,
        &target.join("jemalloc+gcc"),
        &target.join("openssl@"),
    ] {
        assert!(
            !gone.exists() && said.contains(&*gone.to_string_lossy()),
            "{said}"
        );
    }
    for kept in ["release", "mine", "lto+mine", "native/kept"] {
        assert!(target.join(kept).exists(), "{kept}");
    }
    let workers = cached_workers(&place);
    for folder in ["", "jemalloc+gcc"] {
        assert!(
            workers
                .join(folder)
                .join("netbench-worker-rustls")
                .is_file()
        );
    }
    let said = alone(&place, "stacks clean --objects").expect(0).stdout;
    assert_eq!(said, "there is nothing to delete\n");
}

#[test]
fn the_cache_is_cleaned_and_nothing_else() {
    let place = checkout();
    alone(&place, "stacks build openssl rustls-ring").expect(0);
    let said = alone(&place, "stacks clean rustls-ring").expect(0).stdout;
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(
        said.starts_with("deleted ") && said.contains("netbench-worker-rustls"),
        "{said}"
    );
    let said = alone(&place, "stacks clean").expect(0).stdout;
    assert!(said.contains("netbench-worker-openssl"), "{said}");
    let said = alone(&place, "stacks clean").expect(0).stdout;
    assert_eq!(said, "there is nothing to delete\n");
    assert!(
        place
            .path()
            .join("target/release/netbench-worker-openssl")
            .is_file()
    );
}

#[test]
fn a_worker_that_breaks_the_rules_is_found_out() {
    let place = Place::new();
    let describes = r#"{"id":1,"type":"description","protocol":1,"stacks":[{"record":{"executable":"mine","stack":"mine","library":"mine 1","provider":null,"connector":"mine","build":{}},"operations":["connect","serve"],"groups":["x25519"],"suites":["TLS_AES_128_GCM_SHA256"]}]}"#;
    place.script("mine", &format!("read -r line\necho '{describes}'\n"));
    let line = format!(
        "stacks check mine --worker mine={}",
        place.path().join("mine").display()
    );
    let done = place.netbench_line(&line).expect(4);
    done.prints("mine: protocol: failed\n    ");
    done.prints("mine: connections: failed");
    let suite = "mine: suite: unsupported\n    the stack does not do \"suite\"";
    done.prints(suite);
}
