//! Distinction between a refused hello and a limit of connections, if there is no response.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::{
    known::{Known, Misjudged},
    pace::{Pace, Recent, WINDOW},
    prober::Prober,
    wire::{ConnectionError, Reply},
};
use crate::enumeration::Stop;

/// The time by which a hello is sent before the known one, beyond a round trip. A counter of connections must see
/// it first: a response to the later one then shows that the earlier one was within the limit.
const HEAD_START: Duration = Duration::from_millis(50);

/// The minimum time for which a hello is waited for, after the response to the known one.
const SHORTEST: Duration = Duration::from_millis(500);

/// The multiple of the slowest response so far that another may take, once the site was silent.
const SLOWER: u32 = 10;

const SILENT: Reply = Reply::Failed(ConnectionError::Silent);

/// The result of hellos sent together with known ones.
enum Shown {
    Answer(Reply),
    /// The server refuses this hello, in this way.
    Refusal(Reply),
    /// The server does not answer the known one either.
    Limit,
}

impl Prober<'_> {
    /// Sends a hello in these pieces, and reads the response. A connection that ends or stays silent is a response
    /// to this hello only if that is repeated, and if a known hello sent at the same time is answered. Otherwise
    /// the site limits connections: the scan waits, slows down, and asks again.
    ///
    /// # Errors
    /// Returns an error if the site no longer responds, or if there is no time to ask again.
    pub(super) async fn send(&self, pieces: &[&[u8]]) -> Result<Reply, Stop> {
        loop {
            let before = self.pace.interval();
            let reply = self.send_with_retries(pieces).await;
            if !self.needs_proof(&reply) {
                return Ok(reply);
            }
            let Some(known) = self.known.borrow().clone() else {
                return Ok(reply);
            };
            if is_silent(&reply) {
                self.was_silent.set(true);
            }
            let is_usual = self.refuses_like_this(&reply);
            if is_usual && self.habit.borrow_mut().assume() {
                return Ok(reply);
            }
            let recent = self.pace.recent();
            let _alone = self.pace.alone().await;
            if self.pace.interval() != before {
                // Another hello has met the limit meanwhile.
                continue;
            }
            if is_usual {
                let now = self.send_once(&[&known.bytes]).await;
                if self.is_as_before(now, &known).await {
                    self.habit.borrow_mut().assumed = 0;
                    return Ok(reply);
                }
            }
            match self.prove(reply, pieces, &known).await? {
                Shown::Answer(reply) => {
                    self.forget_habit();
                    return Ok(reply);
                }
                Shown::Refusal(reply) => {
                    if is_usual {
                        self.misjudged.set(Some(Misjudged::Refusals));
                    }
                    self.habit.borrow_mut().prove(&reply);
                    return Ok(reply);
                }
                Shown::Limit => {
                    self.forget_habit();
                    self.wait_for(&known, &recent).await?;
                }
            }
        }
    }

    /// Returns whether the site was seen to refuse hellos in this way, and no limit was met.
    fn refuses_like_this(&self, reply: &Reply) -> bool {
        let is_doubtful = self.careful.get() || self.pace.interval().is_some();
        !is_doubtful && self.habit.borrow().is_known(reply)
    }

    /// Forgets the site's way of refusing: connections also end for another reason, and so may have those that were not proven.
    fn forget_habit(&self) {
        let assumed = self.habit.take().assumed;
        if assumed > 0 {
            self.misjudged.set(Some(Misjudged::Refusals));
        }
    }

    /// Returns how long a response is waited for: less once the site was silent, because silence is verified.
    pub(super) fn patience(&self) -> Duration {
        let all = self.limits.timeout;
        if self.was_silent.get() {
            all.min(2 * self.usual())
        } else {
            all
        }
    }

    fn usual(&self) -> Duration {
        SHORTEST.max(SLOWER * self.slowest.get())
    }

    async fn prove(&self, first: Reply, pieces: &[&[u8]], known: &Known) -> Result<Shown, Stop> {
        // Silence takes long, and so does the pause between two connections to a site that limits them: a limit
        // may have forgotten one of them by chance, but hardly twice.
        let times = if is_silent(&first) || self.pace.interval().is_some() {
            2
        } else {
            1
        };
        let mut reply = first;
        for _ in 0..times {
            if self.left() <= self.patience() {
                return Err(self.end("there was no time to ask again what it had not answered"));
            }
            let answered;
            (reply, answered) = self.beside(pieces, known).await?;
            if !self.needs_proof(&reply) {
                return Ok(Shown::Answer(reply));
            }
            if !answered {
                return Ok(Shown::Limit);
            }
        }
        Ok(Shown::Refusal(reply))
    }

    /// Sends a hello, and directly after it one that was answered before. Returns the response to the first, and
    /// whether the second is answered.
    async fn beside(&self, pieces: &[&[u8]], known: &Known) -> Result<(Reply, bool), Stop> {
        if self.limits.per_site.min(self.limits.per_address) < 2 {
            return self.before(pieces, known).await;
        }
        let Ok(_slots) = self.slots.acquire_many(2).await else {
            return Err(Stop);
        };
        self.pace.enter_together(2).await;
        let _permits = self.enter(2).await;
        let mut first = self.converse(pieces);
        let fastest = self.counts.borrow().connect_us.iter().min().copied();
        let round_trip = Duration::from_micros(fastest.unwrap_or_default());
        if let Ok(reply) = timeout(round_trip + HEAD_START, &mut first).await {
            let answered = !self.needs_proof(&reply) || self.is_answered(known).await;
            return Ok((reply, answered));
        }
        let mut second = Box::pin(self.is_answered(known));
        tokio::select! {
            reply = &mut first => {
                let answered = !self.needs_proof(&reply) || second.await;
                Ok((reply, answered))
            }
            answered = &mut second => {
                let reply = timeout(self.usual(), first).await.unwrap_or(SILENT);
                Ok((reply, answered))
            }
        }
    }

    /// Does the same with one connection at a time. Additional known hellos compensate for the connections that a
    /// limit can have forgotten during the wait for the first.
    async fn before(&self, pieces: &[&[u8]], known: &Known) -> Result<(Reply, bool), Stop> {
        let Ok(_slot) = self.slots.acquire().await else {
            return Err(Stop);
        };
        if self.pace.interval().is_some() {
            // This many at a time exceed a limit that was just met.
            sleep(WINDOW.min(self.left())).await;
        }
        self.pace.enter_together(1).await;
        let begun = Instant::now();
        let reply = {
            let _permit = self.enter(1).await;
            let reply = timeout(self.usual(), self.converse(pieces)).await;
            reply.unwrap_or(SILENT)
        };
        if !self.needs_proof(&reply) {
            return Ok((reply, true));
        }
        let recent = self.pace.recent().within(WINDOW);
        let forgotten = begun.elapsed().div_duration_f64(WINDOW) * recent as f64;
        for _ in 0..=(2.0 * forgotten) as usize {
            self.pace.count(1);
            let _permit = self.enter(1).await;
            if !self.is_answered(known).await {
                return Ok((reply, false));
            }
        }
        Ok((reply, true))
    }

    async fn is_answered(&self, known: &Known) -> bool {
        let reply = self.converse(&[&known.bytes]).await;
        self.is_as_before(reply, known).await
    }

    /// Waits until a hello is answered that was answered before.
    pub(super) async fn wait_for(&self, known: &Known, recent: &Recent) -> Result<(), Stop> {
        const LONGEST: u32 = 6;
        let begun = Instant::now();
        for wait in Pace::waits() {
            let over = begun.elapsed() + wait > self.limits.timeout * LONGEST;
            if over || self.left() <= wait {
                break;
            }
            sleep(wait).await;
            let reply = self.send_once(&[&known.bytes]).await;
            if self.is_as_before(reply, known).await {
                // Where the limit answers, many of the recent connections were over it.
                let window = if self.careful.get() {
                    WINDOW
                } else {
                    begun.elapsed()
                };
                let interval = self.pace.slow_down(recent, window);
                self.note(format!(
                    "limits connections: it did not answer for {:.0} s. From then on the scan made one connection every {:.1} s",
                    begun.elapsed().as_secs_f64(),
                    interval.as_secs_f64()
                ));
                return Ok(());
            }
        }
        Err(self.end("stopped answering, also hellos that it had answered before"))
    }

    /// Returns whether a reply may be unrelated to the hello. An alert is related, unless the site was seen to
    /// refuse a hello that it had answered before; its refusals are verified together at the end.
    fn needs_proof(&self, reply: &Reply) -> bool {
        use ConnectionError as E;
        match reply {
            Reply::Alert(_) => self.careful.get(),
            Reply::Failed(E::NotTls(_) | E::Malformed(_) | E::StartTls(_)) => true,
            reply => says_nothing(reply),
        }
    }

    fn end(&self, why: &str) -> Stop {
        self.ended.borrow_mut().get_or_insert(why.to_owned());
        Stop
    }
}

fn is_silent(reply: &Reply) -> bool {
    use ConnectionError as E;
    matches!(reply, Reply::Failed(E::Silent | E::Connect(_)))
}

/// Returns whether the connection failed in a way that may be unrelated to the hello.
pub(super) fn says_nothing(reply: &Reply) -> bool {
    use ConnectionError as E;
    matches!(
        reply,
        Reply::Failed(E::Connect(_) | E::Closed | E::Reset | E::Silent)
    )
}
