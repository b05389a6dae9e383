use netbench_browser::Loaded;
use netbench_model::{Condition, Failure, FailureWord, Site};

use super::wrong_work;
use crate::proof::disagreement;

/// Holds a browser's account of a page against what was asked for and what the server saw.
///
/// # Errors
/// It was another page, or another connection.
pub(super) fn prove(loaded: &Loaded, condition: Condition, site: &Site) -> Result<(), Failure> {
    let Some(server) = &loaded.server else {
        let what = "the lab's server did not say what it saw".to_owned();
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
    if loaded.http_status != 200 || loaded.body_bytes != due {
        let what = format!(
            "status {} and {} bytes, where 200 and {due} were due",
            loaded.http_status, loaded.body_bytes
        );
        return Err(wrong_work(FailureWord::AnotherResponse, what));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use netbench_model::{Negotiated, ServerView, TlsVersion, browser::VisitTimes};

    use super::*;

    fn loaded(version: TlsVersion, body_bytes: u64, resumed: bool) -> Loaded {
        let negotiated = |version| Negotiated {
            version: Some(version),
            resumed,
            ..Negotiated::default()
        };
        Loaded {
            times: VisitTimes {
                dns_ns: 0,
                tcp_ns: 1,
                tls_ns: 1,
                wait_ns: 0,
                first_byte_ns: 1,
                total_ns: 3,
            },
            client: negotiated(version),
            server: Some(ServerView {
                negotiated: negotiated(TlsVersion::Tls13),
                compute_ns: 0,
            }),
            http_status: 200,
            body_bytes,
        }
    }

    #[test]
    fn a_page_counts_where_both_sides_say_the_same_of_it() {
        let site = Site::new("a.example".parse().expect("a name"), 443);
        let due = site.lab.body_bytes;
        let tried = |loaded: &Loaded, condition| {
            prove(loaded, condition, &site).map_err(|failure| failure.reason.to_string())
        };
        let (clean, resumed) = (Condition::Clean, Condition::Resumed);
        let good = loaded(TlsVersion::Tls13, due, false);
        assert_eq!(tried(&good, clean), Ok(()));
        let wrong = |reason: &str| Err(reason.to_owned());
        assert_eq!(tried(&good, resumed), wrong("not resumed"));
        let again = loaded(TlsVersion::Tls13, due, true);
        assert_eq!(tried(&again, resumed), Ok(()));
        assert_eq!(tried(&again, clean), wrong("resumed"));
        let other = loaded(TlsVersion::Tls12, due, false);
        assert_eq!(tried(&other, clean), wrong("sides disagree"));
        let short = loaded(TlsVersion::Tls13, due - 1, false);
        assert_eq!(tried(&short, clean), wrong("another response"));
        let silent = Loaded {
            server: None,
            ..good
        };
        assert_eq!(tried(&silent, clean), wrong("no server's view"));
    }
}
