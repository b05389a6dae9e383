use std::{error::Error, io};

use netbench_tls::{
    CertificateFault, FailureClass, FailureReason, FailureWord, Phase, sanitize_prefix,
};

use crate::{Probe, Stack};

/// The explanation of an error: its class and a short, stable word to group by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    /// The class.
    pub class: FailureClass,
    /// The reason, such as the alert or the certificate's fault.
    pub reason: FailureReason,
    /// The list of configurations that a server sent which rejected Encrypted ClientHello, if the library hands it out.
    pub retry_configs: Option<Vec<u8>>,
}

impl Explained {
    /// Creates an explanation. The reason must be one of the class: [`FailureReason::is_of`].
    pub fn new(class: FailureClass, reason: impl Into<FailureReason>) -> Self {
        Self {
            class,
            reason: reason.into(),
            retry_configs: None,
        }
    }

    /// Creates the explanation of an error of the protocol, whose reason is the library's own.
    pub fn of_library(reason: String) -> Self {
        Self::new(FailureClass::Protocol, FailureReason::Library(reason))
    }

    /// Creates the explanation of an error of a library with OpenSSL's interface, from the number and the text of its
    /// reason.
    pub fn of_libssl(code: i32, reason: Option<&str>) -> Self {
        use FailureClass::{Alert, Certificate, Closed, Protocol};
        /// `SSL_AD_REASON_OFFSET` of openssl/ssl.h: reasons from here on are received alerts.
        const ALERT_OFFSET: i32 = 1000;
        if let Ok(alert) = u8::try_from(code - ALERT_OFFSET) {
            return Self::new(Alert, netbench_tls::Alert(alert));
        }
        match reason.map(hyphenated).as_deref() {
            Some("unexpected-eof-while-reading") => Self::new(Closed, FailureWord::EndOfStream),
            Some("certificate-verify-failed") => Self::new(Certificate, CertificateFault::Other),
            Some(reason) => Self::of_library(reason.to_owned()),
            None => Self::new(Protocol, FailureWord::Unexplained),
        }
    }

    /// Creates the explanation that the server rejected Encrypted ClientHello and proved the public name.
    pub fn ech_rejected(retry_configs: Option<Vec<u8>>) -> Self {
        Self {
            retry_configs: retry_configs.filter(|list| !list.is_empty()),
            ..Self::new(FailureClass::EchRejected, FailureWord::EchRejected)
        }
    }
}

/// Converts the names of variants in a debug text to lower case with hyphens, without fields in braces:
/// `PeerIncompatible(Tls13RequiredForQuic)` as `peer-incompatible-tls13-required-for-quic`.
pub fn kebab(text: &str) -> String {
    let head = text.split(['{', '"', '[']).next().unwrap_or_default();
    let mut out = String::new();
    for c in head.replace(['(', ')'], "").trim().chars() {
        if c.is_ascii_uppercase() && !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    out.trim_end_matches('-').to_owned()
}

/// Converts a C library's name or message of an error to lower case, with hyphens for all characters other than letters
/// and digits.
pub fn hyphenated(reason: &str) -> String {
    let letters = reason.chars().map(|c| match c {
        c if c.is_ascii_alphanumeric() => c.to_ascii_lowercase(),
        _ => '-',
    });
    letters.collect()
}

/// Searches `error` and its sources for the first that explains the failure.
pub(crate) fn explain(
    stack: &dyn Stack,
    probe: &Probe,
    phase: Phase,
    error: &(dyn Error + 'static),
) -> Explained {
    if let Some((fault, _)) = &probe.marks().certificate_fault {
        return Explained::new(FailureClass::Certificate, *fault);
    }
    if let Some(rejection) = &probe.marks().ech_rejection {
        return Explained::ech_rejected(rejection.retry_configs.clone());
    }
    if let Some(alert) = probe.marks().alert {
        return Explained::new(FailureClass::Alert, alert);
    }
    let mut found = None;
    visit(error, &mut |error| {
        if found.is_none() {
            found = stack.explain(error).or_else(|| common(phase, error));
        }
    });
    found.unwrap_or_else(|| match phase {
        Phase::Dns => Explained::new(FailureClass::Resolve, FailureWord::Failed),
        Phase::Tcp => Explained::new(FailureClass::Connect, FailureWord::Failed),
        Phase::FirstByte | Phase::Total => Explained::new(FailureClass::Http, FailureWord::Failed),
        _ => Explained::new(FailureClass::Protocol, FailureWord::Unexplained),
    })
}

/// Formats an error and its sources in one line.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    const LONGEST: usize = 600;
    let mut parts: Vec<String> = Vec::new();
    visit(error, &mut |error| {
        let text = error.to_string();
        if !parts.iter().any(|part| part.contains(&text)) {
            parts.push(text);
        }
    });
    sanitize_prefix(&without_folders(&parts.join(": ")), LONGEST)
}

/// Removes the folders of the build machine from the source files that OpenSSL's errors name.
pub(crate) fn without_folders(text: &str) -> String {
    let parts: Vec<String> = text
        .split(':')
        .map(|part| match part.rsplit_once('/') {
            Some((_, name)) if name.ends_with(".c") => name.to_owned(),
            _ => part.to_owned(),
        })
        .collect();
    parts.join(":")
}

/// Visits `error` and all its sources, including those inside an `io::Error`, from the innermost outwards, because the
/// innermost is the most specific.
fn visit(error: &(dyn Error + 'static), visitor: &mut dyn FnMut(&(dyn Error + 'static))) {
    const DEEPEST: usize = 16;
    let mut errors = vec![error];
    while let Some(last) = errors.last().copied() {
        let inner = last
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref)
            .map(|inner| inner as &(dyn Error + 'static));
        match inner.or_else(|| last.source()) {
            Some(next) if errors.len() < DEEPEST => errors.push(next),
            _ => break,
        }
    }
    errors.into_iter().rev().for_each(visitor);
}

fn common(phase: Phase, error: &(dyn Error + 'static)) -> Option<Explained> {
    if let Some(error) = error.downcast_ref::<io::Error>() {
        return of_io(phase, error);
    }
    let error = error.downcast_ref::<hyper::Error>()?;
    if error.is_incomplete_message() {
        Some(Explained::new(FailureClass::Http, FailureWord::Incomplete))
    } else if error.is_parse() {
        Some(Explained::new(FailureClass::Http, FailureWord::NotHttp))
    } else {
        None
    }
}

fn of_io(phase: Phase, error: &io::Error) -> Option<Explained> {
    use FailureClass::{Closed, Connect, Resolve, Timeout};
    if phase == Phase::Dns {
        return Some(Explained::new(Resolve, FailureWord::NotFound));
    }
    let (class, reason) = match (error.kind(), phase) {
        (io::ErrorKind::ConnectionRefused, _) => (Connect, FailureWord::Refused),
        (io::ErrorKind::TimedOut, Phase::Tcp) => (Connect, FailureWord::ConnectTimedOut),
        (io::ErrorKind::TimedOut, _) => (Timeout, FailureWord::KernelTimeout),
        (io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable, _) => {
            (Connect, FailureWord::Unreachable)
        }
        (io::ErrorKind::ConnectionReset, _) => (Closed, FailureWord::Reset),
        (io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionAborted, _) => {
            (Closed, FailureWord::Closed)
        }
        (io::ErrorKind::UnexpectedEof, _) => (Closed, FailureWord::EndOfStream),
        _ => return None,
    };
    Some(Explained::new(class, reason))
}

#[cfg(test)]
mod tests;
