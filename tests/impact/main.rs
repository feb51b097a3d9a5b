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
mod bounds_of_searches;
mod cradles;
mod dependent;
mod extremes;
mod fixtures;
mod kept_sensitivities;
mod laws;
mod level_landing;
#[path = "../common/extremes.rs"]
mod numbers;
mod one_sided;
mod plastic_to_elastic;
#[path = "../common/random.rs"]
mod random_bits;
mod random_systems;
mod slow_approaches;
mod squeezed;
mod two_contacts;
