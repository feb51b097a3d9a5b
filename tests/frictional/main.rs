//! Inelastic impacts with friction: the reference of the set-valued impact specification, and its
//! properties on random problems.
#![allow(missing_docs, reason = "tests")]
#![allow(
    clippy::float_cmp,
    clippy::cast_sign_loss,
    clippy::cast_possible_truncation,
    reason = "small whole numbers, exactly"
)]

mod all_branches;
mod arclength;
mod arms_in_corners;
mod balls;
mod beginning_slips;
mod bodies_apart;
mod bounds_of_accumulations;
mod checked_modes;
mod closed_exact_sets;
mod comparison_laws;
mod compliant_block;
mod contact_cone;
#[path = "../common/contacts.rs"]
#[allow(dead_code, reason = "each test binary uses a part")]
mod contacts;
#[path = "../common/coulomb_in_space.rs"]
mod coulomb_in_space;
mod dependent_contacts;
mod derivatives_with_friction;
mod dropped_blocks;
mod eccentric_top;
mod event_exact;
mod every_step;
mod exact_planar;
mod exact_planar_rational;
mod extremes;
mod fingers;
mod fixtures;
mod floors_that_jump;
mod groove;
mod impact_inclusion;
mod ladders;
mod laws_of_friction;
mod lcp_steps;
#[path = "../common/legged.rs"]
mod legged;
mod letting_go;
mod light_bodies;
mod many_contacts;
mod many_in_space;
#[path = "../common/mode_checker.rs"]
mod mode_checker;
mod models;
mod modes;
mod moving_surfaces;
mod no_outcome;
#[path = "../common/extremes.rs"]
mod numbers;
mod pinned_ends;
mod planks_on_tables;
mod pressed_by_a_lid;
mod properties;
mod pushes;
#[path = "../common/random.rs"]
mod random_bits;
mod random_derivatives;
mod random_modes;
mod random_slips_in_space;
mod reachable;
mod rebounds_with_friction;
mod reference_rows;
mod restitution;
mod rolling_ball;
mod routh;
mod sampler;
#[path = "../common/scenes.rs"]
mod scenes;
#[path = "../common/shaken.rs"]
mod shaken;
mod shaken_pucks;
mod shared_loads;
mod sliding_rods;
mod slips_all_around;
mod slips_in_space;
mod small_bodies;
mod small_derivatives;
mod statistics;
mod steep_grooves;
mod steps_in_space;
mod stick_slip;
mod stools;
mod symmetries_of_blocks;
mod three_contacts;
mod thrown_against_a_stop;
mod tipping_box;

mod touch_sensors;
mod uneven_rows;
mod velocity_sets;
mod walking;
mod where_laws_agree;
mod without_forces;
mod woodpecker;

use fixtures::{reference, support};
