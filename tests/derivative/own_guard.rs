//! A reset that moves the state relative to the guard it follows, and ends of runs that the error hides.

use saltation::{
    Crossing, EventFunction, Flow, Integrator, Mode, NoDerivative, Start, Stop, Verdict, Watch,
};

/// A ball that falls on a floor, below which it is thrown up; the impact moves it by `moves` times what its
/// speed is above 5 m/s.
struct Moves {
    moves: f64,
    /// The pull below the floor is another one.
    differs: bool,
}

impl Flow for Moves {
    fn dim(&self) -> usize {
        2
    }
    fn flow(&self, _t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        let is_below = !mode.contains(0);
        dx.copy_from_slice(&[
            x[1],
            if is_below && self.differs {
                30.0
            } else {
                -10.0
            },
        ]);
    }
}

impl EventFunction for Moves {
    fn count(&self) -> usize {
        1
    }
    fn event(&self, _k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[0]
    }
    fn watch(&self, _k: usize) -> Watch {
        Watch::FALLING
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        crossing.x[0] += self.moves * (crossing.x[1] + 5.0);
        crossing.x[1] *= -0.5;
        Ok(())
    }
}

#[test]
fn a_reset_that_moves_neighbours_off_its_own_guard_has_no_single_derivative() {
    for (moves, differs, is_classical) in [
        (0.0, true, true),
        (0.5, false, true),
        (0.5, true, false),
        (-0.2, true, false),
    ] {
        let integrator = Integrator::new(Moves { moves, differs }).unwrap();
        let mut integrator = integrator.rtol(1e-11).atol(1e-13);
        let start = |height: f64| [height, 0.0];
        let derivative = integrator
            .derivative(&Start::at(0.0).x(&start(1.25)), 0.6)
            .unwrap();
        let what = format!("{moves} {differs} {:?}", derivative.verdict());
        assert_eq!(
            *derivative.verdict() == Verdict::Classical,
            is_classical,
            "{what}"
        );
        let mut end = |height: f64| {
            let start = start(height);
            let run = integrator.integrate(&Start::at(0.0).x(&start), 0.6);
            run.unwrap().state().clone()
        };
        let (here, by) = (end(1.25), 1e-6);
        let ahead = (end(1.25 + by) - &here) / by;
        let behind = (&here - end(1.25 - by)) / by;
        assert_eq!((&ahead - &behind).amax() < 1e-3, is_classical, "{what}");
        if is_classical {
            let found = derivative.apply(&[1.0, 0.0]).unwrap();
            assert!((found - ahead).amax() < 1e-3, "{what}");
        } else {
            let refused = derivative.apply(&[1.0, 0.0]);
            assert!(
                matches!(refused, Err(NoDerivative::MovedGuard { .. })),
                "{what}"
            );
        }
    }
}

/// `x' = −x`, three times as fast below `1/e`, which it reaches about where the run ends.
struct Faster;

impl Flow for Faster {
    fn dim(&self) -> usize {
        1
    }
    fn flow(&self, _t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        dx[0] = if mode.contains(0) { -x[0] } else { -3.0 * x[0] };
    }
}

impl EventFunction for Faster {
    fn count(&self) -> usize {
        1
    }
    fn event(&self, _k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[0] - (-1.0f64).exp()
    }
}

/// Where the error of the run hides whether its end lies before an event, directions across are refused.
#[test]
fn directions_across_an_event_that_the_error_puts_at_the_end_are_refused() {
    let mut behind = 0;
    for rtol in [1e-5, 1e-7] {
        for part in [-0.2, -0.05, -1e-2, 0.0, 1e-2, 0.05, 0.2] {
            let off = part * rtol;
            let start = [1.0 + off];
            let derivative = Integrator::new(Faster)
                .unwrap()
                .rtol(rtol)
                .derivative(&Start::at(0.0).x(&start), 1.0)
                .unwrap();
            let is_one_sided = matches!(derivative.verdict(), Verdict::OneSided { .. });
            assert!(is_one_sided, "{rtol} {off}: {:?}", derivative.verdict());
            let crossed = !derivative.run().crossings().is_empty();
            let last = derivative.run().crossings().last();
            behind += usize::from(last.is_some_and(|crossing| crossing.t < 1.0 - 2e-9));
            let refused =
                |v: f64| matches!(derivative.apply(&[v]), Err(NoDerivative::OneSided { .. }));
            // Higher starts come later.
            assert_eq!(
                (refused(1.0), refused(-1.0)),
                (crossed, !crossed),
                "{rtol} {off}"
            );
        }
    }
    // Some crossed longer before the end than what counts as one instant.
    assert!(behind > 0);
}

/// At its event a reset puts `x₀` at `by (x₁ − 1)`, or at zero whatever `x₁` is; then it rises from guard 1, its zero.
struct Lands {
    by: f64,
}

impl Flow for Lands {
    fn dim(&self) -> usize {
        4
    }
    fn flow(&self, _t: f64, _x: &[f64], mode: &Mode, dx: &mut [f64]) {
        let beyond = if mode.contains(1) { 0.0 } else { 1.0 };
        dx.copy_from_slice(&[1.0, 0.0, 1.0, beyond]);
    }
}

impl EventFunction for Lands {
    fn count(&self) -> usize {
        2
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        [x[2] - 1.0, x[0]][k]
    }
    fn watch(&self, k: usize) -> Watch {
        [Watch::RISING, Watch::BOTH][k]
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        if crossing.crossed.contains(0) {
            crossing.x[0] = self.by * (crossing.x[1] - 1.0);
        }
        Ok(())
    }
}

#[test]
fn a_reset_that_lands_on_a_guard_has_a_derivative_where_its_neighbours_land_there_too() {
    for by in [0.0, 1.0, -0.3] {
        let mut integrator = Integrator::new(Lands { by }).unwrap();
        let start = [0.5, 1.0, 0.0, 0.0];
        let derivative = integrator
            .derivative(&Start::at(0.0).x(&start), 1.5)
            .unwrap();
        if by == 0.0 {
            assert_eq!(*derivative.verdict(), Verdict::Classical);
            continue;
        }
        // Those that land behind it are there for a while.
        let moved = derivative.apply(&[0.0, 1.0, 0.0, 0.0]);
        let is_told = matches!(moved, Err(NoDerivative::MovedGuard { .. }));
        assert!(is_told, "{by}: {}", derivative.verdict());
    }
}
