//! Enumeration of TLS 1.3, in which suite and group are chosen independently: each hello omits one more of each.

use netbench_model::{
    scan::{Learned, Order, SuiteScan, VersionScan},
    tls::{CipherSuite, Group, TlsVersion},
};

use super::{
    order::{Choices, Evidence, judge, reversed},
    rank::{
        is_common_group, is_common_suite, is_of_older_versions, offered_groups, offered_suites,
    },
    reads::Reads,
    responder::{Choice, ProbeAnswer, ProbeHello, Refusal, Responder, Shares, Stop},
};

struct Enumerator<'a, R> {
    server: &'a R,
    reads: &'a Reads,
    suites: Side,
    groups: Side,
    learned: Learned,
    /// Whether the hello with key shares has been sent.
    shared: bool,
    /// Whether a hello for only TLS 1.3 has been answered.
    answered: bool,
    /// Whether a value was found that a hello with the whole rest did not show.
    is_divided: bool,
    refusal: Refusal,
    /// The choice among the found values, when they were offered after all refused ones.
    read: Option<Choice>,
}

/// Suites or groups: those left to offer, and those that the server chose.
struct Side {
    left: Vec<u16>,
    found: Vec<u16>,
    done: bool,
    choices: Choices,
}

impl Side {
    fn new(left: Vec<u16>) -> Self {
        Self {
            left,
            found: Vec::new(),
            done: false,
            choices: Choices::default(),
        }
    }

    fn take(&mut self, chosen: u16) {
        self.left.retain(|code| *code != chosen);
        if !self.found.contains(&chosen) {
            self.found.push(chosen);
        }
    }

    fn all(&self) -> Vec<u16> {
        self.left.iter().chain(&self.found).copied().collect()
    }

    /// Returns as many as the server reads, beginning with those that it supports.
    fn few(&self, reads: &Reads) -> Vec<u16> {
        let all: Vec<u16> = self.found.iter().chain(&self.left).copied().collect();
        reads.few(&all)
    }
}

/// Continues from `first`, the server's choice from everything.
pub(super) async fn enumerate<R: Responder>(
    server: &R,
    reads: &Reads,
    offered: &ProbeHello,
    first: Choice,
) -> VersionScan {
    let mut state = Enumerator {
        server,
        reads,
        suites: Side::new(offered_suites(TlsVersion::Tls13)),
        groups: Side::new(offered_groups(TlsVersion::Tls13)),
        learned: Learned::Chosen,
        shared: false,
        answered: false,
        is_divided: false,
        refusal: Refusal::Closed,
        read: None,
    };
    let mut complete = state.fits(offered, &first);
    let mut orders = Err(Stop);
    if complete {
        state.chose(offered, &first);
        complete = state.all().await.is_ok();
        orders = state.orders().await;
        complete &= orders.is_ok();
    }
    let (suite_order, group_order) = orders.unwrap_or((Order::Unknown, Order::Unknown));
    let suites = state.suites.found.iter();
    let groups = state.groups.found.iter();
    VersionScan {
        version: TlsVersion::Tls13,
        supported: true,
        refusal: None,
        suites: suites
            .map(|code| SuiteScan::new(CipherSuite(*code)))
            .collect(),
        suite_order,
        groups: groups.map(|code| Group(*code).into()).collect(),
        group_order,
        groups_learned: state.learned,
        complete,
    }
}

impl<R: Responder> Enumerator<'_, R> {
    async fn all(&mut self) -> Result<(), Stop> {
        // A refusal of fewer suites and fewer groups does not show which of the two was the reason.
        let mut apart = false;
        // Groups that the server has chosen: a refusal then concerns the suites.
        let mut known_groups = false;
        while !(self.suites.done && self.groups.done) {
            let suites_alone = self.groups.done
                || !self.suites.done
                    && (apart || !self.suites.left.iter().any(|s| is_common_suite(*s)));
            let groups_alone = !suites_alone
                && (self.suites.done
                    || apart
                    || !self.groups.left.iter().any(|g| is_common_group(*g)));
            let follows = self.groups.choices.following(&self.groups.found);
            // A server that follows the client's order does not skip any remaining value.
            let behind = groups_alone
                && self.suites.done
                && self.learned == Learned::Chosen
                && self.shared
                && follows.is_some_and(|told| told >= 3);
            let suites = if behind {
                [self.suites.left.clone(), reversed(&self.suites.found)].concat()
            } else if groups_alone {
                reversed(&self.suites.found)
            } else {
                self.suites.left.clone()
            };
            let groups = if behind {
                let found = reversed(&self.groups.found);
                self.reads.few(&[self.groups.left.clone(), found].concat())
            } else if suites_alone && known_groups {
                self.groups.found.clone()
            } else if suites_alone {
                if self.reads.is_limited() {
                    self.groups.few(self.reads)
                } else {
                    self.groups.all()
                }
            } else {
                self.reads.few(&self.groups.left)
            };
            // One hello with key shares: the encrypted data after it contains the certificates, and with some
            // servers the list of their groups.
            let shares = if !self.shared && !suites_alone {
                self.shared = true;
                Shares::Of(groups.clone())
            } else {
                Shares::Empty
            };
            let hello = tls13_hello(suites, groups, shares);
            match self.answer(hello.clone()).await? {
                Ok(choice) if choice.version == TlsVersion::Tls13.code() => {
                    if !self.fits(&hello, &choice) {
                        return Err(Stop);
                    }
                    self.answered = true;
                    if behind && !self.is_new(&choice) {
                        let (suites, groups) = self.behind_the_rest();
                        let is_first =
                            choice.group == reversed(&self.groups.found).first().copied();
                        if is_first && hello.suites == suites && hello.groups == groups {
                            self.read = Some(choice);
                            self.groups.done = true;
                            continue;
                        }
                        // The order is not the client's: the server may prefer the remaining groups less.
                        self.groups.choices.never_mind();
                        continue;
                    }
                    self.chose(&hello, &choice);
                }
                // The server may refuse groups that it does not know.
                Err(refusal) if suites_alone && !known_groups && !refuses_offer(refusal) => {
                    known_groups = true;
                }
                _ if suites_alone => self.suites.done = true,
                _ if groups_alone => self.groups.done = true,
                _ => apart = true,
            }
            self.suites.done |= self.suites.left.is_empty();
            // A list that the server states is complete.
            self.groups.done |= self.groups.left.is_empty() || self.learned == Learned::Stated;
        }
        Ok(())
    }

    fn fits(&self, hello: &ProbeHello, choice: &Choice) -> bool {
        let suite = hello.suites.contains(&choice.suite);
        // Without a key share, the server must name a group (RFC 8446 section 4.1.4).
        let group = choice.group.is_some_and(|g| hello.groups.contains(&g));
        if choice.group.is_none() {
            self.server.note("TLS 1.3: chose no group".to_owned());
        } else if !suite || !group {
            self.server
                .note("TLS 1.3: chose what was not offered".to_owned());
        }
        suite && group
    }

    fn chose(&mut self, hello: &ProbeHello, choice: &Choice) {
        if self.suites.left.contains(&choice.suite) {
            self.suites.choices.add(&hello.suites, choice.suite);
        }
        self.suites.take(choice.suite);
        let shared = matches!(&hello.shares, Shares::Of(groups) if !groups.is_empty());
        if let Some(stated) = &choice.stated_groups {
            self.state(stated);
        } else if let Some(group) = choice.group {
            if shared {
                // The group was chosen because its share was present. It is offered again, to find its position.
                return;
            }
            if self.groups.left.contains(&group) {
                self.groups.choices.add(&hello.groups, group);
            }
            self.groups.take(group);
        }
    }

    /// Records the groups that the server lists, in its order.
    fn state(&mut self, stated: &[u16]) {
        self.learned = Learned::Stated;
        let mut found: Vec<u16> = Vec::new();
        for code in stated {
            let known = self.groups.left.contains(code) || self.groups.found.contains(code);
            if known && !found.contains(code) {
                found.push(*code);
            }
        }
        for code in std::mem::take(&mut self.groups.found) {
            if !found.contains(&code) {
                found.insert(0, code);
            }
        }
        self.groups.left.retain(|code| !found.contains(code));
        self.groups.found = found;
    }

    /// Sends a hello. A choice without a group is a refusal: wolfSSL sends a HelloRetryRequest for it.
    async fn answer(&self, hello: ProbeHello) -> Result<ProbeAnswer, Stop> {
        Ok(match self.server.answer(hello).await? {
            Ok(choice) if choice.group.is_none() && self.answered => Err(Refusal::Malformed),
            answer => answer,
        })
    }

    /// Determines the orders by one hello with the refused values, followed by the chosen ones in reverse order:
    /// the server chooses one of the latter if it has read the former and supports none of them. Values that it
    /// does not read are offered one by one.
    async fn orders(&mut self) -> Result<(Order, Order), Stop> {
        let mut choice = self.read.take();
        while choice.is_none() {
            let (suites, groups) = self.behind_the_rest();
            if groups.len() > self.reads.few(&groups).len() {
                break;
            }
            match self.ask(suites, groups).await? {
                Some(new) if self.is_new(&new) => {
                    self.suites.take(new.suite);
                    if let Some(group) = new.group {
                        self.groups.take(group);
                    }
                    self.is_divided = true;
                }
                Some(known) => choice = Some(known),
                None => break,
            }
        }
        if choice.is_none() {
            self.one_by_one().await?;
        }
        if self.is_divided || choice.is_none() {
            choice = None;
            if self.suites.found.len() > 1 || self.groups.found.len() > 1 || !self.answered {
                choice = self.known().await?;
            }
        }
        let suites = self.suites.choices.evidence(&self.suites.found);
        let groups = if self.learned == Learned::Stated && self.groups.found.len() > 1 {
            Evidence::HasOwn
        } else {
            self.groups.choices.evidence(&self.groups.found)
        };
        let offered = (reversed(&self.suites.found), reversed(&self.groups.found));
        let (suite, group) =
            choice.map_or((None, None), |choice| (Some(choice.suite), choice.group));
        Ok((
            self.known_order(judge(suites, &offered.0, &self.suites.found, suite)),
            match judge(groups, &offered.1, &self.groups.found, group) {
                // The list is the server's own; choosing the client's first does not contradict it.
                Order::Mixed if self.learned == Learned::Stated => Order::Stated,
                judged => self.known_order(judged),
            },
        ))
    }

    fn known_order(&self, judged: Order) -> Order {
        match judged {
            // Not all values were chosen from lists with all of them.
            Order::Server | Order::Client if self.is_divided => Order::Unknown,
            judged => judged,
        }
    }

    fn behind_the_rest(&self) -> (Vec<u16>, Vec<u16>) {
        let suites = [self.suites.left.clone(), reversed(&self.suites.found)].concat();
        let groups = [self.groups.left.clone(), reversed(&self.groups.found)].concat();
        (suites, groups)
    }

    fn is_new(&self, choice: &Choice) -> bool {
        let group = choice
            .group
            .is_some_and(|group| !self.groups.found.contains(&group));
        !self.suites.found.contains(&choice.suite) || group
    }

    /// Returns the server's choice among these, or `None` if it refuses them.
    async fn ask(&mut self, suites: Vec<u16>, groups: Vec<u16>) -> Result<Option<Choice>, Stop> {
        let hello = tls13_hello(suites, groups, Shares::Empty);
        match self.answer(hello.clone()).await? {
            Ok(choice) if choice.version == TlsVersion::Tls13.code() => {
                if !self.fits(&hello, &choice) {
                    return Err(Stop);
                }
                self.answered = true;
                Ok(Some(choice))
            }
            Ok(_) => Ok(None),
            Err(refusal) => {
                self.refusal = refusal;
                Ok(None)
            }
        }
    }

    /// Offers the chosen values in reverse order. If a server refuses them, its refusals are not conclusive.
    async fn known(&mut self) -> Result<Option<Choice>, Stop> {
        let known = (reversed(&self.suites.found), reversed(&self.groups.found));
        let choice = self.ask(known.0, known.1).await?;
        if choice.is_none() {
            self.server.note(format!(
                "TLS 1.3: refused ({}) what it had chosen before; there may be more suites and groups",
                self.refusal
            ));
            return Err(Stop);
        }
        Ok(choice)
    }

    /// Offers each refused suite and each refused group alone.
    async fn one_by_one(&mut self) -> Result<(), Stop> {
        self.known().await?;
        let (suites, groups) = self.behind_the_rest();
        let reads_suites = self.ask(suites, self.groups.found.clone()).await?.is_some();
        if !reads_suites {
            for suite in self.suites.left.clone() {
                let choice = self.ask(vec![suite], self.groups.found.clone()).await?;
                if choice.is_some() {
                    self.suites.take(suite);
                    self.is_divided = true;
                }
            }
        }
        // A list that the server states is complete.
        if self.learned == Learned::Stated
            || self.ask(self.suites.found.clone(), groups).await?.is_some()
        {
            return Ok(());
        }
        for group in self.groups.left.clone() {
            let choice = self.ask(self.suites.found.clone(), vec![group]).await?;
            if choice.is_some() {
                self.groups.take(group);
                self.is_divided = true;
            }
        }
        Ok(())
    }
}

/// Returns whether an alert means that no suite or no group is common: `handshake_failure` or
/// `insufficient_security` (RFC 8446 section 4.1.1).
fn refuses_offer(refusal: Refusal) -> bool {
    matches!(refusal, Refusal::Alert(40 | 71))
}

fn tls13_hello(suites: Vec<u16>, groups: Vec<u16>, shares: Shares) -> ProbeHello {
    let mut versions = vec![TlsVersion::Tls13];
    // Only a client that also supports an older version may offer them (RFC 8446 section 4.2.7).
    if groups.iter().any(|group| is_of_older_versions(*group)) {
        versions.push(TlsVersion::Tls12);
    }
    ProbeHello {
        versions,
        suites,
        groups,
        shares,
    }
}
