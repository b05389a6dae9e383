//! The sites file: one site per line, `host[:port] key=value …`.

mod chains;
mod fields;
mod keys;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

pub(crate) use fields::{FieldError, conflicts, digits, names as field_names, set as set_field};

use crate::{LabProfile, Site, parse_target, shown};

/// Maximum number of sites in a file.
const MAX_SITES: usize = 1_000_000;
/// Maximum length of a line, in bytes.
const MAX_LINE_BYTES: usize = 4096;
/// Maximum number of errors before reading stops, because a user repairs few at a time.
const MAX_ERRORS: usize = 1000;

/// An error in a line of a sites file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {}{message}", prefix(field.as_deref()))]
pub struct SiteError {
    /// The line, from 1.
    pub line: usize,
    /// The field with the error, if any; `host` for the first word of a line.
    pub field: Option<String>,
    /// A description of the error and the expected value.
    pub message: String,
}

fn prefix(field: Option<&str>) -> String {
    field.map(|field| format!("{field}: ")).unwrap_or_default()
}

/// Parses a sites file: one site per line, `#` comments, blank lines.
///
/// A line is `host[:port] key=value …`, or has a URL in place of the host. The keys are the fields of [`LabProfile`]:
/// `server`, `tls`, `suites`, `groups`, `key`, `ca-key`, `chain`, `client-cert`, `alpn`, `tickets`, `early-data`, `ech`, `ocsp`, `rtt`, `jitter`,
/// `loss`, `rate`, `rate-up`, `queue`, `window`, `window-up`, `body`, `fault`. A line `* key=value …` sets defaults for the lines below it. A `#` at the start
/// of a line or after white space begins a comment. A byte order mark and CRLF are tolerated; any other control
/// character is an error.
///
/// # Errors
/// All wrong lines, not only the first (reading stops after 1,000 errors and reports that): an unknown, repeated, or
/// unreadable field; a profile that no server can serve, such as an ECDSA key with RSA suites only; an invalid or
/// repeated host; a line over 4,096 bytes; more than 1,000,000 sites; no site at all.
pub fn parse_sites(text: &str) -> Result<Vec<Site>, Vec<SiteError>> {
    parse_at_most(MAX_SITES, text)
}

fn parse_at_most(most_sites: usize, text: &str) -> Result<Vec<Site>, Vec<SiteError>> {
    let mut reader = Reader {
        most_sites,
        line: 0,
        defaults: LabProfile::usual(),
        sites: Vec::new(),
        first_seen: BTreeMap::new(),
        errors: Vec::new(),
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (index, line) in text.split('\n').enumerate() {
        reader.line = index + 1;
        if !reader.has_room() {
            break;
        }
        reader.read(line.strip_suffix('\r').unwrap_or(line));
    }
    if reader.first_seen.is_empty() && reader.errors.is_empty() {
        reader.line = 1;
        reader.error(
            None,
            "no sites in this file; expected at least one line such as example.com rtt=20ms",
        );
    }
    if reader.errors.is_empty() {
        Ok(reader.sites)
    } else {
        Err(reader.errors)
    }
}

struct Reader {
    most_sites: usize,
    line: usize,
    defaults: Arc<LabProfile>,
    sites: Vec<Site>,
    first_seen: BTreeMap<String, usize>,
    errors: Vec<SiteError>,
}

impl Reader {
    fn has_room(&mut self) -> bool {
        if self.errors.len() >= MAX_ERRORS {
            self.error(
                None,
                format!("{MAX_ERRORS} errors already; the rest was not read"),
            );
            return false;
        }
        true
    }

    fn read(&mut self, line: &str) {
        if line.len() > MAX_LINE_BYTES {
            let found = line.len();
            return self.error(
                None,
                format!("expected at most {MAX_LINE_BYTES} bytes a line, found {found}"),
            );
        }
        if let Some(control) = line.chars().find(|c| c.is_control() && *c != '\t') {
            return self.error(
                None,
                format!("expected plain text, found the control character {control:?}"),
            );
        }
        let mut words = line
            .split([' ', '\t'])
            .filter(|word| !word.is_empty())
            .take_while(|word| !word.starts_with('#'));
        match words.next() {
            None => {}
            Some("*") => {
                let mut defaults = Arc::clone(&self.defaults);
                self.read_fields(words, &mut defaults);
                self.defaults = defaults;
            }
            Some(address) => self.read_site(address, words),
        }
    }

    fn read_site<'a>(&mut self, address: &str, words: impl Iterator<Item = &'a str>) {
        let errors_before = self.errors.len();
        let site = match read_address(address) {
            Ok(site) => Some(site),
            Err(message) => {
                self.error(Some("host"), message);
                None
            }
        };
        let mut lab = Arc::clone(&self.defaults);
        self.read_fields(words, &mut lab);
        // A partly parsed profile would cause misleading conflicts.
        if self.errors.len() == errors_before {
            for (field, message) in fields::conflicts(&lab) {
                self.error(Some(field), message);
            }
        }
        let Some(site) = site else { return };
        let site = Site { lab, ..site };
        let name = site.place_in_dns();
        if let Some(line) = self.first_seen.get(&name) {
            let message = format!(
                "{} is already on line {line}; expected every site once",
                site.name()
            );
            return self.error(Some("host"), message);
        }
        if self.sites.len() == self.most_sites {
            let most = self.most_sites;
            return self.error(None, format!("expected at most {most} sites in a file"));
        }
        self.first_seen.insert(name, self.line);
        self.sites.push(site);
    }

    fn read_fields<'a>(&mut self, words: impl Iterator<Item = &'a str>, lab: &mut Arc<LabProfile>) {
        let mut seen = BTreeSet::new();
        for word in words {
            let Some((field, value)) = word.split_once('=') else {
                self.error(None, format!("expected key=value, found {}", shown(word)));
                continue;
            };
            match fields::set(Arc::make_mut(lab), field, value) {
                Ok(()) if !seen.insert(field) => {
                    self.error(Some(field), "given twice on this line; expected once");
                }
                Ok(()) => {}
                Err(fields::FieldError::Unknown(message)) => self.error(None, message),
                Err(fields::FieldError::Value(message)) => self.error(Some(field), message),
            }
        }
    }

    fn error(&mut self, field: Option<&str>, message: impl Into<String>) {
        let field = field.map(str::to_owned);
        self.errors.push(SiteError {
            line: self.line,
            field,
            message: message.into(),
        });
    }
}

fn read_address(text: &str) -> Result<Site, String> {
    if text.contains("://") {
        return parse_target(text);
    }
    if text.contains('=') {
        return Err(format!(
            "expected host[:port] before the fields, found {}",
            shown(text)
        ));
    }
    // IPv6 addresses are written as in URLs.
    if text.starts_with('[') || text.matches(':').count() > 1 {
        return parse_target(text);
    }
    let (host, port) = match text.split_once(':') {
        None => (text, 443),
        Some((host, port)) => (host, fields::number(port, 1..=65_535, "a port")?),
    };
    Site::at_host(host, port).map_err(|why| {
        if host.is_ascii() {
            format!(
                "expected a host name (letters, digits, '-', '.') or an IPv4 address, found {}",
                shown(host)
            )
        } else {
            why
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_too_many_sites_is_refused_at_the_first_line_too_many() {
        let text = "a.example\nb.example\nc.example\n";
        assert_eq!(parse_at_most(3, text).unwrap().len(), 3);
        let errors = parse_at_most(2, text).unwrap_err();
        let words: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(words, ["line 3: expected at most 2 sites in a file"]);
    }

    #[test]
    fn sites_without_fields_share_one_profile() {
        let sites = parse_sites("a.example\nb.example rtt=5ms\nc.example\n").unwrap();
        assert!(Arc::ptr_eq(&sites[0].lab, &sites[2].lab));
        assert_ne!(sites[0].lab, sites[1].lab);
    }
}
