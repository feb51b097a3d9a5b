//! No public item is forgotten: every name that the library exports, and every public function of
//! it, stands in a target.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

/// Names that no target need speak of: re-exports of other crates.
const FOREIGN: [&str; 3] = ["nalgebra", "RealField", "convert"];

/// The public names of the library that occur in no target.
pub fn forgotten() -> io::Result<Vec<String>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut library = Vec::new();
    read_all(&here.join("../src"), &mut library)?;
    let mut own = Vec::new();
    read_all(&here.join("src"), &mut own)?;
    let own = own.join("\n");
    let spoken: BTreeSet<&str> = own
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .collect();
    let names: BTreeSet<String> = library.iter().flat_map(|text| public(text)).collect();
    let unspoken =
        |name: &String| !spoken.contains(name.as_str()) && !FOREIGN.contains(&name.as_str());
    Ok(names.into_iter().filter(unspoken).collect())
}

fn read_all(folder: &Path, texts: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read_all(&path, texts)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            texts.push(fs::read_to_string(&path)?);
        }
    }
    Ok(())
}

/// What a file makes public: the names of its `pub use` and `pub fn`. (Of what is public in name
/// alone the compiler warns.)
fn public(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let mut names = Vec::new();
    let uses = code.split("pub use ").skip(1);
    for list in uses.filter_map(|rest| rest.split(';').next()) {
        let inner = list.rsplit("::").next().unwrap_or(list);
        let inner = list.split_once('{').map_or(inner, |(_, inner)| inner);
        let words = inner.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        names.extend(words.filter(|w| !w.is_empty()).map(str::to_owned));
    }
    for line in code.lines().map(str::trim_start) {
        let function = line
            .strip_prefix("pub fn ")
            .or_else(|| line.strip_prefix("pub const fn "));
        let name = function.and_then(|rest| rest.split(['(', '<']).next());
        names.extend(name.map(str::to_owned));
    }
    names
}
