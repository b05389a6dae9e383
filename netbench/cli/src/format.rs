use std::{fmt, sync::LazyLock};

use clap::{ValueEnum, builder::PossibleValue};
use netbench_report::{FORMS, Form};

/// A form of a report, as `--format` takes it.
#[derive(Clone, Copy)]
pub(crate) struct Format(&'static Form);

impl Format {
    pub(crate) fn form(self) -> &'static Form {
        self.0
    }

    /// The form of this name.
    ///
    /// # Panics
    /// Where there is none.
    pub(crate) fn named(name: &str) -> Self {
        #[expect(clippy::expect_used, reason = "the names are in the source")]
        let form = netbench_report::form(name).expect("a form of this name");
        Self(form)
    }
}

impl Default for Format {
    fn default() -> Self {
        Self(&FORMS[0])
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

impl ValueEnum for Format {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<Format>> = LazyLock::new(|| FORMS.iter().map(Format).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name).help(self.0.about))
    }
}
