//! Completions in shells, and the manual pages.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{fs, path::Path, process::Command};

use crate::support::{Place, finish};

/// Returns the completions of a line's last word, as a shell requests them.
fn after(line: &str) -> Vec<String> {
    let place = Place::new();
    let mut command = place.command(&["--"]);
    // Fish has the simplest format of the request.
    command
        .args(line.split(' '))
        .env("NETBENCH_COMPLETE", "fish");
    let answers = finish(&mut command).expect(0).stdout;
    let values = answers.lines().map(|line| line.split('\t').next().unwrap());
    values.map(str::to_owned).collect()
}

#[test]
fn names_are_completed() {
    for (line, expected) in [
        ("netbench conn", "connect"),
        ("netbench connect --rou", "--rounds"),
        ("netbench connect --stack rustls-r", "rustls-ring"),
        (
            "netbench connect --stack openssl,rustls-r",
            "openssl,rustls-ring",
        ),
        ("netbench scan --against openssl-", "openssl-system"),
        ("netbench evaluate --to rustls-ri", "rustls-ring"),
        ("netbench connect --link net", "netem"),
        ("netbench setup link bench --link u", "user"),
        ("netbench connect --client-profile ser", "servo"),
        ("netbench connect --condition clean,re", "clean,resumed"),
        ("netbench connect --groups X25519M", "x25519mlkem768"),
        ("netbench runs report a --format mark", "markdown"),
        ("netbench suite --preset rus", "rustls-vs-openssl"),
        ("netbench suite conn", "connector"),
        ("netbench suite al", "all"),
        (
            "netbench suite --case handshake-tick",
            "handshake-ticket_1.2_",
        ),
        ("netbench suite --case connector_na", "connector_native"),
        ("netbench evaluate --part feat", "features"),
        ("netbench bogo --shim boring", "boringssl"),
        ("netbench bogo diff openssl rustls-", "rustls-ring"),
        ("netbench bogo --feature ALP", "ALPN"),
        ("netbench scan --parts enum", "enumeration"),
        ("netbench setup completions z", "zsh"),
    ] {
        let found = after(line);
        let mut values = found.iter();
        let is_found = values.any(|value| value.eq_ignore_ascii_case(expected));
        assert!(is_found, "{line}: {found:?}");
        assert!(found.len() < 40, "{line}: {found:?}");
    }
    assert_eq!(after("netbench connect --stack xyz"), [""; 0]);
    // Files are completed too.
    let place = Place::new();
    place.write("mine.txt", "");
    let mut command = place.command_line("-- netbench connect --sites mi");
    let done = finish(command.env("NETBENCH_COMPLETE", "fish")).expect(0);
    done.prints("mine.txt");
}

#[test]
fn every_shell_has_a_small_script() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.succeeds(&format!("setup completions {shell}")).stdout;
        assert!(script.contains("NETBENCH_COMPLETE"), "{shell}");
        assert!(script.len() < 4000, "{shell}: {}", script.len());
    }
}

#[test]
fn bash_completes_by_the_script() {
    let place = Place::new();
    let program = Path::new(env!("CARGO_BIN_EXE_netbench")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let script = "source <(netbench setup completions bash)
        COMP_WORDS=(netbench suite --preset rust) COMP_CWORD=3 COMP_TYPE=9
        complete -p netbench >&2
        _clap_complete_netbench netbench rust --preset
        echo \"${COMPREPLY[@]}\"";
    let mut command = Command::new("bash");
    command.args(["-c", script]).env("PATH", path);
    let done = finish(command.current_dir(place.path())).expect(0);
    assert_eq!(
        done.stdout.trim(),
        "rustls-vs-openssl rustls-2026 rustls-matrix rustls-providers",
        "{}",
        done.stderr
    );
}

/// Reads the source of the page, which groff formats for `man`.
#[test]
fn manual_pages_have_their_examples_as_written() {
    let place = Place::new();
    place.succeeds("setup man pages");
    let mut pages = 0;
    for entry in fs::read_dir(place.path().join("pages")).unwrap() {
        let path = entry.unwrap().path();
        let page = fs::read_to_string(&path).unwrap();
        let name = path
            .file_stem()
            .unwrap()
            .to_string_lossy()
            .replace('-', " ");
        pages += 1;
        let command: Vec<_> = name.split(' ').skip(1).chain(["--help"]).collect();
        let help = place.netbench(&command).expect(0).stdout;
        assert_eq!(
            help.contains("\nExamples:\n"),
            page.contains(".SH EXAMPLES"),
            "{name}"
        );
        let Some((_, examples)) = help.split_once("\nExamples:\n") else {
            continue;
        };
        let section = page.split_once(".SH EXAMPLES\n.nf\n").unwrap().1;
        let section = section.split_once("\n.fi").unwrap().0.replace('\\', "");
        // The page has the names of quotes instead of the characters.
        let section = section
            .replace("*(Aq", "'")
            .replace("(aq", "'")
            .replace("[u2026]", "…");
        assert!(page.is_ascii(), "{name}");
        let written = examples.split("\n\n").next().unwrap();
        assert_eq!(section.trim_end(), written.trim_end(), "{name}");
    }
    assert!(pages > 20, "{pages} pages");
}
