//! diffsol: the solver finds roots of functions and stops there; the contacts are changed between its steps.

use std::cell::RefCell;

use diffsol::{
    NalgebraMat, NonLinearOp, OdeBuilder, OdeEquations, OdeSolverMethod, OdeSolverStopReason,
};

use crate::systems::{Contacts, END};

pub fn run<C: Contacts<D>, const D: usize>(system: &C, rtol: f64) -> [f64; D] {
    let n = system.count();
    let closed = RefCell::new(vec![false; n]);
    let problem = OdeBuilder::<NalgebraMat<f64>>::new()
        .rtol(rtol)
        .atol([rtol; D])
        .rhs(|x: &[f64], _p: &[f64], _t, dx: &mut [f64]| {
            let closed = closed.borrow();
            system.field(|k| closed[k], x, dx);
        })
        .init(
            |_p: &[f64], _t, x: &mut [f64]| x.copy_from_slice(&system.start()),
            D,
        )
        .root(
            |x: &[f64], _p: &[f64], _t, depths: &mut [f64]| system.depths(x, depths),
            n,
        )
        .build()
        .expect("the problem is well posed");
    let mut solver = problem.tsit45().expect("a solver");
    solver.set_stop_time(END).expect("the end is ahead");
    let (mut row, mut depths) = ([0.0; D], vec![0.0; n]);
    loop {
        match solver.step().expect("a step") {
            OdeSolverStopReason::InternalTimestep => {}
            OdeSolverStopReason::TstopReached => {
                let x = solver.state().y;
                return std::array::from_fn(|i| x[i]);
            }
            OdeSolverStopReason::RootFound(t, _) => {
                solver
                    .state_mut_back(t)
                    .expect("the root is in the last step");
                let state = solver.state_mut();
                let x: [f64; D] = std::array::from_fn(|i| state.y[i]);
                system.depths(&x, &mut depths);
                let mut closed_now = closed.borrow_mut();
                let field: [f64; D] = {
                    let mut field = [0.0; D];
                    system.field(|k| closed_now[k], &x, &mut field);
                    field
                };
                for k in 0..n {
                    // On its surface a contact is what it is about to be.
                    closed_now[k] = if depths[k].abs() < 1e-9 {
                        system.row(k, &x, &mut row);
                        row.iter().zip(&field).map(|(r, f)| r * f).sum::<f64>() > 0.0
                    } else {
                        depths[k] > 0.0
                    };
                }
                drop(closed_now);
                problem.eqn().rhs().call_inplace(state.y, t, state.dy);
                if t < END {
                    solver.set_stop_time(END).expect("the end is ahead");
                }
            }
        }
    }
}
