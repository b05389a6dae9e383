//! A user's name of a server (a URL, or a host with or without a port).

use std::net::{IpAddr, Ipv6Addr};

use crate::{HostName, Site, shown, sites_file::digits};

/// The port of HTTPS.
const HTTPS: u16 = 443;

/// Maximum length of a URL.
const LONGEST: usize = 4096;

/// Parses the name of a server: `https://host[:port][/path]`, or the same without `https://`.
///
/// Characters that are not allowed in a path become `%XX`, as in browsers.
///
/// # Errors
/// A text that does not name a TLS server. The message states the expected text.
pub fn parse_target(text: &str) -> Result<Site, String> {
    parse_target_of(text, HTTPS)
}

/// Parses the name of a server like [`parse_target`]; without a port it is at `default_port`.
///
/// # Errors
/// As there.
pub fn parse_target_of(text: &str, default_port: u16) -> Result<Site, String> {
    target(text, default_port).map_err(|why| format!("{}: {why}", shown(text)))
}

/// Parses the name of a server. The error does not contain the text.
fn target(text: &str, default_port: u16) -> Result<Site, String> {
    if text.len() > LONGEST {
        return Err(format!("a URL of at most {LONGEST} bytes is expected"));
    }
    if text
        .chars()
        .any(|c| c.is_control() || c.is_whitespace() || c == '\\')
    {
        return Err("a URL has no white space, control characters or backslashes".into());
    }
    if let Ok(address) = text.parse::<Ipv6Addr>() {
        return Ok(Site::new(HostName::from(IpAddr::V6(address)), default_port));
    }
    let rest = match text.split_once("://") {
        None => text,
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => rest,
        Some((scheme, _)) if scheme.eq_ignore_ascii_case("http") => {
            return Err("http:// is without TLS; write https://".into());
        }
        Some(_) => return Err("a URL begins with https://".into()),
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if authority.contains('@') {
        return Err(
            "leave the user name and password out; --header can send an Authorization".into(),
        );
    }
    if path.contains('#') {
        return Err("leave out the # and what follows: it is never sent to a server".into());
    }
    let (host, port) = split_port(authority, default_port)?;
    if host.is_empty() {
        return Err("there is no host in it".into());
    }
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let site = match bare.map(str::parse::<Ipv6Addr>) {
        Some(Ok(address)) => Site::new(HostName::from(IpAddr::V6(address)), port),
        Some(Err(_)) => {
            return Err("not an IPv6 address; one with a zone (%eth0) is not supported".into());
        }
        None => Site::at_host(host, port)?,
    };
    Ok(Site {
        path: encoded(path),
        ..site
    })
}

/// Splits the host, with its brackets, from the port.
fn split_port(authority: &str, default: u16) -> Result<(&str, u16), &'static str> {
    const NO_PORT: &str = "a port is a number from 1 to 65535";
    let (host, port) = match authority.find(']') {
        Some(end) => authority.split_at(end + 1),
        None if authority.matches(':').count() > 1 || authority.starts_with('[') => {
            return Err("an IPv6 address stands in brackets, such as https://[::1]:8443/");
        }
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => return Ok((host, default)),
        None => return Err(NO_PORT),
        Some(port) => port,
    };
    let port = digits(port).filter(|port| *port > 0);
    Ok((host, port.ok_or(NO_PORT)?))
}

/// Encodes a path for a request.
fn encoded(path: &str) -> String {
    let mut text = String::with_capacity(path.len() + 1);
    if !path.starts_with('/') {
        text.push('/');
    }
    for byte in path.bytes() {
        match byte {
            b'"' | b'<' | b'>' | b'`' | b'{' | b'}' | b'|' | b'^' | 0x7f.. => {
                text.push_str(&format!("%{byte:02X}"));
            }
            byte => text.push(char::from(byte)),
        }
    }
    text
}
