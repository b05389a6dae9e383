//! The tests of summaries and their formats that need no tool.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bogo;
mod browser;
mod chains;
mod compare_connect;
mod compat;
mod contradictions;
mod counts;
mod decision;
mod early_data;
mod ech;
mod evaluation;
mod explain;
mod families;
mod features;
mod gate;
mod joined_evaluations;
mod render;
mod roots;
mod scan;
mod schemas;
mod ship;
mod site_phases;
mod stacks;
mod suite;
mod suite_history;
mod suite_life;
mod suite_runs;
mod suite_turns;
mod summary;
mod summary_cold;
mod support;
mod sweep;
mod sweep_hellos;
mod thresholds;
mod verdicts;
mod verdicts_of_runs;
