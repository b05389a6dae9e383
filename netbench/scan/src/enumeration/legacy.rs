//! Enumeration of SSL 3.0 to TLS 1.2, where the suite is chosen first and the group belongs to it.

use netbench_model::{
    scan::{Learned, Order},
    tls::{Authentication, CipherSuite, Group, KeyExchange, TlsVersion},
};

use super::{
    found::{SuiteFound, VersionFound},
    order::{Choices, Evidence, judge, reversed},
    rank::{offered_groups, offered_suites},
    responder::{Choice, ProbeAnswer, ProbeHello, Refusal, Responder, Shares, Stop},
};

/// Whether to enumerate groups too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Groups {
    Wanted,
    Known,
}

struct Enumerator<'a, R> {
    server: &'a R,
    version: TlsVersion,
    left: Vec<u16>,
    found: Vec<SuiteFound>,
    choices: Choices,
    all_groups: Vec<u16>,
    groups_left: Vec<u16>,
    groups: Vec<u16>,
    group_choices: Choices,
    groups_done: bool,
    /// Whether suites were chosen from fewer groups.
    narrowed: bool,
    /// Whether the order of the suites cannot be told.
    unsure: bool,
    /// What was chosen of all suites in reverse order, where a hello for groups told it.
    of_reversed: Option<u16>,
}

/// Whether groups are enumerated together with the suites, where each hello leaves out one of each. As
/// long as an elliptic suite is chosen, some group was common, and no suite was skipped for lack of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Narrowing {
    /// Not yet: no elliptic suite has been chosen.
    NotYet,
    /// Every hello takes one group away.
    On,
    /// A hello with fewer groups did not get an elliptic suite: is it the groups or the suites? It is
    /// asked again with all groups.
    Checking,
    /// Finished.
    Over,
}

/// Goes on from `first`, what the server chose of everything.
pub(super) async fn enumerate<R: Responder>(
    server: &R,
    version: TlsVersion,
    offered: &ProbeHello,
    first: Choice,
    groups: Groups,
) -> VersionFound {
    let all_groups = offered_groups(version);
    let mut state = Enumerator {
        server,
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
        of_reversed: None,
    };
    if !offered.suites.contains(&first.suite) {
        state.say_not_offered();
    }
    state.chose(&offered.suites, &first);
    state.chose_group(&offered.groups, &first);
    let mut complete = !state.found.is_empty() && state.suites().await.is_ok();
    if complete {
        complete = state.groups_alone().await.unwrap_or(false);
    }
    let orders = if complete {
        state.orders().await
    } else {
        Err(Stop)
    };
    let (suite_order, group_order) = orders.unwrap_or((Order::Unknown, Order::Unknown));
    VersionFound {
        version,
        refusal: None,
        suites: state.found,
        suite_order,
        groups: if groups == Groups::Known {
            Vec::new()
        } else {
            state.groups
        },
        group_order: if groups == Groups::Known {
            Order::Unknown
        } else {
            group_order
        },
        groups_learned: Learned::Chosen,
        complete,
    }
}

impl<R: Responder> Enumerator<'_, R> {
    async fn suites(&mut self) -> Result<(), Stop> {
        let first = self.found.first().map(|found| found.code);
        let mut narrowing = match first {
            _ if self.groups_done => Narrowing::Over,
            Some(code) if is_ecdhe_rsa(code) && !self.groups.is_empty() => Narrowing::On,
            _ => Narrowing::NotYet,
        };
        while !self.left.is_empty() {
            if narrowing == Narrowing::NotYet && self.follows_client() {
                narrowing = Narrowing::On;
            }
            if narrowing == Narrowing::On && self.groups_left.is_empty() {
                narrowing = Narrowing::Checking;
            }
            let elliptic_first = matches!(narrowing, Narrowing::On | Narrowing::Checking);
            let suites = if elliptic_first {
                let (mut first, rest): (Vec<u16>, Vec<u16>) =
                    self.left.iter().partition(|code| is_ecdhe_rsa(**code));
                first.extend(rest);
                first
            } else {
                self.left.clone()
            };
            let narrow = narrowing == Narrowing::On;
            let groups = if narrow {
                self.groups_left.clone()
            } else if self.groups_done || !self.groups.is_empty() {
                // Which of them is taken shows nothing: common ones are cheap.
                reversed(&self.all_groups)
            } else {
                self.all_groups.clone()
            };
            let choice = self.offer(suites.clone(), groups.clone()).await?;
            let elliptic = choice
                .as_ref()
                .is_some_and(|choice| choice.group.is_some() && is_ecdhe_rsa(choice.suite));
            if narrow && !elliptic {
                // The server may have chosen this for lack of a group: it shows nothing of the order.
                narrowing = Narrowing::Checking;
                continue;
            }
            let Some(choice) = choice else { break };
            if !suites.contains(&choice.suite) {
                self.say_not_offered();
                return Err(Stop);
            }
            if narrowing == Narrowing::Checking {
                // With all groups it is an elliptic suite again: they were used up.
                self.groups_done = elliptic;
                narrowing = Narrowing::Over;
            }
            self.narrowed |= narrow;
            // The curve of an ECDSA certificate must be among the groups: with fewer of them such a
            // suite may have been passed over.
            self.unsure |= self.narrowed && is_ecdhe_ecdsa(choice.suite);
            self.chose(&suites, &choice);
            if narrow || self.groups.is_empty() {
                self.chose_group(&groups, &choice);
            }
            if narrowing == Narrowing::NotYet && elliptic {
                narrowing = Narrowing::On;
            }
        }
        Ok(())
    }

    /// The groups, with suites that are known to need one. False if not all of them can be seen.
    async fn groups_alone(&mut self) -> Result<bool, Stop> {
        let known: Vec<u16> = self.found.iter().map(|found| found.code).collect();
        let mut suites: Vec<u16> = known.iter().copied().filter(|c| is_ecdhe_rsa(*c)).collect();
        // The curve of an ECDSA certificate must be among the groups (RFC 8422 section 5.1), so that
        // it hides the groups that the server wants less.
        let by_certificate = suites.is_empty();
        if by_certificate {
            suites = known.into_iter().filter(|code| is_ecdhe(*code)).collect();
        }
        if suites.is_empty() || self.groups_done {
            return Ok(true);
        }
        // Where these are all suites, the first answer tells whose order theirs is.
        let all = suites.len() == self.found.len();
        if all {
            suites = reversed(&suites);
        }
        const CERTIFICATE_CURVES: [u16; 3] = [0x17, 0x18, 0x19];
        let mut curves: Vec<u16> = Vec::new();
        while !self.groups_left.is_empty() {
            let mut groups = self.groups_left.clone();
            groups.retain(|group| !curves.contains(group));
            groups.extend(&curves);
            let choice = self.offer(suites.clone(), groups.clone()).await?;
            if all && self.of_reversed.is_none() {
                self.of_reversed = choice.as_ref().map(|choice| choice.suite);
            }
            match choice {
                Some(choice) => match choice.group {
                    Some(group) if curves.contains(&group) => {
                        let curve = Group(group).to_string();
                        self.server.note(format!(
                            "TLS {}: groups that the server wants less than {curve} do not show; \
                             {curve} was offered each time, as the certificate may be on it",
                            self.version
                        ));
                        return Ok(true);
                    }
                    Some(group) if self.groups_left.contains(&group) => {
                        self.chose_group(&groups, &choice);
                    }
                    _ => return Ok(false),
                },
                None if by_certificate && curves.is_empty() => {
                    curves = CERTIFICATE_CURVES
                        .into_iter()
                        .filter(|curve| self.groups.contains(curve))
                        .collect();
                    if curves.is_empty() {
                        return Ok(true);
                    }
                }
                None => return Ok(true),
            }
        }
        Ok(true)
    }

    async fn orders(&mut self) -> Result<(Order, Order), Stop> {
        let found: Vec<u16> = self.found.iter().map(|found| found.code).collect();
        let suites = self.choices.evidence(&found);
        let groups = self.group_choices.evidence(&self.groups);
        let settled = |evidence| matches!(evidence, Evidence::Single | Evidence::FollowsClient);
        let offered = (reversed(&found), reversed(&self.groups));
        let suites_settled = settled(suites) || self.of_reversed.is_some();
        let choice = if suites_settled && settled(groups) {
            None
        } else {
            // All others after them: a suite must not be skipped for lack of one, such as the
            // curve of an ECDSA certificate.
            let mut groups = offered.1.clone();
            let others = self.all_groups.iter().filter(|g| !offered.1.contains(g));
            groups.extend(others);
            self.offer(offered.0.clone(), groups).await?
        };
        let suite = choice.as_ref().map(|choice| choice.suite);
        let suite = suite.or(self.of_reversed);
        let suite_order = match judge(suites, &offered.0, &found, suite) {
            Order::Server if self.unsure => Order::Unknown,
            order => order,
        };
        let group_order = match choice.and_then(|choice| choice.group) {
            Some(group) => judge(groups, &offered.1, &self.groups, Some(group)),
            // The choice was of a suite without a group.
            None => match groups {
                Evidence::HasOwn => Order::Server,
                Evidence::Single => Order::Single,
                Evidence::FollowsClient => Order::Client,
                Evidence::MayFollowClient => Order::Unknown,
            },
        };
        Ok((suite_order, group_order))
    }

    /// None if the server refused, or chose another version.
    async fn offer(&self, suites: Vec<u16>, groups: Vec<u16>) -> Result<Option<Choice>, Stop> {
        let hello = ProbeHello {
            versions: vec![self.version],
            suites,
            groups,
            shares: Shares::Empty,
        };
        Ok(match self.server.answer(hello).await? {
            ProbeAnswer::Chose(choice) if choice.version == self.version.code() => Some(choice),
            ProbeAnswer::Chose(_) => None,
            ProbeAnswer::Refused(refusal) => {
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

    fn chose(&mut self, offered: &[u16], choice: &Choice) {
        if self.left.contains(&choice.suite) {
            self.choices.add(offered, choice.suite);
        }
        self.take(choice);
    }

    fn take(&mut self, choice: &Choice) {
        if self.left.contains(&choice.suite) {
            self.left.retain(|code| *code != choice.suite);
            self.found.push(SuiteFound {
                code: choice.suite,
                group: choice.group,
                prime: choice.prime.clone(),
            });
        }
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

    fn follows_client(&self) -> bool {
        let found: Vec<u16> = self.found.iter().map(|found| found.code).collect();
        // The last choice says nothing yet: what is behind it is not known.
        self.choices.following(&found).is_some_and(|told| told >= 4)
    }
}

fn is_ecdhe(code: u16) -> bool {
    CipherSuite(code)
        .facts()
        .is_some_and(|s| s.key_exchange == KeyExchange::Ecdhe)
}

fn is_ecdhe_ecdsa(code: u16) -> bool {
    is_ecdhe(code)
        && CipherSuite(code)
            .facts()
            .is_some_and(|s| s.authentication == Authentication::Ecdsa)
}

fn is_ecdhe_rsa(code: u16) -> bool {
    is_ecdhe(code)
        && CipherSuite(code)
            .facts()
            .is_some_and(|s| s.authentication == Authentication::Rsa)
}
