//! nginx: one server block per site.

use netbench_tls::Alpn;

use super::{Answers, Content, LOG, Placed, Plan, Program, Staples};
use crate::words::{self, Pair, View, version_name};

pub(super) static NGINX: Program = Program {
    name: "nginx",
    executables: &["nginx"],
    package: "nginx-light",
    version: &["-V"],
    // nginx agrees to http/1.1 wherever it agrees to a protocol at all.
    alpn: &[&[Alpn::H2, Alpn::Http11], &[Alpn::Http11]],
    tickets: &[],
    staples: Staples::Given,
    answers: Answers::ByItself,
    most_body: u64::MAX,
    closing: "",
    files,
    arguments: |plan| {
        let configuration = plan.path("nginx.conf");
        ["-c", &configuration, "-e", &plan.path(LOG)]
            .map(str::to_owned)
            .to_vec()
    },
};

fn files(plan: &Plan<'_>) -> Vec<Content> {
    // Without this line, root's nginx would read pages as another user, which may not exist.
    let user = if plan.is_root {
        "user root root;\n"
    } else {
        ""
    };
    let view = View {
        version: "$netbench_version",
        suite: "$netbench_suite",
        group: "$netbench_group",
        alpn: "$netbench_alpn",
        resumed: "$netbench_resumed",
    };
    let resumed = [("r".to_owned(), "true".to_owned())];
    let servers: String = plan.sites.iter().map(|site| server(plan, site)).collect();
    let temp: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|what| format!("{what}_temp_path {};\n", plan.path(what)))
        .concat();
    let text = format!(
        "daemon off;\n\
         {user}worker_processes 2;\n\
         pid {pid};\n\
         events {{ worker_connections 4096; }}\n\
         http {{\n\
         access_log off;\n\
         {temp}default_type text/html;\n\
         map_hash_bucket_size 128;\n\
         {versions}{suites}{groups}{protocols}{resumed}\
         add_header {header} '{view}' always;\n\
         {servers}}}\n",
        pid = plan.path("pid"),
        versions = map("ssl_protocol", "version", "null", &words::versions()),
        suites = map("ssl_cipher", "suite", "null", &words::suites()),
        groups = map("ssl_curve", "group", "null", &words::groups()),
        protocols = map("ssl_alpn_protocol", "alpn", "null", &words::protocols()),
        resumed = map("ssl_session_reused", "resumed", "false", &resumed),
        header = netbench_protocol::SERVER_VIEW_HEADER,
        view = view.header(),
    );
    vec![Content::private("nginx.conf".to_owned(), text.as_bytes())]
}

fn map(from: &str, to: &str, otherwise: &str, pairs: &[Pair]) -> String {
    let entries: String = pairs
        .iter()
        .map(|(word, json)| format!(" {word} '{json}';"))
        .collect();
    format!("map ${from} $netbench_{to} {{ default {otherwise};{entries} }}\n")
}

fn server(plan: &Plan<'_>, placed: &Placed<'_>) -> String {
    let site = placed.site;
    let http2 = if site.alpn.contains(&Alpn::H2) {
        " http2"
    } else {
        ""
    };
    let versions = site.versions.iter().copied().map(version_name);
    let suites_13 = placed.suites(|suite| suite.is_tls13());
    let settings = [
        ("ssl_ciphers", placed.suites(|suite| !suite.is_tls13())),
        ("ssl_conf_command Ciphersuites", suites_13),
        ("ssl_ecdh_curve", placed.groups()),
    ];
    let stapling = site.ocsp_base64.as_ref().map(|_| {
        let staple = plan.path(&placed.staple());
        format!("ssl_stapling on;\nssl_stapling_file {staple};\n")
    });
    format!(
        "server {{\n\
         listen {address} ssl{http2};\n\
         ssl_certificate {chain};\n\
         ssl_certificate_key {key};\n\
         ssl_protocols {versions};\n\
         ssl_prefer_server_ciphers on;\n\
         ssl_session_cache none;\n\
         ssl_session_tickets {tickets};\n\
         ssl_conf_command NumTickets {number};\n\
         {settings}{stapling}root {folder};\n\
         location / {{ try_files /{page} =500; }}\n\
         }}\n",
        address = placed.address,
        chain = plan.path(&placed.chain()),
        key = plan.path(&placed.key()),
        versions = words::joined(versions, " "),
        tickets = if site.tickets > 0 { "on" } else { "off" },
        number = site.tickets,
        settings = words::settings(settings, ";\n"),
        stapling = stapling.unwrap_or_default(),
        folder = plan.folder.display(),
        page = placed.page(),
    )
}
