//! The reset of a crossing, made again at states nearby, and by models beside its own: their parameters move, and with
//! them the surfaces that the state is on.

use super::RepeatedReset;
use crate::hybrid::evaluate::Point;
use crate::linalg::largest;
use crate::{Crossed, Crossing, EventFunction, Flow, Mode, NoDerivative, Record};

/// A reset that changes no component by more than this part of the largest one brings a state onto a surface at most.
const JUMP: f64 = 1e-6;

/// The reset of a crossing, to be repeated at nearby states.
pub(in crate::derivative) struct CrossingReset<'a> {
    crossed: Crossed<'a>,
    /// The mode before the crossing, and that with its sides crossed.
    before: Mode,
    sides: &'a Mode,
    /// After it.
    mode_after: Mode,
    /// It changes the state, by more than what brings it onto a surface.
    is_jump: bool,
    /// The state at the crossing on the surfaces of its own model.
    brought: Vec<f64>,
    mode_trial: Mode,
    resets: RepeatedReset,
}

impl<'a> CrossingReset<'a> {
    /// The reset of `crossed` at `(t, x)`, where `sides` is the mode with their sides crossed; none
    /// when it is refused.
    pub(in crate::derivative) fn at<S: Flow + EventFunction>(
        model: &S,
        t: f64,
        x: &[f64],
        crossed: &Crossed<'a>,
        sides: &'a Mode,
    ) -> Option<Self> {
        let (mut after, mut mode_after) = (x.to_vec(), sides.clone());
        model
            .on_crossing(&mut Crossing {
                t,
                crossed: *crossed,
                x: &mut after,
                mode: &mut mode_after,
                record: &mut Record::default(),
            })
            .ok()?;
        let mut before = sides.clone();
        for c in crossed.guards() {
            before.set(c.guard.event, !c.guard.side_after());
        }
        let least = JUMP * largest(x);
        let is_jump = after.iter().zip(x).any(|(a, x)| (a - x).abs() > least);
        let mut reset = Self {
            brought: Vec::new(),
            crossed: *crossed,
            before,
            is_jump,
            sides,
            mode_after,
            mode_trial: sides.clone(),
            resets: RepeatedReset {
                rated: Vec::new(),
                field: after,
                row: vec![0.0; x.len()],
            },
        };
        let mut brought = x.to_vec();
        reset.bring(model, t, x, &mut brought);
        reset.brought = brought;
        Some(reset)
    }

    /// Writes the state at the crossing as surfaces carry it along to where they are in a model beside its own: those
    /// that it is on before, and where the reset does not jump those after, as that of a slip which comes to rest. Of
    /// its own model the state is that at the crossing to the last bit, however far off its surfaces it is.
    pub(in crate::derivative) fn carry<S: Flow>(
        &self,
        model: &S,
        t: f64,
        x: &[f64],
        moved: &mut [f64],
    ) {
        self.bring(model, t, x, moved);
        for ((moved, at), x) in moved.iter_mut().zip(&self.brought).zip(x) {
            *moved = x + (*moved - at);
        }
    }

    /// Writes the state at the crossing onto the surfaces of a model.
    fn bring<S: Flow>(&self, model: &S, t: f64, x: &[f64], moved: &mut [f64]) {
        moved.copy_from_slice(x);
        model.correct(t, moved, &self.before);
        if !self.is_jump {
            model.correct(t, moved, &self.mode_after);
        }
    }

    /// The state after it from `(t, x)`.
    pub(in crate::derivative) fn of<S: Flow + EventFunction>(
        &mut self,
        model: &S,
        t: f64,
        x: &[f64],
        after: &mut [f64],
    ) -> Result<(), NoDerivative> {
        let mode = &self.before;
        let (point, mode_after) = (Point { t, x, mode }, &mut self.mode_trial);
        (self.resets).at(&model, point, self.crossed, self.sides, after, mode_after)?;
        if self.mode_trial == self.mode_after {
            return Ok(());
        }
        let state = x.to_vec();
        Err(NoDerivative::NotRepeatable { t, state })
    }
}
