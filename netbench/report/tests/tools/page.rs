//! The page of a run with every kind of content: its text, and its display in a browser.

use std::{fs, path::Path};

use netbench_report::{Answer, ConnectReport, Document, Extent, Report};
use netbench_testing::Tool;

use crate::{
    chromium::Browser,
    support::{
        fixture::{Fixture, HOSTILE},
        formats::{html, is_obeyed},
        published,
    },
};

netbench_testing::module_tests! {
    nothing_of_a_run_is_markup;
    a_run_without_samples_says_what_is_missing;
    answers_follow_the_figures;
    a_browser_shows_it_in_every_view: Chromium;
    the_page_of_a_hundred_sites_is_small;
}

/// Text that a browser would obey if it were not escaped.
const SCRIPT: &str = "</title></style></script><script>window.obeyed=1</script>\
                      <img src=x onerror=\"window.obeyed=1\">' onfocus='window.obeyed=1";

/// Returns a run whose name and warnings are malicious. A sample whose site is malicious is not of the plan, and is
/// left out.
fn fixture() -> ConnectReport {
    let fixture = Fixture::default();
    let mut manifest = fixture.manifest();
    manifest.name = format!("run {SCRIPT}");
    manifest
        .warnings
        .push(format!("a warning with {SCRIPT} and {HOSTILE}"));
    let mut samples = fixture.samples();
    let mut left_out = Vec::new();
    for sample in &samples {
        if sample.site == "furthest.example" {
            let mut ill = sample.clone();
            ill.site = format!("ill {SCRIPT}");
            left_out.push(ill);
        }
    }
    samples.extend(left_out);
    ConnectReport::new(manifest, samples)
}

fn nothing_of_a_run_is_markup() {
    let text = html(&fixture());
    assert_eq!(text.matches("<script").count(), 1);
    assert_eq!(text.matches("</style").count(), 1);
    assert_eq!(text.matches("<img").count(), 0);
    assert!(text.contains("&lt;img src=x onerror="));
    assert!(!text.contains(is_obeyed));
}

fn a_run_without_samples_says_what_is_missing() {
    let report = ConnectReport::new(Fixture::default().manifest(), Vec::new());
    let page = report.document(Extent::Full);
    let answers: Vec<Answer> = page.questions.iter().map(|q| q.question.answer).collect();
    assert_eq!(answers, [Answer::Open; 2]);
    let missing = page.sections.iter().find_map(|s| s.missing.as_deref());
    assert!(missing.is_some_and(|text| text.starts_with("No figures")));
    assert!(!html(&report).contains("NaN"));
}

fn answers_follow_the_figures() {
    let cases = [
        // The other stack takes this multiple of the first one's computing time.
        (0.6, Answer::Yes),
        (300.0, Answer::No),
    ];
    for (factor, answer) in cases {
        let fixture = Fixture {
            factor,
            ..Fixture::clean()
        };
        let report = fixture.report();
        let page = report.document(Extent::Full);
        let question = &page.questions.last().unwrap().question;
        assert_eq!(question.answer, answer, "{factor}: {question:?}");
        // One site of ten fails only with the other stack.
        let works = &page.questions[0].question;
        assert_eq!(works.answer, Answer::No);
        assert_eq!(works.breaks.len(), 1);
    }
}

fn a_browser_shows_it_in_every_view() {
    let program = Tool::Chromium.path().unwrap();
    let report = fixture();
    let page = report.document(Extent::Full);
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("report.html");
    fs::write(&file, html(&report)).unwrap();
    let mut browser = Browser::start(&program);
    let mut grounds = Vec::new();
    for (width, theme) in [
        (1280, "light"),
        (1280, "dark"),
        (375, "light"),
        (375, "dark"),
    ] {
        browser.open(&file, width, 900, theme);
        shows(&mut browser, &page, width);
        let ground = browser.value("getComputedStyle(document.body).backgroundColor");
        grounds.push((theme, ground));
    }
    assert_eq!(grounds[0], grounds[2]);
    assert_ne!(grounds[0].1, grounds[1].1);
    theme_toggles(&mut browser, &file);
    sorts_and_filters(&mut browser);
    csv_is_the_table(&mut browser);
    assert_eq!(browser.complaints, Vec::<String>::new());
    // This is last, because the policy's refusal is a complaint.
    browser.value(
        "(() => { const s = document.createElement('script'); s.textContent = 'window.obeyed = 1'; \
         document.body.append(s); })()",
    );
    assert!(browser.value("window.obeyed").is_null());
    let refused = browser.complaints.iter();
    let refused = refused.filter(|text| text.contains("Content Security Policy"));
    assert_eq!(refused.count(), 1, "{:?}", browser.complaints);
}

/// Checks that all sections and questions are shown, no injected text was obeyed, and no element is wider than the
/// window.
fn shows(browser: &mut Browser, page: &Document<'_>, width: u32) {
    let ids = browser.value("[...document.querySelectorAll('main > section[id]')].map(s => s.id)");
    let sections = page.sections.iter().map(|s| s.id.as_str());
    let expected: Vec<&str> = sections.chain(["machine"]).collect();
    assert_eq!(ids, serde_json::json!(expected));
    let cards = browser.value("document.querySelectorAll('.card').length");
    assert_eq!(cards, serde_json::json!(page.questions.len()));
    assert!(browser.value("window.obeyed").is_null());
    let wide = browser.value("document.documentElement.scrollWidth");
    assert!(wide.as_u64().unwrap() <= u64::from(width), "{wide}");
    let charts = "[...document.querySelectorAll('figure')].every(f => \
                  [...f.querySelectorAll('svg')].filter(s => s.getBoundingClientRect().width > 0).length === 1)";
    assert_eq!(browser.value(charts), true, "each chart is shown once");
    let doubles = "(() => { const ids = [...document.querySelectorAll('[id]')].map(e => e.id); \
                   return ids.length - new Set(ids).size; })()";
    assert_eq!(browser.value(doubles), 0);
    let named = "[...document.querySelectorAll('svg')].every(s => \
                 s.getAttribute('aria-labelledby').split(' ').every(id => document.getElementById(id)))";
    assert_eq!(browser.value(named), true);
}

fn theme_toggles(browser: &mut Browser, file: &Path) {
    browser.open(file, 1280, 900, "light");
    let ground = "getComputedStyle(document.body).backgroundColor";
    let light = browser.value(ground);
    let click =
        "document.getElementById('theme').click(), document.getElementById('theme').textContent";
    assert_eq!(browser.value(click), "Theme: light");
    assert_eq!(browser.value(ground), light);
    assert_eq!(browser.value(click), "Theme: dark");
    assert_ne!(browser.value(ground), light);
    browser.print();
    assert_eq!(browser.value(ground), "rgb(255, 255, 255)");
    let ink = browser.value("getComputedStyle(document.body).color");
    assert_eq!(ink, "rgb(27, 31, 36)", "paper is light in every theme");
    assert_eq!(browser.value(click), "Theme: system");
    browser.open(file, 1280, 900, "light");
}

/// The table of sites under the first condition.
const SITES: &str =
    "[...document.querySelectorAll('table')].find(t => t.dataset.name.startsWith('sites, clean'))";

fn sorts_and_filters(browser: &mut Browser) {
    let names = format!(
        "[...{SITES}.tBodies[0].rows].filter(r => !r.hidden).map(r => r.cells[0].textContent)"
    );
    let values = format!("[...{SITES}.tBodies[0].rows].map(r => Number(r.cells[1].dataset.v))");
    let click = format!("{SITES}.tHead.rows[0].cells[1].firstChild.click()");
    for (ordered, word) in [("<=", "ascending"), (">=", "descending")] {
        browser.value(&click);
        let test = format!("{values}.every((v, i, all) => i === 0 || all[i-1] {ordered} v)");
        assert_eq!(browser.value(&test), true, "{word}");
        let said = format!("{SITES}.tHead.rows[0].cells[1].ariaSort");
        assert_eq!(browser.value(&said), word);
    }
    let before = browser.value(&names);
    assert!(before.as_array().unwrap().len() > 5, "{before}");
    for (text, shown) in [
        ("NEAR example", serde_json::json!(["near.example"])),
        ("</script><script>", serde_json::json!([])),
        ("", before),
    ] {
        browser.value(&format!(
            "(() => {{ const i = {SITES}.closest('details').querySelector('input'); i.value = '{text}'; \
             i.dispatchEvent(new Event('input')); }})()"
        ));
        assert_eq!(browser.value(&names), shown, "{text}");
    }
}

fn csv_is_the_table(browser: &mut Browser) {
    let link = format!("{SITES}.closest('details').querySelector('a[download]')");
    // The download itself is prevented, because it would leave a file.
    let click = format!(
        "(() => {{ const a = {link}; a.addEventListener('click', e => e.preventDefault()); a.click(); \
         return [a.download, decodeURIComponent(a.href)]; }})()"
    );
    let clicked = browser.value(&click);
    assert_eq!(
        clicked[0],
        "sites-clean-connections-rustls-ring-against-openssl.csv"
    );
    let csv = clicked[1].as_str().unwrap();
    let csv = csv.strip_prefix("data:text/csv;charset=utf-8,").unwrap();
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let heads: Vec<String> = reader
        .headers()
        .unwrap()
        .iter()
        .map(str::to_owned)
        .collect();
    assert_eq!(
        heads[..2],
        ["emulated site".to_owned(), "RTT [ns]".to_owned()]
    );
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let shown = browser.value(&format!("{SITES}.tBodies[0].rows.length"));
    assert_eq!(serde_json::json!(rows.len()), shown);
    let near = rows.iter().find(|row| &row[0] == "near.example").unwrap();
    assert_eq!(&near[1], "4000000");
    assert!(rows.iter().any(|row| &row[0] == "furthest.example"));
}

/// Checks the published run of 101 sites and 10 rounds.
fn the_page_of_a_hundred_sites_is_small() {
    let report = published::connect("-connect-101-sites");
    let text = html(&report);
    assert!(text.len() < 2_000_000, "{} bytes", text.len());
    for site in &report.manifest.plan.sites {
        assert!(text.contains(&site.name()), "{}", site.name());
    }
}
