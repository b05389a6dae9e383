//! The page of an evaluation for a decision maker: on a screen, on a phone, and with very many sites.

use std::{fs, path::PathBuf};

use netbench_model::{ConnectManifest, HostName, LostSite, Sample};
use netbench_report::{
    ConnectReport, Evaluation, EvaluationReport, Extent, KeyFigure, Report, evaluation,
};
use netbench_testing::Tool;
use serde_json::json;
use tempfile::TempDir;

use crate::{
    chromium::Browser,
    support::{
        formats::{assert_has, assert_lacks, html, render},
        published,
    },
};

netbench_testing::module_tests! {
    it_says_what_to_decide_first;
    an_older_evaluation_keeps_its_figures;
    the_first_screen_has_what_one_decides_by: Chromium;
    nothing_is_cut_on_any_screen: Chromium;
    ten_thousand_sites_open: Chromium;
}

/// Returns sites that are lost for every kind of reason.
fn lost() -> Vec<LostSite> {
    let reasons = [
        "cbc-only",
        "dhe-only",
        "version",
        "cbc-only",
        "something-new",
    ];
    let sites = (0..).zip(reasons).map(|(number, reason)| LostSite {
        site: format!("a-site-with-a-rather-long-name-{number}.example"),
        reason: reason.to_owned(),
        detail: "TLS 1.2: the site has TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256 only".to_owned(),
        confirmed: Some(true),
    });
    sites.collect()
}

fn it_says_what_to_decide_first() {
    let mut report = published::evaluation_of(lost());
    begins_with_the_answers(&report);
    every_loss_has_something_to_do(&report);
    what_decides_comes_first(&report);
    // The same evaluation without lost sites.
    let mut found = report.evaluation.found.clone();
    if let Some(losses) = &mut found.losses {
        losses.lost.clear();
    }
    report.evaluation = evaluation(report.evaluation.run.clone(), found);
    let sentence = &report.evaluation.sentence;
    for clause in [
        "Not decided: compatibility was not tested; ",
        "connections take the same time",
        "a session's memory (both sides): -84 %",
        "speed in memory is open",
    ] {
        assert_has(sentence, clause);
    }
    assert!(!html(&report).contains("what-to-do"));
}

/// Compares the figures of an evaluation that an earlier version stored, without a matrix of features.
fn an_older_evaluation_keeps_its_figures() {
    let report = published::evaluation_of(Vec::new());
    assert!(report.evaluation.found.matrix.is_none());
    let folder = published::earlier_evaluation();
    let stored = fs::read_to_string(folder.path().join("summary.json")).unwrap();
    let stored: Evaluation = serde_json::from_str(&stored).unwrap();
    let mut compared = 0;
    for (before, now) in stored.questions.iter().zip(&report.evaluation.questions) {
        assert_eq!(before.question, now.question);
        for KeyFigure { value, label } in &before.figures {
            // Later versions name sites of the built-in list as such.
            if label == "sites lost" {
                continue;
            }
            // Later versions show the time together with the change.
            let change = format!("({value})");
            // Later versions separate thousands.
            let plain = label.replace(',', "");
            let figures = now.figures.iter();
            let mut figures = figures.filter(|found| found.label.replace(',', "") == plain);
            let is_kept =
                figures.any(|found| found.value == *value || found.value.ends_with(&change));
            assert!(is_kept, "{label}: {value}: {:#?}", now.figures);
            compared += 1;
        }
        for line in &before.breaks {
            // Its turns have fewer operations than a verdict now needs, and the question states it.
            if line.starts_with("slower in memory") {
                let mut reasons = now.missing.iter();
                assert!(
                    reasons.any(|why| why.contains("fewer than 20 operations")),
                    "{:#?}",
                    now.missing
                );
                continue;
            }
            if let Some((_, features)) = line.split_once(" that rustls-aws-lc lacks: ") {
                let shown = now.findings.iter().flat_map(|found| &found.evidence);
                for feature in features.split("; ") {
                    let mut shown = shown.clone();
                    assert!(shown.any(|shown| shown == feature), "{feature}");
                }
                compared += 1;
                continue;
            }
            assert!(now.breaks.contains(line), "{line}: {:#?}", now.breaks);
            compared += 1;
        }
        let says_why = now
            .missing
            .iter()
            .any(|line| line.contains("earlier version "));
        let names_features = now.question.contains("support") || now.question.contains("work");
        assert_eq!(says_why, names_features, "{:#?}", now.missing);
    }
    assert!(compared > 12, "{compared}");
    let page = html(&report);
    assert!(page.contains("Features of openssl that rustls-aws-lc lacks"));
    assert!(page.contains("An earlier version of netbench counted the protocol tests"));
}

const LOST: &str = "5 of 106 built-in sites are lost";

fn begins_with_the_answers(losing: &EvaluationReport) {
    let page = html(losing);
    let header = &page[..page.find("<main").unwrap()];
    assert_has(header, LOST);
    for format in ["terminal", "markdown"] {
        let text = render(losing, format).replace('\n', " ");
        assert_has(&text, LOST);
    }
}

fn every_loss_has_something_to_do(losing: &EvaluationReport) {
    let page = html(losing);
    let cards = &page[page.find("<main").unwrap()..page.find("<nav").unwrap()];
    assert_has(cards, "<a href=\"#what-to-do\">What to do</a>");
    let section = &page[page.find("<section id=\"what-to-do\"").unwrap()..];
    let section = &section[..section.find("</section>").unwrap()];
    assert_eq!(
        section.matches("<tr>").count(),
        1 + 4,
        "a row for each reason"
    );
    for site in lost() {
        assert_has(section, &site.site);
    }
}

fn what_decides_comes_first(losing: &EvaluationReport) {
    let document = losing.document(Extent::Full);
    let ids = [
        "what-to-do",
        "sites",
        "connect",
        "suite",
        "lacking",
        "parts",
    ];
    let order = ids.map(|id| {
        let mut sections = document.sections.iter();
        sections.position(|s| s.id.starts_with(id)).unwrap()
    });
    assert!(order.is_sorted(), "{order:?}");
    let text = html(losing);
    for flag in ["--json", "--format", "--condition"] {
        assert_lacks(&text, &format!("`{flag}"));
    }
    // If only two stacks are compared, a column still names the stack of its figures.
    assert!(text.contains(">rustls-aws-lc verdict</th>"));
    assert!(text.contains(">rustls-aws-lc factor</th>"));
    assert!(!text.contains(">verdict</th>"));
}

/// The texts of the published evaluation that end below the first screen. With `cards`, each of the three cards has its
/// question, its answer and the three worst changes there, or all if there are fewer.
const BELOW: &str = r#"(cards) => {
  const seen = (e) => e.getClientRects().length > 0;
  const due = [document.querySelector(".sentence")];
  const of = cards ? document.querySelectorAll(".card") : document.querySelectorAll(".strip li");
  for (const e of [...of].slice(0, 3)) {
    due.push(e.querySelector(cards ? "h2" : "a"), e.querySelector(".answer"));
    if (cards) due.push(...e.querySelectorAll(".worst li"));
  }
  const below = due.filter((e) => !seen(e) || e.getBoundingClientRect().bottom > innerHeight);
  return [due.length, below.map((e) => e.textContent)];
}"#;

fn the_first_screen_has_what_one_decides_by() {
    let file = published::run("-evaluate").path().join("report.html");
    let mut browser = Browser::start(&Tool::Chromium.path().unwrap());
    for theme in ["light", "dark"] {
        // The sentence, three questions with their answers, and the worst changes: 3, 3 and 1.
        for (width, height, cards, due) in [(1280, 800, true, 14), (390, 844, false, 7)] {
            browser.open(&file, width, height, theme);
            let found = browser.value(&format!("({BELOW})({cards})"));
            assert_eq!(found, json!([due, []]), "{width}, {theme}");
            let strip = "document.querySelector('.strip').getClientRects().length > 0";
            assert_eq!(browser.value(strip), !cards);
        }
    }
}

/// A script that returns everything unfolded that is wider than its container, has lines of a few letters, or is
/// outside the window.
const CUT: &str = r#"(() => {
  const wide = innerWidth;
  const seen = (e) => e.getClientRects().length > 0 && getComputedStyle(e).position !== "absolute";
  const found = [];
  const name = (e) => e.tagName + "." + e.getAttribute("class") + ": " + e.textContent.trim().slice(0, 60);
  for (const e of document.querySelectorAll(".scroll")) {
    if (wide < 640 && seen(e) && e.scrollWidth > e.clientWidth + 1) {
      found.push("scrolls: " + e.querySelector("table").dataset.name);
    }
  }
  for (const e of document.querySelectorAll("td, th, p, dt, dd, li, h1, h2, h3, summary")) {
    if (!seen(e) || e.closest("svg")) continue;
    const box = e.getBoundingClientRect();
    if (wide < 640 && (box.right > wide + 1 || box.left < -1)) found.push("outside: " + name(e));
    if (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline") found.push("cut: " + name(e));
    const text = e.textContent.trim();
    const range = document.createRange();
    range.selectNodeContents(e);
    const lines = new Set([...range.getClientRects()].map((r) => Math.round(r.top))).size;
    if (text.length > 12 && text.length / lines < 4) found.push("by letters: " + name(e));
  }
  for (const e of document.querySelectorAll("svg text")) {
    if (!seen(e)) continue;
    const box = e.getBoundingClientRect(), figure = e.closest("figure").getBoundingClientRect();
    if (box.right > figure.right + 1 || box.left < figure.left - 1) found.push("in a chart: " + e.textContent);
  }
  return found;
})()"#;

fn nothing_is_cut_on_any_screen() {
    let report = published::evaluation_of(lost());
    let (_place, file) = written(&html(&report));
    let mut browser = Browser::start(&Tool::Chromium.path().unwrap());
    for width in [1280, 390, 320] {
        browser.open(&file, width, 844, "light");
        // Tables are laid out again when they are unfolded, which is reported in a separate task.
        browser.value(
            "(async () => { document.querySelectorAll('details').forEach(d => { d.open = true; }); \
             for (let n = 0; n < 3; n++) await new Promise(done => setTimeout(done)); })()",
        );
        let inner = browser.value("innerWidth");
        assert_eq!(inner, json!(width), "the page is wider than the window");
        assert_eq!(browser.value(CUT), json!([]), "at {width}");
    }
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// Returns a run of ten thousand sites, from the published one.
fn many_sites() -> ConnectReport {
    const COPIES: u32 = 100;
    const ROUNDS: u32 = 8;
    let run = published::run("connect-101-sites");
    let mut manifest: ConnectManifest = run.manifest().unwrap();
    let samples: Vec<Sample> = run.records().unwrap();
    let sites = std::mem::take(&mut manifest.plan.sites);
    let mut all = Vec::new();
    for copy in 0..COPIES {
        for site in &sites {
            let mut site = site.clone();
            site.host = format!("copy-{copy}.{}", site.name())
                .parse::<HostName>()
                .unwrap();
            manifest.plan.sites.push(site);
        }
        // One copy has enough rounds for intervals, without which the sites have no table.
        let rounds = if copy == 0 { ROUNDS } else { 1 };
        for sample in samples.iter().filter(|sample| sample.round < rounds) {
            let mut sample = sample.clone();
            sample.site = format!("copy-{copy}.{}", sample.site);
            sample.block += copy * 1000;
            all.push(sample);
        }
    }
    manifest.plan.rounds = ROUNDS;
    for session in &mut manifest.sessions {
        session.served.clear();
    }
    ConnectReport::new(manifest, all)
}

fn ten_thousand_sites_open() {
    let report = many_sites();
    let text = html(&report);
    assert!(text.len() < 8_000_000, "{} bytes", text.len());
    let (_place, file) = written(&text);
    let mut browser = Browser::start(&Tool::Chromium.path().unwrap());
    browser.open(&file, 1280, 900, "light");
    let tables = browser.value(
        "[...document.querySelectorAll('details.table')].filter(d => /sites, clean/.test(d.textContent.slice(0, 200))) \
         .map(d => [d.querySelector('summary').textContent, d.querySelectorAll('tbody tr').length])",
    );
    assert_eq!(tables[0][1], json!(200), "{tables}");
    assert!(
        tables[0][0]
            .as_str()
            .unwrap()
            .ends_with("(200 of 10,100 rows: those at either end)"),
        "{tables}"
    );
    assert_eq!(tables[1][1], json!(9_900), "{tables}");
    let load = "(() => { const n = performance.getEntriesByType('navigation')[0]; return n.loadEventEnd; })()";
    println!(
        "{} bytes, loaded after {} ms",
        text.len(),
        browser.value(load)
    );
}

fn written(text: &str) -> (TempDir, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("report.html");
    fs::write(&file, text).unwrap();
    (place, file)
}
