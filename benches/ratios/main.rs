//! Tables of times and their ratios, each measured in one run, the cases in turn.
//!
//! `cargo bench --bench ratios` prints all, about a minute; `-- plate`, `hopper`, `corner`, `step`,
//! `derivative`, `ensemble`, `lcp`, `impact` or `mechanics` selects; `-- --test` goes through each case a few
//! times only. Ratios hold on other machines, times do not.

mod bodies;
#[path = "../cases/mod.rs"]
mod cases;
#[allow(dead_code, reason = "each of those who share it takes what it needs")]
#[path = "../../tests/common/contacts.rs"]
mod contacts;
mod tables;
mod timing;

/// Prints one table from so many rounds of measurements.
type Table = fn(usize);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rounds = if arguments.iter().any(|a| a == "--test") {
        1
    } else {
        15
    };
    let chosen: Vec<_> = arguments.iter().filter(|a| !a.starts_with('-')).collect();
    let tables: [(&str, Table); 9] = [
        ("plate", tables::plate),
        ("hopper", tables::hopper),
        ("corner", tables::corner),
        ("step", tables::step),
        ("derivative", tables::derivative),
        ("ensemble", tables::ensemble),
        ("lcp", tables::lcp),
        ("impact", bodies::impact),
        ("mechanics", bodies::mechanics),
    ];
    for (name, table) in tables {
        if chosen.is_empty() || chosen.iter().any(|c| name.contains(c.as_str())) {
            table(rounds);
        }
    }
}
