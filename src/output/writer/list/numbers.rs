//! Numbers as BLAST prints them in its tables.

/// An E-value: larger values have fewer digits.
pub fn evalue_text(evalue: f64) -> String {
    match evalue {
        e if e < 1e-180 => "0.0".to_string(),
        e if e < 0.0009 => scientific(e),
        e if e < 0.1 => format!("{e:.3}"),
        e if e < 1.0 => format!("{e:.2}"),
        e if e < 10.0 => format!("{e:.1}"),
        e => format!("{e:.0}"),
    }
}

/// A bit score, truncated to an integer if it is above 99.9.
pub fn bits_text(bits: f64) -> String {
    match bits {
        b if b > 99_999.0 => scientific_of(b, 3),
        b if b > 99.9 => format!("{:.0}", b.trunc()),
        b => format!("{b:.1}"),
    }
}

/// `1.23e-45`, in C's format: the exponent has at least two digits.
fn scientific(number: f64) -> String {
    scientific_of(number, 2)
}

fn scientific_of(number: f64, digits: usize) -> String {
    let text = format!("{number:.digits$e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{exponent:0>2}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_blasts() {
        for (evalue, text) in [
            (5.3e-40, "5.30e-40"),
            (1.224e-152, "1.22e-152"),
            (9e-181, "0.0"),
            (1.68e-4, "1.68e-04"),
            (0.0242, "0.024"),
            (0.43, "0.43"),
            (3.7, "3.7"),
            (12.3, "12"),
        ] {
            assert_eq!(evalue_text(evalue), text);
        }
        assert_eq!([bits_text(123.9), bits_text(25.79), bits_text(123_456.0)], ["123", "25.8", "1.235e+05"]);
    }
}
