//! References and smart pointers to mechanical systems hand every method on. Names are read from
//! the source of the traits, so that a method that is new there and forgotten here fails.

use saltation::Start;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use saltation::mechanics::{Friction, MechanicalSystem, State, UnilateralConstraints};
use saltation::{ContactModel, EventDriven};

type Names = BTreeSet<&'static str>;

/// The methods of a trait in a source file.
fn methods(source: &'static str, name: &str) -> Names {
    let start = format!("pub trait {name} {{");
    let (_, rest) = source.split_once(&start).expect("the trait");
    let (body, _) = rest.split_once("\n}\n").expect("its end");
    let functions = body.lines().filter_map(|line| line.strip_prefix("    fn "));
    functions
        .map(|line| line.split(['(', '<']).next().expect("a name"))
        .collect()
}

thread_local! {
    static ASKED: RefCell<Names> = const { RefCell::new(BTreeSet::new()) };
}

fn asked(name: &'static str) {
    ASKED.with_borrow_mut(|names| names.insert(name));
}

/// A model that provides every method, none as the trait does.
struct Own;

impl MechanicalSystem for Own {
    fn dof(&self) -> usize {
        asked("dof");
        1
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        asked("mass");
        mass[0] = 2.0;
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        asked("effort");
        effort[0] = t + 2.0 * q[0] + 4.0 * v[0];
    }
    fn effort_along(&self, _at: State<'_>, directions: &[f64], out: &mut [f64]) -> bool {
        asked("effort_along");
        out[0] = 2.0 * directions[0] + 4.0 * directions[1];
        true
    }
    fn contact_effort(&self, _at: State<'_>, closed: &[usize], effort: &mut [f64]) -> bool {
        asked("contact_effort");
        effort[0] += closed.len() as f64;
        true
    }
    fn coriolis(&self, _q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        asked("coriolis");
        force[0] = 8.0 * v[0];
        true
    }
    fn coordinates(&self) -> usize {
        asked("coordinates");
        2
    }
    fn configuration_rate(&self, _q: &[f64], v: &[f64], rate: &mut [f64]) -> bool {
        asked("configuration_rate");
        rate.fill(0.5 * v[0]);
        true
    }
    fn project_configuration(&self, q: &mut [f64]) -> bool {
        asked("project_configuration");
        q[0] = 0.75;
        true
    }
    fn kinetic_gradient(&self, _q: &[f64], v: &[f64], gradient: &mut [f64]) -> bool {
        asked("kinetic_gradient");
        gradient[0] = 9.0 * v[0];
        true
    }
    fn springs_and_dampers(
        &self,
        State { t, v, .. }: State<'_>,
        stiffness: &mut [f64],
        damping: &mut [f64],
    ) -> bool {
        asked("springs_and_dampers");
        (stiffness[0], damping[0]) = (11.0 * t, 12.0 * v[0]);
        true
    }
    fn driven(&self) -> Range<usize> {
        asked("driven");
        4..9
    }
    fn trees(&self) -> usize {
        asked("trees");
        4
    }
    fn tree(&self, i: usize) -> Range<usize> {
        asked("tree");
        i..i + 5
    }
    fn tree_mass(&self, i: usize, _q: &[f64], mass: &mut [f64]) {
        asked("tree_mass");
        mass[0] = 10.0 + i as f64;
    }
    fn tree_speed(&self, i: usize, _q: &[f64], v: &[f64]) -> f64 {
        asked("tree_speed");
        v[0] + i as f64
    }
    fn constant_mass(&self) -> bool {
        asked("constant_mass");
        true
    }
    fn time_scale(&self) -> Option<f64> {
        asked("time_scale");
        Some(0.375)
    }
    fn potential(&self, q: &[f64]) -> Option<f64> {
        asked("potential");
        Some(3.0 * q[0])
    }
}

impl UnilateralConstraints for Own {
    fn contacts(&self) -> usize {
        asked("contacts");
        5
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        asked("gap");
        q[0] - j as f64
    }
    fn gap_row(&self, _j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        asked("gap_row");
        row[0] = 1.5;
        true
    }
    fn constant_tangents(&self, j: usize) -> bool {
        asked("constant_tangents");
        j == 2
    }
    fn constant_row(&self, j: usize) -> bool {
        asked("constant_row");
        j == 3
    }
    fn curvature(&self, _j: usize, _q: &[f64], v: &[f64]) -> Option<f64> {
        asked("curvature");
        Some(6.0 * v[0])
    }
    fn restitution(&self, j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        asked("restitution");
        0.125 * j as f64
    }
    fn stiffness(&self, j: usize) -> f64 {
        asked("stiffness");
        1e3 + j as f64
    }
    fn dissipation_time(&self, j: usize) -> f64 {
        asked("dissipation_time");
        0.5 + j as f64
    }
    fn friction(&self, j: usize) -> f64 {
        asked("friction");
        0.25 * j as f64
    }
    fn friction_at(&self, j: usize, q: &[f64], speed: f64) -> Option<Friction> {
        asked("friction_at");
        Some(Friction {
            stick: q[0] + speed,
            slip: j as f64,
        })
    }
    fn tangents(&self, j: usize) -> usize {
        asked("tangents");
        j
    }
    fn tangent_rows(&self, j: usize, _q: &[f64], rows: &mut [f64]) {
        asked("tangent_rows");
        rows.fill(j as f64);
    }
}

/// Everything that a model answers.
fn answers<S: MechanicalSystem + UnilateralConstraints>(s: &S) -> Vec<f64> {
    let (t, q, v): (f64, &[f64], &[f64]) = (0.5, &[3.0], &[7.0]);
    let flag = |b: bool| f64::from(u8::from(b));
    let mut said = vec![s.dof() as f64, flag(s.constant_mass())];
    said.extend([s.time_scale().unwrap(), s.potential(q).unwrap()]);
    let mut out = [0.0];
    s.mass(q, &mut out);
    said.push(out[0]);
    s.effort(t, q, v, &mut out);
    said.push(out[0]);
    said.push(flag(s.effort_along(State { t, q, v }, &[0.5, 0.25], &mut out)) + out[0]);
    said.push(flag(s.contact_effort(State { t, q, v }, &[0, 2], &mut out)) + out[0]);
    said.push(flag(s.coriolis(q, v, &mut out)) + out[0]);
    said.push(flag(s.kinetic_gradient(q, v, &mut out)) + out[0]);
    let mut damping = [0.0];
    said.push(flag(s.springs_and_dampers(State { t, q, v }, &mut out, &mut damping)) + out[0]);
    said.push(damping[0]);
    s.tree_mass(3, q, &mut out);
    said.extend([out[0], s.trees() as f64, s.tree(2).end as f64]);
    said.push(s.tree_speed(2, q, v));
    let mut rate = [3.0, 4.0];
    said.push(s.coordinates() as f64 + flag(s.project_configuration(&mut rate)));
    said.push(flag(s.configuration_rate(&rate, v, &mut out)) + rate[0] + out[0]);
    said.extend([s.contacts() as f64, s.gap(2, q)]);
    said.push(flag(s.gap_row(1, q, &mut out)) + out[0]);
    said.extend([flag(s.constant_row(3)), s.curvature(1, q, v).unwrap()]);
    said.extend([flag(s.constant_tangents(2)), flag(s.constant_tangents(1))]);
    said.extend([s.restitution(3, q, v), s.friction(2), s.tangents(2) as f64]);
    said.extend([s.stiffness(2), s.dissipation_time(3)]);
    let law = s.friction_at(2, q, 0.5).unwrap();
    said.extend([law.stick, law.slip, s.driven().end as f64]);
    let mut rows = [0.0; 2];
    s.tangent_rows(2, q, &mut rows);
    said.extend(rows);
    said
}

#[test]
fn pointers_hand_every_method_on() {
    let mut all = methods(
        include_str!("../../src/mechanics/system.rs"),
        "MechanicalSystem",
    );
    all.extend(methods(
        include_str!("../../src/mechanics/constraints.rs"),
        "UnilateralConstraints",
    ));
    let own = answers(&Own);
    assert_eq!(ASKED.take(), all, "a method is missing in this test");
    let others = [
        answers(&&Own),
        answers(&Box::new(Own)),
        answers(&Rc::new(Own)),
        answers(&Arc::new(Own)),
    ];
    for other in others {
        assert_eq!(other, own);
    }
    assert_eq!(ASKED.take(), all);
}

/// A ball on a table, behind a pointer to something whose type is not known.
#[test]
fn a_simulation_takes_a_model_behind_a_pointer() {
    struct Ball;
    impl MechanicalSystem for Ball {
        fn dof(&self) -> usize {
            1
        }
        fn mass(&self, _q: &[f64], mass: &mut [f64]) {
            mass[0] = 1.0;
        }
        fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
            effort[0] = -9.81;
        }
    }
    impl UnilateralConstraints for Ball {
        fn contacts(&self) -> usize {
            1
        }
        fn gap(&self, _j: usize, q: &[f64]) -> f64 {
            q[0]
        }
    }
    trait Model: MechanicalSystem + UnilateralConstraints {}
    impl Model for Ball {}
    let model: Arc<dyn Model> = Arc::new(Ball);
    let mut simulation = EventDriven::new(ContactModel::new(model)).unwrap();
    let run = simulation
        .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 1.0)
        .unwrap();
    let touch = (2.0 / 9.81_f64).sqrt();
    assert!((run.events()[0].t - touch).abs() < 1e-6);
    assert!(run.state()[0].abs() < 1e-8);
}

/// `Dual` asks every method of what is written for any scalar.
#[cfg(feature = "dual")]
mod dual {
    use saltation::derivative::{Dual, RealField, convert};
    use saltation::mechanics::{
        Friction, MechanicalSystem, SmoothConstraints, SmoothMechanics, State,
        UnilateralConstraints,
    };
    use std::ops::Range;

    use super::{ASKED, asked, methods};

    /// A model that provides every method, none as the trait does.
    struct Own;

    impl SmoothMechanics for Own {
        fn dof(&self) -> usize {
            asked("dof");
            1
        }
        fn coordinates(&self) -> usize {
            asked("coordinates");
            2
        }
        fn configuration_rate<T: RealField + Copy>(
            &self,
            q: &[T],
            v: &[T],
            rate: &mut [T],
        ) -> bool {
            asked("configuration_rate");
            rate.copy_from_slice(&[q[1] * v[0], -q[0] * v[0]]);
            true
        }
        fn project_configuration(&self, q: &mut [f64]) -> bool {
            asked("project_configuration");
            q[0] = 0.75;
            true
        }
        fn coriolis<T: RealField + Copy>(&self, _q: &[T], v: &[T], force: &mut [T]) -> bool {
            asked("coriolis");
            force[0] = convert::<f64, T>(8.0) * v[0];
            true
        }
        fn driven(&self) -> Range<usize> {
            asked("driven");
            4..9
        }
        fn trees(&self) -> usize {
            asked("trees");
            4
        }
        fn tree(&self, i: usize) -> Range<usize> {
            asked("tree");
            i..i + 5
        }
        fn mass<T: RealField + Copy>(&self, q: &[T], mass: &mut [T]) {
            asked("mass");
            mass[0] = q[0] * q[0];
        }
        fn effort<T: RealField + Copy>(&self, t: T, q: &[T], v: &[T], effort: &mut [T]) {
            asked("effort");
            effort[0] = t + q[0] * v[0];
        }
        fn contact_effort<T: RealField + Copy>(
            &self,
            _at: State<'_, T>,
            closed: &[usize],
            effort: &mut [T],
        ) -> bool {
            asked("contact_effort");
            effort[0] += convert(closed.len() as f64);
            true
        }
        fn springs_and_dampers(
            &self,
            _at: State<'_>,
            stiffness: &mut [f64],
            damping: &mut [f64],
        ) -> bool {
            asked("springs_and_dampers");
            (stiffness[0], damping[0]) = (11.0, 13.0);
            true
        }
        fn tree_speed(&self, i: usize, _q: &[f64], v: &[f64]) -> f64 {
            asked("tree_speed");
            v[0] + i as f64
        }
        fn constant_mass(&self) -> bool {
            asked("constant_mass");
            true
        }
        fn time_scale(&self) -> Option<f64> {
            asked("time_scale");
            Some(0.375)
        }
        fn potential<T: RealField + Copy>(&self, q: &[T]) -> Option<T> {
            asked("potential");
            Some(q[0] + q[1])
        }
    }

    impl SmoothConstraints for Own {
        fn contacts(&self) -> usize {
            asked("contacts");
            5
        }
        fn gap<T: RealField + Copy>(&self, _j: usize, q: &[T]) -> T {
            asked("gap");
            q[0] * q[0] * q[1]
        }
        fn constant_tangents(&self, j: usize) -> bool {
            asked("constant_tangents");
            j == 2
        }
        fn constant_row(&self, j: usize) -> bool {
            asked("constant_row");
            j == 3
        }
        fn restitution(&self, j: usize, _q: &[f64], _v: &[f64]) -> f64 {
            asked("restitution");
            0.125 * j as f64
        }
        fn stiffness(&self, j: usize) -> f64 {
            asked("stiffness");
            1e3 + j as f64
        }
        fn dissipation_time(&self, j: usize) -> f64 {
            asked("dissipation_time");
            0.5 + j as f64
        }
        fn friction(&self, j: usize) -> f64 {
            asked("friction");
            0.25 * j as f64
        }
        fn friction_at(&self, j: usize, q: &[f64], speed: f64) -> Option<Friction> {
            asked("friction_at");
            Some(Friction {
                stick: q[0] + speed,
                slip: j as f64,
            })
        }
        fn tangents(&self, j: usize) -> usize {
            asked("tangents");
            j
        }
        fn tangent_rows(&self, j: usize, _q: &[f64], rows: &mut [f64]) {
            asked("tangent_rows");
            rows.fill(j as f64);
        }
    }

    #[test]
    fn every_method_is_asked() {
        let source = include_str!("../../src/mechanics/dual.rs");
        let mut all = methods(source, "SmoothMechanics");
        all.extend(methods(source, "SmoothConstraints"));
        let (dual, mut q, v) = (Dual(Own), [3.0, 4.0], [7.0]);
        let (mut one, mut two) = ([0.0], [0.0; 2]);
        let mut found = vec![dual.dof() as f64, dual.coordinates() as f64];
        found.extend([dual.trees() as f64, dual.tree(2).end as f64]);
        found.push(dual.tree_speed(2, &q, &v));
        assert!(dual.configuration_rate(&q, &v, &mut two));
        found.extend(two);
        assert!(dual.coriolis(&q, &v, &mut one));
        found.push(one[0]);
        dual.mass(&q, &mut one);
        found.push(one[0]);
        dual.effort(0.5, &q, &v, &mut one);
        let (t, q_at) = (0.5, q);
        let at = State { t, q: &q_at, v: &v };
        assert!(dual.contact_effort(at, &[0, 2], &mut one));
        found.push(one[0]);
        assert!(dual.springs_and_dampers(at, &mut one, &mut two));
        found.extend([one[0], two[0]]);
        // Along q̇ = (q₁, −q₀) v: of ½ q₀² v², of q₀² q₁, and of that once more.
        assert!(dual.kinetic_gradient(&q, &v, &mut one));
        found.push(one[0]);
        assert!(dual.gap_row(0, &q, &mut one));
        found.extend([one[0], dual.curvature(0, &q, &v).unwrap()]);
        found.extend([dual.time_scale().unwrap(), dual.potential(&q).unwrap()]);
        found.extend([
            dual.gap(0, &q),
            dual.restitution(3, &q, &v),
            dual.friction(2),
        ]);
        found.extend([
            dual.stiffness(2),
            dual.dissipation_time(3),
            dual.tangents(2) as f64,
        ]);
        dual.tangent_rows(2, &q, &mut two);
        found.extend(two);
        let law = dual.friction_at(2, &q, 0.5).unwrap();
        found.extend([law.stick, law.slip, dual.driven().end as f64]);
        let flags = [
            dual.constant_mass(),
            dual.constant_row(3),
            dual.constant_tangents(2),
            !dual.constant_tangents(1),
            !dual.constant_row(2),
        ];
        assert!(flags.into_iter().all(|flag| flag) && dual.contacts() == 5);
        let slope = 2.0 * 3.0 * 4.0 * 4.0 - 27.0;
        // d/ds of 2 q₀ q₁² − q₀³.
        let bent = (2.0 * 64.0 - 4.0 * 36.0 - 3.0 * 36.0) * 49.0;
        let expected = [
            1.0, 2.0, 4.0, 7.0, 9.0, 28.0, -21.0, 56.0, 9.0, 23.5, 11.0, 13.0, 588.0, slope, bent,
            0.375, 7.0, 36.0, 0.375, 0.5, 1002.0, 3.5, 2.0, 2.0, 2.0, 3.5, 2.0, 9.0,
        ];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-10, "{found} {expected}");
        }
        assert_eq!(found.len(), expected.len());
        assert!(dual.project_configuration(&mut q) && q[0].to_bits() == 0.75f64.to_bits());
        assert_eq!(ASKED.take(), all);
    }
}
