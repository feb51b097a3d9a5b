//! Loops of welds, found by union and find: each tree has its pose in the root of those it is welded to, and a
//! weld between two of one root must agree with both.

use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3};

use crate::InputError;

/// Two trees that a term holds together as one rigid body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidPair {
    /// Their numbers; none for the world, whose axes are then meant.
    pub trees: [Option<usize>; 2],
    /// The position of the second in the axes of the first (m).
    pub position: [f64; 3],
    /// Its orientation there, a quaternion `[w, x, y, z]` of any length but zero.
    pub orientation: [f64; 4],
}

/// Deviations below which welds agree, by the size of the loop (m, or rad).
const AGREE: f64 = 1e-6;

/// The trees, and the world as the last.
pub(super) struct Welds {
    /// The one to which each is welded, itself for a root, and its pose there.
    parents: Vec<(usize, Isometry3<f64>)>,
    /// The number of those below each root: the smaller part goes below the larger.
    sizes: Vec<usize>,
}

impl Welds {
    pub(super) fn new(trees: usize) -> Self {
        Self {
            parents: (0..=trees).map(|i| (i, Isometry3::identity())).collect(),
            sizes: vec![1; trees + 1],
        }
    }

    /// The root of a tree, and the pose of the tree there.
    fn root(&self, tree: usize) -> (usize, Isometry3<f64>) {
        let (mut at, mut pose) = (tree, Isometry3::identity());
        while self.parents[at].0 != at {
            let (parent, place) = &self.parents[at];
            pose = place * pose;
            at = *parent;
        }
        (at, pose)
    }

    /// Takes the weld of term `term`; refuses one that contradicts those before it.
    pub(super) fn add(&mut self, term: usize, pair: &RigidPair) -> Result<(), InputError> {
        let world = self.parents.len() - 1;
        let [a, b] = pair.trees.map(|tree| tree.unwrap_or(world));
        if pair.trees.iter().flatten().any(|tree| *tree >= world) {
            // A tree that is not there: refused in the first step.
            return Ok(());
        }
        let [w, x, y, z] = pair.orientation;
        let turn = UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z));
        let place = Isometry3::from_parts(Translation3::from(Vector3::from(pair.position)), turn);
        let ((root_a, pose_a), (root_b, pose_b)) = (self.root(a), self.root(b));
        if root_a != root_b {
            let b_in_a = pose_a * place * pose_b.inverse();
            let (below, above, pose) = if self.sizes[root_b] <= self.sizes[root_a] {
                (root_b, root_a, b_in_a)
            } else {
                (root_a, root_b, b_in_a.inverse())
            };
            self.parents[below] = (above, pose);
            self.sizes[above] += self.sizes[below];
            return Ok(());
        }
        let deviation = (pose_a * place).inverse() * pose_b;
        let apart = deviation.translation.vector.norm();
        let turned = deviation.rotation.angle();
        let size = place.translation.vector.norm() + pose_b.translation.vector.norm();
        // Numbers that are not finite do not agree.
        if apart <= AGREE * (1.0 + size) && turned <= AGREE {
            return Ok(());
        }
        Err(InputError::WeldsDisagree {
            term,
            apart,
            turned,
        })
    }
}
