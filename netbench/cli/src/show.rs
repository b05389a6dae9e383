use std::{
    env,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// The time in which an opener may fail. Some openers wait for the browser's end.
const LIMIT: Duration = Duration::from_secs(3);

/// Opens a page in the user's browser, with this system's opener. If this is impossible, prints the path of the page.
pub(crate) fn open(page: &Path) {
    let shown = page.display();
    let Some(opener) = opener() else {
        note!("netbench: there is no display here: open {shown} in a browser");
        return;
    };
    // The browser may run in another folder, and must not read the path as an option.
    let path = page.canonicalize().unwrap_or_else(|_| page.to_owned());
    let started = Command::new(opener)
        .arg(&path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = started else {
        note!("netbench: there is no {opener} here: open {shown} in a browser");
        return;
    };
    let begun = Instant::now();
    while begun.elapsed() < LIMIT {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return,
            Ok(Some(_)) | Err(_) => {
                note!("netbench: {opener} found no browser here: open {shown} in one");
                return;
            }
            Ok(None) => thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// Returns the command that opens files, or `None` without a display.
fn opener() -> Option<&'static str> {
    if cfg!(target_os = "macos") {
        return Some("open");
    }
    let display = ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|name| env::var_os(name).is_some_and(|value| !value.is_empty()));
    display.then_some("xdg-open")
}
