//! Efforts that add up in the body, and those that do not.

use saltation::ContactModel;
use saltation::Start;
use saltation::event_driven::InertialCoupling;
use saltation::models::SoftTrot;

use crate::fixtures::plain::{Plain, identity};

#[test]
fn additive_efforts_are_found_so_at_any_scale() {
    for (stiffness, height) in [
        (30.0, 1.0),
        (1e12, 1.0),
        (30.0, 1e6),
        (1e12, 1e6),
        (1e-9, 1.3),
    ] {
        for damping in [0.0, 1.0, 1e8] {
            let trot = SoftTrot {
                stiffness,
                damping,
                restitution: 0.5,
                ..SoftTrot::default()
            };
            let report = ContactModel::new(trot)
                .decoupling(
                    &Start::at(0.0)
                        .q(&[height, 0.1, 0.0, 0.0])
                        .v(&[-3.0, 0.2, -3.1, -2.7]),
                    &[0, 1],
                )
                .unwrap();
            assert!(
                report.effort_coupling == 0.0,
                "{stiffness} {height} {damping}"
            );
            // At that height and damping the maps, which are differences, are too rough.
            if height < 1e6 || damping < 1e8 {
                assert_eq!(report.verdict, InertialCoupling::Decoupled, "{report:?}");
            }
        }
    }
}

#[test]
fn a_small_product_of_two_limbs_in_the_body_is_found() {
    // A body at q_0, limbs q_1 and q_2 on springs: f_0 is not additive by a little.
    for (unit, at) in [(1.0, 0.0), (1e12, 0.0), (1e-12, 0.0), (1.0, 1000.3)] {
        for part in [0.0, 9e-4] {
            for along in [0, 3] {
                let effort = move |q: &[f64], v: &[f64], f: &mut [f64]| {
                    let x = [q, v].concat();
                    f[1] = unit * (30.0 * (q[0] - q[1] - at) - 9.81);
                    f[2] = unit * (30.0 * (q[0] - q[2] - at) - 9.81);
                    // Terms that cancel leave their rounding.
                    let springs = 30.0 * (2.0 * q[0] - q[1] - q[2]) - 60.0 * at;
                    f[0] = unit * (part * x[1 + along] * x[2 + along] - springs);
                };
                let model = ContactModel::new(Plain {
                    mass: identity(3),
                    rows: vec![vec![0.0, 1.0, 0.0], vec![0.0, 0.0, 1.0]],
                    restitution: vec![0.5; 2],
                    effort,
                });
                let q = [at, 0.0, 0.0];
                let report = model
                    .decoupling(&Start::at(0.0).q(&q).v(&[-1.0; 3]), &[0, 1])
                    .unwrap();
                let error = (report.effort_coupling - unit * part).abs();
                assert!(
                    error <= 1e-4 * unit * part,
                    "{unit} {at} {along}: {report:?}"
                );
                assert_eq!(report.verdict == InertialCoupling::Decoupled, part == 0.0);
            }
        }
    }
}
