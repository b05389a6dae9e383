//! Drives real browsers: each with a profile of its own that trusts one more root, in a namespace that has no way
//! out, and with its names led to where they should go. Other programs that fetch pages are run in the same way.
//!
//! A browser that is dropped has ended, with all of its processes, and its profile is gone; a guard sees to that
//! where this process is killed. Nothing here waits without a limit. This crate must never print, and never time
//! anything: times are the browser's own. Start reading at [`Browser`], then [`Page`]; for programs at [`Fetcher`].

mod chromium;
mod codes;
mod devtools;
mod error;
mod firefox;
mod marionette;
mod outside;
mod page;
mod place;
mod process;
mod product;
mod profile;
mod startup_cache;
mod timing;
mod tool;
mod webdriver;
mod webkit;

pub use codes::{failure, failures};
pub use error::BrowserError;
pub use outside::{Outside, OutsideProgram};
pub use page::{Loaded, Page, Shown};
pub use place::{Network, Surroundings, other_user};
pub use product::{BrowserProgram, Product};
pub use profile::Trust;
pub use startup_cache::StartupCache;
pub use tool::{Fetch, Fetched, Fetcher, Tool, ToolProgram};

use std::{sync::atomic::AtomicBool, time::Instant};

use chromium::Chromium;
use firefox::Firefox;
use webkit::WebKit;

/// A browser that runs, with a profile of its own.
pub struct Browser(Driven);

enum Driven {
    Chromium(Chromium),
    Firefox(Firefox),
    WebKit(WebKit),
}

/// How long a browser may take, and what ends that early.
#[derive(Debug, Clone, Copy)]
pub struct Limit<'a> {
    /// What is not there by then counts as hung.
    pub deadline: Instant,
    /// Becomes true where nobody waits any more.
    pub stop: &'a AtomicBool,
}

impl Browser {
    /// Starts a browser with a fresh profile.
    ///
    /// # Errors
    /// It cannot be started, its sandbox refuses to, or it does not answer in time.
    pub fn start(
        program: &BrowserProgram,
        surroundings: &Surroundings<'_>,
        limit: Limit<'_>,
    ) -> Result<Self, BrowserError> {
        Ok(Self(match program.product() {
            Product::Chromium => Driven::Chromium(Chromium::start(program, surroundings, limit)?),
            Product::Firefox => Driven::Firefox(Firefox::start(program, surroundings, limit)?),
            Product::WebKitGtk => Driven::WebKit(WebKit::start(program, surroundings, limit)?),
        }))
    }

    /// Asks a browser that has just started to quit, and takes its startup cache.
    ///
    /// # Errors
    /// It does not end in time, or its profile cannot be read.
    pub fn into_startup_cache(self, limit: Limit<'_>) -> Result<StartupCache, BrowserError> {
        match self.0 {
            // It has all of that in its installation.
            Driven::Chromium(_) | Driven::WebKit(_) => Ok(StartupCache::default()),
            Driven::Firefox(firefox) => firefox.into_startup_cache(limit),
        }
    }

    /// Opens a page, and waits until it is loaded or an error page is shown.
    ///
    /// # Errors
    /// The browser ends, hangs, or answers what cannot be understood.
    pub fn visit(&mut self, url: &str, limit: Limit<'_>) -> Result<Page, BrowserError> {
        match &mut self.0 {
            Driven::Chromium(chromium) => chromium.visit(url, limit),
            Driven::Firefox(firefox) => firefox.visit(url, limit),
            Driven::WebKit(webkit) => webkit.visit(url, limit),
        }
    }

    /// Opens a page as [`Self::visit`] does, where its times are of no interest.
    ///
    /// # Errors
    /// As with [`Self::visit`].
    pub fn look(&mut self, url: &str, limit: Limit<'_>) -> Result<Shown, BrowserError> {
        match &mut self.0 {
            Driven::WebKit(webkit) => webkit.look(url, limit),
            Driven::Chromium(_) | Driven::Firefox(_) => self.visit(url, limit).map(Shown::from),
        }
    }

    /// Closes the browser's connections. What it remembers of them, such as tickets, it keeps.
    ///
    /// # Errors
    /// As with [`Self::visit`].
    pub fn close_connections(&mut self, limit: Limit<'_>) -> Result<(), BrowserError> {
        match &mut self.0 {
            Driven::Chromium(chromium) => chromium.close_connections(limit),
            Driven::Firefox(firefox) => firefox.close_connections(limit),
            Driven::WebKit(_) => Err(BrowserError::Unusable {
                what: Product::WebKitGtk.to_string(),
                why: "its driver has no way to close connections".to_owned(),
            }),
        }
    }
}
