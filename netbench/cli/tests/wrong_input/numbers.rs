//! Numbers, times, shares and shards.

use super::{Case, check};
use crate::support::Place;

const CASES: &[Case] = &[
    ("connect --rounds 0", 2, &["--rounds 0", "from 1 to 100000"]),
    (
        "connect --rounds -1",
        2,
        &["--rounds -1: expected from 1 to 100000"],
    ),
    (
        "connect --rounds=-1",
        2,
        &["--rounds -1: expected from 1 to 100000"],
    ),
    (
        "connect --rounds ten",
        2,
        &["--rounds ten", "a whole number"],
    ),
    (
        "connect --rounds 1.5",
        2,
        &["--rounds 1.5", "a whole number"],
    ),
    (
        "connect --rounds 1e3",
        2,
        &["--rounds 1e3", "a whole number"],
    ),
    ("connect --rounds 100001", 2, &["from 1 to 100000"]),
    (
        "connect --rounds 99999999999999999999",
        2,
        &["--rounds", "too large"],
    ),
    ("connect --rounds=", 2, &["--rounds", "a whole number"]),
    ("connect --rounds 0x10", 2, &["a whole number"]),
    ("connect --rounds ١٠", 2, &["a whole number"]),
    ("connect --limit 0", 2, &["--limit 0", "from 1"]),
    ("connect --limit 4294967296", 2, &["--limit"]),
    ("connect --jobs 0", 2, &["--jobs 0", "from 1 to 64"]),
    ("connect --jobs 65", 2, &["--jobs 65", "from 1 to 64"]),
    (
        "connect --seed -1",
        2,
        &["--seed -1: expected a number that is not negative"],
    ),
    (
        "connect --seed 18446744073709551616",
        2,
        &["--seed", "too large"],
    ),
    ("connect --seed 0x7", 2, &["--seed 0x7", "a whole number"]),
    (
        "connect --timeout 5",
        2,
        &["--timeout", "a time with its unit", "20ms"],
    ),
    (
        "connect --timeout 5ms",
        2,
        &["--timeout 5ms", "at least 10ms"],
    ),
    ("connect --timeout 5sec", 2, &["\"5sec\"", "20ms"]),
    ("connect --timeout 1h", 2, &["\"1h\"", "20ms"]),
    ("connect --timeout -1s", 2, &["--timeout: ", "\"-1s\""]),
    ("connect --timeout NaNs", 2, &["NaNs", "20ms"]),
    ("connect --timeout 1e9s", 2, &["1e9s", "20ms"]),
    (
        "connect --timeout 99999999999999999999s",
        2,
        &["--timeout", "20ms"],
    ),
    ("connect --timeout 1.2.3s", 2, &["1.2.3s", "20ms"]),
    ("connect --timeout ٣s", 2, &["--timeout", "20ms"]),
    (
        "connect --roots-count 0",
        2,
        &["--roots-count 0", "from 1 to 2000"],
    ),
    ("connect --roots-count 2001", 2, &["from 1 to 2000"]),
    ("connect --shard 1/3", 2, &["missing: --seed N"]),
    (
        "connect --seed 1 --shard 0/3",
        2,
        &["--shard 0/3", "1 to 3"],
    ),
    (
        "connect --seed 1 --shard 4/3",
        2,
        &["--shard 4/3", "1 to 3"],
    ),
    ("connect --seed 1 --shard 3", 2, &["--shard", "I/N"]),
    ("connect --seed 1 --shard a/b", 2, &["a/b", "I/N"]),
    ("connect --seed 1 --shard 1/0", 2, &["--shard 1/0"]),
    ("connect --seed 1 --shard 1/4294967296", 2, &["--shard"]),
    ("connect --seed 1 --shard 1/1000", 2, &["only 101 sites"]),
    (
        "connect --seed 1 --shard auto",
        2,
        &["--shard auto", "JOB_COMPLETION_INDEX"],
    ),
    ("suite --rounds 0", 2, &["from 1 to 10000"]),
    ("suite --rounds 10001", 2, &["from 1 to 10000"]),
    ("suite --trial 1ms", 2, &["--trial 1ms", "5ms", "60s"]),
    ("suite --trial 2m", 2, &["2m", "20ms"]),
    ("suite --slice 2s", 2, &["--slice 2s", "1s"]),
    ("suite --slice 1us", 2, &["--slice 1us", "500"]),
    ("suite --budget 10s", 2, &["missing: --until-decided"]),
    ("suite --until-decided --budget 0", 2, &["--budget 0", "1s"]),
    ("suite --until-decided --budget 3601s", 2, &["3601s"]),
    ("suite --pin 9999", 2, &["--pin 9999", "may use"]),
    ("suite --pin -1", 2, &["-1"]),
    ("suite --pin first", 2, &["--pin first", "auto, none"]),
    ("scan --jobs 0", 2, &["from 1 to 5000"]),
    ("scan --jobs 5001", 2, &["from 1 to 5000"]),
    ("scan --rate 0", 2, &["--rate 0", "from 0.01 to 1000000"]),
    (
        "scan --rate fast",
        2,
        &["--rate fast", "connections a second"],
    ),
    (
        "scan --rate inf",
        2,
        &["--rate inf", "connections a second"],
    ),
    (
        "scan --rate nan",
        2,
        &["--rate nan", "connections a second"],
    ),
    ("scan --timeout 1ms", 2, &["--timeout 1ms", "10ms"]),
    ("scan --timeout 61s", 2, &["--timeout 61s", "60s"]),
    ("scan --retries 11", 2, &["--retries 11", "at most 10"]),
    ("scan --confirm -5", 2, &["-5"]),
    ("scan --confirm 100001", 2, &["at most 100000"]),
    ("bogo --jobs 0", 2, &["from 1 to 256"]),
    ("bogo --timeout 0", 2, &["--timeout 0", "1s"]),
    ("bogo --timeout 121s", 2, &["--timeout 121s", "120s"]),
    (
        "runs compare a b --fail-on-regression 2",
        2,
        &["--fail-on-regression 2", "2%"],
    ),
    ("runs compare a b --fail-on-regression -2%", 2, &["-2"]),
    ("runs compare a b --fail-on-regression 2%%", 2, &["2%%"]),
    ("runs compare a b --fail-on-regression nan%", 2, &["nan%"]),
    ("runs compare a b --fail-on-regression 1001%", 2, &["1001%"]),
    ("runs prune --keep -1", 2, &["-1"]),
    (
        "runs prune --keep many",
        2,
        &["--keep many", "a whole number"],
    ),
    ("runs prune --older-than 36501", 2, &["at most 36500"]),
    (
        "runs prune --older-than 30d",
        2,
        &["--older-than 30d", "a whole number"],
    ),
    // The run would take longer than an hour, and no user can be asked here.
    (
        "connect --rounds 100000",
        2,
        &["days", "20,200,000 samples", "--yes", "--rounds"],
    ),
    (
        "suite verify connector memory threads instructions --rounds 1000",
        2,
        &["--yes"],
    ),
    ("suite all --rounds 2000", 2, &[" h ", "--yes"]),
];

#[test]
fn numbers() {
    check(&Place::new(), CASES);
}
