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

/// True where Chromium is installed; says so where it is not.
fn has_browser() -> bool {
    let found = Command::new("chromium").arg("--version").output().is_ok();
    if !found {
        eprintln!("SKIPPED, NOT TESTED: pages in a browser need chromium");
    }
    found
}

/// What a user does, as a script behind the page.
const USER: &str = r#"<script>{
addEventListener("error", (event) => { get("shown").textContent = event.message; });
const events = get("events");
events.selectedIndex = 1;
events.dispatchEvent(new Event("change"));
const stage = get("stage");
stage.setPointerCapture = () => {};
stage.dispatchEvent(new WheelEvent("wheel", { deltaY: -300 }));
for (const [kind, clientX] of [["pointerdown", 100], ["pointermove", 150], ["pointerup", 150]]) {
  stage.dispatchEvent(new PointerEvent(kind, { clientX, clientY: 100 }));
}
const [zoomed, shifted] = [view.zoom > 1.5, view.centre[0] < -0.01];
stage.dispatchEvent(new MouseEvent("dblclick"));
document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
get("choice").querySelectorAll("input")[0].click();
const plots = document.querySelectorAll(".plot:not([hidden])").length;
get("shown").textContent = JSON.stringify({ t: times[shown], zoomed, shifted, zoom: view.zoom, plots });
}</script>"#;

#[test]
#[ignore = "needs chromium"]
fn events_are_gone_to_and_the_view_is_moved() {
    if !has_browser() {
        return;
    }
    let run = ball();
    let name = format!("saltation_{}_user.html", std::process::id());
    let path = env::temp_dir().join(name);
    fs::write(&path, html(&ball_page(&run)) + USER).unwrap();
    let (t, shown) = shown(&path, "0.0");
    // After the arrows: the other side of the second impact, and back to its first.
    assert_eq!(t, run.events()[1].t, "{shown}");
    assert!(
        shown["zoomed"] == true && shown["shifted"] == true,
        "{shown}"
    );
    assert!(shown["zoom"] == 1 && shown["plots"] == 1, "{shown}");
    fs::remove_file(path).unwrap();
}

#[test]
#[ignore = "needs chromium"]
fn a_browser_shows_the_states_of_the_run() {
    if !has_browser() {
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
