//! Derivatives through corners: the examples of the specification, properties, verdicts.
#![allow(missing_docs, reason = "tests")]

mod examples;
mod moving_table;
