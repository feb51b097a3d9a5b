//! Trees, contacts and further convex terms in flat storage.

use nalgebra::{DMatrix, Vector3};

use crate::compliant::law::{ContactLaw, RowLaw};
use crate::compliant::regularisation::{Softness, root_mean_square};
use crate::linalg::block_kernels as kernels;
use crate::linalg::symmetric::{Spectrum, square_fault, unit_diagonal};
use crate::mechanics::{ContactParameters, Contacts};
use crate::{InputError, MatrixFault, validate};

/// A block of velocities that `A` couples to no other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::compliant) struct Tree {
    /// First velocity.
    pub(in crate::compliant) start: usize,
    /// Number of velocities.
    pub(in crate::compliant) width: usize,
    /// First entry of its block of `A`.
    pub(in crate::compliant) place: usize,
    /// The factor of its block has been computed.
    factored: bool,
}

/// The rows of a term in the velocities of one tree.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::compliant) struct Link {
    pub(in crate::compliant) tree: usize,
    pub(in crate::compliant) place: usize,
}

/// One or two links: a contact with the world has one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::compliant) struct Links {
    pub(in crate::compliant) first: Link,
    pub(in crate::compliant) second: Option<Link>,
}

impl Links {
    pub(in crate::compliant) fn iter(&self) -> impl Iterator<Item = Link> + use<> {
        std::iter::once(self.first).chain(self.second)
    }
}

/// A contact of the problem.
#[derive(Clone, Copy, Debug)]
pub(in crate::compliant) struct ContactTerm {
    pub(in crate::compliant) parameters: ContactParameters,
    pub(in crate::compliant) law: ContactLaw,
    pub(in crate::compliant) links: Links,
    /// Regularisation of its moments (1/(kg m²)), whose rows lie behind those of the contact; 0: it has none.
    pub(in crate::compliant) rotational: f64,
    /// Its bodies do not meet in a blow: it joins no island there, and is not solved.
    pub(in crate::compliant) is_apart: bool,
}

impl ContactTerm {
    /// The law of its moments, where it has some.
    pub(in crate::compliant) fn moments(&self) -> Option<ContactLaw> {
        let of = &self.parameters;
        let law =
            || ContactLaw::of_moments(of.spinning_friction, of.rolling_friction, self.rotational);
        (self.rotational > 0.0).then(law)
    }
}

/// A further term of the problem.
#[derive(Clone, Copy, Debug)]
pub(in crate::compliant) struct RowTerm {
    pub(in crate::compliant) law: RowLaw,
    pub(in crate::compliant) links: Links,
    /// Its trees sleep: it joins no island, and is not solved.
    pub(in crate::compliant) is_asleep: bool,
    /// How far the points or the axes that it holds together stand apart at the start of the step.
    pub(in crate::compliant) apart: Deviation,
    /// The arms of its force on free bodies, in the order of its links.
    arms: Option<[Vector3<f64>; 2]>,
}

/// The impulse of a row on a free body, and the arm from its centre of mass at which it acts.
#[derive(Clone, Copy, Debug)]
pub(in crate::compliant) struct Armed {
    pub(in crate::compliant) tree: usize,
    pub(in crate::compliant) arm: Vector3<f64>,
    pub(in crate::compliant) impulse: Vector3<f64>,
}

/// A deviation of a constraint: a way (m) or a turn (rad); the other one is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Deviation {
    pub(crate) way: f64,
    pub(crate) turn: f64,
}

/// The convex problem of one implicit step:
///
/// ```text
///     minimise   ½ (v − v*)ᵀ A (v − v*) + Σ ℓ_R(J v)      over the velocities v at the end of the step
/// ```
///
/// `A` is symmetric and positive definite, with a block for each tree; `v*` are the velocities
/// without contacts. A term acts on one or two trees: a contact by [`ContactLaw`], anything else by
/// rows of [`RowLaw`]. A contact of more than two trees is refused.
///
/// Units: masses in kg, velocities in m/s or rad/s, gaps in m, stiffness in N/m, times in s.
/// Contact velocities and impulses are `[n, t₁, t₂]`; signs are those of
/// [`Contacts`](crate::mechanics::Contacts).
///
/// ```
/// use saltation::compliant::{Problem, Solver};
/// use saltation::mechanics::ContactParameters;
/// let mut problem = Problem::new(0.01)?;
/// let mass = [2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0]; // a particle: (x, y, z)
/// let tree = problem.add_tree(&mass, &[0.3, -0.1, -0.5])?;
/// let mut ground = ContactParameters::new(0, -1e-3);
/// (ground.stiffness, ground.dissipation_time, ground.friction) = (1e4, 0.02, 0.4);
/// let rows = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]; // normal z, tangents x and y
/// problem.add_contact(&ground, &[(tree, &rows)])?;
/// let mut solver = Solver::new();
/// let solution = solver.solve(&problem, &[0.0; 3])?;
/// assert!((solution.impulses()[0][0] - 0.722398985650).abs() < 1e-9);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Problem {
    pub(in crate::compliant) dt: f64,
    pub(in crate::compliant) softness: Softness,
    pub(in crate::compliant) trees: Vec<Tree>,
    pub(in crate::compliant) inertia: Vec<f64>,
    pub(in crate::compliant) factors: Vec<f64>,
    pub(in crate::compliant) free: Vec<f64>,
    pub(in crate::compliant) contacts: Vec<ContactTerm>,
    pub(in crate::compliant) rows: Vec<RowTerm>,
    pub(in crate::compliant) jacobian: Vec<f64>,
    /// The number of rows up to the end of each term.
    ends: Vec<usize>,
    /// `A⁻¹ Jᵀ` of a row, and the padded rows of a contact.
    scratch: Vec<f64>,
}

impl Problem {
    /// An empty problem of a step of `dt` seconds.
    ///
    /// # Errors
    /// [`InputError::BadSetting`] unless `dt` is finite and positive.
    pub fn new(dt: f64) -> Result<Self, InputError> {
        let mut problem = Self {
            dt,
            softness: Softness::default(),
            trees: Vec::new(),
            inertia: Vec::new(),
            factors: Vec::new(),
            free: Vec::new(),
            contacts: Vec::new(),
            rows: Vec::new(),
            jacobian: Vec::new(),
            ends: Vec::new(),
            scratch: Vec::new(),
        };
        problem.reset(dt, Softness::default())?;
        Ok(problem)
    }

    /// Removes trees and terms, and keeps the memory. Contacts added from now on have this softness
    /// unless they say otherwise.
    ///
    /// # Errors
    /// [`InputError::BadSetting`].
    pub fn reset(&mut self, dt: f64, softness: Softness) -> Result<(), InputError> {
        validate::positive("dt", &[dt])?;
        softness.validate()?;
        (self.dt, self.softness) = (dt, softness);
        self.trees.clear();
        self.inertia.clear();
        self.factors.clear();
        self.free.clear();
        self.contacts.clear();
        self.rows.clear();
        self.jacobian.clear();
        self.ends.clear();
        Ok(())
    }

    /// Adds a tree with its block of `A` (`n × n`) and its velocities without contacts (`n`), and
    /// returns its number.
    ///
    /// # Errors
    /// [`InputError::WrongLength`], [`InputError::NotFinite`] and [`InputError::BadTree`]. That a
    /// block is positive definite is seen when the first term acts on its tree.
    pub fn add_tree(&mut self, inertia: &[f64], free: &[f64]) -> Result<usize, InputError> {
        let (tree, width) = (self.trees.len(), free.len());
        validate::length("free velocities of a tree", width.max(1), width)?;
        validate::length("inertia of a tree", width * width, inertia.len())?;
        validate::finite("free velocities", free)
            .map_err(validate::counted_from(self.free.len()))?;
        if let Some(fault) = square_fault(inertia, width) {
            return Err(InputError::BadTree { tree, fault });
        }
        self.trees.push(Tree {
            start: self.free.len(),
            width,
            place: self.inertia.len(),
            factored: false,
        });
        self.inertia.extend_from_slice(inertia);
        self.factors.extend_from_slice(inertia);
        self.free.extend_from_slice(free);
        Ok(tree)
    }

    /// Adds a contact with its rows in one or two trees, and returns its number: for each tree the
    /// normal row, then those of the tangents, as many (0, 1 or 2) for both trees. Two entries for one
    /// tree add up.
    ///
    /// A contact with spinning or rolling friction has six rows: the normal, two tangents, and those of
    /// the angular velocity of body A relative to B about each of the three. Such a problem is one of
    /// [`coulomb`](Self::coulomb); a solver refuses it with another law.
    ///
    /// # Errors
    /// [`InputError`] for numbers that make no sense, sizes that do not fit, no tree or more than
    /// two, [`InputError::FrictionIgnored`] for friction without tangents,
    /// [`InputError::MomentsIgnored`] for spinning or rolling friction without rows of angular velocity, and
    /// [`InputError::BadTree`] where `A` is not positive definite; it names the contact by its place
    /// in this problem.
    pub fn add_contact(
        &mut self,
        parameters: &ContactParameters,
        rows: &[(usize, &[f64])],
    ) -> Result<usize, InputError> {
        let number = self.contacts.len();
        parameters
            .validate()
            .map_err(validate::counted_from(number))?;
        let softness = self.softness.of(parameters);
        softness
            .validate()
            .map_err(validate::counted_from(number))?;
        let kept = self.jacobian.len();
        let has_moments = parameters.has_moments();
        let height = if has_moments { 6 } else { 3 };
        let links = self.links(rows, height);
        let links = links.map_err(validate::rows_of("contact", number));
        let added = links.and_then(|links| {
            let w = root_mean_square(&self.response(&links, 3)?);
            let law = softness.law(self.dt, parameters, w);
            let law = law.map_err(validate::counted_from(number))?;
            let link = links.first;
            let given = rows[0].1.len() / self.trees[link.tree].width;
            let normal_alone = given == 1;
            if has_moments && given < height {
                let law = "a contact without rows of angular velocity";
                return Err(parameters.moments_ignored(law, number));
            }
            if normal_alone && parameters.friction > 0.0 {
                return Err(InputError::FrictionIgnored {
                    law: "a contact without tangents",
                    contact: number,
                    friction: parameters.friction,
                });
            }
            Ok(ContactTerm {
                parameters: *parameters,
                law,
                links,
                is_apart: false,
                rotational: if has_moments {
                    let w = root_mean_square(&self.response(&self.of_moments(&links), 3)?);
                    softness
                        .rotational(w)
                        .map_err(validate::counted_from(number))?
                } else {
                    0.0
                },
            })
        });
        match added {
            Ok(term) => {
                self.contacts.push(term);
                Ok(number)
            }
            Err(error) => {
                self.jacobian.truncate(kept);
                Err(error)
            }
        }
    }

    /// Adds all contacts of a list, in its order.
    ///
    /// # Errors
    /// As [`add_contact`](Self::add_contact); contacts before the offender stay.
    pub fn add_contacts(&mut self, contacts: &Contacts) -> Result<(), InputError> {
        for (i, parameters) in contacts.all_parameters().iter().enumerate() {
            let mut blocks = [(0, &[][..]); 3];
            let mut count = 0;
            for block in contacts.blocks(i).filter(|block| block.width > 0) {
                if let Some(place) = blocks.get_mut(count) {
                    *place = (block.tree, block.rows);
                }
                count += 1;
            }
            // Three blocks and more are refused alike.
            self.add_contact(parameters, &blocks[..count.min(3)])?;
        }
        Ok(())
    }

    /// Contacts that terms added, behind those of the source, of which there are so many.
    pub(in crate::compliant) fn contacts_of_terms(&self, of_source: usize) -> &[ContactTerm] {
        self.contacts.get(of_source..).unwrap_or_default()
    }

    /// The rows of the moments of a contact, behind its own.
    pub(in crate::compliant) fn of_moments(&self, links: &Links) -> Links {
        let behind = |link: Link| Link {
            place: link.place + 3 * self.trees[link.tree].width,
            ..link
        };
        Links {
            first: behind(links.first),
            second: links.second.map(behind),
        }
    }

    /// Adds a term of one velocity, `v_c = J v`, with its row in one or two trees, and returns its
    /// number.
    ///
    /// # Errors
    /// As [`add_contact`](Self::add_contact), and [`InputError::BadSetting`] for a law with `R ≤ 0`
    /// or bounds that cross.
    pub fn add_row(&mut self, law: RowLaw, rows: &[(usize, &[f64])]) -> Result<usize, InputError> {
        let number = self.rows.len();
        let of_row = validate::counted_from(number);
        let check = || {
            validate::positive("regularisation of a row", &[law.regularisation])?;
            validate::finite("target velocity of a row", &[law.target])?;
            let rule = "the lower bound must not lie above the upper one";
            validate::unless(law.low <= law.high, "lower bound of a row", law.low, rule)?;
            let rule = "a bound that nothing can reach";
            let reachable = law.low < f64::INFINITY && law.high > f64::NEG_INFINITY;
            validate::unless(reachable, "bound of a row", law.low, rule)
        };
        check().map_err(of_row)?;
        let links = self.links(rows, 1);
        let links = links.map_err(validate::rows_of("row", number))?;
        for link in links.iter() {
            if let Err(error) = self.factorise_tree(link.tree) {
                self.jacobian.truncate(links.first.place);
                return Err(error);
            }
        }
        self.rows.push(RowTerm {
            law,
            links,
            is_asleep: false,
            apart: Deviation::default(),
            arms: None,
        });
        Ok(number)
    }

    /// Notes how far apart stands at the start of the step what the last row holds together.
    pub(crate) fn note_deviation(&mut self, apart: Deviation) {
        if let Some(row) = self.rows.last_mut() {
            row.apart = apart;
        }
    }

    /// Notes at which arms the last row acts on its bodies, which have turns and moves in the axes of the world.
    pub(crate) fn note_arms(&mut self, arms: [Vector3<f64>; 2]) {
        if let Some(row) = self.rows.last_mut() {
            row.arms = Some(arms);
        }
    }

    /// The impulses of rows of which the arms are noted.
    pub(in crate::compliant) fn armed<'a>(
        &'a self,
        impulses: &'a [f64],
    ) -> impl Iterator<Item = Armed> + 'a {
        let rows = self.rows.iter().zip(impulses);
        let rows = rows.filter_map(|(row, p)| Some((row.links, row.arms?, *p)));
        rows.flat_map(move |(links, arms, p)| {
            links.iter().zip(arms).filter_map(move |(link, arm)| {
                let moves = self.jacobian.get(link.place + 3..link.place + 6)?;
                Some(Armed {
                    tree: link.tree,
                    arm,
                    impulse: p * Vector3::from_column_slice(moves),
                })
            })
        })
    }

    /// Copies rows into the flat storage, padded to `height` rows a tree.
    pub(super) fn links(
        &mut self,
        rows: &[(usize, &[f64])],
        height: usize,
    ) -> Result<Links, InputError> {
        let number = match rows {
            [_] | [_, _] => rows.len(),
            // A contact of no tree moves nothing; one of three is not one of two bodies.
            _ => return Err(InputError::TreesOfTerm { found: rows.len() }),
        };
        let mut height_of_first = None;
        for &(tree, entries) in rows {
            let Some(found) = self.trees.get(tree) else {
                return Err(InputError::NoSuch {
                    what: "tree",
                    index: tree,
                    count: self.trees.len(),
                });
            };
            let given = entries.len() / found.width;
            let expected = height_of_first
                .unwrap_or(given)
                .clamp(1, height)
                .saturating_mul(found.width);
            validate::length("rows of a term", expected, entries.len())?;
            validate::finite("rows of a term", entries)?;
            height_of_first = Some(given);
        }
        let same = number == 2 && rows[0].0 == rows[1].0;
        let mut links = [Link::default(); 2];
        for (link, &(tree, entries)) in links.iter_mut().zip(rows) {
            *link = Link {
                tree,
                place: self.jacobian.len(),
            };
            let end = self.jacobian.len() + height * self.trees[tree].width;
            self.jacobian.extend_from_slice(entries);
            self.jacobian.resize(end, 0.0);
        }
        if same {
            // Both bodies in one tree: the sum of the rows.
            let (first, second) =
                self.jacobian[links[0].place..].split_at_mut(links[1].place - links[0].place);
            for (sum, entry) in first.iter_mut().zip(&*second) {
                *sum += entry;
            }
            self.jacobian.truncate(links[1].place);
        }
        Ok(Links {
            first: links[0],
            second: (number == 2 && !same).then_some(links[1]),
        })
    }

    /// Factorises the block of a tree, unless that has been done.
    fn factorise_tree(&mut self, number: usize) -> Result<(), InputError> {
        let tree = &mut self.trees[number];
        let n = tree.width;
        let factor = &mut self.factors[tree.place..tree.place + n * n];
        if !tree.factored && kernels::factor(factor, n).is_none() {
            // The next question finds the block as it was.
            let block = &self.inertia[tree.place..tree.place + n * n];
            factor.copy_from_slice(block);
            return Err(InputError::BadTree {
                tree: number,
                fault: not_positive(block, n),
            });
        }
        tree.factored = true;
        Ok(())
    }

    /// `W = Σ J A⁻¹ Jᵀ` of a term with `height` rows.
    pub(super) fn response(
        &mut self,
        links: &Links,
        height: usize,
    ) -> Result<[[f64; 3]; 3], InputError> {
        let mut response = [[0.0; 3]; 3];
        for link in links.iter() {
            self.factorise_tree(link.tree)?;
            let tree = &self.trees[link.tree];
            let n = tree.width;
            let factor = &self.factors[tree.place..tree.place + n * n];
            // With A = L Lᵀ, W = YᵀY for Y = L⁻¹ Jᵀ. Y has a row a velocity.
            let rows = &self.jacobian[link.place..link.place + height * n];
            self.scratch.clear();
            self.scratch.resize(n * height, 0.0);
            for (r, row) in rows.chunks_exact(n).enumerate() {
                for (k, entry) in row.iter().enumerate() {
                    self.scratch[k * height + r] = *entry;
                }
            }
            kernels::solve_rows(factor, &mut self.scratch, n, height);
            for y in self.scratch.chunks_exact(height) {
                for (a, sums) in y.iter().zip(&mut response) {
                    for (b, sum) in y.iter().zip(sums) {
                        *sum += a * b;
                    }
                }
            }
        }
        Ok(response)
    }

    /// The length of the step (s).
    pub fn dt(&self) -> f64 {
        self.dt
    }

    /// Number of velocities.
    pub fn dof(&self) -> usize {
        self.free.len()
    }

    /// Number of trees.
    pub fn trees(&self) -> usize {
        self.trees.len()
    }

    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        self.contacts.len()
    }

    /// Number of rows that are not of contacts.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Says that the rows of a term end here.
    pub(in crate::compliant) fn end_term(&mut self) {
        self.ends.push(self.rows.len());
    }

    /// The rows of term `i`.
    pub(in crate::compliant) fn rows_of_term(&self, i: usize) -> Option<std::ops::Range<usize>> {
        let end = *self.ends.get(i)?;
        let before = i.checked_sub(1).and_then(|i| self.ends.get(i));
        Some(before.copied().unwrap_or(0)..end)
    }

    /// The velocities without contacts `v*`.
    pub fn free_velocities(&self) -> &[f64] {
        &self.free
    }

    /// The law of contact `i` in this step.
    pub fn law(&self, i: usize) -> Option<&ContactLaw> {
        self.contacts.get(i).map(|term| &term.law)
    }

    /// The numbers of contact `i`, as they were added.
    pub fn parameters(&self, i: usize) -> Option<&ContactParameters> {
        self.contacts.get(i).map(|term| &term.parameters)
    }
}

/// Says of a block of `A`, `n × n`, that it is not positive definite, with its least eigenvalue.
pub(in crate::compliant) fn not_positive(block: &[f64], n: usize) -> MatrixFault {
    let (scaled, _) = unit_diagonal(&DMatrix::from_column_slice(n, n, block));
    MatrixFault::NotPositive {
        value: Spectrum::of(&scaled).map_or(f64::NAN, |found| found.least()),
    }
}
