use std::{net::IpAddr, time::Duration};

use netbench_model::{LabProfile, ScanManifest, ScanPlace, ScanPlan, Site};
use netbench_scan::{Limits, ScanPart};

use super::args::Scan;
use crate::{
    exit::{WrongInput, bail_input},
    sites_file::{self, SitesFile},
    stack_names::stack_names,
    targets::{Network, Sites, roots},
};

/// What is to be scanned and how, read and found right.
pub(crate) struct ScanSettings {
    pub(crate) over: Sites,
    pub(crate) plan: ScanPlan,
}

impl ScanSettings {
    pub(crate) fn of_options(options: &Scan) -> anyhow::Result<Self> {
        let file = if options.targets.is_empty() {
            sites_file::read(options.over.sites.as_deref())?
        } else {
            of_targets(&options.targets)?
        };
        let live = options.over.live;
        let rate = options.rate.or(LIVE_RATE.filter(|_| live));
        let place = match (live, options.targets.is_empty()) {
            (true, _) => ScanPlace::Live,
            (false, true) => ScanPlace::Lab,
            (false, false) => ScanPlace::Loopback,
        };
        if place == ScanPlace::Loopback {
            all_on_loopback(&file.sites)?;
        }
        let over = Sites::of_options(
            network(place, file.sites.len(), rate),
            file,
            roots(&options.roots.source(), None)?,
            &options.over,
            &options.path,
            &options.start,
        )?;
        let parts = ScanPart::ALL.map(|part| part.name().to_owned()).into_iter();
        let plan = ScanPlan {
            place,
            sites_file: over.file.name.clone(),
            sites_sha256: over.file.sha256.clone(),
            sites: over.file.sites.clone(),
            parts: parts.filter(|part| options.parts.contains(part)).collect(),
            jobs: options.jobs.unwrap_or(if live { 50 } else { 500 }),
            rate,
            timeout_ms: u64::try_from(options.timeout.as_millis()).unwrap_or(u64::MAX),
            retries: options.retries,
            roots: over.roots_record(),
            seed: over.seed,
            against: stack_names(&options.against),
            client_profile: options.client_profile.into(),
            confirm: options.confirm,
            summary: options.summary,
        };
        Ok(Self { over, plan })
    }

    pub(crate) fn of_manifest(manifest: &ScanManifest) -> anyhow::Result<Self> {
        let plan = manifest.plan.clone();
        let file = SitesFile {
            name: plan.sites_file.clone(),
            sha256: plan.sites_sha256.clone(),
            sites: plan.sites.clone(),
        };
        let network = network(plan.place, plan.sites.len(), plan.rate);
        let over = Sites::of_run(manifest, network, file, &plan.roots, plan.seed)?;
        Ok(Self { over, plan })
    }

    /// How the scanner keeps to the plan. A real host gets one connection at a time.
    pub(crate) fn limits(&self) -> Limits {
        let plan = &self.plan;
        let default = Limits::default();
        let (per_site, per_address) = match plan.place {
            ScanPlace::Live => (1, 2),
            ScanPlace::Lab | ScanPlace::Loopback => (default.per_site, default.per_address),
        };
        let named = |name: &String| ScanPart::ALL.into_iter().find(|part| part.name() == name);
        Limits {
            sites: plan.jobs as usize,
            per_site,
            per_address,
            rate: plan.rate,
            timeout: Duration::from_millis(plan.timeout_ms),
            retries: plan.retries,
            parts: plan.parts.iter().filter_map(named).collect(),
            ..default
        }
    }
}

/// Connections begun in a second at most over the real network, unless `--rate` says otherwise.
const LIVE_RATE: Option<f64> = Some(100.0);

fn network(place: ScanPlace, sites: usize, rate: Option<f64>) -> Network {
    let rate = rate.unwrap_or(f64::INFINITY);
    match place {
        ScanPlace::Lab => Network::Lab,
        ScanPlace::Loopback => Network::Loopback,
        ScanPlace::Live => Network::Live {
            how: format!(
                "scanning {sites} hosts over the real network, at most {rate} connections a second, one at a \
                 time to each"
            ),
        },
    }
}

fn of_targets(targets: &[String]) -> anyhow::Result<SitesFile> {
    let mut sites: Vec<Site> = Vec::new();
    for text in targets {
        let site = target(text).map_err(WrongInput)?;
        if sites.iter().any(|other| other.name() == site.name()) {
            bail_input!("{} is given twice", site.name());
        }
        sites.push(site);
    }
    Ok(SitesFile {
        name: "command line".to_owned(),
        sha256: String::new(),
        sites,
    })
}

fn target(text: &str) -> Result<Site, String> {
    if text.matches(':').count() > 1 || text.starts_with('[') {
        return Err(format!(
            "{text:?}: a host name or an IPv4 address is expected; IPv6 addresses are not supported"
        ));
    }
    let (host, port) = text.split_once(':').unwrap_or((text, "443"));
    let number = port.bytes().all(|b| b.is_ascii_digit());
    let port = match port.parse::<u16>() {
        Ok(port) if port > 0 && number => port,
        _ => return Err(format!("{text:?}: a port is a number from 1 to 65535")),
    };
    Ok(Site {
        host: host.parse()?,
        port,
        lab: LabProfile::default(),
    })
}

/// Names are not looked up to find out: the question itself would leave the machine.
fn all_on_loopback(sites: &[Site]) -> anyhow::Result<()> {
    let on_loopback = |site: &Site| {
        let host = site.host.as_str();
        host == "localhost"
            || host.ends_with(".localhost")
            || host
                .parse::<IpAddr>()
                .is_ok_and(|address| address.is_loopback())
    };
    match sites.iter().find(|site| !on_loopback(site)) {
        None => Ok(()),
        Some(site) => Err(WrongInput(format!(
            "{} is not on this machine: real hosts are scanned with --live only",
            site.name()
        ))
        .into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_hosts_with_ports() {
        let good = [
            ("127.0.0.1:8443", "127.0.0.1:8443"),
            ("Localhost", "localhost"),
            ("a.example:443", "a.example"),
        ];
        for (text, name) in good {
            assert_eq!(target(text).map(|site| site.name()), Ok(name.to_owned()));
        }
        for text in [
            "",
            ":443",
            "a:b",
            "a:0",
            "a:65536",
            "a:+1",
            "::1",
            "[::1]:443",
            "a\u{1b}b",
        ] {
            let error = target(text).expect_err(text);
            assert!(!error.contains('\u{1b}'), "{error}");
        }
    }

    #[test]
    fn what_is_not_on_loopback_needs_leave() {
        for (text, well) in [
            ("127.9.9.9", true),
            ("localhost:1", true),
            ("x.localhost", true),
            ("10.0.0.1", false),
            ("example.com", false),
            ("notlocalhost", false),
        ] {
            let site = target(text).expect("a target");
            assert_eq!(all_on_loopback(&[site]).is_ok(), well, "{text}");
        }
    }
}
