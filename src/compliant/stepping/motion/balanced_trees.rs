//! Memory of the balance of momentum: `v*` of stage 1, and what is known of each tree.

/// Changes from this part on do not grow by rounding.
const SEEN: f64 = 1e-6;

/// Memory of the balance.
#[derive(Clone, Debug, Default)]
pub(super) struct Balance {
    /// Some forces depend on velocities that contacts change.
    pub(super) has_forces: bool,
    /// `v*` is not that of stage 1.
    pub(super) is_taken: bool,
    /// The velocities changed still when it ended.
    pub(super) is_left: bool,
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

/// Answer of a tree to a change of `v*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// Too small, or what the solver leaves open.
    Nothing,
    Change,
    /// More than the last time: from here on its forces are those of stage 1.
    TooMuch,
}

impl BalancedTree {
    /// Takes note of the part by which `v*` would change.
    pub(super) fn hears(&mut self, change: f64, least: f64) -> Heard {
        if change <= least {
            return Heard::Nothing;
        }
        if change < self.change {
            self.change = change;
            return Heard::Change;
        }
        if change <= SEEN {
            return Heard::Nothing;
        }
        (self.is_free, self.follows) = (true, false);
        Heard::TooMuch
    }
}

impl Balance {
    /// Begins a step of so many trees.
    pub(super) fn begin(&mut self, trees: usize) {
        (self.has_forces, self.is_taken, self.is_left) = (true, false, false);
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
        self.is_left = false;
        for tree in &mut self.trees {
            tree.change = f64::INFINITY;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree that gave way to a blow of new contacts would take forces without them.
    #[test]
    fn only_a_change_that_grows_with_the_same_contacts_frees_a_tree() {
        let mut of = Balance::default();
        of.begin(1);
        let heard = |of: &mut Balance, change| of.trees[0].hears(change, 1e-8);
        assert_eq!(heard(&mut of, 1e-3), Heard::Change);
        assert_eq!(heard(&mut of, 1e-7), Heard::Change);
        assert_eq!(heard(&mut of, 2e-7), Heard::Nothing);
        of.meet_others();
        assert_eq!(heard(&mut of, 1e-2), Heard::Change);
        assert_eq!(heard(&mut of, 2e-2), Heard::TooMuch);
        assert!(of.trees[0].is_free && !of.has(0));
    }
}
