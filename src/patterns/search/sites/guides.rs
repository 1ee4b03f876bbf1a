//! Guides: patterns read away from the PAM, in groups that share seeds.

use super::seeds::{MOST_LETTERS, Seed, SeedTable};
use crate::patterns::search::pattern::BaseClass;
use crate::patterns::sliced::packed::BasePlanes;
use crate::terms::casts::{to_i32, to_u32, to_usize};

/// Maximum length of a guide plus its edits, in bases: the bits of a window.
pub const MOST_SPAN: usize = 64;
/// Maximum number of edits of a seed.
const MOST_SEED_EDITS: usize = 2;
/// Minimum length of a seed in bases.
const FEWEST_LETTERS: usize = 5;
/// Number of bases of a guide that the choice of seeds considers.
const LOOKED_AT: usize = 2 * MOST_LETTERS;
/// Approximate maximum number of seed words per group, at 12 to 16 bytes each.
const MOST_WORDS: usize = 1 << 23;
/// Maximum number of words of all groups whose tables are kept. If there are more, the tables of each group are rebuilt
/// for each batch of text, which has about `SITES` sites.
pub const MOST_KEPT: usize = 1 << 24;
const SITES: f64 = 2e6;

/// Approximate nanoseconds on one core: for a table lookup, by whether the bits for the seed's length fit in a core's
/// first-level cache; for comparing a guide that a word leads to; and for making a word of a guide.
const LOOK: f64 = 2.5;
const FAR_LOOK: f64 = 6.0;
const NEAR_LETTERS: usize = 9;
pub const COMPARE: f64 = 60.0;
const MAKE_WORD: f64 = 190.0;

/// A guide: its classes read away from the PAM, its number, and its maximum number of edits.
#[derive(Clone, Debug)]
pub struct Guide {
    pub number: u32,
    pub classes: Vec<BaseClass>,
    pub edits: usize,
}

/// The seeds of a group. With `k` edits, either the first seed has at most `a` of them, or the second seed has at most
/// `k - a - 1` and begins at most `k` bases off its position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GuideSeeds {
    pub first: Seed,
    pub second: Option<Seed>,
}

/// Guides that are searched for together.
#[derive(Clone, Debug)]
pub struct Plan {
    pub guides: Vec<Guide>,
    pub edits: usize,
    pub indels: bool,
    pub seeds: GuideSeeds,
    /// Cost of a site.
    pub of_site: f64,
    /// Approximate number of words of all guides.
    pub words: usize,
}

impl Plan {
    /// Plans for guides, and the numbers of the guides that fit in no plan.
    pub fn all(mut guides: Vec<Guide>, indels: bool) -> (Vec<Plan>, Vec<u32>) {
        let (mut plans, mut others) = (Vec::new(), Vec::new());
        let key = |guide: &Guide| (guide.edits, guide.classes.len().min(LOOKED_AT));
        guides.sort_by_key(key);
        let counts = SeedWordCounts::new(indels);
        for same in guides.chunk_by(|a, b| key(a) == key(b)) {
            let (edits, len) = key(&same[0]);
            let most = same.iter().map(|guide| guide.classes.len()).max().unwrap_or(0);
            let fits = most + if indels { edits } else { 0 } <= MOST_SPAN;
            let Some((seeds, _)) = fits.then(|| counts.best(len, edits, same.len())).flatten() else {
                others.extend(same.iter().map(|guide| guide.number));
                continue;
            };
            let words_of = |guide: &Guide| -> Option<()> {
                seeds.first.words(&guide.classes)?;
                seeds.second.map_or(Some(()), |seed| seed.words(&guide.classes).map(drop))
            };
            // Only ambiguous IUPAC codes produce many words.
            let is_plain = |guide: &Guide| guide.classes.iter().all(|class| class.is_power_of_two());
            let (own, too_many): (Vec<&Guide>, Vec<&Guide>) =
                same.iter().partition(|guide| is_plain(guide) || words_of(guide).is_some());
            others.extend(too_many.iter().map(|guide| guide.number));
            let words = counts.words(&seeds);
            for guides in own.chunks((MOST_WORDS / words).max(1)) {
                plans.push(Plan {
                    edits,
                    indels,
                    seeds,
                    of_site: counts.cost(&seeds, edits, guides.len()),
                    words: guides.len() * words,
                    guides: guides.iter().map(|&guide| guide.clone()).collect(),
                });
            }
        }
        (plans, others)
    }

    /// Cost of building the tables.
    pub fn of_tables(&self) -> f64 {
        self.words as f64 * MAKE_WORD
    }

    /// Length of the longest guide plus its edits, in bases.
    pub fn span(&self) -> usize {
        let most = self.guides.iter().map(|guide| guide.classes.len()).max().unwrap_or(0);
        most + if self.indels { self.edits } else { 0 }
    }
}

/// Number of words of a seed without ambiguous bases, by its length and edits.
struct SeedWordCounts {
    indels: bool,
    words: [[usize; MOST_LETTERS + 1]; MOST_SEED_EDITS + 1],
}

impl SeedWordCounts {
    fn new(indels: bool) -> SeedWordCounts {
        // A sequence with few repeats; the counts hardly depend on it.
        let guide: Vec<BaseClass> = [0, 1, 3, 2, 2, 0, 3, 1, 1, 2, 0, 3].map(|base: u32| 1 << base).to_vec();
        let mut words = [[0; MOST_LETTERS + 1]; MOST_SEED_EDITS + 1];
        for (edits, words) in words.iter_mut().enumerate() {
            for (letters, words) in words.iter_mut().enumerate().skip(FEWEST_LETTERS) {
                let seed = Seed { at: 0, letters, edits, indels };
                *words = seed.words(&guide).map_or(usize::MAX, |words| words.len());
            }
        }
        SeedWordCounts { indels, words }
    }

    fn of(&self, seed: &Seed) -> usize {
        self.words[seed.edits][seed.letters]
    }

    /// Number of words per guide.
    fn words(&self, seeds: &GuideSeeds) -> usize {
        self.of(&seeds.first) + seeds.second.map_or(0, |seed| self.of(&seed))
    }

    /// Cost of a site with `guides` guides, which may form several groups.
    fn cost(&self, seeds: &GuideSeeds, edits: usize, guides: usize) -> f64 {
        let words = guides * self.words(seeds);
        let groups = words.div_ceil(MOST_WORDS) as f64;
        let cost = |seed: &Seed, looks: usize| {
            let look = if seed.letters <= NEAR_LETTERS { LOOK } else { FAR_LOOK };
            let share = self.of(seed) as f64 / 4f64.powi(to_i32(seed.letters));
            looks as f64 * (groups * look + share * guides as f64 * COMPARE)
        };
        let looks = if self.indels { 2 * edits + 1 } else { 1 };
        let made_anew = if words > MOST_KEPT { words as f64 * MAKE_WORD / SITES } else { 0.0 };
        made_anew + cost(&seeds.first, 1) + seeds.second.map_or(0.0, |seed| cost(&seed, looks))
    }

    /// The seeds with the lowest cost for guides of at least `len` bases; `None` if guides are too short.
    fn best(&self, len: usize, edits: usize, guides: usize) -> Option<(GuideSeeds, f64)> {
        let mut best: Option<(GuideSeeds, f64)> = None;
        let seed = |at, letters, edits| Seed { at, letters, edits, indels: self.indels };
        for first_edits in 0..=edits.min(MOST_SEED_EDITS) {
            for letters in FEWEST_LETTERS..=len.min(MOST_LETTERS) {
                let first = seed(0, letters, first_edits);
                let second = match edits - first_edits {
                    0 => None,
                    more => {
                        let second = seed(letters, (len - letters).min(MOST_LETTERS), more - 1);
                        if more - 1 > MOST_SEED_EDITS || second.letters < FEWEST_LETTERS || letters < edits {
                            continue;
                        }
                        Some(second)
                    }
                };
                let seeds = GuideSeeds { first, second };
                let cost = self.cost(&seeds, edits, guides);
                if best.is_none_or(|(_, least)| cost < least) {
                    best = Some((seeds, cost));
                }
            }
        }
        best
    }
}

/// A plan with its tables.
#[derive(Debug)]
pub struct GuideGroup {
    pub first: SeedTable,
    pub second: Option<SeedTable>,
    pub profiles: Vec<GuideProfile>,
    pub edits: u32,
    pub indels: bool,
    pub span: usize,
    pub of_site: f64,
}

impl GuideGroup {
    pub fn new(plan: &Plan) -> GuideGroup {
        let classes: Vec<&[BaseClass]> = plan.guides.iter().map(|guide| &guide.classes[..]).collect();
        GuideGroup {
            first: SeedTable::new(plan.seeds.first, &classes),
            second: plan.seeds.second.map(|seed| SeedTable::new(seed, &classes)),
            profiles: plan.guides.iter().map(GuideProfile::new).collect(),
            edits: to_u32(plan.edits),
            indels: plan.indels,
            span: plan.span(),
            of_site: plan.of_site,
        }
    }

    /// Offsets of the second seed to try.
    pub fn shifts(&self, second: &SeedTable) -> std::ops::RangeInclusive<usize> {
        let off = if self.indels { self.edits as usize } else { 0 };
        second.seed.at - off..=second.seed.at + off
    }
}

/// Match masks of a guide: for each text code, the guide's bases that match it.
#[derive(Clone, Copy, Debug)]
pub struct GuideProfile {
    pub number: u32,
    letters: u32,
    /// By the code of a base; rows from 4 on are for other characters.
    rows: [u64; 8],
}

impl GuideProfile {
    fn new(guide: &Guide) -> GuideProfile {
        let row = |letter: u32| {
            let bits = (0..).zip(&guide.classes);
            bits.map(|(row, class)| u64::from(class >> letter & 1) << row).sum()
        };
        let rows = std::array::from_fn(|letter| row(to_u32(letter).min(4)));
        GuideProfile { number: guide.number, letters: to_u32(guide.classes.len()), rows }
    }

    /// Minimum number of edits of the guide in a stretch that begins with the window and has between one and `letters`
    /// bases; `None` if it exceeds `most`.
    ///
    /// Computes the columns of `D` (Myers 1999) with `D(0,j) = j`, because the stretch begins at the PAM.
    #[inline(always)]
    pub fn fewest(&self, window: BasePlanes, letters: usize, most: u32) -> Option<u32> {
        let BasePlanes { mut low, mut high, mut other } = window;
        let last = self.letters - 1;
        let (mut plus, mut minus) = (u64::MAX, 0u64);
        let (mut edits, mut fewest) = (self.letters, u32::MAX);
        for left in (0..to_u32(letters.min(MOST_SPAN))).rev() {
            let letter = (low & 1) | (high & 1) << 1 | (other & 1) << 2;
            (low, high, other) = (low >> 1, high >> 1, other >> 1);
            let matches = self.rows[to_usize(letter)];
            let same = matches | minus;
            let across = (((matches & plus).wrapping_add(plus)) ^ plus) | matches;
            let mut up = minus | !(across | plus);
            let mut down = plus & across;
            edits = edits + (up >> last & 1) as u32 - (down >> last & 1) as u32;
            (up, down) = (up << 1 | 1, down << 1);
            plus = down | !(same | up);
            minus = up & same;
            fewest = fewest.min(edits);
            if edits > most + left {
                break;
            }
        }
        (fewest <= most).then_some(fewest)
    }

    /// Number of mismatches between the guide and the window, which has `letters` bases; `None` if there are too many.
    #[inline(always)]
    pub fn differing(&self, window: BasePlanes, letters: usize, most: u32) -> Option<u32> {
        if letters < self.letters as usize {
            return None;
        }
        let BasePlanes { low, high, other } = window;
        let bases = [!low & !high, low & !high, !low & high, low & high];
        let of_bases = bases.iter().zip(&self.rows).fold(0, |all, (base, row)| all | base & row);
        let matches = of_bases & !other | other & self.rows[4];
        let differ = (!matches & u64::MAX >> (64 - self.letters)).count_ones();
        (differ <= most).then_some(differ)
    }
}
