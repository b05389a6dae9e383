//! Losses of real servers that no profile of the lab can express: `openssl s_server` with old
//! settings and unusual certificates.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use netbench_model::{parse_sites, scan::LossReason};
use netbench_report::ScanSummary;

use crate::support::{Place, assert_contains, finish, json, kept, words};

netbench_testing::module_tests! {
    losses_of_old_servers_have_their_reasons_and_what_handshakes_show_counts: OpensslCommand;
    a_server_of_this_machine_is_recorded_under_a_name_that_is_emulated: OpensslCommand;
}

/// A running `openssl s_server`, which ends when the value is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) site: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn openssl(place: &Place, line: &str) {
    let mut command = Command::new("openssl");
    command
        .env("OPENSSL_CONF", "/dev/null")
        .current_dir(place.path());
    finish(command.args(words(line))).expect(0);
}

/// Makes the CA that signs, in `ca.pem`.
pub(crate) fn authority(place: &Place) {
    openssl(
        place,
        "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=authority -days 30",
    );
}

/// Makes a certificate for 127.0.0.1 with these extensions, signed by the CA.
pub(crate) fn certificate(place: &Place, name: &str, key: &str, extensions: &str) {
    let file = format!("{name}.ext");
    place.write(&file, &format!("subjectAltName=IP:127.0.0.1\n{extensions}"));
    let request = format!("-keyout {name}.key -out {name}.csr");
    openssl(
        place,
        &format!("req -new -newkey {key} -subj /CN=leaf -nodes {request}"),
    );
    let signing = "-CA ca.pem -CAkey ca.key -days 20 -set_serial 7";
    openssl(
        place,
        &format!("x509 -req -in {name}.csr {signing} -extfile {file} -out {name}.pem"),
    );
}

pub(crate) fn server(place: &Place, certificate: &str, arguments: &[&str]) -> Server {
    let mut child = Command::new("openssl")
        .env("OPENSSL_CONF", "/dev/null")
        .current_dir(place.path())
        .args(["s_server", "-accept", "127.0.0.1:0", "-www"])
        .args(["-cert", &format!("{certificate}.pem")])
        .args(["-key", &format!("{certificate}.key")])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let site = lines.find_map(|line| {
        let line = line.ok()?;
        line.strip_prefix("ACCEPT ")
            .map(|site| site.trim().to_owned())
    });
    // The remaining output is read, so that the server never blocks on its pipe.
    std::thread::spawn(move || lines.for_each(drop));
    let site = site.unwrap_or_else(|| panic!("s_server {arguments:?} does not listen"));
    Server { child, site }
}

fn losses_of_old_servers_have_their_reasons_and_what_handshakes_show_counts() {
    let place = Place::new();
    authority(&place);
    certificate(&place, "leaf", "rsa:2048", "");
    let ca = "basicConstraints=critical,CA:TRUE\n";
    certificate(&place, "ca-leaf", "rsa:2048", ca);
    certificate(&place, "p521", "ec -pkeyopt ec_paramgen_curve:P-521", "");
    let due: [(&str, &[&str], Option<LossReason>); 6] = [
        ("leaf", &[], None),
        ("leaf", &["-groups", "P-521"], Some(LossReason::Group)),
        (
            "leaf",
            &["-tls1_2", "-cipher", "AES128-SHA:@SECLEVEL=0"],
            Some(LossReason::RsaKeyExchangeOnly),
        ),
        (
            "leaf",
            &["-tls1_2", "-cipher", "ECDHE-RSA-AES128-SHA"],
            Some(LossReason::CbcOnly),
        ),
        ("p521", &[], Some(LossReason::Signature)),
        // A hello does not show that a stack refuses this certificate; a handshake does.
        ("ca-leaf", &[], Some(LossReason::Certificate)),
    ];
    let servers: Vec<Server> = due
        .iter()
        .map(|(certificate, arguments, _)| server(&place, certificate, arguments))
        .collect();
    let old = server(&place, "leaf", &["-tls1", "-cipher", "ALL:@SECLEVEL=0"]);
    let sites = servers
        .iter()
        .chain([&old])
        .map(|server| server.site.as_str());
    let sites: Vec<&str> = sites.collect();
    place.succeeds(&format!(
        "scan {} --roots ca.pem --parts signatures --against openssl,rustls-ring",
        sites.join(" ")
    ));
    let summary: ScanSummary = kept(&place.run(), "summary.json");
    let loss = summary.loss.unwrap();
    let lost: BTreeMap<&str, (&str, LossReason)> = loss
        .lost
        .iter()
        .flat_map(|group| {
            let sites = group.sites.keys();
            sites.map(|site| (site.as_str(), (group.stack.as_str(), group.reason)))
        })
        .collect();
    let due: BTreeMap<&str, (&str, LossReason)> = due
        .iter()
        .zip(&servers)
        .filter_map(|((.., reason), server)| {
            Some((server.site.as_str(), ("rustls-ring", (*reason)?)))
        })
        .collect();
    assert_eq!(lost, due);
    assert_eq!(loss.unreachable, [old.site.as_str()], "TLS 1.0 alone");
    // No prediction was made about the CA's certificate, so none was wrong.
    let mismatches: Vec<_> = loss.mismatches().collect();
    assert!(mismatches.is_empty(), "{mismatches:?}");
}

fn a_server_of_this_machine_is_recorded_under_a_name_that_is_emulated() {
    let place = Place::new();
    authority(&place);
    certificate(&place, "leaf", "rsa:2048", "");
    let suite = "ECDHE-RSA-AES128-GCM-SHA256";
    let server = server(&place, "leaf", &["-tls1_2", "-cipher", suite]);
    place.succeeds(&format!("scan {} --roots ca.pem", server.site));
    let recorded = place.succeeds("setup sites record RUN").stdout;
    drop(server);
    let sites = parse_sites(&recorded).unwrap();
    let port = sites[0].port;
    assert_eq!(sites[0].name(), format!("127-0-0-1.test:{port}"));
    assert_contains(&recorded, &format!("# 127.0.0.1:{port} under a name"));
    // The server is gone, so what answers is emulated.
    place.write("recorded.txt", &recorded);
    let done = place.succeeds("scan --sites recorded.txt --link none --json");
    let again: ScanSummary = json(&done.stdout);
    let [site] = again.sites.as_slice() else {
        panic!("{}", done.stdout);
    };
    let suites: Vec<_> = site.versions.iter().flat_map(|v| &v.suites).collect();
    assert_eq!(suites.len(), 1, "{suites:?}");
    assert_eq!(
        suites[0].name, "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        "{}",
        done.stdout
    );

    // A setting without an effect is named.
    place.write(
        "fields.txt",
        "* rtt=20ms\n127.0.0.1:9 suites=TLS_AES_128_GCM_SHA256 tls=1.3\n",
    );
    let named =
        "fields.txt: 127.0.0.1:9 & suites=TLS_AES_128_GCM_SHA256 & rtt=20ms & 127-0-0-1.test:9";
    for command in ["scan", "connect"] {
        place.refuses(2, &format!("{command} --sites fields.txt => {named}"));
    }
}
