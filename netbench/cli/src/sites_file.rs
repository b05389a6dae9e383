//! Parsing of sites files.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use netbench_model::{Site, SiteError, authority, parse_sites, parse_target_of};
use sha2::{Digest, Sha256};

use crate::{
    exit::{WrongInput, bail_input},
    loopback,
    user_file::read_or,
};

/// The sites that are measured by default.
pub(crate) const BUILT_IN: &str = include_str!("../../../sites.txt");

/// The largest size of a sites file, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// The port of sites that are asked for HTTPS.
pub(crate) const HTTPS: u16 = 443;

pub(crate) struct SitesFile {
    pub(crate) name: String,
    pub(crate) sha256: String,
    pub(crate) sites: Arc<Vec<Site>>,
    /// The reason why the lab cannot emulate the sites, if there is one.
    pub(crate) not_emulated: Option<String>,
}

pub(crate) fn read(file: Option<&Path>) -> anyhow::Result<SitesFile> {
    let (name, text) = read_or(BUILT_IN, file, MAX_BYTES)?;
    let sites = parse_sites(&text).map_err(|errors| WrongInput(in_lines(&name, &errors)))?;
    Ok(SitesFile {
        not_emulated: not_emulated(&name, &text, &sites),
        name,
        sha256: sha256(text.as_bytes()),
        sites: sites.into(),
    })
}

/// Parses the sites of URLs on the command line. Those without a port are at `default_port`.
pub(crate) fn of_targets(targets: &[String], default_port: u16) -> Result<SitesFile, WrongInput> {
    let mut sites: Vec<Site> = Vec::new();
    for text in targets {
        let site = parse_target_of(text, default_port).map_err(WrongInput)?;
        let place = site.place_in_dns();
        let mut before = sites.iter().zip(targets);
        if let Some((_, other)) = before.find(|(other, _)| other.place_in_dns() == place) {
            bail_input!("{} is given twice: {other} and {text}", site.name());
        }
        sites.push(site);
    }
    let lines: Vec<String> = sites.iter().map(Site::to_line).collect();
    Ok(SitesFile {
        name: "command line".to_owned(),
        sha256: sha256(lines.join("\n").as_bytes()),
        not_emulated: None,
        sites: sites.into(),
    })
}

/// Sets the port of the sites that have none. A line with port 443 is the same as one without a port.
///
/// # Errors
/// Two lines are then the same site.
pub(crate) fn set_default_port(file: &mut SitesFile, port: u16) -> Result<(), WrongInput> {
    let mut given = BTreeMap::new();
    for site in Arc::make_mut(&mut file.sites) {
        let line = site.name();
        if site.port == HTTPS {
            site.port = port;
        }
        if let Some(other) = given.insert(site.place_in_dns(), line.clone()) {
            bail_input!(
                "{}: {} is given twice: {other} and {line}; the default port is {port}",
                file.name,
                site.name()
            );
        }
    }
    Ok(())
}

/// Refuses a file with sites that the lab cannot emulate.
pub(crate) fn refuse_what_is_not_emulated(file: &SitesFile) -> Result<(), WrongInput> {
    match &file.not_emulated {
        // A `--limit` may have removed the site.
        Some(why) if file.sites.iter().any(is_ipv6) => bail_input!("{why}"),
        _ => Ok(()),
    }
}

fn is_ipv6(site: &Site) -> bool {
    site.host.address().is_some_and(|a| a.is_ipv6())
}

/// Returns an error for the first site with an IPv6 address: the links are IPv4.
fn not_emulated(file: &str, text: &str, sites: &[Site]) -> Option<String> {
    let site = sites.iter().find(|site| is_ipv6(site))?.name();
    let line = text.lines().position(|line| {
        let of_line = parse_sites(line).unwrap_or_default();
        of_line.iter().any(|found| found.name() == site)
    })? + 1;
    Some(format!(
        "{file}: line {line}: {site}: IPv6 is not emulated; give the site a host name, or use --live for the real host"
    ))
}

/// Refuses fields of sites that are contacted as they are: nothing would come of them.
pub(crate) fn refuse_fields_of_the_lab(file: &SitesFile) -> Result<(), WrongInput> {
    for site in file.sites.iter() {
        let fields: Vec<_> = site
            .unusual_fields()
            .map(|(name, text)| format!("{name}={text}"))
            .collect();
        if !fields.is_empty() {
            bail_input!(
                "{}: {} is a server of this machine and is not emulated, so {} would have no effect: remove that, or \
                 give the site a name that is not of this machine, such as {}",
                file.name,
                site.name(),
                fields.join(" "),
                authority(&loopback::emulated_name(&site.host), site.port)
            );
        }
    }
    Ok(())
}

/// The first errors of a file, and how many more there are.
fn in_lines(name: &str, errors: &[SiteError]) -> String {
    const MOST: usize = 10;
    let mut lines: Vec<_> = errors
        .iter()
        .take(MOST)
        .map(|error| format!("{name}: {error}"))
        .collect();
    match errors.len() {
        0 | 1 => {}
        all => lines.insert(0, format!("{all} errors in the sites file:")),
    }
    if errors.len() > MOST {
        lines.push(format!("and {} more errors", errors.len() - MOST));
    }
    lines.join("\n")
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}
