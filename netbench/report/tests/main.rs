//! The tests of summaries and their formats that need no tool.

mod bogo;
mod browser;
mod chains;
mod compare_connect;
mod compat;
mod contradictions;
mod counts;
mod decision;
mod evaluation;
mod explain;
mod families;
mod gate;
mod render;
mod roots;
mod scan;
mod schemas;
mod ship;
mod stacks;
mod suite;
mod suite_turns;
mod summary;
mod support;
mod sweep;
mod thresholds;
mod verdicts;
mod verdicts_of_runs;
