//! Parameters that are zero, or small beside what they are added to, have their derivatives or none.

use saltation::derivative::{Verdict, WithParameters};
use saltation::{
    Crossing, EventFunction, Flow, Integrator, Mode, NoDerivative, Start, Stop, Watch,
};

/// `x' = 1`, `u' = 1`, and `y' = 1` once `x` has come to `1 + p`. Where `u` comes to 1, `y` is halved.
#[derive(Clone, Copy)]
struct Levels {
    p: f64,
    halves: bool,
}

impl Flow for Levels {
    fn dim(&self) -> usize {
        3
    }

    fn flow(&self, _t: f64, _x: &[f64], mode: &Mode, dx: &mut [f64]) {
        dx.copy_from_slice(&[1.0, 1.0, f64::from(u8::from(mode.contains(0)))]);
    }
}

impl EventFunction for Levels {
    fn count(&self) -> usize {
        1 + usize::from(self.halves)
    }

    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[k] - if k == 0 { 1.0 + self.p } else { 1.0 }
    }

    fn watch(&self, _k: usize) -> Watch {
        Watch::RISING
    }

    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        if crossing.crossed.contains(1) {
            crossing.x[2] *= 0.5;
        }
        Ok(())
    }
}

/// The derivative of `y` at 2 s by `p` to either side, where `u` is ahead by `lead` (s).
fn either_side(p: f64, lead: Option<f64>, rtol: f64) -> [Result<f64, NoDerivative>; 2] {
    let (parameters, halves) = ([p], lead.is_some());
    let model = |p: &[f64]| Levels { p: p[0], halves };
    let system = WithParameters::new(model, &parameters);
    let mut integrator = Integrator::new(&system)
        .unwrap()
        .rtol(rtol)
        .atol(0.1 * rtol);
    let start = system.start(&[0.0, lead.unwrap_or(0.0), 0.0]);
    let d = integrator.derivative(&Start::at(0.0).x(&start), 2.0);
    let d = d.unwrap();
    if lead.is_some() {
        assert_eq!(*d.verdict(), Verdict::Bouligand, "{lead:?} {rtol}");
    }
    [1.0, -1.0].map(|sign| Ok(d.apply(&[0.0, 0.0, 0.0, sign])?[2]))
}

#[test]
fn a_parameter_that_is_zero_stays_so_at_a_corner_with_resets() {
    for rtol in [1e-7, 1e-8, 1e-9, 1e-10] {
        for lead in [0.0, 1e-13, -1e-12, 3e-12, -1e-11, 3e-11] {
            let [more, less] = either_side(0.0, Some(lead), rtol);
            let off = (more.unwrap() + 1.0).abs() + (less.unwrap() - 0.5).abs();
            assert!(off < 1e-9, "{rtol:e} {lead:e} {off:e}");
        }
    }
}

#[test]
fn a_parameter_that_is_lost_in_a_sum_over_its_step_is_seen_over_half_its_size() {
    for power in 4..150 {
        let p = 10f64.powf(-0.1 * f64::from(power));
        // Where `u` comes to 1 as `x` to `1 + p`, half of what an earlier one gains is lost.
        for (lead, gain) in [(None, 1.0), (Some(-p), 0.5)] {
            let [more, less] = either_side(p, lead, 1e-7);
            for (found, exact) in [(more.unwrap(), -1.0), (less.unwrap(), gain)] {
                // Steps are held to a hundredth of each other. Over half its size `1 + p` is rounded by half a unit in
                // the last place at either end.
                let off = (found - exact).abs();
                let what = format!("{p:e} {lead:?} {found} {exact}");
                assert!(off < 1e-3 + f64::EPSILON / p, "{what}");
            }
        }
    }
}
