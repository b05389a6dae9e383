//! Tests that need permission to make namespaces, or to become another user.

use std::{fs, os::unix::fs::PermissionsExt, process::Command};

use netbench_model::Role;
use netbench_report::ConnectSummary;

use crate::support::{
    Place, assert_contains, built, finish, in_a_line, json, manifest, measured, samples,
};

netbench_testing::module_tests! {
    one_seed_gives_one_order_and_the_same_losses: UserNamespaces;
    both_stacks_meet_the_same_losses: UserNamespaces;
    an_ordinary_user_can_do_it: Root;
    a_full_disk_is_said_and_what_was_measured_is_kept: UserMounts;
}

const SITES: &str = "\
rsa.example    server=openssl        rtt=2ms key=rsa-2048
ecdsa.example  server=rustls-aws-lc  rtt=4ms key=ecdsa-p256 chain=3/5000
old.example    server=rustls-ring    rtt=1ms key=rsa-2048 tls=1.2 alpn=http/1.1
none.example   server=openssl        rtt=1ms tickets=0
";

fn one_seed_gives_one_order_and_the_same_losses() {
    let lossy = SITES
        .replace("rtt=2ms", "rtt=60ms loss=3%")
        .replace("rtt=4ms", "rtt=80ms loss=3%");
    let [first, other] = [11, 12].map(|seed| order(&lossy, seed));
    assert_ne!(first.0, other.0);
    // A busy machine makes TCP retransmit packets that were not lost, and the seed may drop these
    // too. Runs that drew different losses would never agree.
    let mut digests = vec![first.1];
    let agreed = (0..3).any(|_| {
        let again = order(&lossy, 11);
        assert_eq!(first.0, again.0);
        let met_before = digests.contains(&again.1);
        digests.push(again.1);
        met_before
    });
    assert!(agreed, "{digests:?}");
}

/// Returns the order of the trials of a run with this seed, and the digest of its losses.
fn order(sites: &str, seed: u32) -> (Vec<String>, String) {
    let place = Place::with_sites(sites);
    let line = format!("connect --sites sites.txt --rounds 2 --link user --jobs 1 --seed {seed}");
    place.succeeds(&line);
    let run = place.run();
    let samples = samples(&run);
    let trials = samples.iter().map(|s| {
        let is_measured = s.role == Role::Measured;
        format!(
            "{} {} {} {} {is_measured}",
            s.trial, s.round, s.site, s.stack
        )
    });
    let losses = manifest(&run).link.unwrap().losses_sha256;
    (
        trials.collect(),
        losses.expect("a link in user space knows its losses"),
    )
}

fn both_stacks_meet_the_same_losses() {
    let place = Place::with_sites(
        "lossy.example rtt=20ms loss=4% body=60k\nwhole.example rtt=20ms body=60k\n",
    );
    let line = "connect -q --json --sites sites.txt --rounds 4 --link user --seed 5 --condition clean,resumed";
    let summary: ConnectSummary = json(&place.succeeds(line).stdout);
    let run = place.run();
    let samples = samples(&run);
    let mut lost = 0;
    for sample in &samples {
        assert_eq!(
            sample.losses.is_empty(),
            sample.site == "whole.example",
            "{sample:?}"
        );
        let losses = sample.losses.iter();
        lost += losses.map(|log| log.lost.len() as u64).sum::<u64>();
        assert!(
            sample
                .losses
                .iter()
                .all(|log| log.lost.iter().all(|number| *number < log.packets))
        );
    }
    assert!(lost > 0);
    let packets = manifest(&run).link.unwrap().packets;
    // The link has also counted losses that came after the end of a trial.
    assert!(
        lost <= packets["lost"] + packets["lost_bare"],
        "{lost}, {packets:?}"
    );
    let losses = summary.losses.unwrap();
    assert!(losses.lost > 0 && losses.lost <= lost, "{losses:?}");
    assert_eq!((losses.pairs, losses.differ), (8, 0), "{losses:?}");
    assert_eq!(losses.same + losses.same_while_alike, 8, "{losses:?}");
    assert_eq!(
        summary
            .warnings
            .iter()
            .filter(|warning| warning.contains("lost other packets"))
            .count(),
        0
    );
    let told = place.succeeds("runs report RUN");
    let told = in_a_line(&told.stdout);
    assert_contains(&told, "on links with losses were lost. Of 8 pairs,");
}

fn an_ordinary_user_can_do_it() {
    let place = Place::with_sites(SITES);
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o777)).unwrap();
    // Only the owner may be able to enter the folder of the build.
    for program in [
        env!("CARGO_BIN_EXE_netbench").into(),
        built("netbench-worker-openssl"),
        built("netbench-worker-rustls"),
    ] {
        let copy = place.path().join(program.file_name().unwrap());
        fs::copy(program, copy).unwrap();
    }
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
        .arg(place.path().join("netbench"))
        .args(["connect", "--sites", "sites.txt", "--rounds", "1"])
        .current_dir(place.path())
        .env("HOME", "/nonexistent");
    let done = finish(&mut command);
    done.expect(0);
    assert_eq!(measured(&place.run()).len(), 4 * 2);
}

fn a_full_disk_is_said_and_what_was_measured_is_kept() {
    let place = Place::with_sites(SITES);
    // A separate disk, with room for the manifest and some samples.
    fs::create_dir(place.path().join("disk")).unwrap();
    let netbench = env!("CARGO_BIN_EXE_netbench");
    let script = format!(
        "mount -t tmpfs -o size=96k none disk && {{ {netbench} connect --sites sites.txt --rounds 200 \
         --link none --quiet --out disk --stack rustls-ring,rustls-ring; code=$?; \
         cp -r disk/* kept; exit $code; }}"
    );
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
        .current_dir(place.path());
    let done = finish(&mut command);
    let done = done.expect(1);
    done.tells("no space left on the device");
    let kept = place.path().join("kept");
    assert!(!samples(&kept).is_empty());
    assert!(
        done.stdout.contains("samples."),
        "the report is of what was kept: {}",
        done.stdout
    );
    place.succeeds("runs report kept");
}
