//! The parts of a ClientHello that decide about a HelloRetryRequest, which rustls does not hand out.

use std::iter;

use netbench_tls::wire::extension::{EARLY_DATA, KEY_SHARE, SUPPORTED_GROUPS};
use netbench_worker::{MessageReader, hello_extensions};
use rustls::NamedGroup;

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
        let mut hello = Self::default();
        for (kind, body) in hello_extensions(record)? {
            let mut body = MessageReader(body);
            match kind {
                EARLY_DATA => hello.has_early_data = true,
                SUPPORTED_GROUPS => {
                    let mut groups = MessageReader(body.prefixed(2)?);
                    hello.groups.extend(iter::from_fn(|| groups.code()));
                }
                KEY_SHARE => {
                    let mut shares = MessageReader(body.prefixed(2)?);
                    while let Some(group) = shares.code() {
                        hello.shares.push(group);
                        shares.prefixed(2)?;
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
