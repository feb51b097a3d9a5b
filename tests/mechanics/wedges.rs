//! A point between two planes that are almost parallel: impacts accumulate, also in no time at all.

use saltation::event_driven::{Breakdown, ContactEventKind, Grazing, Zeno};
use saltation::impact::{ImpactFailure, ImpactLaw, Propagative, Sequential, Unilateral};
use saltation::mechanics::{MechanicalSystem, Redundant, UnilateralConstraints};
use saltation::{ContactModel, EventDriven, Run};
use saltation::{Start, Status};

/// Planes at `± angle` from the first axis, `half` from the origin, that meet where
/// `x = −half / sin angle`; a weight along an axis.
#[derive(Clone, Copy, Debug)]
struct Planes {
    angle: f64,
    half: f64,
    weight: [f64; 2],
    restitution: f64,
}

impl Planes {
    /// The wedge with its edge at the origin, into which the point is drawn.
    fn wedge(angle: f64, weight: f64, restitution: f64) -> Self {
        Self {
            angle,
            half: 0.0,
            weight: [-weight, 0.0],
            restitution,
        }
    }

    fn run<L: ImpactLaw + Send + Sync + 'static>(
        self,
        law: L,
        zeno: Zeno,
        (q, v, tf): ([f64; 2], [f64; 2], f64),
    ) -> Run {
        let model = ContactModel::with_law(self, law).redundant(Redundant::LeastSquares);
        EventDriven::new(model)
            .unwrap()
            .rtol(1e-9)
            .atol(1e-10)
            .zeno(zeno)
            .grazing(Grazing::Contact)
            .integrate(&Start::at(10.0).q(&q).v(&v), 10.0 + tf)
            .unwrap()
    }

    fn lowest_gap(&self, run: &Run) -> f64 {
        let states = run.states();
        let gaps = states.column_iter().flat_map(|x| {
            let q = [x[0], x[1]];
            [self.gap(0, &q), self.gap(1, &q)]
        });
        gaps.fold(f64::INFINITY, f64::min)
    }
}

impl MechanicalSystem for Planes {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&self.weight);
    }
}

impl UnilateralConstraints for Planes {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let (sin, cos) = self.angle.sin_cos();
        self.half + sin * q[0] + if j == 0 { cos * q[1] } else { -cos * q[1] }
    }
    fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        let (sin, cos) = self.angle.sin_cos();
        row.copy_from_slice(&[sin, if j == 0 { cos } else { -cos }]);
        true
    }
    fn constant_row(&self, _j: usize) -> bool {
        true
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
}

fn reaches_its_end(planes: Planes, run: &Run) {
    assert_eq!(*run.status(), Status::ReachedEnd, "{planes:?}");
    // Angles below the root of rounding are not felt: it slides through the edge of such a wedge as
    // if the planes were parallel.
    let felt = planes.angle.abs() > 2e-6;
    let allowed = 1e-9 + if felt { 0.0 } else { 10.0 * planes.angle.abs() };
    let lowest = planes.lowest_gap(run);
    assert!(lowest > -allowed, "{planes:?}: {lowest:e}");
}

/// Into the edge by its weight, by its own speed, from the edge: plastic or not, at angles from a
/// tenth to a billionth.
#[test]
fn a_wedge_is_no_end_of_a_run_however_narrow_it_is() {
    for k in 1..=9 {
        let angle = 10f64.powi(-k);
        for restitution in [0.0, 0.5, 0.9] {
            for (weight, q, v) in [
                (1.0, [1.0, 0.0], [0.0, 0.3]),
                (1.0, [1.0, 0.0], [0.0, 0.0]),
                (0.0, [1.0, 0.0], [-1.0, 0.3]),
                (1.0, [0.0, 0.0], [0.0, 0.01]),
                (1.0, [0.0, 0.0], [-1.0, 0.01]),
            ] {
                let wedge = Planes::wedge(angle, weight, restitution);
                let run = wedge.run(Unilateral, Zeno::Absorb, (q, v, 3.0));
                reaches_its_end(wedge, &run);
                // A plastic wedge holds what comes into it, as far as rounding knows that it is
                // one.
                if restitution == 0.0 && angle > 1e-6 {
                    assert!(run.state()[3].abs() < 1e-9, "{wedge:?}");
                }
            }
        }
    }
}

/// A channel so narrow that impacts follow each other faster than time can tell, from a hundredth
/// of a millimetre to nothing, by every law.
#[test]
fn rattling_in_no_time_is_absorbed_by_every_law() {
    for angle in [0.0, -1e-9, -1e-6, -1e-3] {
        for restitution in [0.0, 0.5] {
            for half in [1e-5, 1e-7, 1e-9, 1e-10, 1e-12, 1e-14, 0.0] {
                let channel = Planes {
                    angle,
                    half,
                    weight: [0.0, -1.0],
                    restitution,
                };
                let from = ([0.0, 0.0], [1.0, 0.3], 1.0);
                let runs = [
                    channel.run(Unilateral, Zeno::Absorb, from),
                    channel.run(Sequential::new().cap(1000), Zeno::Absorb, from),
                    channel.run(Propagative::default().cap(1000), Zeno::Absorb, from),
                ];
                for run in &runs {
                    reaches_its_end(channel, run);
                }
            }
        }
    }
}

/// Between parallel planes no law knows what an elastic body does; whoever does not say what to do
/// is told.
#[test]
fn what_does_not_end_is_named_unless_it_is_absorbed_or_stopped_at() {
    let parallel = Planes {
        angle: 0.0,
        half: 0.0,
        weight: [0.0, 0.0],
        restitution: 0.5,
    };
    let from = ([0.0, 0.0], [1.0, 0.3], 1.0);
    let refused = parallel.run(Unilateral, Zeno::Error, from);
    let Some(Breakdown::Impact { reason, .. }) = refused.status().reason::<Breakdown>() else {
        panic!("{}", refused.status());
    };
    let ImpactFailure::Squeezed {
        set,
        contact,
        restitution,
    } = &**reason
    else {
        panic!("{reason}");
    };
    assert_eq!((&set[..], *contact), (&[0, 1][..], 1));
    assert!((restitution - 0.5).abs() < 1e-15);
    let run = parallel.run(Unilateral, Zeno::Absorb, from);
    assert!(!run.is_guaranteed());
    assert_eq!(run.events()[0].kind, ContactEventKind::ZenoAbsorbed);
    assert_eq!(run.phases()[0].closed, [0, 1]);
    // It slides on.
    assert!((run.state()[0] - 1.0).abs() < 1e-9);
    // The channel narrows to nothing at x = 0 and the run stops there.
    let narrowing = Planes {
        angle: 1e-8,
        ..parallel
    };
    let from = ([1.0, 0.0], [-1.0, 0.3], 3.0);
    let run = narrowing.run(Sequential::new().cap(1000), Zeno::StopAt, from);
    assert_eq!(*run.status(), Status::Ended);
    assert!(run.state()[0].abs() < 1e-3);
}
