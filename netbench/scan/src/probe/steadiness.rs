//! Whether the same server still answers. Limits of connections may answer instead of it: with an alert, in plain HTTP, or by a
//! server that only says that it is sorry.

use netbench_model::tls::TlsVersion;

use super::{
    prober::Prober,
    wire::{ConnectionError, Reply},
};
use crate::{
    codec::{Flight, extension},
    enumeration::{Refusal, Stop},
};

/// A hello and how it was answered at first.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) bytes: Vec<u8>,
    pub(super) answer: Answer,
}

/// What a server answers to the same hello each time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    version: u16,
    suite: u16,
    extensions: Vec<u16>,
    leaf: Option<Vec<u8>>,
}

impl Answer {
    pub(super) fn of(flight: &Flight) -> Self {
        // A response to staple may come later, and tickets may be turned off for a while.
        let changes = [extension::STATUS_REQUEST, extension::SESSION_TICKET];
        let extensions = flight.hello.extensions.iter().map(|(code, _)| *code);
        let mut extensions: Vec<u16> = extensions.filter(|code| !changes.contains(code)).collect();
        extensions.sort_unstable();
        let leaf = flight.certificates.as_ref();
        Self {
            version: flight.hello.version,
            suite: flight.hello.suite,
            extensions,
            leaf: leaf.and_then(|chain| chain.first().cloned()),
        }
    }

    fn differs_in(&self, other: &Self) -> String {
        let name = |code| TlsVersion::of(code).map_or("unknown", TlsVersion::name);
        let parts = [
            (self.version != other.version).then(|| format!("TLS {}", name(other.version))),
            (self.suite != other.suite).then(|| "another suite".to_owned()),
            (self.extensions != other.extensions).then(|| "other extensions".to_owned()),
            (self.leaf != other.leaf).then(|| "another certificate".to_owned()),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// Who answers the known hello now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// The server that answered it at first.
    Same,
    /// Different servers by turns.
    ByTurns,
    /// None, or another server.
    Other,
}

/// How often the known hello is sent again where the answer is another.
const ASKED_AGAIN: usize = 3;

impl Prober<'_> {
    /// Sends the known hello once more, and notes what has changed.
    ///
    /// # Errors
    /// The site's time is up.
    pub(super) async fn standing(&self) -> Result<Standing, Stop> {
        let Some(known) = self.known.borrow().clone() else {
            return Ok(Standing::Same);
        };
        let mut same = 0;
        for number in 0..=ASKED_AGAIN {
            if self.left().is_zero() {
                return Err(Stop);
            }
            let how = match self.send_once(&[&known.bytes]).await {
                Reply::Flight(flight, ..) => {
                    let answer = Answer::of(&flight);
                    if answer == known.answer {
                        if number == 0 {
                            return Ok(Standing::Same);
                        }
                        same += 1;
                        continue;
                    }
                    format!(
                        "another server answers ({})",
                        known.answer.differs_in(&answer)
                    )
                }
                Reply::Alert(alert) => format!("refused by {}", Refusal::Alert(alert)),
                Reply::Failed(ConnectionError::NotTls(_)) => {
                    "answered in another protocol".to_owned()
                }
                Reply::Failed(_) => "not answered".to_owned(),
            };
            self.note_missing(&format!("a hello that had been answered before: {how}"));
        }
        Ok(if same > 0 {
            Standing::ByTurns
        } else {
            Standing::Other
        })
    }

    /// Whether the reply is to the known hello, and as it was at first; while nothing is suspected, any answer will do.
    pub(super) fn is_as_before(&self, reply: &Reply, known: &Known) -> bool {
        match reply {
            Reply::Flight(flight, ..) => !self.careful.get() || Answer::of(flight) == known.answer,
            _ => false,
        }
    }
}
