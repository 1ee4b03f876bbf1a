//! Conversions between numbers that never truncate silently.

/// The same value, or the largest `usize` on platforms with fewer than 64 bits.
pub fn to_usize(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// The same value.
pub fn to_u64(value: usize) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

/// Integer part of a number. Negative numbers and NaN become 0, numbers above `u64::MAX` become `u64::MAX`.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, as documented")]
pub fn whole(number: f64) -> u64 {
    number as u64
}

/// The nearest floating-point number.
#[allow(clippy::cast_precision_loss, reason = "rounds, as documented")]
pub fn to_f64(value: usize) -> f64 {
    value as f64
}

/// `value * numerator / denominator`, rounded down.
pub fn scaled(value: u64, numerator: u64, denominator: u64) -> u64 {
    let product = u128::from(value) * u128::from(numerator);
    u64::try_from(product / u128::from(denominator.max(1))).unwrap_or(u64::MAX)
}

/// Percentage of a whole, with one decimal.
pub fn percentage(part: u64, whole: u64) -> String {
    let tenths = scaled(part, 1000, whole);
    format!("{}.{} %", tenths / 10, tenths % 10)
}
