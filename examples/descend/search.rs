//! Downhill, step by step.

use saltation::{Error, Verdict};

use crate::task::{Landing, Start, TOGETHER, Task};

/// What a descent takes for the derivative.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Tool {
    /// All pieces of the Bouligand derivative.
    AllOrders,
    /// The piece of the order of the run, leg 0 first where both touch at once.
    OneOrder,
    /// That of leg 0 first, also where leg 1 comes first.
    LegZeroFirst,
}

/// How to go downhill.
pub(crate) struct Search {
    pub(crate) tool: Tool,
    /// First step over gradient.
    pub(crate) step: f64,
    /// All steps are that, uphill too.
    pub(crate) fixed: bool,
    pub(crate) iterations: usize,
    /// A slope below this is none.
    pub(crate) flat: f64,
}

/// A start that a descent came by.
pub(crate) struct Visit {
    pub(crate) start: Start,
    pub(crate) landing: Landing,
    /// The slope downhill, as the tool sees it.
    pub(crate) slope: f64,
    /// What kind of derivative the landing has there.
    pub(crate) kind: &'static str,
}

/// Why a descent ended.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum End {
    /// Nothing descends, as the tool sees it.
    Flat,
    /// Something descends as the tool sees it, but the cost does not.
    Stuck,
    /// It was not given more iterations.
    Iterations,
}

/// Where a descent led.
pub(crate) struct Path {
    pub(crate) visits: Vec<Visit>,
    pub(crate) end: End,
}

impl Path {
    /// Where it ended.
    pub(crate) fn last(&self) -> &Visit {
        &self.visits[self.visits.len() - 1]
    }
}

impl Search {
    pub(crate) fn descend(&self, task: &mut Task, mut start: Start) -> Result<Path, Error> {
        let (mut visits, mut step) = (Vec::new(), self.step);
        loop {
            let landing = task.land(start)?;
            let (kind, direction) = self.direction(task, start)?;
            visits.push(Visit {
                start,
                landing,
                slope: direction.norm(),
                kind,
            });
            let end = if direction.norm() < self.flat {
                Some(End::Flat)
            } else if visits.len() > self.iterations {
                Some(End::Iterations)
            } else if self.fixed {
                start += step * direction;
                None
            } else if let Some(lower) = self.lower(task, (start, landing), direction, &mut step)? {
                start = lower;
                None
            } else {
                Some(End::Stuck)
            };
            if let Some(end) = end {
                return Ok(Path { visits, end });
            }
        }
    }

    /// The direction of steepest descent, as long as the descent is steep.
    fn direction(&self, task: &mut Task, start: Start) -> Result<(&'static str, Start), Error> {
        let (verdict, sides) = task.sides(start)?;
        let kind = match verdict {
            Verdict::Classical => "classical",
            Verdict::Bouligand => "Bouligand",
            _ => "other",
        };
        let direction = match self.tool {
            Tool::AllOrders => {
                let descents = sides.iter().map(crate::task::Side::descent);
                descents.max_by(|a, b| a.norm().total_cmp(&b.norm()))
            }
            Tool::OneOrder => {
                let index = sides.iter().find(|side| side.order.is_sorted());
                index.map(|side| -side.gradient)
            }
            Tool::LegZeroFirst => Some(-task.leg_zero_first(start)?),
        };
        Ok((kind, direction.unwrap_or_else(Start::zeros)))
    }

    /// A start along `direction` with lower cost (Armijo's rule: lower by a small part of what the
    /// slope promises). Steps are halved until there is one, from twice the step that was taken
    /// last.
    fn lower(
        &self,
        task: &mut Task,
        (start, landing): (Start, Landing),
        direction: Start,
        step: &mut f64,
    ) -> Result<Option<Start>, Error> {
        *step *= 2.0;
        // a step that rounding swallows is none
        while *step * direction.norm() > 1e-12 {
            let far = start + *step * direction;
            let mut tried = vec![far];
            if self.tool == Tool::AllOrders {
                tried.extend(together(task, start, far)?);
            }
            let mut best: Option<(f64, Start)> = None;
            for trial in tried {
                let cost = task.land(trial)?.cost;
                let promised = direction.dot(&(trial - start));
                let is_lower = cost <= landing.cost - 1e-4 * promised;
                if is_lower && best.is_none_or(|(least, _)| cost < least) {
                    best = Some((cost, trial));
                }
            }
            if let Some((_, trial)) = best {
                return Ok(Some(trial));
            }
            *step *= 0.5;
        }
        Ok(None)
    }
}

/// The start between two, from which both legs touch at once; none when the order is the same at
/// both, or is not known.
fn together(task: &mut Task, near: Start, far: Start) -> Result<Option<Start>, Error> {
    let at = |share: f64| near + share * (far - near);
    let mut gap = |share| Ok::<_, Error>(task.land(at(share))?.gap);
    let (Some(gap_near), Some(gap_far)) = (gap(0.0)?, gap(1.0)?) else {
        return Ok(None);
    };
    let known = gap_near.abs().min(gap_far.abs()) <= TOGETHER;
    if known || (gap_near < 0.0) == (gap_far < 0.0) {
        return Ok(None);
    }
    let (mut low, mut high) = ((0.0, gap_near), (1.0, gap_far));
    // The gap is smooth along the way, and the secants of the Illinois rule settle in a few turns.
    for _ in 0..60 {
        let share = (low.0 * high.1 - high.0 * low.1) / (high.1 - low.1);
        let Some(middle) = gap(share)? else {
            return Ok(None);
        };
        if middle.abs() <= 0.1 * TOGETHER {
            return Ok(Some(at(share)));
        }
        if middle * high.1 < 0.0 {
            low = high;
        } else {
            low.1 *= 0.5;
        }
        high = (share, middle);
    }
    Ok(None)
}
