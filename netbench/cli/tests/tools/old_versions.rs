//! Sites with TLS 1.0 and 1.1, which the lab serves with OpenSSL at security level 0.

use std::collections::BTreeMap;

use netbench_model::Outcome;

use crate::support::{Place, failure, measured};

netbench_testing::module_tests! {
    sites_with_old_versions_refuse_clients_of_today_as_real_ones_do;
    a_server_without_old_versions_is_named_with_one_that_has_them;
}

const SITES: &str = "\
normal.example
tls10.example  tls=1.0 alpn=http/1.1
tls11.example  tls=1.1 key=ecdsa-p256
older.example  tls=1.0,1.1,1.2 suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_RSA_WITH_AES_128_CBC_SHA
";

/// OpenSSL has TLS 1.0 and 1.1 at its security level 0 alone, also if it is asked to offer them, and rustls has none of
/// them.
fn sites_with_old_versions_refuse_clients_of_today_as_real_ones_do() {
    for versions in ["1.2,1.3", "1.0,1.1,1.2,1.3"] {
        let place = Place::with_sites(SITES);
        place.connect(&format!(
            "--stack openssl,rustls-ring --rounds 2 --link none --tls {versions}"
        ));
        let samples = measured(&place.run());
        let mut outcomes: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
        for sample in &samples {
            let said = match &sample.outcome {
                Outcome::Ok(measured) => measured.client.version.unwrap().to_string(),
                _ => failure(sample).unwrap(),
            };
            let key = (sample.site.as_str(), sample.stack.as_str());
            outcomes.entry(key).or_default().push(said);
        }
        for (site, due) in [
            ("normal.example", "1.3"),
            ("older.example", "1.2"),
            ("tls10.example", "alert: protocol_version"),
            ("tls11.example", "alert: protocol_version"),
        ] {
            for stack in ["openssl", "rustls-ring"] {
                assert_eq!(outcomes[&(site, stack)], [due, due], "{site}, {stack}");
            }
        }
    }
}

fn a_server_without_old_versions_is_named_with_one_that_has_them() {
    let place = Place::with_sites("old.example server=rustls-ring tls=1.1\nnormal.example\n");
    let done = place
        .connect("--stack openssl,rustls-ring --rounds 1 --link none --client-profile default");
    let due = "rustls-ring cannot serve TLS 1.1; server=openssl can";
    done.tells(due);
    let samples = measured(&place.run());
    let of_old = samples.iter().filter(|sample| sample.site == "old.example");
    let mut outcomes = of_old.map(|sample| &sample.outcome);
    assert!(
        outcomes.all(
            |outcome| matches!(outcome, Outcome::Unsupported { reason } if reason.contains(due))
        ),
        "{samples:?}"
    );
    let line = "connect --sites sites.txt --stack openssl,rustls-ring --tls 1.0 --link none";
    let done = place.netbench_line(line).expect(2);
    let due = "--tls: rustls-ring has TLS 1.2 and 1.3 alone";
    done.tells(due);
}
