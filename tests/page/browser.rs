//! A browser shows the states of the run: headless Chromium, where it is installed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use saltation::{Page, Run};
use serde_json::{Map, Value};

use crate::reader::{ball, ball_page, data, heap, hopper, html, numbers, steps};

/// The time and the element `shown` of a page at a time, as Chromium has it.
fn shown(page: &Path, t: &str) -> (f64, Value) {
    let address = format!("file://{}#t={t}", page.display());
    let mut chromium = Command::new("chromium");
    let flags = ["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"];
    let dump = chromium.args(flags).arg(address).output().unwrap();
    let document = String::from_utf8(dump.stdout).unwrap();
    let (_, rest) = document
        .split_once("id=\"shown\">")
        .expect("the element `shown`");
    let (text, _) = rest.split_once("</pre>").unwrap();
    let value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    // The same bits: `serde_json` rounds the last digit otherwise.
    let (_, time) = text.split_once("\"t\":").unwrap();
    (time.split(',').next().unwrap().parse().unwrap(), value)
}

/// Compares what is shown at some times with the run.
fn compare(name: &str, run: &Run, page: &Page<'_>, times: &[f64]) {
    let path: PathBuf =
        env::temp_dir().join(format!("saltation_{}_{name}.html", std::process::id()));
    let text = html(page);
    let steps = steps(&data(&text));
    fs::write(&path, text).unwrap();
    for &t in times {
        let (at, shown) = shown(&path, &format!("{t:?}"));
        assert!(at <= t + 1e-8 && at > t - 1.0 / 59.0, "{at} at {t}");
        let expected = run.state_at(at).unwrap();
        let state = numbers(&shown["state"]);
        assert_eq!(state.len(), expected.len());
        for (i, x) in expected.iter().enumerate() {
            // Half a step, and the rounding of a product of a million.
            assert!(
                (x - state[i]).abs() <= (0.5 + 1e-8) * steps[i],
                "{name} {i} at {at}"
            );
        }
        // The plane and four walls come before the bodies that move.
        for k in 0..shown["poses"].as_object().map_or(0, Map::len) {
            let pose = numbers(&shown["poses"][(5 + k).to_string()]);
            assert_eq!(pose, state[7 * k..7 * k + 7]);
        }
    }
    fs::remove_file(path).unwrap();
}

#[test]
#[ignore = "needs chromium"]
fn a_browser_shows_the_states_of_the_run() {
    if Command::new("chromium").arg("--version").output().is_err() {
        eprintln!("SKIPPED, NOT TESTED: pages in a browser need chromium");
        return;
    }
    let (scene, stepper, run) = heap();
    let page = Page::new(&run, 60.0).unwrap().scene(&scene).unwrap();
    compare(
        "heap",
        &run,
        &page.forces(&stepper).unwrap(),
        &[0.0, 1.25, 7.333, 10.0],
    );
    let run = ball();
    let impact = run.events()[1].t;
    compare("ball", &run, &ball_page(&run), &[1.25, impact]);
    let run = hopper();
    compare("hopper", &run, &Page::new(&run, 60.0).unwrap(), &[1.25]);
}
