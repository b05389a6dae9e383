//! Tests of the page's colours: text is readable (WCAG 2.2, 1.4.3 and 1.4.11), and no stack has the colour of
//! better or worse.

use std::collections::BTreeMap;

use super::STYLE;

/// The names of the colours of stacks, of parts, and of verdicts.
const STACKS: [&str; 6] = ["s0", "s1", "s2", "s3", "s4", "s5"];
const PARTS: [&str; 6] = ["p0", "p1", "p2", "p3", "p4", "p5"];
const VERDICTS: [&str; 3] = ["yes", "no", "open"];

/// Returns the colours of each theme, by name.
fn themes() -> Vec<BTreeMap<&'static str, &'static str>> {
    let lines = STYLE.lines().filter(|line| line.contains("--ink:"));
    let themes = lines.map(|line| {
        let parts = line.split(['{', '}', ';']);
        let named = parts.filter_map(|part| part.strip_prefix("--")?.split_once(":#"));
        named.collect()
    });
    themes.collect()
}

/// Returns red, green and blue from 0 to 1; in colours of three digits, each digit represents two.
fn rgb(colour: &str) -> [f64; 3] {
    let digits: Vec<f64> = colour
        .chars()
        .filter_map(|digit| digit.to_digit(16).map(f64::from))
        .collect();
    match digits.as_slice() {
        [r, g, b] => [r, g, b].map(|digit| digit * 17.0 / 255.0),
        [r, s, g, h, b, c] => {
            [(r, s), (g, h), (b, c)].map(|(high, low)| (high * 16.0 + low) / 255.0)
        }
        _ => [f64::NAN; 3],
    }
}

fn luminance(colour: &str) -> f64 {
    let linear = rgb(colour).map(|part| {
        if part <= 0.04045 {
            part / 12.92
        } else {
            ((part + 0.055) / 1.055).powf(2.4)
        }
    });
    0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
}

fn contrast(a: &str, b: &str) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn text_and_marks_can_be_told_from_their_ground() {
    let texts = [
        ("ink", "bg"),
        ("ink", "card"),
        ("dim", "bg"),
        ("dim", "card"),
        ("link", "bg"),
        ("link", "card"),
        ("yes", "yesbg"),
        ("loss", "lossbg"),
        ("no", "nobg"),
        ("open", "openbg"),
        ("ink", "lossbg"),
        ("ink", "openbg"),
        ("yes", "card"),
        ("no", "card"),
        ("open", "card"),
        ("card", "yes"),
        ("card", "loss"),
        ("card", "no"),
        ("card", "open"),
        // Marks in the matrix.
        ("ink", "grid"),
        ("ink", "h1"),
        ("ink", "h2"),
        ("on", "h4"),
    ];
    let themes = themes();
    assert_eq!(themes.len(), 3, "light, dark by choice, dark by the system");
    for theme in themes {
        for (text, ground) in texts {
            let found = contrast(theme[text], theme[ground]);
            assert!(found >= 4.5, "{text} on {ground}: {found:.2} in {theme:?}");
        }
        for mark in STACKS.into_iter().chain(PARTS).chain(VERDICTS) {
            let found = contrast(theme[mark], theme["card"]);
            assert!(found >= 3.0, "{mark}: {found:.2} in {theme:?}");
        }
    }
}

#[test]
fn no_stack_has_the_colour_of_better_or_worse() {
    for theme in themes() {
        for verdict in VERDICTS {
            for stack in STACKS.into_iter().chain(PARTS) {
                let (a, b) = (rgb(theme[stack]), rgb(theme[verdict]));
                let apart: f64 = a
                    .iter()
                    .zip(b)
                    .map(|(a, b)| (a - b).powi(2))
                    .sum::<f64>()
                    .sqrt();
                assert!(
                    apart > 0.15,
                    "{stack} and {verdict}: {apart:.2} in {theme:?}"
                );
            }
        }
    }
    let verdicts = [("faster", "yes"), ("slower", "no"), ("same", "open")];
    let others = STACKS.into_iter().chain(PARTS).map(|name| (name, name));
    for (class, name) in verdicts.into_iter().chain(others) {
        let rule = format!(".{class}{{fill:var(--{name})");
        assert!(STYLE.contains(&rule), "{class}");
    }
}
