//! The test problems and show pieces of the papers, each with the numbers of its source.
//!
//! Event-selected systems (Anderson & Revzen, arXiv 2402.00279): [`Affine`] (its order test),
//! [`Hopper`] (its leg, one dimension), the plate on springs ([`PlateParameters`]) in two systems:
//! [`VerticalPlate`] (its force law, summed in closed form) and [`NormalPlate`] (forces along the
//! normal that never pull). B-derivatives (Burden, Sastry, Koditschek & Revzen, SIADS 15, 2016;
//! Council, Revzen & Burden, JCND 17, 2022): [`Affine::coupled`], `shared_damping` of the plate and
//! [`FieldTable`] (piecewise constant fields of any dimension). Impacts (Seghete & Murphey, arXiv
//! 1709.02296): [`Cradle`], [`ThreeBalls`], [`Trex`]. Bodies that touch (Pace & Burden, arXiv 1609.04056):
//! [`RigidTrot`], which is also a block that rocks ([`RigidTrot::block`]), [`SoftTrot`];
//! [`BouncingBall`], [`DoublePendulum`], [`SlidingBlock`]. Our own: [`LinkChain`], [`ContactChain`] (many states, many contacts
//! nearly at once), [`IntegrateAndFire`] (resets that set off further resets; Mirollo & Strogatz
//! 1990), [`Thermostat`] (a guard reset matrix that is not made of pairs). Inside: `linkage` (planar bodies on segments), `spring_row`
//! (sums over the springs in contact), `check` (refusals), `slices` (slices to arrays and back).

mod affine;
mod ball;
mod billiards;
mod chain;
mod cradle;
mod field_table;
mod hopper;
mod integrate_and_fire;
mod link_chain;
mod linkage;
mod pendulum;
mod plate;
mod plate_normal;
mod plate_plain;
mod plate_vertical;
mod rocking;
mod slices;
mod sliding_block;
mod spring_row;
#[cfg(test)]
mod test_support;
mod thermostat;
mod trex;
mod trot;

pub use affine::Affine;
pub use ball::BouncingBall;
pub use billiards::ThreeBalls;
pub use chain::ContactChain;
pub use cradle::Cradle;
pub use field_table::FieldTable;
pub use hopper::Hopper;
pub use integrate_and_fire::IntegrateAndFire;
pub use link_chain::LinkChain;
pub use pendulum::DoublePendulum;
pub use plate::PlateParameters;
pub use plate_normal::NormalPlate;
// Of use to benches and tests only.
#[doc(hidden)]
pub use plate_plain::PlainPlate;
pub use plate_vertical::VerticalPlate;
pub use sliding_block::SlidingBlock;
pub use thermostat::Thermostat;
pub use trex::Trex;
pub use trot::{RigidTrot, SoftTrot};
