//! Tests with special requirements for the machine: other programs, permissions, features of a
//! kernel. Tests whose requirements are missing are ignored, and counted as such.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod archive;
mod browser;
mod chains;
mod compat;
mod compat_browsers;
mod early_data;
mod ech;
mod emulated;
mod features;
mod guide;
mod installed_servers;
mod instructions;
mod interrupt;
mod live;
mod netem;
mod old_versions;
mod other_languages;
mod outside_world;
mod predictions;
mod refused;
mod resume;
mod roots;
mod scan;
mod scan_local;
mod scan_loss;
mod scan_relay;
mod servers;
mod ship;
mod slurm;
#[path = "../support/mod.rs"]
mod support;
mod urls;

netbench_testing::modules! {
    archive, browser, chains, compat, compat_browsers, early_data, ech, emulated, features, guide, installed_servers, instructions,
    interrupt, live, netem, old_versions, other_languages, outside_world, predictions, refused, resume, roots, scan,
    scan_local, scan_loss, scan_relay, ship, slurm, urls,
}
