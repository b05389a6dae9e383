//! HAProxy: one frontend per site, which itself writes the responses.

use netbench_protocol::SERVER_VIEW_HEADER;
use netbench_tls::TlsVersion;

use super::{Answers, Content, Placed, Plan, Program, Staples};
use crate::words::{self, Pair, View, version_name};

/// The longest body that HAProxy is given: each connection has a buffer for a whole body in memory.
const MOST_BODY: u64 = 1 << 20;

/// The maximum part of that buffer that the head of a response and HTTP/2 use.
const HEAD: u64 = 16 << 10;

pub(super) static HAPROXY: Program = Program {
    name: "haproxy",
    executables: &["haproxy"],
    package: "haproxy",
    version: &["-vv"],
    alpn: &[],
    tickets: &[0, 2],
    staples: Staples::Given,
    answers: Answers::ByItself,
    most_body: MOST_BODY,
    closing: "Fatal errors found",
    files,
    arguments: |plan| {
        let configuration = plan.path("haproxy.cfg");
        ["-db", "-f", &configuration].map(str::to_owned).to_vec()
    },
};

fn files(plan: &Plan<'_>) -> Vec<Content> {
    let longest = plan.sites.iter().map(|placed| placed.site.body_bytes).max();
    let frontends: String = plan.sites.iter().map(|site| frontend(plan, site)).collect();
    let text = format!(
        "global\n\
         \x20 nbthread 2\n\
         \x20 maxconn 2000\n\
         \x20 tune.bufsize {buffer}\n\
         \x20 tune.ssl.cachesize 0\n\
         \x20 tune.ssl.default-dh-param 2048\n\
         defaults\n\
         \x20 mode http\n\
         \x20 timeout client 120s\n\
         \x20 timeout connect 5s\n\
         \x20 timeout server 120s\n\
         {frontends}",
        buffer = longest.unwrap_or(0) + HEAD,
    );
    let map = |name: &str, pairs: Vec<Pair>| {
        let lines: String = pairs
            .iter()
            .map(|(word, json)| format!("{word} {json}\n"))
            .collect();
        Content::private(name.to_owned(), lines.as_bytes())
    };
    vec![
        Content::private("haproxy.cfg".to_owned(), text.as_bytes()),
        map("versions", words::versions()),
        map("suites", words::suites()),
        map("protocols", words::protocols()),
    ]
}

fn frontend(plan: &Plan<'_>, placed: &Placed<'_>) -> String {
    let site = placed.site;
    let setting = |name: &str, value: String| words::setting(name, &value, " ");
    let version = |name: &str, version: Option<&TlsVersion>| {
        setting(name, version.copied().map(version_name).unwrap_or_default())
    };
    let optional = [
        setting("alpn", words::joined(&site.alpn, ",")),
        setting("ciphers", placed.suites(|suite| !suite.is_tls13())),
        setting("ciphersuites", placed.suites(|suite| suite.is_tls13())),
        setting("curves", placed.groups()),
        version("ssl-min-ver", site.versions.iter().min()),
        version("ssl-max-ver", site.versions.iter().max()),
        (site.tickets == 0).then(|| "no-tls-tickets ".to_owned()),
    ];
    let optional: String = optional.into_iter().flatten().collect();
    let looked_up =
        |sample: &str, map: &str| format!("%[{sample},map_str({},null)]", plan.path(map));
    let view = View {
        version: &looked_up("ssl_fc_protocol", "versions"),
        suite: &looked_up("ssl_fc_cipher", "suites"),
        // HAProxy does not report the group.
        group: "null",
        alpn: &looked_up("ssl_fc_alpn", "protocols"),
        resumed: "%[ssl_fc_is_resumed,iif(true,false)]",
    };
    format!(
        "frontend site-{number}\n\
         \x20 bind {address} ssl crt {both} {optional}\n\
         \x20 http-request return status 200 content-type text/html file {page} hdr {SERVER_VIEW_HEADER} '{view}'\n",
        number = placed.number,
        address = placed.address,
        both = plan.path(&placed.both()),
        page = plan.path(&placed.page()),
        view = view.header(),
    )
}
