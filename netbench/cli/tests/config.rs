//! `netbench.toml`: its place, its additions to a command line, and its errors.

use std::fs;

use netbench_model::Quantity;

use crate::support::{Place, assert_contains, finish, manifest, rows, text};

/// A command line that fails before anything starts, because a file is missing.
const ENDS: &str = "connect --sites missing.txt";

fn says(place: &Place, line: &str) -> String {
    place.netbench_line(line).expect(2).stderr
}

#[test]
fn init_writes_a_file_that_can_be_used_and_never_overwrites() {
    let place = Place::new();
    place.succeeds("setup config");
    let made = text(place.path(), "netbench.toml");
    let said = says(&place, ENDS);
    assert_contains(&said, "netbench.toml says --stack openssl,rustls-aws-lc\n");

    place.write("netbench.toml", "# mine\n");
    place.refuses(2, "setup config => already there");
    assert_eq!(text(place.path(), "netbench.toml"), "# mine\n");

    // The commented lines are valid settings too.
    let all = made
        .replace("# sites = ", "sites = ")
        .replace("# rounds = ", "rounds = ");
    let all = all
        .replace("# link = ", "link = ")
        .replace("# roots = ", "roots = ");
    let all = all.replace("# client-profile = ", "client-profile = ");
    place.write("netbench.toml", &all.replace("# fail-on", "fail-on"));
    let said = says(&place, "connect --limit 1");
    for part in [
        "--sites sites.txt",
        "--rounds 10",
        "--link auto",
        "--roots mozilla",
        "--client-profile library",
    ] {
        assert!(said.contains(part), "no {part} in {said}");
    }
    let said = says(&place, "runs compare runs/a runs/b");
    assert!(said.contains("says --fail-on-regression 5%"), "{said}");
    let said = says(&place, "runs compare runs/a runs/b runs/c");
    assert!(!said.contains("--fail-on-regression"), "{said}");
}

#[test]
fn what_is_wrong_in_it_is_named_with_its_line() {
    let place = Place::new();
    let file = place.path().join("netbench.toml");
    for [toml, expected] in rows(
        r#"
        \nround = 3 => netbench.toml: line 2: unknown key "round"; did you mean "rounds"?
        "\u001b[31m" = 1 => unknown key "\u{1b}[31m"; expected one of
        rounds = 3\nlive = true => line 2: real hosts are contacted only with --live
        yes = true => line 1: --yes is for the command line only
        worker = "a=b" => unknown key "worker"
        rounds = 0 => line 1: rounds: invalid value '0' for '--rounds <N>'
        rounds = "3" => line 1: rounds: a whole number is expected
        \nlink = "wire" => line 2: link: invalid value 'wire'
        stacks = "openssl" => line 1: stacks: a list of stacks
        stacks = ["openssl"] => line 1: stacks: a list of at least two stacks
        sites = 3 => line 1: sites: the name of a file is expected
        thresholds = "connection-time=5%" => line 1: thresholds: a list of texts in quotes is expected
        thresholds = ["lost-sites=0%..1%", "speed=5%"] => line 1: thresholds: invalid value 'speed=5%'
        \nthresholds = ["lost-sites=0%..many"] => line 2: thresholds: invalid value 'lost-sites=0%..many'
        rounds = 3\nrounds = 4 => line 2: duplicate key
        "#,
    ) {
        fs::write(&file, toml.replace("\\n", "\n")).unwrap();
        place.refuses(2, &format!("connect --limit 1 --out runs => {expected}"));
    }
    fs::write(&file, b"link = \"\xff\"\n").unwrap();
    place.refuses(
        2,
        "connect --limit 1 --out runs => netbench.toml: line 1: not UTF-8",
    );
    // A command that reads no settings works despite a wrong file.
    place.succeeds("setup sites check");
    let said = says(&place, &format!("{ENDS} --no-config"));
    assert!(
        said.contains("missing.txt") && !said.contains("netbench.toml"),
        "{said}"
    );
}

/// A run without its settings would be another run.
#[test]
fn one_that_is_no_file_is_an_error() {
    type Make = fn(&std::path::Path);
    let cases: [(Make, &str); 4] = [
        (
            |path| fs::create_dir(path).unwrap(),
            "netbench.toml: not a file",
        ),
        (
            |path| std::os::unix::fs::symlink("/dev/zero", path).unwrap(),
            "netbench.toml: not a file",
        ),
        // The pipe has no writer.
        (
            |path| {
                finish(std::process::Command::new("mkfifo").arg(path)).expect(0);
            },
            "netbench.toml: not a file",
        ),
        (
            |path| std::os::unix::fs::symlink("missing", path).unwrap(),
            "netbench.toml: No such file",
        ),
    ];
    for (make, expected) in cases {
        let place = Place::new();
        make(&place.path().join("netbench.toml"));
        let said = says(&place, "connect --limit 1 --out runs");
        assert!(said.contains(expected), "no {expected:?} in {said}");
    }
}

#[test]
fn it_is_looked_for_up_to_the_root_of_the_repository() {
    let place = Place::new();
    place.write("netbench.toml", "rounds = 3\nsites = \"list/sites.txt\"\n");
    let inner = place.path().join("repository/src");
    fs::create_dir_all(&inner).unwrap();
    let mut command = place.command(&["connect", "--limit", "1", "--roots", "none.pem"]);
    command.current_dir(&inner);
    let said = finish(&mut command).expect(2).stderr;
    let sites = place.path().canonicalize().unwrap().join("list/sites.txt");
    let expected = format!("says --rounds 3 --sites {}", sites.display());
    assert!(said.contains(&expected), "no {expected:?} in {said}");

    fs::create_dir(place.path().join("repository/.git")).unwrap();
    let said = finish(&mut command).expect(2).stderr;
    assert!(!said.contains("netbench.toml"), "{said}");
}

#[test]
fn the_command_line_comes_first() {
    let place = Place::new();
    place.write(
        "netbench.toml",
        "rounds = 3\nsites = \"sites.txt\"\nlink = \"none\"\nstacks = [\"a\", \"b\"]\n",
    );
    let cases = [
        (
            "connect --rounds 4 --sites missing.txt",
            "says --link none --stack a,b\n",
        ),
        // A setting is left out if the command line has an option that excludes it.
        (
            "connect --live --sites missing.txt",
            "says --rounds 3 --stack a,b\n",
        ),
        ("run missing", "missing: no such run folder"),
        (
            "scan 127.0.0.1:0",
            "says nothing that this command line leaves open\n",
        ),
        ("evaluate --to c --sites missing.txt", "--from a"),
    ];
    for (line, expected) in cases {
        let said = says(&place, line);
        assert!(said.contains(expected), "{line}: no {expected:?} in {said}");
    }
}

#[test]
fn a_run_records_what_the_file_added() {
    let place = Place::with_sites("one.example\n");
    place.write(
        "netbench.toml",
        "stacks = [\"rustls-ring\", \"rustls-aws-lc\"]\nsites = \"sites.txt\"\nrounds = 1\nlink = \"none\"\n\
         client-profile = \"default\"\nthresholds = [\"connection-time=5%..20%\", \"lost-sites=1%\"]\n",
    );
    place.succeeds("connect --quiet");
    let manifest = manifest(&place.run());
    assert_eq!(manifest.plan.rounds, 1);
    let limit = manifest.thresholds.of(Quantity::ConnectionTime);
    assert_eq!(limit.to_string(), "5%..20%");
    let line = manifest.sessions[0].command[1..].join(" ");
    let expected = "connect --stack rustls-ring,rustls-aws-lc --sites sites.txt --rounds 1 --link none \
                    --client-profile default --threshold connection-time=5%..20%,lost-sites=1% --no-config --quiet";
    assert_eq!(line, expected);
    // The stored command line repeats the run without the file, which has changed.
    place.write("netbench.toml", "rounds = 7\n");
    let again = place.succeeds(&format!("{line} --name again"));
    assert!(!again.stderr.contains("netbench.toml"), "{}", again.stderr);
}
