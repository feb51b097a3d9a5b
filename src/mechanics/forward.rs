//! The methods of mechanical systems as tables, from which wrappers hand them on: references and
//! smart pointers here, others beside their types.

use std::rc::Rc;
use std::sync::Arc;

use super::{MechanicalSystem, UnilateralConstraints};

/// `mechanical_methods!(self => target, groups)`: methods of `MechanicalSystem`, each handed on to
/// `target`. A wrapper writes the groups that it leaves out.
macro_rules! mechanical_methods {
    (@sizes $($to:tt)+) => { $crate::model::forward::hand_on! { $($to)+;
        dof() -> usize;
        coordinates() -> usize;
        trees() -> usize;
        tree(i: usize) -> std::ops::Range<usize>;
        driven() -> std::ops::Range<usize>;
    }};
    (@effort $($to:tt)+) => { $crate::model::forward::hand_on! { $($to)+;
        effort(t: f64, q: &[f64], v: &[f64], effort: &mut [f64]);
    }};
    (@motion $($to:tt)+) => { $crate::model::forward::hand_on! { $($to)+;
        configuration_rate(q: &[f64], v: &[f64], rate: &mut [f64]) -> bool;
        project_configuration(q: &mut [f64]) -> bool;
        mass(q: &[f64], mass: &mut [f64]);
        springs_and_dampers(at: $crate::mechanics::State<'_>, stiffness: &mut [f64], damping: &mut [f64]) -> bool;
        contact_effort(at: $crate::mechanics::State<'_>, closed: &[usize], effort: &mut [f64]) -> bool;
        tree_speed(i: usize, q: &[f64], v: &[f64]) -> f64;
        constant_mass() -> bool;
        time_scale() -> Option<f64>;
        potential(q: &[f64]) -> Option<f64>;
    }};
    (@derived $($to:tt)+) => { $crate::model::forward::hand_on! { $($to)+;
        effort_along(at: $crate::mechanics::State<'_>, directions: &[f64], out: &mut [f64]) -> bool;
        tree_mass(i: usize, q: &[f64], mass: &mut [f64]);
        coriolis(q: &[f64], v: &[f64], force: &mut [f64]) -> bool;
        kinetic_gradient(q: &[f64], v: &[f64], gradient: &mut [f64]) -> bool;
    }};
    ($self:ident => $target:expr, $($group:ident)+) => {
        $($crate::mechanics::forward::mechanical_methods! { @$group $self => $target })+
    };
}

/// `constraint_methods!(self => target, groups)`: methods of `UnilateralConstraints`, likewise.
macro_rules! constraint_methods {
    (@sizes $($to:tt)+) => { $crate::model::forward::hand_on! { $($to)+;
        contacts() -> usize;
        tangents(j: usize) -> usize;
    }};
    (@contacts $($to:tt)+) => { $crate::model::forward::hand_on! { $($to)+;
        gap(j: usize, q: &[f64]) -> f64;
        constant_row(j: usize) -> bool;
        restitution(j: usize, q: &[f64], v: &[f64]) -> f64;
        stiffness(j: usize) -> f64;
        dissipation_time(j: usize) -> f64;
        tangent_rows(j: usize, q: &[f64], rows: &mut [f64]);
        constant_tangents(j: usize) -> bool;
    }};
    (@friction $($to:tt)+) => { $crate::model::forward::hand_on! { $($to)+;
        friction(j: usize) -> f64;
        friction_at(j: usize, q: &[f64], speed: f64) -> Option<$crate::mechanics::Friction>;
    }};
    (@derived $($to:tt)+) => { $crate::model::forward::hand_on! { $($to)+;
        gap_row(j: usize, q: &[f64], row: &mut [f64]) -> bool;
        curvature(j: usize, q: &[f64], v: &[f64]) -> Option<f64>;
    }};
    ($self:ident => $target:expr, $($group:ident)+) => {
        $($crate::mechanics::forward::constraint_methods! { @$group $self => $target })+
    };
}

pub(crate) use {constraint_methods, mechanical_methods};

macro_rules! pointers {
    ($($pointer:ty),+) => {$(
        impl<P: MechanicalSystem + ?Sized> MechanicalSystem for $pointer {
            mechanical_methods! { self => (**self), sizes effort motion derived }
        }
        impl<P: UnilateralConstraints + ?Sized> UnilateralConstraints for $pointer {
            constraint_methods! { self => (**self), sizes contacts friction derived }
        }
    )+};
}

pointers!(&P, Box<P>, Rc<P>, Arc<P>);
