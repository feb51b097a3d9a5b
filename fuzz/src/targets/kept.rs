//! What must be true of every run that is kept, whichever driver made it.

use saltation::compliant::CompliantFailure;
use saltation::event_driven::{Breakdown, ContactEvent, ContactEventKind, Phase};
use saltation::page::Pen;
use saltation::variational::VariationalFailure;
use saltation::{
    Arrival, At, Corner, Doubt, Guard, GuardCrossing, ModeChange, ModelError, Page, Run,
    Statistics, Status, Stop, Table,
};

use crate::draw::Draw;
use crate::trial::Trial;

/// Looks at all of a run from `t0` that was to end at `tf`.
pub fn look(trial: &mut Trial, draw: &mut Draw, run: &Run, (t0, tf): (f64, f64)) {
    end(trial, run, tf);
    nodes(trial, run, t0);
    crossings(trial, run);
    events(trial, draw, run);
    samples(trial, draw, run, t0);
    page(trial, draw, run, t0);
}

/// How it ended, and what it says of itself.
fn end(trial: &mut Trial, run: &Run, tf: f64) {
    let status: &Status = run.status();
    trial.say(status);
    if *status == Status::ReachedEnd {
        trial.expect(run.t() == tf, || {
            format!("the end is {}, not {tf}", run.t())
        });
    }
    let stop: Option<&Stop> = status.stop();
    let is_refused = matches!(status, Status::Refused(_));
    trial.expect(stop.is_some() == is_refused, || {
        "refused without a reason".to_owned()
    });
    if let Some(stop) = stop {
        trial.refused("refusal", stop);
        let at: Option<&At> = stop.at();
        trial.note("at", &at);
        let (inner, reason) = (stop.downcast::<Breakdown>(), status.reason::<Breakdown>());
        trial.expect(format!("{inner:?}") == format!("{reason:?}"), || {
            "two reasons".to_owned()
        });
        if let Stop::Model(reason) = stop {
            let reason: &ModelError = reason;
            trial.say(reason);
        }
    }
    let reasons = (
        status.reason::<Breakdown>(),
        status.reason::<VariationalFailure>(),
        status.reason::<CompliantFailure>(),
    );
    trial.note("reasons", &reasons);
    let statistics: &Statistics = run.statistics();
    trial.note("statistics", statistics);
    trial.expect(statistics.is_guaranteed() == run.is_guaranteed(), || {
        "two answers on the guarantee".to_owned()
    });
    let doubts: &[Doubt] = run.doubts();
    trial.expect(
        doubts.len() <= 1000 && doubts.len() <= statistics.doubts,
        || format!("{} doubts kept", doubts.len()),
    );
    doubts.iter().for_each(|doubt| trial.note("doubt", doubt));
    trial.note("where a later run goes on", &run.end());
    trial.expect(run.clone().completed().is_err() == is_refused, || {
        "completed and refused".to_owned()
    });
}

fn nodes(trial: &mut Trial, run: &Run, t0: f64) {
    let times = run.times();
    trial.expect(times.first() == Some(&t0), || {
        format!("the start is {:?}, not {t0}", times.first())
    });
    trial.expect(times.last() == Some(&run.t()), || {
        "the end is not the last node".to_owned()
    });
    trial.expect(times.is_sorted(), || {
        format!("times of nodes fall: {times:?}")
    });
    trial.expect(run.states().ncols() == times.len(), || {
        "nodes without a time".to_owned()
    });
    for (k, (t, x)) in run.nodes().enumerate() {
        trial.finite("time of a node", &[t]);
        trial.finite("node", x.as_slice());
        let parts = [run.q(k), run.v(k)].concat();
        trial.expect(parts.is_empty() || parts == x.as_slice(), || {
            format!("parts {parts:?} of {x:?}")
        });
    }
    let last = run.nodes().last().map(|(_, x)| x.as_slice().to_vec());
    trial.expect(last.as_deref() == Some(run.state().as_slice()), || {
        "the state is not that of the last node".to_owned()
    });
    let beyond = [run.q(times.len()), run.v(usize::MAX)].concat();
    trial.expect(beyond.is_empty(), || "a node beyond the last".to_owned());
    let changes: &[ModeChange] = run.modes();
    trial.note("modes", changes);
    trial.expect(changes.is_sorted_by_key(|change| change.t), || {
        "times of modes fall".to_owned()
    });
    let last = changes.last().map(|change| &change.mode);
    trial.expect(last == Some(run.mode()), || {
        "the mode is not the last one".to_owned()
    });
}

fn crossings(trial: &mut Trial, run: &Run) {
    let mut counted = 0;
    for crossing in run.crossings() {
        let crossing: &GuardCrossing = crossing;
        trial.note("margin", &crossing.margin());
        trial.finite("state of a crossing", crossing.state.as_slice());
        trial.finite("time of a crossing", &[crossing.t]);
        let known = [
            Arrival::Located,
            Arrival::Projected,
            Arrival::AlreadyThere,
            Arrival::Jumped,
        ];
        trial.expect(known.contains(&crossing.arrival), || {
            "an unknown arrival".to_owned()
        });
    }
    let mut guards: Vec<Guard> = run.crossings().iter().map(|c| c.guard).collect();
    guards.sort_unstable();
    guards.dedup();
    for guard in guards {
        counted += run.crossings_of(guard).count();
    }
    trial.expect(counted == run.crossings().len(), || {
        "crossings of no guard".to_owned()
    });
    for corner in run.corners() {
        let corner: &Corner = corner;
        trial.note("corner", corner);
        trial.expect(
            corner.order.iter().all(|g| corner.contains(g.event)),
            || "a corner without its guards".to_owned(),
        );
    }
}

/// The log of contacts.
fn events(trial: &mut Trial, draw: &mut Draw, run: &Run) {
    let events: &[ContactEvent] = run.events();
    trial.expect(events.is_sorted_by_key(|event| event.t), || {
        "times of events fall".to_owned()
    });
    for event in events {
        trial.note("event", event);
        trial.finite("impulses", &event.impulses);
        trial.finite("state after", &event.state_after);
        let kind: &ContactEventKind = &event.kind;
        trial.note("kind", kind);
        let told = event.activated.iter().chain(&event.released);
        for &contact in told {
            trial.expect(run.events_of(contact).any(|of| of == event), || {
                format!("no event of contact {contact}")
            });
        }
    }
    let within = 1e-3 * draw.positive();
    let clusters: Vec<&[ContactEvent]> = run.clusters(within).collect();
    trial.expect(clusters.concat() == events, || {
        "clusters are not the events".to_owned()
    });
    let phases: Vec<Phase> = run.phases();
    trial.note("phases", &phases);
    trial.expect(phases.is_sorted_by(|a, b| a.t < b.t), || {
        "phases without time".to_owned()
    });
}

/// States at chosen times, as numbers and as text.
fn samples(trial: &mut Trial, draw: &mut Draw, run: &Run, t0: f64) {
    for _ in 0..4 {
        let t = t0 + (run.t() - t0) * draw.unit();
        let inside = (t0..=run.t()).contains(&t);
        let at = run.state_at(t);
        trial.expect(!inside || at.is_ok(), || {
            format!("no state at {t}, within the run")
        });
        let answer = at.map(|x| x.as_slice().to_vec());
        trial.numbers("state within the run", answer);
        trial.result("mode within the run", run.mode_at(t).cloned());
    }
    let other = draw.number();
    trial.result("state at any time", run.state_at(other).map(|_| ()));
    trial.result("mode at any time", run.mode_at(other).cloned());
    let end = run.state_at(run.t());
    trial.expect(end.as_ref() == Ok(run.state()), || {
        format!("{end:?} at the end")
    });
    let dim = run.states().nrows();
    let length = run.t() - t0;
    let wrong = *draw.pick(&[0.0, -1.0, f64::NAN, 1e-300]);
    let dt = if draw.chance(0.1) {
        wrong
    } else {
        length / draw.between(0.5, 40.0)
    };
    if let Some(table) = trial.result("samples", run.every(dt)) {
        let (first, last) = (table.times.first(), table.times.last());
        let is_whole = first == Some(&t0) && last == Some(&run.t());
        trial.expect(is_whole, || format!("samples at {:?}", table.times));
        written(trial, dim, &table);
    }
    let times = [run.t(), t0, draw.between(t0, run.t())];
    if let Some(table) = trial.result("samples in any order", run.sample(&times)) {
        trial.expect(table.times == times, || "other times".to_owned());
        written(trial, dim, &table);
    }
    let mut text = Vec::new();
    let done = run.write_csv(&mut text);
    trial.result("text", done);
    rows(trial, &text, (dim, run.times().len()));
}

fn written(trial: &mut Trial, dim: usize, table: &Table) {
    let count = table.times.len();
    let fits = table.states.shape() == (dim, count) && table.modes.len() == count;
    trial.expect(fits, || "samples without a state or a mode".to_owned());
    trial.finite("samples", table.states.as_slice());
    let mut text = Vec::new();
    let done = table.write_csv(&mut text);
    trial.result("text of samples", done);
    rows(trial, &text, (dim, count));
}

/// Time, state and mode in each of so many rows, and a head.
fn rows(trial: &mut Trial, text: &[u8], (dim, count): (usize, usize)) {
    let text = String::from_utf8_lossy(text);
    trial.note("rows", &*text);
    let fits = |line: &str| line.matches(',').count() == dim + 1;
    trial.expect(
        text.lines().count() == count + 1 && text.lines().all(fits),
        || format!("{count} rows of a state of {dim} entries: {text}"),
    );
}

/// A page of it, with a title and names that would end its script, and whatever a model may draw.
fn page(trial: &mut Trial, draw: &mut Draw, run: &Run, t0: f64) {
    let rate = draw.between(0.5, 40.0) / (run.t() - t0);
    let rate = if draw.chance(0.1) {
        draw.number()
    } else {
        rate
    };
    let Some(page) = trial.door("page", Page::new(run, rate)) else {
        return;
    };
    let names = vec!["</script>|\\\""; draw.length(run.state().len())];
    let page = if draw.chance(0.5) {
        trial.door("names", page.title("<!--").names(&names))
    } else {
        Some(page)
    };
    let drawn = page.and_then(|page| {
        let drawn = page.drawn(|_t, state, pen: &mut Pen| {
            let x = state.first().copied().unwrap_or(draw.part());
            pen.line(&[[x, 0.0, draw.part()], [0.0; 3]]);
            pen.force([0.0, x, 0.0], [draw.number(), 0.0, x]);
        });
        trial.door("drawn", drawn)
    });
    if let Some(page) = drawn {
        written_page(trial, &page);
    }
}

/// Its text: nothing ends its three scripts, and its numbers are numbers.
pub fn written_page(trial: &mut Trial, page: &Page<'_>) {
    let mut text = Vec::new();
    let done = page.write_html(&mut text);
    trial.result("page", done);
    let text = String::from_utf8_lossy(&text);
    trial.note("page", &*text);
    let scripts = text.matches("</script").count();
    trial.expect(scripts == 3, || format!("{scripts} ends of three scripts"));
    let times = text.split(",\n\"times\":").nth(1);
    let times = times.and_then(|rest| rest.split(",\n\"names\"").next());
    let is_number = |t: &str| t.parse().is_ok_and(f64::is_finite);
    let is_plain =
        times.is_some_and(|list| list.trim_matches(['[', ']']).split(',').all(is_number));
    trial.expect(is_plain, || "a page with numbers that are none".to_owned());
}
