//! Output: alignments as SAM, BAM or PAF, and their destination.

mod bam;
pub mod bgzf;
pub mod count;
pub mod distinct;
pub mod frame;
mod header;
pub mod hits;
mod line;
pub mod list;
pub mod matrix;
#[cfg(test)]
mod oracle;
pub mod output;
pub mod packed;
mod paf;
mod panel;
pub mod part;
pub mod place;
pub mod receipt;
mod rename;
mod sam;
pub mod sink;
pub mod sort;
pub mod tags;
pub mod targets;
pub mod temporary;
#[cfg(test)]
mod tests;

pub use output::Output;
pub use targets::NamedTargets;

use crate::align::quality::PairScores;
use crate::input::reader::FileRecord;
use crate::terms::alignment::QueryResult;
use crate::terms::alphabet::Alphabet;
use crate::terms::error::{Error, Place, Result};
use crate::terms::groups;
use crate::terms::insert::{InsertSize, PairScoring};
use crate::terms::options::{Format, HitFormat, Options, OutputFormat, SequencingLane, Share};
use crate::terms::scoring::Scoring;
use bgzf::{BgzfJoiner, RecordBytes};
use line::LineMaker;
use list::{ListMaker, RankedBy};
use panel::PanelMaker;
use rayon::prelude::*;
use sink::RecordSink;
use sort::{IndexFile, Sorter};
use std::sync::Arc;
use tags::Residues;
use targets::{HitTargets, StoredTargets};

/// Typical upper bound on the bytes of a record without SEQ and QUAL; a longer record makes its buffer grow.
const RECORD_BYTES: usize = 192;
/// Queries whose records a thread makes per task: about a group of short reads. Even, so that mates stay together.
const QUERIES: usize = 512;

/// Produces the bytes of the output in the requested format. A run has one writer. It has no state between calls, so
/// several threads may each write a part into their own buffer.
pub struct Writer {
    /// Records are compressed in blocks. Records to be sorted are not compressed.
    in_blocks: bool,
    /// Memory for sorting in bytes, if records are sorted.
    sort: Option<usize>,
    header: Vec<Vec<u8>>,
    /// The header of an output without hits, if it is different.
    header_without_hits: Option<Vec<Vec<u8>>>,
    sizes: ReferenceSizes,
    maker: Maker,
    /// The part of the references that is written instead of the output ([`part`]).
    part: Option<Share>,
}

/// Number of all references, and the length of the longest.
#[derive(Clone, Copy)]
struct ReferenceSizes {
    count: usize,
    longest: u32,
}

/// Produces the bytes of queries.
enum Maker {
    Records(RecordMaker),
    Lists(ListMaker),
    Panel(PanelMaker),
}

/// Makes records of SAM, BAM or PAF.
struct RecordMaker {
    format: Format,
    lines: LineMaker,
    /// ID of the read group.
    read_group: Option<String>,
}

/// Values that a run chose for options that leave them open.
#[derive(Clone, Debug, Default)]
pub struct ChosenValues {
    /// Minimum score of a hit.
    pub min_score: i32,
    /// Parameters of the second tier, if there is one.
    pub tiers: Option<TiersTold>,
    /// Maximum E-value of a hit, if it is limited.
    pub evalue: Option<f64>,
    /// The insert size of mates.
    pub insert: Option<InsertSize>,
    /// Minimum score of a supplementary hit.
    pub split: Option<i32>,
    /// Bit scores and E-values, if the scores have them, and the rank criterion of hits in lists.
    pub ranked: RankedBy,
    /// @RG lines of the query file, if its records keep their read groups.
    pub read_groups: Vec<String>,
}

/// The two tiers of hits, as headers describe them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TiersTold {
    /// Highest minimum score of the first tier. The lowest is that of [`ChosenValues`].
    pub highest: i32,
    /// Whether queries with ambiguous codes have higher minimum scores than others.
    pub is_raised: bool,
    /// Length of an exact run in bases; 0 without a second tier.
    pub anchor: u32,
    /// Minimum score of the second tier.
    pub least: i32,
    /// Whether long queries are searched in boxes alone.
    pub is_large: bool,
    /// Whether a further hit must lower the mapping quality.
    pub has_quality: bool,
}

impl Writer {
    /// A writer for a run with `options` and the resolved values `chosen`, against `targets`. Returns an error for
    /// anything that a header cannot hold, before output is written.
    pub fn new(
        options: &Options,
        chosen: ChosenValues,
        scoring: Arc<Scoring>,
        mut targets: NamedTargets,
    ) -> Result<Writer> {
        let longest = targets.lengths.iter().copied().max().unwrap_or(0);
        let sizes = ReferenceSizes { count: targets.lengths.len(), longest };
        let format = match options.format {
            OutputFormat::Records(format) => format,
            OutputFormat::Panel(format) => {
                let panel = PanelMaker::new(format, options, scoring, targets);
                return Ok(Writer {
                    in_blocks: false,
                    sort: None,
                    header: vec![panel.header()],
                    header_without_hits: None,
                    sizes,
                    maker: Maker::Panel(panel),
                    part: None,
                });
            }
            OutputFormat::Hits(format) => {
                let lists = ListMaker::new(format, options, (scoring, chosen.ranked), targets);
                let header =
                    lists.header(&options.command_line, &header::comments(options, &chosen, &lists.scoring));
                let header = if options.packed { bgzf::pack(&header)? } else { header };
                // All parts of the queries have the same header.
                let is_part = options.part.is_some();
                let without_hits = match format == HitFormat::Tab && options.ranked.table_header && !is_part {
                    true => Some(vec![frame::header_without_hits(format.name(options.packed), &header)?]),
                    false => None,
                };
                return Ok(Writer {
                    in_blocks: options.packed,
                    sort: None,
                    header: vec![header],
                    header_without_hits: without_hits,
                    sizes,
                    maker: Maker::Lists(lists),
                    part: None,
                });
            }
        };
        let any_names = format == Format::Paf;
        let renamed = match options.rename_references && !any_names {
            true => rename::rename(&mut targets.names, &options.reference)?,
            false => None,
        };
        let text = match format {
            Format::Sam | Format::Bam => header::text(options, &chosen, &scoring, renamed, &targets)?,
            Format::Paf => Vec::new(),
        };
        let header = match format {
            Format::Bam => vec![bgzf::pack(&bam_header(options, &scoring, &text, &targets)?)?],
            Format::Sam | Format::Paf if options.packed => vec![bgzf::pack(&text.concat())?],
            Format::Sam | Format::Paf => text,
        };
        let residues = Residues::new(scoring.alphabet);
        let (eqx, cs) = (options.eqx, options.cs);
        let hard_clips = options.hard_clips && format != Format::Paf;
        let shows_end_gaps = scoring.mode.is_local() || format == Format::Paf;
        let lines = LineMaker {
            targets: HitTargets::Loaded(targets),
            scoring,
            residues,
            eqx,
            cs,
            hard_clips,
            queries: Default::default(),
            any_names,
            shows_end_gaps,
            pairs: None,
        };
        let sort = options.sort;
        let in_blocks = options.in_blocks() && sort.is_none();
        let maker = Maker::Records(RecordMaker { format, lines, read_group: None });
        let mut writer =
            Writer { in_blocks, sort, header, header_without_hits: None, sizes, maker, part: None };
        options.lanes().first().into_iter().for_each(|lane| writer.begin_lane(lane, chosen.insert));
        Ok(writer)
    }

    /// From now on, records belong to this lane, whose mates have this insert size.
    pub fn begin_lane(&mut self, lane: &SequencingLane, insert: Option<InsertSize>) {
        let Maker::Records(RecordMaker { lines, read_group, .. }) = &mut self.maker else { return };
        *read_group = lane.read_group.as_ref().map(|group| group.id().to_string());
        let mates = lane.mate_file().unwrap_or(&lane.reads);
        lines.queries = [lane.reads.clone(), mates.to_path_buf()];
        let match_ = PairScores::of(&lines.scoring).match_;
        lines.pairs = insert.map(|insert| PairScoring { insert, match_ });
    }

    /// The header, in parts.
    pub fn header(&self) -> &[Vec<u8>] {
        &self.header
    }

    /// The header of an output without hits, if it differs.
    pub fn header_without_hits(&self) -> Option<&[Vec<u8>]> {
        self.header_without_hits.as_deref()
    }

    /// The header of an output with or without hits.
    pub fn header_for(&self, has_hits: bool) -> &[Vec<u8>] {
        self.header_without_hits().filter(|_| !has_hits).unwrap_or(&self.header)
    }

    /// Names of the references that queries are aligned to, as in the output.
    pub fn names(&self) -> &[String] {
        match self.targets() {
            HitTargets::Loaded(targets) => targets.own_names(),
            HitTargets::Stored(_) => &[],
        }
    }

    pub fn scoring(&self) -> &Arc<Scoring> {
        match &self.maker {
            Maker::Records(records) => &records.lines.scoring,
            Maker::Lists(lists) => &lists.scoring,
            Maker::Panel(panel) => &panel.scoring,
        }
    }

    /// [`OutputFormat::chooses_as_records`].
    pub fn chooses_as_records(&self) -> bool {
        !matches!(self.maker, Maker::Lists(_))
    }

    /// Refuses an output whose beginning cannot be replaced, if the format needs that.
    pub fn check(&self, output: &Output) -> Result<()> {
        match &self.maker {
            Maker::Panel(panel) if self.part.is_none() => panel.check(output),
            _ => Ok(()),
        }
    }

    /// Writes what is known only after the last of all `queries`.
    pub fn finish(&self, output: &mut Output, queries: u64) -> Result<()> {
        match &self.maker {
            Maker::Panel(panel) if self.part.is_none() => panel.finish(output, queries),
            _ => Ok(()),
        }
    }

    pub fn targets(&self) -> &HitTargets {
        match &self.maker {
            Maker::Records(records) => &records.lines.targets,
            Maker::Lists(lists) => &lists.targets,
            Maker::Panel(panel) => &panel.targets,
        }
    }

    /// From now on, hits have these targets.
    pub fn set_targets(&mut self, targets: StoredTargets) {
        let own = match &mut self.maker {
            Maker::Records(records) => &mut records.lines.targets,
            Maker::Lists(lists) => &mut lists.targets,
            Maker::Panel(panel) => &mut panel.targets,
        };
        *own = HitTargets::Stored(targets);
    }

    /// A joiner for the parts of a run.
    pub fn joint(&self) -> Result<BgzfJoiner> {
        if self.in_blocks { BgzfJoiner::of_blocks() } else { Ok(BgzfJoiner::of_text()) }
    }

    /// A sink for the records that are written to `output`.
    pub fn sink(&self, output: &Output) -> Result<RecordSink> {
        let Some(memory) = self.sort else { return self.joint().map(RecordSink::InOrder) };
        let index = IndexFile::beside(output, self.sizes.count, self.sizes.longest.into())?;
        Ok(RecordSink::Sorted(Box::new(Sorter::new(memory, output, index))))
    }

    /// Number of bytes that follow the last record.
    pub fn end(&self) -> Result<u64> {
        let in_blocks = self.in_blocks || self.sort.is_some();
        Ok(if in_blocks { bgzf::end_of_file()?.len() as u64 } else { 0 })
    }

    /// The records of the given queries, made on all threads. `before` has the number of earlier queries and the name of
    /// the last of them, if there is one.
    pub fn parts(
        &self,
        (first, before): (u64, Option<&str>),
        queries: &[FileRecord],
        found: &[QueryResult],
    ) -> Result<Vec<RecordBytes>> {
        if let (Maker::Panel(panel), None) = (&self.maker, self.part) {
            return Ok(panel.pieces(first, found));
        }
        match self.in_blocks {
            true => self.packed(before, queries, found),
            false => Ok(self.pieces(queries, found)?.into_iter().map(RecordBytes::Ready).collect()),
        }
    }

    /// Parts in blocks, group by group. Neighboring batches may have more of the first and of the last group, so these
    /// two are not compressed yet.
    fn packed(
        &self,
        before: Option<&str>,
        queries: &[FileRecord],
        mut found: &[QueryResult],
    ) -> Result<Vec<RecordBytes>> {
        let begins = |before: &str, query: &FileRecord| {
            groups::begins(before.as_bytes(), query.name.as_bytes(), query.sequence.len())
        };
        let mut groups = Vec::new();
        for queries in queries.chunk_by(|before, query| !begins(&before.name, query)) {
            let (own, rest) = found.split_at(queries.len());
            groups.push((queries, own));
            found = rest;
        }
        let last = groups.len().saturating_sub(1);
        let part = |(number, (queries, found)): (usize, (&[FileRecord], &[QueryResult]))| {
            let bytes = self.pieces(queries, found)?.concat();
            let begins = number > 0 || before.is_none_or(|before| begins(before, &queries[0]));
            match begins && number < last {
                true => Ok(RecordBytes::Ready(bgzf::pack(&bytes)?)),
                false => Ok(RecordBytes::Piece { begins, bytes }),
            }
        };
        groups.into_par_iter().enumerate().map(part).collect()
    }

    /// The bytes of all records, in pieces of [`QUERIES`] queries.
    fn pieces(&self, queries: &[FileRecord], found: &[QueryResult]) -> Result<Vec<Vec<u8>>> {
        let pieces = queries.par_chunks(QUERIES).zip(found.par_chunks(QUERIES));
        pieces.map(|(queries, found)| self.records(queries, found)).collect()
    }

    /// The uncompressed bytes of all records of the given queries and their hits, in order.
    pub fn records(&self, queries: &[FileRecord], found: &[QueryResult]) -> Result<Vec<u8>> {
        let letters =
            |query: &FileRecord| query.sequence.len() + query.qualities.as_ref().map_or(0, Vec::len);
        let bytes = queries.iter().map(|query| letters(query) + RECORD_BYTES).sum();
        let mut out = Vec::with_capacity(bytes);
        match (self.part, &self.maker) {
            (Some(part), _) => {
                for (record, found) in queries.iter().zip(found) {
                    part::push(&mut out, part, record, found, self.targets());
                }
            }
            (None, Maker::Records(records)) => records.push(&mut out, queries, found)?,
            (None, Maker::Lists(lists)) => lists.push(&mut out, queries, found),
            // [`Writer::parts`] counts their hits.
            (None, Maker::Panel(_)) => {}
        }
        Ok(out)
    }
}

impl RecordMaker {
    /// Appends the records of these queries.
    fn push(&self, out: &mut Vec<u8>, queries: &[FileRecord], found: &[QueryResult]) -> Result<()> {
        let group = self.read_group.as_deref();
        self.lines.for_each(queries, found, |line| {
            match self.format {
                Format::Sam => sam::push(out, line, group),
                Format::Bam => return bam::push(out, line, group),
                Format::Paf => paf::push(out, line, &self.lines.residues),
            }
            Ok(())
        })
    }
}

/// The uncompressed header of BAM.
fn bam_header(
    options: &Options,
    scoring: &Scoring,
    text: &[Vec<u8>],
    targets: &NamedTargets,
) -> Result<Vec<u8>> {
    if scoring.alphabet == Alphabet::Protein {
        let problem = match options.sort {
            None => "BAM can store only nucleotides; write proteins as SAM or PAF (--format)",
            Some(_) => {
                "--sort writes BAM, which can store only nucleotides; leave it out, and write proteins as SAM or \
                 PAF"
            }
        };
        return Err(Error::Usage(problem.to_string()));
    }
    bam::header(text, targets).ok_or_else(|| {
        let place = Place { file: options.reference.clone(), ..Place::default() };
        let problem = "BAM cannot store these references: their header exceeds 2 GiB";
        Error::input(place, problem, "write SAM or PAF (--format), which have no such limit")
    })
}
