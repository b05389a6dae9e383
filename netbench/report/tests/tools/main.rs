//! The tests of pages, which need a browser.

mod chromium;
mod evaluation_page;
mod page;
#[path = "../support/mod.rs"]
mod support;

netbench_testing::modules! { evaluation_page, page }
