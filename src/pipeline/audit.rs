//! `swalign audit`: compares the records of another program with the hits of their reads.
//!
//! A run searches the reads as usual. Instead of records, its workers write a row for each read: the verdict on the records of
//! the other program. The fields of the primary record come with the read if the queries are the records themselves, and
//! otherwise from a table of all records by read. A read is judged by the record with the highest score among its primary and
//! supplementary records, because a mapper may choose any of them as the primary one.

mod inputs;
mod records;

use super::Run;
use super::report::{Reporter, counted};
use crate::align::audit::{Claim, JudgeLimits, Optimum, ReadPath, Scores, Verdict, judge, score};
use crate::input::reader::{
    FIRST, FileRecord, LAST, MATE_REVERSE, MATE_UNMAPPED, MISSING, MappedFields, MappedRecords, PAIRED,
    PROPER, Reader, UNKNOWN_MAPQ,
};
use crate::output::audit::{
    AuditCounts, DrawnFinding, DrawnSide, FindingRank, JudgedRecord, RecordPosition, Row, RowOptimum,
    WorstFindings, header,
};
use crate::output::writer::bgzf::{self, RecordBytes};
use crate::output::writer::list;
use crate::output::writer::targets::HitTarget;
use crate::terms::alignment::{Alignment, QueryResult, SingleBest, Strand, Strands, Tier};
use crate::terms::alphabet::reverse_complement_codes;
use crate::terms::casts::to_u32;
use crate::terms::error::{Error, Place, Result};
use crate::terms::options::{AuditOptions, Options, PageOptions};
use rayon::prelude::*;
use records::{ReadRecords, RecordsByRead, SupplementaryRecords};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

pub use inputs::AuditInputs;

/// Queries that a thread judges per task. Even, so that mates stay together.
const QUERIES: usize = 512;
/// Columns of an alignment that a page draws at most, and the width of its lines in characters.
const MOST_COLUMNS: usize = 2000;
const WIDTH: usize = 100;
/// The remedy for records without the whole read.
const READS_REMEDY: &str = "give the reads with --reads";

/// The judge of a run.
pub struct Audit {
    options: AuditOptions,
    header: Vec<Vec<u8>>,
    /// Numbers of the references by name.
    references: HashMap<String, u32>,
    /// The records, if the queries are reads from files of their own.
    records: Option<RecordsByRead>,
    /// The supplementary records of the queries, if these are the primary records.
    supplementary: SupplementaryRecords,
    /// The records of a second program.
    against: Option<RecordsByRead>,
    /// The file of the queries, for errors.
    queries: PathBuf,
    /// Whether each two queries are mates.
    is_paired: bool,
    /// Whether the queries are a part of all reads.
    is_part: bool,
    /// Number of mates that were judged as single reads.
    unpaired: AtomicU64,
    counts: Mutex<AuditCounts>,
    /// The findings that the page draws.
    worst: Mutex<WorstFindings>,
}

/// A read with the judgment on its record, and on that of a second program.
struct JudgedRead<'a> {
    read: &'a FileRecord,
    mate: u8,
    best: Option<BestHit<'a>>,
    record: JudgedFields<'a>,
    against: Option<JudgedFields<'a>>,
}

/// The fields of a record, and the verdict.
struct JudgedFields<'a> {
    fields: Option<MappedFields<'a>>,
    /// With end bonuses, if the record has a score.
    score: Option<i64>,
    /// The alignment of the record, if it has a valid one.
    alignment: Option<Alignment>,
    verdict: Verdict,
}

/// The best hit of a read as a single read. Scores have end bonuses.
#[derive(Clone, Copy)]
struct BestHit<'a> {
    alignment: &'a Alignment,
    second: Option<i32>,
    tier: Tier,
}

/// A claim with its own data.
enum OwnedClaim {
    Unmapped,
    Outside,
    Invalid,
    Unscored,
    Aligned(Alignment, Scores),
}

fn place(file: &Path, (number, name): (u64, &str)) -> Place {
    Place { file: file.to_path_buf(), record: Some((number, name.to_string())), line: None }
}

fn parsed<'a>(file: &Path, comment: &'a [u8], record: (u64, &str)) -> Result<MappedFields<'a>> {
    MappedFields::of_comment(comment).ok_or_else(|| {
        let problem = "the fields of the record contain characters that are not allowed";
        Error::input(
            place(file, record),
            problem,
            "write the file again; check it with `samtools quickcheck`",
        )
    })
}

impl Audit {
    /// The judge of a run with references of these names.
    pub fn new(options: &Options, inputs: AuditInputs, names: &[String]) -> Result<Audit> {
        let audit = options.audit.clone().unwrap_or_default();
        let mut references = HashMap::with_capacity(names.len());
        for (name, number) in names.iter().zip(0..) {
            if references.insert(name.clone(), number).is_some() {
                let problem = format!("two references are called {name}");
                let place = Place { file: options.reference.clone(), ..Place::default() };
                return Err(Error::input(place, problem, "give each reference its own name"));
            }
        }
        let by_read = |records| RecordsByRead::read(records, &options.query);
        let open = |path: &PathBuf| Reader::open_mapped(path, MappedRecords::Both);
        let records = inputs.records.map(by_read).transpose()?;
        let against = audit.against.as_ref().map(open).transpose()?.map(by_read).transpose()?;
        let header = header(audit.format, against.is_some());
        Ok(Audit {
            options: audit,
            header: vec![if options.packed { bgzf::pack(&header)? } else { header }],
            references,
            records,
            supplementary: inputs.supplementary.unwrap_or_default(),
            against,
            queries: options.query.clone(),
            is_paired: options.has_mates(),
            is_part: options.part_of_queries().is_some(),
            unpaired: AtomicU64::new(0),
            counts: Mutex::default(),
            worst: Mutex::default(),
        })
    }

    pub fn header(&self) -> &[Vec<u8>] {
        &self.header
    }

    /// The numbers of verdicts so far.
    pub fn counts(&self) -> AuditCounts {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The worst findings so far.
    pub fn worst(&self) -> WorstFindings {
        self.worst.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reports what the rows do not show.
    pub fn tell(&self, reporter: &dyn Reporter) {
        let unpaired = self.unpaired.load(Ordering::Relaxed);
        if unpaired > 0 {
            let mates = counted(unpaired, ["mate was", "mates were"]);
            reporter.note(&format!(
                "{mates} judged as single reads; --pairs judges both mates of a pair together"
            ));
        }
        let has_all = self.options.sampled.is_none() && !self.is_part;
        self.records.iter().chain(&self.against).for_each(|records| records.tell(has_all, reporter));
    }

    /// The records of a read.
    fn records<'a>(&'a self, read: &'a FileRecord, mate: u8) -> Result<ReadRecords<'a>> {
        if let Some(records) = &self.records {
            return records.of(read, mate);
        }
        let fields = parsed(&self.queries, &read.tags, (read.number, &read.name))?;
        let refuse = |problem| {
            Err(Error::input(place(&self.queries, (fields.number, &read.name)), problem, READS_REMEDY))
        };
        match () {
            () if read.sequence.is_empty() => refuse("the record has no sequence (SEQ is *)"),
            () if fields.cigar.contains('H') => {
                refuse("the record is hard-clipped, so its SEQ has only a part of the read")
            }
            () => {
                let supplementary = self.supplementary.of(&read.name, fields.mate(), &self.queries)?;
                Ok(ReadRecords { primary: Some(fields), supplementary })
            }
        }
    }
}

impl Run<'_> {
    /// The rows of these queries, made on all threads. `first` is the number of the first query.
    pub(super) fn audited(
        &self,
        audit: &Audit,
        (first, queries): (u64, &[FileRecord]),
        found: &[QueryResult],
    ) -> Result<Vec<RecordBytes>> {
        let firsts = (0..queries.len()).into_par_iter().step_by(QUERIES).map(|at| first + at as u64);
        let pieces = firsts.zip(queries.par_chunks(QUERIES)).zip(found.par_chunks(QUERIES));
        let pieces: Vec<Result<(Vec<u8>, AuditCounts)>> =
            pieces.map(|(queries, found)| self.rows(audit, queries, found)).collect();
        // The first error in the order of the reads.
        let pieces = pieces.into_iter().collect::<Result<Vec<_>>>()?;
        let mut counts = audit.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = pieces.into_iter().map(|(bytes, own)| {
            counts.add(own);
            match self.options.packed {
                // Its blocks depend on the rows alone.
                true => RecordBytes::Piece { begins: false, bytes },
                false => RecordBytes::Ready(bytes),
            }
        });
        Ok(bytes.collect())
    }

    /// The rows of some queries, and their numbers.
    fn rows(
        &self,
        audit: &Audit,
        (first, queries): (u64, &[FileRecord]),
        found: &[QueryResult],
    ) -> Result<(Vec<u8>, AuditCounts)> {
        let (mut bytes, mut counts) = (Vec::new(), AuditCounts::default());
        let unit = if audit.is_paired { 2 } else { 1 };
        let mut number = first..;
        for (queries, found) in queries.chunks(unit).zip(found.chunks(unit)) {
            let judged = queries.iter().zip(found).zip(1..);
            let mut judged: Vec<JudgedRead> = judged
                .map(|((query, found), mate)| {
                    self.judged(audit, query, found, if unit == 2 { mate } else { 0 })
                })
                .collect::<Result<_>>()?;
            if audit.is_paired {
                let best =
                    |found: &QueryResult| found.alignments.first().map_or(0, |best| i64::from(best.score));
                let of_pair = found.iter().map(best).sum();
                excuse_pair(judged.iter_mut().map(|read| &mut read.record).collect(), of_pair);
                excuse_pair(judged.iter_mut().filter_map(|read| read.against.as_mut()).collect(), of_pair);
            }
            for (read, number) in judged.iter().zip(&mut number) {
                let row = read.row(self.writer.names());
                if audit.options.html.is_some()
                    && let Some(rank) = FindingRank::of(&row, number)
                {
                    self.keep_if_worst(audit, rank, (read, &row));
                }
                counts.count(&row, read.read.sequence.len());
                if audit.options.every || !row.is_agreement() {
                    row.push(&mut bytes, audit.options.format);
                }
            }
        }
        Ok((bytes, counts))
    }

    /// Keeps a finding if it is among the worst so far.
    fn keep_if_worst(&self, audit: &Audit, rank: FindingRank, (judged, row): (&JudgedRead, &Row)) {
        let worst = || audit.worst.lock().unwrap_or_else(PoisonError::into_inner);
        if !worst().admit(&rank) {
            return;
        }
        let side = |score, position: Option<String>, alignment: Option<&Alignment>| {
            let columns = alignment.map(|alignment| self.drawn(judged.read, alignment)).unwrap_or_default();
            let all: usize =
                alignment.map_or(0, |alignment| alignment.cigar.iter().map(|&(len, _)| len as usize).sum());
            let left_out = all.saturating_sub(MOST_COLUMNS);
            DrawnSide { score, position: position.unwrap_or_default(), columns, left_out }
        };
        let JudgedRecord { verdict, position, score } = &row.record;
        let position = position.as_ref().map(RecordPosition::text);
        let record = side(*score, position, judged.record.alignment.as_ref());
        let best = row.optimum.as_ref();
        let optimum = side(
            best.map(|best| best.score),
            best.map(RowOptimum::position),
            best.map(|best| best.alignment),
        );
        let mate = if row.mate > 0 { format!(", mate {}", row.mate) } else { String::new() };
        let read = format!("{}{mate}", row.read);
        // Findings that another thread has added meanwhile do no harm: the worst remain.
        worst().add(rank, DrawnFinding { read, verdict: *verdict, sides: [record, optimum] });
    }

    /// An alignment as text.
    fn drawn(&self, read: &FileRecord, alignment: &Alignment) -> String {
        let residues = self.targets.once(alignment.target);
        let target = HitTarget {
            number: alignment.target as usize,
            name: "",
            title: "",
            len: to_u32(residues.len()),
            frame: None,
            aligned: alignment.aligned_residues(residues),
        };
        let page = PageOptions { width: WIDTH, colour: false };
        list::drawn(&self.scoring, read, (alignment, target), (&page, MOST_COLUMNS))
    }

    /// The judgment on a read. `mate` is its number in its pair, or 0.
    fn judged<'a>(
        &self,
        audit: &'a Audit,
        read: &'a FileRecord,
        found: &'a QueryResult,
        mate: u8,
    ) -> Result<JudgedRead<'a>> {
        let records = audit.records(read, mate)?;
        // In the file, the second mate may come first.
        let stated = records.iter().next().map_or(0, MappedFields::mate);
        let mate = if stated > 0 { stated } else { mate };
        if mate > 0 && !audit.is_paired {
            audit.unpaired.fetch_add(1, Ordering::Relaxed);
        }
        let best = BestHit::of(found, audit.is_paired);
        let record = self.judged_fields(audit, &records, read, (best, found.quality))?;
        let against = match &audit.against {
            None => None,
            Some(records) => {
                let records = records.of(read, mate)?;
                Some(self.judged_fields(audit, &records, read, (best, found.quality))?)
            }
        };
        Ok(JudgedRead { read, mate, best, record, against })
    }

    /// The judgment on the records of a read with this best hit and mapping quality.
    fn judged_fields<'a>(
        &self,
        audit: &Audit,
        records: &ReadRecords<'a>,
        read: &FileRecord,
        (best, quality): (Option<BestHit>, Option<u8>),
    ) -> Result<JudgedFields<'a>> {
        let mut codes = Vec::with_capacity(read.sequence.len());
        let is_encoded = self.scoring.alphabet.encode(&read.sequence, &mut codes).is_ok();
        let (mut fields, mut claim) = (None, OwnedClaim::Unmapped);
        for &of_record in records.iter() {
            let other = match is_encoded {
                true => self.claim(audit, &of_record, &codes)?,
                false => OwnedClaim::Invalid,
            };
            if fields.is_none() || other.rank() > claim.rank() {
                (fields, claim) = (Some(of_record), other);
            }
        }
        let optimum = best.map(|best| self.optimum(best, to_u32(codes.len())));
        let mapq = fields.map_or(UNKNOWN_MAPQ, |fields| fields.mapq);
        let most = audit.options.tie_mapq;
        // A mate may decide between positions that score the same.
        let is_open = !audit.is_paired || quality.is_none_or(|quality| quality <= most);
        let proven = match &self.tiers {
            None => Some(self.rules.min_score),
            Some(tiers) => tiers.proven(&codes),
        };
        let limits = JudgeLimits {
            min_score: self.rules.min_score.into(),
            proven: proven.map(i64::from),
            shows_ties: mapq > most && mapq != UNKNOWN_MAPQ && is_open,
        };
        let verdict = judge(claim.as_claim(), optimum.as_ref(), &limits);
        let (alignment, score) = match claim {
            OwnedClaim::Aligned(alignment, scores) => (Some(alignment), Some(scores.whole)),
            _ => (None, None),
        };
        Ok(JudgedFields { fields, score, alignment, verdict })
    }

    /// The claim of the record of a read with these codes.
    fn claim(&self, audit: &Audit, fields: &MappedFields, codes: &[u8]) -> Result<OwnedClaim> {
        if are_contradictory(fields) || fields.is_reverse() && self.strands == Strands::Plus {
            return Ok(OwnedClaim::Invalid);
        }
        if fields.is_unmapped() {
            return Ok(OwnedClaim::Unmapped);
        }
        if fields.cigar == MISSING {
            return Ok(OwnedClaim::Unscored);
        }
        let path = ReadPath::parse(fields.cigar).filter(|path| path.read_len() as usize == codes.len());
        let Some(path) = path else { return Ok(OwnedClaim::Invalid) };
        let Some(&target) = audit.references.get(fields.reference) else { return Ok(OwnedClaim::Outside) };
        let target_codes = self.targets.get(target as usize);
        let target_start = fields.position - 1;
        let end = target_start.checked_add(path.target).filter(|&end| end as usize <= target_codes.len());
        let Some(target_end) = end else { return Ok(OwnedClaim::Outside) };
        let first = self.targets.start(target as usize);
        self.targets.prove(first + target_start as usize..first + target_end as usize)?;
        let alignment = Alignment {
            strand: if fields.is_reverse() { Strand::Reverse } else { Strand::Forward },
            target,
            score: 0,
            query_start: path.clips[0],
            query_end: path.clips[0] + path.query,
            target_start,
            target_end,
            cigar: path.runs,
            shifts: Box::default(),
        };
        let reverse: Vec<u8>;
        let query = match alignment.strand {
            Strand::Reverse => {
                reverse = reverse_complement_codes(codes).collect();
                &reverse
            }
            _ => codes,
        };
        let whole = score(&alignment, (query, target_codes), &self.scoring);
        let bonus = alignment.bonus(to_u32(codes.len()), self.scoring.end_bonus);
        Ok(OwnedClaim::Aligned(alignment, Scores { whole, own: whole - i64::from(bonus) }))
    }

    fn optimum<'a>(&self, best: BestHit<'a>, len: u32) -> Optimum<'a> {
        let BestHit { alignment, second, tier } = best;
        let own = alignment.score - alignment.bonus(len, self.scoring.end_bonus);
        let least = match (&self.tiers, tier) {
            (Some(tiers), Tier::Anchored) => tiers.least,
            _ => self.rules.min_score,
        };
        Optimum {
            alignment,
            score: alignment.score.into(),
            is_reported: own >= least,
            is_tied: second == Some(alignment.score),
            is_proven: tier != Tier::Anchored,
        }
    }
}

/// Whether fields contradict each other: a read without a mate has fields of one, or a mapped read has no position.
fn are_contradictory(fields: &MappedFields) -> bool {
    let of_mates = PROPER | MATE_UNMAPPED | MATE_REVERSE | FIRST | LAST;
    let is_nowhere = fields.reference == MISSING || fields.position == 0;
    fields.flags & PAIRED == 0 && fields.flags & of_mates != 0 || !fields.is_unmapped() && is_nowhere
}

/// A mate may score less than its own optimum if both mates do not score less than the pair that the aligner chooses, which
/// scores `of_pair`.
fn excuse_pair(mates: Vec<&mut JudgedFields>, of_pair: i64) {
    if mates.iter().filter_map(|mate| mate.score).sum::<i64>() >= of_pair {
        let excused =
            mates.into_iter().filter(|mate| matches!(mate.verdict, Verdict::Below | Verdict::Clipped));
        excused.for_each(|mate| mate.verdict = Verdict::Equal);
    }
}

impl OwnedClaim {
    /// The order in which claims of the records of one read decide: a record with a fault first, then the highest score.
    fn rank(&self) -> (u8, i64) {
        match self {
            OwnedClaim::Outside | OwnedClaim::Invalid => (3, 0),
            OwnedClaim::Aligned(_, scores) => (2, scores.whole),
            OwnedClaim::Unscored => (1, 0),
            OwnedClaim::Unmapped => (0, 0),
        }
    }

    fn as_claim(&self) -> Claim<'_> {
        match self {
            OwnedClaim::Unmapped => Claim::Unmapped,
            OwnedClaim::Outside => Claim::Outside,
            OwnedClaim::Invalid => Claim::Invalid,
            OwnedClaim::Unscored => Claim::Unscored,
            OwnedClaim::Aligned(alignment, scores) => Claim::Aligned(alignment, *scores),
        }
    }
}

impl<'a> BestHit<'a> {
    fn of(found: &'a QueryResult, is_paired: bool) -> Option<BestHit<'a>> {
        if is_paired {
            let SingleBest { alignment, second, tier } = found.single.as_deref()?;
            return Some(BestHit { alignment, second: *second, tier: *tier });
        }
        let alignment = found.alignments.first()?;
        Some(BestHit { alignment, second: found.second, tier: found.tier })
    }
}

impl JudgedRead<'_> {
    fn row<'b>(&'b self, names: &'b [String]) -> Row<'b> {
        let JudgedRead { read, mate, best, record, against } = self;
        let optimum = best.as_ref().map(|best| RowOptimum {
            alignment: best.alignment,
            score: best.alignment.score.into(),
            reference: names.get(best.alignment.target as usize).map_or(MISSING, String::as_str),
            len: to_u32(read.sequence.len()),
            is_proven: best.tier != Tier::Anchored,
        });
        let against = against.as_ref().map(JudgedFields::record);
        Row { read: &read.name, mate: *mate, record: record.record(), optimum, against }
    }
}

impl JudgedFields<'_> {
    fn record(&self) -> JudgedRecord<'_> {
        let JudgedFields { fields, score, verdict, .. } = self;
        let mapped = fields.as_ref().filter(|fields| !fields.is_unmapped());
        let position = mapped.map(|fields| RecordPosition {
            reference: fields.reference,
            position: fields.position,
            strand: if fields.is_reverse() { Strand::Reverse } else { Strand::Forward },
            mapq: fields.mapq,
        });
        JudgedRecord { verdict: *verdict, position, score: *score }
    }
}
