//! Numbers as short text: whole numbers of a step that is a power of ten, each written as its
//! difference to the frame before.

use std::fmt::Write as _;
use std::io::{self, Write};

/// Digits of the largest number that are kept.
const DIGITS: i32 = 6;

/// The step to which numbers are rounded: a power of ten, between 1e-6 and 1e-7 of the largest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rounding {
    pub(super) exponent: i32,
}

impl Rounding {
    /// For finite numbers up to this size.
    pub(super) fn of(largest: f64) -> Self {
        // Below 1e-290 the power itself would be lost; all such numbers are written as zeros or a few steps.
        let size = largest.max(1e-290).log10().floor();
        #[expect(
            clippy::cast_possible_truncation,
            reason = "between -290 and 308, as f64 has no others"
        )]
        let exponent = size as i32 - DIGITS;
        Self { exponent }
    }

    /// How many steps `x` is, to the nearest.
    pub(super) fn steps(self, x: f64) -> i64 {
        // Of both powers the one that is a whole number: it is exact up to 1e22.
        let scaled = if self.exponent < 0 {
            x * 10f64.powi(-self.exponent)
        } else {
            x / 10f64.powi(self.exponent)
        };
        #[expect(
            clippy::cast_possible_truncation,
            reason = "at most ten million steps by the choice of the exponent; a cast saturates"
        )]
        let steps = scaled.round() as i64;
        steps
    }
}

/// Frames of whole numbers: entry by entry the difference to the frame before (zero where that is
/// shorter), in the base-64 digits of source maps: five bits a digit, the least first, the sixth bit
/// says that more follow; the lowest bit of a number is its sign. Frames are separated by blanks.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames {
    text: String,
    before: Vec<i64>,
    count: usize,
}

impl Frames {
    pub(super) fn push(&mut self, numbers: impl IntoIterator<Item = i64>) {
        if self.count > 0 {
            self.text.push(' ');
        }
        self.count += 1;
        let mut length = 0;
        for number in numbers {
            if length == self.before.len() {
                self.before.push(0);
            }
            write_digits(&mut self.text, number.wrapping_sub(self.before[length]));
            self.before[length] = number;
            length += 1;
        }
        self.before.truncate(length);
    }

    /// As a JSON string: none of the digits needs an escape.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "\"{}\"", self.text)
    }
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn write_digits(text: &mut String, number: i64) {
    let mut rest = (number.unsigned_abs() << 1) | u64::from(number < 0);
    loop {
        let more = if rest > 31 { 32 } else { 0 };
        let [digit, ..] = ((rest & 31) | more).to_le_bytes();
        text.push(char::from(ALPHABET[usize::from(digit)]));
        rest >>= 5;
        if rest == 0 {
            break;
        }
    }
}

/// A string of JSON that may stand in a page: `<` is escaped, so that no name ends a script.
pub(super) fn write_text(out: &mut dyn Write, text: &str) -> io::Result<()> {
    let mut escaped = String::with_capacity(text.len() + 2);
    escaped.push('"');
    for c in text.chars() {
        match c {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            // `<` would begin a tag, and of these two some readers of scripts make new lines.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\x1f' => {
                // A String takes all that is written to it.
                let _ = write!(escaped, "\\u{:04x}", u32::from(c));
            }
            _ => escaped.push(c),
        }
    }
    escaped.push('"');
    out.write_all(escaped.as_bytes())
}

/// A list of JSON.
pub(super) fn write_list<T>(
    out: &mut dyn Write,
    items: impl IntoIterator<Item = T>,
    mut each: impl FnMut(&mut dyn Write, T) -> io::Result<()>,
) -> io::Result<()> {
    out.write_all(b"[")?;
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            out.write_all(b",")?;
        }
        each(out, item)?;
    }
    out.write_all(b"]")
}

/// Numbers with all their digits, as a list of JSON, which has no word for those that are not finite.
pub(super) fn write_numbers(out: &mut dyn Write, numbers: &[f64]) -> io::Result<()> {
    write_list(out, numbers, |out, x| {
        if x.is_finite() {
            write!(out, "{x:?}")
        } else {
            out.write_all(b"null")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At most ten million steps, and at least a million but for numbers that are all zero or lost.
    #[test]
    fn steps_are_a_millionth_of_numbers_of_any_size() {
        for largest in [1e-280, 0.999, 1.0, 9.999_999_9, 123.4, f64::MAX] {
            let rounding = Rounding::of(largest);
            let steps = rounding.steps(largest);
            assert!((999_999..=10_000_000).contains(&steps), "{largest} {steps}");
            assert_eq!(rounding.steps(-largest), -steps);
        }
        for tiny in [0.0, 5e-324, 1e-300] {
            assert!(Rounding::of(tiny).steps(tiny) <= 1);
        }
    }

    #[test]
    fn digits_are_those_of_source_maps() {
        let mut frames = Frames::default();
        frames.push([0, 1, -1, 15, 16, -16, 123]);
        frames.push([0, 2]);
        frames.push([]);
        frames.push([5]);
        assert_eq!(frames.text, "ACDegBhB2H AC  K");
    }

    #[test]
    fn extremes_are_written() {
        let mut frames = Frames::default();
        frames.push([i64::MAX]);
        frames.push([i64::MIN]);
        assert_eq!(frames.text.split(' ').count(), 2);
    }

    #[test]
    fn no_text_of_a_page_begins_a_tag() {
        let mut out = Vec::new();
        write_text(&mut out, "a\"b\\</script>&\n\u{2028}é").unwrap();
        let expected = r#""a\"b\\\u003c/script\u003e\u0026\u000a\u2028é""#;
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
