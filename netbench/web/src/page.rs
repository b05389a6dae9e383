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
    // An end tag in a text of the script would end the script's element.
    let script = script.replace("</script", "<\\/script");
    // The script comes last: it may contain the names of the other parts.
    PAGE.replace("<!--HEAD-->", head)
        .replace("{{CASE}}", &case.name)
        .replace("{{OWN}}", &case.host)
        .replace("{{HOST}}", host)
        .replace("/*SCRIPT*/", &script)
}

#[cfg(test)]
mod tests {
    use netbench_model::features::WebCase;

    use super::*;

    #[test]
    fn a_page_has_its_script_whole() {
        let case = WebCase {
            name: "fetch/get".to_owned(),
            host: "fetch-get.test".to_owned(),
            resources: Vec::new(),
        };
        let page = page(
            &case,
            "<meta>",
            "return '</script> {{OWN}}';",
            "sub.fetch-get.test",
        );
        assert!(page.contains("return '<\\/script> {{OWN}}';"), "{page}");
        assert!(page.contains("<meta>") && page.contains(r#"const own = "fetch-get.test";"#));
        assert_eq!(page.matches("</script>").count(), 1);
    }
}
