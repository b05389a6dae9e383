use netbench_model::{
    Condition, Failure, FailureWord, Site,
    browser::{ObjectsPage, Visit},
};

use crate::proof::{disagreement, wrong_work};

/// Compares a browser's account of a page with the request and with the server's view.
pub(super) fn prove(
    loaded: &Visit,
    condition: Condition,
    site: &Site,
    page: Option<&ObjectsPage>,
) -> Result<(), Failure> {
    let Some(server) = &loaded.server else {
        let what = "the lab's server did not report its view".to_owned();
        return Err(wrong_work(FailureWord::NoServersView, what));
    };
    let resumes = condition == Condition::Resumed;
    let resumed = loaded.client.resumed;
    if resumed != resumes {
        let reason = if resumes {
            FailureWord::NotResumed
        } else {
            FailureWord::Resumed
        };
        let what = format!("resumed is {resumed}");
        return Err(wrong_work(reason, what));
    }
    if let Some(what) = disagreement(&loaded.client, &server.negotiated) {
        return Err(wrong_work(FailureWord::SidesDisagree, what));
    }
    let due = site.lab.body_bytes;
    // A page of objects has no fewer bytes than due, and more if its own text is longer.
    let has_due = match page {
        None => loaded.body_bytes == due,
        Some(_) => loaded.body_bytes >= due,
    };
    if loaded.http_status != 200 || !has_due {
        let what = format!(
            "status {} and {} bytes, where 200 and {due} were due",
            loaded.http_status, loaded.body_bytes
        );
        return Err(wrong_work(FailureWord::AnotherResponse, what));
    }
    page.map_or(Ok(()), |page| has_objects(loaded, page))
}

/// Checks that all objects of the page were loaded completely.
fn has_objects(loaded: &Visit, page: &ObjectsPage) -> Result<(), Failure> {
    let due = (page.objects, page.object_bytes.iter().sum::<u64>());
    let found = loaded.objects.map_or((0, 0), |it| (it.loaded, it.bytes));
    if found == due {
        return Ok(());
    }
    let what = format!(
        "{} objects of {} bytes were loaded, where {} of {} were due",
        found.0, found.1, due.0, due.1
    );
    Err(wrong_work(FailureWord::AnotherResponse, what))
}

#[cfg(test)]
mod tests {
    use netbench_model::{
        Negotiated, ServerView, TlsVersion,
        browser::{ObjectsLoad, VisitTimes},
    };

    use super::*;

    fn loaded(version: TlsVersion, body_bytes: u64, resumed: bool) -> Visit {
        let client = Negotiated {
            version: Some(version),
            resumed,
            ..Negotiated::default()
        };
        Visit {
            times: VisitTimes {
                dns_ns: 0,
                tcp_ns: 1,
                tls_ns: 1,
                wait_ns: 0,
                first_byte_ns: Some(1),
                total_ns: Some(3),
            },
            server: Some(ServerView {
                negotiated: Negotiated {
                    version: Some(TlsVersion::Tls13),
                    ..client.clone()
                },
                compute_ns: 0,
            }),
            client,
            http_status: 200,
            body_bytes,
            ..Visit::default()
        }
    }

    #[test]
    fn a_page_counts_where_both_sides_say_the_same_of_it() {
        use TlsVersion::{Tls12, Tls13};
        let site = Site::new("a.example".parse().expect("a name"), 443);
        let due = site.lab.body_bytes;
        let silent = Visit {
            server: None,
            ..loaded(Tls13, due, false)
        };
        let (clean, resumed) = (Condition::Clean, Condition::Resumed);
        for (loaded, condition, reason) in [
            (loaded(Tls13, due, false), clean, ""),
            (loaded(Tls13, due, false), resumed, "not resumed"),
            (loaded(Tls13, due, true), resumed, ""),
            (loaded(Tls13, due, true), clean, "resumed"),
            (loaded(Tls12, due, false), clean, "sides disagree"),
            (loaded(Tls13, due - 1, false), clean, "another response"),
            (silent, clean, "no server's view"),
        ] {
            let failure = prove(&loaded, condition, &site, None).err();
            let found = failure.map(|failure| failure.reason.to_string());
            assert_eq!(found.unwrap_or_default(), reason);
        }
    }

    #[test]
    fn a_page_of_objects_counts_where_all_of_them_are_whole() {
        let site = Site::new("a.example".parse().expect("a name"), 443);
        let page = ObjectsPage::new(3, 1).expect("a page");
        let all: u64 = page.object_bytes.iter().sum();
        for (objects, more, counts) in [
            (Some((3, all)), 0, true),
            (Some((3, all)), 100, true),
            (None, 0, false),
            (Some((2, all)), 0, false),
            (Some((3, all - 1)), 0, false),
        ] {
            let objects = objects.map(|(loaded, bytes)| ObjectsLoad {
                loaded,
                bytes,
                reused: 0,
                last_object_ns: 1,
                load_ns: 1,
            });
            let loaded = Visit {
                objects,
                ..loaded(TlsVersion::Tls13, site.lab.body_bytes + more, false)
            };
            let proved = prove(&loaded, Condition::Clean, &site, Some(&page));
            assert_eq!(proved.is_ok(), counts, "{objects:?}");
        }
    }
}
