//! The methods of systems as tables, from which wrappers hand them on: references and smart
//! pointers here, others beside their types. A method that is new in a trait is added to its table.

use std::rc::Rc;
use std::sync::Arc;

use crate::{EventFunction, Flow};

/// `hand_on!(self => target; name(arguments) -> value; …)`: methods, each handed on to `target`.
macro_rules! hand_on {
    ($self:ident => $target:expr; $($name:ident($($arg:ident: $type:ty),*) $(-> $value:ty)?;)+) => {$(
        #[inline]
        fn $name(&$self, $($arg: $type),*) $(-> $value)? {
            $target.$name($($arg),*)
        }
    )+};
}

/// `flow_methods!(self => target, groups)`: methods of `Flow`. A wrapper writes the groups that it
/// leaves out.
macro_rules! flow_methods {
    (@constants $($to:tt)+) => { $crate::model::forward::hand_on! { $($to)+;
        validate() -> Result<(), $crate::InputError>;
        flow_time_scale() -> Option<f64>;
    }};
    (@motion $($to:tt)+) => { $crate::model::forward::hand_on! { $($to)+;
        dim() -> usize;
        flow(t: f64, x: &[f64], mode: &$crate::Mode, dx: &mut [f64]);
        flip(t: f64, x: &[f64], mode: &$crate::Mode, k: usize, dx: &mut [f64]) -> bool;
        correct(t: f64, x: &mut [f64], mode: &$crate::Mode) -> bool;
    }};
    (@clock $($to:tt)+) => { $crate::model::forward::hand_on! { $($to)+;
        until_switch(t: f64, x: &[f64], mode: &$crate::Mode, step: f64, places: usize) -> f64;
    }};
    (@derivatives $($to:tt)+) => { $crate::model::forward::hand_on! { $($to)+;
        jacobian_times(t: f64, x: &[f64], mode: &$crate::Mode, v: &[f64], out: &mut [f64]) -> bool;
        jacobian_times_each(t: f64, x: &[f64], mode: &$crate::Mode, v: &[f64], out: &mut [f64]) -> bool;
    }};
    ($self:ident => $target:expr, $($group:ident)+) => {
        $($crate::model::forward::flow_methods! { @$group $self => $target })+
    };
}

/// `event_methods!(self => target, groups)`: methods of `EventFunction`, likewise.
macro_rules! event_methods {
    (@constants $($to:tt)+) => { $crate::model::forward::hand_on! { $($to)+;
        count() -> usize;
        flags() -> usize;
        watch(k: usize) -> $crate::Watch;
        min_rate(k: usize) -> Option<f64>;
        event_tolerance(k: usize) -> f64;
        crosses_within(k: usize) -> f64;
        admissible(k: usize, mode: &$crate::Mode) -> std::ops::RangeInclusive<f64>;
        time_scale(k: usize) -> Option<f64>;
        is_affine(k: usize) -> bool;
        max_rate(k: usize) -> Option<f64>;
        ignores_mode() -> bool;
        resets() -> bool;
    }};
    (@values $($to:tt)+) => { $crate::model::forward::hand_on! { $($to)+;
        event(k: usize, t: f64, x: &[f64], mode: &$crate::Mode) -> f64;
        events(t: f64, x: &[f64], mode: &$crate::Mode, h: &mut [f64]);
    }};
    (@derivatives $($to:tt)+) => { $crate::model::forward::hand_on! { $($to)+;
        gradient(k: usize, t: f64, x: &[f64], mode: &$crate::Mode, dh: &mut [f64]) -> Option<f64>;
        writes_row_differences(k: usize, x: &[f64], mode: &$crate::Mode) -> bool;
        writes_reset_differences() -> bool;
        reset_times(t: f64, crossed: &$crate::Crossed<'_>, x: &[f64], mode: &$crate::Mode, along: $crate::Displacement<'_>, out: &mut [f64]) -> bool;
        reset_times_each(t: f64, crossed: &$crate::Crossed<'_>, x: &[f64], mode: &$crate::Mode, along: $crate::Displacement<'_>, out: &mut [f64]) -> bool;
    }};
    (@crossing $($to:tt)+) => { $crate::model::forward::hand_on! { $($to)+;
        on_crossing(crossing: &mut $crate::Crossing<'_>) -> Result<(), $crate::Stop>;
    }};
    ($self:ident => $target:expr, $($group:ident)+) => {
        $($crate::model::forward::event_methods! { @$group $self => $target })+
    };
}

pub(crate) use {event_methods, flow_methods, hand_on};

macro_rules! pointers {
    ($($pointer:ty),+) => {$(
        impl<P: Flow + ?Sized> Flow for $pointer {
            flow_methods! { self => (**self), constants motion clock derivatives }
        }
        impl<P: EventFunction + ?Sized> EventFunction for $pointer {
            event_methods! { self => (**self), constants values derivatives crossing }
        }
    )+};
}

pointers!(&P, Box<P>, Rc<P>, Arc<P>);
