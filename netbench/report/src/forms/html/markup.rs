use crate::text::plain;

/// HTML and SVG as they are written. Names of elements and attributes are written in the source;
/// every value and every text is escaped here, so that nothing of a server or a file can be obeyed.
#[derive(Default)]
pub(super) struct Markup {
    text: String,
}

/// Attributes of an element.
pub(super) type Attributes<'a> = &'a [(&'static str, &'a str)];

/// What is in the page as it stands in the source tree: the style and the script.
pub(super) struct OfTheSource(pub(super) &'static str);

impl Markup {
    /// An element with what `inside` writes.
    pub(super) fn element(
        &mut self,
        name: &'static str,
        attributes: Attributes<'_>,
        inside: impl FnOnce(&mut Self),
    ) {
        self.open(name, attributes);
        inside(self);
        self.close(name);
    }

    /// An element with text in it.
    pub(super) fn text_element(
        &mut self,
        name: &'static str,
        attributes: Attributes<'_>,
        text: &str,
    ) {
        self.element(name, attributes, |markup| markup.text(text));
    }

    /// An element of HTML that has no end, or of SVG that is empty.
    pub(super) fn empty(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.start(name, attributes);
        self.text.push_str("/>");
    }

    /// Text.
    pub(super) fn text(&mut self, text: &str) {
        for c in plain(text).chars() {
            match c {
                '&' => self.text.push_str("&amp;"),
                '<' => self.text.push_str("&lt;"),
                '>' => self.text.push_str("&gt;"),
                '"' => self.text.push_str("&quot;"),
                '\'' => self.text.push_str("&#39;"),
                c => self.text.push(c),
            }
        }
    }

    /// What is in the source tree, as it is.
    pub(super) fn source(&mut self, source: &OfTheSource) {
        self.text.push_str(source.0);
    }

    /// What another has written.
    pub(super) fn append(&mut self, other: Self) {
        self.text.push_str(&other.text);
    }

    /// A line end, so that the page can be read and compared.
    pub(super) fn line(&mut self) {
        self.text.push('\n');
    }

    /// All that was written.
    pub(super) fn finish(self) -> String {
        self.text
    }

    fn open(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.start(name, attributes);
        self.text.push('>');
    }

    fn close(&mut self, name: &'static str) {
        self.text.push_str("</");
        self.text.push_str(name);
        self.text.push('>');
    }

    fn start(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.text.push('<');
        self.text.push_str(name);
        for (attribute, value) in attributes {
            self.text.push(' ');
            self.text.push_str(attribute);
            self.text.push_str("=\"");
            self.text(value);
            self.text.push('"');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_texts_stay_text() {
        let mut markup = Markup::default();
        let hostile = "</p><script>'\"&\x1b[2J\u{202e}";
        markup.text_element("p", &[("title", hostile)], hostile);
        let safe = "&lt;/p&gt;&lt;script&gt;&#39;&quot;&amp;\u{fffd}[2J\u{fffd}";
        assert_eq!(markup.finish(), format!("<p title=\"{safe}\">{safe}</p>"));
    }
}
