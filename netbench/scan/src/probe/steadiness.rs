//! Tests whether the same server still responds. A limit of connections may respond in its place: with an alert, in
//! plain HTTP, or by a server that only apologizes.

use std::rc::Rc;

use super::{
    known::{Answer, Known, Misjudged},
    prober::Prober,
    refusals::says_nothing,
    wire::{ConnectionError, Reply, Wire},
};
use crate::{
    codec::{Flight, HelloSpec},
    enumeration::{Refusal, Stop},
    session::{Encrypted13, PrivateShares},
};

/// The server that now answers the known hello.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// The server that answered it at first.
    Same,
    /// Different servers by turns.
    ByTurns,
    /// No server, or another one.
    Other,
}

/// The number of repetitions of the known hello if the response differs.
const ASKED_AGAIN: usize = 3;

impl Prober<'_> {
    /// Keeps the first hello that was answered. If a HelloRetryRequest answered it and no certificate could be learnt on
    /// that connection, the first hello that a ServerHello answers takes its place.
    pub(super) fn know(&self, spec: &HelloSpec, bytes: Vec<u8>, flight: &Flight) {
        let mut known = self.known.borrow_mut();
        let stays = known.as_ref().is_some_and(|known| {
            !known.answer.is_retry || known.answer.leaf.is_some() || flight.hello.is_retry
        });
        if !stays {
            *known = Some(Known {
                spec: spec.clone(),
                bytes,
                answer: Answer::of(flight),
                keys: None,
            });
        }
    }

    /// Returns whether this is the known hello, and the certificate of its answer is not known yet.
    pub(super) fn lacks_certificate_of(&self, spec: &HelloSpec) -> bool {
        let known = self.known.borrow();
        let known = known
            .as_ref()
            .filter(|known| known.spec.random == spec.random);
        known.is_some_and(|known| known.answer.leaf.is_none())
    }

    /// Adds the certificate to the answer to the known hello, if this is its encrypted part; `None` if that was lost.
    pub(super) fn know_certificate(
        &self,
        spec: &HelloSpec,
        keys: &Rc<PrivateShares>,
        encrypted: Option<&Encrypted13>,
    ) {
        let mut known = self.known.borrow_mut();
        let known = known
            .as_mut()
            .filter(|known| known.spec.random == spec.random);
        if let Some(known) = known {
            let first = encrypted.and_then(|flight| flight.certificates.first());
            known.answer.leaf = first.map(|(leaf, _)| leaf.clone());
            known.keys = Some(Rc::clone(keys));
        }
    }

    /// Adds a certificate that was lost the first time. Whether the server of the connections before had it is unknown.
    fn know_late(&self, answer: Answer) {
        self.misjudged.set(Some(Misjudged::Certificate));
        if let Some(known) = self.known.borrow_mut().as_mut() {
            known.answer = answer;
        }
    }

    /// The answer to the known hello, with the certificate that the handshake shows.
    async fn answer_to(&self, known: &Known, flight: &Flight, mut wire: Wire) -> Answer {
        let mut answer = Answer::of(flight);
        let keys = match &known.keys {
            None if answer.is_retry => Self::keys_for(&flight.hello),
            keys => keys.clone(),
        };
        if let Some(keys) = keys {
            let session = if answer.is_retry {
                self.after_retry(&known.spec, &keys, flight, wire).await
            } else {
                let hello = known.spec.message();
                self.decrypt(&hello, &keys, flight, &mut wire).await
            };
            let chain = session.map(|session| session.encrypted.certificates);
            let leaf = chain.and_then(|chain| chain.into_iter().next());
            answer.leaf = leaf.map(|(leaf, _)| leaf);
        }
        answer
    }

    /// Sends the known hello once more, and notes what has changed.
    ///
    /// # Errors
    /// Returns an error if the site's time is up.
    pub(super) async fn standing(&self) -> Result<Standing, Stop> {
        let Some(known) = self.known.borrow().clone() else {
            return Ok(Standing::Same);
        };
        let mut same = 0;
        for number in 0..=ASKED_AGAIN {
            if self.left().is_zero() {
                return Err(Stop);
            }
            let how = match self.ask_again(&known).await? {
                Reply::Flight(flight, wire) => {
                    let read = Box::pin(self.answer_to(&known, &flight, wire));
                    let answer = read.await;
                    if answer.adds_certificate_to(&known.answer) {
                        self.know_late(answer);
                        return Ok(Standing::Same);
                    }
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
            self.note(format!("a hello that had been answered before: {how}"));
        }
        Ok(if same > 0 {
            Standing::ByTurns
        } else {
            Standing::Other
        })
    }

    /// Sends the known hello. If a site that limits connections does not answer it, waits, slows down and sends it once
    /// more: the pace can be as close to the limit as to exceed it now and then.
    ///
    /// # Errors
    /// Returns an error if the site no longer responds.
    async fn ask_again(&self, known: &Known) -> Result<Reply, Stop> {
        let recent = self.pace.recent();
        let reply = self.send_once(&[&known.bytes]).await;
        if self.pace.interval().is_none() || !says_nothing(&reply) {
            return Ok(reply);
        }
        self.wait_for(known, &recent).await?;
        Ok(self.send_once(&[&known.bytes]).await)
    }

    /// Whether the reply is to the known hello, and as it was at first; while nothing is suspected, any answer will do.
    pub(super) async fn is_as_before(&self, reply: Reply, known: &Known) -> bool {
        match reply {
            Reply::Flight(flight, wire) if self.careful.get() => {
                let read = Box::pin(self.answer_to(known, &flight, wire));
                read.await == known.answer
            }
            Reply::Flight(..) => true,
            _ => false,
        }
    }
}
