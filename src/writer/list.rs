//! Lists of hits: BLAST's table, JSON, and alignments to read.
//!
//! A hit shows as BLAST shows it: the query forward, and of a hit on the reverse strand the target's reverse complement.
//! Lists hold any name.

mod json;
mod numbers;
mod part;
pub(super) mod shown;
mod tab;
pub(super) mod text;

pub use numbers::{bits_text, evalue_text};
pub use part::{PartHit, PartLists, PartQuery};
pub use shown::{QueryTold, ShownHit};

use super::NamedTargets;
use crate::alignment::{Alignment, Found, InPart};
use crate::options::PageOptions;
use crate::options::{Column, HitFormat, IdentityDefinition, Options, Rank};
use crate::reader::Record;
use crate::scoring::Scoring;
use crate::significance::Significance;
use shown::QueryShown;
use std::sync::Arc;

/// Makes the lists of a run. It holds no state between calls, so several threads may each make a part.
pub struct ListMaker {
    pub targets: NamedTargets,
    pub scoring: Arc<Scoring>,
    pub ranked: RankedBy,
    style: ListStyle,
    has_header: bool,
    identity: IdentityDefinition,
    /// The lists are of a part of the references, and hold what joining the parts needs.
    of_part: bool,
}

/// How a list shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListStyle {
    pub format: HitFormat,
    /// Of a table.
    pub columns: Vec<Column>,
    /// Of text.
    pub page: PageOptions,
}

/// What hits are ranked by.
#[derive(Clone, Copy, Debug)]
pub struct RankedBy {
    pub rank: Rank,
    /// `None` where scores have no E-values.
    pub significance: Option<Significance>,
}

impl RankedBy {
    /// The number of a hit of this score and identity, of a query and a target of these lengths; the highest first.
    pub fn number(&self, score: i32, identity: f64, (query, target): (usize, usize)) -> f64 {
        match (self.rank, self.significance) {
            (Rank::Identity, _) => identity,
            (Rank::Evalue, Some(significance)) => -significance.log_corrected_evalue(score, query, target),
            (Rank::Evalue, None) | (Rank::Score, _) => f64::from(score),
        }
    }
}

impl ListStyle {
    /// Appends the list of a query.
    pub fn push(&self, out: &mut Vec<u8>, query: &QueryTold, hits: &[ShownHit]) {
        match self.format {
            HitFormat::Tab => hits.iter().for_each(|hit| tab::push(out, &self.columns, query, hit)),
            HitFormat::Json => json::push(out, query, hits),
            HitFormat::Text => text::push(out, &self.page, query, hits),
        }
    }
}

impl ListMaker {
    pub fn new(
        format: HitFormat,
        options: &Options,
        (scoring, significance): (Arc<Scoring>, Option<Significance>),
        targets: NamedTargets,
    ) -> ListMaker {
        let style = ListStyle { format, columns: options.columns.clone(), page: options.page };
        let ranked = RankedBy { rank: options.rank, significance };
        let (identity, has_header) = (options.identity, options.table_header);
        let of_part = options.ref_part.is_some();
        ListMaker { targets, scoring, ranked, style, has_header, identity, of_part }
    }

    /// The comments in front of a table, where they are asked for.
    pub fn header(&self, command_line: &str, comments: &[String]) -> Vec<u8> {
        match self.style.format {
            HitFormat::Tab if self.has_header => tab::header(command_line, comments, &self.style.columns),
            _ => Vec::new(),
        }
    }

    /// Appends the lists of all these queries.
    pub fn push(&self, out: &mut Vec<u8>, queries: &[Record], found: &[Found]) {
        for (record, found) in queries.iter().zip(found) {
            let mut query =
                QueryShown::new(record, found.mated.map(|mated| mated.is_first), self.scoring.alphabet);
            if self.of_part {
                self.push_part(out, &mut query, found);
                continue;
            }
            let all = found.alignments.iter().chain(found.supplementary.iter().map(|hit| &hit.alignment));
            let mut hits = Vec::new();
            for alignment in all.clone() {
                let covered_by_target = covered(all.clone(), alignment.target, query.told.len);
                hits.push(ShownHit { covered_by_target, ..self.shown(&mut query, alignment) });
            }
            self.style.push(out, &query.told, &hits);
        }
    }

    /// Appends what a part has of a query.
    fn push_part(&self, out: &mut Vec<u8>, query: &mut QueryShown, found: &Found) {
        part::push_query(out, &query.told, found.threshold);
        for (at, alignment) in found.alignments.iter().enumerate() {
            let shown = self.shown(query, alignment);
            let lengths = (query.told.len, shown.target_len);
            let rank = self.ranked.number(alignment.score, shown.identity, lengths);
            // Only hits of mates are more than hits.
            let in_part = found.in_part.get(at).copied().unwrap_or(InPart::Hit { beside: None });
            let target = self.targets.first + alignment.target as usize;
            part::push_hit(out, (rank, target, in_part), alignment, &shown);
        }
    }

    /// A hit without what hits of its target take together.
    fn shown(&self, query: &mut QueryShown, alignment: &Alignment) -> ShownHit<'_> {
        let at = self.targets.first + alignment.target as usize;
        let target = self.targets.sequences.once(alignment.target);
        let title = self.targets.titles.get(at).map_or("", String::as_str);
        let name = &self.targets.names[at];
        let shown = ShownHit::new(&self.scoring, query, alignment, (name, title, target));
        let (len, target_len) = (query.told.len, target.len());
        let significance = self.ranked.significance.map(|significance| {
            let evalue = significance.evalue(alignment.score, len, target_len);
            (significance.bits(alignment.score), evalue)
        });
        let identity = shown.kinds.identity(self.identity, len, target_len);
        ShownHit { significance, identity, ..shown }
    }
}

/// The share of a query's letters that hits of one target take, in percent.
pub fn covered<'a>(hits: impl Iterator<Item = &'a Alignment>, target: u32, len: usize) -> f64 {
    let mut taken: Vec<(u32, u32)> =
        hits.filter(|hit| hit.target == target).map(|hit| hit.letters_taken(len as u32)).collect();
    taken.sort_unstable();
    let (mut letters, mut end) = (0, 0);
    for (from, to) in taken {
        letters += to.saturating_sub(from.max(end));
        end = end.max(to);
    }
    100.0 * f64::from(letters) / len.max(1) as f64
}
