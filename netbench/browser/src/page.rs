use netbench_model::{Negotiated, ServerView, browser::Visit};
use netbench_protocol::SERVER_VIEW_HEADER;
use serde_json::Value;

/// The content that a browser shows.
#[derive(Debug, Clone, PartialEq)]
pub enum Page {
    /// The page.
    Loaded(Box<Visit>),
    /// The browser's own error page.
    Error {
        /// The error's code: `net::ERR_CERT_DATE_INVALID`.
        code: String,
    },
}

/// The content that a browser shows, without its times.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    /// The page.
    Loaded {
        /// The negotiated parameters, according to the browser.
        client: Negotiated,
        /// The status of the response, or `None` where the browser does not report it.
        http_status: Option<u16>,
        /// Size of the response's body, in bytes.
        body_bytes: u64,
    },
    /// The browser's own error page.
    Error {
        /// The error's code: `net::ERR_CERT_DATE_INVALID`.
        code: String,
        /// The server's certificate as the error page shows it, if it does: DER in base64, with or without padding.
        certificate_base64: Option<String>,
    },
}

impl From<Page> for Shown {
    fn from(page: Page) -> Self {
        match page {
            Page::Error { code } => Self::Error {
                code,
                certificate_base64: None,
            },
            Page::Loaded(visit) => Self::Loaded {
                client: visit.client,
                http_status: Some(visit.http_status),
                body_bytes: visit.body_bytes,
            },
        }
    }
}

impl Page {
    /// Returns a loaded page. The browser's view is completed with values from the server's view, including whether a
    /// session was resumed.
    pub(crate) fn completed(mut visit: Visit) -> Self {
        if let Some(server) = &visit.server {
            let (client, said) = (&mut visit.client, &server.negotiated);
            client.resumed = said.resumed;
            client.version = client.version.or(said.version);
            client.suite = client.suite.or(said.suite);
            client.group = client.group.or(said.group);
            client.alpn = client.alpn.take().or_else(|| said.alpn.clone());
        }
        Self::Loaded(Box::new(visit))
    }
}

/// Parses the lab's server's report in the response's headers, an object of names and values.
pub(crate) fn server_view(headers: &Value) -> Option<ServerView> {
    let headers = headers.as_object()?;
    let (_, value) = headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(SERVER_VIEW_HEADER))?;
    serde_json::from_str(value.as_str()?).ok()
}

/// Returns the negotiated protocol. Browsers also report `http/1.1` where no protocol was
/// negotiated: the server's report distinguishes the two.
pub(crate) fn alpn(protocol: &str) -> Option<String> {
    (!matches!(protocol, "" | "http/1.1")).then(|| protocol.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_servers_account_is_read_from_a_header_in_any_case() {
        let view = ServerView::default();
        let text = serde_json::to_string(&view).expect("JSON");
        let headers = json!({"content-type": "text/html", "X-Netbench-Server": text});
        assert_eq!(server_view(&headers), Some(view));
        assert_eq!(server_view(&json!({"x-netbench-server": "{}}"})), None);
        assert_eq!(server_view(&Value::Null), None);
    }
}
