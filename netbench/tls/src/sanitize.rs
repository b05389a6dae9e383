/// Returns `text` with each character that a terminal or a browser would interpret instead of display replaced by
/// U+FFFD. All text from a server, a worker or a file passes through this function before it is stored or shown.
///
/// The replaced characters are control characters (C0, DEL and C1, so that no escape sequence remains), line and
/// paragraph separators, the characters with the Unicode property Bidi_Control, and invisible characters that can hide
/// in a name. ZERO WIDTH JOINER and NON-JOINER are kept, because Persian and Indic spelling needs them.
pub fn sanitize(text: &str) -> String {
    text.chars()
        .map(|c| if is_obeyed(c) { '\u{fffd}' } else { c })
        .collect()
}

/// Returns at most the first `longest` characters of [`sanitize`].
pub fn sanitize_prefix(text: &str, longest: usize) -> String {
    let end = text.char_indices().nth(longest).map(|(end, _)| end);
    sanitize(&text[..end.unwrap_or(text.len())])
}

/// Formats `text` for a message: quoted, escaped, and cut if long.
pub fn shown(text: &str) -> String {
    const MOST: usize = 60;
    let mut cut = text.chars();
    let start: String = cut.by_ref().take(MOST).collect();
    if cut.next().is_none() {
        format!("{start:?}")
    } else {
        format!("{start:?}…")
    }
}

fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // Line and paragraph separator.
            '\u{2028}' | '\u{2029}'
            // Bidi_Control (UAX #9).
            | '\u{061c}' | '\u{200e}' | '\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            // Soft hyphen, zero-width space, word joiner and invisible operators, byte order mark.
            | '\u{00ad}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
            // Interlinear annotation, and tag characters.
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_would_be_obeyed_is_replaced_and_the_rest_stays() {
        let cases = [
            ("", ""),
            ("example.test", "example.test"),
            ("é ü 日本 🦀 \u{fffd}", "é ü 日本 🦀 \u{fffd}"),
            ("شرکت\u{200c}ها", "شرکت\u{200c}ها"),
            ("👩\u{200d}💻", "👩\u{200d}💻"),
            // C0, DEL, C1.
            ("a\0b\tc\r\n", "a\u{fffd}b\u{fffd}c\u{fffd}\u{fffd}"),
            ("a\x7fb\u{85}c", "a\u{fffd}b\u{fffd}c"),
            // Escape sequences, with ESC [ and with its C1 equivalent; a title, a hyperlink.
            ("\x1b[31mred\x1b[0m", "\u{fffd}[31mred\u{fffd}[0m"),
            ("\u{9b}2Jgone", "\u{fffd}2Jgone"),
            ("\x1b]0;title\x07", "\u{fffd}]0;title\u{fffd}"),
            ("\x1b]8;;http://a\x1b\\b", "\u{fffd}]8;;http://a\u{fffd}\\b"),
            // Text that is displayed in reverse.
            ("moc.\u{202e}elpmaxe", "moc.\u{fffd}elpmaxe"),
            (
                "\u{061c}\u{200e}\u{200f}\u{2066}\u{2069}",
                "\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}",
            ),
            // Names that look alike.
            ("exam\u{200b}ple", "exam\u{fffd}ple"),
            ("exam\u{ad}ple\u{feff}", "exam\u{fffd}ple\u{fffd}"),
            ("a\u{2028}b\u{2029}", "a\u{fffd}b\u{fffd}"),
            ("a\u{e0041}", "a\u{fffd}"),
        ];
        for (text, due) in cases {
            assert_eq!(sanitize(text), due, "{text:?}");
        }
    }

    #[test]
    fn a_prefix_is_counted_in_characters() {
        let cases = [
            ("abc", 0, ""),
            ("abc", 2, "ab"),
            ("abc", 3, "abc"),
            ("abc", 9, "abc"),
            ("日本\n", 3, "日本\u{fffd}"),
        ];
        for (text, longest, due) in cases {
            assert_eq!(sanitize_prefix(text, longest), due, "{text:?} {longest}");
        }
    }

    proptest! {
        #[test]
        fn nothing_obeyed_is_left_and_nothing_else_is_touched(text in any::<String>()) {
            let clean = sanitize(&text);
            prop_assert!(!clean.chars().any(char::is_control));
            prop_assert!(!clean.contains(|c| (0x202a..=0x202e).contains(&u32::from(c))));
            prop_assert_eq!(clean.chars().count(), text.chars().count());
            for (before, after) in text.chars().zip(clean.chars()) {
                let replaced = after == char::REPLACEMENT_CHARACTER && !before.is_alphanumeric();
                prop_assert!(after == before || replaced);
            }
            prop_assert_eq!(sanitize(&clean), clean.clone());
        }

        #[test]
        fn a_prefix_is_the_beginning_of_the_whole(text in any::<String>(), longest in 0usize..40) {
            let prefix = sanitize_prefix(&text, longest);
            prop_assert!(sanitize(&text).starts_with(&prefix));
            prop_assert_eq!(prefix.chars().count(), text.chars().count().min(longest));
        }
    }
}
