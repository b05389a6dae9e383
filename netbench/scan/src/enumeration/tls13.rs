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
    responder::{Choice, ProbeAnswer, ProbeHello, Refusal, Responder, Shares, Stop},
};

struct Enumerator<'a, R> {
    server: &'a R,
    suites: Side,
    groups: Side,
    learned: Learned,
    /// Whether the hello with key shares has been sent.
    shared: bool,
    /// Whether a hello for TLS 1.3 alone has been answered.
    answered: bool,
    /// What was chosen of all suites in reverse order, where a hello for groups told it.
    of_reversed: Option<u16>,
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
}

/// Goes on from `first`, what the server chose of everything.
pub(super) async fn enumerate<R: Responder>(
    server: &R,
    offered: &ProbeHello,
    first: Choice,
) -> VersionFound {
    let mut state = Enumerator {
        server,
        suites: Side::new(offered_suites(TlsVersion::Tls13)),
        groups: Side::new(offered_groups(TlsVersion::Tls13)),
        learned: Learned::Chosen,
        shared: false,
        answered: false,
        of_reversed: None,
    };
    let mut complete = state.fits(offered, &first);
    let mut orders = Err(Stop);
    if complete {
        state.chose(offered, &first);
        complete = state.all().await.is_ok();
        orders = state.orders().await;
        complete &= orders.is_ok() && state.told_by_refusals().await;
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
            let suites = if groups_alone {
                // Whose order theirs is, the first answer tells too.
                reversed(&self.suites.found)
            } else {
                self.suites.left.clone()
            };
            let groups = if suites_alone && known_groups {
                self.groups.found.clone()
            } else if suites_alone {
                self.groups.all()
            } else {
                self.groups.left.clone()
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
            match self.server.answer(hello.clone()).await? {
                ProbeAnswer::Chose(choice) if choice.version == TlsVersion::Tls13.code() => {
                    if !self.fits(&hello, &choice) {
                        return Err(Stop);
                    }
                    self.answered = true;
                    if groups_alone && self.suites.done {
                        self.of_reversed.get_or_insert(choice.suite);
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

    /// Whether refusals so far were of suites and of groups. They were not if the server refuses whatever is
    /// for TLS 1.3 alone, also what it has chosen before.
    async fn told_by_refusals(&mut self) -> bool {
        if self.answered {
            return true;
        }
        let (suites, groups) = (self.suites.found.clone(), self.groups.found.clone());
        let answer = self
            .server
            .answer(tls13_hello(suites, groups, Shares::Empty));
        match answer.await {
            Ok(ProbeAnswer::Chose(choice)) => choice.version == TlsVersion::Tls13.code(),
            Ok(ProbeAnswer::Refused(refusal)) => {
                self.server.note(format!(
                    "TLS 1.3: refused ({refusal}) what it had chosen before; there may be more suites and groups"
                ));
                false
            }
            Err(Stop) => false,
        }
    }

    /// One hello with both lists reversed.
    async fn orders(&mut self) -> Result<(Order, Order), Stop> {
        let suites = self.suites.choices.evidence(&self.suites.found);
        let groups = if self.learned == Learned::Stated && self.groups.found.len() > 1 {
            Evidence::HasOwn
        } else {
            self.groups.choices.evidence(&self.groups.found)
        };
        let settled = |evidence| matches!(evidence, Evidence::Single | Evidence::FollowsClient);
        let offered = tls13_hello(
            reversed(&self.suites.found),
            reversed(&self.groups.found),
            Shares::Empty,
        );
        let suites_settled = settled(suites) || self.of_reversed.is_some();
        let (suite, group) = if suites_settled && settled(groups) {
            (None, None)
        } else {
            match self.server.answer(offered.clone()).await? {
                ProbeAnswer::Chose(choice) if choice.version == TlsVersion::Tls13.code() => {
                    self.answered = true;
                    (Some(choice.suite), choice.group)
                }
                ProbeAnswer::Chose(_) | ProbeAnswer::Refused(_) => (None, None),
            }
        };
        Ok((
            judge(
                suites,
                &offered.suites,
                &self.suites.found,
                suite.or(self.of_reversed),
            ),
            match judge(groups, &offered.groups, &self.groups.found, group) {
                // The list is the server's own; that it takes the client's first contradicts nothing.
                Order::Mixed if self.learned == Learned::Stated => Order::Stated,
                order => order,
            },
        ))
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
