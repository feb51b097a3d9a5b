//! The examples of the documentation compile and run in a crate that depends on this one alone, as
//! a user's does; those of the feature `serde` with a format of documents.
#![allow(missing_docs, reason = "tests")]
#![cfg(all(feature = "dual", feature = "parry", feature = "serde"))]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// All files under `folder` that end in `.rs` or `.md`, in order.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, found);
        } else if path
            .extension()
            .is_some_and(|end| end == "rs" || end == "md")
        {
            found.push(path);
        }
    }
}

/// The blocks of code in the documentation of a file, as Markdown.
fn examples(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a file");
    let is_markdown = path.extension().is_some_and(|end| end == "md");
    let mut out = String::new();
    let mut is_inside = false;
    for line in text.lines() {
        let line = if is_markdown {
            line
        } else {
            let line = line.trim_start();
            match line.strip_prefix("///").or(line.strip_prefix("//!")) {
                Some(line) => line.strip_prefix(' ').unwrap_or(line),
                None => continue,
            }
        };
        let is_fence = line.trim_start().starts_with("```");
        if is_fence || is_inside {
            out.push_str(line);
            out.push('\n');
        }
        is_inside ^= is_fence;
    }
    out
}

/// The crates that manifests need for tests and examples, under names that no example knows: with the same features of
/// all crates, what the tests have built is not built again.
fn under_other_names(manifests: &[String]) -> String {
    let mut out = BTreeMap::new();
    for manifest in manifests {
        let lines = manifest
            .lines()
            .skip_while(|line| *line != "[dev-dependencies]");
        let lines = lines.skip(1).take_while(|line| !line.starts_with('['));
        for (name, of) in lines.filter_map(|line| line.split_once(" = ")) {
            let of = match of.strip_prefix("{ ") {
                Some(of) => of.to_owned(),
                None => format!("version = {of} }}"),
            };
            // examples of documents use the format of the tests
            let prefix = if name == "serde_json" { "" } else { "tests_" };
            if name != "saltation" {
                let line = format!("{prefix}{name} = {{ package = {name:?}, {of}");
                out.insert(name.to_owned(), line);
            }
        }
    }
    out.into_values().collect::<Vec<_>>().join("\n")
}

#[test]
fn examples_need_no_other_crate() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = scratch.join("alone");
    fs::create_dir_all(folder.join("src")).unwrap();
    let manifests = [".", "examples", "tests"]
        .map(|of| fs::read_to_string(root.join(of).join("Cargo.toml")).unwrap());
    let manifest = format!(
        "[package]\nname = \"alone\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\nsaltation = {{ path = {root:?}, features = [\"arrow\", \"dual\", \"parallel\", \"parry\", \"quantiles\", \"serde\", \"sobol\"] }}\n\
         {}",
        under_other_names(&manifests)
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let mut files = vec![root.join("README.md"), root.join("docs/ensembles.md")];
    sources(&root.join("src"), &mut files);
    let mut library = String::new();
    let mut count = 0;
    for path in &files {
        let text = examples(path);
        if text.is_empty() {
            continue;
        }
        let name = format!("page{count}.md");
        fs::write(folder.join("src").join(&name), text).unwrap();
        writeln!(
            library,
            "// {}\n#[doc = include_str!({name:?})]\npub mod page{count} {{}}",
            path.strip_prefix(root).unwrap().display()
        )
        .unwrap();
        count += 1;
    }
    assert!(count > 20, "{count} pages with examples");
    fs::write(folder.join("src/lib.rs"), library).unwrap();
    let output = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(["test", "--doc"])
        .current_dir(&folder)
        // what is built there for these tests is not built again
        .env("CARGO_TARGET_DIR", scratch.parent().unwrap())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complaint}");
    let passed: usize = said
        .lines()
        .filter_map(|line| line.strip_prefix("test result: ok. "))
        .filter_map(|rest| rest.split(' ').next()?.parse::<usize>().ok())
        .sum();
    assert!(passed > 40, "{said}");
}
