//! The runner's flags: the values that `ssl/test/test_config.cc` of BoringSSL accepts, and the shims that support
//! each.

/// The flags that a shim could use, one a line: the name, the form of its value, the shims that pass it to their
/// library, and what it concerns (`-` for everything). `client` and `server` are for a flag that concerns only that
/// role: the runner passes some of them to both. `later` is for one that matters only after a connection has begun, or
/// a handshake is done, and `credential` for one that belongs to the credential before it.
pub const TABLE: &str = include_str!("flags.tsv");

/// Flags that shims may ignore, with a kind, the shims and the reason for each: expectations of diagnostics
/// that only BoringSSL offers, and flags that BoringSSL's own shim does not read.
pub const IGNORED: &str = include_str!("../configs/ignored.tsv");

/// A flag of [`TABLE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flag {
    /// The name, with its hyphen.
    pub name: &'static str,
    pub(crate) form: Form,
    shims: &'static str,
    concerns: &'static str,
}

/// The argument of a flag on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// No argument.
    On,
    /// An integer. The flag may be given more than once.
    Number,
    /// Bytes as they are.
    Text,
    /// Bytes in base64. The flag may be given more than once.
    Base64,
    /// No argument; certificate flags after this one belong to a separate credential.
    Credential,
}

impl Flag {
    /// Returns the flags of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.lines().filter_map(Self::of_line)
    }

    /// Returns the flag with this name, if the runner has such a flag and a shim can use it.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::all().find(|flag| flag.name == name)
    }

    fn of_line(line: &'static str) -> Option<Self> {
        let mut columns = line.split('\t');
        Some(Self {
            name: columns.next()?,
            form: match columns.next()? {
                "none" => Form::On,
                "number" => Form::Number,
                "text" => Form::Text,
                "base64" => Form::Base64,
                "credential" => Form::Credential,
                _ => return None,
            },
            shims: columns.next()?,
            concerns: columns.next()?,
        })
    }

    /// Returns whether the shim of a stack (`rustls`, `openssl`, `go`) passes the flag to its library.
    pub fn is_supported_by(&self, shim: &str) -> bool {
        self.shims.split(',').any(|name| name == shim)
    }

    /// Returns whether the flag has this word in the column for what it concerns.
    pub(crate) fn concerns(&self, what: &str) -> bool {
        self.concerns.split(',').any(|word| word == what)
    }
}

/// Returns whether a flag is one of [`IGNORED`].
pub fn is_ignored(flag: &str) -> bool {
    IGNORED
        .lines()
        .any(|line| line.split('\t').next() == Some(flag))
}

/// Returns whether a flag concerns only the other role.
pub(crate) fn is_of_other_role(flag: &str, server: bool) -> bool {
    let other = if server { "client" } else { "server" };
    Flag::named(flag).is_some_and(|flag| flag.concerns(other))
}

/// Returns whether a flag does not concern a connection whose handshake failed: where the library refused earlier, as
/// the test requires, there were no properties to compare and no data to send.
pub(crate) fn is_for_later(flag: &str) -> bool {
    flag.starts_with("-expect-") || Flag::named(flag).is_some_and(|flag| flag.concerns("later"))
}
