//! Numbers, times, shares and shards.

use crate::support::Place;

const CASES: &str = r#"
connect --rounds 0 => --rounds 0 & from 1 to 100000
connect --rounds -1 => --rounds -1: expected from 1 to 100000
connect --rounds=-1 => --rounds -1: expected from 1 to 100000
connect --rounds ten => --rounds ten & a whole number
connect --rounds 1.5 => --rounds 1.5 & a whole number
connect --rounds 1e3 => --rounds 1e3 & a whole number
connect --rounds 100001 => from 1 to 100000
connect --rounds 99999999999999999999 => --rounds & too large
connect --rounds= => --rounds & a whole number
connect --rounds 0x10 => a whole number
connect --rounds ١٠ => a whole number
connect --limit 0 => --limit 0 & from 1
connect --limit 4294967296 => --limit
connect --jobs 0 => --jobs 0 & from 1 to 64
connect --jobs 65 => --jobs 65 & from 1 to 64
connect --seed -1 => --seed -1: expected a number that is not negative
connect --seed 18446744073709551616 => --seed & too large
connect --seed 0x7 => --seed 0x7 & a whole number
connect --timeout 5 => --timeout & a time with its unit & 20ms
connect --timeout 5ms => --timeout 5ms & at least 10ms
connect --timeout 5sec => "5sec" & 20ms
connect --timeout 1h => "1h" & 20ms
connect --timeout -1s => --timeout: & "-1s"
connect --timeout NaNs => NaNs & 20ms
connect --timeout 1e9s => 1e9s & 20ms
connect --timeout 99999999999999999999s => --timeout & 20ms
connect --timeout 1.2.3s => 1.2.3s & 20ms
connect --timeout ٣s => --timeout & 20ms
connect --roots-count 0 => --roots-count 0 & from 1 to 2000
connect --roots-count 2001 => from 1 to 2000
connect --shard 1/3 => missing: --seed N
connect --seed 1 --shard 0/3 => --shard 0/3 & 1 to 3
connect --seed 1 --shard 4/3 => --shard 4/3 & 1 to 3
connect --seed 1 --shard 3 => --shard & I/N
connect --seed 1 --shard a/b => a/b & I/N
connect --seed 1 --shard 1/0 => --shard 1/0
connect --seed 1 --shard 1/4294967296 => --shard
connect --seed 1 --shard 1/1000 => only 101 sites
connect --seed 1 --shard auto => --shard auto & neither JOB_COMPLETION_INDEX nor SLURM_ARRAY_TASK_ID
scan --shard 1/3 => --seed
scan --seed 1 --shard 1/1000 => only 101 sites
scan 127.0.0.1 --seed 1 --shard 1/1 => cannot be used with
suite --rounds 0 => from 1 to 10000
suite --rounds 10001 => from 1 to 10000
suite --trial 1us => 5ms
suite --trial 1ms => --trial 1ms & 5ms & 60s
suite --trial 2m => 2m & 20ms
suite --slice 2s => --slice 2s & 1s
suite --slice 1us => --slice 1us & 500
suite --budget 10s => missing: --until-decided
suite --until-decided --budget 0 => --budget 0 & 1s
suite --until-decided --budget 3601s => 3601s
suite --pin 9999 => --pin 9999 & may use
suite --pin -1 => -1
suite --pin first => --pin first & auto, none
scan --jobs 0 => from 1 to 5000
scan --jobs 5001 => from 1 to 5000
scan --rate 0 => --rate 0 & from 0.01 to 1000000
scan --rate fast => --rate fast & connections a second
scan --rate inf => --rate inf & connections a second
scan --rate nan => --rate nan & connections a second
scan --timeout 1ms => --timeout 1ms & 10ms
scan --timeout 61s => --timeout 61s & 60s
scan --retries 11 => --retries 11 & at most 10
scan --confirm -5 => -5
scan --confirm 100001 => at most 100000
bogo --jobs 0 => from 1 to 256
bogo --timeout 0 => --timeout 0 & 1s
bogo --timeout 121s => --timeout 121s & 120s
runs compare a b --fail-on-regression 2 => --fail-on-regression 2 & 2%
runs compare a b --fail-on-regression 0.02 => such as 2%
runs compare a b --fail-on-regression lots => such as 2%
runs compare a b --fail-on-regression -2% => -2
runs compare a b --fail-on-regression 2%% => 2%%
runs compare a b --fail-on-regression nan% => nan%
runs compare a b --fail-on-regression 1001% => 1001%
runs prune --keep -1 => -1
runs prune --keep many => --keep many & a whole number
runs prune --older-than 36501 => at most 36500
runs prune --older-than 30d => --older-than 30d & a whole number
# The run would take longer than an hour, and no user can be asked here.
connect --rounds 100000 => days & 20,200,000 samples & --yes & --rounds
suite verify connector memory threads instructions --rounds 1000 => --yes
suite all --rounds 2000 => --yes & this takes about
"#;

#[test]
fn numbers() {
    Place::new().refuses(2, CASES);
}
