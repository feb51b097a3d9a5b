//! saltation: contacts are event functions, and the mode belongs to the integrator.

use saltation::{EventFunction, Flow, Integrator, Mode, Start, Status};

use crate::systems::{Contacts, END};

/// How much of a model is written.
#[derive(Clone, Copy, PartialEq)]
pub enum Written {
    /// What a first draft has.
    Event,
    /// Rows, all event functions at once, that they do not read the mode, which are affine, and that
    /// nothing is reset.
    Rows,
}

struct Model<'a, C, const D: usize> {
    system: &'a C,
    written: Written,
}

impl<C: Contacts<D>, const D: usize> Flow for Model<'_, C, D> {
    fn dim(&self) -> usize {
        D
    }
    fn flow(&self, _t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        self.system.field(|k| mode.contains(k), x, dx);
    }
}

impl<C: Contacts<D>, const D: usize> EventFunction for Model<'_, C, D> {
    fn count(&self) -> usize {
        self.system.count()
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        self.system.depth(k, x)
    }
    fn events(&self, _t: f64, x: &[f64], _mode: &Mode, h: &mut [f64]) {
        match self.written {
            Written::Rows => self.system.depths(x, h),
            Written::Event => {
                for (k, h) in h.iter_mut().enumerate() {
                    *h = self.system.depth(k, x);
                }
            }
        }
    }
    fn gradient(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        if self.written == Written::Event {
            return None;
        }
        self.system.row(k, x, dh);
        Some(0.0)
    }
    fn ignores_mode(&self) -> bool {
        self.written == Written::Rows
    }
    fn is_affine(&self, _k: usize) -> bool {
        self.written == Written::Rows && self.system.is_affine()
    }
    fn resets(&self) -> bool {
        self.written == Written::Event
    }
}

/// Workspace is made in each run, as that of the others.
pub fn run<C: Contacts<D>, const D: usize>(
    system: &C,
    written: Written,
    fixed: bool,
    rtol: f64,
) -> [f64; D] {
    let model = Model::<C, D> { system, written };
    let start = system.start();
    let mut end = [0.0; D];
    macro_rules! go {
        ($integrator:expr) => {{
            let mut integrator = $integrator.expect("sizes fit").rtol(rtol).atol(rtol);
            let summary = integrator
                .observe(&Start::at(0.0).x(&start), END, &mut ())
                .expect("good input");
            assert_eq!(summary.status, Status::ReachedEnd);
            end.copy_from_slice(integrator.state());
        }};
    }
    if fixed {
        go!(Integrator::fixed::<D>(model));
    } else {
        go!(Integrator::new(model));
    }
    end
}
