//! Linear complementarity problems: section 13 of the specification, in one binary because each
//! links nalgebra anew.
#![allow(missing_docs, reason = "tests")]

mod bad_input;
mod bounds_of_searches;
#[path = "../common/contacts.rs"]
mod contacts;
mod dictionary;
mod enumeration;
mod extremes;
mod fixtures;
mod impacts;
mod nearly_dependent;
#[path = "../common/extremes.rs"]
mod numbers;
#[path = "../common/random.rs"]
mod random;
mod random_problems;
mod small_problems;
