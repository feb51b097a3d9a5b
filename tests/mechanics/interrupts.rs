//! How much is evaluated after an interrupt was set: where many contacts close at once, events are
//! long.

use std::cell::Cell;

use saltation::event_driven::{EventDriven, Simulation};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{Interrupt, Status, Stop};

/// Blocks that fall on one floor. Calls are counted, and the interrupt is set at one of them.
struct Blocks<'a> {
    count: usize,
    /// How much later each lands than the one before (m).
    apart: f64,
    interrupt: &'a Interrupt,
    set_at: Option<usize>,
    calls: &'a Cell<usize>,
    late: &'a Cell<usize>,
}

impl Blocks<'_> {
    fn called(&self) {
        self.late
            .set(self.late.get() + usize::from(self.interrupt.is_set()));
        self.calls.set(self.calls.get() + 1);
        if Some(self.calls.get()) == self.set_at {
            self.interrupt.set();
        }
    }
}

impl MechanicalSystem for Blocks<'_> {
    fn dof(&self) -> usize {
        self.count
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        self.called();
        mass.fill(0.0);
        for i in 0..self.count {
            mass[i * (self.count + 1)] = 1.0;
        }
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        self.called();
        effort.fill(-9.81);
    }
    fn constant_mass(&self) -> bool {
        true
    }
}

impl UnilateralConstraints for Blocks<'_> {
    fn contacts(&self) -> usize {
        self.count
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        self.called();
        q[j] - self.apart * j as f64
    }
    fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        self.called();
        row.fill(0.0);
        row[j] = 1.0;
        true
    }
    fn constant_row(&self, _j: usize) -> bool {
        true
    }
}

/// A run that is interrupted at some call: calls in all, and after it.
fn calls(count: usize, apart: f64, set_at: Option<usize>) -> (usize, usize) {
    let (interrupt, calls, late) = (Interrupt::new(), Cell::new(0), Cell::new(0));
    let blocks = Blocks {
        count,
        apart,
        interrupt: &interrupt,
        set_at,
        calls: &calls,
        late: &late,
    };
    let mut simulation = Simulation::new(EventDriven::new(blocks))
        .unwrap()
        .configure(|integrator| integrator.interrupt(&interrupt));
    let high: Vec<f64> = vec![0.1 + apart * count as f64; count];
    let run = simulation
        .integrate(0.0, &high, &vec![0.0; count], 1.0)
        .unwrap();
    let status = run.trajectory().status();
    let interrupted = matches!(status, Status::Refused(Stop::Interrupted));
    assert!(interrupted || *status == Status::ReachedEnd, "{status}");
    (calls.get(), late.get())
}

/// All forces at one state are `2 n` calls or so, and a run looks at its interrupt after `n` of these
/// or fewer: not once an event, which takes `n²` of them and more.
#[test]
fn a_run_in_which_many_contacts_close_at_once_ends_soon_after_its_interrupt() {
    let n = 10;
    for apart in [0.0, 1e-12] {
        let (whole, _) = calls(n, apart, None);
        assert!(whole > 40 * n * n, "{whole}");
        for part in 1..6 {
            let (_, late) = calls(n, apart, Some(part * whole / 6));
            assert!(
                late <= 14 * n * n,
                "{late} of {whole} calls after part {part}, {apart:e} apart"
            );
        }
    }
}
