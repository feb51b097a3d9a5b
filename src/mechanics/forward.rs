//! References and smart pointers to mechanical systems are mechanical systems: every method is
//! handed on.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::{MechanicalSystem, UnilateralConstraints};

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<P: MechanicalSystem + ?Sized> MechanicalSystem for $pointer {
            #[inline]
            fn dof(&self) -> usize {
                (**self).dof()
            }
            #[inline]
            fn coordinates(&self) -> usize {
                (**self).coordinates()
            }
            #[inline]
            fn configuration_rate(&self, q: &[f64], v: &[f64], rate: &mut [f64]) -> bool {
                (**self).configuration_rate(q, v, rate)
            }
            #[inline]
            fn project_configuration(&self, q: &mut [f64]) -> bool {
                (**self).project_configuration(q)
            }
            #[inline]
            fn mass(&self, q: &[f64], mass: &mut [f64]) {
                (**self).mass(q, mass);
            }
            #[inline]
            fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
                (**self).effort(t, q, v, effort);
            }
            #[inline]
            fn effort_along(&self, at: (f64, &[f64], &[f64]), directions: &[f64], out: &mut [f64]) -> bool {
                (**self).effort_along(at, directions, out)
            }
            #[inline]
            fn springs_and_dampers(&self, at: (f64, &[f64], &[f64]), stiffness: &mut [f64], damping: &mut [f64]) -> bool {
                (**self).springs_and_dampers(at, stiffness, damping)
            }
            #[inline]
            fn contact_effort(&self, at: (f64, &[f64], &[f64]), closed: &[usize], effort: &mut [f64]) -> bool {
                (**self).contact_effort(at, closed, effort)
            }
            #[inline]
            fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
                (**self).coriolis(q, v, force)
            }
            #[inline]
            fn kinetic_gradient(&self, q: &[f64], v: &[f64], gradient: &mut [f64]) -> bool {
                (**self).kinetic_gradient(q, v, gradient)
            }
            #[inline]
            fn trees(&self) -> usize {
                (**self).trees()
            }
            #[inline]
            fn tree(&self, i: usize) -> Range<usize> {
                (**self).tree(i)
            }
            #[inline]
            fn tree_mass(&self, i: usize, q: &[f64], mass: &mut [f64]) {
                (**self).tree_mass(i, q, mass);
            }
            #[inline]
            fn constant_mass(&self) -> bool {
                (**self).constant_mass()
            }
            #[inline]
            fn time_scale(&self) -> Option<f64> {
                (**self).time_scale()
            }
            #[inline]
            fn potential(&self, q: &[f64]) -> Option<f64> {
                (**self).potential(q)
            }
        }

        impl<P: UnilateralConstraints + ?Sized> UnilateralConstraints for $pointer {
            #[inline]
            fn contacts(&self) -> usize {
                (**self).contacts()
            }
            #[inline]
            fn gap(&self, j: usize, q: &[f64]) -> f64 {
                (**self).gap(j, q)
            }
            #[inline]
            fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
                (**self).gap_row(j, q, row)
            }
            #[inline]
            fn constant_row(&self, j: usize) -> bool {
                (**self).constant_row(j)
            }
            #[inline]
            fn curvature(&self, j: usize, q: &[f64], v: &[f64]) -> Option<f64> {
                (**self).curvature(j, q, v)
            }
            #[inline]
            fn restitution(&self, j: usize, q: &[f64], v: &[f64]) -> f64 {
                (**self).restitution(j, q, v)
            }
            #[inline]
            fn stiffness(&self, j: usize) -> f64 {
                (**self).stiffness(j)
            }
            #[inline]
            fn dissipation_time(&self, j: usize) -> f64 {
                (**self).dissipation_time(j)
            }
            #[inline]
            fn friction(&self, j: usize) -> f64 {
                (**self).friction(j)
            }
            #[inline]
            fn tangents(&self, j: usize) -> usize {
                (**self).tangents(j)
            }
            #[inline]
            fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
                (**self).tangent_rows(j, q, rows);
            }
        }
    )*};
}

forward!(&P, Box<P>, Rc<P>, Arc<P>);
