//! `swalign audit`: compares the records of another program with the hits of their reads.
//!
//! A run searches the reads as usual. Instead of records, its workers write a row for each read: the verdict on the record of
//! the other program. The fields of that record come with the read if the queries are the records themselves, and otherwise
//! from a table of all records by read.

use super::Run;
use super::report::{RECORDS, Reporter, counted};
use crate::align::audit::{Claim, JudgeLimits, Optimum, ReadPath, Scores, Verdict, judge, score};
use crate::input::reader::{
    FIRST, FileRecord, LAST, MATE_REVERSE, MATE_UNMAPPED, MISSING, MappedFields, PAIRED, PROPER, Reader,
    UNKNOWN_MAPQ,
};
use crate::output::audit::{AuditCounts, JudgedRecord, RecordPosition, Row, RowOptimum, header};
use crate::output::writer::bgzf::{self, RecordBytes};
use crate::terms::alignment::{Alignment, QueryResult, SingleBest, Strand, Strands, Tier};
use crate::terms::alphabet::reverse_complement_codes;
use crate::terms::casts::to_u32;
use crate::terms::error::{Error, Place, Result};
use crate::terms::options::{AuditOptions, Options, Sample, SampledNames};
use rayon::prelude::*;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Queries that a thread judges per task. Even, so that mates stay together.
const QUERIES: usize = 512;
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
    /// The records of a second program.
    against: Option<RecordsByRead>,
    /// The file of the queries, for errors.
    queries: PathBuf,
    /// Whether each two queries are mates.
    is_paired: bool,
    /// Number of mates that were judged as single reads.
    unpaired: AtomicU64,
    counts: Mutex<AuditCounts>,
}

/// The first primary record of each read.
struct RecordsByRead {
    file: PathBuf,
    /// The file of the reads.
    reads: PathBuf,
    /// Comments with the fields of records, by the name of the read and the number of the mate.
    fields: HashMap<(Box<str>, u8), Box<[u8]>>,
    /// Number of further records of the same reads.
    repeated: u64,
    /// Number of records whose reads were found.
    used: AtomicU64,
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

/// The names of the requested sample of reads. Reads all names.
pub fn sampled(options: &Options) -> Result<Option<SampledNames>> {
    let Some(Sample { reads, seed }) = options.audit.as_ref().and_then(|audit| audit.sample) else {
        return Ok(None);
    };
    let mut reader = match options.queries_are_records() {
        true => Reader::open_mapped(&options.query)?,
        false => Reader::open(&options.query)?,
    };
    let mut lowest = BTreeSet::new();
    for record in &mut reader {
        let hash = SampledNames::hash(seed, &record?.name);
        let is_low = lowest.len() < reads || lowest.last().is_some_and(|&last| hash < last);
        if is_low && lowest.insert(hash) && lowest.len() > reads {
            lowest.pop_last();
        }
    }
    Ok(lowest.last().map(|&most| SampledNames { seed, most }))
}

impl RecordsByRead {
    fn open(path: &Path, reads: &Path) -> Result<RecordsByRead> {
        let mut fields: HashMap<(Box<str>, u8), Box<[u8]>> = HashMap::new();
        let mut repeated = 0;
        for record in Reader::open_mapped(path)? {
            let FileRecord { name, number, tags, .. } = record?;
            let mate = parsed(path, &tags, (number, &name))?.mate();
            match fields.entry((name.into(), mate)) {
                std::collections::hash_map::Entry::Occupied(_) => repeated += 1,
                std::collections::hash_map::Entry::Vacant(entry) => drop(entry.insert(tags.into())),
            }
        }
        let [file, reads] = [path, reads].map(Path::to_path_buf);
        Ok(RecordsByRead { file, reads, fields, repeated, used: AtomicU64::new(0) })
    }

    /// The fields of the record of a read. `mate` is 0 if the reads are not paired.
    fn of(&self, read: &FileRecord, mate: u8) -> Result<Option<MappedFields<'_>>> {
        let get = |name: &str, mate: u8| self.fields.get(&(name.into(), mate));
        let name = &*read.name;
        let with_suffix = || match name.rsplit_once('/')? {
            (base, "1") => get(base, 1),
            (base, "2") => get(base, 2),
            _ => None,
        };
        let written = || get(&format!("{name}/{mate}"), 0);
        let found = match mate {
            0 => get(name, 0).or_else(with_suffix),
            _ => get(name, mate).or_else(written),
        };
        let of_mates = || get(name, 1).or_else(|| get(name, 2));
        if let (None, 0, Some(tags)) = (found, mate, of_mates()) {
            let place = place(&self.file, (parsed(&self.file, tags, (0, name))?.number, name));
            let remedy = "give the files of both mates, as in --reads R1.fq,R2.fq";
            return Err(Error::input(place, "its records are those of a pair", remedy));
        }
        let Some(tags) = found else { return Ok(None) };
        self.used.fetch_add(1, Ordering::Relaxed);
        parsed(&self.file, tags, (0, name)).map(Some)
    }

    /// Reports which records were not judged. A sample has only some of the reads.
    fn tell(&self, is_sample: bool, reporter: &dyn Reporter) {
        let RecordsByRead { file, reads, fields, repeated, used } = self;
        let file = file.display();
        if *repeated > 0 {
            let records = counted(*repeated, RECORDS);
            reporter
                .note(&format!("{file}: {records} skipped, because the first record of each read is judged"));
        }
        let unused = (fields.len() as u64).saturating_sub(used.load(Ordering::Relaxed));
        if unused > 0 && !is_sample {
            let records = counted(unused, RECORDS);
            reporter.note(&format!("warning: {file}: {records} of reads that {} lacks", reads.display()));
        }
    }
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
    pub fn new(options: &Options, audit: &AuditOptions, names: &[String]) -> Result<Audit> {
        let mut references = HashMap::with_capacity(names.len());
        for (name, number) in names.iter().zip(0..) {
            if references.insert(name.clone(), number).is_some() {
                let problem = format!("two references are called {name}");
                let place = Place { file: options.reference.clone(), ..Place::default() };
                return Err(Error::input(place, problem, "give each reference its own name"));
            }
        }
        let open = |path: &PathBuf| RecordsByRead::open(path, &options.query);
        let records = audit.records.as_ref().map(open).transpose()?;
        let against = audit.against.as_ref().map(open).transpose()?;
        let header = header(audit.format, against.is_some());
        Ok(Audit {
            options: audit.clone(),
            header: vec![if options.packed { bgzf::pack(&header)? } else { header }],
            references,
            records,
            against,
            queries: options.query.clone(),
            is_paired: options.has_mates(),
            unpaired: AtomicU64::new(0),
            counts: Mutex::default(),
        })
    }

    pub fn header(&self) -> &[Vec<u8>] {
        &self.header
    }

    /// The numbers of verdicts so far.
    pub fn counts(&self) -> AuditCounts {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
        let is_sample = self.options.sampled.is_some();
        self.records.iter().chain(&self.against).for_each(|records| records.tell(is_sample, reporter));
    }

    /// The fields of the record of a read; `None` if the file has no record of it.
    fn fields<'a>(&'a self, read: &'a FileRecord, mate: u8) -> Result<Option<MappedFields<'a>>> {
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
            () => Ok(Some(fields)),
        }
    }
}

impl Run<'_> {
    /// The rows of these queries, made on all threads.
    pub(super) fn audited(
        &self,
        audit: &Audit,
        queries: &[FileRecord],
        found: &[QueryResult],
    ) -> Result<Vec<RecordBytes>> {
        let pieces = queries.par_chunks(QUERIES).zip(found.par_chunks(QUERIES));
        let pieces: Vec<(Vec<u8>, AuditCounts)> =
            pieces.map(|(queries, found)| self.rows(audit, queries, found)).collect::<Result<_>>()?;
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
        queries: &[FileRecord],
        found: &[QueryResult],
    ) -> Result<(Vec<u8>, AuditCounts)> {
        let (mut bytes, mut counts) = (Vec::new(), AuditCounts::default());
        let unit = if audit.is_paired { 2 } else { 1 };
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
            for read in &judged {
                let row = read.row(self.writer.names());
                counts.count(&row, read.read.sequence.len());
                if audit.options.every || !row.is_agreement() {
                    row.push(&mut bytes, audit.options.format);
                }
            }
        }
        Ok((bytes, counts))
    }

    /// The judgment on a read. `mate` is its number in its pair, or 0.
    fn judged<'a>(
        &self,
        audit: &'a Audit,
        read: &'a FileRecord,
        found: &'a QueryResult,
        mate: u8,
    ) -> Result<JudgedRead<'a>> {
        let fields = audit.fields(read, mate)?;
        let mate = fields.map_or(mate, |fields| if fields.mate() > 0 { fields.mate() } else { mate });
        if mate > 0 && !audit.is_paired {
            audit.unpaired.fetch_add(1, Ordering::Relaxed);
        }
        let best = BestHit::of(found, audit.is_paired);
        let record = self.judged_fields(audit, fields, read, (best, found.quality))?;
        let against = match &audit.against {
            None => None,
            Some(records) => {
                let fields = records.of(read, mate)?;
                Some(self.judged_fields(audit, fields, read, (best, found.quality))?)
            }
        };
        Ok(JudgedRead { read, mate, best, record, against })
    }

    /// The judgment on the record of a read with this best hit and mapping quality.
    fn judged_fields<'a>(
        &self,
        audit: &Audit,
        fields: Option<MappedFields<'a>>,
        read: &FileRecord,
        (best, quality): (Option<BestHit>, Option<u8>),
    ) -> Result<JudgedFields<'a>> {
        let mut codes = Vec::with_capacity(read.sequence.len());
        let is_encoded = self.scoring.alphabet.encode(&read.sequence, &mut codes).is_ok();
        let claim = match &fields {
            Some(fields) if is_encoded => self.claim(audit, fields, &codes)?,
            Some(_) => OwnedClaim::Invalid,
            None => OwnedClaim::Unmapped,
        };
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
        let score = match claim {
            OwnedClaim::Aligned(_, scores) => Some(scores.whole),
            _ => None,
        };
        Ok(JudgedFields { fields, score, verdict })
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
        };
        let reverse: Vec<u8>;
        let query = match alignment.strand {
            Strand::Forward => codes,
            Strand::Reverse => {
                reverse = reverse_complement_codes(codes).collect();
                &reverse
            }
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
        let JudgedFields { fields, score, verdict } = self;
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
