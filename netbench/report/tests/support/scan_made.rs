//! Scans that never were.

use netbench_model::{
    SCHEMA_VERSION, ScanManifest, Site,
    scan::{Offer, SiteScan},
};
use serde_json::{Value, json};

/// A version of TLS that a site has, with these suites and groups.
pub fn version(version: &str, suites: &[(&str, u16)], groups: &[(&str, u16)]) -> Value {
    let [suites, groups] = [suites, groups].map(|codes| -> Vec<Value> {
        let named = codes.iter();
        named
            .map(|(name, code)| json!({"name": name, "code": code, "group": null, "dh": null}))
            .collect()
    });
    json!({
        "version": version, "supported": true, "refusal": null, "suites": suites,
        "suite_order": "server", "groups": groups, "group_order": "server",
        "groups_learned": "chosen", "complete": true,
    })
}

/// A site that was scanned.
pub fn site(name: &str, outcome: &Value, versions: &[Value]) -> SiteScan {
    let site = json!({
        "schema": 1, "site": name, "host": name, "port": 443, "address": "127.0.0.1:443",
        "outcome": outcome, "versions": versions,
        "signatures": [{"version": "1.2", "name": "rsa_pkcs1_sha256", "code": 0x0401}],
        "chains": [],
        "features": {
            "ocsp_stapling": "yes", "alpn": ["h2"], "tickets_tls12": "yes", "session_ids": "no",
            "resumption_tls12": "yes", "tickets_tls13": 2, "resumption_tls13": "yes",
            "early_data_bytes": 0, "extended_master_secret": "yes", "encrypt_then_mac": "unknown",
            "secure_renegotiation": "yes", "client_renegotiation": "no", "compression": "no",
            "heartbeat": "no", "fallback_scsv": "yes", "chacha20_by_client": "no",
            "client_certificate": "no", "http_status": 200,
            "strict_transport_security": "max-age=1 \u{1b}[31m", "alt_svc": null,
        },
        "intolerance": {"grease": {"kind": "intolerant", "how": "reset"}},
        "notes": ["a note \u{1b}[31m of a server"],
        "effort": {
            "connections": 40, "enumeration_connections": 14, "by_part": {}, "retries": 0,
            "bytes_out": 1000, "bytes_in": 2000, "elapsed_ms": 320, "connect_us": 51_000,
            "fastest_connect_us": 50_000,
        },
    });
    serde_json::from_value(site).expect("a site")
}

/// The hello of a stack.
pub fn offer(stack: &str, suites: &[(&str, u16)]) -> Offer {
    let named: Vec<Value> = suites
        .iter()
        .map(|(name, code)| json!({"name": name, "code": code}))
        .collect();
    let offer = json!({
        "stack": stack, "wire_bytes": 300, "message_bytes": 295, "versions": ["1.3", "1.2"],
        "suites": named, "groups": [{"name": "x25519", "code": 0x1d}], "shares": [],
        "signatures": [{"name": "rsa_pkcs1_sha256", "code": 0x0401}],
        "certificate_signatures": null, "alpn": ["h2"], "extensions": [], "ja3": "", "ja3_text": "",
        "ja4": "",
    });
    serde_json::from_value(offer).expect("an offer")
}

/// The manifest of a scan of these sites.
pub fn manifest(sites: Vec<Site>) -> ScanManifest {
    let plan = json!({
        "place": "loopback", "sites_file": "many.txt", "sites": sites, "parts": [], "jobs": 500, "rate": null,
        "timeout_ms": 5000, "retries": 1, "roots": {"source": "mozilla", "count": 1, "sha256": ""}, "seed": 1,
        "against": [], "client_profile": "library", "confirm": 20, "summary": true,
    });
    let manifest = json!({
        "schema": SCHEMA_VERSION, "kind": "scan", "name": "a-run", "netbench": "0.1.0",
        "started": "2026-01-01T00:00:00Z", "finished": null, "plan": plan, "workers": [], "link": null,
        "environment": {"facts": {}, "variables": {}}, "sessions": [], "warnings": [],
    });
    serde_json::from_value(manifest).expect("a manifest")
}
