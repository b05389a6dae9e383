//! Draws failures with a known reason, to be compared with the runner's source: `cargo run -p netbench-bogo
//! --example draw_reasons -- SEED COUNT [patterns]`.
//!
//! Each failure in the stored outcomes of all shims has the same probability; with `patterns`, each pattern
//! of a shim's configuration has, represented by one of its tests. A line has the shim, the test, its
//! expectation, the reason, and the messages of the runner and the shim.

use std::{collections::BTreeSet, env, error::Error, path::Path};

use netbench_bogo::{Baseline, Catalog, KNOWN_SHIMS, OutcomesIn, catalog_path, outcomes_path};
use netbench_model::coverage::TestOutcome;
use sha2::{Digest, Sha256};

/// The set from which failures are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Among {
    Tests,
    Patterns,
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let (seed, count, among) = match words.as_slice() {
        [seed, count] => (seed, count, Among::Tests),
        [seed, count, what] if what == "patterns" => (seed, count, Among::Patterns),
        _ => return Err("which seed, and how many? For example 1 100".into()),
    };
    let (seed, count): (u64, usize) = (seed.parse()?, count.parse()?);
    let mut all = failures(seed)?;
    all.sort();
    let mut seen = BTreeSet::new();
    let drawn = all.into_iter().filter(|failure| {
        among == Among::Tests || seen.insert((failure.shim, failure.pattern.clone()))
    });
    let mut drawn: Vec<_> = drawn.collect();
    if among == Among::Patterns {
        // The first test of a pattern with many tests tends to be early in the order; the pattern's own place
        // does not depend on it.
        drawn.sort_by_key(|failure| place(seed, failure.shim, &failure.pattern));
    }
    for failure in drawn.iter().take(count) {
        println!("{}", failure.line);
    }
    Ok(())
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Failure {
    place: Vec<u8>,
    shim: &'static str,
    pattern: String,
    line: String,
}

/// Returns all failures that have a reason.
fn failures(seed: u64) -> Result<Vec<Failure>, Box<dyn Error>> {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let catalog = Catalog::read(&tree.join(catalog_path()))?;
    let stored = OutcomesIn::Tree(tree.clone());
    let mut all = Vec::new();
    for shim in &KNOWN_SHIMS {
        let config = shim.config(&stored)?;
        for (test, stored) in Baseline::read(&tree.join(outcomes_path(shim.name)))?.tests {
            let (TestOutcome::Failed, Some(reason), Some(pattern)) =
                (stored.outcome, config.reason(&test), config.pattern(&test))
            else {
                continue;
            };
            let expects = catalog.expects(&test).map_or("", |expects| expects.name());
            let words = format!("{}: {}", reason.0.name(), reason.1);
            all.push(Failure {
                place: place(seed, shim.name, &test),
                shim: shim.name,
                pattern: pattern.to_owned(),
                line: [shim.name, &test, expects, &words, &stored.error].join("\t"),
            });
        }
    }
    Ok(all)
}

fn place(seed: u64, shim: &str, name: &str) -> Vec<u8> {
    Sha256::digest(format!("{seed} {shim} {name}")).to_vec()
}
