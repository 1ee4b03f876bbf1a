//! Tests of numbers and JSON as text.

use super::{percent, ratio};
use crate::terms::json::{array, lines, object, quoted, rows};

#[test]
fn decimals_are_rounded_and_exact() {
    let cases = [(1u64, 3u64, "0.33"), (2, 3, "0.67"), (1, 1, "1.00"), (1, 200, "0.01"), (1, 201, "0.00")];
    for (part, whole, expected) in cases {
        assert_eq!(ratio(part, whole, 2).as_deref(), Some(expected), "{part} / {whole}");
    }
    assert_eq!(ratio(1u64, 0u64, 2), None);
    assert_eq!(percent(u64::MAX, u64::MAX).as_deref(), Some("100.00"));
    assert_eq!(ratio(3u64, 2u64, 1).as_deref(), Some("1.5"));
}

#[test]
fn json_is_escaped() {
    assert_eq!(quoted("a\"b\\c\n\t\u{1}é"), "\"a\\\"b\\\\c\\n\\t\\u0001é\"");
    let one = object([("a", "1".to_string()), ("b", array(["2".to_string(), "3".to_string()]))]);
    assert_eq!(one, "{\"a\": 1, \"b\": [2, 3]}");
    assert_eq!(lines([("a", one.clone())]), format!("{{\n\"a\": {one}\n}}"));
    assert_eq!((rows([]), rows([one.clone()])), ("[]".to_string(), format!("[\n{one}\n]")));
}
