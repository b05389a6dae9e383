use std::collections::{BTreeMap, BTreeSet};

use netbench_model::coverage::{
    Category, Matrix, MatrixCell, Protocol, Role, RunnerId, StackSupport, Support, TestOutcome,
};

use crate::{
    Catalog, Expects, KnownShim, ShimResults,
    capability::{Said, in_words, is_unreported},
    topic::{TOPICS, Topics},
};

/// The index of the protocol itself in [`TOPICS`].
const HANDSHAKE: usize = 0;

/// The flag of tests that read before a write is finished. Whether that is permitted is a rule of a library's
/// interface, and a failure shows only that rule, for each feature that is tested with it.
const UNFINISHED_WRITE: &str = "-read-with-unfinished-write";

/// Returns the support of every feature by each shim's stack, by role and protocol. A test counts for its
/// feature, and not against it where the test fails for lack of another feature.
pub fn matrix_of(runner: &RunnerId, catalog: &Catalog, shims: &[ShimResults<'_>]) -> Matrix {
    let mut places: BTreeMap<Place, Vec<&str>> = BTreeMap::new();
    for (name, expects, about) in catalog.tests() {
        let Some(protocol) = about.protocol.filter(|_| expects == Expects::Success) else {
            continue;
        };
        for row in Topics::all().of(name) {
            if !TOPICS[row].versions.has(protocol) {
                continue;
            }
            let place = Place {
                row,
                role: about.role,
                protocol,
            };
            places.entry(place).or_default().push(name);
        }
    }
    let judges: Vec<Judge<'_>> = shims
        .iter()
        .map(|shim| Judge::new(catalog, *shim, &places))
        .collect();
    let cells = places.iter().map(|(place, tests)| MatrixCell {
        feature: TOPICS[place.row].name.to_owned(),
        role: place.role,
        protocol: place.protocol,
        stacks: judges
            .iter()
            .map(|judge| judge.support(*place, tests))
            .collect(),
    });
    Matrix {
        runner: runner.clone(),
        shims: shims.iter().map(|shim| shim.shim.to_owned()).collect(),
        cells: cells.collect(),
        warnings: Vec::new(),
    }
}

/// A cell: a row of [`TOPICS`], a role and a protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    row: usize,
    role: Role,
    protocol: Protocol,
}

/// One shim with its results.
struct Judge<'a> {
    shim: ShimResults<'a>,
    catalog: &'a Catalog,
    /// The cells with core tests, and whether one of these passes.
    there: BTreeMap<Place, bool>,
    /// The flags that the shim refused in any test.
    refused: BTreeSet<String>,
}

/// The effect of a test on a feature.
enum Counts {
    For,
    Against(String),
    Apart(String),
}

impl<'a> Judge<'a> {
    fn new(
        catalog: &'a Catalog,
        shim: ShimResults<'a>,
        places: &BTreeMap<Place, Vec<&str>>,
    ) -> Self {
        let there = places.iter().map(|(place, tests)| {
            let core = core_of(*place, tests).into_iter();
            let mut results = core.filter_map(|test| shim.results.tests.get(test));
            let passes = results.any(|result| result.outcome == TestOutcome::Passed);
            (*place, passes)
        });
        let there = there.collect();
        let results = shim.results.tests.values();
        let refused = results.filter(|result| result.outcome == TestOutcome::Unsupported);
        Self {
            shim,
            catalog,
            there,
            // A fresh result has the shim's message in several lines, a stored one in one.
            refused: refused
                .filter_map(|result| refused_flag(&result.line()))
                .collect(),
        }
    }

    fn support(&self, place: Place, tests: &[&str]) -> StackSupport {
        let mut is = StackSupport {
            support: Support::Works,
            passed: 0,
            against: 0,
            apart: 0,
            why: None,
        };
        let (mut against, mut apart) = (Vec::new(), None);
        for test in tests {
            match self.counts(place, test) {
                Counts::For => is.passed += 1,
                Counts::Against(why) => {
                    is.against += 1;
                    if !against.contains(&why) {
                        against.push(why);
                    }
                }
                Counts::Apart(why) => {
                    is.apart += 1;
                    apart.get_or_insert(why);
                }
            }
        }
        let protocol = Place {
            row: HANDSHAKE,
            ..place
        };
        let shim = KnownShim::named(self.shim.shim);
        let beyond_protocol = shim.and_then(|shim| shim.beyond_protocol(place.protocol));
        let feature = TOPICS[place.row].name;
        let beyond = shim.map(|shim| shim.beyond(feature, place.role, place.protocol));
        let (off, hidden): (Vec<_>, Vec<_>) = beyond
            .into_iter()
            .flatten()
            .partition(|(support, _)| *support == Support::OffByDefault);
        (is.support, is.why) = if let Some(why) = beyond_protocol {
            (Support::NotTestable, Some(why.to_owned()))
        } else if self.is_absent(protocol) {
            let why = format!("no {} as a {}", place.protocol, place.role);
            (Support::Absent, Some(why))
        } else if let Some((support, why)) = hidden.first() {
            (*support, Some((*why).to_owned()))
        } else if self.is_absent(place) {
            match against.first() {
                // The feature is there: other tests pass.
                Some(_) if is.passed > 0 && against.iter().any(|why| is_defect(why)) => {
                    (Support::Partly, Some(against.join("; ")))
                }
                Some(why) => (Support::Absent, Some(why.clone())),
                None => (Support::NotTestable, apart),
            }
        } else {
            let is_whole = against.is_empty();
            against.extend(off.first().map(|(_, setting)| (*setting).to_owned()));
            let why = (!against.is_empty()).then(|| against.join("; "));
            match (is_whole, off.first()) {
                (true, None) => (Support::Works, why),
                (true, Some(_)) => (Support::OffByDefault, why),
                (false, _) => (Support::Partly, why),
            }
        };
        is
    }

    fn counts(&self, place: Place, test: &str) -> Counts {
        let Some(result) = self.shim.results.tests.get(test) else {
            return Counts::Apart("it was not run".to_owned());
        };
        if result.outcome == TestOutcome::Passed {
            return Counts::For;
        }
        let reason = self.shim.config.reason(test);
        let why = match (result.outcome, reason) {
            (TestOutcome::Failed, Some((category, words))) => format!("{category}: {words}"),
            _ => result.line(),
        };
        if Said::of(&why).is_some() {
            // A shim names one flag, which may not be the only one that it refuses.
            let own = TOPICS[place.row].flags.iter();
            let mut refused = own.filter(|own| self.refused.contains(**own) && self.has(test, own));
            return match refused.next() {
                Some(own) => Counts::Against(Said::Refused(own).in_words()),
                None => Counts::Apart(in_words(why)),
            };
        }
        if is_unreported(&why) {
            return Counts::Apart(why);
        }
        if self.has(test, UNFINISHED_WRITE) {
            return Counts::Apart(format!("{why} (with a write unfinished)"));
        }
        let other = self.lacking(place, test);
        if let Some(other) = other.or_else(|| self.lacking_protocol(place, &why)) {
            return Counts::Apart(format!("it needs {other} too"));
        }
        match (result.outcome, reason) {
            (TestOutcome::Failed, Some((Category::Missing | Category::Defect, _)) | None)
            | (TestOutcome::Unsupported, _) => Counts::Against(why),
            _ => Counts::Apart(why),
        }
    }

    fn has(&self, test: &str, flag: &str) -> bool {
        let about = self.catalog.about(test);
        about.is_some_and(|about| about.flags.iter().any(|given| given == flag))
    }

    /// Returns another feature that the test requires, and the stack lacks.
    fn lacking(&self, place: Place, test: &str) -> Option<&'static str> {
        let mut lacking = TOPICS
            .iter()
            .enumerate()
            .filter(|(row, _)| *row != place.row && self.is_absent(Place { row: *row, ..place }))
            .map(|(_, topic)| topic);
        lacking
            .find(|topic| topic.flags.iter().any(|flag| self.has(test, flag)))
            .map(|topic| topic.name)
    }

    /// Returns another protocol that the reason of a failure names, and the stack lacks.
    fn lacking_protocol(&self, place: Place, why: &str) -> Option<&'static str> {
        let mut others = Protocol::ALL
            .iter()
            .copied()
            .filter(|protocol| *protocol != place.protocol && why.contains(protocol.name()));
        others
            .find(|protocol| {
                self.is_absent(Place {
                    row: HANDSHAKE,
                    protocol: *protocol,
                    ..place
                })
            })
            .map(Protocol::name)
    }

    /// Returns whether the cell has core tests, and none of them passes.
    fn is_absent(&self, place: Place) -> bool {
        self.there.get(&place) == Some(&false)
    }
}

/// Returns whether a test fails for a defect of the stack.
fn is_defect(why: &str) -> bool {
    let category = why.split(':').next();
    category == Some(Category::Defect.to_string().as_str())
}

/// Returns the tests of a cell that belong to its core; all where none does.
fn core_of<'t>(place: Place, tests: &[&'t str]) -> Vec<&'t str> {
    let core: Vec<&str> = tests
        .iter()
        .copied()
        .filter(|test| Topics::all().is_core(test, place.row))
        .collect();
    if core.is_empty() {
        tests.to_vec()
    } else {
        core
    }
}

/// Returns the flag that a library cannot express, from its shim's message.
fn refused_flag(said: &str) -> Option<String> {
    match Said::of(said)? {
        Said::Refused(flag) => Some(flag.to_owned()),
        Said::Unread(_) => None,
    }
}
