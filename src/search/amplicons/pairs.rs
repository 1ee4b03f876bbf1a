//! Which patterns are the two primers of a pair: told by their names, by a list of names, or all with all.
//!
//! A name is a pair's name and a side: `_LEFT` or `_RIGHT`, `_F` or `_R` (in either case), `/1` or `/2`. Behind the
//! first two there may be a number or `alt` with a number, such as `_LEFT_2`, `_RIGHT_alt1`: alternates, of which each
//! forms pairs with each of the other side.

use super::Role;
use crate::alignment::Strand;
use std::collections::{BTreeMap, HashMap};

/// Sides of names, first and second.
const SIDES: [[&str; 2]; 3] = [["_LEFT", "_RIGHT"], ["_F", "_R"], ["/1", "/2"]];

/// Which patterns go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pairs {
    /// Names of pairs; `None` where each pattern goes with each, itself included.
    names: Option<Vec<String>>,
    /// Of each pattern, what it does on the forward strand.
    roles: Vec<Vec<Role>>,
    /// Of each pattern, the lanes of its sites on the reverse strand.
    lanes_of: Vec<Vec<u32>>,
}

/// A pair with its primers, by their places among the patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPair {
    pub name: String,
    pub first: Vec<u32>,
    pub second: Vec<u32>,
}

/// Why names tell no pair of the pattern at `place`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPair {
    /// The name has no side.
    NoSide { place: u32 },
    /// No name has the other side.
    Alone { place: u32, partner: String },
}

/// What a name says: the pair's name, the kind of its sides, and whether it is the second.
type Said<'a> = (&'a str, usize, bool);

impl Pairs {
    /// Each pattern with each, itself included.
    pub fn any() -> Pairs {
        Pairs { names: None, roles: Vec::new(), lanes_of: Vec::new() }
    }

    /// These pairs of `patterns` patterns. No two pairs have a primer of each side in common.
    pub fn named(patterns: usize, pairs: Vec<NamedPair>) -> Pairs {
        let mut roles = vec![Vec::new(); patterns];
        let mut lanes_of = vec![Vec::new(); patterns];
        let mut names = Vec::with_capacity(pairs.len());
        for (pair, NamedPair { name, first, second }) in (0..).zip(pairs) {
            // The sites of first primers on the reverse strand, and those of second ones.
            let lanes = [2 * pair, 2 * pair + 1];
            let mut join = |forward: &[u32], reverse: &[u32], strand, lane| {
                forward.iter().for_each(|&p| roles[p as usize].push(Role { pair: Some(pair), strand, lane }));
                reverse.iter().for_each(|&p| lanes_of[p as usize].push(lane));
            };
            join(&first, &second, Strand::Forward, lanes[1]);
            if first != second {
                join(&second, &first, Strand::Reverse, lanes[0]);
            }
            names.push(name);
        }
        Pairs { names: Some(names), roles, lanes_of }
    }

    /// The pairs that the names of all patterns tell, in the order of their first patterns.
    pub fn of_names(patterns: &[&str]) -> Result<Pairs, NoPair> {
        let mut places: HashMap<(&str, usize), usize> = HashMap::new();
        let mut pairs: Vec<(NamedPair, usize)> = Vec::new();
        for (place, name) in (0..).zip(patterns) {
            let (stem, kind, is_second) = said(name).ok_or(NoPair::NoSide { place })?;
            let at = *places.entry((stem, kind)).or_insert_with(|| {
                pairs.push((
                    NamedPair { name: stem.to_string(), first: Vec::new(), second: Vec::new() },
                    kind,
                ));
                pairs.len() - 1
            });
            let (pair, _) = &mut pairs[at];
            if is_second { &mut pair.second } else { &mut pair.first }.push(place);
        }
        for (NamedPair { name, first, second }, kind) in &pairs {
            let alone = |places: &[u32], other: usize| match places.first() {
                Some(&place) => {
                    Err(NoPair::Alone { place, partner: format!("{name}{}", SIDES[*kind][other]) })
                }
                None => Ok(()),
            };
            if second.is_empty() {
                alone(first, 1)?;
            } else if first.is_empty() {
                alone(second, 0)?;
            }
        }
        Ok(Pairs::named(patterns.len(), pairs.into_iter().map(|(pair, _)| pair).collect()))
    }

    /// The pairs of a list of names, which stand for all patterns of that name. A pair that was listed before, either way
    /// round, is left out. The error is the place in the list, and which of the two names is no pattern's.
    pub fn of_list(patterns: &[&str], list: &[[String; 2]]) -> Result<Pairs, (usize, usize)> {
        let mut places: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        (0..).zip(patterns).for_each(|(place, name)| places.entry(name).or_default().push(place));
        let mut seen = std::collections::HashSet::new();
        let mut pairs = Vec::new();
        for (at, names) in list.iter().enumerate() {
            let of = |side: usize| places.get(&*names[side]).cloned().ok_or((at, side));
            let (first, second) = (of(0)?, of(1)?);
            let mut both = names.clone();
            both.sort_unstable();
            if seen.insert(both) {
                pairs.push(NamedPair { name: names.join(","), first, second });
            }
        }
        Ok(Pairs::named(patterns.len(), pairs))
    }

    /// The name of a pair; `None` where each pattern goes with each.
    pub fn name(&self, pair: u32) -> Option<&str> {
        self.names.as_ref().map(|names| &*names[pair as usize])
    }

    /// Patterns that are in no pair.
    pub fn left_out(&self) -> usize {
        let roles = self.roles.iter().zip(&self.lanes_of);
        roles.filter(|(roles, lanes)| roles.is_empty() && lanes.is_empty()).count()
    }

    pub(super) fn lanes(&self) -> usize {
        self.names.as_ref().map_or(1, |names| 2 * names.len())
    }

    pub(super) fn has_forward(&self, pattern: u32) -> bool {
        self.names.is_none() || !self.roles[pattern as usize].is_empty()
    }

    /// What a pattern does on the forward strand.
    pub(super) fn roles(&self, pattern: u32) -> &[Role] {
        const WITH_EACH: &[Role] = &[Role { pair: None, strand: Strand::Forward, lane: 0 }];
        if self.names.is_none() { WITH_EACH } else { &self.roles[pattern as usize] }
    }

    /// The lanes of a pattern's sites on the reverse strand.
    pub(super) fn lanes_of(&self, pattern: u32) -> &[u32] {
        if self.names.is_none() { &[0] } else { &self.lanes_of[pattern as usize] }
    }
}

/// What a name says of a pair.
fn said(name: &str) -> Option<Said<'_>> {
    let of = |name: &'_ str| side(name).filter(|&(len, _, _)| len > 0);
    let (len, kind, is_second) = of(name).or_else(|| {
        let alternate = name.rfind('_').filter(|&at| is_alternate(&name[at + 1..]))?;
        of(&name[..alternate]).filter(|&(_, kind, _)| SIDES[kind][0].starts_with('_'))
    })?;
    Some((&name[..len], kind, is_second))
}

/// The length of a pair's name before the side that `name` ends in, the kind of the side, and whether it is the second.
fn side(name: &str) -> Option<(usize, usize, bool)> {
    let ends_in = |side: &str| {
        let len = name.len().checked_sub(side.len())?;
        name.as_bytes()[len..].eq_ignore_ascii_case(side.as_bytes()).then_some(len)
    };
    SIDES.iter().enumerate().find_map(|(kind, [first, second])| {
        let first = ends_in(first).map(|len| (len, kind, false));
        first.or_else(|| ends_in(second).map(|len| (len, kind, true)))
    })
}

/// Whether this tells alternates apart: a number, or `alt` with a number or without.
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
            ("nCoV-2019_1_LEFT", Some(("nCoV-2019_1", 0, false))),
            ("nCoV-2019_7_RIGHT_alt5", Some(("nCoV-2019_7", 0, true))),
            ("SARS-CoV-2_1_LEFT_1", Some(("SARS-CoV-2_1", 0, false))),
            ("x_left_alt", Some(("x", 0, false))),
            ("x_Right_ALT12", Some(("x", 0, true))),
            ("16S_F", Some(("16S", 1, false))),
            ("16S_r", Some(("16S", 1, true))),
            ("16S_R_2", Some(("16S", 1, true))),
            ("a_F_R", Some(("a_F", 1, true))),
            ("read/1", Some(("read", 2, false))),
            ("read/2", Some(("read", 2, true))),
            // The side is what stands last.
            ("x_LEFT_1_R", Some(("x_LEFT_1", 1, true))),
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
            ("é_LEFT", Some(("é", 0, false))),
            ("x_LEFT_é", None),
            ("é", None),
        ] {
            assert_eq!(said(name), expected, "{name}");
        }
    }

    #[test]
    fn pairs_of_names() {
        let named = |patterns: &[&str], expected: &[(&str, &[u32], &[u32])]| {
            let pair = |&(name, first, second): &(&str, &[u32], &[u32])| NamedPair {
                name: name.to_string(),
                first: first.to_vec(),
                second: second.to_vec(),
            };
            let expected = Pairs::named(patterns.len(), expected.iter().map(pair).collect());
            assert_eq!(Pairs::of_names(patterns), Ok(expected), "{patterns:?}");
        };
        named(&["b_RIGHT", "a_LEFT", "b_LEFT", "a_RIGHT"], &[("b", &[2], &[0]), ("a", &[1], &[3])]);
        named(&["a_LEFT", "a_LEFT_alt1", "a_RIGHT_1", "a_RIGHT_2"], &[("a", &[0, 1], &[2, 3])]);
        named(&["a_F", "a_LEFT", "a_R", "a_right"], &[("a", &[0], &[2]), ("a", &[1], &[3])]);
        named(&["a/1", "a/2", "a/1"], &[("a", &[0, 2], &[1])]);
        let alone = |place, partner: &str| Err(NoPair::Alone { place, partner: partner.to_string() });
        assert_eq!(Pairs::of_names(&["a_LEFT", "a_RIGHT", "probe"]), Err(NoPair::NoSide { place: 2 }));
        assert_eq!(Pairs::of_names(&["a_LEFT", "a_RIGHT", "b_LEFT"]), alone(2, "b_RIGHT"));
        assert_eq!(Pairs::of_names(&["b/2", "a_F", "a_R"]), alone(0, "b/1"));
        // The sides are of two kinds.
        assert_eq!(Pairs::of_names(&["a_LEFT", "a_R"]), alone(0, "a_RIGHT"));
    }

    #[test]
    fn pairs_of_a_list() {
        let list =
            |pairs: &[[&str; 2]]| pairs.iter().map(|names| names.map(str::to_string)).collect::<Vec<_>>();
        let patterns = ["x", "y", "x", "z"];
        let pairs =
            Pairs::of_list(&patterns, &list(&[["y", "x"], ["x", "y"], ["x", "x"], ["y", "x"]])).unwrap();
        let expected = [("y,x", vec![1], vec![0, 2]), ("x,x", vec![0, 2], vec![0, 2])];
        let pair = |(name, first, second): (&str, _, _)| NamedPair { name: name.to_string(), first, second };
        assert_eq!(pairs, Pairs::named(4, expected.into_iter().map(pair).collect()));
        assert_eq!((pairs.left_out(), pairs.name(1)), (1, Some("x,x")));
        assert_eq!(Pairs::of_list(&patterns, &list(&[["x", "y"], ["x", "w"]])), Err((1, 1)));
        assert_eq!(Pairs::of_list(&patterns, &list(&[["w", "v"]])), Err((0, 0)));
    }
}
