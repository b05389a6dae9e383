//! Pages, each of which runs the script of its case and reports the result.

use netbench_model::features::{WebCase, WebContent, WebResource};

use crate::answers::{self, Answer};

/// The text around the script of a page.
const PAGE: &str = include_str!("page.html");

/// Returns the response with a page or a file.
pub(crate) fn answer(case: &WebCase, resource: &WebResource, host: &str) -> Answer {
    match &resource.content {
        WebContent::Page { head, script } => {
            answers::text("text/html; charset=utf-8", &page(case, head, script, host))
        }
        WebContent::File { media_type, body } => answers::text(media_type, body),
    }
}

fn page(case: &WebCase, head: &str, script: &str, host: &str) -> String {
    // The script comes last: it may contain the names of the other parts.
    PAGE.replace("<!--HEAD-->", head)
        .replace("{{CASE}}", &case.name)
        .replace("{{OWN}}", &case.host)
        .replace("{{HOST}}", host)
        .replace("/*SCRIPT*/", script)
}
