//! Memory of the balance of momentum: `v*` of stage 1, and what is known of each tree.

/// Memory of the balance.
#[derive(Clone, Debug, Default)]
pub(super) struct Balance {
    /// Some forces depend on velocities that contacts change.
    pub(super) has_forces: bool,
    /// `v*` is not that of stage 1.
    pub(super) is_taken: bool,
    /// `v*` of stage 1.
    pub(super) alone: Vec<f64>,
    pub(super) trees: Vec<BalancedTree>,
    /// `m(v)`, then `A⁻¹ m(v)`.
    pub(super) residual: Vec<f64>,
    /// The masses where efforts are taken, in the place of `A`.
    pub(super) masses: Vec<f64>,
    pub(super) factor: Vec<f64>,
}

/// A tree in the balance.
#[derive(Clone, Copy, Debug)]
pub(super) struct BalancedTree {
    /// Contacts change its velocities, and forces follow them.
    pub(super) follows: bool,
    /// It does not follow them: they would change by more each time.
    pub(super) is_free: bool,
    /// By what part its `v*` changed last.
    pub(super) change: f64,
}

impl Balance {
    /// Begins a step of so many trees.
    pub(super) fn begin(&mut self, trees: usize) {
        (self.has_forces, self.is_taken) = (true, false);
        self.trees.clear();
        let tree = BalancedTree {
            follows: false,
            is_free: false,
            change: f64::INFINITY,
        };
        self.trees.resize(trees, tree);
    }

    /// True where velocities of tree `i` are asked for.
    pub(super) fn has(&self, i: usize) -> bool {
        self.has_forces && !self.trees[i].is_free
    }

    /// Begins with other contacts: changes that they make say nothing of those before.
    pub(super) fn meet_others(&mut self) {
        for tree in &mut self.trees {
            tree.change = f64::INFINITY;
        }
    }
}
