//! Tests whether a server has read everything that it refused, and ever shorter hellos if it has not.

use super::{
    Choice, Choices, Control, Enumerator, Limit, ProbeHello, Refusal, Responder, Stop, exchange,
    is_ecdhe_rsa, most_read, offered_suites, rest, reversed,
};

/// The length of a refused list that is offered one by one.
const FEW: usize = 8;

impl<R: Responder> Enumerator<'_, R> {
    /// Returns the chosen groups in reverse order, or common ones if groups are not enumerated.
    pub(super) fn known_groups(&self) -> Vec<u16> {
        if self.groups.is_empty() {
            self.reads.few(&self.all_groups)
        } else {
            reversed(&self.groups)
        }
    }

    /// Offers the refused values, followed by the chosen ones in reverse order. The server chooses one of the
    /// latter if it has read the former and supports none of them.
    pub(super) async fn control(&mut self) -> Result<Control, Stop> {
        let suites = [self.left.clone(), reversed(&self.codes())].concat();
        let known = self.known_groups();
        let groups = [rest(&self.groups_left, &known), known].concat();
        let Some(mut choice) = self.offer(suites, groups.clone()).await? else {
            return Ok(Control::Unread);
        };
        if self.is_new(&choice) {
            return self.more(&groups, &choice);
        }
        if !self.groups.is_empty() && choice.group.is_none() {
            // The server may have skipped suites that need a group, because it read no supported group.
            match self
                .offer(reversed(&self.elliptic()), groups.clone())
                .await?
            {
                Some(elliptic) if self.is_new(&elliptic) => return self.more(&groups, &elliptic),
                Some(elliptic) => choice.group = elliptic.group,
                None => return Ok(Control::Unread),
            }
        }
        Ok(Control::Read(choice))
    }

    pub(super) fn is_new(&self, choice: &Choice) -> bool {
        let group = choice.group.filter(|_| !self.groups_done);
        !self.codes().contains(&choice.suite)
            || group.is_some_and(|group| !self.groups.is_empty() && !self.groups.contains(&group))
    }

    fn more(&mut self, groups: &[u16], choice: &Choice) -> Result<Control, Stop> {
        let known = self.found.len() + self.groups.len();
        self.take(choice);
        if !self.groups_done {
            self.chose_group(groups, choice);
        }
        if self.found.len() + self.groups.len() == known {
            self.say_not_offered();
            return Err(Stop);
        }
        Ok(Control::More)
    }

    /// Finds the refused values that the server does not read, by ever shorter hellos.
    pub(super) async fn divide(&mut self) -> Result<(), Stop> {
        let known = self.offer(reversed(&self.codes()), self.known_groups());
        if known.await?.is_none() {
            self.server.note(format!(
                "TLS {}: refused what it had chosen before; there may be more suites and groups",
                self.version
            ));
            return Err(Stop);
        }
        if !self.groups.is_empty() {
            self.groups_one_by_one().await?;
        }
        self.halve(vec![self.left.clone()]).await
    }

    /// Offers each group alone, if the server does not read the refused groups together with the chosen ones.
    pub(super) async fn groups_one_by_one(&mut self) -> Result<(), Stop> {
        let suites = self.elliptic();
        let known = self.known_groups();
        let left = rest(&self.groups_left, &known);
        let read = most_read(self.server, left.len(), |count| {
            let groups = [&left[..count], known.as_slice()].concat();
            ProbeHello::new(self.version, &suites, &groups)
        });
        let Some((most, how)) = read.await? else {
            return Ok(());
        };
        let one_more = [&left[most..=most], known.as_slice()].concat();
        if self.offer(suites.clone(), one_more).await?.is_some() {
            let most = most + known.len();
            self.server.cannot_read(Limit::Groups(most), how);
        }
        let by_certificate = !suites.iter().any(|code| is_ecdhe_rsa(*code));
        let curves = if by_certificate {
            self.certificate_curves()
        } else {
            Vec::new()
        };
        for group in left {
            let groups = [vec![group], curves.clone()].concat();
            if let Some(choice) = self.offer(suites.clone(), groups.clone()).await?
                && choice.group == Some(group)
            {
                self.chose_group(&groups, &choice);
            }
        }
        self.group_choices = Choices::default();
        Ok(())
    }

    /// Offers each of these lists alone, followed by the chosen values; and its halves, if that is refused.
    pub(super) async fn halve(&mut self, mut lists: Vec<Vec<u16>>) -> Result<(), Stop> {
        self.divided = true;
        let groups = self.reads.few(&self.all_groups);
        let mut fatal = Vec::new();
        let mut how = Refusal::Malformed;
        let follows_client = self.follows_client();
        if follows_client {
            lists = lists.iter().flat_map(|list| by_exchange(list)).collect();
        }
        while let Some(mut list) = lists.pop() {
            list.retain(|code| self.left.contains(code));
            if list.is_empty() {
                continue;
            }
            let mut known = reversed(&self.codes());
            let offers = if follows_client {
                // Such a server does not skip a suite of the list.
                known.truncate(1);
                vec![[list.clone(), known].concat()]
            } else {
                known.truncate(self.reads.room(list.len()));
                vec![list.clone(), [list.clone(), known].concat()]
            };
            let mut chosen = None;
            for offer in offers {
                chosen = self.offer(offer, groups.clone()).await?;
                if chosen.is_some() {
                    break;
                }
            }
            match chosen {
                Some(choice) if list.contains(&choice.suite) => {
                    self.take(&choice);
                    lists.push(list);
                }
                Some(choice) if self.codes().contains(&choice.suite) => {}
                Some(_) => {
                    self.say_not_offered();
                    return Err(Stop);
                }
                None if list.len() == 1 => {
                    how = self.refusal.get().unwrap_or(how);
                    fatal.extend(list);
                }
                // Where one of a few is refused, most are: they are of one kind.
                None if follows_client && list.len() <= FEW => {
                    lists.extend(list.into_iter().map(|code| vec![code]));
                }
                None => {
                    let half = list.split_off(list.len() / 2);
                    lists.extend([half, list]);
                }
            }
        }
        if !fatal.is_empty() {
            self.reads.hides.set(true);
            self.server.cannot_read(Limit::These(fatal), how);
        }
        Ok(())
    }

    /// Offers the suites that were found in several hellos again in one, to find their order.
    pub(super) async fn in_one_hello(&mut self) -> Result<(), Stop> {
        let mut left = offered_suites(self.version);
        left.retain(|code| self.codes().contains(code));
        if left.len() > self.reads.most_suites() {
            self.unsure = true;
            return Ok(());
        }
        let groups = self.reads.few(&self.all_groups);
        let mut order = Vec::new();
        self.choices = Choices::default();
        while left.len() > 1 {
            let choice = self.offer(left.clone(), groups.clone()).await?;
            let Some(choice) = choice.filter(|choice| left.contains(&choice.suite)) else {
                self.unsure = true;
                return Ok(());
            };
            self.choices.add(&left, choice.suite);
            left.retain(|code| *code != choice.suite);
            order.push(choice.suite);
        }
        order.extend(left);
        self.unsure = false;
        self.found
            .sort_by_key(|found| order.iter().position(|code| *code == found.code));
        Ok(())
    }
}

/// Groups the suites by key exchange and authentication.
fn by_exchange(suites: &[u16]) -> Vec<Vec<u16>> {
    let mut kinds: Vec<(_, Vec<u16>)> = Vec::new();
    for code in suites {
        let kind = exchange(*code);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, of_kind)) => of_kind.push(*code),
            None => kinds.push((kind, vec![*code])),
        }
    }
    kinds.into_iter().map(|(_, of_kind)| of_kind).collect()
}
