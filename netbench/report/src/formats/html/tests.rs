use netbench_model::{Unit, coverage::Support};
use netbench_stats::{Interval, Verdict};

use super::*;
use crate::{
    Answer, Asked, KeyFigure, Question,
    cell::Cell,
    document::{
        Bar, BarGroup, Bars, Colours, Dot, Dots, Drawing, Line, Lines, Matrix, MatrixRow, Ranked,
        Ranking, Table,
    },
};

/// A text that a server or a file might send.
const HOSTILE: &str = "=cmd()\x1b[2J\x07|a*b_`c`<script>\u{202e}\nend";

fn page(document: &Document<'_>) -> String {
    String::from_utf8(render(document, &Options::default())).unwrap_or_default()
}

#[test]
fn a_small_page() {
    let text = page(&small());
    // Style and script are in the source tree, and the permissions of the policy follow from them.
    let body =
        &text[text.find("<body>").unwrap_or_default()..text.find("<script>").unwrap_or_default()];
    insta::assert_snapshot!(body);
}

/// The picture is well-formed XML with the same charts, each once, and nothing that a viewer would obey.
#[test]
fn a_picture_of_the_charts() {
    let picture = (PICTURE.render)(&small(), &Options::default());
    let text = String::from_utf8(picture).unwrap();
    let mut reader = quick_xml::Reader::from_str(&text);
    let (mut charts, mut names) = (0, Vec::new());
    loop {
        match reader.read_event() {
            Ok(quick_xml::events::Event::Eof) => break,
            Ok(quick_xml::events::Event::Start(tag)) => {
                let name = String::from_utf8_lossy(tag.name().as_ref()).into_owned();
                charts += usize::from(name == "desc");
                names.push(name);
            }
            Ok(_) => {}
            Err(error) => panic!("{error}: {text}"),
        }
    }
    assert_eq!(charts, 5, "{text}");
    for title in ["Change", "All stacks", "Life", "Rate", "Features"] {
        assert!(
            text.contains(&format!(">{title}</text>")),
            "{title}: {text}"
        );
    }
    assert!(!names.iter().any(|name| name == "script"), "{names:?}");
    assert!(!text.contains('\x1b') && text.contains("&lt;script&gt;"));
    let empty = Document::new("test", String::new());
    let why = PICTURE.unsupported(&empty).unwrap();
    assert_eq!(why, "there is no svg of netbench test: it has no charts");
}

#[test]
fn a_long_table_is_folded_unless_the_report_is_for_it() {
    for is_open in [false, true] {
        let mut table = Table::of(0..20).text("row", 0, |row| *row);
        if is_open {
            table = table.unfolded();
        }
        let page = Document {
            sections: vec![Section::new("", "", vec![table.item()])],
            ..Document::new("test", String::new())
        };
        let open = "<details class=\"table\" open>";
        assert_eq!(self::page(&page).contains(open), is_open);
    }
}

#[test]
fn values_and_texts_stay_text() {
    let hostile = "</p><script>'\"&\x1b[2J\u{202e}";
    let page = Document {
        sections: vec![Section {
            id: hostile.to_owned(),
            explanation: hostile.to_owned(),
            ..Section::default()
        }],
        ..Document::new("test", String::new())
    };
    let text = self::page(&page);
    let safe = "&lt;/p&gt;&lt;script&gt;'&quot;&amp;\u{fffd}[2J\u{fffd}";
    let section = format!("<section id=\"{safe}\"><p class=\"explanation\">{safe}</p>");
    assert!(text.contains(&section), "{text}");
}

/// Returns a small page with one element of each kind.
fn small() -> Document<'static> {
    let rows = [
        [
            Cell::text("a.example"),
            Cell::Time(2e6),
            Cell::Changes(Some(interval(0.5, 0.75))),
            Cell::Of(1, 3),
        ],
        [
            Cell::text(HOSTILE),
            Cell::Missing,
            Cell::Changes(None),
            Cell::Of(0, 3),
        ],
    ];
    let table = Table::of(rows)
        .caption("sites")
        .cols(["site", "total", "interval", "trials"], |row, column| {
            row[column].clone()
        });
    let dots = Dots {
        less: "b faster".to_owned(),
        more: "b slower".to_owned(),
        dots: vec![
            Dot {
                name: "total".to_owned(),
                ratio: 0.9,
                interval: Some(interval(0.8, 0.95)),
                verdict: Verdict::Faster,
            },
            Dot {
                name: "first byte".to_owned(),
                ratio: 1.1,
                interval: None,
                verdict: Verdict::Undecided,
            },
        ],
    };
    let bars = Bars {
        colours: Colours::Parts,
        series: vec!["a".to_owned(), "b".to_owned()],
        groups: vec![BarGroup {
            name: "full".to_owned(),
            bars: vec![Bar {
                label: String::new(),
                parts: vec![(0, 3.0), (1, f64::NAN)],
                text: "3/s".to_owned(),
            }],
        }],
    };
    let matrix = Matrix {
        stacks: vec!["a".to_owned(), "b".to_owned()],
        columns: vec!["TLS 1.2".to_owned(), "TLS 1.3".to_owned()],
        rows: vec![MatrixRow {
            name: "ALPN".to_owned(),
            cells: vec![
                vec![Support::Works, Support::Absent],
                vec![Support::Partly, Support::NotTestable],
            ],
        }],
    };
    let ranked = [
        ("b", 0.5, Verdict::Faster),
        ("a", 1.0, Verdict::Same),
        (HOSTILE, 20.0, Verdict::NotJudged),
    ];
    let ranked = ranked.map(|(name, ratio, verdict)| Ranked {
        name: name.to_owned(),
        text: "9/s".to_owned(),
        ratio,
        interval: (ratio != 1.0).then_some(interval(0.9 * ratio, 1.1 * ratio)),
        verdict,
    });
    let ranking = Ranking {
        first: "a".to_owned(),
        rows: ranked.into(),
    };
    let lines = Lines {
        places: ["idle", HOSTILE].map(str::to_owned).to_vec(),
        lines: vec![Line {
            name: HOSTILE.to_owned(),
            values: vec![Some(1_000.0), None],
        }],
        unit: Unit::Bytes,
    };
    let items = vec![
        Item::Warning("Busy.".to_owned()),
        Item::Charts(vec![chart("Change", Drawing::Dots(dots))]),
        Item::Charts(vec![chart("All stacks", Drawing::Ranking(ranking))]),
        Item::Charts(vec![chart("Life", Drawing::Lines(lines))]),
        Item::Charts(vec![
            chart("Rate", Drawing::Bars(bars)),
            chart("Features", Drawing::Matrix(matrix)),
        ]),
        table.item(),
    ];
    Document {
        title: "netbench connect: by hand".to_owned(),
        about: "b in place of a".to_owned(),
        name: "by hand".to_owned(),
        made: "by hand".to_owned(),
        lead: "What would change.".to_owned(),
        questions: vec![Asked {
            question: Question {
                question: "Is it fast enough?".to_owned(),
                answer: Answer::WithLosses,
                because: "Because.".to_owned(),
                figures: vec![KeyFigure {
                    value: "-10 %".to_owned(),
                    label: "total".to_owned(),
                }],
                findings: Vec::new(),
                breaks: vec!["one site".to_owned()],
                gains: Vec::new(),
                missing: vec!["the rest".to_owned()],
            },
            about: "b in place of a".to_owned(),
            section: Some("times".to_owned()),
            act: Some("times".to_owned()),
            warnings: vec!["A busy machine.".to_owned()],
            ..Asked::default()
        }],
        sentence: "Switch with care: one site is lost.".to_owned(),
        sections: vec![
            Section::new("times", "Times", items)
                .explained("How long.")
                .missing(Some("The rest is missing.")),
        ],
        ..Document::new("connect", String::new())
    }
}

fn interval(low: f64, high: f64) -> Interval {
    Interval {
        level: 0.99,
        low,
        high,
    }
}

fn chart(title: &str, drawing: Drawing) -> Chart {
    Chart {
        title: title.to_owned(),
        note: "n = 2.".to_owned(),
        drawing,
    }
}

mod colours;
