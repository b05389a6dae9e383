//! The browsers of a run.

use netbench_browser::{BrowserProgram, Product};
use netbench_model::{
    StackName,
    browser::Sandbox,
    features::{FeatureBrowser, FeatureFound, FeaturesManifest},
};

use crate::{
    browsers,
    exit::{WrongInput, cannot_continue},
};

/// A browser, and its program if it is installed.
pub(super) type Found = (FeatureBrowser, Option<BrowserProgram>);

/// Searches for browsers. One that is not installed is kept: the report states how to install it.
pub(super) fn find(
    products: impl Iterator<Item = Product>,
    sandbox: Sandbox,
) -> anyhow::Result<Vec<Found>> {
    products.map(|product| look(product, sandbox)).collect()
}

/// Searches for the browsers of a run that continues, which must not have changed.
pub(super) fn find_again(run: &FeaturesManifest) -> anyhow::Result<Vec<Found>> {
    let mut all = Vec::new();
    for then in &run.plan.browsers {
        let product: Product = then.name.as_str().parse().map_err(WrongInput)?;
        let sandbox = match then.found {
            FeatureFound::Installed { sandbox, .. } => sandbox,
            FeatureFound::Missing { .. } => Sandbox::On,
        };
        let now = look(product, sandbox)?;
        if now.0 != *then {
            let why = format!(
                "{} was another one when it was started, or was not there",
                then.name
            );
            return Err(cannot_continue(&run.name, why));
        }
        all.push(now);
    }
    Ok(all)
}

/// Looks for a browser. A Servo that is not there is built.
fn look(product: Product, sandbox: Sandbox) -> anyhow::Result<Found> {
    let (found, program) = match browsers::find(product)? {
        Ok(program) => {
            let installed = FeatureFound::Installed {
                version: program.version().to_owned(),
                library: product.library().to_owned(),
                sandbox: product.sandbox(sandbox),
                settings: product.settings(),
            };
            (installed, Some(program))
        }
        Err(error) => {
            let reason = error.to_string();
            (FeatureFound::Missing { reason }, None)
        }
    };
    let name = StackName::new(product.to_string());
    Ok((FeatureBrowser { name, found }, program))
}
