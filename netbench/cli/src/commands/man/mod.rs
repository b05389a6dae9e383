pub(crate) mod args;

use clap::CommandFactory;
use clap_mangen::Man as Page;

use anyhow::Context;

use self::args::Man;
use super::Netbench;
use crate::{exit::Ended, output};

pub(crate) fn man(options: &Man) -> anyhow::Result<Ended> {
    let command = Netbench::command();
    match &options.folder {
        Some(folder) => {
            std::fs::create_dir_all(folder)
                .and_then(|()| clap_mangen::generate_to(command, folder))
                .with_context(|| format!("cannot write manual pages to {}", folder.display()))?;
        }
        None => {
            let mut page = Vec::new();
            Page::new(command).render(&mut page)?;
            output::write(&page)?;
        }
    }
    Ok(Ended::Well)
}
