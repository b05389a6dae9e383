//! The features of a server in words: the one list of tables and of comparisons.

use std::{collections::BTreeSet, fmt};

use netbench_model::scan::{
    CompressionScan, EchConfigScan, Features, HttpsRecordScan, NamedCode, Observed, Order,
    ScanOutcome, SiteScan,
};

/// A feature of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feature {
    /// The name of the feature.
    pub name: &'static str,
    /// The state, which comparisons compare; `None` if it was not observed.
    pub state: Option<String>,
    /// The text of a table, if it is not the state alone.
    shown: Option<String>,
}

impl Feature {
    fn new(name: &'static str, state: Option<String>) -> Self {
        Self {
            name,
            state,
            shown: None,
        }
    }

    fn shown(self, text: String) -> Self {
        Self {
            shown: Some(text),
            ..self
        }
    }
}

impl fmt::Display for Feature {
    /// Formats the state for a table.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.shown.as_deref().or(self.state.as_deref());
        f.pad(text.unwrap_or("unknown"))
    }
}

/// Returns every feature of a site.
pub fn features(site: &SiteScan) -> Vec<Feature> {
    // The pattern names every field: a new field does not compile until tables and comparisons have it.
    let Features {
        ocsp_stapling,
        alpn,
        tickets_tls12,
        session_ids,
        resumption_tls12,
        tickets_tls13,
        resumption_tls13,
        early_data_bytes,
        extended_master_secret,
        encrypt_then_mac,
        secure_renegotiation,
        client_renegotiation,
        compression,
        heartbeat,
        fallback_scsv,
        chacha20_by_client,
        client_certificate,
        client_certificate_required,
        shares_taken,
        share_order,
        certificate_compression,
        ech_configs,
        https_records,
        http_status,
        strict_transport_security,
        alt_svc,
    } = &site.features;
    let http_status = http_status.map(u32::from);
    vec![
        signatures(site),
        Feature::new("application protocols", Some(set(alpn))).shown(alpn.join(", ")),
        observed("OCSP stapling", ocsp_stapling),
        observed("tickets, TLS 1.2", tickets_tls12),
        observed("session IDs, TLS 1.2", session_ids),
        observed("resumption, TLS 1.2", resumption_tls12),
        number("tickets, TLS 1.3", *tickets_tls13),
        observed("resumption, TLS 1.3", resumption_tls13),
        number("bytes of early data", *early_data_bytes),
        observed("extended master secret", extended_master_secret),
        observed("encrypt-then-MAC", encrypt_then_mac),
        observed("secure renegotiation", secure_renegotiation),
        observed("client renegotiation", client_renegotiation),
        observed("compression", compression),
        observed("heartbeat", heartbeat),
        observed("fallback SCSV", fallback_scsv),
        observed("ChaCha20 by the client's wish", chacha20_by_client),
        observed("asks for a client certificate", client_certificate),
        observed("requires a client certificate", client_certificate_required),
        certificates(certificate_compression.as_deref()),
        ech(ech_configs.as_deref()),
        records(https_records.as_deref()),
        shares(shares_taken.as_deref()),
        Feature::new("takes of two key shares", share_order.map(first_share)),
        number("HTTP status", http_status),
        header(
            "Strict-Transport-Security",
            http_status,
            strict_transport_security,
        ),
        header("Alt-Svc", http_status, alt_svc),
    ]
}

/// Returns a yes or a no as a word.
pub(crate) fn yes_or_no(yes: bool) -> String {
    if yes { "yes" } else { "no" }.to_owned()
}

fn observed(name: &'static str, observed: &Observed) -> Feature {
    let state = match observed {
        Observed::Yes => Some(yes_or_no(true)),
        Observed::No => Some(yes_or_no(false)),
        Observed::Unknown => None,
    };
    Feature::new(name, state)
}

fn number(name: &'static str, number: Option<u32>) -> Feature {
    Feature::new(name, number.map(|number| number.to_string()))
}

/// Without a response there are no header fields.
fn header(name: &'static str, status: Option<u32>, text: &Option<String>) -> Feature {
    let state = status.map(|_| text.clone().unwrap_or_else(|| "none".to_owned()));
    Feature::new(name, state)
}

/// The list of a partial scan may be incomplete, and is not compared.
fn signatures(site: &SiteScan) -> Feature {
    let each = site.signatures.iter();
    let each: Vec<String> = each
        .map(|s| format!("{} ({})", s.name, s.version))
        .collect();
    let state = (site.outcome == ScanOutcome::Scanned).then(|| set(&each));
    Feature::new("signature schemes", state).shown(each.join(", "))
}

fn certificates(found: Option<&[CompressionScan]>) -> Feature {
    let feature = Feature::new(
        "certificate compression",
        found.map(|found| none_or(set(found.iter().map(|scan| &scan.name)))),
    );
    match found {
        Some(found) if !found.is_empty() => {
            feature.shown(found.iter().map(sizes).collect::<Vec<_>>().join(", "))
        }
        _ => feature,
    }
}

/// Returns the algorithm with the sizes before and after.
fn sizes(scan: &CompressionScan) -> String {
    match &scan.fault {
        None => format!(
            "{} ({} to {} bytes)",
            scan.name, scan.bytes, scan.compressed_bytes
        ),
        Some(fault) => format!("{} ({fault})", scan.name),
    }
}

/// The public names with their KEMs: keys change often, and are not compared.
fn ech(found: Option<&[EchConfigScan]>) -> Feature {
    let names = found.map(|found| none_or(set(found.iter().map(public_name))));
    Feature::new("Encrypted ClientHello", names)
}

fn public_name(config: &EchConfigScan) -> String {
    let kem = config.kem.as_ref().map(|kem| format!(" ({})", kem.name));
    config.public_name.clone() + &kem.unwrap_or_default()
}

/// The records in words, with whether a client that uses their configurations is one that the server accepts.
fn records(found: Option<&[HttpsRecordScan]>) -> Feature {
    let records = found.map(|found| {
        let all: Vec<String> = found.iter().map(record).collect();
        match all.is_empty() {
            true => "none".to_owned(),
            false => all.join("; "),
        }
    });
    Feature::new("HTTPS record", records)
}

fn record(record: &HttpsRecordScan) -> String {
    if record.priority == 0 {
        return format!("alias of {}", record.target);
    }
    let mut parts = Vec::new();
    if !record.alpn.is_empty() {
        parts.push(format!("ALPN {}", record.alpn.join(" ")));
    }
    match record.is_ech_readable {
        None => parts.push("no ECH".to_owned()),
        Some(false) => parts.push("ECH that cannot be read".to_owned()),
        Some(true) => {
            let names: BTreeSet<String> = record.ech_configs.iter().map(public_name).collect();
            let names: Vec<String> = names.into_iter().collect();
            parts.push(format!("ECH {}", names.join(" ")));
        }
    }
    match record.ech_is_the_servers {
        Observed::Yes => parts.push("which the server sends too".to_owned()),
        Observed::No => parts.push("which the server does not send".to_owned()),
        Observed::Unknown => {}
    }
    parts.join(", ")
}

fn shares(found: Option<&[NamedCode]>) -> Feature {
    const NAME: &str = "takes key shares of";
    match found {
        None => Feature::new(NAME, None),
        Some([]) => Feature::new(NAME, Some("none but what it prefers".to_owned())),
        Some(groups) => {
            let names: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
            Feature::new(NAME, Some(set(&names))).shown(names.join(", "))
        }
    }
}

/// Names the share that a server takes by this order.
fn first_share(order: Order) -> String {
    match order {
        Order::Client => "the client's first".to_owned(),
        _ => "the one of the group that it prefers".to_owned(),
    }
}

/// Returns the texts without regard to their order, as a list.
fn set<T: AsRef<str> + Ord>(texts: impl IntoIterator<Item = T>) -> String {
    let texts: BTreeSet<T> = texts.into_iter().collect();
    let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    texts.join(", ")
}

fn none_or(list: String) -> String {
    if list.is_empty() {
        "none".to_owned()
    } else {
        list
    }
}
