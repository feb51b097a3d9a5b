//! Impact laws: outcomes, bounds and limits of the specification, properties over random systems,
//! bad input.
#![allow(missing_docs, reason = "tests")]
#![allow(
    clippy::float_cmp,
    clippy::cast_sign_loss,
    reason = "small whole numbers, exactly"
)]

mod bad_input;
mod billiards;
mod blends;
mod bounds;
mod cradles;
mod dependent;
mod extremes;
mod fixtures;
mod laws;
mod level_landing;
mod limits;
#[path = "../common/extremes.rs"]
mod numbers;
mod one_sided;
#[path = "../common/random.rs"]
mod random_bits;
mod random_systems;
mod slow_approaches;
mod squeezed;
mod tangents;
