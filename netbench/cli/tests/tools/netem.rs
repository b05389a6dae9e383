//! `--link netem` with a real kernel: this machine's kernel if it has netem, or else the kernel of
//! an emulated machine (`netbench/link/tests/vm/`).

use std::{path::Path, process::Command};

use crate::support::{Done, Place, figures, manifest, measured, words};
use netbench_model::LinkKind;

netbench_testing::module_tests! {
    netem_emulates_the_sites: EmulatedMachine;
}

fn netem_emulates_the_sites() {
    let place = Place::new();
    place.write(
        "sites.txt",
        "near.example rtt=20ms\nfar.example rtt=100ms server=rustls-ring\n",
    );
    // An emulated machine that shares its processors may need long for a handshake.
    let line = "connect --sites sites.txt --link netem --rounds 2 --jobs 2 --timeout 60s";
    let mut done = place.netbench_line(line);
    if done.code != Some(0) {
        done.tells("netem");
        let vm_run = Path::new(env!("CARGO_MANIFEST_DIR")).join("../link/tests/vm/vm-run");
        let mut command = Command::new(vm_run);
        command
            .args(["-t", "240", "-w"])
            .arg(place.path())
            .arg(env!("CARGO_BIN_EXE_netbench"))
            .args(words(line));
        // vm-run has its own time limit.
        done = Done::of(command.current_dir(place.path()));
    }
    done.expect(0);
    let run = place.run();
    let manifest = manifest(&run);
    assert_eq!(manifest.link.unwrap().kind, LinkKind::Netem);
    let samples = measured(&run);
    assert_eq!(samples.len(), 2 * 2 * 2);
    for sample in &samples {
        let figures = figures(sample);
        let site = manifest
            .plan
            .sites
            .iter()
            .find(|site| site.name() == sample.site)
            .unwrap();
        // The time is at least the delay; an emulated machine may exceed the delay.
        assert!(figures.phases.tcp_ns >= site.lab.link.rtt_ns, "{figures:?}");
    }
}
