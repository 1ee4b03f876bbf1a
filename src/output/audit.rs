//! The rows of `swalign audit`, and the numbers of its verdicts.

use crate::align::audit::Verdict;
use crate::input::reader::MISSING;
use crate::terms::alignment::{Alignment, PathOp, Strand};
use crate::terms::json;
use crate::terms::options::AuditFormat;
use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::io::Write;

/// Names of the columns, and keys of the JSON objects.
const COLUMNS: [&str; 21] = [
    "read",
    "mate",
    "verdict",
    "reference",
    "position",
    "strand",
    "mapq",
    "score",
    "optimum",
    "optimum_reference",
    "optimum_position",
    "optimum_strand",
    "optimum_cigar",
    "tier",
    "against_verdict",
    "against_reference",
    "against_position",
    "against_strand",
    "against_mapq",
    "against_score",
    "higher",
];
/// Number of columns without those of a second file.
const OF_ONE_FILE: usize = 14;
/// Lengths of reads are counted in bins of this many residues, up to [`LONG`], and then in bins of [`LONG`].
const SHORT_BIN: u64 = 50;
const LONG: u64 = 1000;
/// Number of verdicts.
const VERDICTS: usize = Verdict::ALL.len();

/// A judged read.
pub struct Row<'a> {
    pub read: &'a str,
    /// 1 or 2 for a read of a pair, otherwise 0.
    pub mate: u8,
    pub record: JudgedRecord<'a>,
    pub optimum: Option<RowOptimum<'a>>,
    /// The record of a second file, if there is one.
    pub against: Option<JudgedRecord<'a>>,
}

/// The record of a read in one file.
pub struct JudgedRecord<'a> {
    pub verdict: Verdict,
    /// `None` without an alignment.
    pub position: Option<RecordPosition<'a>>,
    /// With end bonuses.
    pub score: Option<i64>,
}

/// The position of a record as the file states it.
pub struct RecordPosition<'a> {
    pub reference: &'a str,
    /// 1-based.
    pub position: u32,
    pub strand: Strand,
    pub mapq: u8,
}

/// The optimum of a read of `len` residues.
pub struct RowOptimum<'a> {
    pub alignment: &'a Alignment,
    pub score: i64,
    pub reference: &'a str,
    pub len: u32,
    /// Whether it is the optimum of all alignments, and not only of those with an exact run.
    pub is_proven: bool,
}

/// A value of a column.
enum Value<'a> {
    Text(&'a str),
    Number(i64),
    None,
}

/// The header line of the table, for one file or for two.
pub fn header(format: AuditFormat, has_second: bool) -> Vec<u8> {
    match format {
        AuditFormat::Tab => format!("#{}\n", columns(has_second).join("\t")).into_bytes(),
        AuditFormat::Json => Vec::new(),
    }
}

fn columns(has_second: bool) -> &'static [&'static str] {
    if has_second { &COLUMNS } else { &COLUMNS[..OF_ONE_FILE] }
}

/// The file with the higher score of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Higher {
    First,
    Second,
    /// The scores are equal, or neither file has one.
    Neither,
}

impl Row<'_> {
    /// Whether all records agree with the optimum.
    pub fn is_agreement(&self) -> bool {
        let against = self.against.as_ref();
        self.record.verdict.is_agreement() && against.is_none_or(|record| record.verdict.is_agreement())
    }

    /// The file with the higher score. A record without a score is lower than any other.
    fn higher(&self) -> Option<Higher> {
        let second = self.against.as_ref()?;
        Some(match self.record.score.cmp(&second.score) {
            Ordering::Greater => Higher::First,
            Ordering::Less => Higher::Second,
            Ordering::Equal => Higher::Neither,
        })
    }

    pub fn push(&self, out: &mut Vec<u8>, format: AuditFormat) {
        let cigar = self.optimum.as_ref().map(RowOptimum::cigar);
        let values = self.values(cigar.as_deref());
        match format {
            AuditFormat::Tab => {
                for (at, value) in values.iter().enumerate() {
                    if at > 0 {
                        out.push(b'\t');
                    }
                    // Writing to memory does not fail.
                    let _ = match value {
                        Value::Text(text) => write!(out, "{text}"),
                        Value::Number(number) => write!(out, "{number}"),
                        Value::None => write!(out, "{MISSING}"),
                    };
                }
            }
            AuditFormat::Json => {
                let value = |value: &Value| match value {
                    Value::Text(text) => json::quoted(text),
                    Value::Number(number) => number.to_string(),
                    Value::None => json::or_null(None),
                };
                let fields = columns(self.against.is_some()).iter().zip(values.iter().map(value));
                out.extend_from_slice(json::object(fields).as_bytes());
            }
        }
        out.push(b'\n');
    }

    fn values<'b>(&'b self, cigar: Option<&'b str>) -> Vec<Value<'b>> {
        let Row { read, mate, record, optimum, against } = self;
        let text = |text: Option<&'b str>| text.map_or(Value::None, Value::Text);
        let number = |number: Option<i64>| number.map_or(Value::None, Value::Number);
        let mut values = vec![Value::Text(read), number((*mate > 0).then_some((*mate).into()))];
        values.extend(record.values());
        let optimum = optimum.as_ref();
        values.extend([
            number(optimum.map(|optimum| optimum.score)),
            text(optimum.map(|optimum| optimum.reference)),
            number(optimum.map(|optimum| i64::from(optimum.alignment.target_start) + 1)),
            text(optimum.map(|optimum| sign(optimum.alignment.strand))),
            text(cigar),
            text(optimum.map(|optimum| if optimum.is_proven { "proven" } else { "anchored" })),
        ]);
        values.extend(against.iter().flat_map(JudgedRecord::values));
        values.extend(self.higher().map(|higher| match higher {
            Higher::First => Value::Text("records"),
            Higher::Second => Value::Text("against"),
            Higher::Neither => Value::None,
        }));
        values
    }
}

impl RecordPosition<'_> {
    pub fn text(&self) -> String {
        let RecordPosition { reference, position, strand, mapq } = self;
        format!("{reference}:{position} {}, MAPQ {mapq}", sign(*strand))
    }
}

impl JudgedRecord<'_> {
    fn values(&self) -> [Value<'_>; 6] {
        let position = self.position.as_ref();
        let number = |number: Option<i64>| number.map_or(Value::None, Value::Number);
        let text = |text: Option<_>| text.map_or(Value::None, Value::Text);
        [
            Value::Text(self.verdict.name()),
            text(position.map(|at| at.reference)),
            number(position.map(|at| at.position.into())),
            text(position.map(|at| sign(at.strand))),
            number(position.map(|at| at.mapq.into())),
            number(self.score),
        ]
    }
}

impl RowOptimum<'_> {
    pub fn position(&self) -> String {
        let Alignment { target_start, strand, .. } = self.alignment;
        format!("{}:{} {}", self.reference, target_start + 1, sign(*strand))
    }

    /// The path with soft clips.
    fn cigar(&self) -> String {
        let Alignment { query_start, query_end, ref cigar, .. } = *self.alignment;
        let letter = |op: PathOp| match op {
            PathOp::Match => 'M',
            PathOp::Insertion => 'I',
            PathOp::Deletion => 'D',
        };
        let runs = cigar.iter().map(|&(len, op)| (len, letter(op)));
        let all = [(query_start, 'S')].into_iter().chain(runs).chain([(self.len - query_end, 'S')]);
        all.filter(|&(len, _)| len > 0).map(|(len, letter)| format!("{len}{letter}")).collect()
    }
}

/// Number of findings that a page draws.
const WORST: usize = 10;

/// The order of findings, worst first: above the optimum, then by the distance from it, then by the order of the reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FindingRank {
    is_not_above: bool,
    distance: Reverse<i64>,
    read: u64,
}

/// A finding with its alignments as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnFinding {
    /// The name of the read, with its mate.
    pub read: String,
    pub verdict: Verdict,
    /// The record, and the optimum.
    pub sides: [DrawnSide; 2],
}

/// An alignment as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DrawnSide {
    pub score: Option<i64>,
    /// Reference, position and strand; empty without an alignment.
    pub position: String,
    /// The columns; empty if there is no valid alignment.
    pub columns: String,
    /// Number of columns that are not drawn.
    pub left_out: usize,
}

/// The worst findings so far. They do not depend on the order in which findings are added.
#[derive(Clone, Debug, Default)]
pub struct WorstFindings(BTreeMap<FindingRank, DrawnFinding>);

impl FindingRank {
    /// The rank of a row if its record is a finding. `read` is the number of the read.
    pub fn of(row: &Row, read: u64) -> Option<FindingRank> {
        let JudgedRecord { verdict, score, .. } = row.record;
        let optimum = row.optimum.as_ref().map_or(0, |optimum| optimum.score);
        let distance = Reverse(optimum.abs_diff(score.unwrap_or(0)).cast_signed());
        verdict.is_finding().then_some(FindingRank {
            is_not_above: verdict != Verdict::Above,
            distance,
            read,
        })
    }
}

impl WorstFindings {
    /// Whether a finding of this rank is among the worst.
    pub fn admit(&self, rank: &FindingRank) -> bool {
        self.0.len() < WORST || self.0.last_key_value().is_some_and(|(last, _)| rank < last)
    }

    pub fn add(&mut self, rank: FindingRank, finding: DrawnFinding) {
        self.0.insert(rank, finding);
        if self.0.len() > WORST {
            self.0.pop_last();
        }
    }

    /// The findings, worst first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &DrawnFinding> {
        self.0.values()
    }
}

fn sign(strand: Strand) -> &'static str {
    match strand {
        Strand::Reverse => "-",
        _ => "+",
    }
}

/// Numbers of reads by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerdictCounts([u64; VERDICTS]);

impl VerdictCounts {
    pub fn count(&mut self, verdict: Verdict) {
        self.0[verdict as usize] += 1;
    }

    pub fn add(&mut self, other: VerdictCounts) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, more)| *sum += more);
    }

    pub fn of(&self, verdict: Verdict) -> u64 {
        self.0[verdict as usize]
    }

    /// The number of each verdict, most severe first.
    pub fn by_name(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = *self;
        Verdict::ALL.into_iter().map(move |verdict| (verdict.name(), counts.of(verdict)))
    }

    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Number of findings.
    pub fn findings(&self) -> u64 {
        Verdict::ALL.into_iter().filter(|verdict| verdict.is_finding()).map(|verdict| self.of(verdict)).sum()
    }

    /// The share of findings; 0 without reads.
    pub fn rate(&self) -> f64 {
        self.findings() as f64 / self.total().max(1) as f64
    }

    fn json(&self) -> String {
        json::object(self.by_name().map(|(name, count)| (name, count.to_string())))
    }
}

/// The numbers of two files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ComparedCounts {
    /// The verdicts of the second file.
    pub against: VerdictCounts,
    /// Reads with a higher score in the first file, and in the second.
    pub higher: [u64; 2],
}

/// The numbers of verdicts of all reads, and of reads by mapping quality and by length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditCounts {
    pub all: VerdictCounts,
    /// If there is a second file.
    pub compared: Option<ComparedCounts>,
    /// By the mapping quality of the record, if it has an alignment.
    mapq: BTreeMap<u8, VerdictCounts>,
    /// By the smallest length of a bin.
    lengths: BTreeMap<u64, VerdictCounts>,
}

impl AuditCounts {
    /// Counts a read of `len` residues.
    pub fn count(&mut self, row: &Row, len: usize) {
        let JudgedRecord { verdict, position, .. } = &row.record;
        self.all.count(*verdict);
        if let Some(position) = position {
            self.mapq.entry(position.mapq).or_default().count(*verdict);
        }
        if let (Some(second), Some(higher)) = (&row.against, row.higher()) {
            let compared = self.compared.get_or_insert_default();
            compared.against.count(second.verdict);
            match higher {
                Higher::First => compared.higher[0] += 1,
                Higher::Second => compared.higher[1] += 1,
                Higher::Neither => {}
            }
        }
        let len = len as u64;
        let bin = if len < LONG { SHORT_BIN } else { LONG };
        self.lengths.entry(len / bin * bin).or_default().count(*verdict);
    }

    pub fn add(&mut self, other: AuditCounts) {
        self.all.add(other.all);
        if let Some(ComparedCounts { against, higher }) = other.compared {
            let compared = self.compared.get_or_insert_default();
            compared.against.add(against);
            compared.higher.iter_mut().zip(higher).for_each(|(sum, more)| *sum += more);
        }
        other.mapq.into_iter().for_each(|(mapq, counts)| self.mapq.entry(mapq).or_default().add(counts));
        other.lengths.into_iter().for_each(|(len, counts)| self.lengths.entry(len).or_default().add(counts));
    }

    /// Reads by the mapping quality of their record.
    pub fn by_mapq(&self) -> impl ExactSizeIterator<Item = (u64, &VerdictCounts)> {
        self.mapq.iter().map(|(&mapq, counts)| (mapq.into(), counts))
    }

    /// Reads by their length: the smallest length of each bin.
    pub fn by_length(&self) -> impl ExactSizeIterator<Item = (u64, &VerdictCounts)> {
        self.lengths.iter().map(|(&len, counts)| (len, counts))
    }

    /// The summary as JSON.
    pub fn json(&self) -> String {
        let row = |key: &'static str, (value, counts): (u64, &VerdictCounts)| {
            json::object([(key, value.to_string()), ("verdicts", counts.json())])
        };
        let by_mapq = json::rows(self.by_mapq().map(|counts| row("mapq", counts)));
        let by_length = json::rows(self.by_length().map(|counts| row("least_length", counts)));
        let higher = |compared: &ComparedCounts| {
            let [first, second] = compared.higher.map(|count| count.to_string());
            json::object([("records", first), ("against", second)])
        };
        let of_two = self.compared.iter().flat_map(|compared| {
            [("against_verdicts", compared.against.json()), ("higher", higher(compared))]
        });
        let fields = [
            ("reads", self.all.total().to_string()),
            ("findings", self.all.findings().to_string()),
            ("rate", format!("{:.6}", self.all.rate())),
            ("verdicts", self.all.json()),
            ("by_mapq", by_mapq),
            ("by_length", by_length),
        ];
        json::lines(fields.into_iter().chain(of_two)) + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alignment() -> Alignment {
        Alignment {
            strand: Strand::Reverse,
            target: 0,
            score: 30,
            query_start: 2,
            query_end: 12,
            target_start: 6,
            target_end: 17,
            cigar: [(4, PathOp::Match), (1, PathOp::Deletion), (6, PathOp::Match)].into_iter().collect(),
            shifts: Box::default(),
        }
    }

    #[test]
    fn rows_have_a_value_for_each_column() {
        let alignment = alignment();
        let optimum =
            RowOptimum { alignment: &alignment, score: 35, reference: "chr\"1", len: 12, is_proven: true };
        let at = |mapq| RecordPosition { reference: "chr2", position: 9, strand: Strand::Forward, mapq };
        let judged =
            |verdict, score, mapq: Option<u8>| JudgedRecord { verdict, position: mapq.map(at), score };
        let record = judged(Verdict::Below, Some(-3), Some(60));
        let row = Row { read: "r", mate: 2, record, optimum: Some(optimum), against: None };
        let unmapped = || judged(Verdict::Unmapped, None, None);
        let bare = Row { read: "r", mate: 0, record: unmapped(), optimum: None, against: None };
        let pushed = |row: &Row, format| {
            let mut out = Vec::new();
            row.push(&mut out, format);
            String::from_utf8(out).unwrap()
        };
        let table = pushed(&row, AuditFormat::Tab);
        assert_eq!(table, "r\t2\tbelow\tchr2\t9\t+\t60\t-3\t35\tchr\"1\t7\t-\t2S4M1D6M\tproven\n");
        assert_eq!(pushed(&bare, AuditFormat::Tab), "r\t*\tunmapped\t*\t*\t*\t*\t*\t*\t*\t*\t*\t*\t*\n");
        let columns = |has_second| {
            let header = String::from_utf8(header(AuditFormat::Tab, has_second)).unwrap();
            header.split('\t').count()
        };
        assert_eq!(columns(false), table.split('\t').count());
        for (second, expected) in [
            (unmapped(), "unmapped\t*\t*\t*\t*\t*\trecords\n"),
            (judged(Verdict::Equal, Some(35), Some(7)), "equal\tchr2\t9\t+\t7\t35\tagainst\n"),
            (judged(Verdict::Below, Some(-3), Some(7)), "below\tchr2\t9\t+\t7\t-3\t*\n"),
        ] {
            let record = judged(Verdict::Below, Some(-3), Some(60));
            let row = Row { record, against: Some(second), optimum: None, ..bare };
            let table = pushed(&row, AuditFormat::Tab);
            assert!(table.ends_with(expected), "{table}");
            assert_eq!(columns(true), table.split('\t').count());
        }
        let object = pushed(&row, AuditFormat::Json);
        assert!(object.starts_with("{\"read\": \"r\", \"mate\": 2, \"verdict\": \"below\","), "{object}");
        assert!(object.contains("\"optimum_reference\": \"chr\\\"1\", \"optimum_position\": 7"), "{object}");
        assert!(pushed(&bare, AuditFormat::Json).contains("\"mate\": null"));
    }

    #[test]
    fn counts_are_sums() {
        let row = |verdict, mapq| {
            let position = RecordPosition { reference: "t", position: 1, strand: Strand::Forward, mapq };
            let record = JudgedRecord { verdict, position: Some(position), score: Some(5) };
            let against =
                JudgedRecord { verdict: Verdict::Equal, position: None, score: Some(i64::from(mapq)) };
            Row { read: "r", mate: 0, record, optimum: None, against: Some(against) }
        };
        let (mut one, mut other) = (AuditCounts::default(), AuditCounts::default());
        one.count(&row(Verdict::Equal, 60), 149);
        one.count(&row(Verdict::Below, 60), 150);
        other.count(&row(Verdict::Tie, 3), 12_345);
        other.count(&row(Verdict::Missed, 60), 151);
        one.add(other);
        assert_eq!((one.all.total(), one.all.findings(), one.all.rate()), (4, 2, 0.5));
        let text = one.json();
        for part in [
            "\"reads\": 4,",
            "\"findings\": 2,",
            "\"rate\": 0.500000,",
            "\"higher\": {\"records\": 1, \"against\": 3}",
            "\"against_verdicts\": {\"above\": 0,",
            "{\"mapq\": 3, \"verdicts\": {\"above\": 0, \"below\": 0, \"clipped\": 0, \"missed\": 0,",
            "{\"least_length\": 100, ",
            "{\"least_length\": 150, ",
            "{\"least_length\": 12000, ",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert_eq!(VerdictCounts::default().rate(), 0.0);
    }

    #[test]
    fn the_worst_findings_do_not_depend_on_their_order() {
        let alignment = alignment();
        let rank = |verdict, score, read| {
            let record = JudgedRecord { verdict, position: None, score };
            let optimum =
                RowOptimum { alignment: &alignment, score: 35, reference: "t", len: 12, is_proven: true };
            FindingRank::of(&Row { read: "r", mate: 0, record, optimum: Some(optimum), against: None }, read)
        };
        assert_eq!(rank(Verdict::Tie, Some(35), 0), None);
        let finding = |read: u64| DrawnFinding {
            read: read.to_string(),
            verdict: Verdict::Below,
            sides: Default::default(),
        };
        // Reads in pairs of equal distance, and one above the optimum.
        let mut findings: Vec<(FindingRank, DrawnFinding)> = (0..30)
            .map(|read| (rank(Verdict::Below, Some(34 - read as i64 / 2), read).unwrap(), finding(read)))
            .collect();
        findings.push((rank(Verdict::Above, Some(36), 30).unwrap(), finding(30)));
        findings.push((rank(Verdict::Missed, None, 31).unwrap(), finding(31)));
        for turn in 0..findings.len() {
            findings.rotate_left(turn);
            let mut worst = WorstFindings::default();
            for (rank, finding) in &findings {
                if worst.admit(rank) {
                    worst.add(*rank, finding.clone());
                }
            }
            let reads: Vec<&str> = worst.iter().map(|finding| &*finding.read).collect();
            assert_eq!(reads, ["30", "31", "28", "29", "26", "27", "24", "25", "22", "23"]);
        }
    }
}
