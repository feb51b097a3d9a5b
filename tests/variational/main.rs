//! The variational driver.

mod midpoint;
