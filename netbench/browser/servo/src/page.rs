//! The page, with what Servo reports about it.

use std::cell::{Cell, RefCell};

use servo::{ConsoleLogLevel, LoadStatus, WebView, WebViewDelegate};

/// The maximum number of console messages between two answers. Later ones are dropped.
const LONGEST_CONSOLE: usize = 200;

/// The maximum length of a console message in stderr, in characters.
const LONGEST_MESSAGE: usize = 300;

/// The state of a page's load, its console and its end.
#[derive(Debug, Default)]
pub(crate) struct Page {
    load: Cell<Load>,
    console: RefCell<Vec<String>>,
    crash: RefCell<Option<String>>,
}

/// The state of a load.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Load {
    /// The load was requested.
    #[default]
    Requested,
    /// Servo has started it.
    Started,
    /// The load event has fired.
    Complete,
}

impl Page {
    /// Records the request of another page.
    pub(crate) fn request(&self) {
        self.load.set(Load::Requested);
    }

    /// Returns whether the requested page is complete.
    pub(crate) fn is_complete(&self) -> bool {
        self.load.get() == Load::Complete
    }

    /// Returns the console's messages since the last call.
    pub(crate) fn take_console(&self) -> Vec<String> {
        self.console.take()
    }

    /// Returns the message of the panic that ended the page's thread since the last call.
    pub(crate) fn take_crash(&self) -> Option<String> {
        self.crash.take()
    }
}

impl WebViewDelegate for Page {
    fn notify_new_frame_ready(&self, view: WebView) {
        view.paint();
    }

    fn notify_load_status_changed(&self, _: WebView, status: LoadStatus) {
        let state = match (status, self.load.get()) {
            // Servo does not report the start of a view's first load.
            (LoadStatus::Started | LoadStatus::HeadParsed, _) => Load::Started,
            (LoadStatus::Complete, Load::Started) => Load::Complete,
            // The end of an earlier page's load.
            (LoadStatus::Complete, state) => state,
        };
        self.load.set(state);
    }

    fn show_console_message(&self, _: WebView, level: ConsoleLogLevel, message: String) {
        let mut console = self.console.borrow_mut();
        if console.len() < LONGEST_CONSOLE {
            let message = format!("{}: {message}", name(&level));
            // If the whole process ends, no answer has the console.
            let line: String = message.chars().take(LONGEST_MESSAGE).collect();
            eprintln!("console: {}", line.replace(['\n', '\r'], " "));
            console.push(message);
        }
    }

    fn notify_crashed(&self, _: WebView, reason: String, _: Option<String>) {
        *self.crash.borrow_mut() = Some(reason);
    }
}

/// Returns the name of the console's method that logged a message.
fn name(level: &ConsoleLogLevel) -> &'static str {
    match level {
        ConsoleLogLevel::Log => "log",
        ConsoleLogLevel::Debug => "debug",
        ConsoleLogLevel::Info => "info",
        ConsoleLogLevel::Warn => "warn",
        ConsoleLogLevel::Error => "error",
        ConsoleLogLevel::Trace => "trace",
        ConsoleLogLevel::Dir => "dir",
    }
}
