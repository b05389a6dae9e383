//! Sites measured at many points: each swept property has several values, and every combination of values is a point.

mod axis;
mod certificates;
mod point;
mod presets;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::{
    axis::SweepAxis,
    certificates::CertificatesPreset,
    point::{PointClient, SweepPoint},
    presets::LinkPreset,
};
use crate::{Site, sites_file::conflicts};

/// The axes of a sweep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Sweep {
    /// The axes in the given order, except that `link` and `certificates` come before the axes that change a part of them.
    pub axes: Vec<SweepAxis>,
}

/// An error in a sweep.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// An invalid axis or value.
    #[error("{0}")]
    Wrong(String),
    /// More sites than one run can measure.
    #[error("{points} points of {sites} sites are more than the {most} sites that a run can have")]
    TooMany {
        /// Number of points.
        points: u64,
        /// Number of sites at each point.
        sites: u64,
        /// Maximum number of points times sites.
        most: u64,
    },
}

/// Maximum number of sites: the number of addresses of a link.
const MOST_SITES: u64 = 64_516;

impl Sweep {
    /// Parses axes, each `NAME=VALUE,…`.
    ///
    /// # Errors
    /// An unknown or repeated axis, or an invalid or repeated value.
    pub fn parse<T: AsRef<str>>(texts: &[T]) -> Result<Self, SweepError> {
        let mut axes: Vec<SweepAxis> = Vec::new();
        for text in texts {
            let axis = SweepAxis::parse(text.as_ref()).map_err(SweepError::Wrong)?;
            if axes.iter().any(|other| other.name == axis.name) {
                let twice = format!("{} is given twice: join its values with commas", axis.name);
                return Err(SweepError::Wrong(twice));
            }
            axes.push(axis);
        }
        axes.sort_by_key(|axis| !axis.is_whole());
        Ok(Self { axes })
    }

    /// Returns the number of points.
    pub fn points(&self) -> u64 {
        let lengths = self.axes.iter().map(|axis| axis.values.len() as u64);
        lengths.fold(1, u64::saturating_mul)
    }

    /// Returns each of `sites` at each point.
    ///
    /// # Errors
    /// More sites than a run can have, or a point that no server can serve.
    pub fn expand(&self, sites: &[Site]) -> Result<Vec<Site>, SweepError> {
        let (points, all) = (self.points(), sites.len() as u64);
        if points.saturating_mul(all) > MOST_SITES {
            return Err(SweepError::TooMany {
                points,
                sites: all,
                most: MOST_SITES,
            });
        }
        let mut points: Vec<Point<'_>> = vec![Vec::new()];
        for axis in &self.axes {
            let mut longer = Vec::new();
            for point in &points {
                let values = axis.values.iter();
                longer.extend(
                    values.map(|value| [point.as_slice(), &[(axis, value.as_str())]].concat()),
                );
            }
            points = longer;
        }
        let points = points.iter();
        let all = points.flat_map(|point| sites.iter().map(move |site| at(site, point)));
        all.collect()
    }
}

/// The value on each axis.
type Point<'a> = Vec<(&'a SweepAxis, &'a str)>;

fn at(site: &Site, settings: &[(&SweepAxis, &str)]) -> Result<Site, SweepError> {
    let is_one = settings.iter().all(|(axis, _)| axis.values.len() == 1);
    let texts = settings.iter();
    let texts = texts.map(|(axis, value)| format!("{}={value}", axis.name));
    let differing = texts.clone().zip(settings);
    let differing = differing.filter(|(_, (axis, _))| is_one || axis.values.len() > 1);
    let name: Vec<_> = differing.map(|(text, _)| text).collect();
    let served = axis::at_point(site, settings).and_then(|(lab, client)| {
        match conflicts(&lab).into_iter().next() {
            Some((field, why)) => Err(format!("{field}: {why}")),
            None => Ok((lab, client)),
        }
    });
    let (lab, client) = served.map_err(|why| {
        let all = texts.collect::<Vec<_>>().join(",");
        SweepError::Wrong(format!("{} at {all}: {why}", site.name()))
    })?;
    let settings = settings.iter();
    let settings = settings.map(|(axis, value)| (axis.name.clone(), (*value).to_owned()));
    let point = SweepPoint {
        of: site.name(),
        name: name.join(","),
        settings: settings.collect(),
        client,
    };
    Ok(Site {
        lab: Arc::new(lab),
        point: Some(Box::new(point)),
        ..site.clone()
    })
}

#[cfg(test)]
mod tests;
