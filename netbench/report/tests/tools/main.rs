//! The tests of pages, which need a browser.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod chromium;
mod evaluation_page;
mod page;
#[path = "../support/mod.rs"]
mod support;

netbench_testing::modules! { evaluation_page, page }
