//! The end of a run as one line of JSON.

use saltation::{Run, Status};

/// One line: `head` (entries of the model, each followed by a comma), then status, time, state with
/// 15 digits, contacts and what the run cost.
pub(crate) fn final_line(
    head: &str,
    run: &Run,
    contact_changes: usize,
    in_contact: usize,
) -> String {
    let status = match run.status() {
        Status::ReachedEnd => "\"reached_end\"".to_owned(),
        Status::Refused(reason) => {
            format!("\"refused\",\"reason\":{}", quoted(&reason.to_string()))
        }
        other => quoted(&format!("{other:?}")),
    };
    let state: Vec<String> = run.state().iter().map(|&x| digits(x)).collect();
    let s = run.statistics();
    let counts = [
        ("flow", s.flow),
        ("flip", s.flip),
        ("events", s.events),
        ("event", s.event),
        ("gradient", s.gradient),
        ("steps", s.steps),
        ("rejections", s.rejections),
        ("projections", s.projections),
        ("projections_failed", s.projections_failed),
        ("repairs", s.repairs),
        ("locations", s.locations),
        ("crossings", s.crossings),
        ("resets", s.resets),
    ];
    let counts: Vec<String> = counts
        .iter()
        .map(|(name, n)| format!("\"{name}\":{n}"))
        .collect();
    format!(
        "{{{head}\"status\":{status},\"time\":{},\"state\":[{}],\"contact_changes\":{contact_changes},\
         \"in_contact\":{in_contact},\"statistics\":{{{}}}}}",
        digits(run.t()),
        state.join(","),
        counts.join(",")
    )
}

/// 15 significant digits; `null` for what JSON cannot say.
fn digits(value: f64) -> String {
    if value.is_finite() {
        format!("{value:.14e}")
    } else {
        "null".to_owned()
    }
}

fn quoted(text: &str) -> String {
    let mut line = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => line.extend(['\\', c]),
            c if c.is_control() => line.push(' '),
            c => line.push(c),
        }
    }
    line.push('"');
    line
}
