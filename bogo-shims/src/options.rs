//! The options of a test, for each of its connections.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    ops::Deref,
    os::unix::ffi::OsStringExt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::{
    Failure,
    flags::{self, Flag, Form},
};

/// The options of one connection.
#[derive(Debug, Clone, Default)]
pub struct Options {
    given: Given,
    credentials: Vec<Credential>,
}

/// A credential with separate flags.
#[derive(Debug, Clone)]
pub struct Credential {
    kind: &'static str,
    /// Its own flags, and its kind.
    given: Given,
}

/// Flags and their values. A flag that is looked up counts as read; see [`OptionSets::unread`].
#[derive(Debug, Clone, Default)]
pub struct Given(BTreeMap<&'static str, Vec<Argument>>);

/// One flag of the command line. All sets that it belongs to, and their copies, share its state.
#[derive(Debug, Clone)]
struct Argument {
    value: Value,
    read: Arc<AtomicBool>,
}

#[derive(Debug, Clone)]
enum Value {
    On,
    Number(i64),
    Bytes(Vec<u8>),
}

/// The options of the first connection, of those after it, and of a retry after rejected early data.
#[derive(Debug, Clone, Default)]
pub struct OptionSets {
    /// Options of the first connection.
    pub initial: Options,
    /// Options of the connections after the first.
    pub resume: Options,
    /// Options of the retry after rejected early data.
    pub retry: Options,
}

impl Argument {
    fn is_read(&self) -> bool {
        self.read.load(Ordering::Relaxed)
    }
}

impl OptionSets {
    /// Parses the command line of the shim of a stack, which knows the flags that [`Flag::is_supported_by`] it.
    ///
    /// # Errors
    /// Returns [`Failure::Unsupported`] for every other flag, [`Failure::Failed`] for a value in the wrong
    /// format.
    pub fn parse(args: impl IntoIterator<Item = OsString>, shim: &str) -> Result<Self, Failure> {
        let mut sets = Self::default();
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            let arg = arg.to_string_lossy().into_owned();
            let (prefix, name) = split_prefix(&arg);
            let flag = Flag::named(name)
                .filter(|flag| flag.is_supported_by(shim) || flags::is_ignored(name))
                .ok_or_else(|| Failure::unsupported(format!("flag {name}")))?;
            let value = match flag.form {
                Form::On | Form::Credential => Value::On,
                form => {
                    let text = args
                        .next()
                        .ok_or_else(|| Failure::failed(format!("{name} needs a value")))?
                        .into_vec();
                    value(form, text)
                        .ok_or_else(|| Failure::failed(format!("{name} has a bad value")))?
                }
            };
            let argument = Argument {
                value,
                read: Arc::default(),
            };
            let each = [&mut sets.initial, &mut sets.resume, &mut sets.retry];
            for (set, own) in each.into_iter().zip(PREFIXES) {
                if prefix.is_none_or(|prefix| prefix == own) {
                    set.add(flag, argument.clone());
                }
            }
        }
        Ok(sets)
    }

    /// Returns the names of the flags that have not been read so far: their requirements were neither met nor
    /// checked.
    pub fn unread(&self) -> BTreeSet<&str> {
        self.each().into_iter().flat_map(Options::unread).collect()
    }

    /// Checks that the contexts, which a QUIC application would compare before early data, are the same on
    /// all connections. The libraries do not compare them, so only a test whose connections agree can be run.
    ///
    /// # Errors
    /// Returns [`Failure::Unsupported`] where they differ.
    pub fn same_early_data_context(&self) -> Result<(), Failure> {
        let contexts = self
            .each()
            .map(|options| options.bytes("-quic-early-data-context"));
        if contexts.iter().all(|context| *context == contexts[0]) {
            Ok(())
        } else {
            Err(Failure::unsupported("contexts of early data that differ"))
        }
    }

    /// Returns all sets.
    pub fn each(&self) -> [&Options; 3] {
        [&self.initial, &self.resume, &self.retry]
    }

    /// Returns the options of each connection, and whether it is one after the first.
    pub fn connections(&self) -> impl Iterator<Item = (&Options, bool)> {
        let after_first = self.initial.number("-resume-count").unwrap_or(0);
        let resumed = (0..after_first).map(|_| (&self.resume, true));
        std::iter::once((&self.initial, false)).chain(resumed)
    }
}

/// The prefixes of flags for one set, in the order of [`OptionSets::each`].
const PREFIXES: [&str; 3] = ["-on-initial", "-on-resume", "-on-retry"];

/// Splits the prefix from a flag that is for one set.
pub(crate) fn split_prefix(arg: &str) -> (Option<&'static str>, &str) {
    let rests = PREFIXES.map(|prefix| (Some(prefix), arg.strip_prefix(prefix).unwrap_or("")));
    let mut rests = rests.into_iter();
    rests
        .find(|(_, rest)| rest.starts_with('-'))
        .unwrap_or((None, arg))
}

fn value(form: Form, text: Vec<u8>) -> Option<Value> {
    Some(match form {
        Form::Number => Value::Number(
            String::from_utf8(text)
                .ok()
                .and_then(|text| text.parse().ok())?,
        ),
        Form::Base64 => Value::Bytes(STANDARD.decode(text).ok()?),
        Form::Text => Value::Bytes(text),
        Form::On | Form::Credential => Value::On,
    })
}

impl Options {
    /// Returns the credentials that have separate flags, in order.
    pub fn credentials(&self) -> &[Credential] {
        for credential in &self.credentials {
            credential.take_for_granted(&[credential.kind]);
        }
        &self.credentials
    }

    /// Returns whether this side shows a raw public key (RFC 7250).
    pub fn has_raw_key(&self) -> bool {
        let mut credentials = self.credentials().iter();
        credentials.any(|credential| credential.kind() == "-new-rpk-credential")
    }

    /// Returns the time between this connection and the next.
    pub fn resumption_delay(&self) -> Duration {
        let seconds = self.number("-resumption-delay").unwrap_or(0);
        Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
    }

    fn unread(&self) -> impl Iterator<Item = &str> {
        let own = self.credentials.iter().flat_map(|one| one.given.unread());
        self.given.unread().chain(own)
    }

    fn add(&mut self, flag: Flag, argument: Argument) {
        let begins = flag.form == Form::Credential;
        if begins {
            self.credentials.push(Credential {
                kind: flag.name,
                given: Given::default(),
            });
        }
        let given = match self.credentials.last_mut() {
            Some(credential) if begins || flag.concerns("credential") => &mut credential.given,
            _ => &mut self.given,
        };
        given.0.entry(flag.name).or_default().push(argument);
    }
}

impl Credential {
    /// Returns the flag that began the credential, such as `-new-x509-credential`.
    pub fn kind(&self) -> &str {
        self.kind
    }
}

impl Deref for Options {
    type Target = Given;

    fn deref(&self) -> &Given {
        &self.given
    }
}

impl Deref for Credential {
    type Target = Given;

    fn deref(&self) -> &Given {
        &self.given
    }
}

impl Given {
    /// Returns whether a flag was given.
    pub fn on(&self, flag: &str) -> bool {
        self.values(flag).next().is_some()
    }

    fn unread(&self) -> impl Iterator<Item = &str> {
        let flags = self.0.iter();
        let unread = flags.filter(|(_, given)| !given.iter().all(Argument::is_read));
        unread.map(|(flag, _)| *flag)
    }

    /// Returns the last value of a flag for numbers.
    pub fn number(&self, flag: &str) -> Option<i64> {
        self.numbers(flag).pop()
    }

    /// Marks flags as read because the library meets their requirements in any case, or gets their values
    /// through a callback.
    pub fn take_for_granted(&self, flags: &[&str]) {
        for flag in flags {
            let _given = self.on(flag);
        }
    }

    /// Returns all values of a flag for numbers.
    pub fn numbers(&self, flag: &str) -> Vec<i64> {
        self.values(flag)
            .filter_map(|value| match value {
                Value::Number(number) => Some(*number),
                Value::On | Value::Bytes(_) => None,
            })
            .collect()
    }

    /// Returns all values of a flag for numbers that are code points of TLS.
    pub fn codes(&self, flag: &str) -> Vec<u16> {
        let numbers = self.numbers(flag);
        numbers
            .into_iter()
            .filter_map(|number| u16::try_from(number).ok())
            .collect()
    }

    /// Returns the last value of a flag for bytes.
    pub fn bytes(&self, flag: &str) -> Option<&[u8]> {
        self.all_bytes(flag).pop()
    }

    /// Returns all values of a flag for bytes.
    pub fn all_bytes(&self, flag: &str) -> Vec<&[u8]> {
        self.values(flag)
            .filter_map(|value| match value {
                Value::Bytes(bytes) => Some(bytes.as_slice()),
                Value::On | Value::Number(_) => None,
            })
            .collect()
    }

    fn values(&self, flag: &str) -> impl Iterator<Item = &Value> {
        let given = self.0.get(flag).map(Vec::as_slice).unwrap_or_default();
        for argument in given {
            argument.read.store(true, Ordering::Relaxed);
        }
        given.iter().map(|argument| &argument.value)
    }

    /// Returns the last value of a flag for text; names are ASCII.
    pub fn text(&self, flag: &str) -> Option<String> {
        self.bytes(flag)
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }
}

/// Decodes a comma-separated list of hexadecimal strings, such as DER names.
///
/// # Errors
/// Returns [`Failure::Failed`] for any other text.
pub fn hex_list(text: &str) -> Result<Vec<Vec<u8>>, Failure> {
    let decoded: Option<_> = text.split(',').map(hex).collect();
    decoded.ok_or_else(|| Failure::failed("bad hexadecimal value"))
}

fn hex(text: &str) -> Option<Vec<u8>> {
    // The standard library's parser accepts a sign.
    if !text.len().is_multiple_of(2) || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let pairs = (0..text.len()).step_by(2);
    pairs
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<OptionSets, Failure> {
        OptionSets::parse(args.iter().map(OsString::from), "rustls")
    }

    #[test]
    fn prefixes_choose_connections() {
        let sets = parse(&["-on-resume-curves", "29", "-curves", "23", "-server"]).unwrap();
        assert_eq!(sets.initial.codes("-curves"), [23]);
        assert_eq!(sets.resume.codes("-curves"), [29, 23]);
        assert_eq!(sets.retry.codes("-curves"), [23]);
        assert!(sets.retry.on("-server"));
    }

    #[test]
    fn unknown_flags_are_unsupported_and_bad_values_fail() {
        for unknown in ["-no-such-flag", "-psk", "", "-on-resume", "\x1b[31m"] {
            assert!(
                matches!(parse(&[unknown]), Err(Failure::Unsupported(_))),
                "{unknown:?}"
            );
        }
        for bad in [&["-port"][..], &["-port", "x"], &["-ocsp-response", "*"]] {
            assert!(matches!(parse(bad), Err(Failure::Failed(_))), "{bad:?}");
        }
    }

    #[test]
    fn credentials_have_flags_of_their_own() {
        let args = [
            "-cert-file",
            "a",
            "-new-x509-credential",
            "-cert-file",
            "b",
            "-curves",
            "1",
        ];
        let options = parse(&args).unwrap().initial;
        assert_eq!(options.text("-cert-file").as_deref(), Some("a"));
        assert_eq!(
            options.credentials()[0].text("-cert-file").as_deref(),
            Some("b")
        );
        assert_eq!(options.codes("-curves"), [1]);
    }

    #[test]
    fn what_was_not_asked_for_is_unread() {
        let args = ["-server", "-on-resume-curves", "23", "-curves", "29"];
        let sets = parse(&[&args[..], &["-new-x509-credential", "-cert-file", "b"]].concat());
        let sets = sets.unwrap();
        assert!(sets.initial.on("-server"));
        assert_eq!(sets.initial.clone().codes("-curves"), [29]);
        let left = ["-cert-file", "-curves", "-new-x509-credential"];
        assert_eq!(sets.unread().into_iter().collect::<Vec<_>>(), left);
        assert_eq!(sets.resume.codes("-curves"), [23, 29]);
        assert_eq!(sets.retry.credentials()[0].kind(), "-new-x509-credential");
        let _other = sets.resume.text("-cert-file");
        assert_eq!(
            sets.unread().into_iter().collect::<Vec<_>>(),
            ["-cert-file"]
        );
    }

    #[test]
    fn hexadecimal_lists() {
        assert_eq!(hex_list("00ff,10").unwrap(), [vec![0, 255], vec![16]]);
        for wrong in ["0", "zz", "+f", "é"] {
            assert!(hex_list(wrong).is_err(), "{wrong}");
        }
    }
}
