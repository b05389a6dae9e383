//! Suites that a server hides. A server that chooses by its own order may choose a suite that it cannot use, and refuse
//! the hello (mbedTLS); such a suite hides all that the server prefers less.

use std::collections::{BTreeMap, BTreeSet};

use netbench_model::{
    scan::{Order, VersionScan},
    tls::CipherSuite,
};

use super::{Choice, ProbeHello, Responder, Stop, offered_groups, offered_suites};
use crate::enumeration::is_everywhere;

/// Offers the suites that were not found class by class, and finds those that were hidden. Returns whether the list is
/// now complete.
///
/// # Errors
/// Returns an error if the site no longer responds.
pub(crate) async fn find_hidden<R: Responder>(
    server: &R,
    found: &mut VersionScan,
) -> Result<bool, Stop> {
    let known = found.suites.last().map(|suite| suite.code);
    let mut search = Search {
        server,
        found,
        refused: BTreeSet::new(),
    };
    let Some(taken) = search.take_any().await? else {
        return Ok(true);
    };
    let Some(known) = known else {
        return Ok(false);
    };
    let preferred = search.offer(&[known, taken]).await?;
    let is_known_least = preferred.is_some_and(|choice| choice.suite == taken);
    let mut least = if is_known_least { known } else { taken };
    let mut unusable = Vec::new();
    loop {
        let last = search.divide(least, &mut unusable).await?;
        if last == least {
            break;
        }
        least = last;
    }
    search.sort().await?;
    // Servers that do not agree behind one address also choose what was refused.
    let is_cause = !unusable.is_empty()
        && search
            .offer(&[&unusable[..], &[least]].concat())
            .await?
            .is_none()
        && search.offer(&[least]).await?.is_some();
    if !is_cause || search.take_any().await?.is_some() {
        return Ok(false);
    }
    let names: Vec<String> = unusable
        .iter()
        .map(|code| CipherSuite(*code).to_string())
        .collect();
    server.note(format!(
        "TLS {}: refuses hellos in which it prefers a suite that it cannot use: {}",
        found.version,
        names.join(", ")
    ));
    Ok(true)
}

struct Search<'a, R> {
    server: &'a R,
    found: &'a mut VersionScan,
    /// Lists that the server has refused alone.
    refused: BTreeSet<Vec<u16>>,
}

impl<R: Responder> Search<'_, R> {
    /// Offers each class of suites alone, until the server chooses one.
    async fn take_any(&mut self) -> Result<Option<u16>, Stop> {
        for class in self.classes() {
            if let Some(choice) = self.offer(&class).await? {
                return Ok(Some(self.take(choice)));
            }
            self.refused.insert(class);
        }
        Ok(None)
    }

    /// Offers each class together with the found suite that the server prefers least: if it refuses, the class has an
    /// unusable suite. Returns the suite that it now prefers least.
    async fn divide(&mut self, mut least: u16, unusable: &mut Vec<u16>) -> Result<u16, Stop> {
        let mut lists = self.classes();
        while let Some(mut list) = lists.pop() {
            list.retain(|code| !self.has(*code) && !unusable.contains(code));
            if list.is_empty() {
                continue;
            }
            let beside = [&list[..], &[least]].concat();
            match self.offer(&beside).await? {
                Some(choice) if choice.suite == least => {
                    if self.refused.contains(&list) {
                        continue;
                    }
                    if let Some(choice) = self.offer(&list).await? {
                        least = self.take(choice);
                        lists.push(list);
                    } else {
                        self.refused.insert(list);
                    }
                }
                Some(choice) => {
                    self.take(choice);
                    lists.push(list);
                }
                None if list.len() == 1 => unusable.extend(list),
                None => {
                    let half = list.split_off(list.len() / 2);
                    lists.extend([half, list]);
                }
            }
        }
        Ok(least)
    }

    /// Sorts the suites by the server's preference.
    async fn sort(&mut self) -> Result<(), Stop> {
        if self.found.suite_order == Order::Single {
            self.found.suite_order = Order::Unknown;
        }
        let mut left = self.found.suite_codes();
        let mut order = Vec::new();
        while left.len() > 1 {
            let Some(choice) = self.offer(&left).await? else {
                self.found.suite_order = Order::Unknown;
                return Ok(());
            };
            left.retain(|code| *code != choice.suite);
            order.push(choice.suite);
        }
        order.extend(left);
        let suites = &mut self.found.suites;
        suites.sort_by_key(|suite| order.iter().position(|code| *code == suite.code));
        Ok(())
    }

    /// Sends an offer. Returns `None` if the server refused it, or chose something else.
    async fn offer(&self, suites: &[u16]) -> Result<Option<Choice>, Stop> {
        let version = self.found.version;
        let hello = ProbeHello::new(version, suites, &offered_groups(version));
        let answer = self.server.answer(hello.clone()).await?;
        Ok(answer.ok().filter(|choice| hello.offers(choice)))
    }

    fn take(&mut self, choice: Choice) -> u16 {
        let code = choice.suite;
        if !self.has(code) {
            self.found.suites.push(choice.into());
        }
        code
    }

    fn has(&self, code: u16) -> bool {
        self.found.suites.iter().any(|suite| suite.code == code)
    }

    /// Groups the suites that were not found by key exchange; common ones separately, at the end, and these by
    /// authentication.
    fn classes(&self) -> Vec<Vec<u16>> {
        let mut classes = BTreeMap::<_, Vec<u16>>::new();
        for code in offered_suites(self.found.version) {
            let Some(suite) = CipherSuite(code).facts().filter(|_| !self.has(code)) else {
                continue;
            };
            let common = is_everywhere(code).then(|| format!("{:?}", suite.authentication));
            let class = (common, format!("{:?}", suite.key_exchange));
            classes.entry(class).or_default().push(code);
        }
        classes.into_values().collect()
    }
}
