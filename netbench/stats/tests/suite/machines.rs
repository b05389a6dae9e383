//! Machines with disturbances of many kinds, on which two stacks are measured.

use netbench_stats::{LOOPS, Rng};

/// Time of each reference loop on an idle core, in nanoseconds.
pub(crate) const IDLE_NS: [f64; 3] = [2_600.0, 2_400.0, 1_500.0];

/// Effect of a disturbance by the core's sibling on the loops, as in published runs: where loads took 20 to 40 %
/// longer, multiplications took 0.6 % and AES 1.3 %.
pub(crate) const SIBLING: [f64; LOOPS] = [0.03, 0.05, 1.0];

/// Effect of a disturbance that slows all loops alike.
pub(crate) const EVERYTHING: [f64; LOOPS] = [1.0; LOOPS];

/// A machine and two stacks on it. All deviations and levels are of natural logarithms: 0.01 is 1 %.
#[derive(Clone, Copy)]
pub(crate) struct Machine {
    /// The noise of a turn's figure, of either stack.
    pub(crate) noise: [Noise; 2],
    /// The deviation between processes.
    pub(crate) process: f64,
    /// The probability that a process of the second stack is slow throughout, and the slowdown.
    pub(crate) slow_process: (f64, f64),
    /// The disturbance of the machine.
    pub(crate) disturbance: Disturbance,
    /// The effect of a disturbance on each stack; that on the loads of the reference loops is 1.
    pub(crate) hit: [f64; 2],
    /// The noise of a reference loop.
    pub(crate) reference: f64,
    /// The slowdown of the clock from the first round to the last.
    pub(crate) drift: f64,
    /// The deviation of the host's clock, which slows all loops and both stacks alike, and changes every few turns.
    pub(crate) clock: f64,
    /// The effect of a disturbance on multiplications, AES and loads.
    pub(crate) shows: [f64; LOOPS],
}

#[derive(Clone, Copy)]
pub(crate) enum Noise {
    Gaussian(f64),
    /// Exponential noise with this mean.
    Exponential(f64),
    /// Pareto noise with this scale; the exponent is 2.5.
    Pareto(f64),
    /// Gaussian noise with this deviation. In one turn in twenty, another process takes a large part of the time, which
    /// the reference loops do not detect.
    Interrupted(f64),
}

#[derive(Clone, Copy)]
pub(crate) enum Disturbance {
    None,
    /// A disturbance for this share of the time, with this level.
    OnOff(f64, f64),
    /// Disturbances of random levels up to this one, each for some time.
    Graded(f64),
    /// A permanent disturbance of about this level.
    Always(f64),
    /// A disturbance with this deviation, which keeps 95 % from one turn to the next.
    Autocorrelated(f64),
}

/// The project's build machine without other work, as measured.
pub(crate) const PLAIN: Machine = Machine {
    noise: [Noise::Gaussian(0.006); 2],
    process: 0.003,
    slow_process: (0.0, 0.0),
    disturbance: Disturbance::None,
    hit: [1.0; 2],
    reference: 0.004,
    drift: 0.0,
    clock: 0.0,
    shows: SIBLING,
};

/// The build machine while compilers ran on it, with a busy sibling of the core for half of the time.
pub(crate) const BUSY: Machine = Machine {
    noise: [Noise::Interrupted(0.006); 2],
    disturbance: Disturbance::OnOff(0.5, 0.35),
    ..PLAIN
};

/// Machines on which two equal stacks must not be called different.
pub(crate) const MACHINES: [(&str, Machine); 17] = [
    ("Gaussian", PLAIN),
    ("busy", BUSY),
    (
        "exponential",
        Machine {
            noise: [Noise::Exponential(0.02); 2],
            ..PLAIN
        },
    ),
    (
        "Pareto",
        Machine {
            noise: [Noise::Pareto(0.01); 2],
            ..PLAIN
        },
    ),
    (
        "autocorrelated",
        Machine {
            disturbance: Disturbance::Autocorrelated(0.05),
            ..PLAIN
        },
    ),
    (
        "autocorrelated, unequal hit",
        Machine {
            disturbance: Disturbance::Autocorrelated(0.05),
            hit: [1.0, 2.0],
            ..PLAIN
        },
    ),
    (
        "on and off, unequal hit",
        Machine {
            disturbance: Disturbance::OnOff(0.7, 0.3),
            hit: [1.0, 2.0],
            ..PLAIN
        },
    ),
    (
        "graded, unequal hit",
        Machine {
            disturbance: Disturbance::Graded(0.3),
            hit: [1.0, 2.0],
            ..PLAIN
        },
    ),
    (
        "graded a little, unequal hit",
        Machine {
            disturbance: Disturbance::Graded(0.04),
            hit: [1.0, 2.0],
            ..PLAIN
        },
    ),
    (
        "variances 1:5",
        Machine {
            noise: [Noise::Gaussian(0.006), Noise::Gaussian(0.03)],
            ..BUSY
        },
    ),
    (
        "variances 1:10",
        Machine {
            noise: [Noise::Gaussian(0.006), Noise::Gaussian(0.06)],
            ..BUSY
        },
    ),
    (
        "slow processes on one side",
        Machine {
            slow_process: (0.15, 0.03),
            ..PLAIN
        },
    ),
    (
        "never quiet",
        Machine {
            disturbance: Disturbance::Always(0.3),
            hit: [1.0, 1.15],
            ..PLAIN
        },
    ),
    (
        "drifting clock",
        Machine {
            drift: 0.1,
            ..PLAIN
        },
    ),
    (
        "changing clock",
        Machine {
            clock: 0.02,
            ..PLAIN
        },
    ),
    (
        "changing clock, busy sibling, unequal hit",
        Machine {
            clock: 0.02,
            disturbance: Disturbance::OnOff(0.6, 0.25),
            hit: [1.0, 2.0],
            ..PLAIN
        },
    ),
    (
        "never quiet by all loops",
        Machine {
            disturbance: Disturbance::Always(0.3),
            hit: [1.0, 1.15],
            shows: EVERYTHING,
            ..PLAIN
        },
    ),
];

impl Noise {
    pub(crate) fn draw(self, rng: &mut Rng) -> f64 {
        match self {
            Self::Gaussian(deviation) => deviation * rng.normal(),
            Self::Exponential(mean) => -mean * (1.0 - rng.unit()).ln(),
            Self::Interrupted(deviation) => {
                let interrupted = if rng.below(20) == 0 {
                    0.4 * rng.unit()
                } else {
                    0.0
                };
                deviation * rng.normal() + interrupted
            }
            Self::Pareto(scale) => scale * ((1.0 - rng.unit()).powf(-0.4) - 1.0),
        }
    }
}
