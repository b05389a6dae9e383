use netbench_interop::{ChangeKind, changes, features};
use netbench_model::scan::{
    CompressionScan, EchConfigScan, Features, HttpsRecordScan, NamedCode, Observed, Order,
    ScanOutcome, SiteScan,
};
use serde_json::{Value, json};

use super::made::*;

/// Returns a site all of whose features were observed.
fn observed() -> SiteScan {
    use Observed::Yes;
    SiteScan {
        features: Features {
            ocsp_stapling: Yes,
            alpn: vec!["h2".to_owned()],
            tickets_tls12: Yes,
            session_ids: Yes,
            resumption_tls12: Yes,
            tickets_tls13: Some(2),
            resumption_tls13: Yes,
            early_data_bytes: Some(0),
            extended_master_secret: Yes,
            encrypt_then_mac: Yes,
            secure_renegotiation: Yes,
            client_renegotiation: Yes,
            compression: Yes,
            heartbeat: Yes,
            fallback_scsv: Yes,
            chacha20_by_client: Yes,
            client_certificate: Yes,
            client_certificate_required: Yes,
            shares_taken: Some(vec![NamedCode {
                name: "x25519".to_owned(),
                code: X25519,
            }]),
            share_order: Some(Order::Client),
            certificate_compression: Some(vec![compressed(700)]),
            ech_configs: Some(vec![EchConfigScan {
                version: 0xfe0d,
                public_name: "public.example".to_owned(),
                kem: Some(NamedCode {
                    name: "X25519".to_owned(),
                    code: 0x20,
                }),
            }]),
            https_records: Some(vec![HttpsRecordScan {
                target: ".".to_owned(),
                priority: 1,
                alpn: vec!["h2".to_owned()],
                is_ech_readable: Some(true),
                ech_configs: Vec::new(),
                ech_is_the_servers: Yes,
            }]),
            http_status: Some(200),
            strict_transport_security: Some("max-age=1".to_owned()),
            alt_svc: Some("h3".to_owned()),
        },
        ..tls12(&[ECDHE_GCM])
    }
}

fn compressed(compressed_bytes: u32) -> CompressionScan {
    CompressionScan {
        name: "brotli".to_owned(),
        code: 2,
        compressed_bytes,
        bytes: 1000,
        fault: None,
    }
}

/// Returns another value of the same type.
fn other(value: &Value) -> Value {
    match value {
        Value::String(text) if text == "yes" => json!("no"),
        Value::String(text) if text == "client" => json!("server"),
        Value::String(_) => json!("another"),
        Value::Number(_) => json!(404),
        Value::Array(_) => json!([]),
        value => panic!("{value}"),
    }
}

#[test]
fn each_feature_that_changes_is_reported() {
    let before = observed();
    assert_eq!(changes(&before, &before), []);
    let all = serde_json::to_value(&before.features).expect("features");
    for (field, value) in all.as_object().expect("fields") {
        let mut features = all.clone();
        features[field] = other(value);
        let after = SiteScan {
            features: serde_json::from_value(features).expect("features"),
            ..before.clone()
        };
        let found = changes(&before, &after);
        assert!(
            matches!(&found[..], [change] if change.kind == ChangeKind::Feature),
            "{field}: {found:?}"
        );
    }
}

#[test]
fn an_unobserved_feature_has_not_changed() {
    let known = observed();
    let unknown = SiteScan {
        features: Features {
            alpn: known.features.alpn.clone(),
            ..Features::default()
        },
        ..known.clone()
    };
    assert_eq!(changes(&known, &unknown), []);
    assert_eq!(changes(&unknown, &known), []);
}

#[test]
fn schemes_are_compared_where_both_scans_are_complete() {
    let before = observed();
    let mut after = before.clone();
    after.signatures.clear();
    let found = changes(&before, &after);
    let subjects: Vec<&str> = found.iter().map(|change| change.what.as_str()).collect();
    assert_eq!(subjects, ["signature schemes"]);
    after.outcome = ScanOutcome::Partial {
        why: "the site stopped answering".to_owned(),
    };
    assert_eq!(changes(&before, &after), []);
}

/// Sizes change with every certificate.
#[test]
fn the_sizes_of_compressed_certificates_are_shown_and_not_compared() {
    let before = observed();
    let mut after = before.clone();
    after.features.certificate_compression = Some(vec![compressed(710)]);
    assert_eq!(changes(&before, &after), []);
    let shown: Vec<String> = features(&after).iter().map(ToString::to_string).collect();
    let sizes = "brotli (1000 to 710 bytes)".to_owned();
    assert!(shown.contains(&sizes), "{shown:?}");
}
