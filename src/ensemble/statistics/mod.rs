//! Statistics of columns that come row by row, and merge.

mod histogram;
mod moments;
#[cfg(feature = "quantiles")]
mod quantiles;

pub use histogram::Histogram;
pub use moments::Moments;
#[cfg(feature = "quantiles")]
pub use quantiles::Quantiles;
