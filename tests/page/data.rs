//! What the data of a page says is what the run says.

use saltation::models::{BouncingBall, Clutter};
use saltation::prelude::*;
use saltation::{Page, Start};

use crate::reader::{
    ball, ball_page, data, heap, hopper, html, notes, numbers, states, steps, times, unpack,
};

/// The largest difference between the samples and the run, in steps of the rounding; of two samples at
/// one time the second is looked at.
fn worst(run: &Run, page: &Page<'_>) -> f64 {
    let html = html(page);
    let data = data(&html);
    let (times, states, steps) = (times(&html), states(&data), steps(&data));
    assert_eq!(times.len(), states.len());
    let mut worst: f64 = 0.0;
    for (k, &t) in times.iter().enumerate() {
        if times.get(k + 1) == Some(&t) {
            continue;
        }
        let expected = run.state_at(t).unwrap();
        assert_eq!(expected.len(), states[k].len());
        for (i, x) in expected.iter().enumerate() {
            worst = worst.max((x - states[k][i]).abs() / steps[i]);
        }
    }
    // The step is at most a millionth of the largest size of the entry at the samples.
    for (i, &step) in steps.iter().enumerate() {
        let largest = states.iter().fold(0.0, |most: f64, x| most.max(x[i].abs()));
        assert!(
            step <= 1.000001e-6 * largest || largest == 0.0,
            "{i}: {step} {largest}"
        );
    }
    worst
}

/// Half a step, and the rounding of a product of a million.
const HALF: f64 = 0.5 + 1e-8;

#[test]
fn samples_are_states_of_the_run_rounded_as_stated() {
    let (scene, _, run) = heap();
    let page = Page::new(&run, 60.0).unwrap().scene(&scene).unwrap();
    assert!(worst(&run, &page) <= HALF);
    let run = ball();
    assert!(worst(&run, &ball_page(&run)) <= HALF);
    let run = hopper();
    assert!(worst(&run, &Page::new(&run, 37.0).unwrap()) <= HALF);
}

/// Start, end and the times between them are samples, and so are both sides of each impact.
#[test]
fn jumps_are_shown_on_both_sides() {
    let run = ball();
    let html = html(&ball_page(&run));
    let data = data(&html);
    let (times, states) = (times(&html), states(&data));
    assert_eq!((times[0], times.last()), (0.0, Some(&2.0)));
    assert!(times.contains(&0.75) && times.is_sorted());
    assert_eq!(run.events().len(), 3);
    for event in run.events() {
        let k = times.iter().position(|&t| t == event.t).unwrap();
        assert_eq!(times[k + 1], event.t);
        // Rounded to 1e-6 m/s; restitution 0.8.
        assert!((states[k][1] - event.state_before[1]).abs() < 1e-6);
        assert!((states[k + 1][1] + 0.8 * event.state_before[1]).abs() < 1e-6);
    }
    let marks = data["marks"].as_array().unwrap();
    let expected: Vec<String> = run.events().iter().map(ToString::to_string).collect();
    let found: Vec<&str> = marks.iter().map(|mark| mark[2].as_str().unwrap()).collect();
    assert_eq!(found, expected);
    assert!(marks.iter().all(|mark| mark[1] == "closed"));
    assert!(notes(&data).contains("Status of the run: reached the end."));
}

#[test]
fn guards_of_the_core_are_marked() {
    let run = hopper();
    let data = data(&html(&Page::new(&run, 60.0).unwrap()));
    let marks = data["marks"].as_array().unwrap();
    assert_eq!(marks.len(), 4);
    for (mark, crossing) in marks.iter().zip(run.crossings()) {
        assert_eq!(
            mark[2],
            format!("{} s: guard {}", crossing.t, crossing.guard)
        );
        assert_eq!(mark[1], "guard");
    }
    assert_eq!(data["names"][1], "x1");
}

#[test]
fn drawn_points_are_those_of_the_model() {
    let run = ball();
    let data = data(&html(&ball_page(&run)));
    let drawing = &data["drawing"];
    let lines = unpack(&drawing["lines"]);
    let states = states(&data);
    assert_eq!(lines.len(), states.len());
    let step = 10f64.powf(drawing["length"].as_f64().unwrap());
    for (frame, state) in lines.iter().zip(&states) {
        // A line of two points, and one of five, the first of which is at the height.
        assert_eq!((frame[0], frame[7], frame.len()), (2.0, 5.0, 23));
        assert!((frame[10] * step - state[0]).abs() <= step);
    }
    let force = 10f64.powf(drawing["force"].as_f64().unwrap());
    let arrows = unpack(&drawing["arrows"]);
    assert!((arrows[7][5] * force + 9.81).abs() < 1e-5);
}

#[test]
fn no_name_ends_a_script() {
    let run = hopper();
    let name = "</script><script>alert(\"1\\2\")</script><!--\u{2028}\n\u{1}é";
    let page = Page::new(&run, 60.0).unwrap().title(name);
    let plain = html(&Page::new(&run, 60.0).unwrap());
    let html = html(&page.names(&[name, "b"]).unwrap());
    let count = |html: &str| html.to_lowercase().matches("<script").count();
    assert_eq!(count(&html), count(&plain));
    assert_eq!(
        html.matches("</script").count(),
        plain.matches("</script").count()
    );
    assert!(
        !html.contains("alert(\"") && html.matches("<!--").count() == plain.matches("<!--").count()
    );
    let data = data(&html);
    assert_eq!(data["title"], name);
    assert_eq!(data["names"][0], name);
}

#[test]
fn a_page_needs_nothing_else() {
    let html = html(&ball_page(&ball()));
    for outside in ["://", "src=", "href=", "url(", "import ", "fetch("] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert!(html.contains("default-src 'none'"));
}

#[test]
fn what_is_not_finite_is_refused() {
    let run = ball();
    for wrong in [f64::NAN, f64::INFINITY] {
        let page = || Page::new(&run, 60.0).unwrap();
        let line = page().drawn(|t, _, pen| {
            let x = if t > 0.1 { wrong } else { 0.0 };
            pen.line(&[[0.0; 3], [x, 0.0, 0.0]]);
        });
        // Samples from 0 s on, 60 a second: the seventh is the first beyond 0.1 s.
        assert!(matches!(
            line,
            Err(InputError::NotFinite {
                name: "drawn point",
                entry: 7,
                ..
            })
        ));
        let force = page().drawn(|_, _, pen| pen.force([0.0; 3], [0.0, wrong, 0.0]));
        assert!(matches!(
            force,
            Err(InputError::NotFinite {
                name: "force",
                entry: 0,
                ..
            })
        ));
        let point = page().drawn(|_, _, pen| pen.force([wrong, 0.0, 0.0], [0.0; 3]));
        assert!(matches!(point, Err(InputError::NotFinite { .. })));
        assert!(Page::new(&run, wrong).is_err());
    }
    assert!(Page::new(&run, 0.0).is_err() && Page::new(&run, -1.0).is_err());
    let names = Page::new(&run, 60.0).unwrap().names(&["one"]);
    assert!(matches!(
        names,
        Err(InputError::WrongLength {
            expected: 2,
            found: 1,
            ..
        })
    ));
    let other = Clutter::default().scene().unwrap();
    let scene = Page::new(&run, 60.0).unwrap().scene(&other);
    assert!(matches!(scene, Err(InputError::WrongLength { .. })));
    let many = Page::new(&run, 60.0)
        .unwrap()
        .drawn(|_, _, pen| pen.line(&vec![[0.0; 3]; 20_000]));
    assert!(matches!(many, Err(InputError::BadSetting { .. })));
}

#[test]
fn a_million_samples_are_thinned_and_the_page_says_so() {
    let run = ball();
    let text = html(&Page::new(&run, 5e5).unwrap());
    let data = data(&text);
    let times = numbers(&data["times"]);
    // 20,001 at one distance, and both sides of three impacts.
    assert!((20_000..=20_007).contains(&times.len()), "{}", times.len());
    assert!(
        notes(&data).contains("Thinned: 1000000 states were asked for"),
        "{}",
        notes(&data)
    );
    assert!(text.len() < 1_000_000, "{}", text.len());
    let few = html(&Page::new(&run, 60.0).unwrap());
    assert!(!notes(&crate::reader::data(&few)).contains("Thinned"));
}

#[test]
fn ten_seconds_of_twenty_bodies_are_below_a_megabyte() {
    let (scene, stepper, run) = heap();
    let page = Page::new(&run, 60.0).unwrap().scene(&scene).unwrap();
    let page = page.forces(&stepper).unwrap();
    let text = html(&page);
    assert!(text.len() < 1_000_000, "{}", text.len());
    let data = data(&text);
    assert_eq!(numbers(&data["times"]).len(), 601);
    assert_eq!(data["bodies"].as_array().unwrap().len(), 25);
    // Names that are equal up to the bar are one plot: thirteen of them.
    let names = data["names"].as_array().unwrap().iter();
    let mut plots: Vec<&str> = names
        .map(|name| name.as_str().unwrap().split('|').next().unwrap())
        .collect();
    assert_eq!(
        (plots.len(), plots[2], plots[140 + 5]),
        (260, "z [m]", "vz [m/s]")
    );
    plots.sort_unstable();
    plots.dedup();
    assert_eq!(plots.len(), 13);
    assert_eq!(text, html(&page));
}

/// Some 5,040 impacts of a ball that loses nothing: a period is `2 √(2h/g)`.
#[test]
fn thousands_of_jumps_and_events_are_thinned_and_the_page_says_so() {
    let ball = BouncingBall {
        restitution: 1.0,
        ..BouncingBall::default()
    };
    let mut driver = EventDriven::new(ContactModel::new(ball)).unwrap();
    let run = driver.integrate(&Start::at(0.0).q(&[1e-3]).v(&[0.0]), 144.0);
    let run = run.unwrap().completed().unwrap();
    let count = run.events().len();
    assert!((5_030..5_050).contains(&count), "{count}");
    let html = html(&Page::new(&run, 1.0).unwrap());
    let data = data(&html);
    let kept = times(&html)
        .windows(2)
        .filter(|pair| pair[0] == pair[1])
        .count();
    assert_eq!(kept, count.div_ceil(3));
    for note in [
        format!("Thinned: of {count} jumps one of 3 "),
        format!("Thinned: of {count} events one of 2 "),
    ] {
        assert!(notes(&data).contains(&note), "{}", notes(&data));
    }
    assert_eq!(data["marks"].as_array().unwrap().len(), count.div_ceil(2));
}

/// Four million numbers, half of them for jumps, are a hundred states of twenty thousand entries.
#[test]
fn states_of_many_entries_are_thinned_too() {
    let still = flow_fn(20_000, |_t, _x, _mode, dx| dx.fill(1.0));
    let mut integrator = Integrator::new(still).unwrap();
    let run = integrator.integrate(&Start::at(0.0).x(&vec![0.0; 20_000]), 1.0);
    let html = html(&Page::new(&run.unwrap(), 1000.0).unwrap());
    assert_eq!(times(&html).len(), 101);
    let asked = "Thinned: 1000 states were asked for; 101 are shown";
    assert!(html.contains(asked) && html.len() < 10_000_000);
}

/// A rate below one sample a run leaves its start and its end.
#[test]
fn slow_rates_leave_both_ends() {
    let run = hopper();
    for rate in [0.1, 1e-300, 5e-324] {
        let html = html(&Page::new(&run, rate).unwrap());
        assert_eq!(times(&html), [0.0, 2.0]);
    }
}

/// The page of a run that was refused says so and shows what there is.
#[test]
fn refused_runs_are_pages_too() {
    let model = ContactModel::new(BouncingBall::default());
    let mut driver = EventDriven::new(model).unwrap();
    let start = Start::at(0.0).q(&[1.0]).v(&[0.0]);
    let run = driver.integrate(&start, 100.0).unwrap();
    assert!(run.status().stop().is_some());
    let data = data(&html(&Page::new(&run, 60.0).unwrap()));
    let reason = format!("Status of the run: {}.", run.status());
    assert_eq!(data["notes"][0], reason);
    assert!(reason.starts_with("Status of the run: refused: "));
}

/// A run that did not move on has one sample.
#[test]
fn a_run_without_time_is_a_page() {
    let model = saltation::models::Hopper::default();
    let mut integrator = Integrator::new(model).unwrap();
    let run = integrator
        .integrate(&Start::at(3.0).x(&[2.0, 0.0]), 3.0)
        .unwrap();
    let data = data(&html(&Page::new(&run, 60.0).unwrap()));
    assert_eq!(numbers(&data["times"]), [3.0]);
    assert_eq!(states(&data), [[2.0, 0.0]]);
}

/// The points of a cylinder of parry along y, and of a cone, whose apex is three quarters of its height
/// from its centre of mass.
#[cfg(feature = "parry")]
#[test]
fn shapes_of_parry_are_meshes_about_their_centres() {
    use saltation::bodies::parry::shape::SharedShape;
    use saltation::bodies::{Body, Scene, Shape};

    let mut scene = Scene::new();
    for shape in [
        SharedShape::cylinder(0.1, 0.05),
        SharedShape::cone(0.1, 0.05),
    ] {
        let body = Body::new(Shape::parry(shape).unwrap());
        scene.add(body).unwrap();
    }
    let (q, v) = scene.start();
    let start = Start::at(0.0).q(&q).v(&v);
    scene.ignore(0, 1).unwrap();
    let mut stepper = Compliant::new(scene.clone()).unwrap();
    let run = stepper.integrate(&start, 0.1).unwrap();
    let page = Page::new(&run, 60.0).unwrap().scene(&scene).unwrap();
    let data = data(&html(&page));
    let points = |body: usize| -> Vec<Vec<f64>> {
        let points = data["bodies"][body]["points"].as_array().unwrap();
        points.iter().map(numbers).collect()
    };
    for p in points(0) {
        assert!((p[1].abs() - 0.1).abs() < 1e-12 && p[0].hypot(p[2]) < 0.05 + 1e-12);
    }
    let heights = points(1).into_iter().map(|p| p[1]);
    let (low, high) = heights.fold((0.0, 0.0), |(low, high): (f64, f64), y| {
        (low.min(y), high.max(y))
    });
    assert!(
        (low + 0.05).abs() < 1e-12 && (high - 0.15).abs() < 1e-12,
        "{low} {high}"
    );
    let faces = data["bodies"][0]["faces"].as_array().unwrap();
    let count = points(0).len() as f64;
    assert!(faces.len() > 20 && faces.iter().flat_map(numbers).all(|k| k < count));
}
