//! Records of mates in parts of the references: decoded, and written as in a run with all references.
//!
//! The fields about a record's own alignment stay (CIGAR, NM, MD, cs, AS). The fields about its mate are computed from
//! the hits that are reported. SEQ and QUAL are stored in the first record of a mate in each part.

use super::{PartRecord, QueryInPart, RecordKind, bam, text};
use crate::align::quality::of_tier;
use crate::input::reader::{READ_GROUP, WRITTEN_TAGS};
use crate::output::writer::line::{AlignedLine, BamOp, CopiedTags, LineRank, MateOf, MatePlace, OutputLine};
use crate::output::writer::tags::EditTags;
use crate::output::writer::{bam as bam_lines, sam as sam_lines};
use crate::terms::alignment::{
    Alignment, InPart, Mated, PathOp, PathRuns, QueryResult, Strand, Tier, push_run,
};
use crate::terms::alphabet::reverse_complement;
use crate::terms::insert::PairScoring;
use crate::terms::options::Format;

/// A record of a mate, and its decoded fields.
pub struct MateRecord {
    record: PartRecord,
    told: MateTold,
}

/// The decoded fields of a mate's record.
#[derive(Default)]
pub struct MateTold {
    /// SEQ and QUAL as stored in the record; empty if missing.
    pub letters: Vec<u8>,
    pub qualities: Vec<u8>,
    /// The tag ms.
    pub base_qualities: Option<i64>,
    pub read_group: Option<Vec<u8>>,
    /// Other tags copied from the query, in the record's form.
    pub copied: Vec<u8>,
    /// `None` for an unmapped mate.
    pub hit: Option<MateHit>,
}

/// An alignment of a mate.
pub struct MateHit {
    /// Its target has the index among all references.
    pub alignment: Alignment,
    pub in_part: InPart,
    /// Only for SAM, since BAM has the target's number, and PAF's columns stay.
    pub target_name: String,
    pub cigar: Vec<(u32, BamOp)>,
    pub differences: EditTags,
}

/// The path of a CIGAR.
pub struct PathTold {
    pub cigar: Vec<(u32, BamOp)>,
    /// Query residues before the path.
    query_start: u32,
    runs: PathRuns,
    /// Query and target residues in the path.
    lens: (u32, u32),
}

impl MateHit {
    pub fn of(alignment: Alignment, in_part: InPart) -> MateHit {
        let (target_name, cigar, differences) = Default::default();
        MateHit { alignment, in_part, target_name, cigar, differences }
    }
}

impl PathTold {
    /// `None` for a path that no mate can have.
    pub fn new(operations: &[(u32, u8)]) -> Option<PathTold> {
        let mut path = PathTold { cigar: Vec::new(), query_start: 0, runs: PathRuns::new(), lens: (0, 0) };
        for &(len, letter) in operations {
            let kind = BamOp::of(letter)?;
            let (op, of_query, of_target) = match kind {
                BamOp::Clip => (None, 0, 0),
                BamOp::Match | BamOp::Equal | BamOp::Unequal => (Some(PathOp::Match), len, len),
                BamOp::Insertion => (Some(PathOp::Insertion), len, 0),
                BamOp::Deletion => (Some(PathOp::Deletion), 0, len),
                BamOp::HardClip => return None,
            };
            path.lens = (path.lens.0.checked_add(of_query)?, path.lens.1.checked_add(of_target)?);
            match op {
                Some(op) => push_run(&mut path.runs, len, op),
                None if path.runs.is_empty() => path.query_start = path.query_start.checked_add(len)?,
                None => {}
            }
            path.cigar.push((len, kind));
        }
        Some(path)
    }

    /// The alignment along the path, starting at a position of a target.
    pub fn alignment(
        &self,
        strand: Strand,
        (target, target_start): (u32, u32),
        score: i32,
    ) -> Option<Alignment> {
        let PathTold { query_start, lens, .. } = *self;
        let (query_end, target_end) = (query_start.checked_add(lens.0)?, target_start.checked_add(lens.1)?);
        let cigar = self.runs.clone();
        Some(Alignment { strand, target, score, query_start, query_end, target_start, target_end, cigar })
    }
}

impl PartRecord {
    /// Decodes the record of a mate; `None` if no run writes such a record.
    pub fn into_mate(self) -> Option<MateRecord> {
        let told = match self.format {
            Format::Bam => bam::mate(&self.bytes),
            Format::Sam => text::mate_sam(&self.bytes),
            Format::Paf => text::mate_paf(&self.bytes),
        };
        told.map(|told| MateRecord { record: self, told })
    }
}

impl MateRecord {
    /// The alignment, and its data for merging.
    pub fn hit(&self) -> Option<(&Alignment, InPart)> {
        let hit = self.told.hit.as_ref()?;
        Some((&hit.alignment, hit.in_part))
    }

    /// Its query's data for merging, if it is the first record of its mate.
    pub fn of_query(&self) -> Option<QueryInPart> {
        self.record.of_query
    }

    /// SEQ in the orientation of the read.
    fn letters_as_read(&self) -> Vec<u8> {
        oriented(&self.told.letters, self.strand())
    }

    fn qualities_as_read(&self) -> Vec<u8> {
        let mut qualities = self.told.qualities.clone();
        if self.strand() == Strand::Reverse {
            qualities.reverse();
        }
        qualities
    }

    fn strand(&self) -> Strand {
        self.told.hit.as_ref().map_or(Strand::Forward, |hit| hit.alignment.strand)
    }
}

/// A mate with its reported alignments, in order.
struct Mate<'a> {
    /// The first record in the first part.
    first: &'a MateRecord,
    hits: Vec<(&'a MateRecord, &'a MateHit)>,
    second: Option<i32>,
    quality: u8,
    tier: Tier,
    mated: Mated,
}

impl<'a> Mate<'a> {
    /// `None` if an alignment belongs to no record.
    fn new(records: &'a [MateRecord], found: &QueryResult) -> Option<Mate<'a>> {
        // Equal alignments have equal records.
        let record_of = |alignment: &Alignment| {
            let with_hit = records.iter().filter_map(|record| Some((record, record.told.hit.as_ref()?)));
            with_hit.into_iter().find(|(_, hit)| hit.alignment == *alignment)
        };
        let hits = found.alignments.iter().map(record_of).collect::<Option<_>>()?;
        let (second, tier) = (found.second, found.tier);
        let quality = of_tier(found.quality.unwrap_or(0), tier);
        Some(Mate { first: records.first()?, hits, second, quality, tier, mated: found.mated? })
    }

    fn place(&self) -> Option<MatePlace<'a>> {
        self.place_of(0)
    }

    /// The position of a hit.
    fn place_of(&self, number: usize) -> Option<MatePlace<'a>> {
        let (_, hit) = self.hits.get(number)?;
        Some(MatePlace {
            target_number: hit.alignment.target as usize,
            target_name: &hit.target_name,
            alignment: &hit.alignment,
            quality: if number == 0 { self.quality } else { 0 },
            cigar: hit.cigar.clone(),
        })
    }

    /// Appends the lines of PAF, whose columns stay.
    fn push_paf(&self, out: &mut Vec<u8>) {
        let Mate { first, hits, second, quality, .. } = self;
        for (rank, (record, _)) in hits.iter().enumerate() {
            let standing = match rank {
                0 => RecordKind::Primary { second: *second, quality: *quality },
                _ => RecordKind::Secondary,
            };
            record.record.push(out, standing);
        }
        if hits.is_empty() {
            text::push_unaligned_paf(&first.record.bytes, out);
        }
    }

    /// Appends the records of SAM or BAM. `partners` gives for each secondary hit its partner among the hits of the
    /// other mate. `None` if a record cannot be written.
    fn push(&self, out: &mut Vec<u8>, other: &Mate, partners: &[Option<usize>]) -> Option<()> {
        let (is_first, is_proper) = (self.mated.is_first, self.mated.is_proper());
        let MateTold { base_qualities, read_group, copied, .. } = &self.first.told;
        let copied = match self.first.record.format {
            Format::Bam => CopiedTags::Binary(copied),
            Format::Sam | Format::Paf => CopiedTags::Text(copied),
        };
        let name = str::from_utf8(self.first.record.name()).ok()?;
        let read_group = read_group.as_deref().map(str::from_utf8).transpose().ok()?;
        let [own, place] = [self.place(), other.place()];
        let [own, place] = [own.as_ref(), place.as_ref()];
        let mate = MateOf { is_first, is_proper, place, own, base_qualities: *base_qualities };
        let (letters, qualities) = (self.first.letters_as_read(), self.first.qualities_as_read());
        let mut push = |letters: &[u8], aligned, mate: MateOf| {
            let (qualities, mate) = (&qualities[..], Some(mate));
            let line = OutputLine { name, letters, qualities, aligned, mate, of_query: &[], copied };
            match self.first.record.format {
                Format::Bam => return bam_lines::push(out, &line, read_group).ok(),
                Format::Sam | Format::Paf => sam_lines::push(out, &line, read_group),
            }
            Some(())
        };
        if self.hits.is_empty() {
            return push(&letters, None, mate);
        }
        for (number, (_, hit)) in self.hits.iter().enumerate() {
            let (rank, quality, second) = match number {
                0 => (LineRank::Primary, self.quality, self.second),
                _ => (LineRank::Secondary, 0, None),
            };
            let MateHit { alignment, target_name, cigar, differences, .. } = hit;
            let aligned = AlignedLine {
                alignment,
                rank,
                quality,
                second,
                is_anchored: self.tier == Tier::Anchored,
                target_number: alignment.target as usize,
                target_name,
                target: &[],
                cigar,
                differences,
                others: &[],
                in_part: &[],
            };
            let partner = partners.get(number).copied().flatten().and_then(|partner| other.place_of(partner));
            let mate = mate.of_line(rank, partner.as_ref());
            match rank {
                LineRank::Primary => push(&oriented(&letters, alignment.strand), Some(aligned), mate)?,
                _ => push(&[], Some(aligned), mate)?,
            }
        }
        Some(())
    }
}

/// Whether a run writes this tag itself.
pub fn is_written(name: &[u8]) -> bool {
    WRITTEN_TAGS.iter().any(|written| name == *written)
}

/// Whether a tag is copied from the query and is no read group.
pub fn is_copied(name: &[u8]) -> bool {
    !is_written(name) && name != READ_GROUP
}

/// The residues of a query in the orientation of a strand, or back.
fn oriented(letters: &[u8], strand: Strand) -> Vec<u8> {
    match strand {
        Strand::Forward => letters.to_vec(),
        Strand::Reverse => reverse_complement(letters),
    }
}

/// Appends the records of two mates with the reported hits, from the records of all parts. `None` if a hit belongs to
/// no record.
pub fn push_mates(
    pairs: &PairScoring,
    records: [&[MateRecord]; 2],
    found: &[QueryResult; 2],
    out: &mut Vec<u8>,
) -> Option<()> {
    let [one, other] = [Mate::new(records[0], &found[0])?, Mate::new(records[1], &found[1])?];
    // Parts of the references have no circular references.
    let partners = pairs.partners([&found[0].alignments, &found[1].alignments], |_| None);
    for ((own, mate), partners) in [(&one, &other), (&other, &one)].into_iter().zip(&partners) {
        match own.first.record.format {
            Format::Paf => own.push_paf(out),
            Format::Sam | Format::Bam => own.push(out, mate, partners)?,
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::reader::FileRecord;
    use crate::output::writer::reread::PartRecords;
    use crate::output::writer::tests::{at, group, options, read, writer_of_mates};
    use crate::output::writer::{Writer, bgzf};
    use crate::terms::insert::{InsertSize, Orientation};
    use crate::terms::options::{CsForm, Options, Share};
    use crate::terms::scoring::Scoring;
    use smallvec::smallvec;
    use std::io::Cursor;

    const MATED: [Mated; 2] =
        [Mated { is_first: true, insert: Some(300) }, Mated { is_first: false, insert: Some(300) }];
    const PAIRS: PairScoring = PairScoring {
        insert: InsertSize { orientation: Orientation::Fr, mean: 40, deviation: 100 },
        match_: 2,
    };
    const QUALITIES: [Option<u8>; 2] = [Some(37), Some(9)];

    fn writers(format: Format, eqx: bool, read_group: bool) -> [Writer; 2] {
        let target = "ACGTTGCAAC".repeat(7000);
        let cs = if eqx { Some(CsForm::Long) } else { None };
        let read_group = read_group.then(|| group("@RG\tID:g 1"));
        let whole = Options {
            format: crate::terms::options::OutputFormat::Records(format),
            eqx,
            cs,
            read_group,
            ..options()
        };
        let part = Options { ref_part: Some(Share { number: 1, of: 2 }), ..whole.clone() };
        let scoring = || Scoring::dna(2, 4, 4, 2);
        let insert = Some(PAIRS.insert);
        [whole, part].map(|options| writer_of_mates(&options, scoring(), &[("t", &target)], insert).unwrap())
    }

    /// Alignments on both strands with gaps, one of 65,537 operations, and two with the same position but different
    /// paths.
    fn alignments() -> Vec<Alignment> {
        let gaps: PathRuns =
            smallvec![(1, PathOp::Match), (3, PathOp::Insertion), (2, PathOp::Deletion), (2, PathOp::Match)];
        let mut long: PathRuns =
            (0..32_768).flat_map(|_| [(1, PathOp::Match), (1, PathOp::Deletion)]).collect();
        long.push((1, PathOp::Match));
        vec![
            at(Strand::Forward, 2, 5, smallvec![(4, PathOp::Match)]),
            at(Strand::Reverse, 1, 40, gaps.clone()),
            at(Strand::Reverse, 0, 300, long),
            at(Strand::Reverse, 0, 5, smallvec![(5, PathOp::Match)]),
        ]
    }

    fn reads(with_qualities: bool) -> [FileRecord; 2] {
        [("ACGTN", "I!*~0"), ("RACGA", "*0AB~")].map(|(letters, qualities)| {
            let (letters, qualities) = (letters.repeat(7000), qualities.repeat(7000));
            read("q", &letters, with_qualities.then_some(&*qualities))
        })
    }

    /// The decoded records of a part with these alignments of each mate.
    fn apart(
        format: Format,
        part: &Writer,
        reads: &[FileRecord],
        mates: [&[Alignment]; 2],
    ) -> [Vec<MateRecord>; 2] {
        let found = mates.map(|alignments| QueryResult {
            in_part: alignments.iter().map(|_| InPart::Hit { beside: Some(1) }).collect(),
            alignments: alignments.to_vec(),
            second: Some(26),
            quality: Some(0),
            mated: Some(Mated { is_first: true, insert: None }),
            ..QueryResult::default()
        });
        let [one, mut other] = found;
        other.mated = Some(Mated { is_first: false, insert: None });
        let bytes = part.records(reads, &[one, other]).unwrap();
        let in_blocks = format == Format::Bam;
        let bytes = if in_blocks { bgzf::pack(&bytes).unwrap() } else { bytes };
        let mut records = PartRecords::new(format, in_blocks, Cursor::new(bytes));
        [(); 2].map(|()| {
            let query = records.next_query().unwrap();
            query.into_iter().map(|record| record.into_mate().unwrap()).collect()
        })
    }

    /// For all reported subsets of a part's hits, the result equals the writer's output.
    #[test]
    fn joined_mates_are_those_of_the_writer() {
        let all = alignments();
        for format in [Format::Sam, Format::Bam, Format::Paf] {
            for (eqx, with_qualities) in [(true, true), (false, true), (true, false)] {
                let [whole, part] = writers(format, eqx, !with_qualities);
                let reads = reads(with_qualities);
                for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [1, 3, 0, 2]] {
                    let of_part = order.map(|place| all[place].clone());
                    let records = apart(format, &part, &reads, [&of_part, &all]);
                    for (record, alignment) in records[0].iter().zip(&of_part) {
                        assert_eq!(record.hit(), Some((alignment, InPart::Hit { beside: Some(1) })));
                        let second = (*alignment == of_part[0]).then_some(Some(26));
                        assert_eq!(record.of_query().map(|told| told.second), second);
                    }
                    for (kept, others) in
                        [(&all[..1], &all[1..2]), (&all[2..], &all[..]), (&[], &all[1..]), (&[], &[])]
                    {
                        let found = [(kept, 0), (others, 1)].map(|(alignments, mate)| QueryResult {
                            alignments: alignments.to_vec(),
                            second: if alignments.is_empty() { None } else { Some(20 + mate as i32) },
                            quality: QUALITIES[mate],
                            mated: Some(MATED[mate]),
                            ..QueryResult::default()
                        });
                        let mut out = Vec::new();
                        push_mates(&PAIRS, [&records[0], &records[1]], &found, &mut out).unwrap();
                        let expected = whole.records(&reads, &found).unwrap();
                        assert!(
                            out == expected,
                            "{format:?} {eqx} {order:?} {} {}",
                            kept.len(),
                            others.len()
                        );
                    }
                }
                // Mates without hits in the part.
                let records = apart(format, &part, &reads, [&[], &[]]);
                assert!(records.iter().all(|records| records.len() == 1 && records[0].hit().is_none()));
                let found = MATED.map(|mated| QueryResult { mated: Some(mated), ..QueryResult::default() });
                let mut out = Vec::new();
                push_mates(&PAIRS, [&records[0], &records[1]], &found, &mut out).unwrap();
                assert!(out == whole.records(&reads, &found).unwrap(), "{format:?} {eqx}");
                // Hits that no part has cannot be written.
                let other = QueryResult { alignments: all[..1].to_vec(), ..found[0].clone() };
                assert!(
                    push_mates(&PAIRS, [&records[0], &records[1]], &[other, found[1].clone()], &mut out)
                        .is_none()
                );
            }
        }
    }

    /// No byte of a record causes an access outside it, or a panic.
    #[test]
    fn damaged_records_are_refused_or_read() {
        let all = [alignments()[0].clone(), alignments()[1].clone()];
        for format in [Format::Sam, Format::Bam, Format::Paf] {
            let [_, part] = writers(format, false, true);
            let reads = [read("q", "ACGTACGTA", Some("IIIIIIIII")), read("q", "ACG", None)];
            let mated = |is_first| Some(Mated { is_first, insert: None });
            let in_part = vec![InPart::Hit { beside: None }, InPart::Rescued];
            let found = [
                QueryResult {
                    alignments: all.to_vec(),
                    in_part,
                    mated: mated(true),
                    ..QueryResult::default()
                },
                QueryResult { mated: mated(false), ..QueryResult::default() },
            ];
            let whole = part.records(&reads, &found).unwrap();
            let mut refused = 0;
            for place in 0..whole.len() {
                for value in [0, 1, b'\t', b'-', b'9', 0x7f, 0xff] {
                    let mut changed = whole.clone();
                    changed[place] = value;
                    let in_blocks = format == Format::Bam;
                    let bytes = if in_blocks { bgzf::pack(&changed).unwrap() } else { changed };
                    let mut records = PartRecords::new(format, in_blocks, Cursor::new(bytes));
                    let (Ok(one), Ok(other)) = (records.next_query(), records.next_query()) else {
                        refused += 1;
                        continue;
                    };
                    let apart = [one, other].map(|query| {
                        let query = query.into_iter().map(PartRecord::into_mate);
                        query.collect::<Option<Vec<MateRecord>>>()
                    });
                    let [Some(one), Some(other)] = apart else {
                        refused += 1;
                        continue;
                    };
                    let reported = |records: &[MateRecord], mated| QueryResult {
                        alignments: records
                            .iter()
                            .filter_map(|record| Some(record.hit()?.0.clone()))
                            .collect(),
                        mated: Some(mated),
                        ..QueryResult::default()
                    };
                    let found = [reported(&one, MATED[0]), reported(&other, MATED[1])];
                    push_mates(&PAIRS, [&one, &other], &found, &mut Vec::new());
                }
            }
            assert!(refused > 100, "{format:?}: {refused}");
        }
    }
}
