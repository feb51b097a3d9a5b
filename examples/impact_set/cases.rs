//! The models: each with its impact, the settings of its paper, and what is drawn of it.

use saltation::impact::{BoundLaw, ImpactFailure, ImpactProblem};
use saltation::mechanics::MechanicalSystem;
use saltation::models::{BoxAndWall, CompassGait, DiskStack, RamOne, RockingBlock, Wedge};
use saltation::nalgebra::DMatrix;

use crate::common::flags::{Outcome, ensure};

/// A contact speed.
#[derive(Clone, Copy)]
pub(crate) enum Speed {
    Normal(usize),
    Tangential(usize),
}

impl Speed {
    /// Its place among the rows of a problem.
    pub(crate) fn row(self, contacts: usize) -> usize {
        match self {
            Self::Normal(contact) => contact,
            Self::Tangential(contact) => contacts + contact,
        }
    }

    pub(crate) fn label(self) -> String {
        match self {
            Self::Normal(contact) => format!("normal speed of {} [m/s]", letter(contact)),
            Self::Tangential(contact) => format!("slip of {} [m/s]", letter(contact)),
        }
    }
}

/// The name of a contact.
pub(crate) fn letter(contact: usize) -> char {
    ('A'..='Z').nth(contact).unwrap_or('?')
}

/// Two axes.
pub(crate) type View = [Speed; 2];

/// An impact and how it is studied.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Of the picture.
    pub(crate) title: String,
    pub(crate) problem: ImpactProblem,
    /// Least eigenvalue of the mass matrix.
    pub(crate) least_mass: f64,
    /// Greatest normal impulse of a contact in a step (N s).
    pub(crate) bound: f64,
    pub(crate) steps: usize,
    /// How bounds are drawn unless a flag says it.
    pub(crate) law: BoundLaw,
    /// Steps a sample in Table 3.
    pub(crate) steps_of_paper: Option<f64>,
    /// The whole impact.
    pub(crate) evolution: View,
    /// Outcomes, enlarged.
    pub(crate) outcomes: Vec<View>,
}

/// Names of models, and those of their measures.
pub(crate) const MODELS: [(&str, &[&str]); 7] = [
    ("block", &["width", "height", "drop"]),
    ("gait", &["leg", "spread", "mass-to-foot"]),
    ("box", &["side", "tilt"]),
    ("ramone", &["foot"]),
    ("disks", &["radius"]),
    ("disks-as-coded", &["radius"]),
    ("wedge", &["angle", "radius"]),
];

/// What the flags change of a model.
#[derive(Default)]
pub(crate) struct Changes {
    pub(crate) mu: Option<f64>,
    /// Measures by name, angles in degrees.
    pub(crate) geometry: Vec<(String, f64)>,
}

impl Changes {
    /// Refuses measures that the model does not have.
    fn check(&self, name: &str) -> Outcome<()> {
        let known = MODELS.iter().find(|model| model.0 == name);
        let Some((_, measures)) = known else {
            let names: Vec<&str> = MODELS.iter().map(|model| model.0).collect();
            let message = format!("no model {name}; there are {}", names.join(", "));
            return ensure(false, &message);
        };
        for (measure, value) in &self.geometry {
            let message = format!(
                "--geometry: {name} has {}, not {measure}",
                measures.join(", ")
            );
            ensure(measures.contains(&measure.as_str()), &message)?;
            let message = format!("--geometry {measure}={value}: must be positive");
            ensure(value.is_finite() && *value > 0.0, &message)?;
        }
        Ok(())
    }

    fn measure(&self, name: &str, value: &mut f64) {
        if let Some((_, changed)) = self.geometry.iter().find(|(known, _)| known == name) {
            *value = *changed;
        }
    }

    fn degrees(&self, name: &str, value: &mut f64) {
        let mut degrees = value.to_degrees();
        self.measure(name, &mut degrees);
        *value = degrees.to_radians();
    }

    fn friction(&self, value: &mut f64) {
        *value = self.mu.unwrap_or(*value);
    }
}

use Speed::{Normal, Tangential};

const A: usize = 0;
const B: usize = 1;
const C: usize = 2;
const D: usize = 3;
const E: usize = 4;

/// Slip and separating speed of a contact.
fn of(contact: usize) -> View {
    [Tangential(contact), Normal(contact)]
}

impl Case {
    /// A model by its name.
    pub(crate) fn of(name: &str, changes: &Changes) -> Outcome<Self> {
        changes.check(name)?;
        let mut case = match name {
            "block" => block(changes),
            "gait" => gait(changes),
            "box" => box_and_wall(changes),
            "ramone" => ramone(changes),
            "disks" => disks(changes, false),
            "disks-as-coded" => disks(changes, true),
            _ => wedge(changes),
        }?;
        if let Some(mu) = changes.mu {
            case.title = format!("{}; friction {mu}", case.title);
        }
        Ok(case)
    }

    pub(crate) fn contacts(&self) -> usize {
        self.problem.contacts()
    }
}

/// The least eigenvalue of a mass matrix.
fn least_mass(system: &impl MechanicalSystem, q: &[f64]) -> f64 {
    let mut mass = DMatrix::zeros(system.dof(), system.dof());
    system.mass(q, mass.as_mut_slice());
    mass.symmetric_eigenvalues().min()
}

fn block(changes: &Changes) -> Result<Case, ImpactFailure> {
    let mut block = RockingBlock::default();
    changes.friction(&mut block.friction);
    changes.measure("width", &mut block.width);
    changes.measure("height", &mut block.height);
    changes.measure("drop", &mut block.drop);
    Ok(Case {
        name: "block",
        title: "A block lands level on two corners: left A, right B".to_owned(),
        problem: block.impact()?,
        least_mass: least_mass(&block, &block.landing().0),
        bound: 0.3,
        steps: 10,
        law: BoundLaw::Faces,
        steps_of_paper: Some(2.67),
        evolution: [Normal(A), Normal(B)],
        outcomes: vec![[Normal(A), Normal(B)], of(A)],
    })
}

fn gait(changes: &Changes) -> Result<Case, ImpactFailure> {
    let mut gait = CompassGait::default();
    changes.friction(&mut gait.friction);
    changes.measure("leg", &mut gait.leg);
    changes.measure("mass-to-foot", &mut gait.mass_to_foot);
    changes.degrees("spread", &mut gait.spread);
    Ok(Case {
        name: "gait",
        title: "A compass gait walker takes a wide step: leading foot A, trailing foot B"
            .to_owned(),
        problem: gait.impact()?,
        least_mass: least_mass(&gait, &gait.stepping().0),
        bound: 0.25,
        steps: 5,
        law: BoundLaw::Faces,
        steps_of_paper: Some(2.27),
        evolution: [Normal(A), Normal(B)],
        outcomes: vec![of(A), of(B)],
    })
}

fn box_and_wall(changes: &Changes) -> Result<Case, ImpactFailure> {
    let mut sliding = BoxAndWall::default();
    changes.friction(&mut sliding.friction);
    changes.measure("side", &mut sliding.side);
    changes.degrees("tilt", &mut sliding.tilt);
    Ok(Case {
        name: "box",
        title: "A box slides on the floor, A, into a wall, B".to_owned(),
        problem: sliding.impact()?,
        least_mass: least_mass(&sliding, &sliding.sliding().0),
        bound: 2.0,
        steps: 5,
        law: BoundLaw::Faces,
        steps_of_paper: Some(1.97),
        evolution: [Normal(A), Normal(B)],
        outcomes: vec![of(A), of(B)],
    })
}

fn ramone(changes: &Changes) -> Result<Case, ImpactFailure> {
    let mut robot = RamOne::default();
    changes.friction(&mut robot.friction);
    changes.measure("foot", &mut robot.foot);
    Ok(Case {
        name: "ramone",
        title: "The biped RAMone sets down its leading foot A; B is the trailing foot".to_owned(),
        problem: robot.impact()?,
        least_mass: least_mass(&robot, &robot.footfall().0),
        bound: 1.0,
        steps: 10,
        law: BoundLaw::Faces,
        steps_of_paper: Some(3.2),
        evolution: [Normal(A), Normal(B)],
        outcomes: vec![of(B)],
    })
}

fn disks(changes: &Changes, as_coded: bool) -> Result<Case, ImpactFailure> {
    let mut stack = DiskStack::default();
    changes.friction(&mut stack.friction);
    changes.measure("radius", &mut stack.radius);
    let (name, problem, mass, paper, note) = if as_coded {
        let problem = stack.impact_as_coded()?;
        stack.mass *= 5.0;
        ("disks-as-coded", problem, 5.0, Some(9.04), " (as coded)")
    } else {
        ("disks", stack.impact()?, 1.0, None, "")
    };
    // that of Table 3
    let law = if as_coded {
        BoundLaw::Uniform
    } else {
        BoundLaw::Faces
    };
    let inertia = 0.5 * mass * stack.radius * stack.radius;
    Ok(Case {
        name,
        title: format!(
            "A disk falls on two{note}: A, B floor; C, D top on left and right; E between them"
        ),
        problem,
        least_mass: inertia.min(mass),
        bound: 1.0,
        steps: 10,
        law,
        steps_of_paper: paper,
        evolution: [Normal(C), Normal(D)],
        outcomes: vec![[Normal(C), Normal(D)], of(E)],
    })
}

fn wedge(changes: &Changes) -> Result<Case, ImpactFailure> {
    let mut wedge = Wedge::default();
    changes.friction(&mut wedge.friction);
    changes.measure("radius", &mut wedge.radius);
    changes.degrees("angle", &mut wedge.half_angle);
    Ok(Case {
        name: "wedge",
        title: "A disc falls between two walls: left A, right B".to_owned(),
        problem: wedge.impact()?,
        least_mass: least_mass(&wedge, &wedge.landing(0.0).0),
        bound: 1.0,
        steps: 20,
        law: BoundLaw::Faces,
        steps_of_paper: None,
        evolution: [Normal(A), Normal(B)],
        outcomes: vec![of(A), of(B)],
    })
}
