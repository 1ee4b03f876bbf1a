//! Checks that names differ, and compares names of mates.

use rayon::prelude::*;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Names that a thread hashes per task.
const RUN: usize = 1 << 13;

/// Finds the first name that repeats an earlier one, and returns the index of the earliest equal name and its own.
///
/// Sorting hashes on all threads takes a fraction of the time of a hash map, which one thread would fill. Names with
/// equal hashes are compared.
pub fn first_repeated(names: &[String]) -> Option<(usize, usize)> {
    let hash = |(place, name): (usize, &String)| {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        (hasher.finish(), place)
    };
    let mut hashes: Vec<(u64, usize)> = names.par_iter().with_min_len(RUN).enumerate().map(hash).collect();
    hashes.par_sort_unstable();
    let alike = hashes.chunk_by(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1);
    alike.filter_map(|alike| repeated_among(names, alike)).min_by_key(|&(_, later)| later)
}

/// The common name of two mates, without the suffixes that distinguish them; `None` if they are reads of different
/// pairs. The suffixes are `/1` and `/2`, one of which may be missing; `/` and other digits; or `.`, `_` or `:` and the
/// digit in both names.
pub fn pair_name<'a>(one: &'a str, other: &str) -> Option<&'a str> {
    let names = (one.strip_suffix("/1").unwrap_or(one), other.strip_suffix("/2").unwrap_or(other));
    if names.0 == names.1 {
        return Some(names.0);
    }
    let suffix = |name: &str| match *name.as_bytes() {
        [.., separator @ (b'.' | b'_' | b':'), digit @ (b'1' | b'2')] => Some((separator, digit)),
        [.., b'/', digit @ b'0'..=b'9'] => Some((b'/', digit)),
        _ => None,
    };
    let (own, mates) = (suffix(one)?, suffix(other)?);
    let (name, mate) = (&one[..one.len() - 2], &other[..other.len() - 2]);
    (own.0 == mates.0 && own.1 < mates.1 && name == mate).then_some(name)
}

/// The same among names with one hash, in their order. If all names differ, which for more than two only an attack on
/// the hash can cause, this compares all pairs.
fn repeated_among(names: &[String], alike: &[(u64, usize)]) -> Option<(usize, usize)> {
    alike.iter().enumerate().find_map(|(index, &(_, later))| {
        let mut before = alike[..index].iter().map(|&(_, earlier)| earlier);
        before.find(|&earlier| names[earlier] == names[later]).map(|earlier| (earlier, later))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_repeat_is_found() {
        let repeated =
            |names: &[&str]| first_repeated(&names.iter().map(|name| name.to_string()).collect::<Vec<_>>());
        assert_eq!(repeated(&[]), None);
        assert_eq!(repeated(&["a"]), None);
        assert_eq!(repeated(&["a", "b", "c"]), None);
        assert_eq!(repeated(&["a", "b", "b", "a", "b"]), Some((1, 2)));
        assert_eq!(repeated(&["a", "b", "a", "b", "b"]), Some((0, 2)));
        let many: Vec<String> = (0..30_000).map(|k| format!("n{}", k % 29_999)).collect();
        assert_eq!(first_repeated(&many), Some((0, 29_999)));
    }

    #[test]
    fn names_of_mates() {
        for (one, other, name) in [
            ("r", "r", Some("r")),
            ("r/1", "r/2", Some("r")),
            ("r/1", "r", Some("r")),
            ("r", "r/2", Some("r")),
            ("r.1", "r.2", Some("r")),
            ("r_1", "r_2", Some("r")),
            ("r:1", "r:2", Some("r")),
            ("r/1", "r/3", Some("r")),
            ("r.7.1", "r.7.2", Some("r.7")),
            ("r.1", "r.1", Some("r.1")),
            ("\u{e9}.1", "\u{e9}.2", Some("\u{e9}")),
            ("r.1", "r_2", None),
            ("r.2", "r.1", None),
            ("r.1", "s.2", None),
            ("r.1", "r", None),
            ("r.1", "r.3", None),
            ("r/1", "r/1", None),
            ("r/F", "r/R", None),
            ("r1", "r2", None),
            ("", "", Some("")),
        ] {
            assert_eq!(pair_name(one, other), name, "{one} {other}");
        }
    }

    #[test]
    fn names_of_one_hash_are_compared() {
        let names = ["a", "b", "c", "b"].map(str::to_string);
        let alike: Vec<(u64, usize)> = (0..4).map(|place| (7, place)).collect();
        assert_eq!(repeated_among(&names, &alike), Some((1, 3)));
        assert_eq!(repeated_among(&names, &alike[..3]), None);
    }
}
