//! Arrows.

use plotters::prelude::*;

use crate::common::chart::{Area, rounded};
use crate::common::flags::Outcome;

/// A line of the given width with a head that is `head` long, or shorter where the line is short;
/// nothing for a point.
pub(crate) fn arrow(
    area: &Area,
    [from, to]: [(i32, i32); 2],
    (width, head): (u32, f64),
    colour: RGBColor,
) -> Outcome<()> {
    let (dx, dy) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
    let length = dx.hypot(dy);
    if length < 8.0 {
        return Ok(());
    }
    let head = head.min(0.6 * length);
    let at = |along: f64, across: f64| {
        let x = f64::from(from.0) + (along * dx - across * dy) / length;
        let y = f64::from(from.1) + (along * dy + across * dx) / length;
        (rounded(x), rounded(y))
    };
    let neck = at(length - 0.8 * head, 0.0);
    area.draw(&PathElement::new([from, neck], colour.stroke_width(width)))?;
    let corners = vec![
        to,
        at(length - head, 0.42 * head),
        at(length - head, -0.42 * head),
    ];
    area.draw(&Polygon::new(corners, colour.filled()))?;
    Ok(())
}
