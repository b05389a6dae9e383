/// Whether `name` matches one of `patterns`, which semicolons part.
pub fn glob_matches_any(patterns: &str, name: &str) -> bool {
    patterns
        .split(';')
        .any(|pattern| glob_matches(pattern, name))
}

/// Whether `name` matches `pattern`: `*` is any text, `?` any character; the rest is itself. Test names
/// have no `/`, which the runner's own patterns would treat apart.
pub fn glob_matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n) = (0, 0);
    // Where the last `*` was, and up to where it has eaten.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(byte) if *byte == b'?' || *byte == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match &mut star {
                Some((at, eaten)) => {
                    *eaten += 1;
                    p = *at + 1;
                    n = *eaten;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stars_and_question_marks() {
        let cases = [
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("A*", "ALPN", true),
            ("*-TLS1?", "Basic-TLS13", true),
            ("*-TLS1?", "Basic-TLS1", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-b-b", false),
            ("**", "x", true),
        ];
        for (pattern, name, want) in cases {
            assert_eq!(glob_matches(pattern, name), want, "{pattern} {name}");
        }
    }

    proptest! {
        #[test]
        fn a_name_matches_itself_and_any_part_replaced(name in "[A-Za-z0-9-]{0,20}", a in 0_usize..20, b in 0_usize..20) {
            prop_assert!(glob_matches(&name, &name));
            let (a, b) = (a.min(name.len()), b.min(name.len()));
            let (a, b) = (a.min(b), a.max(b));
            let pattern = format!("{}*{}", &name[..a], &name[b..]);
            prop_assert!(glob_matches(&pattern, &name));
        }
    }
}
