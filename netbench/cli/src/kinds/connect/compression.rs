//! The record of compressed certificates of a sweep over chains.

use std::collections::BTreeMap;

use anyhow::Context;
use netbench_model::{
    CompressedChain, CompressionRecord, ConnectPlan, Site, StackName, SweepAxis, scan::NamedCode,
};
use netbench_runner::{LabTargets, Targets, scan::offers};

use crate::pipeline::Setup;

/// Compresses each kind of chain of a sweep over chains, and captures what the stacks' hellos offer. Returns `None` for runs
/// without such a sweep.
pub(super) fn record(
    plan: &ConnectPlan,
    setup: &Setup,
) -> anyhow::Result<Option<CompressionRecord>> {
    let axes = plan.sweep.iter().flat_map(|sweep| &sweep.axes);
    if !axes.into_iter().any(SweepAxis::is_of_chains) {
        return Ok(None);
    }
    let mut record = CompressionRecord::default();
    for site in &plan.sites {
        if record.chain_of(site).is_none() {
            let chain = chain(setup.targets()?, site)?;
            record.chains.extend(chain);
        }
    }
    if let Some(site) = plan.sites.first() {
        record.offers = offered(plan, setup, site);
    }
    Ok(Some(record))
}

/// Returns the sizes of a site's chain, or `None` where the site has no server.
fn chain(targets: &Targets, site: &Site) -> anyhow::Result<Option<CompressedChain>> {
    let lab = targets.as_lab().map(LabTargets::lab);
    let Some(message) = lab.and_then(|lab| lab.compressed(site)) else {
        return Ok(None);
    };
    let name = site.name();
    let message = message.with_context(|| format!("{name}: cannot compress its certificates"))?;
    let sizes = [
        &message.plain,
        &message.zlib,
        &message.brotli,
        &message.zstd,
    ];
    let [plain_bytes, zlib_bytes, brotli_bytes, zstd_bytes] =
        sizes.map(|bytes| u32::try_from(bytes.len()).unwrap_or(u32::MAX));
    let lab = &site.lab;
    Ok(Some(CompressedChain {
        host: site.host.clone(),
        key: lab.key,
        ca_key: lab.ca_key(),
        chain: lab.chain,
        ocsp: lab.ocsp,
        plain_bytes,
        zlib_bytes,
        brotli_bytes,
        zstd_bytes,
    }))
}

/// Returns the algorithms in the hellos of the stacks. A stack that sends no readable hello is left out: its connections will
/// show the reason.
fn offered(plan: &ConnectPlan, setup: &Setup, site: &Site) -> BTreeMap<StackName, Vec<NamedCode>> {
    let stacks = plan.stacks.iter().filter_map(|stack| {
        let offers = offers(
            std::slice::from_ref(stack),
            &setup.workers,
            setup.inside.as_ref(),
            &plan.client,
            &setup.roots_pem,
            site,
        );
        let offer = offers.ok()?.into_iter().next()?;
        Some((stack.clone(), offer.certificate_compression?))
    });
    stacks.collect()
}
