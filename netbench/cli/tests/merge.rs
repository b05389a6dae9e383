//! Shards of a run, and runs from several places, joined by `netbench runs merge`.

use std::path::{Path, PathBuf};

use netbench_model::{ConnectManifest, Role};
use netbench_testing::Tool;

use crate::support::{Place, edit, finish, manifest, samples};

const SITES: &str = "\
rsa.example    server=openssl        rtt=2ms key=rsa-2048 loss=2%
ecdsa.example  server=rustls-aws-lc  rtt=3ms key=ecdsa-p256 chain=3/5000
old.example    server=rustls-ring    rtt=1ms key=rsa-2048 tls=1.2 alpn=http/1.1
none.example   server=openssl        rtt=1ms tickets=0
last.example   server=rustls-ring    rtt=1ms key=ecdsa-p256
";

/// A change to a manifest.
type Change = fn(&mut ConnectManifest);

/// Makes a run called `name`, and returns its path.
fn make(place: &Place, name: &str, more: &str) -> PathBuf {
    place.connect(&format!(
        "--quiet --client-profile default --name {name} {more}"
    ));
    place.named(name)
}

/// Returns the facts that must be equal: all except times, processes and warm-ups.
fn trials(run: &Path) -> Vec<String> {
    let samples = samples(run);
    let measured = samples.iter().filter(|sample| sample.role != Role::Warmup);
    let trials = measured.map(|sample| {
        format!(
            "{} {} {} {} {} {:?}",
            sample.trial, sample.round, sample.site, sample.condition, sample.stack, sample.role
        )
    });
    trials.collect()
}

#[test]
fn three_shards_merged_equal_one_run_of_the_same_seed() {
    let place = Place::with_sites(SITES);
    let link = if Tool::UserNamespaces.missing().is_none() {
        "user"
    } else {
        "none"
    };
    let how = format!("--rounds 3 --condition clean,resumed --seed 7 --jobs 1 --link {link}");
    let whole = make(&place, "whole", &how);
    let shards: Vec<PathBuf> = (1..=3)
        .map(|i| {
            make(
                &place,
                &format!("s{i}"),
                &format!("{how} --shard {i}/3 --vantage m{i}"),
            )
        })
        .collect();
    let given: Vec<&Path> = [2, 0, 1].iter().map(|i| shards[*i].as_path()).collect();
    let done = place.merge(&given, "--out all").expect(0);
    done.prints("Merged from 3 runs");
    let all = place.path().join("all");
    assert_eq!(trials(&all), trials(&whole));
    let (joined, one) = (manifest(&all), manifest(&whole));
    assert_eq!(joined.plan.sites, one.plan.sites);
    assert_eq!((joined.plan.seed, joined.plan.rounds), (7, 3));
    assert!(joined.finished.is_some());

    // Every sample has its vantage point, and no two shards share a block.
    let samples = samples(&all);
    for (place_of_site, site) in one.plan.sites.iter().enumerate() {
        let of_site = samples.iter().filter(|sample| sample.site == site.name());
        for sample in of_site {
            let vantage = format!("m{}", place_of_site % 3 + 1);
            assert_eq!(joined.origin.vantage_of(sample.session), vantage);
        }
    }
    let mut blocks: Vec<(u32, &str)> = samples
        .iter()
        .map(|sample| (sample.block, joined.origin.vantage_of(sample.session)))
        .collect();
    blocks.sort_unstable();
    blocks.dedup();
    assert!(
        blocks.windows(2).all(|two| two[0].0 != two[1].0),
        "{blocks:?}"
    );

    // The same sites, measured from another place, become further rounds.
    let both = [whole.as_path(), given[0], given[1], given[2]];
    place.merge(&both, "--out both").expect(0);
    let both = manifest(&place.path().join("both"));
    assert_eq!(both.plan.rounds, 6);
    assert_eq!(both.plan.sites, one.plan.sites);
    for command in [
        "runs report both --json",
        "runs explain both",
        "runs show both",
    ] {
        place.succeeds(command);
    }
    place.refuses(2, "run both => merged from other runs");
}

#[test]
fn runs_that_do_not_belong_together_are_refused_by_name() {
    let place = Place::with_sites(SITES);
    let how = "--rounds 1 --seed 7 --link none --stack rustls-ring,rustls-aws-lc";
    let one = make(&place, "s1", &format!("{how} --shard 1/2"));
    let two = make(&place, "s2", &format!("{how} --shard 2/2"));
    place.expect_no_merge(&[&one], "shard 2/2 is missing");
    place.expect_no_merge(&[&one, &one], "are the same run");
    place.expect_no_merge(&[&one, &place.path().join("nowhere")], "no such run folder");

    let original = manifest(&two);
    let changes: [(&str, Change); 9] = [
        ("the version of netbench", |m| {
            m.netbench = "9.9.9".to_owned()
        }),
        ("rounds (1 and 2)", |m| m.plan.rounds = 2),
        ("sites_sha256", |m| m.plan.sites_sha256 = "00".repeat(32)),
        ("timeout_ms (10000 and 10001)", |m| m.plan.timeout_ms += 1),
        ("client.groups", |m| m.plan.client.groups.truncate(1)),
        ("the workers of the stacks", |m| {
            m.workers
                .iter_mut()
                .for_each(|w| w.library = "x\x1b[2J".to_owned());
        }),
        ("shard 1/2 is in both", |m| {
            let shard = "1/2".parse().unwrap();
            m.origin.shard.as_mut().unwrap().shard = shard;
            m.name = "another".to_owned();
        }),
        ("was not finished", |m| m.finished = None),
        ("of seed 8, shard 1/2 is missing", |m| m.plan.seed = 8),
    ];
    for (why, change) in changes {
        edit(&two, change);
        place.expect_no_merge(&[&one, &two], why);
        edit(&two, |m: &mut ConnectManifest| *m = original.clone());
    }
    edit(&two, |m: &mut ConnectManifest| m.plan.sites.truncate(1));
    place.expect_no_merge(&[&one, &two], "not those of its shard");
    edit(&two, |m: &mut ConnectManifest| *m = original.clone());

    let done = place.merge(&[&one], "--partial --out part").expect(0);
    done.prints("shard 2/2 is missing");
    let done = place.merge(&[&one, &two], "--out part").expect(2);
    done.tells("not empty");
    let part = place.path().join("part");
    let done = place.merge(&[&part, &two], "--out new").expect(2);
    done.tells("it was merged from other runs");
}

#[test]
fn a_shard_can_come_from_the_job_that_runs_it() {
    let place = Place::with_sites(SITES);
    let line = "connect --sites sites.txt --rounds 1 --link none --seed 1 --quiet --shard auto";
    let mut command = place.command_line(line);
    command
        .env_remove("SLURM_ARRAY_TASK_ID")
        .env("JOB_COMPLETION_INDEX", "4")
        .env("NETBENCH_SHARDS", "5");
    finish(&mut command).expect(0);
    let sites = manifest(&place.run()).plan.sites;
    assert_eq!(sites.len(), 1);
    assert_eq!(sites[0].name(), "last.example");
}
