//! Runs with their pages, and a reader of pages that shares nothing with the writer.

use saltation::bodies::Scene;
use saltation::models::{BouncingBall, Clutter, Hopper};
use saltation::{Compliant, ContactModel, EventDriven, Integrator, Page, Run, Start};
use serde_json::Value;

/// Twenty bodies that fall into a heap, for ten seconds.
pub(crate) fn heap() -> (Scene, Compliant<Scene>, Run) {
    let clutter = Clutter {
        bodies: 20,
        ..Clutter::default()
    };
    let scene = clutter.scene().unwrap();
    let (q, v) = scene.start();
    let mut stepper = Compliant::new(scene.clone()).unwrap().time_step(0.01);
    let start = Start::at(0.0).q(&q).v(&v);
    let run = stepper.integrate(&start, 10.0).unwrap();
    (scene, stepper, run.completed().unwrap())
}

/// A ball that bounces, whose velocity jumps.
pub(crate) fn ball() -> Run {
    let model = ContactModel::new(BouncingBall::default());
    let start = Start::at(0.0).q(&[1.0]).v(&[0.0]);
    let mut driver = EventDriven::new(model).unwrap();
    driver.integrate(&start, 2.0).unwrap().completed().unwrap()
}

/// A ball, drawn as a diamond over a floor.
pub(crate) fn ball_page(run: &Run) -> Page<'_> {
    let names = ["height [m]", "speed [m/s]"];
    let page = Page::new(run, 60.0).unwrap().title("A ball").names(&names);
    let drawn = page.unwrap().drawn(|_t, state, pen| {
        let z = state[0];
        pen.line(&[[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0]]);
        let [low, right, left] = [[0.0, 0.0, z], [0.1, 0.0, z + 0.1], [-0.1, 0.0, z + 0.1]];
        pen.line(&[low, right, [0.0, 0.0, z + 0.2], left, low]);
        pen.force([0.0, 0.0, z + 0.1], [0.0, 0.0, -9.81]);
    });
    drawn.unwrap()
}

/// A run of the core.
pub(crate) fn hopper() -> Run {
    let mut integrator = Integrator::new(Hopper::default()).unwrap();
    let start = Start::at(0.0).x(&[2.0, 0.0]);
    integrator.integrate(&start, 2.0).unwrap()
}

pub(crate) fn html(page: &Page<'_>) -> String {
    let mut html = Vec::new();
    page.write_html(&mut html).unwrap();
    String::from_utf8(html).unwrap()
}

/// The data of a page.
pub(crate) fn data(html: &str) -> Value {
    let (_, rest) = html.split_once("id=\"data\">").unwrap();
    let (data, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}

pub(crate) fn numbers(list: &Value) -> Vec<f64> {
    let list = list.as_array().unwrap().iter();
    list.map(|x| x.as_f64().unwrap()).collect()
}

/// Frames of numbers in the digits of source maps, each the difference to the frame before.
pub(crate) fn unpack(text: &Value) -> Vec<Vec<f64>> {
    let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut before: Vec<f64> = Vec::new();
    let mut frames = Vec::new();
    for frame in text.as_str().unwrap().split(' ') {
        let (mut numbers, mut number, mut factor) = (Vec::new(), 0.0, 1.0);
        for c in frame.chars() {
            let digit = digits.find(c).unwrap();
            number += (digit % 32) as f64 * factor;
            factor *= 32.0;
            if digit < 32 {
                let size = f64::floor(number / 2.0);
                let sign = if number > 2.0 * size { -1.0 } else { 1.0 };
                let last = before.get(numbers.len()).copied().unwrap_or(0.0);
                numbers.push(sign * size + last);
                (number, factor) = (0.0, 1.0);
            }
        }
        before.clone_from(&numbers);
        frames.push(numbers);
    }
    frames
}

/// The steps to which entries are rounded.
pub(crate) fn steps(data: &Value) -> Vec<f64> {
    let exponents = numbers(&data["exponents"]).into_iter();
    exponents.map(|e| 10f64.powf(e)).collect()
}

/// The times of all samples, to the same bits: `serde_json` rounds the last digit otherwise.
pub(crate) fn times(html: &str) -> Vec<f64> {
    let (_, rest) = html.split_once("\"times\":[").unwrap();
    let (list, _) = rest.split_once(']').unwrap();
    list.split(',').map(|t| t.parse().unwrap()).collect()
}

/// The states of all samples.
pub(crate) fn states(data: &Value) -> Vec<Vec<f64>> {
    let steps = steps(data);
    let scale = |frame: Vec<f64>| frame.iter().zip(&steps).map(|(n, step)| n * step).collect();
    unpack(&data["states"]).into_iter().map(scale).collect()
}

pub(crate) fn notes(data: &Value) -> String {
    data["notes"].to_string()
}
