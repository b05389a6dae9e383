//! OpenSSL's test server, `openssl s_server`.
//!
//! Its option `-www` serves a generated page, and `-WWW` and `-HTTP` have no page for the path `/`. The
//! server therefore only does TLS, and the responses for clients come through its standard input:
//! [`crate::relay`].

use netbench_tls::{Alpn, TlsVersion};

use super::{Answers, Content, Placed, Plan, Program, Staples};
use crate::words::{self, version_name};

pub(super) static S_SERVER: Program = Program {
    name: "openssl-s_server",
    executables: &["openssl"],
    package: "openssl",
    version: &["version"],
    alpn: &[&[Alpn::Http11], &[]],
    tickets: &[],
    staples: Staples::Given,
    answers: Answers::ThroughWorker,
    most_body: u64::MAX,
    closing: "",
    files: |plan| plan.sites.iter().map(issuers).collect(),
    arguments: |plan| {
        let sites = plan.sites.iter();
        sites.flat_map(|placed| arguments(plan, placed)).collect()
    },
};

/// Returns the file of issuers. The server would send the site's own certificate twice if that were in the
/// list of issuers.
fn issuers(placed: &Placed<'_>) -> Content {
    const BEGIN: &str = "-----BEGIN";
    let chain = &placed.site.chain_pem;
    let second = chain.match_indices(BEGIN).nth(1);
    let rest = second.map_or("", |(at, _)| &chain[at..]);
    Content::private(placed.issuers(), rest.as_bytes())
}

fn arguments(plan: &Plan<'_>, placed: &Placed<'_>) -> Vec<String> {
    let site = placed.site;
    let mut arguments = vec!["s_server".to_owned(), "-serverpref".to_owned()];
    let mut set = |name: &str, value: String| {
        if !value.is_empty() {
            arguments.extend([name.to_owned(), value]);
        }
    };
    set("-accept", placed.address.to_string());
    set("-cert", plan.path(&placed.chain()));
    set("-key", plan.path(&placed.key()));
    if !issuers(placed).bytes.is_empty() {
        set("-cert_chain", plan.path(&placed.issuers()));
    }
    let version = |version: Option<&TlsVersion>| version.copied().map(version_name);
    let (least, most) = (site.versions.iter().min(), site.versions.iter().max());
    set("-min_protocol", version(least).unwrap_or_default());
    set("-max_protocol", version(most).unwrap_or_default());
    set("-cipher", placed.suites(|suite| !suite.is_tls13()));
    set("-ciphersuites", placed.suites(|suite| suite.is_tls13()));
    set("-groups", placed.groups());
    set("-alpn", words::joined(&site.alpn, ","));
    set("-num_tickets", site.tickets.to_string());
    if site.ocsp_base64.is_some() {
        set("-status_file", plan.path(&placed.staple()));
    }
    // Sessions are only in tickets, as with every other server.
    arguments.push("-no_cache".to_owned());
    if site.tickets == 0 {
        arguments.push("-no_ticket".to_owned());
    }
    arguments
}
