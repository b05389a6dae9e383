use netbench_tls::Alpn;

/// Encodes a list of protocols: each name after its length (RFC 7301 section 3.1).
pub fn alpn_list(protocols: &[Alpn]) -> Vec<u8> {
    let mut list = Vec::new();
    for name in protocols.iter().map(|alpn| alpn.name().as_bytes()) {
        list.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
        list.extend(name);
    }
    list
}

/// Returns the name of a negotiated protocol as text, for [`netbench_tls::Negotiated::alpn`].
pub fn alpn_text(name: Option<impl AsRef<[u8]>>) -> Option<String> {
    name.map(|name| String::from_utf8_lossy(name.as_ref()).into_owned())
}

/// Returns the first of a server's protocols that is in a client's encoded list, as a part of that list.
pub fn preferred_alpn<'a>(protocols: &[Alpn], offered: &'a [u8]) -> Option<&'a [u8]> {
    protocols
        .iter()
        .find_map(|alpn| names(offered).find(|name| *name == alpn.name().as_bytes()))
}

/// Returns the names in an encoded list, up to the first that is cut off.
fn names(mut list: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (length, rest) = list.split_first()?;
        let (name, rest) = rest.split_at_checked(usize::from(*length))?;
        list = rest;
        Some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_order_decides() {
        type Case = (&'static [Alpn], &'static [u8], Option<&'static [u8]>);
        const H2: Alpn = Alpn::H2;
        const HTTP: Alpn = Alpn::Http11;
        let cases: [Case; 6] = [
            (&[H2, HTTP], b"\x08http/1.1\x02h2", Some(b"h2")),
            (&[HTTP, H2], b"\x08http/1.1\x02h2", Some(b"http/1.1")),
            (&[H2], b"\x08http/1.1", None),
            (&[H2], b"", None),
            (&[H2], b"\x03h2", None),
            (&[], b"\x02h2", None),
        ];
        for (server, client, chosen) in cases {
            assert_eq!(preferred_alpn(server, client), chosen, "{client:?}");
        }
        assert_eq!(alpn_list(&[HTTP, H2]), b"\x08http/1.1\x02h2");
    }
}
