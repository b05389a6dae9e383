//! Pages of several objects, and their objects.

use bytes::Bytes;
use http::{HeaderValue, Request, Response, header, header::HeaderName};
use netbench_tls::ObjectsPage;

use crate::body::SiteBody;

/// The text of an image around its filling.
const IMAGE: [&str; 2] = [
    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\"><!-- ",
    " --></svg>",
];

/// Returns the page as the requested host sends it, filled to the size of the site's own page.
pub(crate) fn html<T>(page: &ObjectsPage, request: &Request<T>, own: &Bytes) -> Bytes {
    let authority = request
        .uri()
        .authority()
        .map(|authority| authority.as_str());
    let authority = authority
        .or_else(|| request.headers().get(header::HOST)?.to_str().ok())
        .unwrap_or_default();
    let (host, port) = match authority.rfind(':') {
        Some(at) => authority.split_at(at),
        None => (authority, ""),
    };
    let mut text = page.html(host, port).into_bytes();
    let rest = own.len().saturating_sub(text.len());
    text.extend_from_slice(&own[..rest]);
    text.into()
}

/// Returns an image of `bytes` bytes. Pages of other origins may read its timing and its length, and no cache stores
/// it.
pub(crate) fn image(bytes: u64) -> Response<SiteBody> {
    let around: usize = IMAGE.iter().map(|part| part.len()).sum();
    let filling = usize::try_from(bytes).unwrap_or(0).saturating_sub(around);
    let content = [IMAGE[0], &"x".repeat(filling), IMAGE[1]].concat();
    let mut response = Response::new(SiteBody::whole(content.into()));
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, "image/svg+xml"),
        (header::CACHE_CONTROL, "no-store"),
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (HeaderName::from_static("timing-allow-origin"), "*"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
