//! The end of an accumulation of impacts: the bodies come to rest on its contacts.

use super::accumulation::Limit;
use super::course::Course;
use super::stretches::{End, StretchKind};
use crate::event_driven::breakdown::{Breakdown, explain};
use crate::event_driven::motion;
use crate::impact::Contacting;
use crate::linalg::dot;
use crate::linalg::scratch::with_zeros;
use crate::mechanics::friction::frame::Frame;
use crate::mechanics::motion::contacts_at::ContactsAt;
use crate::mechanics::{State, UnilateralConstraints};

/// Errors of smooth stretches over their lengths, in units of the relative tolerance: an estimate.
const SMOOTH: f64 = 10.0;

impl Course<'_> {
    /// Goes on to the end of an accumulation: the bodies come to rest on its contacts at once, and
    /// move on with them closed until its time. Where another contact closes before, or a slip
    /// turns round, nothing is summed up yet.
    pub(super) fn rest(&mut self, limit: &Limit) -> Result<(), Breakdown> {
        let before = self.state.clone();
        let model = self.model;
        motion::land(
            model,
            &mut self.state,
            &[],
            &limit.contacts,
            &mut ContactsAt::default(),
        );
        self.stop_at(&limit.contacts)?;
        let touching = self.touching();
        let candidates = self.candidates(&touching, &self.no_event())?;
        let next = Course::next_mode(model, self.occasion(), &self.state, &candidates)?;
        let stays =
            |modes: &Vec<Contacting>| limit.contacts.iter().all(|&j| modes[j] != Contacting::Open);
        let Some(modes) = next.filter(stays) else {
            self.state = before;
            return Err(Breakdown::NoRest {
                contacts: limit.contacts.clone(),
                t: limit.t,
            });
        };
        let (_, _, broken) = self.advance(&modes, limit.t.max(self.t), false)?;
        match broken {
            None => {}
            Some(Breakdown::InconsistentMode { .. } | Breakdown::NoConsistentMode { .. }) => {
                self.state = before;
                return Ok(());
            }
            Some(broken) => return Err(broken),
        }
        let (t, s) = (limit.t.max(self.t), limit.s.max(self.s));
        // The values that the sum was formed from are as good as the smooth stretches before.
        let rtol = (0..self.state.len()).map(|i| self.options.rtol.get(i));
        let part = SMOOTH * rtol.fold(0.0, f64::max);
        let start = self
            .stretches
            .first()
            .map_or((t, s), |first| (first.t[0], first.s[0]));
        let smooth = [t - start.0, s - start.1].map(|length| part * length);
        let kind = StretchKind::Rest {
            contacts: limit.contacts.clone(),
            ratio: limit.ratio,
            bounds: [limit.bounds[0] + smooth[0], limit.bounds[1] + smooth[1]],
        };
        let end = End {
            t,
            s,
            impulses: Vec::new(),
            tangential: Vec::new(),
        };
        self.push(kind, &before, end, None);
        Ok(())
    }

    /// Brings the normal rates of contacts to zero, and slips no faster than these. Contacts that
    /// slip faster take up friction with that.
    fn stop_at(&mut self, contacts: &[usize]) -> Result<(), Breakdown> {
        let model = self.model;
        let (q, v) = model.parts_mut(&mut self.state);
        let (q, m) = (&*q, contacts.len());
        let mut modes = vec![Contacting::Open; model.system().contacts()];
        with_zeros(Frame::size(model, m), |scratch| {
            let mut frame = Frame::new(model, State { t: self.t, q, v }, contacts, scratch)
                .map_err(|trouble| explain(trouble, q, contacts))?;
            let fastest = (0..m)
                .map(|i| dot(frame.row(i), v).abs())
                .fold(model.rate_tolerance, f64::max);
            for (i, &j) in contacts.iter().enumerate() {
                let rubs = frame.r > m && model.friction(j) > 0.0;
                let slip = if rubs {
                    dot(frame.row(m + i), v)
                } else {
                    f64::INFINITY
                };
                modes[j] = match (slip.abs() <= fastest, slip > 0.0) {
                    (true, _) => Contacting::Stick,
                    (false, true) => Contacting::SlipForward,
                    (false, false) => Contacting::SlipBackward,
                };
            }
            let mode = self.watched.system().mode(&modes);
            model.stop(&mut frame, &mode, v);
            Ok(())
        })
    }
}
