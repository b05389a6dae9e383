//! The predicted effect of certificate compression (RFC 8879) on the connections of a sweep over chains.

use itertools::Itertools;
use netbench_model::{
    CompressedChain, CompressionRecord, Measured, Site, StackName, SweepAxis, TlsVersion,
    scan::NamedCode,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AtPoint, SweepSummary, SweepTime, predicted::Predicted};
use crate::{
    connect::pairs::median_of,
    document::{Item, Table},
};

/// The predicted savings of a connection whose server compresses its certificates, for a client that supports this.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Compressed {
    /// The algorithm with the smallest result, of those that the stack offers if it offers any.
    pub algorithm: String,
    /// Whether the stack's ClientHello offers the algorithm; absent if its hello was not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_offered: Option<bool>,
    /// Bytes of the server's first flight that are saved, median.
    #[schemars(extend("x-unit" = "bytes"))]
    pub saved_bytes: f64,
    /// Predicted waiting that is saved, in round-trip times, median.
    #[schemars(extend("x-unit" = ""))]
    pub saved_round_trips: f64,
    /// Predicted time that is saved, median: that of waiting and of transmission.
    pub saved_ns: f64,
}

/// The sizes of a chain's Certificate message in TLS 1.3, plain and compressed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChainSizes {
    /// The chain: the value on the axis of chains.
    #[schemars(extend("x-key" = "item"))]
    pub chain: String,
    /// Size without compression, in bytes.
    pub plain_bytes: u32,
    /// Size with zlib, in bytes.
    pub zlib_bytes: u32,
    /// Size with brotli, in bytes.
    pub brotli_bytes: u32,
    /// Size with zstd, in bytes.
    pub zstd_bytes: u32,
}

/// Returns the sizes of each chain of the sweep, if it is of one site and the run recorded them.
pub(super) fn chains(
    summary: &SweepSummary,
    points: &[AtPoint<'_>],
    record: Option<&CompressionRecord>,
) -> Vec<ChainSizes> {
    let Some((axis, record)) = axis(summary).zip(record) else {
        return Vec::new();
    };
    let sizes = points.iter().filter_map(|at| {
        let site = at.sites.values().exactly_one().ok()?;
        let chain = record.chain_of(site)?;
        Some(ChainSizes {
            chain: at.point.settings.get(&axis.name)?.clone(),
            plain_bytes: chain.plain_bytes,
            zlib_bytes: chain.zlib_bytes,
            brotli_bytes: chain.brotli_bytes,
            zstd_bytes: chain.zstd_bytes,
        })
    });
    sizes.unique_by(|sizes| sizes.chain.clone()).collect()
}

/// Returns the savings of a stack's connections at a point. Returns `None` where the run recorded no sizes, where nothing is
/// predicted, and for connections without certificates of TLS 1.3.
pub(super) fn compressed(
    at: &AtPoint<'_>,
    stack: &StackName,
    measured: &[(&String, &Measured)],
) -> Option<Compressed> {
    let record = at.compression?;
    let offered = record.offers.get(stack);
    let algorithm = algorithm(at, record, offered)?;
    let savings = measured.iter().filter_map(|(name, measured)| {
        let site = at.sites.get(*name)?;
        let chain = record.chain_of(site)?;
        saving(at, stack, site, measured, chain, algorithm)
    });
    let savings: Vec<Saving> = savings.collect();
    Some(Compressed {
        algorithm: algorithm.to_owned(),
        is_offered: offered.map(|offered| has(offered, algorithm)),
        saved_bytes: median_of(&savings, |saving| saving.bytes)?,
        saved_round_trips: median_of(&savings, |saving| saving.round_trips)?,
        saved_ns: median_of(&savings, |saving| saving.ns)?,
    })
}

/// Returns the axis whose values are chains.
fn axis(sweep: &SweepSummary) -> Option<&SweepAxis> {
    sweep.axes.axes.iter().find(|axis| axis.is_of_chains())
}

/// The savings of one connection.
struct Saving {
    bytes: f64,
    round_trips: f64,
    ns: f64,
}

/// Predicts a connection with compressed certificates.
fn saving(
    at: &AtPoint<'_>,
    stack: &StackName,
    site: &Site,
    measured: &Measured,
    chain: &CompressedChain,
    algorithm: &str,
) -> Option<Saving> {
    let client = &measured.client;
    let has_chain = client.version == Some(TlsVersion::Tls13) && !client.resumed;
    let handshake_bytes = measured.transfer.handshake_bytes_in;
    // A smaller flight has a compressed chain already.
    if !has_chain || handshake_bytes < chain.plain_bytes.into() {
        return None;
    }
    let saved_bytes = i64::from(chain.plain_bytes)
        - i64::from(CompressedChain::FIELDS_BYTES)
        - i64::from(size_with(chain, algorithm)?);
    let mut smaller = measured.clone();
    let transfer = &mut smaller.transfer;
    for bytes in [&mut transfer.handshake_bytes_in, &mut transfer.bytes_in] {
        *bytes = bytes.saturating_add_signed(-saved_bytes);
    }
    let name = site.name();
    let [before, after]: [Predicted; 2] = [
        at.predict(stack, &name, measured)?,
        at.predict(stack, &name, &smaller)?,
    ];
    let trip_ns = (site.lab.link.rtt_ns + site.lab.link.jitter_ns) as f64;
    let waiting_ns = before.waiting_ns - after.waiting_ns;
    Some(Saving {
        bytes: saved_bytes as f64,
        round_trips: if trip_ns > 0.0 {
            waiting_ns / trip_ns
        } else {
            0.0
        },
        // The client computes in fewer turns, all of them while other packets arrive.
        ns: waiting_ns + before.bytes_ns - after.bytes_ns,
    })
}

/// Returns the algorithm with the smallest chains at a point, of those that the client offers if it offers any.
fn algorithm(
    at: &AtPoint<'_>,
    record: &CompressionRecord,
    offered: Option<&Vec<NamedCode>>,
) -> Option<&'static str> {
    let sites = at.sites.values();
    let chains: Vec<&CompressedChain> = sites.filter_map(|site| record.chain_of(site)).collect();
    let sizes = chains.iter().flat_map(|chain| chain.sizes());
    let totals = sizes.into_grouping_map().sum();
    let is_offered = |name: &str| offered.is_some_and(|offered| has(offered, name));
    let smallest = totals.into_iter().min_by_key(|(name, bytes)| {
        // Those that are offered come first, and the names decide between equal sizes.
        (!is_offered(name), *bytes, *name)
    });
    smallest.map(|(name, _)| name)
}

fn has(offered: &[NamedCode], algorithm: &str) -> bool {
    offered.iter().any(|code| code.name == algorithm)
}

fn size_with(chain: &CompressedChain, algorithm: &str) -> Option<u32> {
    let mut sizes = chain.sizes().into_iter();
    sizes.find_map(|(name, bytes)| (name == algorithm).then_some(bytes))
}

/// Tabulates the sizes of the chains.
pub(super) fn sizes(sweep: &SweepSummary, place: &str) -> Vec<Item> {
    let about = format!("{place}sizes of compressed certificates");
    let chain = axis(sweep).map_or("chain", |axis| axis.name.as_str());
    Table::of(&sweep.chain_sizes)
        .caption(&about)
        .text(chain, 0, |sizes| &sizes.chain)
        .count("plain bytes", 0, |sizes| sizes.plain_bytes)
        .count("zlib", 0, |sizes| sizes.zlib_bytes)
        .count("brotli", 0, |sizes| sizes.brotli_bytes)
        .count("zstd", 0, |sizes| sizes.zstd_bytes)
        .explained(
            format!("Certificate compression: {about}"),
            "The Certificate messages of the emulated servers, compressed for this table (RFC 8879) with the levels that OpenSSL uses: \
             zlib 6, brotli 11, zstd 3. The servers sent them without compression.",
        )
}

/// States the basis of the savings, and which stacks could have them.
pub(super) fn offers(rows: &[(&SweepTime, &Compressed)]) -> String {
    let mut sentences = vec![
        "Predicted, not measured: the difference that certificate compression (RFC 8879) makes for a client and a server that \
         both have it, with the algorithm of the smallest result. A smaller first flight waits for fewer acknowledgements and takes \
         less time to send. It also lets the congestion window grow less, which can make the response wait longer."
            .to_owned(),
    ];
    let offers = rows.iter();
    let mut by_offer = offers
        .map(|(row, compressed)| (compressed.is_offered, row.stack.as_str()))
        .into_group_map();
    for (is_offered, says) in [
        (
            Some(false),
            "the ClientHello offers no algorithm, and servers may not compress",
        ),
        (Some(true), "the ClientHello offers the algorithm"),
        (None, "the ClientHello was not recorded"),
    ] {
        if let Some(stacks) = by_offer.remove(&is_offered) {
            let stacks = stacks.into_iter().unique().format(", ");
            sentences.push(format!("{stacks}: {says}."));
        }
    }
    sentences.join(" ")
}
