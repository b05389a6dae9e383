use netbench_scratch::Folder;

use crate::{BrowserError, Limit, Page, Shown, StartupCache, process::Process};

/// A browser of one product.
pub(crate) trait Driven {
    fn visit(&mut self, url: &str, limit: Limit<'_>) -> Result<Page, BrowserError>;

    fn look(&mut self, url: &str, limit: Limit<'_>) -> Result<Shown, BrowserError> {
        self.visit(url, limit).map(Shown::from)
    }

    /// Presses the button of the shown error page that allows the server's certificate, and waits for the page.
    fn proceed(&mut self, _: Limit<'_>) -> Result<Shown, BrowserError> {
        let why = "this browser's driver cannot press its buttons";
        Err(BrowserError::unusable("the error page", why))
    }

    fn close_connections(&mut self, limit: Limit<'_>) -> Result<(), BrowserError>;

    /// Quits the browser, and returns its startup cache. It is empty for browsers that have their caches in their installation.
    fn into_startup_cache(self: Box<Self>, _: Limit<'_>) -> Result<StartupCache, BrowserError> {
        Ok(StartupCache::default())
    }

    /// Quits the browser, and returns its folder with its profile.
    fn quit(self: Box<Self>, limit: Limit<'_>) -> Result<Folder, BrowserError>;

    fn process(&self) -> &Process;
}
