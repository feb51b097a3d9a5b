//! The one-sided limits of a corner and their derivatives: contacts that close at once are met one
//! after another, with vanishing time between them.

use crate::event_driven::Breakdown;
use crate::event_driven::Model;
use crate::mechanics::motion::contacts_at::ContactsAt;
use nalgebra::{DMatrix, DVector};

use crate::derivative::saltation_product;
use crate::event_driven::impact::Event;
use crate::random::below;
use crate::{Crossed, CrossedGuard, Guard, Mode};

/// Up to this many contacts all orders are taken.
const ALL_ORDERS: usize = 4;
/// Random orders taken beyond.
const SAMPLE: u64 = 24;
/// Limit of the impacts of one order.
const CAP: usize = 1000;

/// Ratio of the times at which a contact of an order and the one before are met.
const APART: f64 = 1e4;

/// The outcome of nearby states that meet the contacts in one order.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OrderOutcome {
    /// The order `σ`, by numbers of contacts.
    pub order: Vec<usize>,
    /// The impacts one by one, until no contact approaches. A contact is missing when earlier
    /// impacts turn it away, and appears again when later ones throw it back.
    pub word: Vec<usize>,
    /// The velocities after the last impact: a one-sided limit.
    pub velocity: DVector<f64>,
    /// The product of the saltation matrices along the word, `Ξ_σ`, `2d × 2d` on `(q, v)`: a
    /// one-sided derivative.
    pub matrix: DMatrix<f64>,
}

impl Model<'_> {
    /// The outcome of one order, from `x = (q, v)` with all gaps of `order` zero and closing, and
    /// every contact of `open` open.
    pub(crate) fn outcome_in_order(
        &self,
        t: f64,
        x: &[f64],
        open: &Mode,
        order: &[usize],
    ) -> Result<OrderOutcome, Breakdown> {
        let word = self.word(t, x, open, order)?;
        let guards: Vec<Guard> = word.iter().map(|&j| Guard::falling(j)).collect();
        let product = saltation_product(self, &guards, t, x, open)?;
        let (q, v) = self.parts(x);
        Ok(OrderOutcome {
            order: order.to_vec(),
            word,
            velocity: product.state.rows(q.len(), v.len()).into_owned(),
            matrix: product.matrix,
        })
    }

    /// The impacts of nearby states that in free flight would meet the contacts of `order`, each
    /// [`APART`] times later than the one before. Close to the corner gaps change at constant rates
    /// between impacts.
    fn word(
        &self,
        t: f64,
        x: &[f64],
        open: &Mode,
        order: &[usize],
    ) -> Result<Vec<usize>, Breakdown> {
        let (mut state, mut mode) = (x.to_vec(), open.clone());
        let mut event = Event::default();
        let mut rates = self.approach(&mut ContactsAt::default(), &state, order);
        // In an arbitrarily small unit of time.
        let mut gaps: Vec<f64> = Vec::with_capacity(order.len());
        let mut time = 1.0;
        for rate in rates.iter().rev() {
            gaps.push(-rate * time);
            time /= APART;
        }
        gaps.reverse();
        let mut word = Vec::with_capacity(order.len());
        loop {
            // The law has resolved the closed contacts.
            let mut next: Option<(f64, usize)> = None;
            for (i, (gap, rate)) in gaps.iter().zip(&rates).enumerate() {
                if *rate < -self.rate_tolerance && !self.is_closed(&mode, order[i]) {
                    let time = gap.max(0.0) / -rate;
                    if next.is_none_or(|(least, _)| time < least) {
                        next = Some((time, i));
                    }
                }
            }
            let Some((time, i)) = next else {
                return Ok(word);
            };
            let (contact, rate) = (order[i], rates[i]);
            if word.len() >= CAP {
                return Err(Breakdown::TooManyImpacts {
                    limit: CAP,
                    contact,
                    speed: rate,
                    t,
                });
            }
            for (gap, rate) in gaps.iter_mut().zip(&rates) {
                *gap += rate * time;
            }
            gaps[i] = 0.0;
            let guard = Guard::falling(contact);
            mode.set(contact, guard.side_after());
            let crossed = [CrossedGuard { guard, rate }];
            let crossed = Crossed::new(&crossed).of_transition(word.len());
            // Contacts that are stopped in the air, where gaps are counted aside, are none.
            self.resolve_with(t, &crossed, &mut state, &mut mode, &[], &mut event)?;
            rates = self.approach(&mut ContactsAt::default(), &state, order);
            word.push(contact);
        }
    }
}

/// All orders of up to four contacts; beyond, those in which they are given, its reverse, the one
/// by number, and random ones.
pub(crate) fn orders(contacts: &[usize]) -> Vec<Vec<usize>> {
    let n = contacts.len();
    if n <= ALL_ORDERS {
        let mut all = vec![Vec::new()];
        for _ in 0..n {
            all = all
                .iter()
                .flat_map(|order: &Vec<usize>| {
                    let left = contacts.iter().filter(|j| !order.contains(j));
                    left.map(|&j| [&order[..], &[j]].concat())
                })
                .collect();
        }
        return all;
    }
    let mut found = vec![contacts.to_vec(), contacts.iter().rev().copied().collect()];
    let mut sorted = contacts.to_vec();
    sorted.sort_unstable();
    if !found.contains(&sorted) {
        found.push(sorted);
    }
    for sample in 0..SAMPLE {
        // Fisher–Yates with numbers that depend on sample and place only.
        let mut order = contacts.to_vec();
        for last in (1..n).rev() {
            order.swap(last, below(sample, last as u64, last + 1));
        }
        found.push(order);
    }
    found
}
