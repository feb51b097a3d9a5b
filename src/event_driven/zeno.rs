//! Accumulation of impacts: the detector and what to do about it.
//!
//! For each contact the last intervals `Δ_k` between its activations are kept. When their ratios
//! `r_k = Δ_{k+1}/Δ_k` are below one and hardly vary, impacts accumulate at
//! `t* = t_k + Δ_k r/(1 − r)`. For a bouncing ball this is exact: `t* = t_1 (1 + γ)/(1 − γ)`.

/// The policy where impacts accumulate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Zeno {
    /// End the run with [`Breakdown::Zeno`](crate::event_driven::Breakdown::Zeno).
    #[default]
    Error,
    /// Move to the accumulation time with these contacts left out, close them there by a plastic
    /// impact, and go on. Derivatives beyond it are not guaranteed.
    ///
    /// An accumulation at one instant is absorbed too: impacts within the resolution of time that
    /// one impact of all touching contacts does not end, and an impact without an end by its law,
    /// because contacts squeeze a body
    /// ([`impact::ImpactFailure::Squeezed`](crate::impact::ImpactFailure::Squeezed),
    /// [`impact::ImpactFailure::NoFeasibleInterior`](crate::impact::ImpactFailure::NoFeasibleInterior)) or lose
    /// energy stage after stage up to the cap
    /// ([`impact::ImpactFailure::ReflectionCap`](crate::impact::ImpactFailure::ReflectionCap), restitutions
    /// below 1).
    Absorb,
    /// End the run at the accumulation time, without an error and with the contacts still open.
    /// Impacts without an end by their law end the run in the same way.
    StopAt,
}

/// An accumulation that is about to happen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Accumulation {
    pub(crate) t: f64,
    pub(crate) contacts: Vec<usize>,
    pub(crate) ratio: f64,
}

/// Intervals kept for each contact.
const KEPT: usize = 6;
/// Ratios may vary by this part.
const STEADY: f64 = 0.05;
/// Ratios looked at, at least.
const LEAST_RATIOS: usize = 3;

/// The activations of all contacts, and the accumulation found in them.
#[derive(Clone, Debug)]
pub(crate) struct Detector {
    /// Times of the last activations, the latest last.
    times: Vec<Vec<f64>>,
    /// An accumulation closer than this is about to happen (s).
    near: f64,
    end: f64,
}

impl Detector {
    pub(crate) fn new(contacts: usize) -> Self {
        Self {
            times: vec![Vec::with_capacity(KEPT + 2); contacts],
            near: 0.0,
            end: f64::NEG_INFINITY,
        }
    }

    /// Announces accumulations closer than `near`, up to `end`, from now on (s).
    pub(crate) fn look(&mut self, near: f64, end: f64) {
        self.near = near;
        self.end = end;
    }

    /// Records an activation; returns the accumulation that it announces.
    pub(crate) fn activation(&mut self, contact: usize, t: f64) -> Option<Accumulation> {
        let times = self.times.get_mut(contact)?;
        times.push(t);
        if times.len() > KEPT + 1 {
            times.remove(0);
        }
        let (time, ratio) = self.prediction(contact)?;
        if !(time - t < self.near && time <= self.end) {
            return None;
        }
        // Contacts that accumulate at the same time: rocking.
        let contacts = (0..self.times.len())
            .filter(|&j| {
                let other = self.prediction(j).map(|(other, _)| other);
                j == contact || other.is_some_and(|other| (other - time).abs() < 10.0 * self.near)
            })
            .collect();
        Some(Accumulation {
            t: time,
            contacts,
            ratio,
        })
    }

    /// Forgets a contact, which has been dealt with.
    pub(crate) fn forget(&mut self, contacts: &[usize]) {
        for &j in contacts {
            if let Some(times) = self.times.get_mut(j) {
                times.clear();
            }
        }
    }

    /// Time and ratio of the accumulation of a contact, if its gaps shrink steadily.
    fn prediction(&self, contact: usize) -> Option<(f64, f64)> {
        let times = &self.times[contact];
        let ratios = times
            .windows(3)
            .map(|times| (times[2] - times[1]) / (times[1] - times[0]));
        if ratios.len() < LEAST_RATIOS || !ratios.clone().all(|r| r > 0.0 && r < 1.0) {
            return None;
        }
        let range = |(a, b): (f64, f64), r: f64| (a.min(r), b.max(r));
        let (least, most) = ratios.clone().fold((1.0, 0.0), range);
        if most - least > STEADY * most {
            return None;
        }
        let [.., before, last] = times[..] else {
            return None;
        };
        let (ratio, gap) = (ratios.last()?, last - before);
        Some((last + gap * ratio / (1.0 - ratio), ratio))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bouncing_ball_is_found_and_its_time_is_exact() {
        let (first, restitution): (f64, f64) = (0.45, 0.5);
        let exact = first * (1.0 + restitution) / (1.0 - restitution);
        let mut detector = Detector::new(1);
        detector.look(1e-3, 10.0);
        let (mut t, mut gap) = (first, 2.0 * first * restitution);
        let found = loop {
            if let Some(found) = detector.activation(0, t) {
                break found;
            }
            t += gap;
            gap *= restitution;
        };
        assert!((found.t - exact).abs() < 1e-12 && found.contacts == [0]);
        assert!((found.ratio - restitution).abs() < 1e-9 && exact - t < 1e-3);
    }

    #[test]
    fn steady_bouncing_and_irregular_gaps_are_no_accumulation() {
        let mut detector = Detector::new(2);
        detector.look(1.0, 100.0);
        for k in 0..40 {
            assert_eq!(detector.activation(0, f64::from(k)), None);
        }
        let mut t = 0.0;
        for gap in [1.0, 0.5, 0.4, 0.1, 0.09, 0.02, 0.018] {
            t += gap;
            assert_eq!(detector.activation(1, t), None);
        }
    }
}
