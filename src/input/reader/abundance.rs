//! Abundances: the number of reads that a record stands for, given by `;size=12` in its name. usearch introduced this
//! field, and vsearch reads it.

use std::ops::Range;

const FIELD: &[u8] = b"size=";

/// The problem of an abundance, and its remedy.
pub type AbundanceProblem = (&'static str, &'static str);

/// The value of the first field `size=N` in a name; 1 if there is none.
pub fn abundance(name: &[u8]) -> Result<u64, AbundanceProblem> {
    let Some(place) = field(name) else { return Ok(1) };
    let digits = &name[place.start + FIELD.len()..place.end];
    let add = |number: u64, digit: &u8| number.checked_mul(10)?.checked_add(u64::from(digit - b'0'));
    match digits.iter().try_fold(0, add) {
        None => Err(("the abundance in its name is too large", "use a ;size= below 2^64")),
        Some(0) => {
            Err(("the abundance in its name is 0", "use a ;size= of at least 1, or remove the record"))
        }
        Some(number) => Ok(number),
    }
}

/// Appends a name without its first abundance field, and a field with `abundance` at its end.
pub fn with_abundance(name: &[u8], abundance: u64, out: &mut Vec<u8>) {
    let begin = out.len();
    match field(name) {
        None => out.extend_from_slice(name),
        Some(place) => {
            let (before, behind) = (&name[..place.start], &name[place.end..]);
            out.extend_from_slice(before.strip_suffix(b";").unwrap_or(before));
            out.extend_from_slice(if out.len() == begin {
                behind.strip_prefix(b";").unwrap_or(behind)
            } else {
                behind
            });
        }
    }
    if out.len() > begin && out.last() == Some(&b';') {
        out.pop();
    }
    out.extend_from_slice(format!(";size={abundance}").as_bytes());
}

/// Position of the first field that consists of `size=` and digits. Semicolons separate fields.
fn field(name: &[u8]) -> Option<Range<usize>> {
    let mut begin = 0;
    for field in name.split(|&byte| byte == b';') {
        let digits = field.strip_prefix(FIELD).filter(|digits| !digits.is_empty());
        if digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_digit)) {
            return Some(begin..begin + field.len());
        }
        begin += field.len() + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_how_many() {
        let cases: [(&str, u64, &str); 11] = [
            ("a", 1, "a;size=9"),
            ("a;size=5", 5, "a;size=9"),
            ("a;size=5;", 5, "a;size=9"),
            ("a;size=5;x=1", 5, "a;x=1;size=9"),
            ("size=3;a", 3, "a;size=9"),
            ("size=3", 3, ";size=9"),
            ("a;size=4;size=5", 4, "a;size=5;size=9"),
            ("a;size=7x", 1, "a;size=7x;size=9"),
            ("a;sizes=3", 1, "a;sizes=3;size=9"),
            ("a;size=", 1, "a;size=;size=9"),
            ("a;", 1, "a;size=9"),
        ];
        for (name, number, with) in cases {
            assert_eq!(abundance(name.as_bytes()), Ok(number), "{name}");
            let mut out = b">".to_vec();
            with_abundance(name.as_bytes(), 9, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), format!(">{with}"));
        }
        assert!(abundance(b"a;size=0").unwrap_err().0.contains("is 0"));
        assert_eq!(abundance(b"a;size=18446744073709551615"), Ok(u64::MAX));
        assert!(abundance(b"a;size=18446744073709551616").unwrap_err().0.contains("too large"));
    }
}
