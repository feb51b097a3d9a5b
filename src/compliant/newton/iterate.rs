//! A point of Newton's method and a direction from it, with their values.

use super::island::Island;
use crate::compliant::law::{ContactPoint, Region};

/// Velocities of an island with impulses, cost and gradient.
#[derive(Clone, Debug, Default)]
pub(in crate::compliant) struct Iterate {
    pub(in crate::compliant) v: Vec<f64>,
    /// `J v` of contacts and of rows.
    pub(in crate::compliant) contact_velocities: Vec<[f64; 3]>,
    pub(in crate::compliant) row_velocities: Vec<f64>,
    /// The loads (N s) that bound friction.
    pub(in crate::compliant) loads: Vec<f64>,
    /// `A (v − v*)`.
    pub(in crate::compliant) momentum: Vec<f64>,
    pub(in crate::compliant) impulses: Vec<[f64; 3]>,
    pub(in crate::compliant) regions: Vec<Region>,
    pub(in crate::compliant) row_impulses: Vec<f64>,
    /// `Jᵀ γ`.
    pub(in crate::compliant) generalised: Vec<f64>,
    /// `A (v − v*) − Jᵀ γ`.
    pub(in crate::compliant) gradient: Vec<f64>,
    pub(in crate::compliant) cost: f64,
}

/// A direction `dv`.
#[derive(Clone, Debug, Default)]
pub(in crate::compliant) struct Direction {
    pub(in crate::compliant) dv: Vec<f64>,
    /// `A dv`.
    pub(in crate::compliant) momentum: Vec<f64>,
    pub(in crate::compliant) contact_velocities: Vec<[f64; 3]>,
    pub(in crate::compliant) row_velocities: Vec<f64>,
    /// `dv · A (v − v*)` and `dv · A dv`: the inertial part of the cost along the direction.
    pub(in crate::compliant) slope: f64,
    pub(in crate::compliant) curvature: f64,
}

fn resize<T: Clone>(values: &mut Vec<T>, size: usize, zero: T) {
    values.clear();
    values.resize(size, zero);
}

impl Iterate {
    /// Takes the size of an island.
    pub(in crate::compliant) fn resize(&mut self, island: &Island) {
        let (n, contacts, rows) = (island.dof(), island.contacts.len(), island.rows.len());
        for values in [
            &mut self.v,
            &mut self.momentum,
            &mut self.generalised,
            &mut self.gradient,
        ] {
            resize(values, n, 0.0);
        }
        resize(&mut self.contact_velocities, contacts, [0.0; 3]);
        resize(&mut self.loads, contacts, 0.0);
        resize(&mut self.impulses, contacts, [0.0; 3]);
        resize(&mut self.regions, contacts, Region::NoContact);
        resize(&mut self.row_velocities, rows, 0.0);
        resize(&mut self.row_impulses, rows, 0.0);
    }

    /// Everything but the gradient at the velocities `self.v`.
    pub(in crate::compliant) fn evaluate_at_v(&mut self, island: &Island) {
        self.refresh(island);
        self.evaluate_terms(island);
    }

    /// Recomputes from `v` what steps have added up.
    pub(in crate::compliant) fn refresh(&mut self, island: &Island) {
        island.contact_velocities(&self.v, &mut self.contact_velocities);
        island.row_velocities(&self.v, &mut self.row_velocities);
        // The gradient is free here: it holds v − v*.
        for ((difference, v), free) in self.gradient.iter_mut().zip(&self.v).zip(&island.free) {
            *difference = v - free;
        }
        island.inertia_times(&self.gradient, &mut self.momentum);
    }

    /// Takes the loads of the velocities that are there, and all that follows.
    pub(in crate::compliant) fn take_loads(&mut self, island: &Island) {
        for (contact, load) in island.contacts.iter().zip(&mut self.loads) {
            let of = contact.load_of;
            *load = island.contacts[of].law.load(&self.contact_velocities[of]);
        }
        self.evaluate_terms(island);
        self.evaluate_gradient(island);
    }

    /// Takes other loads, and all that follows.
    pub(in crate::compliant) fn hold_loads(&mut self, island: &Island, held: &[f64]) {
        self.loads.copy_from_slice(held);
        self.evaluate_terms(island);
        self.evaluate_gradient(island);
    }

    /// Everything at the velocities of `from`, moved by a length along a direction, with their own
    /// loads.
    pub(in crate::compliant) fn evaluate_moved(
        &mut self,
        island: &Island,
        from: &Self,
        direction: &Direction,
        length: f64,
    ) {
        self.v.copy_from_slice(&from.v);
        self.momentum.copy_from_slice(&from.momentum);
        self.contact_velocities
            .copy_from_slice(&from.contact_velocities);
        self.row_velocities.copy_from_slice(&from.row_velocities);
        self.advance(direction, length);
        self.take_loads(island);
    }

    /// Impulses, regions and cost from the velocities of the terms.
    pub(in crate::compliant) fn evaluate_terms(&mut self, island: &Island) {
        let mut terms = 0.0;
        for (i, contact) in island.contacts.iter().enumerate() {
            let ContactPoint {
                region,
                impulse,
                cost,
            } = contact
                .law
                .held(self.loads[i])
                .evaluate_held(&self.contact_velocities[i]);
            self.regions[i] = region;
            self.impulses[i] = impulse;
            terms += cost;
        }
        for (i, row) in island.rows.iter().enumerate() {
            let (impulse, cost) = row.law.evaluate(self.row_velocities[i]);
            self.row_impulses[i] = impulse;
            terms += cost;
        }
        let mut inertial = 0.0;
        for ((v, free), momentum) in self.v.iter().zip(&island.free).zip(&self.momentum) {
            inertial += (v - free) * momentum;
        }
        self.cost = 0.5 * inertial + terms;
    }

    /// The gradient from momentum and impulses.
    pub(in crate::compliant) fn evaluate_gradient(&mut self, island: &Island) {
        island.generalised_impulse(&self.impulses, &self.row_impulses, &mut self.generalised);
        let parts = self.momentum.iter().zip(&self.generalised);
        for (gradient, (momentum, impulse)) in self.gradient.iter_mut().zip(parts) {
            *gradient = momentum - impulse;
        }
    }

    /// Goes a length along a direction.
    pub(in crate::compliant) fn advance(&mut self, direction: &Direction, length: f64) {
        let add = |to: &mut [f64], from: &[f64]| {
            for (x, dx) in to.iter_mut().zip(from) {
                *x += length * dx;
            }
        };
        add(&mut self.v, &direction.dv);
        add(&mut self.momentum, &direction.momentum);
        add(
            self.contact_velocities.as_flattened_mut(),
            direction.contact_velocities.as_flattened(),
        );
        add(&mut self.row_velocities, &direction.row_velocities);
    }
}

impl Direction {
    /// Takes the size of an island.
    pub(in crate::compliant) fn resize(&mut self, island: &Island) {
        resize(&mut self.dv, island.dof(), 0.0);
        resize(&mut self.momentum, island.dof(), 0.0);
        resize(
            &mut self.contact_velocities,
            island.contacts.len(),
            [0.0; 3],
        );
        resize(&mut self.row_velocities, island.rows.len(), 0.0);
    }

    /// Everything from `dv`.
    pub(in crate::compliant) fn evaluate(&mut self, island: &Island, iterate: &Iterate) {
        island.inertia_times(&self.dv, &mut self.momentum);
        island.contact_velocities(&self.dv, &mut self.contact_velocities);
        island.row_velocities(&self.dv, &mut self.row_velocities);
        self.slope = crate::linalg::dot(&self.dv, &iterate.momentum);
        self.curvature = crate::linalg::dot(&self.dv, &self.momentum);
    }
}
