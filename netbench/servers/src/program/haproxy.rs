//! HAProxy: one frontend per site, which itself writes the responses.

use netbench_protocol::SERVER_VIEW_HEADER;

use super::{Answers, Content, Placed, Plan, Program, Staples};
use crate::words::{self, View};

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
    let maps = [
        ("versions", words::versions()),
        ("suites", words::suites()),
        ("protocols", words::protocols()),
    ];
    let maps = maps.map(|(name, pairs)| {
        let lines = pairs.iter().map(|(word, json)| format!("{word} {json}\n"));
        (name, lines.collect())
    });
    [("haproxy.cfg", text)]
        .into_iter()
        .chain(maps)
        .map(|(name, text)| Content::private(name.to_owned(), text.as_bytes()))
        .collect()
}

fn frontend(plan: &Plan<'_>, placed: &Placed<'_>) -> String {
    let site = placed.site;
    let [oldest, newest] = placed.oldest_and_newest();
    let settings = [
        ("alpn", words::joined(&site.alpn, ",")),
        ("ciphers", placed.suites(|suite| !suite.is_tls13())),
        ("ciphersuites", placed.suites(|suite| suite.is_tls13())),
        ("curves", placed.groups()),
        ("ssl-min-ver", oldest.unwrap_or_default()),
        ("ssl-max-ver", newest.unwrap_or_default()),
    ];
    let [version, suite, alpn] = [
        ("ssl_fc_protocol", "versions"),
        ("ssl_fc_cipher", "suites"),
        ("ssl_fc_alpn", "protocols"),
    ]
    .map(|(sample, map)| format!("%[{sample},map_str({},null)]", plan.path(map)));
    let view = View {
        version: &version,
        suite: &suite,
        // HAProxy does not report the group.
        group: "null",
        alpn: &alpn,
        resumed: "%[ssl_fc_is_resumed,iif(true,false)]",
    };
    format!(
        "frontend site-{number}\n\
         \x20 bind {address} ssl crt {both} {settings}{no_tickets}\n\
         \x20 http-request return status 200 content-type text/html file {page} hdr {SERVER_VIEW_HEADER} '{view}'\n",
        number = placed.number,
        address = placed.address,
        both = plan.path(&placed.both()),
        settings = words::settings(settings, " "),
        no_tickets = if site.tickets == 0 {
            "no-tls-tickets "
        } else {
            ""
        },
        page = plan.path(&placed.page()),
        view = view.header(),
    )
}
