//! The documents of a release archive: each link leads to a file of the archive, or to the web.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{fs, path::Path, process::Command};

use crate::support::{finish, text, tree};

const DOCUMENTS: [&str; 3] = ["README.md", "CHANGELOG.md", "trust-roots/README.md"];

/// Returns the targets of links, except web addresses and anchors.
fn local_links(markdown: &str) -> Vec<&str> {
    let targets = markdown.split("](").skip(1);
    let targets = targets.filter_map(|rest| Some(rest.split_once(')')?.0));
    targets
        .filter(|target| !target.contains("://") && !target.starts_with('#'))
        .map(|target| target.split('#').next().unwrap())
        .collect()
}

#[test]
fn links_of_the_archives_documents_lead_somewhere() {
    let archive = tempfile::tempdir().unwrap();
    fs::create_dir(archive.path().join("trust-roots")).unwrap();
    for file in DOCUMENTS.iter().chain(&["sites.txt"]) {
        fs::copy(tree().join(file), archive.path().join(file)).unwrap();
    }
    for document in DOCUMENTS {
        let source = text(tree(), document);
        let mut readme = Command::new(tree().join("release/readme"));
        readme.args([archive.path(), Path::new(document)]);
        let text = finish(&mut readme).expect(0).stdout;
        let folder = archive.path().join(document);
        let folder = folder.parent().unwrap();
        for link in local_links(&text) {
            assert!(folder.join(link).exists(), "{document}: {link}");
        }
        // Links to files of the archive and to the web stay links; text stays text.
        let kept = local_links(&source)
            .into_iter()
            .filter(|link| folder.join(link).exists());
        assert_eq!(local_links(&text), kept.collect::<Vec<_>>(), "{document}");
        assert_eq!(
            text.matches("](http").count(),
            source.matches("](http").count()
        );
        assert_eq!(text.lines().count(), source.lines().count());
    }
    let readme = text(tree(), "README.md");
    assert!(
        local_links(&readme).len() > 10,
        "there is something to mend"
    );
    // The archive's script makes its documents with `release/readme`.
    let script = text(tree(), "release/archive");
    let made = script
        .lines()
        .find(|line| line.contains("release/readme \"$folder\""));
    assert!(made.is_some());
    let listed = format!("for file in {}; do", DOCUMENTS.join(" "));
    assert!(script.contains(&listed), "no {listed:?}");
}
