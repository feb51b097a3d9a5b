//! Plane geometry of pictures: convex hulls, and lines cut at a frame.

pub(crate) type Place = (f64, f64);

/// The corners of the convex hull, around; fewer than three where the points lie on a line.
pub(crate) fn hull(mut points: Vec<Place>) -> Vec<Place> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    points.dedup();
    let size = points
        .iter()
        .fold(0.0_f64, |most, p| most.max(p.0.abs()).max(p.1.abs()));
    let turns_left = |a: Place, b: Place, c: Place| {
        let cross = (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0);
        cross > 1e-12 * size * size
    };
    let chain = |points: &mut dyn Iterator<Item = Place>| {
        let mut chain: Vec<Place> = Vec::new();
        for point in points {
            while chain.len() >= 2
                && !turns_left(chain[chain.len() - 2], chain[chain.len() - 1], point)
            {
                chain.pop();
            }
            chain.push(point);
        }
        chain.pop();
        chain
    };
    let mut corners = chain(&mut points.iter().copied());
    corners.extend(chain(&mut points.iter().rev().copied()));
    if corners.is_empty() { points } else { corners }
}

/// The part of a line within a frame, given by least and greatest coordinates.
pub(crate) fn clip([from, to]: [Place; 2], low: Place, high: Place) -> Option<[Place; 2]> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (mut start, mut end) = (0.0_f64, 1.0_f64);
    for (at, step, low, high) in [(from.0, dx, low.0, high.0), (from.1, dy, low.1, high.1)] {
        if step == 0.0 {
            if at < low || at > high {
                return None;
            }
            continue;
        }
        let ends = [(low - at) / step, (high - at) / step];
        start = start.max(ends[0].min(ends[1]));
        end = end.min(ends[0].max(ends[1]));
    }
    let at = |s: f64| (from.0 + s * dx, from.1 + s * dy);
    (start <= end).then(|| [at(start), at(end)])
}
