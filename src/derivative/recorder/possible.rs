//! Corners that the run may have met: guards that lie as close as its errors reach.

use super::record::Recorder;
use crate::derivative::Verdict;
use crate::derivative::context::Context;
use crate::derivative::corner::bouligand::{CornerDerivative, CornerKind};
use crate::derivative::corner::follow::go_on_to_exit;
use crate::derivative::corner::possible::LeftOut;
use crate::{NoDerivative, Stop};

impl Recorder<'_> {
    /// Adds guards that resets of the group kept from being crossed at its instant: neighbours may
    /// meet them first. Where the motion turns away without a reset, neighbours that cross them
    /// have no derivative.
    pub(super) fn take_left_out(&mut self) {
        for c in self.close.found.iter().filter(|c| c.at_once) {
            let (guard, gap, t) = (c.guard, c.gap, self.group.point.t);
            match c.left_out {
                None => {}
                Some(LeftOut::TurnedAway) if !self.group.rule.moved => {
                    let touch = NoDerivative::Touch { guard, t, gap };
                    self.verdict.worsen(Verdict::NotGuaranteed(touch));
                }
                Some(_) => self.group.point.guards.push(guard),
            }
        }
    }

    /// Examines whether guards that may belong to the corner would change its derivative.
    pub(super) fn look_for_possible(&mut self) {
        let known = &self.group.point.guards;
        let close = &mut self.close.found;
        close.retain(|c| c.apart <= c.error && !known.contains(&c.guard));
        close.sort_by(|a, b| a.apart.total_cmp(&b.apart));
        let close = &self.close.found;
        let (Some(last), false) = (close.last(), self.verdict.is_past_possible()) else {
            return;
        };
        let mut guards = known.iter().chain(close.iter().map(|c| &c.guard));
        let is_past = (self.possible.until).is_none_or(|until| self.group.point.t > until);
        let was_seen = !is_past && guards.all(|guard| self.possible.seen.contains(guard));
        if was_seen {
            return;
        }
        let error = close.iter().map(|c| c.error).fold(0.0, f64::max);
        let tolerance = self.context.tolerance.max(error) + last.apart.max(0.0);
        let context = Context {
            tolerance,
            ..self.context
        };
        let mut point = self.group.point.clone();
        point.rounding.clear();
        point.guards.extend(close.iter().map(|c| c.guard));
        self.possible.seen.clone_from(&point.guards);
        self.possible.until = Some(point.t + tolerance);
        let (t, apart, guards) = (point.t, last.apart, point.guards.clone());
        let met = (self.group.common).find(context, &mut self.explorer, &mut point);
        if let Err(error) = met {
            return self.fail(error);
        }
        // An order that is refused is refused again.
        let _ = go_on_to_exit(context, &mut self.explorer, &mut point);
        let corner = CornerDerivative::examine(context, &mut self.explorer, point);
        match &corner.kind {
            CornerKind::NotGuaranteed(NoDerivative::Stop(Stop::Interrupted)) => {
                return self.fail(Stop::Interrupted.into());
            }
            _ if corner.linear().is_some() => return,
            _ => {}
        }
        self.possible.corner = Some(Box::new(corner));
        self.verdict.worsen(Verdict::PossibleCorner {
            t,
            guards,
            apart,
            error,
        });
    }
}
