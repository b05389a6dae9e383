//! Enumeration of groups together with suites: each hello omits one of each.

use super::{Choice, Enumerator, Responder, Stop, is_ecdhe, is_ecdhe_rsa};

impl<R: Responder> Enumerator<'_, R> {
    /// Offers ever fewer groups along with ever fewer of these suites. `known` is a chosen one that needs a group.
    pub(super) async fn narrow(&mut self, part: &[u16], known: u16) -> Result<(), Stop> {
        let (offered, first) = self.with_groups(part, known).await?;
        let Ok(first) = without_group(first) else {
            return Ok(());
        };
        let mut plain = self.left_of(part);
        plain.retain(|code| !is_ecdhe_rsa(*code));
        if offered.contains(&known) {
            self.groups_done = true;
            if let Some(first) = first {
                self.assumed = Some(first.suite);
                self.chose(&plain, &first);
            }
            return Ok(());
        }
        let mut others = plain;
        others.retain(|code| first.as_ref().is_none_or(|first| *code != first.suite));
        let (had_groups, second) = self.beside(known, &others).await?;
        let Ok(second) = without_group(second) else {
            return Ok(());
        };
        // The server preferred the known suite to all others: only without a group does it choose one of them.
        self.groups_done = true;
        // Without a group in that hello, the first choice shows no order, and is made again.
        if first.is_some() && !had_groups {
            return Ok(());
        }
        if let Some(first) = first {
            self.chose(&offered, &first);
        }
        let Some(second) = second else {
            return Ok(());
        };
        let mut left = self.left_of(part);
        left.retain(|code| *code != second.suite);
        if left.is_empty() {
            self.chose(&others, &second);
            return Ok(());
        }
        match self.offer_these(&left, &self.all_groups).await? {
            // It may be preferred to the second choice, or not: both are made again.
            Some(third) if third.group.is_some() || is_ecdhe(third.suite) => {}
            third => {
                self.chose(&others, &second);
                if let Some(third) = third {
                    self.chose(&left, &third);
                }
            }
        }
        Ok(())
    }

    /// Offers the suites with the groups that are left, as long as both are chosen. Returns the last offer and its answer. A server
    /// that follows the client's order is offered the known suite as well, before those without a group.
    async fn with_groups(
        &mut self,
        part: &[u16],
        known: u16,
    ) -> Result<(Vec<u16>, Option<Choice>), Stop> {
        loop {
            let (mut suites, others): (Vec<u16>, Vec<u16>) = self
                .left_of(part)
                .into_iter()
                .partition(|code| is_ecdhe_rsa(*code));
            suites.extend(self.follows_client().then_some(known));
            suites.extend(others);
            let groups = self.groups_left.clone();
            if suites.is_empty() || groups.is_empty() {
                return Ok((suites, None));
            }
            let choice = self.offer_these(&suites, &groups).await?;
            match choice {
                Some(choice) if is_ecdhe_rsa(choice.suite) && is_among(&groups, &choice) => {
                    self.narrowed = true;
                    self.chose(&suites, &choice);
                    self.chose_group(&groups, &choice);
                }
                choice => return Ok((suites, choice)),
            }
        }
    }

    /// Offers a suite that needs a group, followed by others that do not, as long as it is chosen. Returns whether it was, and the
    /// last answer.
    async fn beside(&mut self, known: u16, others: &[u16]) -> Result<(bool, Option<Choice>), Stop> {
        let suites = [&[known][..], others].concat();
        let mut was_chosen = false;
        loop {
            let groups = self.groups_left.clone();
            if groups.is_empty() {
                return Ok((was_chosen, None));
            }
            match self.offer_these(&suites, &groups).await? {
                Some(choice) if choice.suite == known && is_among(&groups, &choice) => {
                    was_chosen = true;
                    self.chose_group(&groups, &choice);
                }
                choice => return Ok((was_chosen, choice)),
            }
        }
    }

    fn left_of(&self, part: &[u16]) -> Vec<u16> {
        let left = part.iter().filter(|code| self.left.contains(code));
        left.copied().collect()
    }
}

fn is_among(groups: &[u16], choice: &Choice) -> bool {
    choice.group.is_some_and(|group| groups.contains(&group))
}

/// Returns the choice of a suite without a group, or no choice.
///
/// # Errors
/// Returns the choice of a suite with a group, which shows nothing of the other groups.
fn without_group(choice: Option<Choice>) -> Result<Option<Choice>, Choice> {
    match choice {
        Some(choice) if choice.group.is_some() || is_ecdhe(choice.suite) => Err(choice),
        choice => Ok(choice),
    }
}
