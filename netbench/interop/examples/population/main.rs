//! Predicts which sites stacks lose, in a population that is drawn from published shares.
//!
//! `cargo run -p netbench-interop --example population -- HELLOS.json [SITES] [SEED] > table.md` reads the output of
//! `netbench stacks hello --json`. With a fourth argument, a number, it prints a sites file for `netbench scan` instead: that many
//! of the drawn sites, chosen at random.

#![expect(clippy::unwrap_used, reason = "a study that cannot be made ends")]

use std::{collections::BTreeMap, fs};

use netbench_interop::{WebModel, WebSite, predict};
use netbench_model::scan::{Agreement, Offer};
use netbench_stats::{Rng, share_of_whole};
use serde::Deserialize;

#[derive(Deserialize)]
struct Hellos {
    hellos: Vec<Offer>,
}

/// The minimal number of sites of each kind in a sites file, where as many were drawn.
const OF_EACH: u32 = 20;

/// Sites that a stack loses for a reason.
#[derive(Default)]
struct Lost {
    sites: u32,
    /// The number of each kind.
    kinds: BTreeMap<usize, u32>,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let sites = number(&words, 1, 100_000);
    let seed = u64::from(number(&words, 2, 20_261_122));
    let population = WebModel::of_2026().unwrap();
    let drawn = draw(&population, sites, seed);
    if words.len() > 3 {
        return print_sites(&population, &drawn, number(&words, 3, 0), seed);
    }
    let hellos = fs::read_to_string(words.first().expect("a file of hellos")).unwrap();
    let Hellos { hellos } = serde_json::from_str(&hellos).unwrap();
    println!("# Predicted loss in a drawn population of sites\n");
    println!(
        "{} sites, drawn with the seed {seed} from the population model `{}`. No site was contacted.\n",
        grouped(sites),
        population.name
    );
    lost(&population, &drawn, &hellos);
    kinds(&population, &drawn);
    println!("\n## Sources and assumptions\n");
    for (name, source) in &population.sources {
        println!("- {name}: {source}");
    }
    for assumption in &population.assumptions {
        println!("- {assumption}");
    }
}

fn number(words: &[String], at: usize, usual: u32) -> u32 {
    words.get(at).map_or(usual, |word| word.parse().unwrap())
}

/// Draws sites from the population.
fn draw(population: &WebModel, sites: u32, seed: u64) -> Vec<WebSite> {
    let mut rng = Rng::new(seed);
    let drawn = (0..sites).map(|_| {
        let kind = pick(&mut rng, population.kinds.iter().map(|kind| kind.percent));
        let weights = population.key_weights(&population.kinds[kind]);
        let key = pick(&mut rng, weights.into_iter());
        WebSite { kind, key }
    });
    drawn.collect()
}

/// Returns the index of the share that a draw falls into.
fn pick(rng: &mut Rng, shares: impl Iterator<Item = f64> + Clone) -> usize {
    let mut left = rng.unit() * shares.clone().sum::<f64>();
    let mut place = 0;
    for (at, share) in shares.enumerate() {
        if share > 0.0 {
            place = at;
            if left < share {
                break;
            }
        }
        left -= share;
    }
    place
}

fn lost(population: &WebModel, drawn: &[WebSite], hellos: &[Offer]) {
    println!(
        "| stack | reason of the loss | sites | share | 95 % interval of the draw | range of the sources |"
    );
    println!("| --- | --- | ---: | ---: | --- | --- |");
    let counts: Vec<usize> = (0..population.kinds.len())
        .map(|kind| drawn.iter().filter(|site| site.kind == kind).count())
        .collect();
    for offer in hellos {
        let mut reasons: BTreeMap<&str, Lost> = BTreeMap::new();
        let mut all = Lost::default();
        // Sites with the same kind and key have the same outcome.
        let mut known: BTreeMap<&WebSite, Agreement> = BTreeMap::new();
        for site in drawn {
            let agreement = known
                .entry(site)
                .or_insert_with(|| predict(offer, &population.scan(*site)));
            if let Agreement::Loses { reason, .. } = agreement {
                let of_reason = reasons.entry(reason.name()).or_default();
                for lost in [of_reason, &mut all] {
                    lost.sites += 1;
                    *lost.kinds.entry(site.kind).or_default() += 1;
                }
            }
        }
        let rows = reasons.into_iter().chain([("all together", all)]);
        for (reason, lost) in rows {
            let interval =
                share_of_whole(u64::from(lost.sites), drawn.len() as u64, 0, u64::MAX).unwrap();
            // The lost part of a kind does not depend on its share.
            let parts = lost.kinds.iter().map(|(kind, sites)| {
                let part = f64::from(*sites) / counts[*kind] as f64;
                (&population.kinds[*kind], part)
            });
            let low: f64 = parts.clone().map(|(kind, part)| kind.low * part).sum();
            let high = population.highest(parts);
            println!(
                "| {} | {reason} | {} | {:.3} % | {:.3} to {:.3} % | {:.3} to {:.3} % |",
                offer.stack,
                grouped(lost.sites),
                100.0 * f64::from(lost.sites) / drawn.len() as f64,
                100.0 * interval.low,
                100.0 * interval.high,
                low,
                high,
            );
        }
    }
}

fn kinds(population: &WebModel, drawn: &[WebSite]) {
    println!("\n## The population\n");
    println!("| kind | sites | share in the model | lowest | highest | sources |");
    println!("| --- | ---: | ---: | ---: | ---: | --- |");
    for (number, kind) in population.kinds.iter().enumerate() {
        let sites = drawn.iter().filter(|site| site.kind == number).count();
        println!(
            "| {} | {} | {:.3} % | {:.3} % | {:.3} % | {} |",
            kind.name,
            grouped(sites),
            kind.percent,
            kind.low,
            kind.high,
            kind.sources.join(", ")
        );
    }
}

/// Prints a sites file with `count` of the sites, and with more of rare kinds.
fn print_sites(population: &WebModel, drawn: &[WebSite], count: u32, seed: u64) {
    let mut shuffled: Vec<&WebSite> = drawn.iter().collect();
    let mut rng = Rng::new(seed + 1);
    for at in (1..shuffled.len()).rev() {
        let other = rng.below(u32::try_from(at + 1).unwrap()) as usize;
        shuffled.swap(at, other);
    }
    println!(
        "# {} of {} sites drawn with the seed {seed} from `{}`, and at least {OF_EACH} of each kind, where as many were drawn",
        grouped(count),
        grouped(drawn.len()),
        population.name
    );
    let mut of_kind = vec![0; population.kinds.len()];
    for (number, site) in shuffled.into_iter().enumerate() {
        let accepted = &mut of_kind[site.kind];
        if number < count as usize || *accepted < OF_EACH {
            *accepted += 1;
            println!("{}", population.line(*site, number));
        }
    }
}

/// Returns a count with commas between its thousands.
fn grouped(count: impl ToString) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
