//! Three balls in a row: a model of one's own.

use saltation::impact::Propagative;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{Compliant, ContactModel, EventDriven, Start, Variational};

use crate::common::flags::Outcome;
use crate::study::{Desk, Study};

/// Three balls of 1 kg on a line, without size: contact `j` is that of balls `j` and `j + 1`.
#[derive(Clone, Copy)]
struct Row {
    restitution: f64,
}

impl MechanicalSystem for Row {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(0.0);
    }
}

impl UnilateralConstraints for Row {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[j + 1] - q[j]
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
    /// Read by Compliant alone; without it, it returns about 1 % of an impact.
    fn dissipation_time(&self, _j: usize) -> f64 {
        5e-4
    }
}

pub(crate) fn show(desk: &mut Desk) -> Outcome<()> {
    let [elastic, plastic] = [1.0, 0.0].map(|restitution| Row { restitution });
    let in_turn = ContactModel::with_law(elastic, Propagative::default());
    let mut study = Study {
        name: "balls",
        title: "A ball strikes two at rest that touch: the speed of the last",
        model: in_turn.clone(),
        start: Start::at(0.0).q(&[-0.1, 0.0, 0.0]).v(&[1.0, 0.0, 0.0]),
        tf: 0.3,
        entries: "x1 [m], x2 [m], x3 [m], x1' [m/s], x2' [m/s], x3' [m/s]",
        why: "\
One by one and all at once are two laws, and each driver follows the one it is given to rounding. All orders of the contacts lead
to one outcome, 0, 0, 1; at once is no order, and what Compliant does. Plastic balls have one outcome, which it meets too.",
        rows: Vec::new(),
    };
    for (name, model) in [
        ("Propagative", in_turn),
        ("Unilateral", ContactModel::new(elastic)),
        ("plastic", ContactModel::new(plastic)),
    ] {
        let mut exact = EventDriven::new(model.clone())?;
        study.run(&format!("EventDriven, {name}"), &mut exact)?;
        let mut stepped = Variational::new(model)?.time_step(desk.step);
        study.run(&format!("Variational, {name}"), &mut stepped)?;
    }
    for (name, row) in [("elastic", elastic), ("plastic", plastic)] {
        let mut soft = Compliant::new(row)?.time_step(desk.step);
        study.run(&format!("Compliant, {name}"), &mut soft)?;
    }
    study.show(desk)
}
