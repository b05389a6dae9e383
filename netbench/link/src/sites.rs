//! The sites of a link and their addresses: 10.1.x.y in namespaces, 127.1.x.y on loopback.

use std::net::Ipv4Addr;

use sha2::{Digest, Sha256};

use crate::{LinkError, LinkSite};

/// The maximum number of sites: 254 networks of 254 hosts.
const LIMIT: usize = 254 * 254;

/// The client's address in its namespace.
pub(crate) const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
/// The server's address, which is the gateway to every site.
pub(crate) const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
/// The network of the sites and its prefix length.
pub(crate) const NETWORK: (Ipv4Addr, u8) = (Ipv4Addr::new(10, 1, 0, 0), 16);

/// Returns an error if there are more sites than addresses.
pub(crate) fn check_count(sites: &[LinkSite]) -> Result<(), LinkError> {
    if sites.len() > LIMIT {
        return Err(LinkError::TooManySites {
            sites: sites.len(),
            limit: LIMIT,
        });
    }
    Ok(())
}

/// Returns site `index`'s address under the network `first.1.0.0/16`.
pub(crate) fn address(first: u8, index: usize) -> Ipv4Addr {
    // The count was checked: both numbers fit.
    Ipv4Addr::new(first, 1, (index / 254) as u8, (index % 254 + 1) as u8)
}

/// Returns the index of the site with `address`, 10.1.x.y, among `count` sites.
pub(crate) fn index_of(address: [u8; 4], count: usize) -> Option<usize> {
    let [10, 1, x, y @ 1..=254] = address else {
        return None;
    };
    let index = usize::from(x) * 254 + usize::from(y) - 1;
    (x < 254 && index < count).then_some(index)
}

/// Returns the number that represents a site's name in a draw: the first 8 bytes of its SHA-256,
/// big-endian.
pub(crate) fn name_word(name: &str) -> u64 {
    let digest = Sha256::digest(name.as_bytes());
    digest
        .iter()
        .take(8)
        .fold(0, |word, byte| word << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_site_has_its_own_address() {
        for index in [0, 1, 253, 254, 255, 507, 508, LIMIT - 1] {
            assert_eq!(index_of(address(10, index).octets(), LIMIT), Some(index));
        }
        assert_eq!(address(10, 0), Ipv4Addr::new(10, 1, 0, 1));
        assert_eq!(address(127, 254), Ipv4Addr::new(127, 1, 1, 1));
    }

    #[test]
    fn other_addresses_are_nobodys() {
        for address in [
            [10, 1, 0, 0],
            [10, 1, 0, 255],
            [10, 1, 0, 3],
            [10, 2, 0, 1],
            [10, 1, 255, 1],
        ] {
            assert_eq!(index_of(address, 2), None, "{address:?}");
        }
    }
}
