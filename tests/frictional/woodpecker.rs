//! The woodpecker toy (Pfeiffer; Glocker's data): restitution and friction at three contacts, stick and
//! slip in one period of its motion, and the derivative of that period.

use saltation::impact::Moreau;
use saltation::nalgebra::DMatrix;
use saltation::{ContactModel, EventDriven, Start, Verdict};

use crate::stick_slip::{letter, rows, value};

#[path = "../../examples/woodpecker/toy.rs"]
mod toy;

use toy::Woodpecker;

const CASE: &str = "woodpecker_0.3";
fn driver() -> EventDriven<Woodpecker> {
    let model = ContactModel::with_law(Woodpecker, Moreau::new());
    let atol = [1e-15, 1e-14, 1e-13, 1e-13, 1e-11, 1e-11];
    EventDriven::new(model).unwrap().rtol(1e-12).atol(atol)
}

/// The start of slip of the lower edge, on its periodic motion.
fn start() -> [[f64; 3]; 2] {
    ["q", "v"].map(|of| [0, 1, 2].map(|j: usize| value(CASE, of, "0", &j.to_string())))
}

#[test]
fn a_period_of_the_woodpecker_is_that_of_the_reference() {
    let [q, v] = start();
    let mut driver = driver();
    let start = Start::at(0.0).q(&q).v(&v);
    let run = driver.integrate(&start, 0.146).unwrap();
    let run = run.completed().unwrap();
    let rows = rows(CASE);
    let events: Vec<_> = rows.iter().filter(|row| row.0 == "event_time").collect();
    // At the start the contact lies on the edge of its cone: it slips at once.
    let found: Vec<_> = run.events().iter().filter(|event| event.t > 1e-9).collect();
    let words = found.iter().map(|event| {
        let mode = run.mode_at(event.t).unwrap();
        let word = (0..3).map(|j| letter(driver.model().contacting(mode, j)));
        word.collect::<String>()
    });
    let expected = events[1..].iter().map(|row| {
        let after = row.4.split("-> ").nth(1).unwrap();
        after.split([';', '"']).next().unwrap().trim().to_string()
    });
    assert_eq!(words.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    for (k, (event, row)) in found.iter().zip(&events[1..]).enumerate() {
        let of =
            |quantity: &str, j: usize| value(CASE, quantity, &(k + 1).to_string(), &j.to_string());
        assert!(
            (event.t - row.3).abs() < 1e-12,
            "{k}: {} {}",
            event.t,
            row.3
        );
        for j in 0..3 {
            let [q, v] = [event.state_after[j], event.state_after[3 + j]];
            assert!((q - of("q", j)).abs() < 1e-11, "{k} q{j}: {q}");
            assert!((v - of("v", j)).abs() < 1e-8, "{k} v{j}: {v}");
        }
        if let [j] = event.activated[..] {
            let (m, place) = (
                event.contacts.len(),
                event.contacts.iter().position(|i| *i == j),
            );
            let place = place.unwrap();
            assert!((event.impulses[place] - of("impulse_n", j)).abs() < 1e-13);
            assert!((event.impulses[m + place] - of("impulse_t", j)).abs() < 1e-13);
        }
    }
    // Energy goes into slips and impacts, and nowhere else.
    let balance = driver.model().energy_balance(&run).unwrap();
    let stretch = |quantity: &str| value(CASE, quantity, "", "");
    let [before, after] = balance.potential.unwrap();
    let lost = before - after - (balance.kinetic[1] - balance.kinetic[0]);
    assert!(
        (lost - stretch("energy_drop_period")).abs() < 1e-11,
        "{lost}"
    );
    let slid = -balance.contacts;
    assert!(
        (slid - stretch("friction_work_period")).abs() < 1e-11,
        "{slid}"
    );
}

/// The product of all saltation matrices and flows of a period has the eigenvalues 1, 1, the
/// derivative of the return map, and three zeros.
#[test]
fn the_derivative_of_a_period_has_the_eigenvalues_of_the_return_map() {
    let [q, v] = start();
    let mut driver = driver();
    // From a point within the first slip, for a period.
    let later = driver.integrate(&Start::at(0.0).q(&q).v(&v), 1e-3).unwrap();
    let period = value(CASE, "period", "", "");
    let derivative = driver.derivative(&later.end(), 1e-3 + period).unwrap();
    let matrix: DMatrix<f64> = derivative.matrix().unwrap();
    assert_eq!(*derivative.verdict(), Verdict::Classical);
    let mut eigenvalues: Vec<_> = matrix.complex_eigenvalues().iter().copied().collect();
    eigenvalues.sort_by(|a, b| a.re.total_cmp(&b.re));
    let expected = [
        value(CASE, "map_derivative", "", ""),
        0.0,
        0.0,
        0.0,
        1.0,
        1.0,
    ];
    for (found, expected) in eigenvalues.iter().zip(expected) {
        assert!(
            (found.re - expected).abs() < 1e-6 && found.im.abs() < 1e-5,
            "{eigenvalues:?}"
        );
    }
}
