use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{HostName, bracketed, named::text_in_json, sites_file::digits};

/// A rule that redirects connections for one host and port, in the format of curl's `--connect-to`:
/// `HOST1:PORT1:HOST2:PORT2`. An empty `HOST1` or `PORT1` matches any; an empty `HOST2` or `PORT2` leaves the value
/// unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct ConnectTo {
    host: Option<HostName>,
    port: Option<u16>,
    to_host: Option<HostName>,
    to_port: Option<u16>,
}

/// Returns the destination of a connection to `host` and `port` by the first rule that matches, or `None` if no rule
/// matches.
pub fn destination(rules: &[ConnectTo], host: &HostName, port: u16) -> Option<(HostName, u16)> {
    let rule = rules.iter().find(|rule| {
        rule.host.as_ref().is_none_or(|of| of == host) && rule.port.is_none_or(|of| of == port)
    })?;
    let host = rule.to_host.as_ref().unwrap_or(host);
    Some((host.clone(), rule.to_port.unwrap_or(port)))
}

impl FromStr for ConnectTo {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = split(text).ok_or_else(|| {
            "expected HOST1:PORT1:HOST2:PORT2, such as example.com:443:127.0.0.1:8443".to_owned()
        })?;
        let [from_host, from_port, to_host, to_port] = parts;
        Ok(Self {
            host: host(from_host)?,
            port: port(from_port)?,
            to_host: host(to_host)?,
            to_port: port(to_port)?,
        })
    }
}

/// Splits a text at its colons into four parts. Colons inside the brackets of an IPv6 address do not split.
fn split(text: &str) -> Option<[&str; 4]> {
    let mut parts = Vec::new();
    let (mut start, mut inside) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            '[' => inside = true,
            ']' => inside = false,
            ':' if !inside => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.try_into().ok()
}

fn host(text: &str) -> Result<Option<HostName>, String> {
    let bare = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    let known = (!text.is_empty()).then(|| bare.unwrap_or(text).parse());
    known.transpose()
}

fn port(text: &str) -> Result<Option<u16>, String> {
    let known = (!text.is_empty()).then(|| {
        let port = digits(text).filter(|port| *port > 0);
        port.ok_or_else(|| format!("{text:?}: a port is a number from 1 to 65535"))
    });
    known.transpose()
}

text_in_json!(ConnectTo);

impl fmt::Display for ConnectTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts = [&self.host, &self.to_host];
        let [host, to_host] = hosts.map(|host| host.as_ref().map(bracketed).unwrap_or_default());
        let ports = [self.port, self.to_port];
        let [port, to_port] = ports.map(|port| port.map_or_else(String::new, |p| p.to_string()));
        write!(f, "{host}:{port}:{to_host}:{to_port}")
    }
}
