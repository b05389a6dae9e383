//! Enumeration of SSL 3.0 to TLS 1.2, in which the suite is chosen first and the group belongs to it.

mod division;
mod hidden;
mod narrowing;

use std::cell::Cell;

use netbench_model::{
    scan::{Learned, Order, SuiteScan, VersionScan},
    tls::{Authentication, CipherSuite, Group, KeyExchange, TlsVersion},
};

use super::{
    order::{Choices, judge, reversed},
    rank::{offered_groups, offered_suites},
    reads::{Reads, most_read, rest},
    responder::{Choice, Limit, ProbeHello, Refusal, Responder, Stop},
};

pub(crate) use hidden::find_hidden;

/// Whether groups are enumerated as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Groups {
    Wanted,
    Known,
}

struct Enumerator<'a, R> {
    server: &'a R,
    reads: &'a Reads,
    version: TlsVersion,
    left: Vec<u16>,
    found: Vec<SuiteScan>,
    choices: Choices,
    all_groups: Vec<u16>,
    groups_left: Vec<u16>,
    groups: Vec<u16>,
    group_choices: Choices,
    groups_done: bool,
    /// Whether suites were chosen beside fewer groups.
    narrowed: bool,
    /// Whether the order of the suites cannot be determined.
    unsure: bool,
    /// A suite that the server chose in a hello without the groups that other suites may need. Its place among the
    /// found suites is right only if the server follows the client's order.
    assumed: Option<u16>,
    /// Whether the suites were first offered in several hellos, so that the order in which they were found is
    /// meaningless.
    divided: bool,
    /// The choice among the found values, when they were offered after all refused ones.
    read: Option<Choice>,
    /// The server's last way of refusing.
    refusal: Cell<Option<Refusal>>,
}

/// Curves of certificates' keys.
const CERTIFICATE_CURVES: [u16; 3] = [0x17, 0x18, 0x19];

/// The result of a hello with all refused values, followed by the chosen ones.
enum Control {
    /// The server reads the hello, and chose this of the values that it had chosen.
    Read(Choice),
    /// The server chose a value that it had not chosen before.
    More,
    /// The server refuses the hello.
    Unread,
}

/// Continues from `first`, the server's choice from everything.
pub(super) async fn enumerate<R: Responder>(
    server: &R,
    reads: &Reads,
    version: TlsVersion,
    offered: &ProbeHello,
    first: Choice,
    groups: Groups,
) -> VersionScan {
    let all_groups = offered_groups(version);
    let mut state = Enumerator {
        server,
        reads,
        version,
        left: offered_suites(version),
        found: Vec::new(),
        choices: Choices::default(),
        groups_left: all_groups.clone(),
        all_groups,
        groups: Vec::new(),
        group_choices: Choices::default(),
        groups_done: groups == Groups::Known,
        narrowed: false,
        unsure: false,
        assumed: None,
        divided: false,
        read: None,
        refusal: Cell::new(None),
    };
    if !offered.suites.contains(&first.suite) {
        state.say_not_offered();
    }
    // Lists of suites that the server reads, that of the first hello first, in the order in which it was read.
    let mut together = offered.suites.clone();
    together.retain(|code| state.left.contains(code));
    let others = rest(&state.left, &together);
    let mut parts: Vec<Vec<u16>> = vec![together];
    parts.extend(reads.parts(&others));
    state.divided = parts.len() > 1;
    state.chose(&offered.suites, &first);
    state.chose_group(&offered.groups, &first);
    let orders = if state.found.is_empty() {
        Err(Stop)
    } else {
        state.all(parts).await
    };
    let complete = orders.is_ok();
    let (suite_order, group_order) = orders.unwrap_or((Order::Unknown, Order::Unknown));
    let known = groups == Groups::Known;
    let groups_found = state.groups.iter().filter(|_| !known);
    VersionScan {
        version,
        supported: true,
        refusal: None,
        suites: state.found,
        suite_order,
        groups: groups_found.map(|code| Group(*code).into()).collect(),
        group_order: if known { Order::Unknown } else { group_order },
        groups_learned: Learned::Chosen,
        complete,
    }
}

impl<R: Responder> Enumerator<'_, R> {
    /// Offers everything, until the rest is refused in a hello that the server reads; then determines the orders.
    async fn all(&mut self, parts: Vec<Vec<u16>>) -> Result<(Order, Order), Stop> {
        for part in parts {
            self.suites(part).await?;
        }
        self.groups_alone().await?;
        if self.reads.is_limited() {
            let lists = self.reads.parts_beside_others(&self.left);
            self.halve(lists).await?;
            return self.orders(None).await;
        }
        let mut choice = self.read.take();
        while choice.is_none() {
            match self.control().await? {
                Control::Read(read) => choice = Some(read),
                Control::More => {
                    self.divided = true;
                    self.suites(self.left.clone()).await?;
                    self.groups_alone().await?;
                }
                Control::Unread => {
                    let had_groups = !self.groups.is_empty();
                    self.divide().await?;
                    if !had_groups && !self.groups_done && !self.elliptic().is_empty() {
                        self.groups_alone().await?;
                        self.groups_one_by_one().await?;
                    }
                    break;
                }
            }
        }
        self.orders(choice).await
    }

    /// Offers these suites, and ever fewer of them.
    async fn suites(&mut self, mut part: Vec<u16>) -> Result<(), Stop> {
        let mut narrows = !self.groups_done && !self.divided && !self.reads.is_limited();
        let first = self.found.first().map(|found| found.code);
        let first = first.filter(|code| is_ecdhe_rsa(*code) && !self.groups.is_empty());
        if let Some(known) = first.filter(|_| narrows) {
            narrows = false;
            self.narrow(&part, known).await?;
        }
        loop {
            part.retain(|code| self.left.contains(code));
            if part.is_empty() {
                return Ok(());
            }
            // A server that follows the client's order does not skip any of these, which saves one hello.
            let is_behind = (self.groups_done || self.elliptic().is_empty())
                && !self.divided
                && self.follows_client();
            let mut choice = None;
            if is_behind {
                choice = self.behind(&part).await?;
                if self.read.is_some() {
                    return Ok(());
                }
            }
            if choice.is_none() {
                choice = self.offer_these(&part, &self.all_groups).await?;
            }
            let Some(choice) = choice else {
                return Ok(());
            };
            // The curve of an ECDSA certificate must be among the groups: with fewer of them, such a suite may
            // have been skipped.
            self.unsure |= self.narrowed && is_ecdhe_ecdsa(choice.suite);
            self.chose(&part, &choice);
            if self.groups.is_empty() {
                self.chose_group(&self.reads.few(&self.all_groups), &choice);
            }
            if narrows && is_ecdhe_rsa(choice.suite) && choice.group.is_some() {
                narrows = false;
                self.narrow(&part, choice.suite).await?;
            }
        }
    }

    /// Offers these suites and the rest of the groups, followed by the chosen ones. Returns a choice of one of the suites. If
    /// the client's order explains the choice of a known one, the server has read and refused all others.
    async fn behind(&mut self, part: &[u16]) -> Result<Option<Choice>, Stop> {
        let known = self.known_groups();
        let groups = [rest(&self.groups_left, &known), known].concat();
        let suites = [part, &reversed(&self.codes())].concat();
        let choice = self.offer(suites, groups).await?;
        Ok(match choice {
            Some(choice) if part.contains(&choice.suite) => Some(choice),
            Some(choice) if !self.is_new(&choice) => {
                let shows_groups = self.groups.is_empty() || choice.group.is_some();
                if self.follows_client_to(&choice) && shows_groups {
                    self.read = Some(choice);
                }
                None
            }
            _ => None,
        })
    }

    /// Enumerates the groups, with suites that are known to need one.
    async fn groups_alone(&mut self) -> Result<(), Stop> {
        let suites = self.elliptic();
        if suites.is_empty() || self.groups_done {
            return Ok(());
        }
        let by_certificate = !suites.iter().any(|code| is_ecdhe_rsa(*code));
        let mut curves: Vec<u16> = Vec::new();
        let room = if by_certificate {
            CERTIFICATE_CURVES.len()
        } else {
            0
        };
        for part in self.reads.group_parts(&self.groups_left, room) {
            while self.groups_left.iter().any(|group| part.contains(group)) {
                let mut groups = part.clone();
                groups.retain(|group| self.groups_left.contains(group));
                groups.extend(&curves);
                let choice = self.offer(suites.clone(), groups.clone()).await?;
                // Some servers choose a curve that was not offered if they support none of the offered ones
                // (wolfSSL).
                let choice = choice.filter(|it| it.group.is_none_or(|g| groups.contains(&g)));
                let Some(choice) = choice else {
                    // The curve of an ECDSA certificate must be among the groups (RFC 8422 section 5.1).
                    if !by_certificate || !curves.is_empty() {
                        break;
                    }
                    curves = self.certificate_curves();
                    if curves.is_empty() {
                        break;
                    }
                    continue;
                };
                match choice.group {
                    Some(group) if curves.contains(&group) => {
                        let curve = Group(group).to_string();
                        self.server.note(format!(
                            "TLS {}: groups that the server wants less than {curve} do not show; \
                             {curve} was offered each time, as the certificate may be on it",
                            self.version
                        ));
                        return Ok(());
                    }
                    Some(group) if self.groups_left.contains(&group) => {
                        self.chose_group(&groups, &choice);
                    }
                    _ => return Err(Stop),
                }
            }
        }
        Ok(())
    }

    /// Returns found curves that may be those of an ECDSA certificate.
    fn certificate_curves(&self) -> Vec<u16> {
        let mut curves = CERTIFICATE_CURVES.to_vec();
        curves.retain(|curve| self.groups.contains(curve));
        curves
    }

    fn codes(&self) -> Vec<u16> {
        self.found.iter().map(|found| found.code).collect()
    }

    /// Returns found suites that need a group: those with RSA, if there are any.
    fn elliptic(&self) -> Vec<u16> {
        let mut suites = self.codes();
        suites.retain(|code| is_ecdhe_rsa(*code));
        if suites.is_empty() {
            suites = self.codes();
            suites.retain(|code| is_ecdhe(*code));
        }
        suites
    }

    /// Determines the orders; `choice` is the one from the found values in reverse order.
    async fn orders(&mut self, mut choice: Option<Choice>) -> Result<(Order, Order), Stop> {
        if self.divided && self.found.len() > 1 {
            self.in_one_hello().await?;
            choice = None;
        }
        let found = self.codes();
        let offered = (reversed(&found), self.known_groups());
        if choice.is_none() && !self.unsure && (found.len() > 1 || self.groups.len() > 1) {
            choice = self.offer(offered.0.clone(), offered.1.clone()).await?;
        }
        let evidence = self.choices.evidence(&found);
        let mut suite = choice.as_ref().map(|choice| choice.suite);
        if judge(evidence, &offered.0, &found, suite) == Order::Mixed && !self.divided {
            // Some servers consider more of a list than the values that they support (Go).
            let alone = self.offer(offered.0.clone(), offered.1.clone()).await?;
            suite = alone.map(|choice| choice.suite);
        }
        let mut suite_order = judge(evidence, &offered.0, &found, suite);
        if suite_order == Order::Server {
            if self.is_misplaced() && !self.divided {
                self.in_one_hello().await?;
            }
            if self.unsure {
                suite_order = Order::Unknown;
            }
        }
        let evidence = self.group_choices.evidence(&self.groups);
        let group = choice.and_then(|choice| choice.group);
        Ok((
            suite_order,
            judge(evidence, &offered.1, &self.groups, group),
        ))
    }

    /// Sends an offer. Returns `None` if the server refused it, or chose another version.
    async fn offer(&self, suites: Vec<u16>, groups: Vec<u16>) -> Result<Option<Choice>, Stop> {
        let groups = self.reads.with_finite_fields(&groups);
        let hello = ProbeHello::new(self.version, &suites, &groups);
        Ok(match self.server.answer(hello).await? {
            Ok(choice) if choice.version == self.version.code() => Some(choice),
            Ok(_) => None,
            Err(refusal) => {
                self.refusal.set(Some(refusal));
                if refusal == Refusal::Silent {
                    self.server.note(format!(
                        "TLS {}: was silent instead of refusing",
                        self.version
                    ));
                }
                None
            }
        })
    }

    /// Sends an offer. Returns `None` if the server refused it.
    ///
    /// # Errors
    /// Returns an error if the server chose another suite.
    async fn offer_these(&self, suites: &[u16], groups: &[u16]) -> Result<Option<Choice>, Stop> {
        let groups = self.reads.few(groups);
        let choice = self.offer(suites.to_vec(), groups).await?;
        if choice
            .as_ref()
            .is_some_and(|choice| !suites.contains(&choice.suite))
        {
            self.say_not_offered();
            return Err(Stop);
        }
        Ok(choice)
    }

    fn chose(&mut self, offered: &[u16], choice: &Choice) {
        if self.left.contains(&choice.suite) {
            self.choices.add(offered, choice.suite);
        }
        self.take(choice);
    }

    fn take(&mut self, choice: &Choice) {
        if self.left.contains(&choice.suite) {
            self.left.retain(|code| *code != choice.suite);
            self.found.push(choice.clone().into());
        }
    }

    /// Returns whether a suite that needs a group was found after the assumed one: the server may prefer it.
    fn is_misplaced(&self) -> bool {
        let codes = self.found.iter().map(|found| Some(found.code));
        self.assumed.is_some()
            && codes
                .skip_while(|code| *code != self.assumed)
                .flatten()
                .any(is_ecdhe)
    }

    fn chose_group(&mut self, offered: &[u16], choice: &Choice) {
        let Some(group) = choice.group else { return };
        if self.groups_left.contains(&group) {
            self.group_choices.add(offered, group);
            self.groups_left.retain(|code| *code != group);
            self.groups.push(group);
        }
    }

    fn say_not_offered(&self) {
        self.server.note(format!(
            "TLS {}: chose a suite that was not offered",
            self.version
        ));
    }

    /// Returns whether the client's order explains this choice among the found values in reverse order.
    fn follows_client_to(&self, choice: &Choice) -> bool {
        reversed(&self.codes()).first() == Some(&choice.suite)
    }

    fn follows_client(&self) -> bool {
        // The last choice is not conclusive yet: the values after it are not known.
        self.choices
            .following(&self.codes())
            .is_some_and(|told| told >= 4)
    }
}

/// Returns the key exchange and the authentication of a suite.
fn exchange(code: u16) -> Option<(KeyExchange, Authentication)> {
    let facts = CipherSuite(code).facts()?;
    Some((facts.key_exchange, facts.authentication))
}

fn is_ecdhe(code: u16) -> bool {
    matches!(exchange(code), Some((KeyExchange::Ecdhe, _)))
}

fn is_ecdhe_ecdsa(code: u16) -> bool {
    exchange(code) == Some((KeyExchange::Ecdhe, Authentication::Ecdsa))
}

/// Returns whether the suite needs a group and no curve of a certificate.
pub(crate) fn is_ecdhe_rsa(code: u16) -> bool {
    exchange(code) == Some((KeyExchange::Ecdhe, Authentication::Rsa))
}
