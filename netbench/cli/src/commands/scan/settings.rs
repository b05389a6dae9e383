use std::{collections::BTreeSet, net::IpAddr, time::Duration};

use netbench_model::{LabProfile, Profile, ScanManifest, ScanPlace, ScanPlan, Site, StackName};
use netbench_scan::{Limits, ScanPart};

use super::args::{PartArg, Scan};
use crate::{
    exit::{WrongInput, bail_input},
    sites_file::{self, SitesFile},
    stack_names::stack_names,
    targets::{Network, Sites, roots},
};

/// What is to be scanned and how, read and found right.
pub(crate) struct ScanSettings {
    pub(crate) over: Sites,
    pub(crate) limits: Limits,
    pub(crate) against: Vec<StackName>,
    pub(crate) client_profile: Profile,
    pub(crate) confirm: u32,
    pub(crate) summary: bool,
}

impl ScanSettings {
    /// From the command line.
    pub(crate) fn of_options(options: &Scan) -> anyhow::Result<Self> {
        let file = if options.targets.is_empty() {
            sites_file::read(options.over.sites.as_deref())?
        } else {
            of_targets(&options.targets)?
        };
        let network = match (options.over.live, options.targets.is_empty()) {
            (true, _) => Network::Live {
                how: live(file.sites.len(), options.rate.or(LIVE_RATE)),
            },
            (false, true) => Network::Lab,
            (false, false) => Network::Loopback,
        };
        if network == Network::Loopback {
            all_on_loopback(&file.sites)?;
        }
        let live = options.over.live;
        let over = Sites::of_options(
            network,
            file,
            roots(&options.roots.source(), None)?,
            &options.over,
            &options.path,
            &options.start,
        )?;
        let parts = options.parts.iter().filter_map(|part| match part {
            PartArg::Enumeration => None,
            PartArg::Signatures => Some(ScanPart::Signatures),
            PartArg::Sessions => Some(ScanPart::Sessions),
            PartArg::Features => Some(ScanPart::Features),
            PartArg::Intolerance => Some(ScanPart::Intolerance),
        });
        let parts: BTreeSet<ScanPart> = parts.collect();
        let default = Limits::default();
        let jobs = options.jobs.unwrap_or(if live { 50 } else { 500 });
        Ok(Self {
            over,
            limits: Limits {
                sites: jobs as usize,
                per_site: if live { 1 } else { default.per_site },
                per_address: if live { 2 } else { default.per_address },
                rate: options.rate.or(LIVE_RATE.filter(|_| live)),
                timeout: options.timeout,
                retries: options.retries,
                parts: parts.into_iter().collect(),
                ..default
            },
            against: stack_names(&options.against),
            client_profile: options.client_profile.into(),
            confirm: options.confirm,
            summary: options.summary,
        })
    }

    /// From the run to resume.
    pub(crate) fn of_manifest(manifest: &ScanManifest) -> anyhow::Result<Self> {
        let plan = &manifest.plan;
        let file = SitesFile {
            name: plan.sites_file.clone(),
            sha256: plan.sites_sha256.clone(),
            sites: plan.sites.clone(),
        };
        let over = Sites::of_run(
            manifest,
            match plan.place {
                ScanPlace::Lab => Network::Lab,
                ScanPlace::Loopback => Network::Loopback,
                ScanPlace::Live => Network::Live {
                    how: live(plan.sites.len(), plan.rate),
                },
            },
            file,
            &plan.roots,
            plan.seed,
        )?;
        let named = |name: &String| ScanPart::ALL.into_iter().find(|part| part.name() == name);
        let live = plan.place == ScanPlace::Live;
        let default = Limits::default();
        Ok(Self {
            over,
            limits: Limits {
                sites: plan.jobs as usize,
                per_site: if live { 1 } else { default.per_site },
                per_address: if live { 2 } else { default.per_address },
                rate: plan.rate,
                timeout: Duration::from_millis(plan.timeout_ms),
                retries: plan.retries,
                parts: plan.parts.iter().filter_map(named).collect(),
                ..default
            },
            against: plan.against.clone(),
            client_profile: plan.client_profile,
            confirm: plan.confirm,
            summary: plan.summary,
        })
    }

    /// As the manifest has it.
    pub(crate) fn record(&self) -> ScanPlan {
        let limits = &self.limits;
        let parts = limits.parts.iter().map(|part| part.name().to_owned());
        ScanPlan {
            place: match self.over.network {
                Network::Lab => ScanPlace::Lab,
                Network::Loopback => ScanPlace::Loopback,
                Network::Live { .. } => ScanPlace::Live,
            },
            sites_file: self.over.file.name.clone(),
            sites_sha256: self.over.file.sha256.clone(),
            sites: self.over.file.sites.clone(),
            parts: parts.collect(),
            jobs: u32::try_from(limits.sites).unwrap_or(u32::MAX),
            rate: limits.rate,
            timeout_ms: u64::try_from(limits.timeout.as_millis()).unwrap_or(u64::MAX),
            retries: limits.retries,
            roots: self.over.roots_record(),
            seed: self.over.seed,
            against: self.against.clone(),
            client_profile: self.client_profile,
            confirm: self.confirm,
            summary: self.summary,
        }
    }
}

/// Connections begun in a second at most over the real network, unless `--rate` says otherwise.
const LIVE_RATE: Option<f64> = Some(100.0);

fn live(sites: usize, rate: Option<f64>) -> String {
    let rate = rate.unwrap_or(f64::INFINITY);
    format!(
        "scanning {sites} hosts over the real network, at most {rate} connections a second, one at a time to \
         each"
    )
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
