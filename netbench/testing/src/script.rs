use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

/// Writes a shell script that can be run at once.
///
/// Another process writes the file. If this process had the file open for writing, a child that another test
/// starts meanwhile would have it open too, and the kernel would refuse to run it ("Text file busy").
///
/// # Panics
///
/// Panics if the file cannot be written.
pub fn script(path: &Path, body: &str) {
    let mut writer = Command::new("sh")
        .args(["-c", "cat > \"$1\" && chmod 755 \"$1\"", "sh"])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .expect("sh starts");
    let mut input = writer.stdin.take().expect("it was asked for");
    input
        .write_all(format!("#!/bin/sh\n{body}\n").as_bytes())
        .expect("sh reads its input");
    drop(input);
    let status = writer.wait().expect("sh ends");
    assert!(status.success(), "cannot write {}", path.display());
}
