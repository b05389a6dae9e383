//! An HTTP request, and the head of its response.

use netbench_model::{HostName, authority};

use crate::{ScanTarget, text::clean};

/// The method that requests the head of a response. Some servers never answer HEAD.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Head,
    Get,
}

/// Returns a request for the target's page, of which only the head is read.
pub(crate) fn request(target: &ScanTarget, method: Method) -> Vec<u8> {
    let ScanTarget {
        host, port, path, ..
    } = target;
    let host = match host.parse::<HostName>() {
        Ok(name) => authority(&name, *port),
        Err(_) => host.clone(),
    };
    let method = match method {
        Method::Head => "HEAD",
        Method::Get => "GET",
    };
    format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: netbench-scan\r\nAccept: */*\r\nConnection: close\r\n\r\n"
    )
    .into_bytes()
}

/// The fields of a response's head that a scan reports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ResponseHead {
    pub(crate) status: Option<u16>,
    pub(crate) strict_transport_security: Option<String>,
    pub(crate) alt_svc: Option<String>,
}

impl ResponseHead {
    /// Returns whether bytes with this beginning may be HTTP/1, and not the greeting of another protocol.
    pub(crate) fn may_be(bytes: &[u8]) -> bool {
        bytes.iter().zip(b"HTTP/1.").all(|(is, due)| is == due)
    }

    /// Parses the head. Returns `None` until it is complete.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
        let mut lines = bytes[..end].split(|byte| *byte == b'\n');
        let mut head = Self::default();
        let status = lines.next()?.strip_prefix(b"HTTP/1.")?;
        head.status = status
            .get(2..5)
            .and_then(|code| std::str::from_utf8(code).ok()?.parse().ok());
        for line in lines {
            let Some(colon) = line.iter().position(|byte| *byte == b':') else {
                continue;
            };
            let name = line[..colon].to_ascii_lowercase();
            let field = match name.as_slice() {
                b"strict-transport-security" => &mut head.strict_transport_security,
                b"alt-svc" => &mut head.alt_svc,
                _ => continue,
            };
            let value = String::from_utf8_lossy(line[colon + 1..].trim_ascii());
            *field = Some(clean(&value));
        }
        Some(head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_and_cleaned() {
        let whole = b"HTTP/1.1 301 Moved\r\nStrict-Transport-Security: max-age=1;\x1b[31m\r\nAlt-Svc: h3=\":443\"\r\n\r\nbody";
        let head = ResponseHead::parse(whole).unwrap();
        assert_eq!(head.status, Some(301));
        assert_eq!(
            head.strict_transport_security.as_deref(),
            Some("max-age=1;\u{fffd}[31m")
        );
        assert_eq!(head.alt_svc.as_deref(), Some("h3=\":443\""));
        for cut in [&whole[..40], b"", b"not http\r\n\r\n"] {
            assert_eq!(ResponseHead::parse(cut), None);
        }
        for begun in [&whole[..3], whole, b""] {
            assert!(ResponseHead::may_be(begun));
        }
        assert!(!ResponseHead::may_be(b"220 mail.test"));
    }
}
