use super::{Alert, CipherSuite, ExtensionType, Group, SignatureScheme, TlsVersion};

/// Runs a test macro for every registry.
macro_rules! for_each_registry {
    ($test:ident) => {
        $test!(CipherSuite, "cipher-suites.tsv", 349);
        $test!(Group, "groups.tsv", 54);
        $test!(SignatureScheme, "signature-schemes.tsv", 31);
        $test!(ExtensionType, "extensions.tsv", 33);
        $test!(Alert, "alerts.tsv", 34);
    };
}

#[test]
fn tables_are_sorted_and_whole() {
    macro_rules! whole {
        ($name:ident, $table:literal, $rows:literal) => {
            let all: Vec<$name> = $name::registered().collect();
            assert_eq!(all.len(), $rows, $table);
            assert!(all.windows(2).all(|pair| pair[0] < pair[1]), $table);
            let text = include_str!(concat!("../../data/", $table));
            let lines = text.lines().filter(|line| !line.starts_with('#'));
            assert_eq!(lines.count(), $rows, $table);
        };
    }
    for_each_registry!(whole);
}

#[test]
fn constants_have_the_names_of_the_registry() {
    macro_rules! named {
        ($name:ident, $table:literal, $rows:literal) => {
            for (constant, value) in $name::CONSTANTS {
                let name = value.name().unwrap_or_default();
                assert!(name.eq_ignore_ascii_case(constant), "{constant}: {name}");
            }
        };
    }
    for_each_registry!(named);
}

#[test]
fn names_and_codes_come_back_from_text_and_json() {
    macro_rules! round_trip {
        ($name:ident, $table:literal, $rows:literal) => {
            for value in $name::registered().chain([3, 77, 250].map($name)) {
                assert_eq!(value.to_string().parse(), Ok(value));
                let json = serde_json::to_string(&value).unwrap();
                assert_eq!(json, format!("\"{value}\""));
                for json in [json, value.0.to_string()] {
                    assert_eq!(serde_json::from_str::<$name>(&json).unwrap(), value);
                }
            }
        };
    }
    for_each_registry!(round_trip);
}

#[test]
fn versions_are_read_by_name_and_by_code() {
    for version in TlsVersion::ALL {
        let code = version.code();
        for json in [
            format!("\"{version}\""),
            format!("\"0x{code:04x}\""),
            code.to_string(),
        ] {
            assert_eq!(serde_json::from_str::<TlsVersion>(&json).unwrap(), version);
        }
        assert_eq!(
            serde_json::to_string(&version).unwrap(),
            format!("\"{version}\"")
        );
    }
}

#[test]
fn what_is_no_code_point_is_refused() {
    for json in [
        "\"\"",
        "\"TLS_FOO\"",
        "\"0x\"",
        "\"0x12345\"",
        "65536",
        "-1",
        "1.5",
        "null",
        "\"0x+1\"",
        "\"+1\"",
        "\"x25519 \"",
    ] {
        assert!(serde_json::from_str::<Group>(json).is_err(), "{json}");
        assert!(serde_json::from_str::<TlsVersion>(json).is_err(), "{json}");
    }
    assert!("256".parse::<Alert>().is_err());
    assert!(serde_json::from_str::<Alert>("256").is_err());
    let refused = "TLS_FOO".parse::<CipherSuite>().unwrap_err().to_string();
    assert_eq!(
        refused,
        "unknown cipher suite \"TLS_FOO\"; expected a registered name such as TLS_AES_128_GCM_SHA256, or a code \
         point such as 0x1301"
    );
}

#[test]
fn code_points_without_a_name_are_shown_in_hexadecimal() {
    assert_eq!(CipherSuite(0x5678).to_string(), "0x5678");
    assert_eq!(Group(0xFE30).to_string(), "0xFE30");
    assert_eq!(Alert(0xEE).to_string(), "0xEE");
    assert_eq!(
        ExtensionType(0x4469).to_string(),
        "17513".parse::<ExtensionType>().unwrap().to_string()
    );
    assert_eq!(ExtensionType(0x2A2A).shown(), "GREASE");
    assert_eq!(
        "tls_aes_128_gcm_sha256".parse(),
        Ok(CipherSuite::TLS_AES_128_GCM_SHA256)
    );
}
