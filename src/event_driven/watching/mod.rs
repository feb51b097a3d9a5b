//! Looks at each step for motions that no run goes on from (Pace & Burden, section 3.4).
//!
//! * `grazing`: touches without an impact, releases without a rate, open contacts with negative gaps, and the
//!   observer that finds them;
//! * `off_surface`: closed contacts off their surfaces;
//! * `pushes`: forces that a step does not see;
//! * `sharing`: motions that depend on how contacts share their load.

pub(crate) mod grazing;
mod off_surface;
mod pushes;
mod sharing;
