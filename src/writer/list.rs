//! Lists of hits: BLAST's table, JSON, and alignments to read.
//!
//! A hit shows as BLAST shows it: the query forward, and of a hit on the reverse strand the target's reverse complement.
//! Lists hold any name.

mod json;
mod numbers;
pub(super) mod shown;
mod tab;
pub(super) mod text;

pub use numbers::{bits_text, evalue_text};

use super::NamedTargets;
use crate::alignment::{Alignment, Found};
use crate::options::PageOptions;
use crate::options::{Column, HitFormat, IdentityDefinition, Options};
use crate::reader::Record;
use crate::scoring::Scoring;
use crate::significance::Significance;
use shown::{QueryShown, ShownHit};
use std::sync::Arc;

/// Makes the lists of a run. It holds no state between calls, so several threads may each make a part.
pub struct ListMaker {
    pub targets: NamedTargets,
    pub scoring: Arc<Scoring>,
    /// `None` where scores have no E-values.
    pub significance: Option<Significance>,
    format: HitFormat,
    columns: Vec<Column>,
    has_header: bool,
    identity: IdentityDefinition,
    page: PageOptions,
}

impl ListMaker {
    pub fn new(
        format: HitFormat,
        options: &Options,
        (scoring, significance): (Arc<Scoring>, Option<Significance>),
        targets: NamedTargets,
    ) -> ListMaker {
        let page = options.page;
        let (columns, identity, has_header) =
            (options.columns.clone(), options.identity, options.table_header);
        ListMaker { targets, scoring, significance, format, columns, has_header, identity, page }
    }

    /// The comments in front of a table, where they are asked for.
    pub fn header(&self, command_line: &str, comments: &[String]) -> Vec<u8> {
        match self.format {
            HitFormat::Tab if self.has_header => tab::header(command_line, comments, &self.columns),
            _ => Vec::new(),
        }
    }

    /// Appends the lists of all these queries.
    pub fn push(&self, out: &mut Vec<u8>, queries: &[Record], found: &[Found]) {
        for (record, found) in queries.iter().zip(found) {
            let mut query =
                QueryShown::new(record, found.mated.map(|mated| mated.is_first), self.scoring.alphabet);
            let all = found.alignments.iter().chain(found.supplementary.iter().map(|hit| &hit.alignment));
            let covered = |target: u32| covered(all.clone(), target, record.sequence.len());
            let mut hits = Vec::new();
            for alignment in all.clone() {
                hits.push(self.shown(&mut query, alignment, covered(alignment.target)));
            }
            match self.format {
                HitFormat::Tab => hits.iter().for_each(|hit| tab::push(out, &self.columns, &query, hit)),
                HitFormat::Json => json::push(out, &query, &hits),
                HitFormat::Text => text::push(out, &self.page, &query, &hits),
            }
        }
    }

    fn shown(&self, query: &mut QueryShown, alignment: &Alignment, covered: f64) -> ShownHit<'_> {
        let at = self.targets.first + alignment.target as usize;
        let target = self.targets.sequences.once(alignment.target);
        let title = self.targets.titles.get(at).map_or("", String::as_str);
        let name = &self.targets.names[at];
        let shown = ShownHit::new(&self.scoring, query, alignment, (name, title, target));
        let (len, target_len) = (query.len(), target.len());
        let significance = self.significance.map(|significance| {
            let evalue = significance.evalue(alignment.score, len, target_len);
            (significance.bits(alignment.score), evalue)
        });
        let identity = shown.kinds.identity(self.identity, len, target_len);
        ShownHit { significance, identity, covered_by_target: covered, ..shown }
    }
}

/// The share of a query's letters that hits of one target take, in percent.
fn covered<'a>(hits: impl Iterator<Item = &'a Alignment>, target: u32, len: usize) -> f64 {
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
