//! Node.js: its modules `https` and `http2`, run by a script.

use netbench_protocol::SERVER_VIEW_HEADER;
use netbench_tls::Alpn;
use serde_json::json;

use super::{Answers, Content, Placed, Plan, Program, Staples};

pub(super) static NODE: Program = Program {
    name: "node",
    executables: &["node", "nodejs"],
    package: "nodejs",
    version: &[
        "-p",
        "process.version + '\\nOpenSSL ' + process.versions.openssl",
    ],
    alpn: &[&[Alpn::H2, Alpn::Http11], &[Alpn::Http11]],
    tickets: &[2],
    staples: Staples::Given,
    answers: Answers::ByItself,
    most_body: u64::MAX,
    closing: "",
    files,
    arguments: |plan| vec![plan.path("serve.js"), plan.path("sites.json")],
};

fn files(plan: &Plan<'_>) -> Vec<Content> {
    let sites: Vec<_> = plan
        .sites
        .iter()
        .map(|site| described(plan, site))
        .collect();
    let sites = json!({ "header": SERVER_VIEW_HEADER, "sites": sites });
    vec![
        Content::private("serve.js".to_owned(), include_bytes!("serve.js")),
        Content::private("sites.json".to_owned(), sites.to_string().as_bytes()),
    ]
}

fn described(plan: &Plan<'_>, placed: &Placed<'_>) -> serde_json::Value {
    let site = placed.site;
    let [oldest, newest] = placed.oldest_and_newest();
    let groups = placed.groups();
    json!({
        "host": placed.address.ip().to_string(),
        "port": placed.address.port(),
        "http2": site.alpn.contains(&Alpn::H2),
        "page": plan.path(&placed.page()),
        "staple": site.ocsp_base64,
        "tls": {
            "cert": site.chain_pem,
            "key": site.key_pem,
            "ciphers": placed.suites(|_| true),
            "ecdhCurve": if groups.is_empty() { "auto" } else { &groups },
            "minVersion": oldest,
            "maxVersion": newest,
            "honorCipherOrder": true,
        },
    })
}
