//! Chooses the two primers of each pair: by their names, by a list of names, or all with all.
//!
//! A primer name is the pair's name and a side: `_LEFT` or `_RIGHT`, `_F` or `_R` (in either case), `/1` or `/2`. After
//! the first two kinds, the name may end in a number or in `alt` and a number, such as `_LEFT_2` or `_RIGHT_alt1`.
//! These are alternates: each forms a pair with each primer of the other side.

use super::Role;
use crate::terms::alignment::Strand;
use crate::terms::casts::to_u32;
use std::collections::{HashMap, HashSet};

/// Sides of names, first and second.
const SIDES: [[&str; 2]; 3] = [["_LEFT", "_RIGHT"], ["_F", "_R"], ["/1", "/2"]];

/// The pairs of patterns. Patterns are equivalent if they have the same partners: alternates, and patterns with the
/// same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternPairs {
    /// Names of pairs; `None` if every pattern pairs with every pattern, including itself.
    names: Option<Vec<String>>,
    /// For each pattern, its class of equivalent patterns; `None` if it is in no pair.
    class_of: Vec<Option<u32>>,
    /// For each class, the roles of its patterns on the forward strand.
    roles: Vec<Vec<Role>>,
}

/// A pair: any pattern of one class with any pattern of the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPair {
    pub name: String,
    pub classes: [u32; 2],
}

/// The reason why the name of the pattern at `place` forms no pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPair {
    /// The name has no side.
    NoSide { place: u32 },
    /// No pattern has the name of the other side.
    Alone { place: u32, partner: String },
}

/// A parsed primer name: the pair's name, the kind of side, and the side.
type Said<'a> = (&'a str, usize, usize);

impl PatternPairs {
    /// Pairs every pattern with every pattern, including itself.
    pub fn any() -> PatternPairs {
        let roles = vec![vec![Role { pair: None, strand: Strand::Forward, lane: 0 }]];
        PatternPairs { names: None, class_of: Vec::new(), roles }
    }

    /// The given pairs, no two of which have the same classes.
    pub fn named(class_of: Vec<Option<u32>>, pairs: Vec<NamedPair>) -> PatternPairs {
        let classes = class_of.iter().flatten().max().map_or(0, |&last| last as usize + 1);
        let mut roles = vec![Vec::new(); classes];
        let mut names = Vec::with_capacity(pairs.len());
        for (pair, NamedPair { name, classes: [first, second] }) in (0..).zip(pairs) {
            let mut join = |forward: u32, strand, lane| {
                roles[forward as usize].push(Role { pair: Some(pair), strand, lane });
            };
            join(first, Strand::Forward, second);
            if first != second {
                join(second, Strand::Reverse, first);
            }
            names.push(name);
        }
        PatternPairs { names: Some(names), class_of, roles }
    }

    /// The pairs formed by the names of all patterns, in the order of their first patterns.
    pub fn of_names(patterns: &[&str]) -> Result<PatternPairs, NoPair> {
        let mut places: HashMap<(&str, usize), usize> = HashMap::new();
        // Name and kind, and the first pattern of each side.
        let mut pairs: Vec<(&str, usize, [Option<u32>; 2])> = Vec::new();
        let mut class_of = Vec::with_capacity(patterns.len());
        for (place, name) in (0..).zip(patterns) {
            let (stem, kind, side) = said(name).ok_or(NoPair::NoSide { place })?;
            let at = *places.entry((stem, kind)).or_insert_with(|| {
                pairs.push((stem, kind, [None; 2]));
                pairs.len() - 1
            });
            pairs[at].2[side].get_or_insert(place);
            class_of.push(Some(to_u32(2 * at + side)));
        }
        for (name, kind, firsts) in &pairs {
            let alone = |place, other: usize| {
                let partner = format!("{name}{}", SIDES[*kind][other]);
                Err(NoPair::Alone { place, partner })
            };
            match *firsts {
                [Some(place), None] => return alone(place, 1),
                [None, Some(place)] => return alone(place, 0),
                _ => {}
            }
        }
        let named = |(at, &(name, ..)): (u32, &(&str, usize, _))| NamedPair {
            name: name.to_string(),
            classes: [2 * at, 2 * at + 1],
        };
        Ok(PatternPairs::named(class_of, (0..).zip(&pairs).map(named).collect()))
    }

    /// The pairs of a list of names, each of which stands for all patterns with that name. Duplicates, in either order,
    /// are left out. The error is the index in the list, and which of the two names belongs to no pattern.
    pub fn of_list(patterns: &[&str], list: &[[String; 2]]) -> Result<PatternPairs, (usize, usize)> {
        let known: HashSet<&str> = patterns.iter().copied().collect();
        let mut classes: HashMap<&str, u32> = HashMap::new();
        let (mut seen, mut pairs) = (HashSet::new(), Vec::new());
        for (at, names) in list.iter().enumerate() {
            let mut class = |side: usize| -> Result<u32, (usize, usize)> {
                let next = to_u32(classes.len());
                let name = *known.get(&*names[side]).ok_or((at, side))?;
                Ok(*classes.entry(name).or_insert(next))
            };
            let (first, second) = (class(0)?, class(1)?);
            if seen.insert((first.min(second), first.max(second))) {
                pairs.push(NamedPair { name: names.join(","), classes: [first, second] });
            }
        }
        let class_of = patterns.iter().map(|name| classes.get(name).copied()).collect();
        Ok(PatternPairs::named(class_of, pairs))
    }

    /// The name of a pair; `None` if every pattern pairs with every pattern.
    pub fn name(&self, pair: u32) -> Option<&str> {
        self.names.as_ref().map(|names| &*names[pair as usize])
    }

    /// The names of all pairs; empty if every pattern pairs with every pattern.
    pub fn names(&self) -> &[String] {
        self.names.as_deref().unwrap_or_default()
    }

    /// Number of patterns in no pair.
    pub fn left_out(&self) -> usize {
        self.class_of.iter().filter(|class| class.is_none()).count()
    }

    pub(super) fn lanes(&self) -> usize {
        self.roles.len()
    }

    /// The lane of a pattern's sites on the reverse strand, if it is in a pair.
    pub(super) fn lane(&self, pattern: u32) -> Option<u32> {
        if self.names.is_none() { Some(0) } else { self.class_of[pattern as usize] }
    }

    /// The strand of an amplicon with the pattern `forward` on the forward strand and `reverse` on the reverse strand;
    /// `None` if the two are no pair.
    pub(super) fn strand(&self, forward: u32, reverse: u32) -> Option<Strand> {
        let lane = self.lane(reverse)?;
        let role = self.roles(forward).iter().find(|role| role.lane == lane)?;
        Some(role.strand_of(forward, reverse))
    }

    /// The roles of a pattern on the forward strand.
    pub(super) fn roles(&self, pattern: u32) -> &[Role] {
        self.lane(pattern).map_or(&[], |class| &self.roles[class as usize])
    }
}

/// Parses a primer name.
fn said(name: &str) -> Option<Said<'_>> {
    let of = |name: &'_ str| side(name).filter(|&(len, _, _)| len > 0);
    let (len, kind, side) = of(name).or_else(|| {
        let alternate = name.rfind('_').filter(|&at| is_alternate(&name[at + 1..]))?;
        of(&name[..alternate]).filter(|&(_, kind, _)| SIDES[kind][0].starts_with('_'))
    })?;
    Some((&name[..len], kind, side))
}

/// Splits off the side that `name` ends in: the length of the pair's name, the kind of side, and the side.
fn side(name: &str) -> Option<(usize, usize, usize)> {
    let ends_in = |side: &str| {
        let len = name.len().checked_sub(side.len())?;
        name.as_bytes()[len..].eq_ignore_ascii_case(side.as_bytes()).then_some(len)
    };
    SIDES.iter().enumerate().find_map(|(kind, [first, second])| {
        let first = ends_in(first).map(|len| (len, kind, 0));
        first.or_else(|| ends_in(second).map(|len| (len, kind, 1)))
    })
}

/// Whether the text is the suffix of an alternate: a number, or `alt` with or without a number.
fn is_alternate(text: &str) -> bool {
    let is_alt = text.get(..3).is_some_and(|begin| begin.eq_ignore_ascii_case("alt"));
    let number = if is_alt { &text[3..] } else { text };
    number.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_of_names() {
        for (name, expected) in [
            ("nCoV-2019_1_LEFT", Some(("nCoV-2019_1", 0, 0))),
            ("nCoV-2019_7_RIGHT_alt5", Some(("nCoV-2019_7", 0, 1))),
            ("SARS-CoV-2_1_LEFT_1", Some(("SARS-CoV-2_1", 0, 0))),
            ("x_left_alt", Some(("x", 0, 0))),
            ("x_Right_ALT12", Some(("x", 0, 1))),
            ("16S_F", Some(("16S", 1, 0))),
            ("16S_r", Some(("16S", 1, 1))),
            ("16S_R_2", Some(("16S", 1, 1))),
            ("a_F_R", Some(("a_F", 1, 1))),
            ("read/1", Some(("read", 2, 0))),
            ("read/2", Some(("read", 2, 1))),
            // The last side in a name counts.
            ("x_LEFT_1_R", Some(("x_LEFT_1", 1, 1))),
            ("read/1_2", None),
            ("x_LEFT_beta", None),
            ("x_LEFT_", None),
            ("x_LEFT_alt1_alt2", None),
            ("x_LEFT_alt1b", None),
            ("27F", None),
            ("xF", None),
            ("LEFT", None),
            ("_LEFT", None),
            ("_F_1", None),
            ("/1", None),
            ("", None),
            ("_", None),
            ("é_LEFT", Some(("é", 0, 0))),
            ("x_LEFT_é", None),
            ("é", None),
        ] {
            assert_eq!(said(name), expected, "{name}");
        }
    }

    fn pair((name, classes): &(&str, [u32; 2])) -> NamedPair {
        NamedPair { name: name.to_string(), classes: *classes }
    }

    #[test]
    fn pairs_of_names() {
        let named = |patterns: &[&str], classes: &[u32], pairs: &[&str]| {
            let pairs = (0..).step_by(2).zip(pairs).map(|(class, name)| pair(&(name, [class, class + 1])));
            let expected = PatternPairs::named(classes.iter().copied().map(Some).collect(), pairs.collect());
            assert_eq!(PatternPairs::of_names(patterns), Ok(expected), "{patterns:?}");
        };
        named(&["b_RIGHT", "a_LEFT", "b_LEFT", "a_RIGHT"], &[1, 2, 0, 3], &["b", "a"]);
        named(&["a_LEFT", "a_LEFT_alt1", "a_RIGHT_1", "a_RIGHT_2"], &[0, 0, 1, 1], &["a"]);
        named(&["a_F", "a_LEFT", "a_R", "a_right"], &[0, 2, 1, 3], &["a", "a"]);
        named(&["a/1", "a/2", "a/1"], &[0, 1, 0], &["a"]);
        let alone = |place, partner: &str| Err(NoPair::Alone { place, partner: partner.to_string() });
        assert_eq!(PatternPairs::of_names(&["a_LEFT", "a_RIGHT", "probe"]), Err(NoPair::NoSide { place: 2 }));
        assert_eq!(PatternPairs::of_names(&["a_LEFT", "a_RIGHT", "b_LEFT"]), alone(2, "b_RIGHT"));
        assert_eq!(PatternPairs::of_names(&["b/2", "a_F", "a_R"]), alone(0, "b/1"));
        // The two names have sides of different kinds.
        assert_eq!(PatternPairs::of_names(&["a_LEFT", "a_R"]), alone(0, "a_RIGHT"));
    }

    #[test]
    fn pairs_of_a_list() {
        let list =
            |pairs: &[[&str; 2]]| pairs.iter().map(|names| names.map(str::to_string)).collect::<Vec<_>>();
        let patterns = ["x", "y", "x", "z"];
        let pairs =
            PatternPairs::of_list(&patterns, &list(&[["y", "x"], ["x", "y"], ["x", "x"], ["y", "x"]]))
                .unwrap();
        let expected = [("y,x", [0, 1]), ("x,x", [1, 1])].iter().map(pair).collect();
        assert_eq!(pairs, PatternPairs::named(vec![Some(1), Some(0), Some(1), None], expected));
        assert_eq!((pairs.left_out(), pairs.name(1)), (1, Some("x,x")));
        assert_eq!(PatternPairs::of_list(&patterns, &list(&[["x", "y"], ["x", "w"]])), Err((1, 1)));
        assert_eq!(PatternPairs::of_list(&patterns, &list(&[["w", "v"]])), Err((0, 0)));
    }
}
