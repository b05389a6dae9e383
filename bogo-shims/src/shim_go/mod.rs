//! The BoGo shim of Go's crypto/tls: the shim that Go's toolchain ships, `bogo_shim_test.go`, behind a
//! program that passes on only the flags that it reads.
//!
//! Go's shim declares flags that its code never uses, and reads others only together with a third: a test
//! with such a flag would pass without meeting the flag's requirement. Therefore the table of [`crate::flags`]
//! has the flags that it reads, and every other flag ends as `unsupported` before Go's shim is started.

use std::{
    env,
    ffi::{OsStr, OsString},
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Command, ExitCode},
};

use crate::{
    Failure,
    flags::{Flag, Form},
    options::split_prefix,
};

/// Flags for the first connection or for the later ones, where Go's shim distinguishes them.
const PREFIXED: &[&str] = &[
    "-on-resume-ech-config-list",
    "-on-initial-expect-ech-accept",
    "-on-resume-expect-ech-accept",
];

/// The flag that Go's shim declares and netbench's addition to it reads, which connects to the address on
/// which the runner listens.
const READ_BY_NETBENCH: &str = "-ipv6";

/// The flag before the path of Go's shim.
const PROGRAM: &str = "-program";

/// Versions that Go's shim can disable together: it would silently leave others enabled.
const TURNED_OFF: &[&[&str]] = &[
    &[],
    &["-no-tls1"],
    &["-no-tls1", "-no-tls11"],
    &["-no-tls1", "-no-tls11", "-no-tls12"],
    &["-no-tls13"],
    &["-no-tls12", "-no-tls13"],
    &["-no-tls11", "-no-tls12", "-no-tls13"],
];

/// Flags that Go's shim reads only where it has a certificate.
const WITH_CERTIFICATE: &[&str] = &[
    "-signing-prefs",
    "-ocsp-response",
    "-expect-peer-verify-pref",
];

/// Runs the shim.
pub fn main() -> ExitCode {
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    if args.iter().any(|arg| arg == "-is-handshaker-supported") {
        crate::say_no_handshaker();
        return ExitCode::SUCCESS;
    }
    match Wanted::read(args) {
        Ok(wanted) => {
            let mut command = Command::new(&wanted.program);
            let error = command.arg("-bogo-mode").args(&wanted.args).exec();
            let program = wanted.program.display();
            Failure::failed(format!("cannot run {program}: {error}")).report()
        }
        Err(failure) => failure.report(),
    }
}

/// The command that is to be run.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    program: PathBuf,
    args: Vec<OsString>,
}

impl Wanted {
    /// Parses the command line.
    ///
    /// # Errors
    /// Returns [`Failure::Unsupported`] for the first flag that Go's shim would not read.
    fn read(args: Vec<OsString>) -> Result<Self, Failure> {
        let mut program = None;
        let mut given: Vec<(String, Option<OsString>)> = Vec::new();
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            if arg == PROGRAM {
                program = args.next().map(PathBuf::from);
                continue;
            }
            let flag = arg.to_string_lossy().into_owned();
            let (_, base) = split_prefix(&flag);
            let known = Flag::named(base).filter(|known| {
                known.name == flag && known.is_supported_by("go")
                    || PREFIXED.contains(&flag.as_str())
                    || flag == READ_BY_NETBENCH
            });
            let known = known.ok_or_else(|| Failure::unsupported(format!("flag {base}")))?;
            let value = match known.form {
                Form::On | Form::Credential => None,
                _ => {
                    let value = args.next();
                    let value =
                        value.ok_or_else(|| Failure::failed(format!("{flag} needs a value")))?;
                    if value.is_empty() {
                        return Err(unread(base, "Go's shim takes an empty value for none"));
                    }
                    Some(value)
                }
            };
            given.push((flag, value));
        }
        together(&given)?;
        let program = program
            .ok_or_else(|| Failure::failed(format!("{PROGRAM} needs the path of Go's shim")))?;
        let words = given.into_iter();
        let args = words.flat_map(|(flag, value)| [Some(flag.into()), value]);
        Ok(Self {
            program,
            args: args.flatten().collect(),
        })
    }
}

/// Refuses flags that Go's shim reads, but not in this combination.
fn together(given: &[(String, Option<OsString>)]) -> Result<(), Failure> {
    let mut off: Vec<&str> = given.iter().map(|(name, _)| name.as_str()).collect();
    off.retain(|name| name.starts_with("-no-tls"));
    off.sort_unstable();
    if !TURNED_OFF.contains(&off.as_slice()) {
        let flag = off.first().copied().unwrap_or_default();
        return Err(unread(
            flag,
            "Go's shim turns versions off from one end only",
        ));
    }
    let certificate = has(given, "-cert-file") || has(given, "-key-file");
    if let Some(flag) = WITH_CERTIFICATE
        .iter()
        .find(|flag| has(given, flag) && !certificate)
    {
        return Err(unread(
            flag,
            "Go's shim reads it beside a certificate alone",
        ));
    }
    if has(given, "-verify-peer") && has(given, "-require-any-client-certificate") {
        let why = "Go's shim lets -verify-peer take its place";
        return Err(unread("-require-any-client-certificate", why));
    }
    let resumes = given
        .iter()
        .any(|(name, value)| name == "-resume-count" && value.as_deref() != Some(OsStr::new("0")));
    if resumes && has(given, "-shim-writes-first") {
        let why = "Go's shim writes first on the first connection alone";
        return Err(unread("-shim-writes-first", why));
    }
    Ok(())
}

fn has(given: &[(String, Option<OsString>)], flag: &str) -> bool {
    given.iter().any(|(name, _)| name == flag)
}

fn unread(flag: &str, why: &str) -> Failure {
    Failure::unsupported(format!("flag {flag}, {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Vec<String>, String> {
        let args = line.split(' ').map(|word| word.replace('_', "").into());
        let args = [PROGRAM.into(), "shim".into()].into_iter().chain(args);
        let wanted = Wanted::read(args.collect()).map_err(|failure| failure.to_string())?;
        assert_eq!(wanted.program, PathBuf::from("shim"));
        let words = wanted.args.iter();
        Ok(words
            .map(|arg| arg.to_string_lossy().into_owned())
            .collect())
    }

    #[test]
    fn what_go_reads_gets_through_and_the_rest_is_unsupported() {
        let through = "-port 1 -ipv6 -server -on-resume-expect-ech-accept -no-tls1 -no-tls11";
        let words: Vec<String> = through.split(' ').map(str::to_owned).collect();
        assert_eq!(read(through), Ok(words));
        for (line, flag) in [
            ("-port 1 -dtls", "-dtls"),
            ("-enable-early-data", "-enable-early-data"),
            ("-on-resume-shim-writes-first", "-shim-writes-first"),
            ("-on-resume-expect-version 771", "-expect-version"),
            ("-expect-alpn _", "-expect-alpn"),
            ("-no-tls12", "-no-tls12"),
            ("-ocsp-response AAAA", "-ocsp-response"),
            (
                "-verify-peer -require-any-client-certificate",
                "-require-any-client-certificate",
            ),
            ("-resume-count 1 -shim-writes-first", "-shim-writes-first"),
        ] {
            let said = read(line).expect_err(line);
            let rest = said.strip_prefix(&format!("unsupported: flag {flag}"));
            assert!(
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(',')),
                "{line}: {said}"
            );
        }
    }
}
