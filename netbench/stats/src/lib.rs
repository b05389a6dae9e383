//! Statistics of paired timings: quantiles, intervals of ratios, verdicts.
//!
//! Pure functions: this crate must never do I/O, read a clock, or draw a random number that does not come from the
//! given seed. Start reading at [`compare`], which decides between two stacks over all sites, then [`compare_rounds`],
//! which decides on one site, and [`compare_turns`], which decides on a case of the suite.
//!
//! **The basis of a verdict.** Pairs come in blocks: the connections that one process of each stack made. Pairs of one
//! block share the memory layout of their processes, which can make them faster or slower by a percent or two
//! throughout. Pairs of a block are therefore not independent, and whole blocks are resampled. The interval is the
//! median log ratio plus and minus a quantile of Student's t times the bootstrap's standard error. Percentiles of the
//! resamples are not used: at the required levels they would depend on one or two of 2,000 resamples, and with few
//! blocks they are too narrow. Student's t corrects both; `tests/coverage.rs` measures the accuracy.
//!
//! **Many verdicts at once.** A report has a verdict for each of eight phases. The interval of a verdict is wide enough
//! for all verdicts of a family to hold together with [`FAMILY_LEVEL`] (Bonferroni), so a stack compared with itself is
//! rarely faster in any phase.

mod autocorrelation;
mod bimodal;
mod change;
mod contrast;
mod interim;
mod join;
mod needed;
mod overrepresented;
mod paired;
mod quantile;
mod quiet;
mod random;
mod rank_sum;
mod runs;
mod share;
mod signed_rank;
mod spread;
mod student;
mod turns;
mod verdict;

pub use autocorrelation::Autocorrelation;
pub use bimodal::{Bimodal, bimodal};
pub use change::{Basis, Change};
pub use contrast::{Contrast, contrast};
pub use interim::{interim_share, is_interim_analysis};
pub use join::{JOINED_LEVEL, JoinedRatio, join_runs};
pub use needed::{Precision, RoundsNeeded};
pub use overrepresented::chance_of_as_many;
pub use paired::{Pair, Resampling, compare};
pub use quantile::{Figures, median, quantile_sorted};
pub use quiet::{Idle, IdleProgram, LOOPS, QuietLevel};
pub use random::{Rng, SplitMix, mix};
pub use rank_sum::{compare_apart, rounds_apart};
pub use runs::{compare_runs, compare_whole};
pub use share::share_of_whole;
pub use signed_rank::{MIN_ROUNDS, RoundsDifference, compare_rounds, difference_of_rounds};
pub use spread::spread;
pub use student::student_t_quantile;
pub use turns::{
    Choice, FEWEST_OPERATIONS, FEWEST_QUIET, Order, OtherFigure, SideTurns, Turn, TurnPair,
    TurnsRatio, UndecidedReason, compare_turns, held_back,
};
pub use verdict::{CASE_MARGIN, Interval, SAME_MARGIN, Verdict};

/// The share of runs in which every interval of a family contains the true ratio.
pub const FAMILY_LEVEL: f64 = 0.99;

/// The level of the interval that determines the verdict on one case of the suite. Because the whole interval must lie
/// beyond [`CASE_MARGIN`], a stack whose true ratio is at the margin is called slower in at most one run of forty, and
/// equal stacks are called different in far fewer.
pub const CASE_LEVEL: f64 = 0.95;

/// The level of the interval that is shown beside the one that determines a verdict, and of the interval for a single
/// site.
pub const SINGLE_LEVEL: f64 = 0.95;
