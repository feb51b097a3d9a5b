//! The test problems and show pieces of the papers, each with the numbers of its source.
//!
//! Event-selected systems (Anderson & Revzen, arXiv 2402.00279): [`Affine`] (its order test),
//! [`Hopper`] (its leg, one dimension), the plate on springs ([`PlateParameters`]) in two systems:
//! [`VerticalPlate`] (its force law, summed in closed form) and [`NormalPlate`] (forces along the
//! normal that never pull). B-derivatives (Burden, Sastry, Koditschek & Revzen, SIADS 15, 2016;
//! Council, Revzen & Burden, JCND 17, 2022): [`Affine::coupled`], `shared_damping` of the plate and
//! [`FieldTable`] (piecewise constant fields of any dimension). Impacts (Seghete & Murphey, arXiv
//! 1709.02296): [`Cradle`], [`ThreeBalls`], [`Trex`]. Bodies that touch (Pace & Burden, arXiv
//! 1609.04056): [`RigidTrot`], which is also a block that rocks ([`RigidTrot::block`]),
//! [`SoftTrot`]; [`BouncingBall`], [`DoublePendulum`], [`SlidingBlock`]. Compliant contact (Castro,
//! Permenter & Han, T-RO 2022): [`SpringCylinder`], [`Particle`] (on an incline), [`CubeStack`],
//! [`Clutter`]. Impacts with friction (Halm & Posa, IJRR 2024): [`RockingBlock`], [`CompassGait`],
//! [`BoxAndWall`], [`RamOne`], [`DiskStack`]; [`SlidingRod`] (impact without collision) and
//! [`Wedge`] (contacts that can jam a body). Our own: [`LinkChain`] (a pendulum of many rods),
//! [`ContactChain`] (many states, many contacts nearly at once), [`IntegrateAndFire`] (resets that
//! set off further resets; Mirollo & Strogatz 1990), [`Thermostat`] (a guard reset matrix that is
//! not made of pairs). Inside: `spring_row` (sums over the springs in contact), `linkage` (rigid
//! links in the plane against walls), `contact_problem` (the impact of a model at a configuration),
//! `slices` (slices to arrays and back).

mod affine;
mod ball;
mod billiards;
mod box_and_wall;
mod chain;
mod clutter;
mod compass_gait;
mod contact_problem;
mod cradle;
mod cube_stack;
mod disk_stack;
mod field_table;
mod hopper;
mod integrate_and_fire;
mod link_chain;
mod linkage;
mod particle;
mod pendulum;
mod plate;
mod plate_normal;
mod plate_plain;
mod plate_vertical;
mod ramone;
mod rocking;
mod rocking_block;
mod slices;
mod sliding_block;
mod sliding_rod;
mod spring_cylinder;
mod spring_row;
#[cfg(test)]
mod test_support;
mod thermostat;
mod trex;
mod trot;
mod wedge;

pub use affine::Affine;
pub use ball::BouncingBall;
pub use billiards::ThreeBalls;
pub use box_and_wall::BoxAndWall;
pub use chain::ContactChain;
pub use clutter::Clutter;
pub use compass_gait::CompassGait;
pub use cradle::Cradle;
pub use cube_stack::CubeStack;
pub use disk_stack::DiskStack;
pub use field_table::FieldTable;
pub use hopper::Hopper;
pub use integrate_and_fire::IntegrateAndFire;
pub use link_chain::LinkChain;
pub use particle::Particle;
pub use pendulum::DoublePendulum;
pub use plate::PlateParameters;
pub use plate_normal::NormalPlate;
// Of use to benches and tests only.
#[doc(hidden)]
pub use plate_plain::PlainPlate;
pub use plate_vertical::VerticalPlate;
pub use ramone::{RamOne, RamOneLink};
pub use rocking_block::RockingBlock;
pub use sliding_block::SlidingBlock;
pub use sliding_rod::SlidingRod;
pub use spring_cylinder::SpringCylinder;
pub use thermostat::Thermostat;
pub use trex::Trex;
pub use trot::{RigidTrot, SoftTrot};
pub use wedge::Wedge;
