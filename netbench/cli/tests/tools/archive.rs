//! The release archive: made, unpacked in an empty root, and used as in docs/CI.md.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use crate::support::{Done, Place, built, text, tree, words};

netbench_testing::module_tests! {
    a_bare_root_is_enough: UserMounts;
    the_same_programs_give_the_same_archive;
    the_recipes_for_continuous_integration_work: UserNamespaces;
}

/// Packs the programs that `./test` has built, into `folder`.
fn pack(folder: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    let _none = fs::remove_dir_all(&folder);
    let workers = ["rustls", "openssl"].map(|stack| built(&format!("netbench-worker-{stack}")));
    let built = workers[0].parent().unwrap();
    let mut command = Command::new(tree().join("release/archive"));
    Done::of(command.arg("--built").arg(built).arg(&folder)).expect(0);
    let entry = fs::read_dir(&folder).unwrap().next().unwrap();
    entry.unwrap().path()
}

/// Returns the archive of this run of the tests.
fn archive() -> &'static Path {
    static ARCHIVE: OnceLock<PathBuf> = OnceLock::new();
    ARCHIVE.get_or_init(|| pack("archive"))
}

fn in_bare_root(place: &Place, line: &str) -> Done {
    let mut command = Command::new(tree().join("release/in-bare-root"));
    Done::of(
        command
            .arg(archive())
            .args(words(line))
            .current_dir(place.path()),
    )
}

fn a_bare_root_is_enough() {
    let place = Place::new();
    let stacks = "--stack rustls-ring,rustls-aws-lc";
    let cases = [
        ("netbench --version", "netbench 0."),
        ("netbench stacks list", "beside the command: /opt/netbench-"),
        ("netbench stacks", "hyper-rustls"),
        (&format!("netbench stacks hello {stacks}"), "rustls-ring"),
        ("netbench bogo --stored", "boringssl"),
        ("netbench setup sites check", "101 sites"),
        (
            &format!("netbench connect {stacks} --limit 2 --rounds 1"),
            "4 of 4 samples",
        ),
        ("netbench scan --limit 2", "2 sites"),
        (
            "netbench evaluate --quick --limit 2 --from rustls-ring --to rustls-aws-lc \
             --part features,sites,connections",
            "rustls-aws-lc",
        ),
    ];
    for (line, expected) in cases {
        let done = in_bare_root(&place, line);
        // Exit code 3: two sites are too few for a verdict.
        done.expect_one(&[0, 3]);
        done.prints(expected);
    }
    // The protocol tests themselves need the source, and report this.
    let done = in_bare_root(&place, "netbench bogo --shim rustls").expect(1);
    done.tells("netbench: ");
    assert_eq!(
        in_bare_root(&place, "sh -c true").code,
        Some(127),
        "there is nothing else"
    );
    assert!(
        fs::read_dir(place.path()).unwrap().next().is_none(),
        "nothing is left"
    );
}

fn the_same_programs_give_the_same_archive() {
    let again = pack("archive-again");
    assert!(
        fs::read(archive()).unwrap() == fs::read(&again).unwrap(),
        "the bytes differ"
    );
    let mut tar = Command::new("tar");
    let listed = Done::of(tar.arg("-tzvf").arg(&again)).expect(0).stdout;
    for file in [
        "/netbench",
        "/licences/THIRD-PARTY.txt",
        "/man/man1/netbench-connect.1",
        "/sites.txt",
        "/BUILT.txt",
    ] {
        assert!(
            listed.lines().any(|line| line.ends_with(file)),
            "no {file} in {listed}"
        );
    }
    assert!(
        listed.lines().all(|line| line.contains(" 0/0 ")),
        "{listed}"
    );
    fs::remove_dir_all(again.parent().unwrap()).unwrap();
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns the shell lines of the recipe under a heading of docs/CI.md.
fn recipe(heading: &str) -> Vec<String> {
    let text = text(tree(), "docs/CI.md");
    let section = text
        .split("\n## ")
        .find(|section| section.starts_with(heading))
        .unwrap();
    let yaml = section
        .split("```yaml\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let mut lines = Vec::new();
    // Deeper lines are shell: the block of a `run: |`, or the list of a `script:`.
    let mut inside: Option<usize> = None;
    for line in yaml.lines() {
        if inside.is_some_and(|outer| indent(line) > outer) {
            lines.push(line.trim_start().trim_start_matches("- ").to_owned());
            continue;
        }
        inside = None;
        match line.trim_start() {
            "run: |" | "script:" | "before_script:" => inside = Some(indent(line)),
            other => lines.extend(other.strip_prefix("run: ").map(str::to_owned)),
        }
    }
    lines
}

fn the_recipes_for_continuous_integration_work() {
    for (heading, count) in [("GitHub", 7), ("GitLab", 8)] {
        let lines = recipe(heading);
        assert_eq!(lines.len(), count, "{lines:#?}");
        let place = Place::with_sites("one.example rtt=2ms\ntwo.example rtt=2ms\n");
        // As in the document, except for the stacks, which the tests have, and a limit beyond the noise.
        place.write(
            "netbench.toml",
            "stacks = [\"rustls-ring\", \"rustls-aws-lc\"]\nsites = \"sites.txt\"\nfail-on-regression = \"1000%\"\n",
        );
        // Commands that would change the machine or use the network are replaced.
        for name in ["sudo", "apt-get"] {
            place.script(name, "exit 0");
        }
        place.script("curl", "for last; do :; done; cat \"${last#file://}\"");
        let home = place.path().join("home");
        fs::create_dir(&home).unwrap();
        let path = std::env::var("PATH").unwrap();
        for line in lines {
            // The other parts have tests, and take minutes where other tests run beside them.
            let line = line.replace(
                " evaluate --quick",
                " evaluate --quick --part features,connections",
            );
            let mut bash = Command::new("bash");
            bash.args(["-eo", "pipefail", "-c", &line])
                .current_dir(place.path())
                .env("HOME", &home)
                .env("XDG_CACHE_HOME", home.join("cache"))
                .env("PATH", format!("{}:{path}", place.path().display()))
                .env(
                    "NETBENCH_ARCHIVE",
                    format!("file://{}", archive().display()),
                )
                .env("GITHUB_STEP_SUMMARY", place.path().join("summary"));
            let done = Done::of(&mut bash);
            // The comparison ends with exit code 6 if the machine is too busy for a verdict.
            let cannot_tell = done.code == Some(6) && line.contains("netbench runs compare");
            if !cannot_tell {
                done.expect_one(&[0, 3]);
            }
        }
        let shown = match heading {
            "GitHub" => "summary",
            _ => "netbench.xml",
        };
        let text = text(place.path(), shown);
        assert!(text.contains("handshake-full"), "{text}");
        let page = place.named("evaluate").join("report.html");
        assert!(page.is_file(), "the page is an artifact");
    }
}
