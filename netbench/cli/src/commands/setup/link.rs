use crate::{exit::Ended, output};
use clap::Subcommand;
use netbench_link::LinkChoice;
use netbench_link::bench::{LinkBench, ThreadTime, run_bench};
use netbench_model::LinkPreset;

#[derive(Debug, Subcommand)]
pub(crate) enum Link {
    /// List the links that have a name, for --sweep link=…
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Compare the emulated link with its settings: round-trip time, rate, lateness
    Bench {
        /// Link to measure: auto, user, tun, netem, none
        #[arg(long, value_name = "LINK", default_value = "auto")]
        link: LinkChoice,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn link(options: &Link) -> anyhow::Result<Ended> {
    match options {
        Link::List { json } => {
            if *json {
                output::write_json(&LinkPreset::ALL)?;
            } else {
                output::write_lines(&LinkPreset::ALL.map(line))?;
            }
        }
        Link::Bench { link, json } => {
            let bench = run_bench(*link)?;
            if *json {
                output::write_json(&bench)?;
            } else {
                output::write_lines(&lines(&bench))?;
            }
        }
    }
    Ok(Ended::Well)
}

/// Returns the line of a preset in the list.
fn line(preset: LinkPreset) -> String {
    let profile = preset.profile;
    let [rate, rate_up] = [profile.rate, profile.rate_up]
        .map(|rate| rate.map_or_else(|| "none".to_owned(), |rate| rate.to_string()));
    format!(
        "{:<10} rtt={}ms rate={rate} rate-up={rate_up} queue={} loss={}  # {}",
        preset.name,
        profile.rtt().as_millis(),
        profile.queue.packets,
        profile.loss,
        preset.about
    )
}

fn lines(bench: &LinkBench) -> Vec<String> {
    let mut lines = vec![format!("link: {}", bench.why)];
    for connect in &bench.connects {
        let kernel = connect.kernel_rtt_ns.map_or_else(String::new, |ns| {
            format!("; by the kernel {} between SYN and SYN-ACK", ms(ns))
        });
        lines.push(format!(
            "idle TCP connect at RTT {}: median {}, {} to {}, of {}{kernel}",
            ms(connect.rtt_ns),
            ms(connect.median_ns),
            ms(connect.min_ns),
            ms(connect.max_ns),
            connect.connects
        ));
    }
    for (quantile, ns) in &bench.lateness_ns {
        lines.push(format!(
            "released late, {quantile}: {:.1} µs",
            *ns as f64 / 1e3
        ));
    }
    let transfer = &bench.transfer;
    lines.push(format!(
        "{} bytes at RTT {}: median {}, {:+.1} % of the slow-start ideal of {}",
        transfer.bytes,
        ms(transfer.rtt_ns),
        ms(transfer.median_ns),
        100.0 * (transfer.median_ns as f64 / transfer.ideal_ns as f64 - 1.0),
        ms(transfer.ideal_ns)
    ));
    lines.push(format!(
        "without delay: {:.2} Gbit/s{}",
        bench.throughput_bits_per_second as f64 / 1e9,
        bench
            .throughput_thread
            .map(|thread| limit(thread, bench.throughput_bits_per_second))
            .unwrap_or_default()
    ));
    lines
}

fn ms(ns: u64) -> String {
    format!("{:.3} ms", ns as f64 / 1e6)
}

/// Describes the limit of a transfer without delay, by the times of the link's thread.
fn limit(thread: ThreadTime, bits_per_second: u64) -> String {
    /// The share of the time that identifies the limit.
    const MUCH: f64 = 0.2;
    let [running, waiting] = [thread.running_ns, thread.waiting_ns]
        .map(|ns| ns as f64 / thread.elapsed_ns.max(1) as f64);
    let limit = if waiting >= MUCH {
        "other programs on its core"
    } else if running >= 1.0 - MUCH {
        "the work for a packet, on one core"
    } else {
        "the two hosts, or other programs on their cores"
    };
    format!(
        ", limited by {limit}: the link's thread ran for {:.0} % of the time, {:.1} µs a packet, and waited for a core for {:.0} %; \
         the time that it ran is enough for {:.2} Gbit/s",
        100.0 * running,
        thread.running_ns as f64 / 1e3 / thread.packets.max(1) as f64,
        100.0 * waiting,
        bits_per_second as f64 / 1e9 / running.max(f64::MIN_POSITIVE)
    )
}
