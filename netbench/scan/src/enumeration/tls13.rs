//! Enumeration of TLS 1.3, where suite and group are chosen independently: one hello takes away one of
//! each.

use netbench_model::{
    scan::{Learned, Order},
    tls::TlsVersion,
};

use super::{
    found::{SuiteFound, VersionFound},
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
    /// Whether a hello for TLS 1.3 alone has been answered.
    answered: bool,
    /// Whether something was found that a hello with all that was left did not show.
    is_divided: bool,
    refusal: Refusal,
    /// What was chosen of what was found, where that was offered behind all that was refused.
    read: Option<Choice>,
}

/// Suites, or groups: what is left to offer, and what the server chose.
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

    /// As many as the server reads, those first that it has.
    fn few(&self, reads: &Reads) -> Vec<u16> {
        let all: Vec<u16> = self.found.iter().chain(&self.left).copied().collect();
        reads.few(&all)
    }
}

/// Goes on from `first`, what the server chose of everything.
pub(super) async fn enumerate<R: Responder>(
    server: &R,
    reads: &Reads,
    offered: &ProbeHello,
    first: Choice,
) -> VersionFound {
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
    let suite = |code: &u16| SuiteFound {
        code: *code,
        group: None,
        prime: None,
    };
    VersionFound {
        version: TlsVersion::Tls13,
        refusal: None,
        suites: state.suites.found.iter().map(suite).collect(),
        suite_order,
        groups: state.groups.found,
        group_order,
        groups_learned: state.learned,
        complete,
    }
}

impl<R: Responder> Enumerator<'_, R> {
    async fn all(&mut self) -> Result<(), Stop> {
        // A refusal of fewer suites and fewer groups does not say which of the two it was.
        let mut apart = false;
        // Groups that the server has chosen: a refusal is then of the suites.
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
            // A server that takes the client's order does not pass over any of what is left.
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
            // One hello with key shares: what is encrypted after it holds the certificates, and with
            // some servers the list of their groups.
            let shares = if !self.shared && !suites_alone {
                self.shared = true;
                Shares::Of(groups.clone())
            } else {
                Shares::Empty
            };
            let hello = tls13_hello(suites, groups, shares);
            match self.answer(hello.clone()).await? {
                ProbeAnswer::Chose(choice) if choice.version == TlsVersion::Tls13.code() => {
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
                        // The order is not the client's: what is left may be wanted less.
                        self.groups.choices.never_mind();
                        continue;
                    }
                    self.chose(&hello, &choice);
                }
                // It may be that the server refuses groups that it does not know.
                ProbeAnswer::Refused(refusal)
                    if suites_alone && !known_groups && !refuses_offer(refusal) =>
                {
                    known_groups = true;
                }
                _ if suites_alone => self.suites.done = true,
                _ if groups_alone => self.groups.done = true,
                _ => apart = true,
            }
            self.suites.done |= self.suites.left.is_empty();
            self.groups.done |= self.groups.left.is_empty();
        }
        Ok(())
    }

    fn fits(&self, hello: &ProbeHello, choice: &Choice) -> bool {
        let suite = hello.suites.contains(&choice.suite);
        // Without a share of its own the server must name a group (RFC 8446 section 4.1.4).
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
                // Chosen because its share was there. It is offered again, to learn its place.
                return;
            }
            if self.groups.left.contains(&group) {
                self.groups.choices.add(&hello.groups, group);
            }
            self.groups.take(group);
        }
    }

    /// Takes the groups that the server lists, in its order.
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

    /// A choice of no group is a refusal: wolfSSL has a HelloRetryRequest for it.
    async fn answer(&self, hello: ProbeHello) -> Result<ProbeAnswer, Stop> {
        Ok(match self.server.answer(hello).await? {
            ProbeAnswer::Chose(choice) if choice.group.is_none() && self.answered => {
                ProbeAnswer::Refused(Refusal::Malformed)
            }
            answer => answer,
        })
    }

    /// One hello with what was refused, and behind it what was chosen, the other way round: the server chooses of the latter, if
    /// it has read the former and has none of it. What it does not read, it is asked for one by one.
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
        let order = |order| match order {
            // Not all of it was chosen from lists with all.
            Order::Server | Order::Client if self.is_divided => Order::Unknown,
            order => order,
        };
        Ok((
            order(judge(suites, &offered.0, &self.suites.found, suite)),
            match judge(groups, &offered.1, &self.groups.found, group) {
                // The list is the server's own; that it takes the client's first contradicts nothing.
                Order::Mixed if self.learned == Learned::Stated => Order::Stated,
                judged => order(judged),
            },
        ))
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

    /// What the server chooses of these; none where it refuses them.
    async fn ask(&mut self, suites: Vec<u16>, groups: Vec<u16>) -> Result<Option<Choice>, Stop> {
        let hello = tls13_hello(suites, groups, Shares::Empty);
        match self.answer(hello.clone()).await? {
            ProbeAnswer::Chose(choice) if choice.version == TlsVersion::Tls13.code() => {
                if !self.fits(&hello, &choice) {
                    return Err(Stop);
                }
                self.answered = true;
                Ok(Some(choice))
            }
            ProbeAnswer::Chose(_) => Ok(None),
            ProbeAnswer::Refused(refusal) => {
                self.refusal = refusal;
                Ok(None)
            }
        }
    }

    /// What was chosen, the other way round. A server that refuses that has told nothing by its refusals.
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

    /// Each suite and each group that was refused, alone.
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
        // A list that the server states itself is whole.
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

/// Whether an alert is one for having no suite or no group in common: `handshake_failure` or
/// `insufficient_security` (RFC 8446 section 4.1.1).
fn refuses_offer(refusal: Refusal) -> bool {
    matches!(refusal, Refusal::Alert(40 | 71))
}

fn tls13_hello(suites: Vec<u16>, groups: Vec<u16>, shares: Shares) -> ProbeHello {
    let mut versions = vec![TlsVersion::Tls13];
    // Only a client that speaks an older version too may offer them (RFC 8446 section 4.2.7).
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
