//! Compares headers and records with hand-written ones, and checks the text of random records against their targets.

use super::{ChosenValues, NamedTargets, Writer};
use crate::input::reader::FileRecord;
use crate::terms::alignment::{Alignment, PathOp, PathRuns, QueryResult, Strand, push_run};
use crate::terms::alphabet::Alphabet;
use crate::terms::batch::Sequences;
use crate::terms::error::Result;
use crate::terms::insert::InsertSize;
use crate::terms::options::{Options, Rank, RankedOptions, ReadGroup};
use crate::terms::random::Random;
use crate::terms::scoring::{Matrix, Scoring};
use smallvec::smallvec;
use std::slice;
use std::sync::Arc;

pub(super) fn options() -> Options {
    Options {
        query: "reads.fq".into(),
        reference: "ref.fa".into(),
        secondary_ratio: 0.8,
        ranked: RankedOptions { rank: Rank::Raw, ..RankedOptions::default() },
        anchor: 19,
        dedup: true,
        threads: 1,
        command_line: "swalign reads.fq ref.fa".into(),
        ..Options::default()
    }
}

pub(super) fn group(line: &str) -> ReadGroup {
    ReadGroup::parse(line).unwrap()
}

pub(super) fn writer(options: &Options, scoring: Scoring, targets: &[(&str, &str)]) -> Result<Writer> {
    writer_of_mates(options, scoring, targets, None)
}

/// A writer of mates with this insert size.
pub(super) fn writer_of_mates(
    options: &Options,
    scoring: Scoring,
    targets: &[(&str, &str)],
    insert: Option<InsertSize>,
) -> Result<Writer> {
    let alphabet = scoring.alphabet;
    let mut sequences = Sequences::default();
    for (_, letters) in targets {
        let mut codes = Vec::new();
        alphabet.encode(letters.as_bytes(), &mut codes).unwrap();
        sequences.push(codes);
    }
    let names: Vec<String> = targets.iter().map(|(name, _)| name.to_string()).collect();
    Writer::new(
        options,
        ChosenValues { min_score: 20, insert, ..ChosenValues::default() },
        Arc::new(scoring),
        NamedTargets::whole(names, Arc::new(sequences)),
    )
}

fn dna(options: &Options, targets: &[(&str, &str)]) -> Writer {
    writer(options, Scoring::dna(1, 4, 6, 1), targets).unwrap()
}

fn header(writer: &Writer) -> String {
    String::from_utf8(writer.header().concat()).unwrap()
}

fn lines(writer: &Writer, record: &FileRecord, found: &QueryResult) -> Vec<String> {
    let text = writer.records(slice::from_ref(record), slice::from_ref(found)).unwrap();
    String::from_utf8(text).unwrap().lines().map(str::to_string).collect()
}

pub(super) fn read(name: &str, letters: &str, qualities: Option<&str>) -> FileRecord {
    let qualities = qualities.map(|qualities| qualities.as_bytes().to_vec());
    FileRecord {
        number: 1,
        name: name.into(),
        sequence: letters.as_bytes().to_vec(),
        qualities,
        tags: Vec::new(),
    }
}

/// An alignment that begins at these positions of query and target (index 0).
pub(super) fn at(strand: Strand, query_start: u32, target_start: u32, cigar: PathRuns) -> Alignment {
    let span = |kind: PathOp| cigar.iter().filter(|(_, op)| *op != kind).map(|(len, _)| len).sum::<u32>();
    let (query_end, target_end) =
        (query_start + span(PathOp::Deletion), target_start + span(PathOp::Insertion));
    Alignment {
        strand,
        target: 0,
        score: 30,
        query_start,
        query_end,
        target_start,
        target_end,
        cigar,
        shifts: Box::default(),
    }
}

fn found(alignments: Vec<Alignment>, second: Option<i32>) -> QueryResult {
    QueryResult { alignments, second, threshold: 24, ..QueryResult::default() }
}

#[test]
fn the_header_whole() {
    let options = Options { read_group: Some(group("@RG\tID:run 1\tSM:s\tPL:ILLUMINA")), ..options() };
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!(
        "@HD\tVN:1.6\tSO:unsorted\n@SQ\tSN:b\tLN:4\n@SQ\tSN:a\tLN:2\n@RG\tID:run 1\tSM:s\tPL:ILLUMINA\n\
         @PG\tID:swalign\tPN:swalign\tVN:{version}\tCL:swalign reads.fq ref.fa\n\
         @CO\tswalign scoring: alphabet=DNA match=1 mismatch=4 gap_open=6 gap_extend=1; \
         a gap of k costs gap_open + k * gap_extend\n\
         @CO\tswalign hits: min_score=20 secondary_ratio=0.8\n"
    );
    assert_eq!(header(&dna(&options, &[("b", "ACGT"), ("a", "AC")])), expected);
}

#[test]
fn odd_command_lines_stay_one_printable_field() {
    let options = Options { command_line: "swalign a\tb\n\u{e9} 'x' c".into(), ..options() };
    assert!(header(&dna(&options, &[("a", "AC")])).contains("\tCL:swalign a\\tb\\n\u{e9} 'x' c\n"));
    let none = Options { command_line: String::new(), ..options };
    assert!(!header(&dna(&none, &[("a", "AC")])).contains("CL:"));
}

#[test]
fn bad_references_are_refused_before_anything_is_written() {
    for (targets, problem) in [
        (&[("a", "AC"), ("b", "A"), ("a", "AC")][..], "is duplicated"),
        (&[("a", "")], "the reference is empty"),
        (&[("a,b", "AC")], "SAM forbids ','"),
        (&[("*", "AC")], "SAM forbids '*'"),
        (&[("", "AC")], "no name"),
    ] {
        let error = writer(&options(), Scoring::dna(1, 4, 6, 1), targets).err().unwrap().to_string();
        assert!(error.starts_with("ref.fa: ") && error.contains(problem), "{error}");
    }
}

#[test]
fn of_many_names_the_first_that_stands_twice_is_named() {
    let mut names: Vec<String> = (0..10_000).map(|at| format!("name_{at}")).collect();
    for (twice, once) in [(9000, 10), (5001, 5000), (9999, 5000)] {
        names[twice] = names[once].clone();
    }
    let targets: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "A")).collect();
    let error = writer(&options(), Scoring::dna(1, 4, 6, 1), &targets).err().unwrap().to_string();
    assert!(
        error.contains("'name_5000' cannot be written to a SAM header: its name is duplicated"),
        "{error}"
    );
}

#[test]
fn unmapped_records() {
    let writer = dna(&options(), &[("a", "ACGT")]);
    let none = QueryResult::default();
    assert_eq!(
        lines(&writer, &read("q", "ACN", Some("!I~")), &none),
        ["q\t4\t*\t0\t0\t*\t*\t0\t0\tACN\t!I~"]
    );
    assert_eq!(lines(&writer, &read("q", "ACN", None), &none), ["q\t4\t*\t0\t0\t*\t*\t0\t0\tACN\t*"]);
    assert_eq!(lines(&writer, &read("q", "", Some("")), &none), ["q\t4\t*\t0\t0\t*\t*\t0\t0\t*\t*"]);
    assert_eq!(lines(&writer, &read("", "A", None), &none), ["*\t4\t*\t0\t0\t*\t*\t0\t0\tA\t*"]);
}

#[test]
fn both_strands_and_secondary_records() {
    let writer = dna(&options(), &[("a", "TTACGTATT")]);
    let reverse = at(Strand::Reverse, 1, 2, smallvec![(4, PathOp::Match)]);
    let forward = Alignment {
        score: 25,
        ..at(Strand::Forward, 0, 3, smallvec![(2, PathOp::Match), (1, PathOp::Insertion), (1, PathOp::Match)])
    };
    let query = read("q", "NACGTC", Some("!\"#$%&"));
    // The reverse complement of the query is GACGTN.
    let written = lines(&writer, &query, &found(vec![reverse.clone(), forward, reverse], Some(25)));
    assert_eq!(
        written,
        [
            "q\t16\ta\t3\t27\t1S4M1S\t*\t0\t0\tGACGTN\t&%$#\"!\tNM:i:0\tMD:Z:4\tAS:i:30\tXS:i:25",
            "q\t256\ta\t4\t0\t2M1I1M2S\t*\t0\t0\t*\t*\tNM:i:4\tMD:Z:0C0G0T0\tAS:i:25",
            "q\t272\ta\t3\t0\t1S4M1S\t*\t0\t0\t*\t*\tNM:i:0\tMD:Z:4\tAS:i:30",
        ]
    );
}

#[test]
fn equal_and_unequal_runs() {
    let options = Options { eqx: true, read_group: Some(group("@RG\tID:g")), ..options() };
    let writer = dna(&options, &[("a", "ACGTNACC")]);
    let cigar = smallvec![(5, PathOp::Match), (1, PathOp::Deletion), (2, PathOp::Match)];
    let alone = found(vec![at(Strand::Forward, 0, 0, cigar)], None);
    assert_eq!(
        lines(&writer, &read("q", "ACTTNCC", None), &alone),
        ["q\t0\ta\t1\t42\t2=1X1=1X1D2=\t*\t0\t0\tACTTNCC\t*\tNM:i:3\tMD:Z:2G1N0^A2\tAS:i:30\tRG:Z:g"]
    );
    let unmapped = lines(&writer, &read("q", "A", None), &QueryResult::default());
    assert_eq!(unmapped, ["q\t4\t*\t0\t0\t*\t*\t0\t0\tA\t*\tRG:Z:g"]);
}

#[test]
fn proteins_keep_their_letters_but_for_stops() {
    let scoring = Scoring::matrix(Alphabet::Protein, Matrix::named("BLOSUM62").unwrap(), 11, 1);
    let writer = writer(&Options { eqx: true, ..options() }, scoring, &[("a", "MKU*VL")]).unwrap();
    let alone = found(vec![at(Strand::Forward, 0, 0, smallvec![(6, PathOp::Match)])], None);
    let written = lines(&writer, &read("q", "MEU*JL", None), &alone).remove(0);
    assert!(written.contains("\t1=1X2=1X1=\t*\t0\t0\tMEUXJL\t*\tNM:i:2\tMD:Z:1K2V1\tAS"), "{written}");
    assert!(header(&writer).contains("alphabet=protein matrix=BLOSUM62 gap_open=11 gap_extend=1;"));
}

#[test]
fn records_that_sam_cannot_hold_are_named() {
    let writer = dna(&options(), &[("a", "ACGT")]);
    for (name, qualities) in [("q@", "I"), ("q\t", "I"), (&"q".repeat(255), "I"), ("q", "\u{7f}"), ("q", " ")]
    {
        let query = read(name, "A", Some(qualities));
        let error = writer.records(&[query], &[QueryResult::default()]).unwrap_err();
        assert!(error.to_string().starts_with("reads.fq, record 1 'q"), "{error}");
    }
}

/// A path of up to 10 runs.
pub(super) fn random_path(random: &mut Random) -> PathRuns {
    let mut cigar: PathRuns = smallvec![(1 + random.number(5), PathOp::Match)];
    for _ in 0..random.number(8) {
        let op = [PathOp::Match, PathOp::Insertion, PathOp::Deletion][random.below(3)];
        push_run(&mut cigar, 1 + random.number(4), op);
    }
    push_run(&mut cigar, 1 + random.number(5), PathOp::Match);
    cigar
}

/// A random sequence.
pub(super) fn random_text(random: &mut Random, len: u32, letters: &[u8]) -> String {
    String::from_utf8(random.letters(len as usize, letters)).expect("letters")
}

/// The lengths and characters of a CIGAR.
fn parse_cigar(text: &str) -> Vec<(usize, char)> {
    let kinds: Vec<char> = text.chars().filter(|letter| !letter.is_ascii_digit()).collect();
    let lens = text.split(|letter: char| !letter.is_ascii_digit());
    lens.zip(kinds).map(|(len, kind)| (len.parse().unwrap(), kind)).collect()
}

/// MD, expanded: `None` for an equal residue, otherwise the target's residue; deletions are returned separately.
fn spread_md(md: &str) -> (Vec<Option<char>>, String) {
    let (mut columns, mut deleted, mut number) = (Vec::new(), String::new(), String::new());
    let mut deleting = false;
    for letter in md.chars().chain(['!']) {
        if letter.is_ascii_digit() {
            number.push(letter);
            deleting = false;
            continue;
        }
        columns.extend(vec![None; number.parse().unwrap_or(0)]);
        assert!(deleting || !number.is_empty(), "{md}: a number before every letter");
        number.clear();
        match letter {
            '^' => deleting = true,
            '!' => {}
            _ if deleting => deleted.push(letter),
            _ => columns.push(Some(letter)),
        }
    }
    (columns, deleted)
}

/// Reconstructs the target's interval and NM from a SAM line's SEQ, CIGAR and MD alone.
fn rebuild(line: &str) -> (String, usize) {
    let fields: Vec<&str> = line.split('\t').collect();
    let tag = |name: &str| fields[11..].iter().find_map(|field| field.strip_prefix(name)).unwrap();
    let (columns, deleted) = spread_md(tag("MD:Z:"));
    let (mut columns, mut deleted) = (columns.into_iter(), deleted.chars());
    let mut letters = fields[9].chars();
    let (mut target, mut edits) = (String::new(), 0);
    for (len, kind) in parse_cigar(fields[5]) {
        for _ in 0..len {
            match kind {
                'S' => drop(letters.next().unwrap()),
                'I' => {
                    letters.next().unwrap();
                    edits += 1;
                }
                'D' => {
                    target.push(deleted.next().unwrap());
                    edits += 1;
                }
                _ => {
                    let (letter, other) = (letters.next().unwrap(), columns.next().unwrap());
                    assert!(kind == 'M' || (kind == '=') == other.is_none(), "{line}");
                    edits += usize::from(other.is_some());
                    target.push(other.unwrap_or(letter));
                }
            }
        }
    }
    assert_eq!((letters.next(), columns.next(), deleted.next()), (None, None, None), "{line}");
    (target, edits)
}

#[test]
fn random_records_give_back_their_targets() {
    for seed in 0..2000 {
        let mut random = Random::new(seed);
        let cigar = random_path(&mut random);
        let strand = [Strand::Forward, Strand::Reverse][random.below(2)];
        let alignment = at(strand, random.number(4), random.number(4), cigar);
        let letters = [&b"ACGT"[..], b"AAC", b"ACGTNRY"][random.below(3)];
        let target = random_text(&mut random, alignment.target_end + 3, letters);
        let query = random_text(&mut random, alignment.query_end + 3, letters);
        let options = Options { eqx: random.below(2) == 0, ..options() };
        let writer = dna(&options, &[("a", &target)]);
        let (start, end) = (alignment.target_start as usize, alignment.target_end as usize);
        let line = lines(&writer, &read("q", &query, None), &found(vec![alignment], None)).remove(0);
        let (rebuilt, edits) = rebuild(&line);
        assert_eq!(rebuilt, target[start..end], "seed {seed}: {line}");
        assert!(line.contains(&format!("\tNM:i:{edits}\t")), "seed {seed}: {line}");
        let kinds: Vec<char> =
            parse_cigar(line.split('\t').nth(5).unwrap()).iter().map(|run| run.1).collect();
        assert!(kinds.windows(2).all(|two| two[0] != two[1]), "seed {seed}: {line}");
    }
}
