//! The saltation matrix of a single crossing (Pace & Burden, item 10 of the proof; Burden et al.,
//! SIADS 15 (2016), eq. 66; Aizerman & Gantmakher 1958).

use nalgebra::{DMatrix, DVector};

use super::check::jacobian::{SystemAt, check_derivative};
use super::context::Context;
use super::corner::explorer::Explorer;
use super::corner::graph::CornerPoint;
use crate::hybrid::System;
use crate::hybrid::evaluate::Point;
use crate::{EventFunction, Flow, Guard, InputError, Interrupt, Mode, NoDerivative, Rearm};

/// The effect of a single crossing on displacements of the state, to first order.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Saltation {
    /// `Ξ`, `d × d`: a displacement `δ` at fixed time just before the crossing is `Ξ δ` just after
    /// it.
    pub matrix: DMatrix<f64>,
    /// Row of the time shift: the crossing comes `time_shift · δ` later (s per unit of the state).
    pub time_shift: DVector<f64>,
    /// State after the reset.
    pub state: DVector<f64>,
    /// Mode after.
    pub mode: Mode,
}

/// The saltation matrix of `guard`, crossed alone at `(t, x)` from `mode`:
///
/// ```text
///     Ξ = D_x R + (F⁺ − D_x R F⁻ − D_t R) D_x h / (D_x h F⁻ + D_t h)
/// ```
///
/// `F⁻` is the field before, `F⁺` the field after in the mode that follows; `R` is the reset
/// [`EventFunction::on_crossing`], the identity for an event-selected system. It includes guards
/// that the reset carries the state across, and the way back over this guard where the reset throws
/// the state back. Derivatives of `h` and `R` are those that the user wrote, or else differences.
/// Guards are re-armed as under [`Rearm::Pairs`]. The value of `h` is not checked: `x` is taken to
/// lie on the guard.
///
/// ```
/// use saltation::{Guard, Mode, derivative::saltation_matrix, models::Affine};
/// // Behind y = 0 the field of the affine test turns the other way: (1, 1, ·) on both sides at the origin.
/// let s = saltation_matrix(&Affine::default(), Guard::rising(0), 0.0, &[0.0, 0.0, 0.1], &Mode::new(3))?;
/// // Behind x = 0 with y < 0 it is (1, 2, ·): dy jumps by 1 for each unit of dx, as the crossing comes sooner.
/// assert_eq!(s.matrix[(1, 0)], 1.0);
/// assert_eq!(s.time_shift[0], -1.0);
/// # Ok::<(), saltation::Error>(())
/// ```
///
/// # Errors
/// [`InputError::EmptySystem`], [`InputError::WrongLength`], [`InputError::NotFinite`] and
/// [`InputError::NoSuch`] for bad input; [`Stop::NotLive`](crate::Stop::NotLive) when the guard
/// does not move across at its least rate; [`Stop::NotFinite`](crate::Stop::NotFinite),
/// [`Stop::Model`](crate::Stop::Model) and [`NoDerivative::NotRepeatable`] by the model.
pub fn saltation_matrix<S>(
    system: &S,
    guard: Guard,
    t: f64,
    x: &[f64],
    mode: &Mode,
) -> Result<Saltation, NoDerivative>
where
    S: Flow + EventFunction + ?Sized,
{
    saltation_product(system, &[guard], t, x, mode)
}

/// The product of the saltation matrices of several guards met at one instant and crossed in the
/// given order, each in the mode and the state that the one before left: `Ξ = Ξ_n ⋯ Ξ_1`, the map
/// of the piece of directions that meet them so (Pace & Burden, eq. 40). The time shift is that of
/// the last guard. A guard may appear again where resets throw the state back at it.
///
/// # Errors
/// As [`saltation_matrix`]; [`InputError::NoSuch`] also for a crossing of the order that does not
/// occur: a reset keeps the guard from being met, or does not throw the state back at a guard that
/// appears again.
pub fn saltation_product<S>(
    system: &S,
    order: &[Guard],
    t: f64,
    x: &[f64],
    mode: &Mode,
) -> Result<Saltation, NoDerivative>
where
    S: Flow + EventFunction + ?Sized,
{
    let system: &dyn System = &system;
    let point = Point { t, x, mode };
    SystemAt::new(system, point)?;
    let count = mode.len();
    if let Some(&guard) = order.iter().find(|guard| guard.event >= count) {
        return Err(NoDerivative::Input(InputError::NoSuch {
            what: "event function",
            index: guard.event,
            count,
        }));
    }
    let context = Context {
        system,
        rearm: &Rearm::Pairs,
        tolerance: 0.0,
        settings: None,
        interrupt: &Interrupt::new(),
    };
    let mut explorer = Explorer::new(x.len(), mode).one_by_one();
    explorer.begin(context, &point_of(order, point))?;
    let mut matrix = DMatrix::identity(x.len(), x.len());
    let (mut node, mut time_shift) = (0, DVector::zeros(x.len()));
    for (place, &guard) in order.iter().enumerate() {
        explorer.graph().check_live(system, node)?;
        let Some(m) = explorer.graph().member(node, guard) else {
            return Err(NoDerivative::Input(InputError::NoSuch {
                what: "crossing of the order",
                index: place,
                count: place,
            }));
        };
        let (edge, tau) = explorer.cross(context, (node, m), &mut matrix)?;
        (node, time_shift) = (explorer.graph().edge(edge).to, tau);
        // A state that the reset throws back leaves the surface at once.
        if let Some(back) = explorer.graph().member(node, guard.partner()) {
            let (edge, _) = explorer.cross(context, (node, back), &mut matrix)?;
            node = explorer.graph().edge(edge).to;
        }
    }
    check_derivative(matrix.as_slice(), x.len(), point)?;
    check_derivative(time_shift.as_slice(), x.len(), point)?;
    let after = explorer.graph().node(node);
    Ok(Saltation {
        matrix,
        time_shift,
        state: DVector::from_column_slice(after.x),
        mode: after.mode.clone(),
    })
}

/// The corner at which the guards of `order` are met. One that comes again is found again when a
/// reset has thrown the state at it.
fn point_of(order: &[Guard], Point { t, x, mode }: Point<'_>) -> CornerPoint {
    let mut guards: Vec<Guard> = Vec::with_capacity(order.len());
    for guard in order {
        if !guards.contains(guard) {
            guards.push(*guard);
        }
    }
    CornerPoint {
        t,
        x: x.to_vec(),
        mode: mode.clone(),
        guards,
        ..CornerPoint::default()
    }
}
