//! The lines of a receipt that specify how a merge of parts of the references chooses hits.

use crate::align::quality::Typical;
use crate::terms::alphabet::Alphabet;
use crate::terms::insert::{InsertSize, MOST_INSERT, Orientation};
use crate::terms::options::{Column, HitLimits, Rank};
use std::iter::Peekable;

const HITS: &str = "hits\t";
const LIMITS: &str = "limits\t";
const MATES: &str = "mates\t";
const LIST: &str = "list\t";

/// Rules by which hits are chosen, and the values that their mapping quality depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct HitSelection {
    pub min_score: i32,
    pub secondary_ppm: i64,
    pub limits: HitLimits,
    pub typical: Typical,
    pub mates: Option<MatesInReceipt>,
    pub list: Option<ListInReceipt>,
}

/// Rules by which hits of lists are chosen, and how they are shown.
#[derive(Clone, Debug, PartialEq)]
pub struct ListInReceipt {
    pub rank: Rank,
    pub alphabet: Alphabet,
    pub columns: Vec<Column>,
}

/// Rules by which pairs of mates are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatesInReceipt {
    pub insert: InsertSize,
    /// As in [`crate::align::quality::PairScores`].
    pub match_: i32,
    pub close: i64,
}

impl HitSelection {
    /// All lines of the choice.
    pub fn lines(&self) -> String {
        let HitSelection {
            min_score,
            secondary_ppm,
            limits,
            typical: Typical { match_, mismatch },
            mates,
            list,
        } = self;
        let hits = format!("{HITS}{min_score}\t{secondary_ppm}\t{match_}\t{mismatch}\n");
        let mates = mates.as_ref().map_or(String::new(), MatesInReceipt::line);
        let list = list.as_ref().map_or(String::new(), ListInReceipt::line);
        hits + &line_of(limits) + &mates + &list
    }

    /// Parses the lines that begin here.
    pub fn parse<'a>(lines: &mut Peekable<impl Iterator<Item = &'a str>>) -> Option<HitSelection> {
        let fields: Vec<&str> = lines.next()?.strip_prefix(HITS)?.split('\t').collect();
        let &[min_score, secondary_ppm, match_, mismatch] = &fields[..] else { return None };
        let limits = limits_of(lines.next()?)?;
        let mates = match lines.next_if(|line| line.starts_with(MATES)) {
            Some(line) => Some(MatesInReceipt::parse(line)?),
            None => None,
        };
        let list = match lines.next_if(|line| line.starts_with(LIST)) {
            Some(line) => Some(ListInReceipt::parse(line)?),
            None => None,
        };
        Some(HitSelection {
            min_score: min_score.parse().ok()?,
            secondary_ppm: secondary_ppm.parse().ok()?,
            limits,
            typical: Typical { match_: match_.parse().ok()?, mismatch: mismatch.parse().ok()? },
            mates,
            list,
        })
    }

    /// Whether its numbers can be those of a run.
    pub fn makes_sense(&self) -> bool {
        is_sound(&self.limits)
            && self.typical.match_ > 0
            && (0..=1_000_000).contains(&self.secondary_ppm)
            && self.mates.is_none_or(|mates| mates.makes_sense())
    }
}

impl MatesInReceipt {
    fn line(&self) -> String {
        let MatesInReceipt { insert: InsertSize { orientation, mean, deviation }, match_, close } = self;
        let orientation = orientation.name();
        format!("{MATES}{orientation}\t{mean}\t{deviation}\t{match_}\t{close}\n")
    }

    fn parse(line: &str) -> Option<MatesInReceipt> {
        let fields: Vec<&str> = line.strip_prefix(MATES)?.split('\t').collect();
        let &[orientation, mean, deviation, match_, close] = &fields[..] else { return None };
        let insert = InsertSize {
            orientation: Orientation::named(orientation)?,
            mean: mean.parse().ok()?,
            deviation: deviation.parse().ok()?,
        };
        Some(MatesInReceipt { insert, match_: match_.parse().ok()?, close: close.parse().ok()? })
    }

    fn makes_sense(&self) -> bool {
        let InsertSize { mean, deviation, .. } = self.insert;
        let is_size = |size| (1..=MOST_INSERT).contains(&size);
        is_size(mean) && is_size(deviation) && self.match_ > 0 && self.close >= 0
    }
}

impl ListInReceipt {
    fn line(&self) -> String {
        let (rank, alphabet) = (name_of(self.rank), self.alphabet);
        let columns = self.columns.iter().map(|column| column.name()).collect::<Vec<_>>().join(",");
        format!("{LIST}{rank}\t{alphabet}\t{columns}\n")
    }

    fn parse(line: &str) -> Option<ListInReceipt> {
        let fields: Vec<&str> = line.strip_prefix(LIST)?.split('\t').collect();
        let &[rank, alphabet, columns] = &fields[..] else { return None };
        let ranks = [Rank::Score, Rank::Raw, Rank::Evalue, Rank::Identity];
        let rank = ranks.into_iter().find(|known| name_of(*known) == rank)?;
        let known = [Alphabet::Dna, Alphabet::Protein];
        let alphabet = known.into_iter().find(|known| known.to_string() == alphabet)?;
        Some(ListInReceipt { rank, alphabet, columns: Column::parse(columns).ok()? })
    }
}

fn line_of(limits: &HitLimits) -> String {
    let HitLimits { max_hits, max_targets, max_per_target, keeps_ties, identity, coverage } = limits;
    let ties = u8::from(*keeps_ties);
    format!("{LIMITS}{max_hits}\t{max_targets}\t{max_per_target}\t{ties}\t{identity:e}\t{coverage:e}\n")
}

/// Parses the line of limits.
fn limits_of(line: &str) -> Option<HitLimits> {
    let fields: Vec<&str> = line.strip_prefix(LIMITS)?.split('\t').collect();
    let &[max_hits, max_targets, max_per_target, ties, identity, coverage] = &fields[..] else { return None };
    Some(HitLimits {
        max_hits: max_hits.parse().ok()?,
        max_targets: max_targets.parse().ok()?,
        max_per_target: max_per_target.parse().ok()?,
        keeps_ties: ["0", "1"].iter().position(|known| *known == ties)? == 1,
        identity: identity.parse().ok()?,
        coverage: coverage.parse().ok()?,
    })
}

/// Whether the limits admit any hit.
fn is_sound(limits: &HitLimits) -> bool {
    let HitLimits { max_hits, max_targets, max_per_target, identity, coverage, .. } = *limits;
    let is_percent = |share| (0.0..=100.0).contains(&share);
    max_hits > 0 && max_targets > 0 && max_per_target > 0 && is_percent(identity) && is_percent(coverage)
}

fn name_of(rank: Rank) -> &'static str {
    match rank {
        Rank::Score => "score",
        Rank::Raw => "raw",
        Rank::Evalue => "evalue",
        Rank::Identity => "identity",
    }
}
