//! The variational driver: mechanical systems in steps of the midpoint rule, with impacts inside
//! the steps.
//!
//! [`Variational`] runs a [`ContactModel`](crate::ContactModel) with a [`time_step`](Variational::time_step);
//! [`Chatter`] is its rule for impacts closer than a step. [`Midpoint`] makes single steps without
//! contacts. [`Orthogonality`] searches postures and designs whose landings have one outcome.
//!
//! ```
//! use saltation::models::DoublePendulum;
//! use saltation::{ContactModel, Start, Variational};
//! let model = ContactModel::new(DoublePendulum::default()); // swings against an elastic wall
//! let mut driver = Variational::new(model.clone())?.time_step(1e-3);
//! let run = driver.integrate(&Start::at(0.0).q(&[1.0, 0.5]).v(&[0.0, 0.0]), 5.0)?.completed()?;
//! let energy = |k| model.energy(run.states().column(k).as_slice());
//! let drift = energy(run.times().len() - 1).zip(energy(0)).map(|(last, first)| last - first);
//! assert!(drift.is_some_and(|drift| drift.abs() < 1e-3));
//! # Ok::<(), saltation::Error>(())
//! ```
//!
//! # Which driver
//!
//! | | [`event_driven`](crate::event_driven) | `variational` |
//! |---|---|---|
//! | steps | as long as a tolerance allows; fifth order | of one length; second order |
//! | impacts | at their times, to rounding | at the times of the discrete motion, `O(h²)` off |
//! | energy without dissipation | drifts with the tolerance, steadily | stays within `O(h²)` for any time |
//! | momenta of symmetries | kept to the tolerance | kept to rounding |
//! | friction of closed contacts | Coulomb or a law of its own; few contacts in space | Coulomb, with sticking |
//! | impacts that accumulate | detected, absorbed at their limit | plastic when closer than a step |
//! | derivative | Bouligand, through corners, with a verdict | of runs with single impacts |
//!
//! Take this one for long times, for control at a fixed rate, and where contacts stick and slide;
//! the other for exact times, for simultaneous impacts with derivatives, and for efforts that
//! change quickly.
//!
//! # The method
//!
//! ```text
//!     L_d(q₀, q₁, h) = h L(m, v)        m = (q₀ + q₁)/2,  v = (q₁ − q₀)/h
//!     p₀ + D₁L_d + f⁻ + J(q₀)ᵀ y⁻ = 0   p₁ = D₂L_d + f⁺ + J(q₁)ᵀ y⁺      f^± = (h/2) f(t + h/2, m, v)
//! ```
//!
//! with the impulses `y` of closed contacts at both ends of the step. Friction opposes the slip of
//! the step and of its end, so that a block on a slope sticks up to the full angle of friction; in
//! space the latter is turned to the direction of the former, so that the order is two.
//! Impacts are those of the chosen law; the paper has none with friction, and a law without it is
//! refused for a system with friction unless [`Variational::frictionless_impacts`] says so. Two
//! impacts of a contact closer than a step, or more than three within one, are taken as rest
//! ([`Chatter`]); the paper says only "faster than the time-step frequency".
//!
//! Each step solves these equations to the rounding of its forces. One without closed contacts that
//! Newton's method does not solve, or in which a value is not finite, is made in two halves: a run
//! reports it ([`Doubt::Halved`](crate::Doubt::Halved)) and has no guarantee, a [`Midpoint`] counts
//! it.
//!
//! The paper says that the integrator conserves energy: it does at elastic impacts; along the
//! motion the error stays bounded. A step that is cut by an impact is not symplectic as a whole.
//!
//! Source: Seghete & Murphey, "A propagative model of simultaneous impact: existence, uniqueness,
//! and design consequences" (arXiv 1709.02296), with its errors mended.

// Inside: `discrete_lagrangian` (its derivatives), `newton` (the equations of a step), `midpoint` (a
// step without contacts, and its derivative); `held` (a step with closed contacts), `impact`,
// `advance` (a step with the impacts inside it), `driver` (its loop), `runner` (a run under way),
// `settings`, `state`; `derivative` (of a run), `orthogonality`, `failure`.

mod advance;
mod derivative;
mod discrete_lagrangian;
mod driver;
mod failure;
mod held;
mod impact;
mod midpoint;
mod newton;
mod orthogonality;
mod runner;
mod settings;
mod state;

pub use crate::record::{ContactEvent, ContactEventKind, Phase};
pub use driver::Variational;
pub use failure::VariationalFailure;
pub use midpoint::Midpoint;
pub use orthogonality::{Meeting, OrthogonalDesign, Orthogonality};
pub use settings::Chatter;
