//! Validity, to the second. It includes both ends (RFC 5280 section 4.1.2.5).

use netbench_model::chains::Due::{MustAccept, MustReject};

use super::draft::{Draft, spec};

const DAY_S: i64 = 24 * 60 * 60;

pub(super) fn cases() -> Vec<Draft> {
    let mut all = Vec::new();
    for (certificate, begins, ends) in [
        ("leaf", -2, 2),
        ("intermediate", -20, 20),
        ("root", -200, 200),
    ] {
        let seconds = |days: i32| i64::from(days) * DAY_S;
        // Clocks are inaccurate, and some libraries allow for that.
        let moments = [
            ("a-week-early", seconds(begins - 7), false),
            ("a-second-early", seconds(begins) - 1, false),
            ("at-its-begin", seconds(begins), true),
            ("at-its-end", seconds(ends), true),
            ("a-second-late", seconds(ends) + 1, false),
        ];
        for (name, at, is_valid) in moments {
            let name = format!("{certificate}-{name}");
            let draft = match (is_valid, certificate) {
                (true, _) => Draft::new("time", name, MustAccept),
                (false, "root") if at < 0 => {
                    Draft::as_in("time", name, "certificate/root-not-yet-valid")
                }
                (false, "root") => Draft::as_in("time", name, "certificate/expired-root"),
                (false, _) => Draft::new("time", name, MustReject),
            };
            let mut draft = draft.at(at);
            for other in ["leaf", "intermediate", "root"] {
                let days = if other == certificate {
                    (begins, ends)
                } else {
                    (-2000, 2000)
                };
                draft = draft.with(
                    other,
                    spec(|it| (it.begins, it.ends) = (Some(days.0), Some(days.1))),
                );
            }
            all.push(draft);
        }
    }
    all
}
