//! Profiles, and their trusted roots: an NSS database, which Chromium and Firefox both read.

use std::{
    ffi::OsString,
    fs, io,
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use crate::{BrowserError, program::on_path};

/// The database, in errors.
const DATABASE: &str = "the database of its roots";

const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// Roots that a profile trusts beside the browser's own: the database is made once, and copied into each
/// profile.
#[derive(Debug)]
pub struct Trust {
    /// The database's files.
    files: Vec<(OsString, Vec<u8>)>,
    pem: String,
}

impl Trust {
    /// Makes a database with these certificates, which affects only the profiles that are given it.
    ///
    /// # Errors
    /// Returns an error if NSS's `certutil` is not installed, or refuses a certificate.
    pub fn of_pem(pem: &str) -> Result<Self, BrowserError> {
        let (trust, refused) = Self::of_each(&[pem])?;
        match refused.into_iter().next() {
            Some(Some(source)) => Err(BrowserError::profile(DATABASE)(source)),
            _ => Ok(trust),
        }
    }

    /// Makes a database with the certificates of several texts, and returns for each text the reason why it
    /// was not added completely.
    ///
    /// # Errors
    /// Returns an error if NSS's `certutil` is not installed, or makes no database.
    pub fn of_each(texts: &[&str]) -> Result<(Self, Vec<Option<io::Error>>), BrowserError> {
        let program = on_path("certutil").ok_or_else(|| {
            let help =
                "it puts the lab's root into a browser's profile; Debian's package is libnss3-tools";
            BrowserError::missing("certutil", help)
        })?;
        let failed = BrowserError::profile(DATABASE);
        let database = tempfile::Builder::new()
            .prefix("netbench-trust-")
            .tempdir()
            .map_err(&failed)?;
        let folder = format!("sql:{}", database.path().display());
        let new = ["-d", &folder, "-N", "--empty-password"];
        certutil(&program, &new, "").map_err(&failed)?;
        let mut number = 0;
        let refused = texts.iter().map(|text| {
            let added = certificates(text).try_for_each(|certificate| {
                number += 1;
                let name = format!("netbench {number}");
                // "C" is a CA that is trusted for servers.
                let add = ["-d", &folder, "-A", "-a", "-n", &name, "-t", "C,,"];
                certutil(&program, &add, certificate)
            });
            added.err()
        });
        let refused = refused.collect();
        let trust = Self {
            files: files(database.path()).map_err(&failed)?,
            pem: texts.concat(),
        };
        Ok((trust, refused))
    }

    /// Returns the certificates, for clients that read no NSS database.
    pub(crate) fn pem(&self) -> &str {
        &self.pem
    }

    pub(crate) fn copy_to(&self, folder: &Path) -> Result<(), BrowserError> {
        let mut files = self.files.iter();
        fs::create_dir_all(folder)
            .and_then(|()| files.try_for_each(|(name, bytes)| fs::write(folder.join(name), bytes)))
            .map_err(BrowserError::profile(DATABASE))
    }
}

/// Returns the names and contents of a folder's files.
fn files(folder: &Path) -> io::Result<Vec<(OsString, Vec<u8>)>> {
    let files = fs::read_dir(folder)?.map(|entry| {
        let entry = entry?;
        Ok((entry.file_name(), fs::read(entry.path())?))
    });
    files.collect()
}

fn certificates(pem: &str) -> impl Iterator<Item = &str> {
    pem.split_inclusive(END)
        .filter_map(|part| Some(&part[part.find(BEGIN)?..]))
}

fn certutil(program: &Path, arguments: &[&str], input: &str) -> io::Result<()> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("certutil: {}", said.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_are_taken_one_by_one() {
        let pem = format!("# a\n{BEGIN}\nAA\n{END}\n\n# b\n{BEGIN}\nBB\n{END}\ntrailing");
        let found: Vec<&str> = certificates(&pem).collect();
        assert_eq!(
            found,
            [format!("{BEGIN}\nAA\n{END}"), format!("{BEGIN}\nBB\n{END}")]
        );
        assert_eq!(certificates("nothing").count(), 0);
    }
}
