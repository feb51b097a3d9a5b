//! What is fuzzed: one file for each room of the library.

mod arclengths;
mod bodies;
mod compliant;
mod derivative;
mod ensembles;
mod friction;
mod impact;
mod integrate;
mod kept;
mod lcp;
mod liars;
mod live;
mod models;
mod ode;
mod outcomes;
mod point;
mod runs;
mod scenes;
mod smooth;
mod steps;
mod terms;
mod values;
mod variational;

use crate::draw::Draw;
use crate::trial::Trial;

/// One family of cases.
#[derive(Debug)]
pub struct Target {
    pub name: &'static str,
    pub what: &'static str,
    pub run: fn(Draw, &mut Trial),
}

const fn target(name: &'static str, what: &'static str, run: fn(Draw, &mut Trial)) -> Target {
    Target { name, what, run }
}

pub static TARGETS: [Target; 21] = [
    target(
        "scenes",
        "shapes, contact points, scenes of rigid bodies in drivers",
        scenes::run,
    ),
    target(
        "integrate",
        "random systems and settings, kept and observed runs",
        integrate::run,
    ),
    target(
        "derivative",
        "derivatives of runs, pieces, tangents, parameters",
        derivative::run,
    ),
    target(
        "point",
        "Jacobians, gradient rows, saltation matrices, checks at a point",
        point::run,
    ),
    target(
        "smooth",
        "models in dual numbers, closures, pointers",
        smooth::run,
    ),
    target(
        "bodies",
        "simulations of bodies with contacts, every law and policy",
        bodies::run,
    ),
    target(
        "runs",
        "starts, multipliers, decoupling and derivatives of bodies",
        runs::run,
    ),
    target(
        "arclengths",
        "runs with friction in the plane, accumulations, and time as a state",
        arclengths::run,
    ),
    target(
        "impact",
        "impact problems, laws, selections, reflections",
        impact::run,
    ),
    target(
        "friction",
        "impacts with friction, one outcome and all, the cone of forces",
        friction::run,
    ),
    target(
        "outcomes",
        "samples of impacts with friction, exact planar sets",
        outcomes::run,
    ),
    target(
        "ensembles",
        "ensembles, their tables, whole and damaged, and statistics",
        ensembles::run,
    ),
    target("lcp", "linear complementarity problems", lcp::run),
    target("ode", "the stepper and its interpolant", ode::run),
    target("models", "the models, with any parameters", models::run),
    target(
        "values",
        "modes, guards, re-arming matrices, sizes",
        values::run,
    ),
    target(
        "liars",
        "models whose sizes and values change from call to call, in every driver",
        liars::run,
    ),
    target(
        "variational",
        "steps, runs, derivatives and designs of the variational driver",
        variational::run,
    ),
    target(
        "compliant",
        "contact problems of implicit steps, settings, derivatives",
        compliant::run,
    ),
    target(
        "steps",
        "steps, runs and derivatives of the compliant driver",
        steps::run,
    ),
    target(
        "terms",
        "joints, limits and motors of the compliant driver",
        terms::run,
    ),
];
