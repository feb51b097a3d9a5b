//! The image of a small circle of displacements through a corner of three guards.

use std::f64::consts::TAU;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use nalgebra::{DMatrix, Vector3};
use plotters::prelude::{Circle as Dot, *};
use saltation::derivative::{Derivative, Piece};
use saltation::models::FieldTable;
use saltation::{Error, Guard, InputError, Integrator, Run, Start};

use crate::common::chart::{Area, Chart, Key, PALETTE, chart, grey, headline, picture, text};
use crate::common::flags::Outcome;
use crate::{linear, span};

/// A colour for each order of three guards.
const COLOURS: [RGBColor; 6] = [
    PALETTE[1], PALETTE[3], PALETTE[2], PALETTE[5], PALETTE[7], PALETTE[6],
];
const OURS: RGBColor = PALETTE[0];
const NAIVE: RGBColor = grey(150);
/// All guards are met at once at time 0.1.
const START: [f64; 3] = [-0.1; 3];
const TF: f64 = 0.2;
/// How far the cones and the axes of the left panel reach, in radii.
const REACH: f64 = 1.55;

/// What is displaced by how much.
pub(crate) struct Circle {
    pub(crate) radius: f64,
    /// Displaced starts on the circle.
    pub(crate) points: u32,
}

/// A displaced start that was integrated.
struct Displaced {
    angle: f64,
    /// Displacement of the end, in radii.
    end: [f64; 2],
    /// The order in which it crossed the guards.
    order: String,
}

/// The part of the circle that lies in one cone.
struct Arc {
    angles: Range<f64>,
    order: String,
    colour: RGBColor,
}

/// All that the picture shows.
struct Image {
    derivative: Derivative<FieldTable>,
    arcs: Vec<Arc>,
    /// The matrix for guard 0, then 1, then 2, whatever the direction.
    index_order: DMatrix<f64>,
    displaced: Vec<Displaced>,
}

/// Three coordinates run at speed 1, and a guard is where one of them passes 0. Once one of them
/// has, the other two run at speed 4 until the next has: a strong dependence on the order, for
/// kinks that can be seen. Fields are constant, so that the B-derivative is exact for displacements
/// of any size.
fn integrator() -> Result<Integrator<FieldTable>, InputError> {
    let fields = DMatrix::from_fn(3, 8, |k, word: usize| {
        let only_one = word.is_power_of_two();
        if only_one && word >> k & 1 == 0 {
            4.0
        } else {
            1.0
        }
    });
    Integrator::new(FieldTable::new(DMatrix::identity(3, 3), &[0.0; 3], fields)?)
}

/// Displacement of the start by one radius, in the plane of `x` and `y`, which all six cones cut.
fn towards(angle: f64) -> [f64; 3] {
    [angle.cos(), angle.sin(), 0.0]
}

/// Guards by their numbers.
fn named(order: impl IntoIterator<Item = Guard>) -> String {
    let numbers: Vec<String> = order.into_iter().map(|g| g.event.to_string()).collect();
    numbers.join("-")
}

impl Circle {
    /// Prints the pieces and draws the picture.
    pub(crate) fn report(&self, folder: &Path, out: &mut dyn Write) -> Outcome<PathBuf> {
        let mut integrator = integrator()?;
        let derivative = integrator.derivative(&Start::at(0.0).x(&START), TF)?;
        let pieces = derivative.pieces()?;
        let index_order = pieces.iter().find(|piece| order(piece) == "0-1-2");
        let image = Image {
            arcs: arcs(&pieces),
            displaced: self.displaced(derivative.run())?,
            index_order: index_order
                .ok_or("no direction meets 0-1-2")?
                .matrix
                .clone(),
            derivative,
        };
        self.write(&image, pieces.len(), out)?;
        draw(folder, &image)
    }

    /// The displaced starts, each integrated on its own.
    fn displaced(&self, run: &Run) -> Result<Vec<Displaced>, Error> {
        let mut integrator = integrator()?;
        (0..self.points)
            .map(|i| {
                // by halves, to keep off the borders of cones, on which orders are ties
                let angle = TAU * (f64::from(i) + 0.5) / f64::from(self.points);
                let (mut start, v) = (START, towards(angle));
                for (x, v) in start.iter_mut().zip(v) {
                    *x += self.radius * v;
                }
                let other = integrator.integrate(&Start::at(0.0).x(&start), TF)?;
                let end = (other.state() - run.state()) / self.radius;
                let order = named(other.crossings().iter().map(|crossing| crossing.guard));
                let end = [end[0], end[1]];
                Ok(Displaced { angle, end, order })
            })
            .collect()
    }

    fn write(&self, image: &Image, pieces: usize, out: &mut dyn Write) -> Outcome<()> {
        writeln!(
            out,
            "displaced by {:e} in the plane of x and y, three guards at once, to t = {TF}: {pieces} pieces\n",
            self.radius
        )?;
        writeln!(
            out,
            "order    from    to [deg]   starts that took it   greatest error [radii]: B(v)   index order"
        )?;
        for arc in &image.arcs {
            let (mut count, mut greatest) = (0, [f64::NAN; 2]);
            for start in image.displaced.iter().filter(|d| d.order == arc.order) {
                count += 1;
                for (greatest, found) in greatest.iter_mut().zip(image.at(start.angle)?) {
                    let error = (found[0] - start.end[0]).hypot(found[1] - start.end[1]);
                    *greatest = greatest.max(error);
                }
            }
            // 0.0 is added because a border may be −0
            let degrees = |angle: f64| (angle.to_degrees() * 10.0).round() / 10.0 + 0.0;
            let (from, to) = (degrees(arc.angles.start), degrees(arc.angles.end));
            let ([ours, naive], order) = (greatest, &arc.order);
            writeln!(
                out,
                "{order}  {from:>6.1}  {to:>10.1}  {count:>20}  {ours:>28.1e}  {naive:>12.1e}"
            )?;
        }
        Ok(())
    }
}

impl Image {
    /// Displacement of the end, in radii, for a displacement of the start at this angle: as the
    /// B-derivative has it, and as the matrix of the index order has it.
    fn at(&self, angle: f64) -> Result<[[f64; 2]; 2], Error> {
        let v = towards(angle);
        let ours = self.derivative.apply(&v)?;
        let naive = &self.index_order * Vector3::from(v);
        Ok([[ours[0], ours[1]], [naive[0], naive[1]]])
    }

    fn colour(&self, order: &str) -> RGBColor {
        let arc = self.arcs.iter().find(|arc| arc.order == order);
        arc.map_or(OURS, |arc| arc.colour)
    }
}

/// The order of the guards in the first cone of a piece.
fn order(piece: &Piece) -> String {
    named(
        piece
            .cones
            .iter()
            .take(1)
            .flat_map(|cone| cone.orders.concat()),
    )
}

/// Goes round the circle from border to border of the cones.
fn arcs(pieces: &[Piece]) -> Vec<Arc> {
    const CELLS: i32 = 360;
    let inside = |angle: f64| {
        pieces
            .iter()
            .position(|piece| piece.contains(&towards(angle)))
    };
    // From below 0, so that no arc is cut in two at 360 degrees.
    let angle = |cell: i32| (f64::from(cell) - 22.75).to_radians();
    let borders: Vec<f64> = (0..CELLS)
        .filter_map(|cell| {
            let (mut low, mut high) = (angle(cell), angle(cell + 1));
            let piece = inside(low);
            if piece == inside(high) {
                return None;
            }
            while high - low > 1e-9 {
                let middle = f64::midpoint(low, high);
                if inside(middle) == piece {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            Some(high)
        })
        .collect();
    let next = borders.iter().skip(1).copied();
    let ends = next.chain(borders.first().map(|first| first + TAU));
    let arc = |((&start, end), &colour): ((&f64, f64), &RGBColor)| {
        let piece = pieces.get(inside(f64::midpoint(start, end))?)?;
        let (angles, order) = (start..end, order(piece));
        Some(Arc {
            angles,
            order,
            colour,
        })
    };
    borders
        .iter()
        .zip(ends)
        .zip(COLOURS.iter().cycle())
        .filter_map(arc)
        .collect()
}

/// Angles from end to end, a degree apart or a little less.
fn along(angles: &Range<f64>) -> impl Iterator<Item = f64> + use<> {
    let (start, length) = (angles.start, angles.end - angles.start);
    let cells = length.to_degrees().ceil().max(1.0);
    let shares = std::iter::successors(Some(0.0), move |i| (i + 1.0 <= cells).then_some(i + 1.0));
    shares.map(move |i| start + length * i / cells)
}

fn draw(folder: &Path, image: &Image) -> Outcome<PathBuf> {
    let keys = [
        (
            30,
            Key::new(
                "displaced starts, integrated; coloured by order",
                PALETTE[1],
                (0, 18),
            ),
        ),
        (870, Key::new("B(v)", OURS, (60, 6))),
        (
            1100,
            Key::new("saltation matrices in the order 0-1-2", NAIVE, (60, 6)),
        ),
    ];
    let title =
        "A circle of displacements through a corner of three guards: six orders, six linear pieces";
    // Both panels are 900 wide: their plots are squares, and equal ranges give equal scales.
    picture(folder, "corner_derivative.svg", 926, |area| {
        let (left, right) = headline(area, title, &keys)?.split_horizontally(900);
        draw_start(&left, image)?;
        draw_end(&right, image)
    })
}

fn draw_start(area: &Area, image: &Image) -> Outcome<()> {
    let x = linear::axis("displacement of x at the start [radii]", -REACH..REACH, 6);
    let y = linear::axis("displacement of y at the start [radii]", -REACH..REACH, 6);
    let mut chart = chart(area, x, y)?;
    let at = |radius: f64, angle: f64| (radius * angle.cos(), radius * angle.sin());
    for arc in &image.arcs {
        let rim = along(&arc.angles).map(|angle| at(1.0, angle));
        let wedge: Vec<_> = std::iter::once((0.0, 0.0)).chain(rim).collect();
        chart.draw_series([Polygon::new(wedge, arc.colour.mix(0.2))])?;
        let border = [(0.0, 0.0), at(1.15, arc.angles.start)];
        chart.draw_series(LineSeries::new(border, grey(90).stroke_width(3)))?;
        let middle = f64::midpoint(arc.angles.start, arc.angles.end);
        let label = Text::new(arc.order.clone(), (-38, 0), text(30, arc.colour));
        chart.draw_series([EmptyElement::at(at(1.32, middle)) + label])?;
    }
    dots(&mut chart, image, |displaced| at(1.0, displaced.angle))
}

fn draw_end(area: &Area, image: &Image) -> Outcome<()> {
    let (mut ours, mut naive) = (Vec::new(), Vec::new());
    for angle in image.arcs.iter().flat_map(|arc| along(&arc.angles)) {
        let [[x, y], [u, w]] = image.at(angle)?;
        ours.push((x, y));
        naive.push((u, w));
    }
    let shown = || ours.iter().chain(&naive);
    let (wide, high) = (
        span(shown().map(|p| p.0), 0.06),
        span(shown().map(|p| p.1), 0.06),
    );
    // A square around both.
    let half = (wide.end - wide.start).max(high.end - high.start) / 2.0;
    let around = |range: &Range<f64>| {
        let middle = f64::midpoint(range.start, range.end);
        middle - half..middle + half
    };
    let x = linear::axis("displacement of x at the end [radii]", around(&wide), 6);
    let y = linear::axis("displacement of y at the end [radii]", around(&high), 6);
    let mut chart = chart(area, x, y)?;
    chart.draw_series(LineSeries::new(naive, NAIVE.stroke_width(6)))?;
    chart.draw_series(LineSeries::new(ours, OURS.stroke_width(4)))?;
    dots(&mut chart, image, |displaced| displaced.end.into())
}

/// The displaced starts, in the colours of the orders that they took.
fn dots(chart: &mut Chart, image: &Image, at: impl Fn(&Displaced) -> (f64, f64)) -> Outcome<()> {
    chart.draw_series(image.displaced.iter().map(|displaced| {
        let colour = image.colour(&displaced.order);
        Dot::new(at(displaced), 8, colour.filled())
    }))?;
    Ok(())
}
