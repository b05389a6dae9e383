//! The fields of a line: the reader and writer of each, and the conflicts between them.

use std::{fmt::Display, ops::RangeInclusive, str::FromStr, time::Duration};

use super::{
    chains::{chain, client_chain},
    keys::{ca_key_type, key_type},
};
use crate::{
    BitRate, ChainProfile, CipherSuite, EarlyDataPolicy, Group, KeyExchange, KeyType, LabProfile,
    ParseUnitError, Queue, Site, Switch, TlsVersion, Window, one_of, parse_bytes, parse_duration,
    parse_loss, parse_rate, shown, suggestion,
};

/// A field of a line.
struct Field {
    name: &'static str,
    /// Sets the field from its text.
    read: fn(&mut LabProfile, &str) -> Result<(), String>,
    /// Returns the text of the field's value.
    text: fn(&LabProfile) -> String,
}

/// Every field, in the order in which lines are written.
static FIELDS: [Field; 23] = [
    Field {
        name: "server",
        read: |lab, text| server_name(text).map(|server| lab.server = server),
        text: |lab| lab.server.clone(),
    },
    Field {
        name: "tls",
        read: |lab, text| {
            list(text, |word| one_of("TLS version", word, TlsVersion::SERVED))
                .map(|versions| lab.tls = versions)
        },
        text: |lab| joined(&lab.tls, ""),
    },
    Field {
        name: "suites",
        read: |lab, text| {
            let known = [CipherSuite::SERVED, CipherSuite::DEPRECATED].concat();
            list_or(text, "default", |word| one_of("cipher suite", word, &known))
                .map(|suites| lab.suites = suites)
        },
        text: |lab| joined(&lab.suites, "default"),
    },
    Field {
        name: "groups",
        read: |lab, text| {
            list_or(text, "default", |word| {
                one_of("group", word, Group::OFFERED)
            })
            .map(|groups| lab.groups = groups)
        },
        text: |lab| joined(&lab.groups, "default"),
    },
    Field {
        name: "key",
        read: |lab, text| key_type(text).map(|key| lab.key = key),
        text: |lab| lab.key.to_string(),
    },
    Field {
        name: "ca-key",
        read: |lab, text| ca_key_type(text).map(|key| lab.ca_key = key),
        text: |lab| {
            lab.ca_key
                .map_or_else(|| "default".to_owned(), |key| key.to_string())
        },
    },
    Field {
        name: "chain",
        read: |lab, text| chain(text).map(|chain| lab.chain = chain),
        text: |lab| match lab.chain {
            ChainProfile { length, bytes: 0 } => length.to_string(),
            ChainProfile { length, bytes } => format!("{length}/{bytes}"),
        },
    },
    Field {
        name: "client-cert",
        read: |lab, text| unless_none(text, client_chain).map(|chain| lab.client_chain = chain),
        text: |lab| or_none(lab.client_chain),
    },
    Field {
        name: "alpn",
        read: |lab, text| list_or(text, "none", str::parse).map(|alpn| lab.alpn = alpn),
        text: |lab| joined(&lab.alpn, "none"),
    },
    Field {
        name: "tickets",
        read: |lab, text| number(text, 0..=16, "a number of tickets").map(|n| lab.tickets = n),
        text: |lab| lab.tickets.to_string(),
    },
    Field {
        name: "early-data",
        read: |lab, text| one_or_none(text).map(|policy| lab.early_data = policy),
        text: |lab| or_none(lab.early_data),
    },
    Field {
        name: "ech",
        read: |lab, text| one_or_none(text).map(|policy| lab.ech = policy),
        text: |lab| or_none(lab.ech),
    },
    Field {
        name: "ocsp",
        read: |lab, text| switch(text).map(|ocsp| lab.ocsp = ocsp),
        text: |lab| if lab.ocsp == Switch::On { "on" } else { "off" }.to_owned(),
    },
    Field {
        name: "rtt",
        read: |lab, text| nanoseconds(text).map(|ns| lab.link.rtt_ns = ns),
        text: |lab| time(lab.link.rtt_ns),
    },
    Field {
        name: "jitter",
        read: |lab, text| nanoseconds(text).map(|ns| lab.link.jitter_ns = ns),
        text: |lab| time(lab.link.jitter_ns),
    },
    Field {
        name: "loss",
        read: |lab, text| in_words(parse_loss(text)).map(|loss| lab.link.loss = loss),
        text: |lab| lab.link.loss.to_string(),
    },
    Field {
        name: "rate",
        read: |lab, text| rate(text).map(|rate| lab.link.rate = rate),
        text: |lab| or_none(lab.link.rate),
    },
    Field {
        name: "rate-up",
        read: |lab, text| rate(text).map(|rate| lab.link.rate_up = rate),
        text: |lab| or_none(lab.link.rate_up),
    },
    Field {
        name: "queue",
        read: |lab, text| {
            let packets = number(text, 1..=1_000_000, "a number of packets");
            packets.map(|packets| lab.link.queue = Queue { packets })
        },
        text: |lab| lab.link.queue.packets.to_string(),
    },
    Field {
        name: "window",
        read: |lab, text| window(text).map(|window| lab.link.window = window),
        text: |lab| lab.link.window.unwrap_or_default().segments.to_string(),
    },
    Field {
        name: "window-up",
        read: |lab, text| window(text).map(|window| lab.link.window_up = window),
        text: |lab| lab.link.window_up.unwrap_or_default().segments.to_string(),
    },
    Field {
        name: "body",
        read: |lab, text| in_words(parse_bytes(text)).map(|bytes| lab.body_bytes = bytes),
        text: |lab| bytes(lab.body_bytes),
    },
    Field {
        name: "fault",
        read: |lab, text| unless_none(text, str::parse).map(|fault| lab.fault = fault),
        text: |lab| or_none(lab.fault),
    },
];

/// Maximum length of an item of a value; the longest name of a cipher suite has 45 bytes.
const MAX_ITEM_BYTES: usize = 64;

/// An error in a field.
pub(crate) enum FieldError {
    /// The field does not exist.
    Unknown(String),
    /// The field cannot have this value.
    Value(String),
}

/// Returns the names of all fields.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().map(|field| field.name)
}

/// Sets one field of `lab`.
pub(crate) fn set(lab: &mut LabProfile, name: &str, value: &str) -> Result<(), FieldError> {
    let Some(field) = FIELDS.iter().find(|field| field.name == name) else {
        let names: Vec<_> = self::names().collect();
        let suggestion = suggestion(name, &names);
        let unknown = format!("unknown field {}; {suggestion}", shown(name));
        return Err(FieldError::Unknown(unknown));
    };
    if let Some(item) = value
        .split(',')
        .find(|item| item.is_empty() || item.len() > MAX_ITEM_BYTES)
    {
        let problem = if item.is_empty() {
            "an empty one".to_owned()
        } else {
            shown(item)
        };
        return Err(FieldError::Value(format!(
            "expected values of 1 to {MAX_ITEM_BYTES} bytes, between commas, found {problem}"
        )));
    }
    (field.read)(lab, value).map_err(FieldError::Value)
}

impl Site {
    /// Returns the line of a sites file for this site: `host[:port]`, or a URL if it has a path, and every field that
    /// differs from [`LabProfile::default`]. [`crate::parse_sites`] parses the line to an equal site.
    pub fn to_line(&self) -> String {
        let scheme = if self.path == "/" { "" } else { "https://" };
        let mut line = format!("{scheme}{}", self.place());
        for (name, text) in self.unusual_fields() {
            line.push_str(&format!(" {name}={text}"));
        }
        line
    }

    /// The name and the text of each field that differs from [`LabProfile::default`].
    pub fn unusual_fields(&self) -> impl Iterator<Item = (&'static str, String)> {
        let usual = LabProfile::default();
        FIELDS.iter().filter_map(move |field| {
            let text = (field.text)(&self.lab);
            (text != (field.text)(&usual)).then_some((field.name, text))
        })
    }
}

/// Returns the contradictions in `lab` that prevent any server from serving it: field and message.
pub(crate) fn conflicts(lab: &LabProfile) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let has_deprecated = lab.tls.iter().any(|version| version.is_deprecated());
    let client_key = lab.client_chain.map(|chain| chain.key);
    for (field, key) in [
        ("key", Some(lab.key)),
        ("ca-key", lab.ca_key),
        ("client-cert", client_key),
    ] {
        if let Some(key) = key.filter(|key| !lab.tls.iter().any(|v| *v >= key.oldest_version())) {
            let expected = match key.oldest_version() {
                TlsVersion::Tls13 => "tls=1.3 or tls=1.2,1.3",
                _ => "tls=1.2 or tls=1.2,1.3",
            };
            let newest = lab.tls.iter().max().copied().unwrap_or(TlsVersion::Tls12);
            found.push((
                field,
                format!("TLS {newest} has no signatures with {key}; expected {expected}"),
            ));
        }
    }
    for suite in &lab.suites {
        if CipherSuite::DEPRECATED.contains(suite) && !has_deprecated {
            found.push((
                "suites",
                format!("{suite} is served with TLS 1.0 and 1.1; expected one of them in tls"),
            ));
        } else if !lab.tls.iter().any(|version| suite.fits(*version)) {
            let version = suite.version();
            found.push((
                "suites",
                format!(
                    "{suite} belongs to TLS {version}; expected suites of the versions in tls only"
                ),
            ));
        }
    }
    if !lab.suites.is_empty() {
        let oldest = lab.key.oldest_version();
        for version in lab.tls.iter().filter(|version| **version >= oldest) {
            if !lab
                .suites
                .iter()
                .any(|suite| suite.fits(*version) && lab.key.suits(*suite))
            {
                let key = lab.key;
                found.push((
                    "suites",
                    format!(
                        "none of them serves TLS {version} with key={key}; expected one such as {}",
                        example(*version, key)
                    ),
                ));
            }
        }
    }
    let has_newest = lab.tls.contains(&TlsVersion::Tls13);
    let needs = [
        (
            "early-data",
            lab.early_data.is_none() || has_newest,
            "TLS before 1.3 has no early data; expected tls=1.3 or tls=1.2,1.3",
        ),
        (
            "early-data",
            lab.early_data.is_none() || lab.tickets > 0,
            "a client sends early data with a ticket alone; expected tickets=1 or more",
        ),
        (
            "early-data",
            lab.early_data != Some(EarlyDataPolicy::Retry) || lab.groups.len() != 1,
            "a HelloRetryRequest needs a group of which the client sends no share; expected groups=x25519,secp384r1 or more",
        ),
        (
            "ech",
            lab.ech.is_none() || has_newest,
            "TLS before 1.3 has no Encrypted ClientHello; expected tls=1.3 or tls=1.2,1.3",
        ),
        (
            "ech",
            lab.ech.is_none() || lab.early_data.is_none(),
            "a site has Encrypted ClientHello or early data; expected one of ech and early-data",
        ),
    ];
    let missing = needs.into_iter().filter(|(_, is_met, _)| !is_met);
    found.extend(missing.map(|(field, _, why)| (field, why.to_owned())));
    let hybrid_only = !lab.groups.is_empty()
        && lab
            .groups
            .iter()
            .all(|group| *group == Group::X25519MLKEM768);
    let mut suites = lab.suites.iter();
    if hybrid_only
        && lab.tls.contains(&TlsVersion::Tls12)
        && lab.key.oldest_version() < TlsVersion::Tls13
        && !suites.any(|suite| needs_no_group(*suite) && lab.key.suits(*suite))
    {
        found.push((
            "groups",
            "TLS 1.2 has no hybrid group; expected one such as x25519 too, or tls=1.3".to_owned(),
        ));
    }
    found
}

/// Parses a whole number that consists of digits only: the standard library accepts a sign.
pub(crate) fn digits<T: FromStr>(text: &str) -> Option<T> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then(|| text.parse().ok()).flatten()
}

/// Parses a whole number within `range` that consists of digits only.
pub(super) fn number<T>(text: &str, range: RangeInclusive<u32>, what: &str) -> Result<T, String>
where
    T: TryFrom<u32>,
{
    digits::<u32>(text)
        .filter(|number| range.contains(number))
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| {
            format!(
                "expected {what}, {} to {}; found {}",
                range.start(),
                range.end(),
                shown(text)
            )
        })
}

fn needs_no_group(suite: CipherSuite) -> bool {
    let exchange = suite.facts().map(|facts| facts.key_exchange);
    matches!(exchange, Some(KeyExchange::Dhe | KeyExchange::Rsa))
}

fn example(version: TlsVersion, key: KeyType) -> CipherSuite {
    let known = CipherSuite::SERVED.iter().chain(CipherSuite::DEPRECATED);
    known
        .copied()
        .find(|suite| suite.fits(version) && key.suits(*suite))
        .unwrap_or(CipherSuite::TLS_AES_128_GCM_SHA256)
}

/// Parses a server, where `rustls` is short for rustls with its default provider, aws-lc-rs.
fn server_name(text: &str) -> Result<String, String> {
    stack_name(if text == "rustls" {
        "rustls-aws-lc"
    } else {
        text
    })
}

fn stack_name(text: &str) -> Result<String, String> {
    let mut bytes = text.bytes();
    if text.starts_with(|c: char| c.is_ascii_lowercase())
        && bytes.all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'+' | b'@'))
    {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "expected a stack such as openssl or rustls-aws-lc, found {}",
            shown(text)
        ))
    }
}

fn list<T: PartialEq + Display>(
    text: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let mut items = Vec::new();
    for word in text.split(',') {
        let item = read(word)?;
        if items.contains(&item) {
            return Err(format!("{item} is listed twice; expected once"));
        }
        items.push(item);
    }
    Ok(items)
}

fn list_or<T: PartialEq + Display>(
    text: &str,
    empty: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    if text == empty {
        Ok(Vec::new())
    } else {
        list(text, read).map_err(|error| format!("{error}; or {empty}"))
    }
}

/// Parses a congestion window; `None` for the default.
fn window(text: &str) -> Result<Option<Window>, String> {
    let segments = number(text, 1..=100, "a number of segments")?;
    let window = Window { segments };
    Ok((window != Window::default()).then_some(window))
}

fn switch(text: &str) -> Result<Switch, String> {
    match text {
        "on" => Ok(Switch::On),
        "off" => Ok(Switch::Off),
        _ => Err(format!("expected on or off, found {}", shown(text))),
    }
}

fn nanoseconds(text: &str) -> Result<u64, String> {
    let time: Duration = in_words(parse_duration(text))?;
    Ok(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

fn rate(text: &str) -> Result<Option<BitRate>, String> {
    unless_none(text, |text| in_words(parse_rate(text)))
}

fn in_words<T>(read: Result<T, ParseUnitError>) -> Result<T, String> {
    read.map_err(|error| error.to_string())
}

fn unless_none<T>(
    text: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, String> {
    Some(text)
        .filter(|text| *text != "none")
        .map(read)
        .transpose()
}

fn one_or_none<T: FromStr<Err = String>>(text: &str) -> Result<Option<T>, String> {
    unless_none(text, str::parse).map_err(|error| format!("{error}; or none"))
}

fn or_none(value: Option<impl Display>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}

fn joined(items: &[impl Display], empty: &str) -> String {
    if items.is_empty() {
        return empty.to_owned();
    }
    let items: Vec<_> = items.iter().map(ToString::to_string).collect();
    items.join(",")
}

fn time(ns: u64) -> String {
    if ns.is_multiple_of(1_000_000) {
        format!("{}ms", ns / 1_000_000)
    } else {
        format!("{}.{:03}us", ns / 1000, ns % 1000)
    }
}

fn bytes(bytes: u64) -> String {
    if bytes.is_multiple_of(1024) && bytes > 0 {
        format!("{}k", bytes / 1024)
    } else {
        bytes.to_string()
    }
}
