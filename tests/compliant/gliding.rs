//! A particle that slides at constant speed rides on a cushion; without contacts at a distance it
//! hops (spec 10.4).

use saltation::compliant::{Solver, StepFriction};
use saltation::mechanics::{ContactSet, ContactSource, MechanicalSystem, UnilateralConstraints};
use saltation::models::Particle;
use saltation::{Compliant, Run, Start};

use crate::listed::Listed;
use crate::reference_rows::{self, Row};

fn particle(row: &Row) -> Particle {
    Particle {
        slope: 0.5_f64.atan(),
        friction: 0.5,
        stiffness: row.number("k"),
        dissipation_time: row.number("tau_d"),
        ..Particle::default()
    }
}

/// From the height `z`.
fn run<S>(system: S, z: f64, row: &Row) -> (Compliant<S>, Run)
where
    S: MechanicalSystem + ContactSource,
{
    let stepper = Compliant::new(system)
        .expect("a system")
        .friction(StepFriction::Cone);
    let mut stepper = stepper
        .time_step(row.number("dt"))
        .solver(Solver::new().rtol(1e-13));
    let run = stepper.integrate(
        &Start::at(0.0).q(&[0.0, 0.0, z]).v(&[1.0, 0.0, 0.0]),
        row.number("T"),
    );
    let run = run.expect("input").completed().expect("completed");
    (stepper, run)
}

#[test]
fn every_row_of_the_constant_speed_is_met() {
    for row in reference_rows::of("gliding", "constant speed") {
        let particle = particle(&row);
        let (stepper, run) = run(particle, 0.0, &row);
        let (dt, state) = (row.number("dt"), run.state());
        row.is(match row.quantity.as_str() {
            "phi_predicted" => {
                let law = stepper.problem().law(0).expect("a contact");
                let time = dt + particle.dissipation_time;
                let softening = 1.0 + 0.25 * law.tangential / law.normal;
                time * 0.5 * state[3] - softening * law.normal * time * particle.load() * dt
            }
            "phi_at_T" => state[2],
            "v_t_at_T" => state[3],
            other => panic!("{other}"),
        });
    }
}

/// The particle, whose contact is listed only where it overlaps.
fn overlapping(particle: Particle) -> Listed<Particle> {
    Listed::new(particle, |particle, q, _, wanted, contacts| {
        let touching: &[usize] = if particle.gap(0, q) < 0.0 { &[0] } else { &[] };
        particle.fill(q, ContactSet::Listed(touching), wanted, contacts)
    })
}

/// The hops depend on the start. Those of the reference begin at the static depth.
#[test]
fn without_contacts_at_a_distance_the_particle_hops() {
    let rows = reference_rows::of("gliding", "contact listed only when phi<0");
    let particle = particle(&rows[0]);
    let (_, run) = run(overlapping(particle), particle.rest()[2], &rows[0]);
    let count = run.times().len();
    let gaps = || (count - 50..count).map(|k| run.q(k)[2]);
    for row in &rows {
        let found = match row.quantity.as_str() {
            "phi_min_last_50_steps" => gaps().fold(f64::INFINITY, f64::min),
            "phi_max_last_50_steps" => gaps().fold(f64::NEG_INFINITY, f64::max),
            other => panic!("{other}"),
        };
        let off = (found / row.value - 1.0).abs();
        assert!(off < 1e-6, "{row:?}: {found:e}");
    }
}
