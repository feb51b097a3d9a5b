//! Tables on disk: parts as CSV and as Parquet, and folders of them.

#[cfg(feature = "arrow")]
mod arrow;
mod csv;
mod folder;
mod format;
mod part;

pub use folder::Folder;
pub use part::Part;
