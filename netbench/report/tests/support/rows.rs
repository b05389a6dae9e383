//! Rows of made-up evidence for an evaluation, each with the one right answer.

use netbench_model::{
    PartState,
    compat::Judgement::{self, Crashed, FalseAccept, FalseReject, Hung, WrongReason},
};
use netbench_report::Answer::{self, No, Open, WithLosses, Yes};
use netbench_stats::UndecidedReason;

use super::whole::MadeCase;

pub const SWITCH: &str = "Switch: ";
pub const CARE: &str = "Switch with care: ";
pub const NOT_YET: &str = "Do not switch yet: ";
pub const OPEN: &str = "Not decided yet: ";
/// The beginnings of sentences that name one part.
const NO_FEATURES: &str = "Not decided: protocol support was not tested; ";
const NO_SITES: &str = "Not decided: the reach of the sites was not tested; ";
const NO_COMPAT: &str = "Not decided: compatibility was not tested; ";
const NO_PAIRS: &str = "Not decided: connections were not tested; ";
const NO_SUITE: &str = "Not decided: speed in memory was not tested; ";
const COMPAT_IN_PART: &str = "Not decided: compatibility was tested in part; ";

/// A change to an evaluation in which no loss was found.
#[derive(Debug, Clone, Copy)]
pub enum Change {
    Without(&'static str),
    /// The part found all it should, and ended so.
    Ended(&'static str, End),
    /// There is no evidence of the part, and it ended so.
    Never(&'static str, End),
    Lost(u64),
    Totals(&'static [(f64, f64)]),
    Compat(Judgement),
    Suite(fn() -> Vec<MadeCase>),
}

#[derive(Debug, Clone, Copy)]
pub enum End {
    Interrupted,
    Failed,
    Unsupported,
}

use Change::{Compat, Ended, Lost, Never, Suite, Totals, Without};
use End::{Failed, Interrupted, Unsupported};

/// The state of a part that ended so.
pub fn state(end: End) -> PartState {
    let why = "a reason".to_owned();
    match end {
        Interrupted => PartState::Interrupted,
        Failed => PartState::Failed { why },
        Unsupported => PartState::Unsupported { why },
    }
}

fn slow() -> Vec<MadeCase> {
    vec![MadeCase::handshake(1.2, 1.3), MadeCase::receive(0.9, 0.92)]
}

fn all_slow() -> Vec<MadeCase> {
    vec![MadeCase::handshake(1.2, 1.3)]
}

pub fn never_quiet() -> Vec<MadeCase> {
    vec![MadeCase::handshake(0.5, 0.52).held_back(UndecidedReason::NeverQuiet)]
}

/// The worst case was measured on a machine that was never quiet.
pub fn one_never_quiet() -> Vec<MadeCase> {
    vec![
        MadeCase::receive(0.8, 0.9),
        MadeCase::receive(1.6, 1.8).held_back(UndecidedReason::NeverQuiet),
    ]
}

pub fn too_few() -> Vec<MadeCase> {
    vec![MadeCase::handshake(0.0, 0.5)]
}

pub const FASTER: &[(f64, f64)] = &[(0.98, 1.01), (0.80, 0.90)];
pub const SLOWER: &[(f64, f64)] = &[(1.06, 1.2)];
pub const MIXED: &[(f64, f64)] = &[(0.99, 1.01), (1.06, 1.2)];
pub const WIDE: &[(f64, f64)] = &[(0.1, 6.97)];
pub const AT_MOST: &[(f64, f64)] = &[(1.01, 1.05)];
pub const NONE: &[(f64, f64)] = &[(0.0, 1.0)];

/// Changes, the answers of the three questions, and the beginning of the sentence.
pub type Row = (&'static [Change], [Answer; 3], &'static str);

pub const ROWS: &[Row] = &[
    (&[], [Yes, Yes, Yes], SWITCH),
    // A part is missing.
    (&[Without("features")], [Open, Open, Yes], NO_FEATURES),
    (&[Without("sites")], [Open, Yes, Yes], NO_SITES),
    (&[Without("compat")], [Yes, Open, Yes], NO_COMPAT),
    (&[Without("connections")], [Yes, Open, Open], NO_PAIRS),
    (&[Without("suite")], [Yes, Yes, Open], NO_SUITE),
    (
        &[Without("compat"), Without("suite")],
        [Yes, Open, Open],
        "Not decided: compatibility and speed in memory were not tested; ",
    ),
    (
        &[Without("features"), Without("sites"), Without("compat")],
        [Open, Open, Yes],
        "Not decided: protocol support, the reach of the sites and compatibility were not tested; ",
    ),
    // A part failed, or was interrupted.
    (&[Never("features", Failed)], [Open, Open, Yes], NO_FEATURES),
    (&[Never("sites", Failed)], [Open, Yes, Yes], NO_SITES),
    (&[Never("compat", Failed)], [Yes, Open, Yes], NO_COMPAT),
    (&[Never("connections", Failed)], [Yes, Open, Open], NO_PAIRS),
    (&[Never("suite", Failed)], [Yes, Yes, Open], NO_SUITE),
    (&[Ended("compat", Failed)], [Yes, Open, Yes], COMPAT_IN_PART),
    (
        &[Ended("compat", Interrupted)],
        [Yes, Open, Yes],
        COMPAT_IN_PART,
    ),
    (
        &[Ended("connections", Interrupted)],
        [Yes, Open, Open],
        "Not decided: connections were tested in part; ",
    ),
    (
        &[Ended("sites", Interrupted)],
        [Open, Yes, Yes],
        "Not decided: the reach of the sites was tested in part; ",
    ),
    (
        &[Ended("suite", Failed)],
        [Yes, Yes, Open],
        "Not decided: speed in memory was tested in part; ",
    ),
    (
        &[Ended("suite", Failed), Without("compat")],
        [Yes, Open, Open],
        "Not decided: speed in memory and compatibility were not tested in full; ",
    ),
    // A part that a stack does not have.
    (
        &[Never("suite", Unsupported)],
        [Yes, Yes, Yes],
        "Switch (speed in memory not included): ",
    ),
    (
        &[Never("features", Unsupported)],
        [Yes, Yes, Yes],
        "Switch (protocol support not included): ",
    ),
    (&[Never("compat", Unsupported)], [Yes, Open, Yes], NO_COMPAT),
    (
        &[Never("connections", Unsupported)],
        [Yes, Open, Open],
        NO_PAIRS,
    ),
    (&[Never("sites", Unsupported)], [Open, Yes, Yes], NO_SITES),
    (
        &[Never("suite", Unsupported), Lost(1)],
        [WithLosses, WithLosses, Yes],
        "Switch with care (speed in memory not included): ",
    ),
    (
        &[Never("suite", Unsupported), Totals(SLOWER)],
        [Yes, Yes, No],
        NOT_YET,
    ),
    // Losses remain losses.
    (&[Lost(1)], [WithLosses, WithLosses, Yes], CARE),
    (&[Lost(20)], [No, No, Yes], NOT_YET),
    (
        &[Lost(1), Without("features")],
        [WithLosses, WithLosses, Yes],
        NO_FEATURES,
    ),
    (&[Lost(20), Without("features")], [No, No, Yes], NOT_YET),
    (
        &[Lost(20), Without("compat"), Without("suite")],
        [No, No, Open],
        NOT_YET,
    ),
    (&[Lost(101)], [No, No, Yes], NOT_YET),
    (&[Compat(FalseReject)], [Yes, WithLosses, Yes], CARE),
    (&[Compat(FalseAccept)], [Yes, WithLosses, Yes], CARE),
    (&[Compat(Crashed)], [Yes, WithLosses, Yes], CARE),
    (&[Compat(Hung)], [Yes, WithLosses, Yes], CARE),
    (&[Compat(WrongReason)], [Yes, Yes, Yes], SWITCH),
    (
        &[Compat(FalseReject), Without("features")],
        [Open, WithLosses, Yes],
        NO_FEATURES,
    ),
    // Intervals.
    (&[Totals(FASTER)], [Yes, Yes, Yes], SWITCH),
    (&[Totals(AT_MOST)], [Yes, Yes, Yes], SWITCH),
    (&[Totals(SLOWER)], [Yes, Yes, No], NOT_YET),
    (&[Totals(MIXED)], [Yes, Yes, WithLosses], CARE),
    (&[Totals(WIDE)], [Yes, Yes, Open], OPEN),
    (&[Totals(NONE)], [Yes, Yes, Open], OPEN),
    (&[Totals(&[])], [Yes, Yes, Open], OPEN),
    (&[Totals(SLOWER), Without("suite")], [Yes, Yes, No], NOT_YET),
    (
        &[Totals(MIXED), Without("suite")],
        [Yes, Yes, WithLosses],
        NO_SUITE,
    ),
    // Memory alone, and parts that contradict each other.
    (&[Suite(slow)], [Yes, Yes, WithLosses], CARE),
    (&[Suite(all_slow)], [Yes, Yes, WithLosses], CARE),
    (&[Suite(never_quiet)], [Yes, Yes, Open], OPEN),
    (&[Suite(one_never_quiet)], [Yes, Yes, Open], OPEN),
    (&[Suite(too_few)], [Yes, Yes, Open], OPEN),
    (&[Suite(slow), Totals(SLOWER)], [Yes, Yes, No], NOT_YET),
    (
        &[Suite(never_quiet), Totals(MIXED)],
        [Yes, Yes, WithLosses],
        CARE,
    ),
    (
        &[Suite(all_slow), Without("connections")],
        [Yes, Open, Open],
        NO_PAIRS,
    ),
    (
        &[Suite(slow), Lost(1), Compat(FalseReject)],
        [WithLosses, WithLosses, WithLosses],
        CARE,
    ),
];
