//! The plate that the flags describe, under either contact law.

use std::fmt;

use saltation::models::{NormalPlate, PlateParameters, VerticalPlate};
use saltation::{EventFunction, Flow, InputError, Integrator, Mode, Projection, Run, Start};

use crate::common::flags::{Flags, Outcome, ensure};
use crate::setting::{projection, row};

/// How the springs push.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Law {
    /// Vertical spring-dampers.
    Vertical,
    /// Normal to the plate, never pulling.
    Normal,
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vertical => "V",
            Self::Normal => "N",
        })
    }
}

/// A plate, its start, and how it is integrated.
pub(crate) struct Plate {
    pub(crate) law: Law,
    pub(crate) parameters: PlateParameters,
    pub(crate) start: [f64; 6],
    tf: f64,
    rtol: f64,
    atol: f64,
    projection: Projection,
}

impl Plate {
    pub(crate) fn read(flags: &mut Flags) -> Outcome<Self> {
        let law = flags.read("--law", |text| match text {
            "V" | "v" => Ok(Law::Vertical),
            "N" | "n" => Ok(Law::Normal),
            _ => Err("expected V or N"),
        })?;
        let springs = flags.number("--springs", 10)?;
        ensure(
            (1..=1000).contains(&springs),
            "--springs must lie in 1 to 1000",
        )?;
        let usual = PlateParameters::with_springs(springs);
        Ok(Self {
            law: law.unwrap_or(Law::Vertical),
            parameters: PlateParameters {
                springs,
                mass: flags.number("--mass", usual.mass)?,
                inertia: flags.number("--inertia", usual.inertia)?,
                gravity: flags.number("--gravity", usual.gravity)?,
                rest_length: flags.number("--rest-length", usual.rest_length)?,
                half_width: flags.number("--half-width", usual.half_width)?,
                stiffness: flags.number("--stiffness", usual.stiffness)?,
                damping: flags.number("--damping", usual.damping)?,
                ..usual
            },
            start: flags
                .read("--start", row)?
                .unwrap_or([0.0, 2.5, 0.05, 0.0, 0.0, 0.0]),
            tf: flags.number("--tf", 2.0)?,
            rtol: flags.number("--rtol", 1e-6)?,
            atol: flags.number("--atol", 1e-9)?,
            projection: flags.read("--projection", projection)?.unwrap_or_default(),
        })
    }

    pub(crate) fn springs(&self) -> usize {
        self.parameters.springs
    }

    pub(crate) fn run(&self) -> Result<Run, InputError> {
        let parameters = self.parameters;
        match self.law {
            Law::Vertical => self.integrate(VerticalPlate::new(parameters)?),
            Law::Normal => self.integrate(NormalPlate::new(parameters)?),
        }
    }

    fn integrate(&self, plate: impl Flow + EventFunction) -> Result<Run, InputError> {
        Integrator::fixed::<6>(plate)?
            .rtol(self.rtol)
            .atol(self.atol)
            .projection(self.projection.clone())
            .integrate(&Start::at(0.0).x(&self.start), self.tf)
    }

    /// True when spring `i` pushes in `mode`.
    pub(crate) fn pushes(&self, mode: &Mode, i: usize) -> bool {
        match self.law {
            Law::Vertical => mode.contains(i),
            Law::Normal => mode.contains(i) && mode.contains(self.springs() + i),
        }
    }

    /// The springs that push in `mode`.
    pub(crate) fn pushing(&self, mode: &Mode) -> impl Iterator<Item = usize> {
        (0..self.springs()).filter(|&i| self.pushes(mode, i))
    }

    /// How often a spring begins or ends to push; what one spring does at one instant counts once.
    pub(crate) fn contact_changes(&self, run: &Run) -> usize {
        if self.law == Law::Vertical {
            return run.crossings().len();
        }
        let instants = run.modes().chunk_by(|a, b| a.t.total_cmp(&b.t).is_eq());
        let settled = instants.filter_map(|all| Some(&all.last()?.mode));
        let modes: Vec<&Mode> = [&run.modes()[0].mode].into_iter().chain(settled).collect();
        let changed = |before, after, i| self.pushes(before, i) != self.pushes(after, i);
        let springs = 0..self.springs();
        modes
            .windows(2)
            .map(|pair| {
                springs
                    .clone()
                    .filter(|&i| changed(pair[0], pair[1], i))
                    .count()
            })
            .sum()
    }

    /// Abscissa of the foot of spring `i` [m].
    pub(crate) fn foot(&self, i: usize) -> f64 {
        let (n, w) = (self.springs(), self.parameters.half_width);
        if n == 1 {
            0.0
        } else {
            -w + 2.0 * w * i as f64 / (n - 1) as f64
        }
    }

    /// Where the tip of spring `i` is when the plate stands at `x`, pushed or free [m].
    pub(crate) fn tip(&self, x: &[f64], pushes: bool, i: usize) -> [f64; 2] {
        let (foot, free) = (self.foot(i), self.parameters.rest_length);
        let (sin, cos) = x[2].sin_cos();
        match self.law {
            _ if !pushes => [foot, free],
            Law::Vertical => [foot, x[1] + (foot - x[0]) * sin / cos],
            Law::Normal => {
                let r = (free - x[1]) * cos - (foot - x[0]) * sin;
                [foot + r * sin, free - r * cos]
            }
        }
    }
}
