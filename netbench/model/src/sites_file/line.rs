//! A site written back as a line.

use std::fmt::Display;

use crate::{LabProfile, Site, Switch};

impl Site {
    /// The line of a sites file that says this site: `host[:port]` and every field that differs
    /// from [`LabProfile::default`]. [`crate::parse_sites`] reads it back as an equal site.
    pub fn to_line(&self) -> String {
        let (lab, usual) = (&self.lab, LabProfile::default());
        let mut line = self.name();
        let mut put = |field: &str, value: String| {
            line.push(' ');
            line.push_str(field);
            line.push('=');
            line.push_str(&value);
        };
        if lab.server != usual.server {
            put("server", lab.server.clone());
        }
        if lab.tls != usual.tls {
            put("tls", joined(&lab.tls, ""));
        }
        if lab.suites != usual.suites {
            put("suites", joined(&lab.suites, "default"));
        }
        if lab.groups != usual.groups {
            put("groups", joined(&lab.groups, "default"));
        }
        if lab.key != usual.key {
            put("key", lab.key.to_string());
        }
        if lab.chain != usual.chain {
            let chain = lab.chain;
            let bytes = if chain.bytes == 0 {
                String::new()
            } else {
                format!("/{}", chain.bytes)
            };
            put("chain", format!("{}{bytes}", chain.length));
        }
        if lab.alpn != usual.alpn {
            put("alpn", joined(&lab.alpn, "none"));
        }
        if lab.tickets != usual.tickets {
            put("tickets", lab.tickets.to_string());
        }
        if lab.ocsp != usual.ocsp {
            put(
                "ocsp",
                if lab.ocsp == Switch::On { "on" } else { "off" }.to_owned(),
            );
        }
        let (link, usual_link) = (lab.link, usual.link);
        if link.rtt_ns != usual_link.rtt_ns {
            put("rtt", time(link.rtt_ns));
        }
        if link.jitter_ns != usual_link.jitter_ns {
            put("jitter", time(link.jitter_ns));
        }
        if link.loss != usual_link.loss {
            put("loss", link.loss.to_string());
        }
        if let Some(rate) = link.rate {
            put("rate", rate.to_string());
        }
        if link.queue != usual_link.queue {
            put("queue", link.queue.packets.to_string());
        }
        if lab.body_bytes != usual.body_bytes {
            put("body", bytes(lab.body_bytes));
        }
        if let Some(fault) = lab.fault {
            put("fault", fault.to_string());
        }
        line
    }
}

fn joined<T: Display>(items: &[T], empty: &str) -> String {
    if items.is_empty() {
        return empty.to_owned();
    }
    items
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(",")
}

fn time(ns: u64) -> String {
    if ns.is_multiple_of(1_000_000) {
        format!("{}ms", ns / 1_000_000)
    } else {
        format!("{}.{:03}us", ns / 1000, ns % 1000)
    }
}

fn bytes(bytes: u64) -> String {
    if bytes.is_multiple_of(1024) && bytes > 0 {
        format!("{}k", bytes / 1024)
    } else {
        bytes.to_string()
    }
}
