//! The order that decides a choice: the server's, or the client's.

use netbench_model::scan::Order;

/// One choice from a list.
#[derive(Debug, Clone)]
struct Pick {
    offered: Vec<u16>,
    chosen: u16,
}

/// The choices of an enumeration, with their lists.
#[derive(Debug, Clone, Default)]
pub(super) struct Choices(Vec<Pick>);

/// The evidence of choices about the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Evidence {
    /// Every choice was the client's first: the order is the client's, or the server has the same.
    FollowsClient,
    /// Some choice was not the client's first.
    HasOwn,
    /// One choice, or none.
    Single,
}

impl Choices {
    pub(super) fn add(&mut self, offered: &[u16], chosen: u16) {
        self.0.push(Pick {
            offered: offered.to_vec(),
            chosen,
        });
    }

    /// Returns the number of conclusive choices, if all choices so far were the client's first among the known
    /// values.
    pub(super) fn following(&self, found: &[u16]) -> Option<usize> {
        let mut told = 0;
        for pick in &self.0 {
            let mut known = pick.offered.iter().filter(|code| found.contains(code));
            if known.next() != Some(&pick.chosen) {
                return None;
            }
            told += usize::from(known.next().is_some());
        }
        Some(told)
    }

    /// Records a choice that was not the client's first.
    pub(super) fn never_mind(&mut self) {
        self.0.push(Pick {
            offered: Vec::new(),
            chosen: 0,
        });
    }

    pub(super) fn evidence(&self, found: &[u16]) -> Evidence {
        if found.len() < 2 {
            return Evidence::Single;
        }
        match self.following(found) {
            None => Evidence::HasOwn,
            Some(_) => Evidence::FollowsClient,
        }
    }
}

/// Returns `found` reversed: a server with its own order must then skip all others. Servers that have AES first may
/// choose ChaCha20 instead for a client that puts it first (OpenSSL), or that does not put AES in GCM first (Go):
/// then another such suite is put first, if there is one.
pub(super) fn reversed(found: &[u16]) -> Vec<u16> {
    let mut list: Vec<u16> = found.iter().rev().copied().collect();
    if let Some(other) = list.iter().position(is_aes)
        && found.first().is_some_and(is_aes)
        && other + 1 < list.len()
    {
        list[..=other].rotate_right(1);
    } else if list.len() > 2 && matches!(list[0], 0x1303 | 0xcca8..=0xccae) {
        list.swap(0, 1);
    }
    list
}

/// Returns whether the suite has AES as an AEAD.
fn is_aes(code: &u16) -> bool {
    matches!(code, 0x1301 | 0x1302 | 0x009c..=0x00a7 | 0xc02b..=0xc032)
}

/// Judges the order by the response to a reversed list: it is the order of the side that prevails with both lists.
pub(super) fn judge(
    evidence: Evidence,
    offered: &[u16],
    found: &[u16],
    chosen: Option<u16>,
) -> Order {
    let server_first = found.first().copied();
    match (evidence, chosen) {
        (Evidence::Single, _) => Order::Single,
        (_, None) => Order::Unknown,
        (_, Some(chosen)) if Some(chosen) == server_first => Order::Server,
        (Evidence::FollowsClient, Some(chosen)) if offered.first() == Some(&chosen) => {
            Order::Client
        }
        _ => Order::Mixed,
    }
}
