//! Drives real browsers: each with a separate profile that trusts one more root, in a namespace without a
//! route out, and with its names resolved to the configured addresses. Other programs that fetch pages are
//! run in the same way.
//!
//! When a browser is dropped, it has ended with all of its processes, and its profile is removed; a guard
//! does the same where this process is killed. Every wait has a limit. This crate must never print, and never
//! measure time: times are the browser's own, or the kernel's counters of its threads. Start reading at [`Browser`], then [`Page`]; for programs at
//! [`Fetcher`].

mod chromium;
mod codes;
mod connection;
mod devtools;
mod driven;
mod error;
mod firefox;
mod limit;
mod marionette;
mod outside;
mod page;
mod pipe;
mod place;
mod process;
mod product;
mod profile;
mod program;
mod servo;
mod startup_cache;
mod threads;
mod timing;
mod tool;
mod webdriver;
mod webkit;

pub use codes::{failure, failures};
pub use error::BrowserError;
pub use limit::Limit;
pub use outside::{Outside, OutsideProgram};
pub use page::{Page, Shown};
pub use place::{HttpsRecords, Network, Surroundings, other_user};
pub use product::{BrowserProgram, Product, ServoTls};
pub use profile::Trust;
pub use startup_cache::StartupCache;
pub use threads::Threads;
pub use tool::{Fetch, Fetched, Fetcher, Tool, ToolProgram};

use std::path::Path;

use chromium::Chromium;
use driven::Driven;
use firefox::Firefox;
use netbench_scratch::Folder;
use servo::Servo;
use webkit::WebKit;

/// A running browser with a separate profile.
pub struct Browser(Box<dyn Driven + Send>);

impl Browser {
    /// Starts a browser with a new profile.
    ///
    /// # Errors
    /// Returns an error if the browser cannot be started, its sandbox refuses to start, or it does not answer
    /// in time.
    pub fn start(
        program: &BrowserProgram,
        surroundings: &Surroundings<'_>,
        limit: Limit<'_>,
    ) -> Result<Self, BrowserError> {
        Self::start_in(process::folder()?, program, surroundings, limit)
    }

    /// Quits a browser and starts it again with its profile.
    ///
    /// # Errors
    /// Returns the errors of [`Self::start`], and an error if the browser does not end in time, or keeps no profile.
    pub fn restart(
        self,
        program: &BrowserProgram,
        surroundings: &Surroundings<'_>,
        limit: Limit<'_>,
    ) -> Result<Self, BrowserError> {
        let folder = self.0.quit(limit)?;
        let surroundings = Surroundings {
            startup_cache: None,
            ..*surroundings
        };
        Self::start_in(folder, program, &surroundings, limit)
    }

    /// Starts a browser with the profile in a folder, or with a new one if the folder is empty.
    fn start_in(
        folder: Folder,
        program: &BrowserProgram,
        surroundings: &Surroundings<'_>,
        limit: Limit<'_>,
    ) -> Result<Self, BrowserError> {
        let path: &Path = program.path();
        Ok(Self(match program.product() {
            Product::Chromium => Box::new(Chromium::start(path, folder, surroundings, limit)?),
            Product::Firefox => Box::new(Firefox::start(path, folder, surroundings, limit)?),
            Product::WebKitGtk => Box::new(WebKit::start(path, folder, surroundings, limit)?),
            Product::Servo(tls) => Box::new(Servo::start(path, tls, folder, surroundings, limit)?),
        }))
    }

    /// Quits a browser that has just started, and returns its startup cache.
    ///
    /// # Errors
    /// Returns an error if the browser does not end in time, or its profile cannot be read.
    pub fn into_startup_cache(self, limit: Limit<'_>) -> Result<StartupCache, BrowserError> {
        self.0.into_startup_cache(limit)
    }

    /// Opens a page, and waits until it is loaded or an error page is shown.
    ///
    /// # Errors
    /// Returns an error if the browser ends, hangs, or sends an answer that cannot be parsed.
    pub fn visit(&mut self, url: &str, limit: Limit<'_>) -> Result<Page, BrowserError> {
        self.0.visit(url, limit)
    }

    /// Opens a page as [`Self::visit`] does, without its times.
    ///
    /// # Errors
    /// Returns the errors of [`Self::visit`].
    pub fn look(&mut self, url: &str, limit: Limit<'_>) -> Result<Shown, BrowserError> {
        self.0.look(url, limit)
    }

    /// Presses the button of the shown error page that allows the server's certificate, and waits for the page. A
    /// page with that button shows the certificate.
    ///
    /// # Errors
    /// Returns the errors of [`Self::visit`], and an error if there is no such button.
    pub fn proceed(&mut self, limit: Limit<'_>) -> Result<Shown, BrowserError> {
        self.0.proceed(limit)
    }

    /// Returns the scheduler's counters of the browser's threads, in all of its processes.
    pub fn threads(&self) -> Threads {
        self.0.process().threads()
    }

    /// Closes the browser's connections. The browser keeps its state about them, such as tickets.
    ///
    /// # Errors
    /// Returns the errors of [`Self::visit`].
    pub fn close_connections(&mut self, limit: Limit<'_>) -> Result<(), BrowserError> {
        self.0.close_connections(limit)
    }
}
