//! `netbench setup config`: writes a `netbench.toml` to begin from.

use crate::{
    config::{NAME, template},
    exit::{Ended, bail_input},
};
use anyhow::Context;
use std::{fs::File, io, io::Write};

pub(crate) const EXAMPLES: &str = "\
netbench.toml sets options for its folder and those in it: sites, stacks, roots,
client profile, link, rounds, and what compare fails on. Options of the command
line come first.";

pub(crate) fn config() -> anyhow::Result<Ended> {
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
