//! Default trust of clients, in every format.

use netbench_model::{
    CertificateFault, SCHEMA_VERSION, StackName,
    chains::ChainOutcome,
    compat::Judgement,
    roots::{
        RootsClient, RootsOutcome, RootsPlan, RootsSample, RootsSite, StoreLayout, TrustOrigin,
    },
};
use netbench_report::{RootsSummary, summarize_roots};

use crate::support::{
    formats::{render, terminal},
    manifest::interrupted,
};

fn client(stack: &str, source: Option<&str>) -> RootsClient {
    RootsClient {
        stack: StackName::new(stack),
        source: source.map(str::to_owned),
    }
}

fn layout(name: &str, trusts: &[&str]) -> StoreLayout {
    StoreLayout {
        name: name.to_owned(),
        about: format!("a system with {name}"),
        trusts: trusts.iter().map(|&site| site.to_owned()).collect(),
    }
}

/// Returns the outcome of a connector that trusts these of all sites.
fn made(origin: TrustOrigin, trusted: &[&str]) -> RootsOutcome {
    let sites = ["public", "corporate"].map(|name| {
        let said = match trusted.contains(&name) {
            true => ChainOutcome::Accepted,
            false => ChainOutcome::Rejected {
                reason: CertificateFault::UnknownIssuer,
                // A control sequence for a terminal.
                detail: "unknown \u{1b}[31missuer".to_owned(),
            },
        };
        (name.to_owned(), said)
    });
    RootsOutcome::Made {
        connector_ns: 1_234_567,
        roots: Some(2),
        origin,
        sites: sites.into(),
    }
}

fn summary() -> RootsSummary {
    use TrustOrigin::{Bundled, System};
    let clients = vec![
        client("openssl", Some("default-paths")),
        client("rustls-ring", Some("webpki-roots")),
        client("rustls-ring", Some("rustls-platform-verifier")),
        client("java", None),
    ];
    let unsupported = RootsOutcome::Unsupported {
        reason: "stack java has no trust source".to_owned(),
    };
    let refused = RootsOutcome::Refused {
        detail: "No CA certificates were loaded from the system".to_owned(),
    };
    let broken = RootsOutcome::Broken {
        detail: "the worker was killed by signal 11".to_owned(),
    };
    let (none, public) = (made(System, &[]), made(System, &["public"]));
    let both = ["public", "corporate"];
    // The outcomes of OpenSSL and of the platform's verifier; bundled roots are the same in each layout.
    let rows = [
        (layout("bundle", &["public"]), none.clone(), public.clone()),
        (layout("company", &both), none.clone(), public),
        (layout("another-company", &both), none, made(System, &both)),
        (
            layout("nothing", &[]),
            made(System, &["corporate"]),
            refused.clone(),
        ),
        (layout("unreadable", &["public"]), broken, refused),
    ];
    let mut samples = Vec::new();
    let mut layouts = Vec::new();
    for (layout, openssl, platform) in rows {
        let outcomes = [openssl, made(Bundled, &[]), platform, unsupported.clone()];
        for (client, outcome) in clients.iter().zip(outcomes) {
            samples.push(RootsSample {
                schema: SCHEMA_VERSION,
                layout: layout.name.clone(),
                client: client.clone(),
                outcome,
            });
        }
        layouts.push(layout);
    }
    layouts.push(layout("not-tried", &["public"]));
    let sites = [
        ("public", "below a root that every system has"),
        ("corporate", "below a root that a company has added"),
    ];
    let sites = sites.map(|(name, about)| RootsSite {
        name: name.to_owned(),
        about: about.to_owned(),
        host: format!("{name}.netbench.test"),
    });
    let manifest = interrupted(
        "netbench compat roots",
        RootsPlan {
            stacks: ["openssl", "rustls-ring", "java"]
                .map(StackName::new)
                .into(),
            clients,
            layouts,
            sites: sites.into(),
        },
    );
    summarize_roots(&manifest, samples)
}

#[test]
fn forms_of_roots() {
    let summary = summary();
    for format in ["markdown", "junit", "csv"] {
        insta::assert_snapshot!(format!("roots_{format}"), render(&summary, format));
    }
    insta::assert_snapshot!("roots_terminal", terminal(&summary, 120));
    assert!(render(&summary, "html").contains("Unexpected results"));
}

#[test]
fn what_is_not_expected_is_grouped_and_the_worst_comes_first() {
    use Judgement::{Crashed, FalseAccept, FalseReject};
    let summary = summary();
    let found: Vec<_> = summary
        .wrong
        .iter()
        .map(|found| {
            let layouts: Vec<&str> = found.layouts.iter().map(String::as_str).collect();
            (found.judgement, found.client.to_string(), layouts.join(" "))
        })
        .collect();
    let (default, bundled) = ("openssl (default-paths)", "rustls-ring (webpki-roots)");
    let platform = "rustls-ring (rustls-platform-verifier)";
    let expected = [
        (Crashed, default, "unreadable"),
        (FalseReject, default, "bundle"),
        (FalseReject, default, "company another-company"),
        (FalseReject, bundled, "company another-company"),
        (FalseReject, platform, "company"),
        (FalseReject, platform, "unreadable"),
        (FalseAccept, default, "nothing"),
    ];
    let expected = expected
        .map(|(judgement, client, layouts)| (judgement, client.to_owned(), layouts.to_owned()));
    assert_eq!(found, expected);
    assert_eq!(
        summary.warnings,
        [
            "4 layouts were not tried: the run was ended early",
            "5 tries are unsupported: stack java has no trust source",
        ]
    );
}
