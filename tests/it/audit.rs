//! `swalign audit` end to end: records of the aligner itself, records with planted faults, records that are damaged at random
//! against an oracle, and errors.

use crate::common::codes;
use crate::common::command::{Outcome, command, finish};
use crate::common::folder::{Folder, folder};
use crate::common::gzip::unpacked;
use crate::common::random::Random;
use crate::common::sam::Sam;
use flate2::read::MultiGzDecoder;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read;
use swalign::terms::alphabet::{Alphabet, reverse_complement};
use swalign::terms::scoring::Scoring;

/// A row of the table, by the names of its columns.
type Row = BTreeMap<String, String>;

#[track_caller]
fn rows(outcome: &Outcome) -> Vec<Row> {
    rows_of(outcome.text())
}

fn rows_of(text: &str) -> Vec<Row> {
    let mut lines = text.lines();
    let names: Vec<&str> =
        lines.next().expect("a header").strip_prefix('#').expect("#").split('\t').collect();
    let row = |line: &str| {
        let values: Vec<&str> = line.split('\t').collect();
        assert_eq!(values.len(), names.len(), "{line}");
        names.iter().zip(values).map(|(name, value)| (name.to_string(), value.to_string())).collect()
    };
    lines.map(row).collect()
}

/// The number of reads with each verdict.
fn verdicts(rows: &[Row]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    rows.iter().for_each(|row| *counts.entry(&*row["verdict"]).or_default() += 1);
    counts
}

/// Values of these columns, separated by spaces.
fn values(row: &Row, columns: &[&str]) -> String {
    columns.iter().map(|&column| &*row[column]).collect::<Vec<_>>().join(" ")
}

fn text(letters: &[u8]) -> &str {
    std::str::from_utf8(letters).unwrap()
}

/// The files of `data/` in a folder.
fn with_data(names: &[&str]) -> Folder {
    let folder = Folder::new();
    names.iter().for_each(|name| folder.copy_data(name, name));
    folder
}

mod own_records {
    use super::*;

    #[track_caller]
    fn agree(folder: &Folder, align: &str, audit: &str, records: &str) {
        folder.line(&format!("-q {align}")).ended(0);
        let outcome = folder.line(&format!("audit -q --every {audit}"));
        let rows = rows(&outcome);
        let counts = verdicts(&rows);
        let agreed: usize =
            ["equal", "tie", "unmapped"].map(|name| counts.get(name).unwrap_or(&0)).iter().copied().sum();
        assert_eq!(agreed, rows.len(), "{align}: {counts:?}");
        assert_eq!(rows.len(), folder.text(records).lines().filter(|line| !line.starts_with('@')).count());
        assert!(counts["equal"] * 2 > rows.len(), "{align}: {counts:?}");
    }

    #[test]
    fn agree_in_single_reads() {
        let files = [
            "ont_sars2.fq.gz",
            "sars2.fa",
            "illumina_chr22.fq.gz",
            "chr22_12k.fa",
            "16s_20.fa",
            "amplicon_16s.fq.gz",
        ];
        let folder = with_data(&files);
        let illumina = "illumina_chr22.fq.gz chr22_12k.fa";
        for (scoring, inputs) in [
            ("", illumina),
            ("-x short", illumina),
            ("-x short --end-bonus 0 --min-score 30", illumina),
            ("--end-bonus 9", illumina),
            ("-x map-ont", "ont_sars2.fq.gz sars2.fa"),
            ("-x long", "ont_sars2.fq.gz sars2.fa"),
            ("-x asm5", "ont_sars2.fq.gz sars2.fa"),
            ("-x linear", "ont_sars2.fq.gz sars2.fa"),
            ("-x blastn --iupac", "amplicon_16s.fq.gz 16s_20.fa"),
            (
                "--match 3 --mismatch 5 --gap-open 7,20 --gap-extend 2,1 --anchor 15",
                "amplicon_16s.fq.gz 16s_20.fa",
            ),
        ] {
            let reference = inputs.split(' ').nth(1).unwrap();
            agree(
                &folder,
                &format!("{scoring} --no-split -o own.sam {inputs}"),
                &format!("{scoring} own.sam {reference}"),
                "own.sam",
            );
        }
    }

    /// BAM, and a PAF with the reads in a file of their own.
    #[test]
    fn agree_in_all_formats() {
        let folder = with_data(&["ont_sars2.fq.gz", "sars2.fa"]);
        let align = |more: &str| format!("-x map-ont --no-split {more} ont_sars2.fq.gz sars2.fa");
        agree(&folder, &align("-o own.sam"), "-x map-ont own.sam sars2.fa", "own.sam");
        let expected = folder.line("audit -q --every -x map-ont own.sam sars2.fa").done();
        for (more, line) in [
            ("-o own.bam", "own.bam"),
            ("--sort -o own.bam", "own.bam"),
            ("-o own.sam.gz", "own.sam.gz"),
            ("-o own.paf", "--reads ont_sars2.fq.gz own.paf"),
            ("--format sam -o own.x", "--reads ont_sars2.fq.gz own.x"),
        ] {
            folder.line(&format!("-q {}", align(more))).ended(0);
            let lines = |bytes: &[u8]| {
                let mut lines: Vec<String> = text(bytes).lines().map(str::to_string).collect();
                lines.sort();
                lines
            };
            let found = folder.line(&format!("audit -q --every -x map-ont {line} sars2.fa")).done();
            assert!(lines(&found) == lines(&expected), "{more}");
            if !more.contains("sort") {
                assert!(found == expected, "{more}");
            }
        }
        folder.line(&format!("-q {}", align("--cs --format paf -o cs.paf"))).ended(0);
        let without_cigars: String = folder
            .text("cs.paf")
            .lines()
            .map(|line| {
                line.split('\t').filter(|field| !field.starts_with("cg:")).collect::<Vec<_>>().join("\t")
                    + "\n"
            })
            .collect();
        folder.write("cs.paf", without_cigars);
        let found = folder.line("audit -q --every -x map-ont --reads ont_sars2.fq.gz cs.paf sars2.fa").done();
        assert!(found == expected);
    }

    /// The supplementary records of the aligner may be the primary ones.
    #[test]
    fn agree_in_pieces() {
        let mut random = Random::new(29);
        let genome = random.sequence(Alphabet::Dna, 20_000);
        let reads: String = (0..40)
            .map(|number| {
                let pieces = [0, 1].map(|_| {
                    let (start, len) = (random.below(19_000), 200 + random.below(700));
                    let piece = &genome[start..start + len];
                    if random.below(2) == 0 { piece.to_vec() } else { reverse_complement(piece) }
                });
                format!(">r{number}\n{}\n", text(&pieces.concat()))
            })
            .collect();
        let folder =
            folder(&[("r.fa", reads.as_bytes()), ("g.fa", format!(">t\n{}\n", text(&genome)).as_bytes())]);
        let audited = |line: &str| folder.line(&format!("audit -q --every -x map-ont {line} g.fa")).done();
        for more in ["--clip soft", "--clip hard"] {
            for name in ["own.sam", "own.bam", "sorted.bam"] {
                let sort = if name == "sorted.bam" { "--sort" } else { "" };
                folder.line(&format!("-q -x map-ont {more} {sort} -o {name} r.fa g.fa")).ended(0);
            }
            let sam = Sam::parse(&folder.text("own.sam"));
            assert!(sam.records.iter().filter(|record| record.flag() & 2048 != 0).count() > 30);
            let expected = audited("own.sam");
            assert_eq!(verdicts(&rows_of(text(&expected))), BTreeMap::from([("equal", 40)]));
            assert!(audited("own.bam") == expected);
            assert!(audited("--reads r.fa sorted.bam") == expected);
            let sorted = |bytes: &[u8]| {
                let mut lines: Vec<String> = text(bytes).lines().map(str::to_string).collect();
                lines.sort();
                lines
            };
            assert!(sorted(&audited("sorted.bam")) == sorted(&expected));
        }
        // The other piece as the primary record.
        let swapped: String = folder
            .text("own.sam")
            .lines()
            .filter(|line| !line.starts_with('@'))
            .map(|line| {
                let (name, rest) = line.split_once('\t').unwrap();
                let (flags, rest) = rest.split_once('\t').unwrap();
                format!("{name}\t{}\t{rest}\n", flags.parse::<u16>().unwrap() ^ 2048)
            })
            .collect();
        folder.write("swapped.sam", swapped);
        let found = audited("--reads r.fa swapped.sam");
        assert_eq!(verdicts(&rows_of(text(&found))), BTreeMap::from([("equal", 40)]));
    }

    #[test]
    fn agree_in_pairs() {
        let folder = with_data(&["mates_1.fq.gz", "mates_2.fq.gz", "sars2.fa"]);
        let align = "-x short --no-split -o own.sam mates_1.fq.gz mates_2.fq.gz sars2.fa";
        agree(&folder, align, "-x short --pairs own.sam sars2.fa", "own.sam");
        let expected = folder.line("audit -q --every -x short --pairs own.sam sars2.fa").done();
        let reads = "--reads mates_1.fq.gz,mates_2.fq.gz";
        let found = folder.line(&format!("audit -q --every -x short {reads} own.sam sars2.fa")).done();
        assert!(found == expected);
        let mates: Vec<String> = rows_of(text(&found)).iter().map(|row| row["mate"].clone()).collect();
        assert!(mates.chunks(2).all(|pair| pair == ["1", "2"]));
        // In the file, the second mate may come first.
        let sam = folder.text("own.sam");
        let (header, records): (Vec<&str>, Vec<&str>) = sam.lines().partition(|line| line.starts_with('@'));
        let swapped = records.chunks(2).flat_map(|pair| pair.iter().rev());
        let swapped: String = header.iter().chain(swapped).map(|line| format!("{line}\n")).collect();
        folder.write("swapped.sam", swapped);
        let line = "audit -q --every -x short --pairs --against own.sam swapped.sam sars2.fa";
        let found = rows(&folder.line(line));
        assert!(found.iter().all(|row| row["verdict"] == "equal" && row["against_verdict"] == "equal"));
        assert!(found.chunks(2).all(|pair| pair[0]["mate"] == "2" && pair[1]["mate"] == "1"));
    }

    /// The score of a row is AS and the end bonuses.
    #[test]
    fn have_the_scores_of_their_tags() {
        let folder = with_data(&["illumina_chr22.fq.gz", "chr22_12k.fa", "ont_sars2.fq.gz", "sars2.fa"]);
        for (scoring, bonus, reads, reference) in [
            ("", 0, "illumina_chr22.fq.gz", "chr22_12k.fa"),
            ("-x short", 5, "illumina_chr22.fq.gz", "chr22_12k.fa"),
            ("-x sr --end-bonus 12", 12, "illumina_chr22.fq.gz", "chr22_12k.fa"),
            ("-x long", 0, "ont_sars2.fq.gz", "sars2.fa"),
            ("-x map-ont", 0, "ont_sars2.fq.gz", "sars2.fa"),
            ("-x map-hifi", 0, "ont_sars2.fq.gz", "sars2.fa"),
            ("-x asm20", 0, "ont_sars2.fq.gz", "sars2.fa"),
            ("-x linear", 0, "ont_sars2.fq.gz", "sars2.fa"),
            ("-x blastn --ambiguous 0", 0, "ont_sars2.fq.gz", "sars2.fa"),
        ] {
            folder.line(&format!("-q {scoring} --no-split -o own.sam {reads} {reference}")).ended(0);
            let sam = Sam::parse(&folder.text("own.sam"));
            let found = rows(&folder.line(&format!("audit -q --every {scoring} own.sam {reference}")));
            let mut mapped = 0;
            for (record, row) in sam.records.iter().zip(&found) {
                assert_eq!(record.name(), row["read"]);
                if record.flag() & 4 != 0 {
                    assert_eq!(row["score"], "*");
                    continue;
                }
                mapped += 1;
                let cigar = record.cigar();
                let first = cigar.trim_start_matches(|letter: char| letter.is_ascii_digit());
                let ends = i64::from(first.starts_with('M')) + i64::from(cigar.ends_with('M'));
                let expected = (record.score() + bonus * ends).to_string();
                assert_eq!(row["score"], expected, "{scoring} {cigar}");
                let strand = if record.flag() & 16 == 0 { "+" } else { "-" };
                let place = format!("{} {} {strand}", record.target(), record.position());
                assert_eq!(values(row, &["reference", "position", "strand"]), place);
            }
            assert!(mapped > 20, "{scoring}: {mapped}");
        }
    }
}

/// A genome of two references with a repeat, and reads of 100 bases from known positions.
struct Planted {
    folder: Folder,
    genome: Vec<u8>,
}

impl Planted {
    /// Scores of a run: 1/4/6/1.
    const SCORING: &'static str = "-q --min-score 25";

    fn new() -> Planted {
        let mut random = Random::new(11);
        let mut genome = random.sequence(Alphabet::Dna, 4000);
        let copy = genome[1000..1300].to_vec();
        genome[3000..3300].copy_from_slice(&copy);
        let other = random.text(Alphabet::Dna, 150);
        let reference = format!(">one\n{}\n>two\n{other}\n", text(&genome));
        Planted { folder: folder(&[("ref.fa", reference.as_bytes())]), genome }
    }

    /// A record of the read that equals 100 bases from `start`, with these fields.
    fn record(
        &self,
        name: &str,
        start: usize,
        [flags, reference, position, mapq, cigar]: [&str; 5],
    ) -> String {
        let bases = text(&self.genome[start..start + 100]);
        format!("{name}\t{flags}\t{reference}\t{position}\t{mapq}\t{cigar}\t*\t0\t0\t{bases}\t*\n")
    }

    #[track_caller]
    fn audited(&self, records: &str, more: &str) -> Vec<Row> {
        self.folder.write("x.sam", records);
        rows(&self.folder.line(&format!("audit {} {more} x.sam ref.fa", Planted::SCORING)))
    }
}

mod faults {
    use super::*;

    const COLUMNS: [&str; 11] = [
        "verdict",
        "reference",
        "position",
        "strand",
        "mapq",
        "score",
        "optimum",
        "optimum_position",
        "optimum_strand",
        "optimum_cigar",
        "tier",
    ];

    /// The row of a record of the read at 500, or of another one.
    #[track_caller]
    fn found(start: usize, fields: [&str; 5], expected: &str) {
        let planted = Planted::new();
        let found = planted.audited(&planted.record("r", start, fields), "--every");
        assert_eq!(values(&found[0], &COLUMNS), expected);
        let shown = planted.audited(&planted.record("r", start, fields), "");
        assert_eq!(shown.is_empty(), ["equal", "unmapped"].contains(&&*found[0]["verdict"]));
    }

    #[test]
    fn of_positions_and_paths_are_below() {
        found(500, ["0", "one", "501", "60", "100M"], "equal one 501 + 60 100 100 501 + 100M proven");
        // 99 equal bases of 100, and a gap of one base on each side of an equal middle: 100 - 1 - 7 - 7.
        found(500, ["0", "one", "501", "60", "40M1I19M1D40M"], &gapped());
        let planted = Planted::new();
        let score = |from: usize| {
            let equal =
                (0..100).filter(|at| planted.genome[500 + at] == planted.genome[from + at]).count() as i64;
            equal - 4 * (100 - equal)
        };
        let shifted = format!("below one 502 + 60 {} 100 501 + 100M proven", score(501));
        found(500, ["0", "one", "502", "60", "100M"], &shifted);
        let elsewhere = format!("below one 2001 + 60 {} 100 501 + 100M proven", score(2000));
        found(500, ["0", "one", "2001", "60", "100M"], &elsewhere);
    }

    /// The row of a path with an insertion and a deletion 19 columns apart.
    fn gapped() -> String {
        let planted = Planted::new();
        let genome = &planted.genome;
        let equal = (0..19).filter(|at| genome[541 + at] == genome[540 + at]).count() as i64;
        let score = 80 - 14 + equal - 4 * (19 - equal);
        format!("below one 501 + 60 {score} 100 501 + 100M proven")
    }

    #[test]
    fn of_clips_are_clipped() {
        found(500, ["0", "one", "521", "60", "20S80M"], "clipped one 521 + 60 80 100 501 + 100M proven");
        found(500, ["0", "one", "501", "60", "70M30S"], "clipped one 501 + 60 70 100 501 + 100M proven");
        // The record has the read's bases, so the read itself is the reverse complement.
        let planted = Planted::new();
        let found = planted.audited(&planted.record("r", 500, ["16", "one", "511", "60", "10S90M"]), "");
        assert_eq!(values(&found[0], &COLUMNS), "clipped one 511 - 60 90 100 501 - 100M proven");
    }

    #[test]
    fn of_flags_and_lengths_are_invalid() {
        let optimum = "* 100 501 + 100M proven";
        found(500, ["0", "one", "501", "60", "99M"], &format!("invalid one 501 + 60 {optimum}"));
        found(500, ["0", "one", "501", "60", "100Q"], &format!("invalid one 501 + 60 {optimum}"));
        found(500, ["64", "one", "501", "60", "100M"], &format!("invalid one 501 + 60 {optimum}"));
        found(500, ["0", "one", "0", "60", "100M"], &format!("invalid one 0 + 60 {optimum}"));
        found(500, ["0", "one", "3901", "60", "100M"], &outside_end());
        found(500, ["0", "one", "3902", "60", "100M"], &format!("outside one 3902 + 60 {optimum}"));
        found(500, ["0", "three", "501", "60", "100M"], &format!("outside three 501 + 60 {optimum}"));
        found(500, ["0", "one", "501", "60", "*"], &format!("unscored one 501 + 60 {optimum}"));
        found(500, ["4", "*", "0", "0", "*"], "missed * * * * * 100 501 + 100M proven");
    }

    /// The last position on which the read fits.
    fn outside_end() -> String {
        let planted = Planted::new();
        let equal =
            (0..100).filter(|at| planted.genome[500 + at] == planted.genome[3900 + at]).count() as i64;
        format!("below one 3901 + 60 {} 100 501 + 100M proven", equal - 4 * (100 - equal))
    }

    #[test]
    fn of_mapping_qualities_are_ties() {
        let optimum = "100 100 1101 + 100M proven";
        for (mapq, verdict) in [("60", "tie"), ("4", "tie"), ("3", "equal"), ("0", "equal"), ("255", "equal")]
        {
            for position in ["1101", "3101"] {
                let expected = format!("{verdict} one {position} + {mapq} {optimum}");
                found(1100, ["0", "one", position, mapq, "100M"], &expected);
            }
        }
        let planted = Planted::new();
        let record = planted.record("r", 1100, ["0", "one", "1101", "10", "100M"]);
        assert_eq!(planted.audited(&record, "--tie-mapq 10").len(), 0);
        assert_eq!(planted.audited(&record, "--tie-mapq 9").len(), 1);
    }

    /// A read that the file lacks, and a foreign one.
    #[test]
    fn of_missing_records_are_missed() {
        let planted = Planted::new();
        let foreign = Random::new(5).text(Alphabet::Dna, 100);
        let read = |start: usize| text(&planted.genome[start..start + 100]).to_string();
        planted.folder.write("r.fa", format!(">a\n{}\n>b\n{}\n>c\n{foreign}\n", read(100), read(700)));
        let records = planted.record("b", 700, ["0", "one", "701", "60", "100M"]);
        let found = planted.audited(&records, "--every --reads r.fa");
        let verdicts: Vec<&str> = found.iter().map(|row| &*row["verdict"]).collect();
        assert_eq!(verdicts, ["missed", "equal", "unmapped"]);
        assert_eq!(values(&found[0], &["optimum_reference", "optimum_position", "optimum"]), "one 101 100");
        // Hard clips are allowed if the read is known.
        let clipped = format!("b\t0\tone\t731\t60\t30H70M\t*\t0\t0\t{}\t*\n", &read(700)[30..]);
        let found = planted.audited(&clipped, "--reads r.fa");
        assert_eq!(values(&found[1], &["read", "verdict", "score", "optimum"]), "b clipped 70 100");
        let bare = "b\t0\tone\t701\t60\t100M\t*\t0\t0\t*\t*\n";
        assert_eq!(planted.audited(bare, "--every --reads r.fa")[1]["verdict"], "equal");
    }

    /// Secondary records are skipped.
    #[test]
    fn of_secondary_records_are_not_judged() {
        let planted = Planted::new();
        let records = [("0", "501"), ("256", "1"), ("2304", "9999")]
            .map(|(flags, position)| planted.record("r", 500, [flags, "one", position, "60", "100M"]));
        assert_eq!(verdicts(&planted.audited(&records.concat(), "--every")), BTreeMap::from([("equal", 1)]));
    }

    /// A read whose primary record is that of its shorter piece, and the record of its longer piece.
    #[test]
    fn of_one_read_are_judged_together() {
        let planted = Planted::new();
        let (short, long) = (&planted.genome[2000..2030], &planted.genome[500..570]);
        let read = text(&[short, long].concat()).to_string();
        let turned = String::from_utf8(reverse_complement(read.as_bytes())).unwrap();
        planted.folder.write("r.fa", format!(">r\n{read}\n"));
        let line = |fields: &str, bases: &str| format!("r\t{fields}\t*\t0\t0\t{bases}\t*\n");
        let primary = line("0\tone\t2001\t9\t30M70S", &read);
        let reverse = line("16\tone\t2001\t9\t70S30M", &turned);
        let best = "equal one 501 + 30 70 70 501 + 30S70M proven";
        let shorter = "below one 2001 + 9 30 70 501 + 30S70M proven";
        let wrong = "* 70 501 + 30S70M proven";
        for (records, expected) in [
            (primary.clone(), shorter),
            (primary.clone() + &line("2048\tone\t501\t30\t30H70M", text(long)), best),
            (primary.clone() + &line("2048\tone\t501\t30\t30S70M", &read), best),
            (primary.clone() + &line("2048\tone\t501\t30\t30H70M", "*"), best),
            (line("2048\tone\t501\t30\t30H70M", text(long)) + &primary, best),
            (primary.clone() + &line("256\tone\t501\t30\t30H70M", text(long)), shorter),
            (primary.clone() + &line("2048\tone\t501\t30\t30H60M10H", text(&long[..60])), &longer(60)),
            (line("4\t*\t0\t0\t*", &read) + &line("2048\tone\t501\t30\t30H70M", text(long)), best),
            // Faults of any record are found.
            (
                primary.clone() + &line("2048\tone\t501\t30\t20H70M", text(long)),
                &format!("invalid one 501 + 30 {wrong}"),
            ),
            (
                primary.clone() + &line("2048\tone\t3990\t30\t30H70M", text(long)),
                &format!("outside one 3990 + 30 {wrong}"),
            ),
            (
                line("2048\tone\t501\t30\t30H70M", text(long)) + &line("0\tone\t3999\t9\t30M70S", &read),
                &format!("outside one 3999 + 9 {wrong}"),
            ),
        ] {
            for more in ["--every", "--every --reads r.fa", "--every --against x.sam"] {
                let found = planted.audited(&records, more);
                assert_eq!(found.len(), 1);
                assert_eq!(values(&found[0], &COLUMNS), expected, "{records} {more}");
                if more.contains("against") {
                    assert_eq!(
                        values(&found[0], &["against_verdict", "against_score"]),
                        values(&found[0], &["verdict", "score"])
                    );
                }
            }
        }
        // The strand of each record counts.
        let found = planted.audited(&(reverse + &line("2064\tone\t501\t30\t70M30H", "*")), "--every");
        assert_eq!(found[0]["verdict"], "below");
        // A pipe is read once.
        let records = primary + &line("2048\tone\t501\t30\t30H70M", "*");
        let folder = &planted.folder;
        let piped = |line: &str| {
            let words = line.split(' ');
            finish(command(folder.path()).args(words).write_stdin(records.clone()))
        };
        let outcome = piped("audit --every --min-score 25 - ref.fa");
        assert_eq!(values(&rows(&outcome)[0], &COLUMNS), shorter);
        outcome.said(0, &["supplementary records are skipped", "--reads"]);
        let outcome = piped("audit --every --min-score 25 --reads r.fa - ref.fa");
        assert_eq!(values(&rows(&outcome)[0], &COLUMNS), best);
        // A sample has the supplementary records of its reads.
        assert_eq!(values(&planted.audited(&records, "--every --sample 1")[0], &COLUMNS), best);
    }

    /// The row of a record with the first bases of the longer piece.
    fn longer(len: usize) -> String {
        format!("clipped one 501 + 30 {len} 70 501 + 30S70M proven")
    }

    /// The first line of a read in PAF need not be that of its best piece.
    #[test]
    fn of_one_read_in_paf_are_judged_together() {
        let planted = Planted::new();
        let read = text(&[&planted.genome[2000..2030], &planted.genome[500..570]].concat()).to_string();
        planted.folder.write("r.fa", format!(">r\n{read}\n"));
        let line = |query: [usize; 2], start: usize, rest: &str| {
            let [begin, end] = query;
            let len = end - begin;
            format!(
                "r\t100\t{begin}\t{end}\t+\tone\t4000\t{start}\t{}\t{len}\t{len}\t60\t{rest}\tcg:Z:{len}M\n",
                start + len
            )
        };
        let first = line([0, 30], 2000, "tp:A:P");
        for (second, expected) in
            [("tp:A:P", "equal 501 70"), ("tp:A:I", "equal 501 70"), ("tp:A:S", "below 2001 30")]
        {
            let records = first.clone() + &line([30, 100], 500, second);
            let found = planted.audited(&records, "--every --reads r.fa");
            assert_eq!(values(&found[0], &["verdict", "position", "score"]), expected);
        }
    }

    /// Supplementary records of mates are those of their own mate.
    #[test]
    fn of_mates_are_judged_with_their_own() {
        let planted = Planted::new();
        let genome = &planted.genome;
        let read = text(&[&genome[2000..2030], &genome[500..570]].concat()).to_string();
        let line =
            |flags: u16, rest: &str, bases: &str| format!("p\t{flags}\tone\t{rest}\t*\t0\t0\t{bases}\t*\n");
        let mates = line(65, "2001\t60\t30M70S", &read) + &line(129, "2001\t60\t30M70S", &read);
        for (supplementary, expected) in [(2113, ["equal", "below"]), (2177, ["below", "equal"])] {
            let records = mates.clone() + &line(supplementary, "501\t60\t30H70M", "*");
            planted.folder.write("r.fa", format!(">p\n{read}\n"));
            for more in
                ["--every", "--every --reads r.fa,r.fa --insert 300,30", "--every --pairs --insert 300,30"]
            {
                let found = planted.audited(&records, more);
                let found: Vec<&str> = found.iter().map(|row| &*row["verdict"]).collect();
                assert_eq!(found, expected, "{more}");
            }
        }
    }

    /// A mate at the worse of two positions is excused by its pair.
    #[test]
    fn of_mates_are_those_of_the_pair() {
        let mut random = Random::new(3);
        let mut genome = random.sequence(Alphabet::Dna, 6000);
        // The copy at 5000 equals the mate, and the stretch at 1200 has a difference in its middle.
        let mate = genome[1200..1300].to_vec();
        genome[5000..5100].copy_from_slice(&mate);
        genome[1250] = if genome[1250] == b'A' { b'C' } else { b'A' };
        let folder = folder(&[("ref.fa", format!(">t\n{}\n", text(&genome)).as_bytes())]);
        let first = text(&genome[1000..1100]);
        let line = |flags: u16, position: usize, bases: &str| {
            format!("p\t{flags}\tt\t{position}\t60\t100M\t=\t1\t0\t{bases}\t*\n")
        };
        let judged = |second: usize, more: &str| {
            let insert = if more.is_empty() { "" } else { "--insert 300,30" };
            folder.write("x.sam", line(99, 1001, first) + &line(147, second, text(&mate)));
            let outcome =
                folder.line(&format!("audit -q --every --min-score 25 {insert} {more} x.sam ref.fa"));
            rows(&outcome).iter().map(|row| row["verdict"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(judged(1201, "--pairs"), ["equal", "equal"]);
        assert_eq!(judged(5001, "--pairs"), ["equal", "equal"]);
        assert_eq!(judged(3001, "--pairs"), ["equal", "below"]);
        assert_eq!(judged(1201, ""), ["equal", "below"]);
        // The pair does not excuse a mate if both together score less.
        assert_eq!(judged(1202, "--pairs"), ["equal", "below"]);
    }
}

mod output {
    use super::*;

    /// Records with all kinds of verdicts.
    fn records(planted: &Planted) -> String {
        let mut random = Random::new(17);
        let mut records = String::new();
        for number in 0..60 {
            let start = random.below(3900);
            let position = (start + 1 + number % 3 / 2).to_string();
            let cigar = random.pick(&["100M", "100M", "10S90M", "60M40S", "99M", "50M2D50M"]);
            let flags = if number % 10 == 9 { "4" } else { "0" };
            let name = format!("r{number}");
            records += &planted.record(&name, start, [flags, "one", &position, "60", cigar]);
        }
        records
    }

    #[test]
    fn is_the_same_on_any_device_and_with_any_batches() {
        let planted = Planted::new();
        let expected = planted.audited(&records(&planted), "--every");
        assert!(verdicts(&expected).len() >= 5, "{:?}", verdicts(&expected));
        for more in [
            "-t 1",
            "-t 2 --batch 1",
            "--batch 7 --device cpu",
            "--device plain",
            "--filter none --no-dedup",
            "--filter index",
            "--filter scan -t 2",
        ] {
            assert!(planted.audited(&records(&planted), &format!("--every {more}")) == expected, "{more}");
        }
        planted.folder.line("index -q -o ref.swdb ref.fa").ended(0);
        let line = format!("audit {} --every x.sam ref.swdb", Planted::SCORING);
        assert!(rows(&planted.folder.line(&line)) == expected);
    }

    #[test]
    fn as_json_has_the_values_of_the_table() {
        let planted = Planted::new();
        let table = planted.audited(&records(&planted), "--every");
        let line = format!("audit {} --every --format json -o out.json.gz x.sam ref.fa", Planted::SCORING);
        planted.folder.line(&line).ended(0);
        const NAMES: [&str; 14] = [
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
        ];
        let object = |row: &Row| {
            let value = |name: &str| match &*row[name] {
                "*" => "null".to_string(),
                number if number.parse::<i64>().is_ok() => number.to_string(),
                text => format!("\"{text}\""),
            };
            let fields: Vec<String> =
                NAMES.iter().map(|name| format!("\"{name}\": {}", value(name))).collect();
            format!("{{{}}}\n", fields.join(", "))
        };
        assert_eq!(table[0].len(), NAMES.len());
        let expected: String = table.iter().map(object).collect();
        assert_eq!(unpacked(&planted.folder.file("out.json.gz")), expected);
    }

    /// The page has the numbers of the summary, and escapes names.
    #[test]
    fn has_a_page() {
        let planted = Planted::new();
        let folder = &planted.folder;
        folder.write("<x>.sam", records(&planted));
        let line =
            |more: &str| format!("audit -q --min-score 25 --html page.html -o out.tsv {more} <x>.sam ref.fa");
        folder.line(&line("--every")).ended(0);
        let page = folder.text("page.html");
        assert!(page.contains("<title>Audit of &lt;x&gt;.sam</title>") && !page.contains("<x>"));
        for (verdict, count) in verdicts(&rows_of(&folder.text("out.tsv"))) {
            let row = format!("<tr><th scope=\"row\">{verdict}</th><td class=\"number\">{count}</td>");
            assert!(page.contains(&row), "{row}");
        }
        folder.line(&line("--device plain --batch 7 -t 2 --every")).ended(0);
        assert!(folder.text("page.html") == page);
        folder.line(&line("--against <x>.sam")).ended(0);
        assert!(folder.text("page.html").contains("Second file"));
    }

    #[test]
    fn has_a_summary_and_a_limit() {
        let planted = Planted::new();
        let rows = planted.audited(&records(&planted), "--every --summary numbers.json");
        let numbers = planted.folder.text("numbers.json");
        let number = |key: &str| {
            let after =
                numbers.split(&format!("\"{key}\": ")).nth(1).unwrap_or_else(|| panic!("{key} in {numbers}"));
            after.split([',', '}', '\n']).next().unwrap().parse::<f64>().unwrap()
        };
        let counts = verdicts(&rows);
        let count = |name: &str| *counts.get(name).unwrap_or(&0);
        for name in counts.keys() {
            assert_eq!(number(name) as usize, count(name), "{name}");
        }
        let findings: usize =
            ["above", "below", "clipped", "missed", "outside", "invalid"].map(count).iter().sum();
        let rate = findings as f64 / rows.len() as f64;
        assert_eq!((number("reads") as usize, number("findings") as usize), (rows.len(), findings));
        assert!((number("rate") - rate).abs() < 1e-6);
        // All records have one length, and those with an alignment one mapping quality.
        let all = numbers.split("\"verdicts\": ").nth(1).unwrap().split('}').next().unwrap();
        assert!(numbers.contains(&format!("{{\"least_length\": 100, \"verdicts\": {all}}}}}")), "{numbers}");
        assert_eq!(number("mapq"), 60.0);
        let limited = |limit: f64| {
            let line = format!("audit --min-score 25 --fail-above {limit} -o out.tsv x.sam ref.fa");
            planted.folder.line(&line)
        };
        let (above, below) = (limited(rate - 0.001), limited(rate + 0.001));
        assert_eq!((above.code, below.code), (Some(1), Some(0)));
        // The last line of stderr has the numbers, without an error.
        for said in [&above.stderr, &below.stderr] {
            let last = said.lines().last().unwrap();
            assert!(
                last.contains("60 reads, ") && last.contains(&format!("{findings} findings (")),
                "{said}"
            );
        }
    }

    /// The columns of each file are those of an audit of that file alone.
    #[test]
    fn of_two_files_is_that_of_each() {
        let planted = Planted::new();
        let first = records(&planted);
        let one = planted.audited(&first, "--every");
        planted
            .folder
            .write("y.sam", first.lines().rev().map(|line| line.to_string() + "\n").collect::<String>());
        let same = planted.audited(&first, "--every --against y.sam --summary numbers.json");
        let of_first = ["verdict", "reference", "position", "strand", "mapq", "score"];
        for (row, alone) in same.iter().zip(&one) {
            assert!(alone.iter().all(|(column, value)| &row[column] == value));
            assert!(of_first.iter().all(|column| row[&format!("against_{column}")] == row[*column]));
            assert_eq!(row["higher"], "*");
        }
        assert!(planted.folder.text("numbers.json").contains("\"higher\": {\"records\": 0, \"against\": 0}"));
        // The optimal records of the same reads, and a file without records of some of them.
        let reads: String = first
            .lines()
            .map(|line| line.split('\t').collect::<Vec<_>>())
            .map(|fields| format!(">{}\n{}\n", fields[0], fields[9]))
            .collect();
        planted.folder.write("r.fa", reads);
        planted.folder.line("-q --min-score 25 -o best.sam r.fa ref.fa").ended(0);
        let line = format!("audit {} --every --against best.sam x.sam ref.fa", Planted::SCORING);
        let outcome = planted.folder.line(&line.replace("-q ", ""));
        let found = rows(&outcome);
        let higher = found.iter().filter(|row| row["higher"] == "against").count();
        assert!(found.iter().all(|row| row["against_verdict"] == "equal" && row["higher"] != "records"));
        let not_optimal = one.iter().filter(|row| !["equal", "tie"].contains(&&*row["verdict"])).count();
        assert_eq!(higher, not_optimal);
        let last = outcome.stderr.lines().last().unwrap();
        assert!(
            last.contains("60 equal") && last.contains(&format!("{higher} higher in --against")),
            "{last}"
        );
        planted.folder.line_refused("audit -q --against - - ref.fa", 2, &["stdin"]);
    }

    /// The page draws the worst findings, the record and the optimum.
    #[test]
    fn has_a_page_with_alignments() {
        let planted = Planted::new();
        let folder = &planted.folder;
        let records: String = (0..12)
            .map(|number| {
                let clip = 20 + number;
                let (position, cigar) = ((501 + clip).to_string(), format!("{clip}S{}M", 100 - clip));
                planted.record(&format!("r{number}"), 500, ["0", "one", &position, "60", &cigar])
            })
            .collect();
        folder.write("x.sam", records + &planted.record("m", 700, ["4", "*", "0", "0", "*"]));
        let line =
            |more: &str| format!("audit -q --min-score 25 --html page.html -o out.tsv {more} x.sam ref.fa");
        folder.line(&line("")).ended(0);
        let page = folder.text("page.html");
        let found: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("<h3>")).collect();
        let shown: Vec<&str> = found.iter().map(|line| line.split(':').next().unwrap()).collect();
        assert_eq!(shown, ["m", "r11", "r10", "r9", "r8", "r7", "r6", "r5", "r4", "r3"]);
        let bases = |from: usize, to: usize| text(&planted.genome[from..to]).to_string();
        for part in [
            "<p>Record: score 69 at one:532 +, MAPQ 60</p>".to_string(),
            "<p>Optimum: score 100 at one:501 +</p>".to_string(),
            format!("<pre>Query   32 {} 100\n", bases(531, 600)),
            format!("Target 501 {}", bases(500, 560)),
            "<figure data-kind=\"lines\" data-x=\"Mapping quality\"".to_string(),
            "<th scope=\"row\" class=\"number\">60</th><td class=\"number\">12</td><td class=\"number\">100.00</td>".to_string(),
        ] {
            assert!(page.contains(&part), "{part} in {page}");
        }
        assert_eq!(page.matches("Record: no score</p>").count(), 1);
        for more in ["--batch 1 -t 2", "--batch 5", "--device plain", "--filter none --no-dedup"] {
            folder.line(&line(more)).ended(0);
            assert!(folder.text("page.html") == page, "{more}");
        }
        // A record that passes over a long stretch of its reference.
        let read = text(&[&planted.genome[100..150], &planted.genome[3500..3550]].concat()).to_string();
        folder.write("x.sam", format!("long\t0\tone\t101\t60\t50M3350N50M\t*\t0\t0\t{read}\t*\n"));
        folder.line(&line("")).ended(0);
        assert!(folder.text("page.html").contains("1,450 more columns."), "{}", folder.text("page.html"));
    }

    #[test]
    fn of_parts_is_that_of_the_whole() {
        let planted = Planted::new();
        let folder = &planted.folder;
        let mut all = records(&planted);
        let names = |number: usize| format!("r{number}");
        all += &planted.record(&names(5), 500, ["2048", "one", "501", "60", "100M"]);
        folder.write("x.sam", &all);
        let reads: String = (0..60)
            .map(|number| {
                format!(
                    ">{}\n{}\n",
                    names(number),
                    all.lines().nth(number).unwrap().split('\t').nth(9).unwrap()
                )
            })
            .collect();
        folder.write("r.fa", reads);
        let mates: String = all
            .lines()
            .take(60)
            .enumerate()
            .map(|(number, line)| {
                let fields: Vec<&str> = line.split('\t').collect();
                let flags = fields[1].parse::<u16>().unwrap() + if number % 2 == 0 { 65 } else { 129 };
                format!("p{}\t{flags}\t{}\n", number / 2, fields[2..].join("\t"))
            })
            .collect();
        folder.write("mates.sam", mates);
        folder.line("-q --min-score 25 -o own.bam r.fa ref.fa").ended(0);
        let joined = |more: &str, of: usize| {
            let line = |output: &str, part: &str| {
                format!("audit -q --min-score 25 -o {output} {part} {more} ref.fa")
            };
            folder.line(&line("whole.x", "--every --summary whole.json")).ended(0);
            let parts: Vec<String> = (1..=of).map(|part| format!("part{part}.x")).collect();
            let mut judged = 0;
            for (number, output) in (1..=of).zip(&parts) {
                folder
                    .line(&line(output, &format!("--every --part {number}/{of} --summary part.json")))
                    .ended(0);
                judged += reads_of(&folder.text("part.json"));
            }
            folder.line(&format!("merge -q -o joined.x {}", parts.join(" "))).ended(0);
            assert!(folder.read("joined.x") == folder.read("whole.x"), "{more} {of}");
            assert_eq!(judged, reads_of(&folder.text("whole.json")));
        };
        for of in [1, 2, 3, 7, 70] {
            joined("x.sam", of);
        }
        joined("own.bam", 4);
        let outcome = folder.line("audit --min-score 25 --part 1/4 -o part.x own.bam ref.fa");
        outcome.said(0, &["15 reads"]);
        assert!(!outcome.stderr.contains("truncated"), "{}", outcome.stderr);
        joined("--format json --sample 20 x.sam", 4);
        joined("--against own.bam x.sam", 3);
        joined("--reads r.fa x.sam", 3);
        joined("--pairs --insert 300,30 mates.sam", 7);
        // Parts of other runs do not fit.
        let part = |part: &str, output: &str, more: &str| {
            folder.line(&format!("audit -q -o {output} --part {part} {more} x.sam ref.fa")).ended(0);
        };
        part("1/2", "one.x", "");
        part("2/2", "two.x", "--every");
        folder.line_refused("merge -q -o joined.x one.x two.x", 1, &["two.x", "another run"]);
        folder.line_refused("audit -q --part 1/2 -o x.tsv.gz x.sam ref.fa", 2, &["--part", "compressed"]);
        folder.line_refused("audit -q --part 1/2 --pairs mates.sam ref.fa", 2, &["--part", "--insert"]);
        folder.line_refused("audit -q --part 1/2 - ref.fa", 2, &["--part", "stdin"]);
        folder.line_refused("audit -q --part 3/2 x.sam ref.fa", 2, &["--part"]);
    }

    fn reads_of(summary: &str) -> usize {
        summary.split("\"reads\": ").nth(1).unwrap().split(',').next().unwrap().parse().unwrap()
    }

    #[test]
    fn of_a_sample_does_not_depend_on_the_order() {
        let planted = Planted::new();
        let records = records(&planted);
        let all = planted.audited(&records, "--every");
        let names = |rows: &[Row]| {
            let mut names: Vec<String> = rows.iter().map(|row| row["read"].clone()).collect();
            names.sort();
            names
        };
        let sample = planted.audited(&records, "--every --sample 20");
        assert_eq!(sample.len(), 20);
        assert!(sample.iter().all(|row| all.contains(row)));
        let turned: String = records.lines().rev().map(|line| format!("{line}\n")).collect();
        assert_eq!(names(&planted.audited(&turned, "--every --sample 20 --batch 3")), names(&sample));
        assert_ne!(names(&planted.audited(&records, "--every --sample 20 --seed 2")), names(&sample));
        assert_eq!(planted.audited(&records, "--every --sample 1000").len(), 60);
    }
}

mod scorings {
    use super::*;

    fn audited(planted: &Planted, command: &str, more: &str) -> Outcome {
        let record = planted.record("r", 500, ["0", "one", "521", "60", "20S80M"]);
        let header = format!("@HD\tVN:1.6\n@SQ\tSN:one\tLN:4000\n{command}");
        planted.folder.write("x.sam", header + &record);
        planted.folder.line(&format!("audit --every {more} x.sam ref.fa"))
    }

    /// The optimum has 100 equal bases, and the record 80.
    #[test]
    fn are_those_of_the_mapper() {
        let planted = Planted::new();
        let pg = |program: &str, command: &str| format!("@PG\tID:{program}\tPN:{program}\tCL:{command}\n");
        for (command, more, expected) in [
            (String::new(), "", "80 100"),
            (pg("bwa", "bwa mem ref.fa r.fq"), "", "85 110"),
            (pg("bwa", "bwa mem -A 2 -L 3 ref.fa r.fq"), "", "163 206"),
            (pg("minimap2", "minimap2 -ax sr ref.fa r.fq"), "", "170 220"),
            (pg("minimap2", "minimap2 -ax map-ont ref.fa r.fq"), "", "160 200"),
            (pg("bowtie2", "\"bowtie2-align-s --local -x ref r.fq\""), "", "160 200"),
            (pg("bwa", "bwa mem ref.fa r.fq"), "-x map-hifi", "80 100"),
            (pg("bwa", "bwa mem ref.fa r.fq"), "--end-bonus 7", "87 114"),
            (pg("bowtie2", "bowtie2-align-s -x ref r.fq"), "--match 3", "240 300"),
        ] {
            let outcome = audited(&planted, &command, more);
            assert_eq!(values(&rows(&outcome)[0], &["score", "optimum"]), expected, "{command} {more}");
            let is_told = outcome.stderr.contains("scoring of the mapper, by @PG: --match");
            assert_eq!(is_told, !command.is_empty() && more.is_empty(), "{}", outcome.stderr);
        }
    }

    #[test]
    fn that_cannot_be_expressed_are_errors() {
        let planted = Planted::new();
        for (program, command, noun) in [
            ("bowtie2", "bowtie2-align-s -x ref r.fq", "end-to-end"),
            ("bwa", "bwa samse ref.fa r.sai r.fq", "bwa mem"),
            ("minimap2", "minimap2 -ax splice ref.fa r.fq", "-x splice"),
        ] {
            let line = format!("@PG\tID:1\tPN:{program}\tCL:{command}\n");
            audited(&planted, &line, "-q").said(1, &["x.sam", command, noun, "-x short"]);
        }
    }

    /// The header of BAM, and of records of other reads.
    #[test]
    fn are_stated_in_any_format() {
        let folder = with_data(&["illumina_chr22.fq.gz", "chr22_12k.fa"]);
        folder.line("-q -x short -o own.sam illumina_chr22.fq.gz chr22_12k.fa").ended(0);
        let sam =
            folder.text("own.sam").replace("PN:swalign", "PN:bwa").replace("CL:swalign ", "CL:bwa mem -A 1 ");
        folder.write("own.sam", sam);
        for line in ["own.sam", "--reads illumina_chr22.fq.gz own.sam"] {
            let outcome = folder.line(&format!("audit {line} chr22_12k.fa"));
            outcome.said(0, &["--end-bonus 5 (from `bwa mem -A 1 "]);
        }
        folder.line("-q -x short -o own.bam illumina_chr22.fq.gz chr22_12k.fa").ended(0);
        let mut bam = Vec::new();
        MultiGzDecoder::new(&folder.read("own.bam")[..]).read_to_end(&mut bam).unwrap();
        let name = b"PN:swalign";
        let at = bam.windows(name.len()).position(|bytes| bytes == name).unwrap();
        bam[at..at + name.len()].copy_from_slice(b"PN:bowtie2");
        folder.write("own.bam", bam);
        folder.line_refused("audit own.bam chr22_12k.fa", 1, &["own.bam", "end-to-end"]);
    }
}

mod errors {
    use super::*;

    #[test]
    fn name_the_file_the_record_and_the_remedy() {
        let planted = Planted::new();
        let good = planted.record("a", 500, ["0", "one", "501", "60", "100M"]);
        let refused = |content: &str, code, nouns: &[&str]| {
            planted.folder.write("x.sam", content);
            planted.folder.line_refused("audit -q --min-score 25 x.sam ref.fa", code, nouns);
        };
        let bare = "b\t0\tone\t501\t60\t100M\t*\t0\t0\t*\t*\n";
        refused(&(good.clone() + bare), 1, &["x.sam, record 2 'b'", "SEQ", "--reads"]);
        let clipped = "c\t0\tone\t501\t60\t2H4M\t*\t0\t0\tACGT\t*\n";
        refused(&(good.clone() + clipped), 1, &["x.sam, record 2 'c'", "hard-clipped", "--reads"]);
        refused(&(good.clone() + "d\t0\tone\n"), 1, &["x.sam: line 2", "11 columns"]);
        refused(">a\nACGT\n", 1, &["x.sam", "neither SAM, BAM nor PAF"]);
        refused("", 1, &["x.sam", "neither SAM, BAM nor PAF"]);
        refused("r\t9\t0\t9\t+\tone\t9\t0\t9\t9\t9\t60\n", 1, &["x.sam, record 1 'r'", "--reads"]);
        let folder = &planted.folder;
        folder.write("x.sam", &good);
        folder.line_refused("audit -q nosuch.sam ref.fa", 1, &["nosuch.sam", "no such file"]);
        folder.line_refused("audit -q x.sam nosuch.fa", 1, &["nosuch.fa", "no such file"]);
        folder.line_refused("audit -q x.sam", 2, &["REFERENCE"]);
        folder.line_refused("audit -q --mode global x.sam ref.fa", 2, &["--mode", "local"]);
        folder.line_refused("audit -q --sample 3 - ref.fa", 2, &["--sample", "stdin"]);
        folder.line_refused("audit -q --seed 3 x.sam ref.fa", 2, &["--sample"]);
        folder.line_refused("audit -q --insert 300,30 x.sam ref.fa", 2, &["--insert", "--pairs"]);
        folder.line_refused("audit -q --min-score 0 x.sam ref.fa", 2, &["--min-score"]);
        folder.line_refused("audit -q --reads a,b,c x.sam ref.fa", 2, &["--reads"]);
        folder.line_refused("audit -q -o x.sam x.sam ref.fa", 2, &["x.sam"]);
        folder.line_refused("audit -q --summary ref.fa x.sam ref.fa", 2, &["--summary", "ref.fa"]);
        folder.write("twice.fa", ">t\nACGTACGTACGTACGTACGTACGTACGT\n>t\nACGTTTTTTTTTTTTTTTTTTTTT\n");
        folder.line_refused("audit -q x.sam twice.fa", 1, &["twice.fa", "t"]);
    }

    #[test]
    fn of_mates_name_their_remedy() {
        let planted = Planted::new();
        let folder = &planted.folder;
        let mate = |name: &str, flags: &str| planted.record(name, 500, [flags, "one", "501", "60", "100M"]);
        folder
            .write("x.sam", [mate("a", "65"), mate("b", "65"), mate("a", "129"), mate("b", "129")].concat());
        folder.line_refused("audit -q --pairs x.sam ref.fa", 1, &["x.sam", "'a'", "'b'", "samtools collate"]);
        // Without --pairs, their order does not matter.
        let outcome = folder.line("audit --min-score 25 x.sam ref.fa");
        outcome.said(0, &["4 mates", "--pairs"]);
        folder.write("r.fa", format!(">a\n{}\n", text(&planted.genome[500..600])));
        folder.line_refused(
            "audit -q --reads r.fa x.sam ref.fa",
            1,
            &["x.sam", "'a'", "--reads R1.fq,R2.fq"],
        );
        folder.write("more.sam", mate("z", "0") + &mate("a", "0") + &mate("a", "0"));
        folder
            .line("audit --reads r.fa more.sam ref.fa")
            .said(0, &["warning: more.sam: 1 record", "1 record skipped"]);
    }

    /// A truncated BAM, and damaged bytes.
    #[test]
    fn of_damaged_bam() {
        let folder = with_data(&["ont_sars2.fq.gz", "sars2.fa"]);
        folder.line("-q -o own.bam ont_sars2.fq.gz sars2.fa").ended(0);
        let whole = folder.read("own.bam");
        folder.write("cut.bam", &whole[..whole.len() / 2]);
        folder.line_refused("audit -q cut.bam sars2.fa", 1, &["cut.bam"]);
        let from_stdin =
            finish(command(folder.path()).args(["audit", "-q", "-", "sars2.fa"]).write_stdin(whole));
        from_stdin.ended(0);
    }
}

/// Scores and optima of 200 small genomes with reads whose records are damaged at random.
mod damaged {
    use super::*;

    const MIN_SCORE: i64 = 15;
    const READ: usize = 40;

    /// The best local score of `query` in `target` by the recurrence alone.
    fn best(scoring: &Scoring, query: &[u8], target: &[u8]) -> i64 {
        let (open, extend) = (i64::from(scoring.gap_open), i64::from(scoring.gap_extend));
        let low = i64::MIN / 2;
        let (mut h, mut e) = (vec![0; target.len() + 1], vec![low; target.len() + 1]);
        let mut best = 0;
        for &q in query {
            let (mut diagonal, mut f) = (0, low);
            for (j, &t) in (1..).zip(target) {
                e[j] = (e[j] - extend).max(h[j] - open - extend);
                f = (f - extend).max(h[j - 1] - open - extend);
                let score = (diagonal + i64::from(scoring.score(q, t))).max(e[j]).max(f).max(0);
                diagonal = h[j];
                h[j] = score;
                best = best.max(score);
            }
        }
        best
    }

    /// A damaged record, and its score if it has one.
    struct Damaged {
        flags: u16,
        position: usize,
        cigar: String,
        score: Option<i64>,
        verdicts: &'static [&'static str],
    }

    /// Damages the record of a read without differences from `start`. `codes` are those of the read and the genome in the
    /// orientation of the genome.
    fn damaged(
        random: &mut Random,
        scoring: &Scoring,
        (read, genome): (&[u8], &[u8]),
        start: usize,
    ) -> Damaged {
        const LOWER: &[&str] = &["below", "clipped", "equal", "tie", "low", "unscored"];
        let sum = |query: usize, target: usize, len: usize| -> i64 {
            (0..len).map(|at| i64::from(scoring.score(read[query + at], genome[target + at]))).sum()
        };
        let gap = |len: usize| i64::from(scoring.gap_open) + i64::from(scoring.gap_extend) * len as i64;
        let of = |position: usize, cigar: String, score: i64| Damaged {
            flags: 0,
            position,
            cigar,
            score: Some(score),
            verdicts: LOWER,
        };
        let without = |position: usize, cigar: String, verdicts| Damaged {
            score: None,
            verdicts,
            ..of(position, cigar, 0)
        };
        let (len, room) = (READ, genome.len() - READ);
        let cut = 1 + random.below(len - 2);
        match random.below(9) {
            0 => of(start, format!("{len}M"), sum(0, start, len)),
            1 => {
                let at = random.below(room + 1);
                of(at, format!("{len}="), sum(0, at, len))
            }
            2 => of(start + cut, format!("{cut}S{}M", len - cut), sum(cut, start + cut, len - cut)),
            3 => of(start, format!("{cut}M{}S", len - cut), sum(0, start, cut)),
            4 => {
                let extra = 1 + random.below(6);
                let start = start.min(room - 6);
                let score = sum(0, start, cut) + sum(cut, start + cut + extra, len - cut) - gap(extra);
                of(start, format!("{cut}M{extra}{}{}M", random.pick(&["D", "N"]), len - cut), score)
            }
            5 => {
                let extra = 1 + random.below(len - cut - 1).min(5);
                let score =
                    sum(0, start, cut) + sum(cut + extra, start + cut, len - cut - extra) - gap(extra);
                of(start, format!("{cut}X{extra}I{}M", len - cut - extra), score)
            }
            6 => {
                without(start, format!("{}M", len + random.pick(&[1, 2]) - 3 * random.below(2)), &["invalid"])
            }
            7 => without(room + 1 + random.below(50), format!("{len}M"), &["outside"]),
            _ => Damaged { flags: 4, ..without(start, "*".to_string(), &["missed", "unmapped"]) },
        }
    }

    #[test]
    fn records_are_judged_as_by_an_oracle() {
        let mut seen = BTreeMap::<String, usize>::new();
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let scoring = Scoring::dna(1, random.pick(&[1, 4]), random.pick(&[2, 6]), random.pick(&[1, 2]));
            let len = 150 + random.below(200);
            let mut genome = random.sequence(Alphabet::Dna, len);
            if seed % 2 == 0 {
                let copy = genome[..60].to_vec();
                genome[len - 60..].copy_from_slice(&copy);
            }
            let target = codes(Alphabet::Dna, &genome);
            let turned = codes(Alphabet::Dna, &reverse_complement(&genome));
            let mut records = String::new();
            let mut expected = Vec::new();
            for number in 0..12 {
                let start = random.below(len - READ + 1);
                let mut read = genome[start..start + READ].to_vec();
                (0..random.below(4)).for_each(|_| read[random.below(READ)] = random.pick(b"ACGTN"));
                if number == 11 {
                    read = random.sequence(Alphabet::Dna, READ);
                }
                let query = codes(Alphabet::Dna, &read);
                let damage = damaged(&mut random, &scoring, (&query, &target), start);
                let flags = damage.flags | (16 * random.below(2) as u16);
                let Damaged { position, cigar, .. } = &damage;
                let bases = text(&read);
                writeln!(
                    records,
                    "r{number}\t{flags}\tt\t{}\t60\t{cigar}\t*\t0\t0\t{bases}\t*",
                    position + 1
                )
                .unwrap();
                let optimum = best(&scoring, &query, &target).max(best(&scoring, &query, &turned));
                expected.push((damage, optimum));
            }
            let folder = folder(&[
                ("g.fa", format!(">t\n{}\n", text(&genome)).as_bytes()),
                ("x.sam", records.as_bytes()),
            ]);
            let Scoring { gap_open, gap_extend, .. } = scoring;
            let mismatch = -scoring.score(0, 1);
            let line = format!(
                "audit -q --every --device cpu -t 1 --match 1 --mismatch {mismatch} --gap-open {gap_open} --gap-extend \
                 {gap_extend} --min-score {MIN_SCORE} --alphabet dna x.sam g.fa"
            );
            let found = rows(&folder.line(&line));
            assert_eq!(found.len(), expected.len());
            for (row, (damage, optimum)) in found.iter().zip(&expected) {
                let verdict = &*row["verdict"];
                *seen.entry(verdict.to_string()).or_default() += 1;
                let context = format!("seed {seed} {row:?} {optimum}");
                assert!(damage.verdicts.contains(&verdict), "{context}");
                let reached = *optimum >= MIN_SCORE;
                assert_eq!(
                    row["optimum"],
                    if reached { optimum.to_string() } else { "*".to_string() },
                    "{context}"
                );
                let shown = damage.score.map_or("*".to_string(), |score| score.to_string());
                assert_eq!(row["score"], shown, "{context}");
                let expected: &[&str] = match damage.score {
                    Some(score) if reached && score < *optimum => &["below", "clipped"],
                    Some(_) if reached => &["equal", "tie"],
                    Some(_) => &["low"],
                    None if damage.verdicts.contains(&"missed") && reached => &["missed"],
                    None if damage.verdicts.contains(&"missed") => &["unmapped"],
                    None => damage.verdicts,
                };
                assert!(expected.contains(&verdict), "{context}");
            }
        }
        for verdict in ["equal", "tie", "below", "clipped", "low", "missed", "unmapped", "outside", "invalid"]
        {
            assert!(seen.get(verdict).is_some_and(|&count| count > 5), "{verdict}: {seen:?}");
        }
    }
}
