use netbench_model::breakage::Breakage;

use crate::catalogue::entries;

/// Returns the breakages that other projects met, with and without a prediction.
///
/// # Panics
/// Panics if the file in the source is wrong, which a test finds.
pub fn breakages() -> Vec<Breakage> {
    entries("breakage", include_str!("../../catalogue/breakages.toml"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use netbench_model::breakage::Predicts;

    use super::*;
    use crate::{BUILT_IN, catalogue, chains, stores::layouts};

    #[test]
    fn every_breakage_names_a_case_that_there_is() {
        let all = breakages();
        let servers = catalogue(BUILT_IN).unwrap().into_iter();
        let servers: Vec<String> = servers.map(|case| case.record.name).collect();
        let chains = chains::own(jiff::Timestamp::now()).into_iter();
        let chains: Vec<String> = chains.map(|chain| chain.case.name).collect();
        let layouts: Vec<String> = layouts().into_iter().map(|layout| layout.name).collect();
        let ships = include_str!("../../../stacks/rustls/stack.toml").lines();
        let ships: Vec<String> = ships
            .filter_map(|line| {
                Some(
                    line.strip_prefix("name = \"")?
                        .trim_end_matches('"')
                        .to_owned(),
                )
            })
            .collect();
        for breakage in &all {
            let thread = &breakage.thread;
            assert!(breakage.url.starts_with("https://"), "{thread}");
            let number = thread.rsplit('#').next().unwrap();
            assert!(breakage.url.ends_with(number), "{thread}: {}", breakage.url);
            let Some(by) = breakage.answer.tried() else {
                continue;
            };
            let known = match by.command {
                Predicts::Servers => &servers,
                Predicts::Chains => &chains,
                Predicts::Roots => &layouts,
                Predicts::Ship => &ships,
            };
            assert!(known.contains(&by.case), "{thread}: no case {}", by.case);
        }
        let kinds: HashSet<_> = all.iter().map(|it| (&it.url, &it.what)).collect();
        assert_eq!(kinds.len(), all.len(), "one is there twice");
    }

    #[test]
    fn every_listed_thread_has_a_row_whatever_its_outcome() {
        let listed = include_str!("../../catalogue/breakage-threads.txt").lines();
        let listed: Vec<&str> = listed.filter(|line| !line.starts_with("# ")).collect();
        let all = breakages();
        let rows: HashSet<&str> = all.iter().map(|it| it.thread.as_str()).collect();
        for thread in &listed {
            assert!(rows.contains(thread), "{thread} has no row");
        }
        let listed: HashSet<&str> = listed.into_iter().collect();
        assert_eq!(listed, rows, "a row is not on the list");
        assert!(listed.len() >= 80, "a thread was taken off the list");
    }
}
