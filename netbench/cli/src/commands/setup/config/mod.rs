//! `netbench setup config`: writes a `netbench.toml` to begin from.

pub(crate) mod args;

use std::{fs::File, io, io::Write};

use anyhow::Context;

use self::args::Config;
use crate::{
    config::{NAME, template},
    exit::{Ended, bail_input},
};

pub(crate) fn config(_options: &Config) -> anyhow::Result<Ended> {
    let mut file = match File::create_new(NAME) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            bail_input!("{NAME} is already there, and is not overwritten");
        }
        Err(error) => return Err(error).context(format!("cannot create {NAME}")),
    };
    file.write_all(template().as_bytes())
        .with_context(|| format!("cannot write {NAME}"))?;
    note!("netbench: wrote {NAME}");
    Ok(Ended::Well)
}
