//! The fields of a line: how each is read, and which do not go together.

use std::{fmt::Display, ops::RangeInclusive, time::Duration};

use super::shown;
use crate::{
    ChainProfile, CipherSuite, Group, KeyType, LabProfile, Queue, Switch, TlsVersion, parse_bytes,
    parse_duration, parse_loss, parse_rate,
    tls::{Authentication, KeyExchange, one_of},
};

/// Every field's name, in the order in which lines are written.
pub(super) const NAMES: [&str; 16] = [
    "server", "tls", "suites", "groups", "key", "chain", "alpn", "tickets", "ocsp", "rtt",
    "jitter", "loss", "rate", "queue", "body", "fault",
];

/// More than this no stack accepts as one Certificate message.
const MAX_CHAIN_BYTES: u32 = 60_000;
/// The longest word that a field takes; the longest name of a cipher suite has 45.
const MAX_ITEM_BYTES: usize = 64;

/// What is wrong with a field.
pub(super) enum FieldError {
    /// No such field.
    Unknown(String),
    /// The field cannot have this value.
    Value(String),
}

impl<E: Display> From<E> for FieldError {
    fn from(error: E) -> Self {
        Self::Value(error.to_string())
    }
}

/// Sets one field of `lab`.
pub(super) fn set(lab: &mut LabProfile, field: &str, value: &str) -> Result<(), FieldError> {
    if !NAMES.contains(&field) {
        return Err(FieldError::Unknown(unknown(field)));
    }
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
    match field {
        "server" => lab.server = stack_name(value)?,
        "tls" => {
            lab.tls = list(value, |word| {
                one_of("TLS version", word, TlsVersion::OFFERED)
            })?
        }
        "suites" => {
            let suite = |word: &str| one_of("cipher suite", word, CipherSuite::SERVED);
            lab.suites = list_or(value, "default", suite)?;
        }
        "groups" => {
            let group = |word: &str| one_of("group", word, Group::OFFERED);
            lab.groups = list_or(value, "default", group)?;
        }
        "key" => lab.key = value.parse()?,
        "chain" => lab.chain = chain(value)?,
        "alpn" => lab.alpn = list_or(value, "none", str::parse)?,
        "tickets" => lab.tickets = number(value, 0..=16, "a number of tickets")?,
        "ocsp" => lab.ocsp = switch(value)?,
        "rtt" => lab.link.rtt_ns = nanoseconds(parse_duration(value)?),
        "jitter" => lab.link.jitter_ns = nanoseconds(parse_duration(value)?),
        "loss" => lab.link.loss = parse_loss(value)?,
        "rate" => {
            lab.link.rate = if value == "none" {
                None
            } else {
                Some(parse_rate(value)?)
            }
        }
        "queue" => {
            lab.link.queue = Queue {
                packets: number(value, 1..=1_000_000, "a number of packets")?,
            }
        }
        "body" => lab.body_bytes = parse_bytes(value)?,
        _ => {
            lab.fault = if value == "none" {
                None
            } else {
                Some(value.parse()?)
            }
        }
    }
    Ok(())
}

/// What in `lab` contradicts itself so that nothing can serve it: field and message.
pub(super) fn conflicts(lab: &LabProfile) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    for suite in &lab.suites {
        if !lab.tls.contains(&suite.version()) {
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
        for version in &lab.tls {
            if !lab
                .suites
                .iter()
                .any(|suite| suite.version() == *version && fits(lab.key, *suite))
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
    let hybrid_only = !lab.groups.is_empty()
        && lab
            .groups
            .iter()
            .all(|group| *group == Group::X25519MLKEM768);
    let without_group = |suite: &CipherSuite| {
        let exchange = suite.facts().map(|facts| facts.key_exchange);
        matches!(exchange, Some(KeyExchange::Dhe | KeyExchange::Rsa)) && fits(lab.key, *suite)
    };
    if hybrid_only && lab.tls.contains(&TlsVersion::Tls12) && !lab.suites.iter().any(without_group)
    {
        found.push((
            "groups",
            "TLS 1.2 has no hybrid group; expected one such as x25519 too, or tls=1.3".to_owned(),
        ));
    }
    found
}

/// A whole number within `range`; digits only.
pub(super) fn number<T>(text: &str, range: RangeInclusive<u32>, what: &str) -> Result<T, String>
where
    T: TryFrom<u32>,
{
    Some(text)
        .filter(|text| text.bytes().all(|b| b.is_ascii_digit()))
        .and_then(|text| text.parse::<u32>().ok())
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

/// Whether a certificate with such a key goes with the suite.
fn fits(key: KeyType, suite: CipherSuite) -> bool {
    let rsa_key = matches!(key, KeyType::Rsa2048 | KeyType::Rsa3072 | KeyType::Rsa4096);
    match suite.facts().map(|facts| facts.authentication) {
        Some(Authentication::Any) => true,
        Some(Authentication::Rsa) => rsa_key,
        // EdDSA keys go with these too: RFC 8422 section 2.2.
        Some(Authentication::Ecdsa) => !rsa_key,
        _ => false,
    }
}

fn example(version: TlsVersion, key: KeyType) -> CipherSuite {
    let good = |suite: &CipherSuite| suite.version() == version && fits(key, *suite);
    CipherSuite::SERVED
        .iter()
        .copied()
        .find(good)
        .unwrap_or(CipherSuite::TLS_AES_128_GCM_SHA256)
}

fn stack_name(text: &str) -> Result<String, String> {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.+@".contains(&b);
    let starts_well = text.starts_with(|c: char| c.is_ascii_lowercase());
    if starts_well && text.bytes().all(allowed) {
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

fn chain(text: &str) -> Result<ChainProfile, String> {
    let (length, bytes) = match text.split_once('/') {
        None => (text, 0),
        Some((length, bytes)) => {
            let bytes = parse_bytes(bytes)
                .ok()
                .and_then(|bytes| u32::try_from(bytes).ok());
            let bytes = bytes.filter(|bytes| *bytes <= MAX_CHAIN_BYTES).ok_or_else(|| {
                format!("expected at most {MAX_CHAIN_BYTES} bytes after the '/', such as 3/4032; found {}", shown(text))
            })?;
            (length, bytes)
        }
    };
    Ok(ChainProfile {
        length: number(
            length,
            1..=6,
            "a number of certificates, or that and their bytes such as 3/4032",
        )?,
        bytes,
    })
}

fn switch(text: &str) -> Result<Switch, String> {
    match text {
        "on" => Ok(Switch::On),
        "off" => Ok(Switch::Off),
        _ => Err(format!("expected on or off, found {}", shown(text))),
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn unknown(field: &str) -> String {
    let nearest = NAMES
        .iter()
        .map(|name| (distance(field, name), *name))
        .min();
    match nearest {
        Some((edits, name)) if edits <= 2 && edits < name.len() => {
            format!("unknown field {}; did you mean {name:?}?", shown(field))
        }
        _ => format!(
            "unknown field {}; expected one of {}",
            shown(field),
            NAMES.join(", ")
        ),
    }
}

/// How many letters must be inserted, removed or replaced to make `a` of `b` (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    if a.len() > MAX_ITEM_BYTES {
        return usize::MAX;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
