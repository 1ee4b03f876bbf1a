//! Lists of hits: BLAST's table, JSON, and readable alignments.
//!
//! Hits are shown as in BLAST: the query forward, and for a hit on the reverse strand the reverse complement of the
//! target. Lists accept any name.

mod alignment;
mod json;
mod numbers;
pub(super) mod shown;
mod tab;
pub(super) mod text;

pub use numbers::{bits_text, evalue_text};
pub use tab::header_without_hits;
pub use text::drawn;

use super::NamedTargets;
use super::targets::HitTargets;
use crate::align::significance::Significance;
use crate::input::reader::FileRecord;
use crate::terms::alignment::{Alignment, QueryResult};
use crate::terms::alphabet::GeneticCode;
use crate::terms::casts::to_u32;
use crate::terms::options::{
    Column, HitFormat, IdentityDefinition, Mask, Options, PageOptions, Rank, Translation,
};
use crate::terms::scoring::Scoring;
use shown::{QueryShown, QueryTold, ShownHit};
use std::collections::HashMap;
use std::sync::Arc;

/// Produces the lists of a run. It has no state between calls, so several threads may each make a part.
pub struct ListMaker {
    pub targets: HitTargets,
    pub scoring: Arc<Scoring>,
    pub ranked: RankedBy,
    /// The code by which queries are translated, if they are.
    pub(super) translation: Option<GeneticCode>,
    pub(super) format: HitFormat,
    /// Columns of a table.
    pub(super) columns: Vec<Column>,
    /// Layout of readable alignments.
    pub(super) page: PageOptions,
    pub(super) has_header: bool,
    pub(super) identity: IdentityDefinition,
    /// Whether hits report the number of their masked residues.
    pub(super) tells_masked: bool,
}

/// The rank criterion of hits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RankedBy {
    pub rank: Rank,
    /// `None` if the scores have no E-values.
    pub significance: Option<Significance>,
}

impl RankedBy {
    /// Resolves the requested rank criterion. Criteria that order hits as scores do become [`Rank::Raw`], which is
    /// faster.
    pub fn new(rank: Rank, significance: Option<Significance>) -> RankedBy {
        let is_by_score = match rank {
            Rank::Score | Rank::Evalue => significance.is_none_or(|known| known.has_order_of_scores()),
            Rank::Raw | Rank::Identity => false,
        };
        RankedBy { rank: if is_by_score { Rank::Raw } else { rank }, significance }
    }

    /// The rank value of a hit with this score and identity, for a query and a target of these lengths; higher values
    /// come first.
    pub fn number(&self, score: i32, identity: f64, (query, target): (usize, usize)) -> f64 {
        match (self.rank, self.significance) {
            (Rank::Identity, _) => identity,
            (Rank::Score | Rank::Evalue, Some(significance)) => {
                -significance.log_evalue(score, query, target)
            }
            (Rank::Score | Rank::Evalue, None) | (Rank::Raw, _) => f64::from(score),
        }
    }
}

impl ListMaker {
    pub fn new(
        format: HitFormat,
        options: &Options,
        (scoring, ranked): (Arc<Scoring>, RankedBy),
        targets: NamedTargets,
    ) -> ListMaker {
        let shows_masked = format == HitFormat::Tab && options.ranked.columns.contains(&Column::Masked);
        let tells_masked = shows_masked && options.ranked.mask != Mask::None;
        ListMaker {
            targets: HitTargets::Loaded(targets),
            scoring,
            ranked,
            translation: options.translation.and_then(Translation::of_queries),
            format,
            columns: options.ranked.columns.clone(),
            page: options.ranked.page,
            has_header: options.ranked.table_header,
            identity: options.ranked.identity,
            tells_masked,
        }
    }

    /// The comments before a table, if they are requested.
    pub fn header(&self, command_line: &str, comments: &[String]) -> Vec<u8> {
        match self.format {
            HitFormat::Tab if self.has_header => tab::header(command_line, comments, &self.columns),
            _ => Vec::new(),
        }
    }

    /// Appends the lists of these queries.
    pub fn push(&self, out: &mut Vec<u8>, queries: &[FileRecord], found: &[QueryResult]) {
        for (record, found) in queries.iter().zip(found) {
            let is_first = found.mated.map(|mated| mated.is_first);
            let mut query = QueryShown::new(record, is_first, self.scoring.alphabet, self.translation);
            let all = found.alignments.iter().chain(found.supplementary.iter().map(|hit| &hit.alignment));
            let sequence = |hit: &Alignment| self.targets.sequence(hit.target);
            let all = by_sequence(all.collect(), sequence);
            let mut hits = Vec::with_capacity(all.len());
            let covered = covered_by_sequences(&all, sequence, query.told.len);
            for (alignment, covered_by_target) in all.iter().zip(covered) {
                hits.push(ShownHit { covered_by_target, ..self.shown(&mut query, alignment) });
            }
            self.push_list(out, &query.told, query.letters(), &hits);
        }
    }

    /// Appends the list of a query.
    fn push_list(&self, out: &mut Vec<u8>, query: &QueryTold, letters: &[u8], hits: &[ShownHit]) {
        match self.format {
            HitFormat::Tab => hits.iter().for_each(|hit| tab::push(out, &self.columns, query, hit)),
            HitFormat::Json => json::push(out, query, hits),
            HitFormat::Text => text::push(out, &self.page, query, hits),
            HitFormat::A3m => alignment::push_a3m(out, query, letters, hits),
            HitFormat::Stockholm => alignment::push_stockholm(out, query, letters, hits),
        }
    }

    /// A hit without the values that depend on other hits of its target.
    fn shown(&self, query: &mut QueryShown, alignment: &Alignment) -> ShownHit<'_> {
        let shown = ShownHit::new(&self.scoring, query, alignment, self.targets.of(alignment));
        let (len, target_len) = (query.told.residues, shown.target_residues);
        let significance = self.ranked.significance.map(|significance| {
            let evalue = significance.evalue(alignment.score, len, target_len);
            (significance.bits(alignment.score), evalue)
        });
        let identity = shown.kinds.identity(self.identity, len, target_len);
        let masked = self.tells_masked.then(|| query.masked(shown.query));
        ShownHit { significance, identity, masked, ..shown }
    }
}

/// Hits in their order, except that all hits of a sequence follow its first hit, as in BLAST's lists.
fn by_sequence(mut hits: Vec<&Alignment>, sequence: impl Fn(&Alignment) -> usize) -> Vec<&Alignment> {
    let mut firsts = HashMap::new();
    for hit in &hits {
        let next = firsts.len();
        firsts.entry(sequence(hit)).or_insert(next);
    }
    // Relies on a stable sort.
    hits.sort_by_key(|hit| firsts.get(&sequence(hit)).copied());
    hits
}

/// For each hit, the percentage of the query that the hits of its sequence cover together. Hits of a sequence must be
/// adjacent.
fn covered_by_sequences(hits: &[&Alignment], sequence: impl Fn(&Alignment) -> usize, len: usize) -> Vec<f64> {
    let of_sequences = hits.chunk_by(|one, other| sequence(one) == sequence(other));
    of_sequences.flat_map(|hits| vec![covered(hits, len); hits.len()]).collect()
}

/// The percentage of a query that these hits cover together.
fn covered(hits: &[&Alignment], len: usize) -> f64 {
    let mut taken: Vec<(u32, u32)> = hits.iter().map(|hit| hit.letters_taken(to_u32(len))).collect();
    taken.sort_unstable();
    let (mut letters, mut end) = (0, 0);
    for (from, to) in taken {
        letters += to.saturating_sub(from.max(end));
        end = end.max(to);
    }
    100.0 * f64::from(letters) / len.max(1) as f64
}
