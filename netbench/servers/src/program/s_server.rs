//! OpenSSL's test server, `openssl s_server`.
//!
//! Its option `-www` serves a generated page, and `-WWW` and `-HTTP` have no page for the path `/`. The
//! server therefore only does TLS, and the responses for clients come through its standard input:
//! [`crate::relay`].

use netbench_tls::Alpn;

use super::{Answers, Content, Placed, Plan, Program, Staples};
use crate::words;

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
    let issuers = Some(issuers(placed)).filter(|issuers| !issuers.bytes.is_empty());
    let issuers = issuers.map(|_| plan.path(&placed.issuers()));
    let staple = site.ocsp_base64.as_ref();
    let staple = staple.map(|_| plan.path(&placed.staple()));
    let [oldest, newest] = placed.oldest_and_newest();
    let settings = [
        ("-accept", placed.address.to_string()),
        ("-cert", plan.path(&placed.chain())),
        ("-key", plan.path(&placed.key())),
        ("-cert_chain", issuers.unwrap_or_default()),
        ("-min_protocol", oldest.unwrap_or_default()),
        ("-max_protocol", newest.unwrap_or_default()),
        ("-cipher", placed.suites(|suite| !suite.is_tls13())),
        ("-ciphersuites", placed.suites(|suite| suite.is_tls13())),
        ("-groups", placed.groups()),
        ("-alpn", words::joined(&site.alpn, ",")),
        ("-num_tickets", site.tickets.to_string()),
        ("-status_file", staple.unwrap_or_default()),
    ];
    let settings = settings.into_iter().filter(|(_, value)| !value.is_empty());
    arguments.extend(settings.flat_map(|(name, value)| [name.to_owned(), value]));
    // Sessions are only in tickets, as with every other server.
    arguments.push("-no_cache".to_owned());
    if site.tickets == 0 {
        arguments.push("-no_ticket".to_owned());
    }
    arguments
}
