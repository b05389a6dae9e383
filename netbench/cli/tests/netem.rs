//! `--link netem` for real: by this machine's kernel where it has netem, else by one that runs in
//! user mode (Debian's `user-mode-linux`).

mod support;

use std::{path::Path, process::Command};

use netbench_model::LinkKind;
use support::{Place, finish, manifest, measured};

/// What `tests/uml-run` ends with where there is no kernel to boot.
const NO_KERNEL: i32 = 77;

#[test]
fn netem_emulates_the_sites() {
    let place = Place::new();
    place.write(
        "sites.txt",
        "near.example rtt=20ms\nfar.example rtt=100ms server=rustls-ring\n",
    );
    let arguments = [
        "connect",
        "--sites",
        "sites.txt",
        "--link",
        "netem",
        "--rounds",
        "2",
        "--jobs",
        "2",
    ];
    let mut done = place.netbench(&arguments);
    if done.code != Some(0) {
        assert!(done.stderr.contains("netem"), "{}", done.stderr);
        let boot = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/uml-run");
        let mut command = Command::new(boot);
        command
            .args(["-t", "100", env!("CARGO_BIN_EXE_netbench")])
            .args(arguments);
        done = finish(command.current_dir(place.path()));
    }
    if done.code == Some(NO_KERNEL) {
        let required = std::env::var_os("NETBENCH_REQUIRE_NETEM").is_some();
        assert!(!required, "{}", done.stderr);
        println!(
            "unsupported: neither this kernel nor user-mode-linux, which is not here, has netem"
        );
        return;
    }
    done.expect(0);
    let run = place.run();
    let manifest = manifest(&run);
    assert_eq!(manifest.link.unwrap().kind, LinkKind::Netem);
    let samples = measured(&run);
    assert_eq!(samples.len(), 2 * 2 * 2);
    for sample in samples {
        let figures = sample
            .outcome
            .ok()
            .unwrap_or_else(|| panic!("{:?}", sample.outcome));
        let site = manifest
            .plan
            .sites
            .iter()
            .find(|site| site.name() == sample.site)
            .unwrap();
        // Not less than the delay: a kernel in user mode may take its time beyond it.
        assert!(figures.phases.tcp_ns >= site.lab.link.rtt_ns, "{figures:?}");
    }
}
