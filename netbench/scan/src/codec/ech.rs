//! Lists of configurations of Encrypted ClientHello (RFC 9849 section 4).

use super::{Reader, extension::ENCRYPTED_CLIENT_HELLO};

/// The maximum number of configurations that are read of a list.
const MOST_CONFIGS: usize = 32;

/// A configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EchConfig {
    /// The version, which is the code point of the extension.
    pub version: u16,
    /// The contents, or `None` if the version is not that of the RFC.
    pub contents: Option<EchContents>,
}

/// The contents of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EchContents {
    /// The configuration's number, with which a client names it.
    pub id: u8,
    /// The KEM (RFC 9180 section 7.1).
    pub kem: u16,
    /// KDFs and AEADs (RFC 9180 sections 7.2 and 7.3).
    pub suites: Vec<(u16, u16)>,
    /// The length of the longest name that the padding of clients hides.
    pub maximum_name_length: u8,
    /// The name of the client-facing server.
    pub public_name: Vec<u8>,
}

/// Parses an ECHConfigList. Returns `None` if it is not one, if it is empty, or if a configuration of the RFC's version
/// cannot be read.
pub fn ech_configs(list: &[u8]) -> Option<Vec<EchConfig>> {
    let mut outer = Reader::new(list);
    let mut reader = Reader::new(outer.vec16()?);
    let mut configs = Vec::new();
    while !reader.is_empty() && configs.len() < MOST_CONFIGS {
        let version = reader.u16()?;
        let body = reader.vec16()?;
        let contents = match version {
            ENCRYPTED_CLIENT_HELLO => Some(contents(body)?),
            _ => None,
        };
        configs.push(EchConfig { version, contents });
    }
    (outer.is_empty() && !configs.is_empty()).then_some(configs)
}

fn contents(body: &[u8]) -> Option<EchContents> {
    let mut reader = Reader::new(body);
    let (id, kem) = (reader.u8()?, reader.u16()?);
    // The public key.
    reader.vec16()?;
    let suites = Reader::new(reader.vec16()?).u16s()?;
    let (pairs, rest) = suites.as_chunks();
    let contents = EchContents {
        id,
        kem,
        suites: pairs.iter().map(|[kdf, aead]| (*kdf, *aead)).collect(),
        maximum_name_length: reader.u8()?,
        public_name: reader.vec8()?.to_vec(),
    };
    // The extensions.
    reader.vec16()?;
    (rest.is_empty() && reader.is_empty()).then_some(contents)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{list16, put_u16, put_vec8, put_vec16};

    fn config(version: u16, contents: &[u8]) -> Vec<u8> {
        let mut config = Vec::new();
        put_u16(&mut config, version);
        put_vec16(&mut config, contents);
        config
    }

    fn list(configs: &[Vec<u8>]) -> Vec<u8> {
        let mut list = Vec::new();
        put_vec16(&mut list, &configs.concat());
        list
    }

    fn contents() -> Vec<u8> {
        let mut contents = vec![7, 0, 0x20];
        put_vec16(&mut contents, &[9; 32]);
        contents.extend(list16([1, 1, 1, 3]));
        contents.push(64);
        put_vec8(&mut contents, b"public.example");
        put_vec16(&mut contents, &[]);
        contents
    }

    #[test]
    fn configurations_of_other_versions_are_skipped() {
        let unknown = config(0x7a7a, &[1, 2, 3]);
        let known = config(ENCRYPTED_CLIENT_HELLO, &contents());
        let found = ech_configs(&list(&[unknown, known])).expect("a list");
        assert_eq!((found[0].version, &found[0].contents), (0x7a7a, &None));
        let found = found[1].contents.as_ref().expect("contents");
        assert_eq!((found.id, found.kem), (7, 0x20));
        assert_eq!(found.suites, [(1, 1), (1, 3)]);
        assert_eq!(found.maximum_name_length, 64);
        assert_eq!(found.public_name, b"public.example");
    }

    /// A list that is cut anywhere, or followed by a byte, is none.
    #[test]
    fn damaged_lists_are_refused() {
        let whole = list(&[config(ENCRYPTED_CLIENT_HELLO, &contents())]);
        assert!(ech_configs(&whole).is_some());
        for length in 0..whole.len() {
            assert_eq!(ech_configs(&whole[..length]), None, "{length} bytes");
        }
        assert_eq!(ech_configs(&[whole, vec![0]].concat()), None);
        assert_eq!(ech_configs(&[0, 0]), None);
        for length in 0..contents().len() {
            let cut = config(ENCRYPTED_CLIENT_HELLO, &contents()[..length]);
            assert_eq!(
                ech_configs(&list(&[cut])),
                None,
                "contents of {length} bytes"
            );
        }
        let longer = config(ENCRYPTED_CLIENT_HELLO, &[contents(), vec![0]].concat());
        assert_eq!(ech_configs(&list(&[longer])), None);
    }
}
