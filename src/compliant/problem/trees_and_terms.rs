//! Trees, contacts and further convex terms in flat storage.

use nalgebra::Vector3;

use super::terms::{Armed, ContactTerm, Deviation, Link, Links, Problem, RowTerm, Tree};
use crate::compliant::law::{ContactLaw, RowLaw};
use crate::compliant::regularisation::{Softness, root_mean_square};
use crate::linalg::symmetric::square_fault;
use crate::mechanics::{ContactParameters, Contacts};
use crate::{InputError, validate};

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
