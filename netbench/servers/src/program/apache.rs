//! Apache: one virtual host per site.

use std::path::Path;

use netbench_protocol::SERVER_VIEW_HEADER;
use netbench_tls::Alpn;

use super::{Answers, Content, LOG, Placed, Plan, Program, Staples};
use crate::words::{self, Pair, View, version_name};

/// The folders in which distributions install Apache's modules.
const MODULE_FOLDERS: [&str; 4] = [
    "/usr/lib/apache2/modules",
    "/usr/lib64/httpd/modules",
    "/usr/lib/httpd/modules",
    "/usr/local/apache2/modules",
];

/// The modules that are loaded unless they are built in.
const MODULES: [&str; 8] = [
    "unixd",
    "mpm_event",
    "authz_core",
    "alias",
    "headers",
    "setenvif",
    "ssl",
    "http2",
];

pub(super) static APACHE: Program = Program {
    name: "apache",
    executables: &["apache2", "httpd"],
    package: "apache2-bin",
    version: &["-v"],
    alpn: &[&[Alpn::H2, Alpn::Http11], &[Alpn::Http11]],
    tickets: &[],
    staples: Staples::Nothing,
    answers: Answers::ByItself,
    most_body: u64::MAX,
    closing: "",
    files,
    arguments: |plan| {
        let configuration = plan.path("apache.conf");
        let folder = plan.folder.display().to_string();
        [
            "-d",
            &folder,
            "-f",
            &configuration,
            "-E",
            &plan.path(LOG),
            "-DFOREGROUND",
        ]
        .map(str::to_owned)
        .to_vec()
    },
};

fn files(plan: &Plan<'_>) -> Vec<Content> {
    let folder = MODULE_FOLDERS
        .into_iter()
        .find(|folder| Path::new(folder).is_dir());
    let modules: String = MODULES
        .iter()
        .map(|name| {
            (
                name,
                format!("{}/mod_{name}.so", folder.unwrap_or_default()),
            )
        })
        .filter(|(_, file)| Path::new(file).is_file())
        .map(|(name, file)| format!("LoadModule {name}_module {file}\n"))
        .collect();
    // Apache does not serve as root. These numbers are those of the user `nobody`.
    let user = if plan.is_root {
        "User #65534\nGroup #65534\n"
    } else {
        ""
    };
    let view = View {
        version: "%{NETBENCH_VERSION}e",
        suite: "%{NETBENCH_SUITE}e",
        // Apache does not report the group.
        group: "null",
        alpn: "%{NETBENCH_ALPN}e",
        resumed: "%{NETBENCH_RESUMED}e",
    };
    let resumed = [("Initial", "false"), ("Resumed", "true")].map(owned);
    // Apache does not report the ALPN result either; all clients of the lab's pages offer ALPN.
    let protocols = [("HTTP/2.0", "\"h2\""), ("HTTP/1.1", "\"http/1.1\"")].map(owned);
    let hosts: String = plan.sites.iter().map(|site| host(plan, site)).collect();
    let text = format!(
        "{modules}{user}\
         ServerName localhost\n\
         PidFile {pid}\n\
         DefaultRuntimeDir {folder}\n\
         Mutex file:{folder} default\n\
         ErrorLog {log}\n\
         Timeout 120\n\
         KeepAliveTimeout 120\n\
         SSLSessionCache none\n\
         <Directory \"{folder}\">\n\
         Require all granted\n\
         </Directory>\n\
         {versions}{suites}{protocols}{resumed}\
         Header always set {SERVER_VIEW_HEADER} \"{view}\"\n\
         {hosts}",
        pid = plan.path("pid"),
        folder = plan.folder.display(),
        log = plan.path(LOG),
        versions = variables("SSL_PROTOCOL", "VERSION", &words::versions()),
        suites = variables("SSL_CIPHER", "SUITE", &words::suites()),
        protocols = variables("SERVER_PROTOCOL", "ALPN", &protocols),
        resumed = variables("SSL_SESSION_RESUMED", "RESUMED", &resumed),
        view = view.header().replace('"', "\\\""),
    );
    vec![Content::private("apache.conf".to_owned(), text.as_bytes())]
}

fn owned((word, json): (&str, &str)) -> Pair {
    (word.to_owned(), json.to_owned())
}

fn variables(from: &str, to: &str, pairs: &[Pair]) -> String {
    pairs
        .iter()
        .map(|(word, json)| {
            let json = json.replace('"', "\\\"");
            format!("SetEnvIfExpr \"%{{{from}}} == '{word}'\" \"NETBENCH_{to}={json}\"\n")
        })
        .collect()
}

fn host(plan: &Plan<'_>, placed: &Placed<'_>) -> String {
    let site = placed.site;
    let versions = site.versions.iter();
    let versions = versions.map(|version| format!("+{}", version_name(*version)));
    let suites_13 = placed.suites(|suite| suite.is_tls13());
    let settings = [
        ("SSLCipherSuite", placed.suites(|suite| !suite.is_tls13())),
        ("SSLCipherSuite TLSv1.3", suites_13),
        ("SSLOpenSSLConfCmd Groups", placed.groups()),
    ];
    format!(
        "Listen {address}\n\
         <VirtualHost {address}>\n\
         SSLEngine on\n\
         SSLCertificateFile {chain}\n\
         SSLCertificateKeyFile {key}\n\
         SSLProtocol -all {versions}\n\
         SSLHonorCipherOrder on\n\
         SSLSessionTickets {tickets}\n\
         SSLOpenSSLConfCmd NumTickets {number}\n\
         {settings}Protocols {protocols}\n\
         AliasMatch \"^.*$\" \"{page}\"\n\
         <Files \"*\">\n\
         ForceType text/html\n\
         </Files>\n\
         </VirtualHost>\n",
        address = placed.address,
        chain = plan.path(&placed.chain()),
        key = plan.path(&placed.key()),
        versions = words::joined(versions, " "),
        tickets = if site.tickets > 0 { "on" } else { "off" },
        number = site.tickets,
        settings = words::settings(settings, "\n"),
        protocols = words::joined(&site.alpn, " "),
        page = plan.path(&placed.page()),
    )
}
