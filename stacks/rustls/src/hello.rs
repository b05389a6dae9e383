//! The parts of a ClientHello that decide about a HelloRetryRequest, which rustls does not hand out.

use netbench_tls::wire::extension::{EARLY_DATA, KEY_SHARE, SUPPORTED_GROUPS};
use rustls::NamedGroup;

/// The length of the headers of a record and of a message, and of the version and the random value.
const BEFORE_SESSION_ID: usize = 5 + 4 + 2 + 32;

/// A client's offer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Hello {
    has_early_data: bool,
    groups: Vec<u16>,
    shares: Vec<u16>,
}

impl Hello {
    /// Parses a ClientHello that is one record.
    pub(crate) fn of_record(record: &[u8]) -> Option<Self> {
        let mut rest = record.get(BEFORE_SESSION_ID..)?;
        vector::<1>(&mut rest)?;
        vector::<2>(&mut rest)?;
        vector::<1>(&mut rest)?;
        let mut extensions = vector::<2>(&mut rest)?;
        let mut hello = Self::default();
        while !extensions.is_empty() {
            let kind = number(&mut extensions)?;
            let mut body = vector::<2>(&mut extensions)?;
            match kind {
                EARLY_DATA => hello.has_early_data = true,
                SUPPORTED_GROUPS => {
                    let mut groups = vector::<2>(&mut body)?;
                    while !groups.is_empty() {
                        hello.groups.push(number(&mut groups)?);
                    }
                }
                KEY_SHARE => {
                    let mut shares = vector::<2>(&mut body)?;
                    while !shares.is_empty() {
                        hello.shares.push(number(&mut shares)?);
                        vector::<2>(&mut shares)?;
                    }
                }
                _ => {}
            }
        }
        Some(hello)
    }

    /// Returns whether early data follow, which a server rejects by a HelloRetryRequest for `group`.
    pub(crate) fn can_be_retried_for(&self, group: NamedGroup) -> bool {
        let group = u16::from(group);
        self.has_early_data && self.groups.contains(&group) && !self.shares.contains(&group)
    }
}

/// Takes a vector with a length of `N` bytes.
fn vector<'a, const N: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk::<N>()?;
    let length = length
        .iter()
        .fold(0, |length, byte| length << 8 | usize::from(*byte));
    let (body, after) = after.split_at_checked(length)?;
    *rest = after;
    Some(body)
}

/// Takes a number of two bytes.
fn number(rest: &mut &[u8]) -> Option<u16> {
    let (bytes, after) = rest.split_first_chunk::<2>()?;
    *rest = after;
    Some(u16::from_be_bytes(*bytes))
}
