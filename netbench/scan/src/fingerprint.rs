//! Fingerprints of a ClientHello: JA3 (Althouse, Atkinson, Atkins 2017) and JA4 (FoxIO 2023).

use md5::Md5;
use netbench_model::tls::is_grease;
use sha2::{Digest, Sha256};

use crate::{
    codec::{ClientHello, extension},
    text::hex,
};

/// Returns the text that JA3 hashes: version, suites, extensions, groups, point formats, in decimal and without
/// GREASE.
pub fn ja3_text(hello: &ClientHello) -> String {
    let formats = hello.extension(extension::EC_POINT_FORMATS);
    let formats = formats.and_then(|body| body.get(1..)).unwrap_or_default();
    let extensions = hello.extensions.iter().map(|(code, _)| *code);
    format!(
        "{},{},{},{},{}",
        hello.legacy_version,
        joined(known(hello.suites.iter().copied())),
        joined(known(extensions)),
        joined(known(hello.groups().into_iter())),
        joined(formats)
    )
}

fn joined<T: ToString>(numbers: impl IntoIterator<Item = T>) -> String {
    let numbers = numbers.into_iter().map(|number| number.to_string());
    numbers.collect::<Vec<_>>().join("-")
}

/// Returns JA3: the MD5 of [`ja3_text`], in hexadecimal.
pub fn ja3(hello: &ClientHello) -> String {
    hex(&Md5::digest(ja3_text(hello)))
}

/// Returns JA4 of a hello over TCP.
pub fn ja4(hello: &ClientHello) -> String {
    let mut suites = known(hello.suites.iter().copied());
    let all = known(hello.extensions.iter().map(|(code, _)| *code));
    let named = all.contains(&extension::SERVER_NAME);
    let newest = known(hello.versions().into_iter()).into_iter().max();
    let head = format!(
        "t{}{}{:02}{:02}{}",
        version(newest.unwrap_or(hello.legacy_version)),
        if named { 'd' } else { 'i' },
        suites.len().min(99),
        all.len().min(99),
        protocol(hello),
    );
    suites.sort_unstable();
    let mut rest = all;
    rest.retain(|code| *code != extension::SERVER_NAME && *code != extension::ALPN);
    rest.sort_unstable();
    let signatures = known(hello.signatures().into_iter());
    let mut extensions = words(&rest);
    if !signatures.is_empty() {
        extensions = format!("{extensions}_{}", words(&signatures));
    }
    let extensions = if rest.is_empty() {
        NOTHING.to_owned()
    } else {
        short(&extensions)
    };
    let suites = if suites.is_empty() {
        NOTHING.to_owned()
    } else {
        short(&words(&suites))
    };
    format!("{head}_{suites}_{extensions}")
}

/// The placeholder for the hash of an empty list.
const NOTHING: &str = "000000000000";

fn known(codes: impl Iterator<Item = u16>) -> Vec<u16> {
    codes.filter(|code| !is_grease(*code)).collect()
}

fn version(code: u16) -> &'static str {
    match code {
        0x0304 => "13",
        0x0303 => "12",
        0x0302 => "11",
        0x0301 => "10",
        0x0300 => "s3",
        0x0002 => "s2",
        _ => "00",
    }
}

/// Returns the first protocol's first and last character, or those of its hexadecimal form if they are not
/// alphanumeric.
fn protocol(hello: &ClientHello) -> String {
    let protocols = hello.alpn();
    let Some([first, .., last] | [first @ last]) = protocols.first().map(Vec::as_slice) else {
        return "00".to_owned();
    };
    if first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric() {
        format!("{}{}", char::from(*first), char::from(*last))
    } else {
        format!("{:x}{:x}", first >> 4, last & 0xf)
    }
}

fn words(codes: &[u16]) -> String {
    let words: Vec<String> = codes.iter().map(|code| format!("{code:04x}")).collect();
    words.join(",")
}

fn short(text: &str) -> String {
    hex(&Sha256::digest(text)).chars().take(12).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(suites: &[u16], extensions: &[(u16, &[u8])]) -> ClientHello {
        ClientHello {
            message_bytes: 0,
            wire_bytes: 0,
            legacy_version: 0x0301,
            random: [0; 32],
            session_id: Vec::new(),
            suites: suites.to_vec(),
            compression: vec![0],
            extensions: extensions
                .iter()
                .map(|(code, body)| (*code, body.to_vec()))
                .collect(),
        }
    }

    #[test]
    fn ja3_is_that_of_its_authors_examples() {
        let cases = [
            (
                hello(
                    &[47, 53, 5, 10, 49161, 49162, 49171, 49172, 50, 56, 19, 4],
                    &[(0, &[]), (10, &[0, 6, 0, 23, 0, 24, 0, 25]), (11, &[1, 0])],
                ),
                "769,47-53-5-10-49161-49162-49171-49172-50-56-19-4,0-10-11,23-24-25,0",
                "ada70206e40642a3e4461f35503241d5",
            ),
            (
                hello(&[4, 5, 10, 9, 100, 98, 3, 6, 19, 18, 99], &[]),
                "769,4-5-10-9-100-98-3-6-19-18-99,,,",
                "de350869b8c85de67a350c8d186f11e6",
            ),
        ];
        for (hello, text, hash) in cases {
            assert_eq!(ja3_text(&hello), text);
            assert_eq!(ja3(&hello), hash);
        }
    }

    /// The hello of the specification's worked example.
    #[test]
    fn ja4_is_that_of_its_authors_example() {
        let suites = [
            0x2a2a, 0x1301, 0x1302, 0x1303, 0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8, 0xc013,
            0xc014, 0x009c, 0x009d, 0x002f, 0x0035,
        ];
        let schemes: &[u8] = &[0, 16, 4, 3, 8, 4, 4, 1, 5, 3, 8, 5, 5, 1, 8, 6, 6, 1];
        let versions: &[u8] = &[6, 0x7a, 0x7a, 3, 4, 3, 3];
        let protocols: &[u8] = &[
            0, 12, 2, b'h', b'2', 8, b'h', b't', b't', b'p', b'/', b'1', b'.', b'1',
        ];
        let mut extensions: Vec<(u16, &[u8])> = vec![
            (0x0a0a, &[]),
            (0x0000, &[]),
            (0x0010, protocols),
            (0x000d, schemes),
            (0x002b, versions),
        ];
        for code in [
            0x0005, 0x000a, 0x000b, 0x0012, 0x0015, 0x0017, 0x001b, 0x0023, 0x002d, 0x0033, 0x4469,
            0xff01,
        ] {
            extensions.push((code, &[]));
        }
        assert_eq!(
            ja4(&hello(&suites, &extensions)),
            "t13d1516h2_8daaf6152771_e5627efa2ab1"
        );
    }

    #[test]
    fn protocols_are_shortened_as_the_specification_says() {
        let cases: [(&[u8], &str); 5] = [
            (b"h2", "h2"),
            (b"http/1.1", "h1"),
            (b"x", "xx"),
            (&[0xab], "ab"),
            (&[0xab, 0xcd], "ad"),
        ];
        for (name, due) in cases {
            let length = u8::try_from(name.len()).expect("short");
            let body = [&[0, length + 1, length], name].concat();
            let hello = hello(&[], &[(16, &body)]);
            assert_eq!(protocol(&hello), due);
        }
        assert_eq!(
            ja4(&hello(&[], &[])),
            "t10i000000_000000000000_000000000000"
        );
    }
}
