//! BAM and PAF output of the command: it does not depend on how it is computed, BAM has the records of SAM, blocks can
//! be concatenated, and errors.

use crate::common::bam::{END, blocks, records};
use crate::common::{command::line_here, folder::Folder, names_in_groups, random::Random, sam::without_pg};
use flate2::read::MultiGzDecoder;
use noodles_bam::io::Reader;
use noodles_sam::alignment::io::Write as _;
use noodles_sam::io::Writer;
use std::fs;
use std::io::Read;
use swalign::terms::alphabet::Alphabet;

/// Converts a BAM file to SAM text with noodles.
fn as_text(bam: &[u8]) -> String {
    let mut reader = Reader::new(bam);
    let header = reader.read_header().unwrap();
    let mut writer = Writer::new(Vec::new());
    writer.write_header(&header).unwrap();
    for record in reader.record_bufs(&header) {
        writer.write_alignment_record(&header, &record.unwrap()).unwrap();
    }
    String::from_utf8(writer.into_inner()).unwrap()
}

/// One read in this number begins a group.
const GROUP: usize = 80;

/// Writes a reference, and reads of it to FASTA and FASTQ: some are reverse complements, some are unrelated.
fn reads(folder: &Folder, count: usize) {
    let mut random = Random::new(11);
    let reference = random.sequence(Alphabet::Dna, 900);
    let mut queries = Vec::new();
    for number in 0..count {
        let (start, len) = (random.below(800), 24 + random.below(60));
        let mut letters = match number % 9 {
            4 => random.sequence(Alphabet::Dna, 40),
            _ => reference[start..(start + len).min(900)].to_vec(),
        };
        if number % 3 == 0 {
            letters = swalign::terms::alphabet::reverse_complement(&letters);
        }
        queries.push((number, letters));
    }
    let names = names_in_groups(count, GROUP, 24);
    let fasta = |(number, letters): &(usize, Vec<u8>)| format!(">{}\n{}\n", names[*number], text(letters));
    let fastq = |(number, letters): &(usize, Vec<u8>)| {
        let qualities: String =
            (0..letters.len()).map(|at| char::from(b'!' + (at + number) as u8 % 90)).collect();
        format!("@{}\n{}\n+\n{qualities}\n", names[*number], text(letters))
    };
    folder.write("ref.fa", format!(">r\n{}\n", text(&reference)));
    folder.write("q.fa", queries.iter().map(fasta).collect::<String>());
    folder.write("q.fq", queries.iter().map(fastq).collect::<String>());
}

fn text(letters: &[u8]) -> &str {
    std::str::from_utf8(letters).unwrap()
}

fn folder(count: usize) -> Folder {
    let folder = Folder::new();
    reads(&folder, count);
    folder
}

/// Options that must not change the output.
const WAYS: [&str; 6] = [
    "--device cpu -t 2",
    "--device cpu -t 5 --batch 7",
    "--device cpu -t 2 --batch 512",
    "--device cpu -t 1 --batch 1000",
    "--device cpu:baseline -t 2",
    "--device plain -t 5 --batch 100",
];
/// Options that give reads several records.
const HITS: &str = "--max-hits 3 --secondary-ratio 0.3 --min-score 15";

#[test]
fn bytes_do_not_depend_on_the_way() {
    let folder = folder(1200);
    for (format, query) in [("bam", "q.fq"), ("bam", "q.fa"), ("paf", "q.fq")] {
        let bytes = |way: &str| {
            let bytes = folder.line(&format!("--format {format} {HITS} {way} {query} ref.fa")).done();
            if format == "bam" { records(&bytes) } else { bytes }
        };
        let expected = bytes("--device cpu -t 1");
        assert!(!expected.is_empty());
        for way in WAYS {
            assert!(bytes(way) == expected, "{format} of {query}: {way} gives other bytes");
        }
    }
}

/// SAM and PAF in BGZF blocks have the same content as without, do not depend on how they are computed, and `merge`
/// joins parts to the whole.
#[test]
fn packed_text() {
    let folder = folder(1200);
    let write = |args: &str, out: &str| {
        folder.line(&format!("{args} -o {out} q.fq ref.fa")).ended(0);
        folder.read(out)
    };
    for (format, name) in [("sam", "x.sam.gz"), ("paf", "x.paf.gz"), ("sam", "x.gz")] {
        let options = format!("--format {format} {HITS}");
        let text = write(&format!("{options} --device cpu"), "plain");
        let whole = write(&format!("{options} --device cpu -t 1"), name);
        let mut unpacked = Vec::new();
        MultiGzDecoder::new(&whole[..]).read_to_end(&mut unpacked).unwrap();
        assert!(unpacked == text && !text.is_empty() && whole.ends_with(END), "{name}");
        for way in WAYS {
            assert!(write(&format!("{options} {way}"), name) == whole, "{name}: {way} gives other bytes");
        }
        for (flag, count) in [("--part", 1), ("--part", 4), ("--ref-part", 2)] {
            let args = format!("{options} --device cpu q.fq ref.fa");
            assert!(folder.merged(&args, flag, count, name) == whole, "{name}: {count} of {flag}");
        }
    }
    // The extension selects the format without --format. Parts with different compression belong to different runs.
    write("--device cpu --part 1/2", "a.sam.gz");
    write("--device cpu --part 2/2", "b.sam");
    folder.line("merge joined a.sam.gz b.sam").said(1, &["as sam.gz"]);
}

/// The records of runs on parts of an input, concatenated, are the records of the whole run.
#[test]
fn records_of_parts_can_be_joined() {
    let count = 15 * GROUP + 70;
    let folder = folder(count);
    let fasta = folder.text("q.fa");
    let lines: Vec<&str> = fasta.split_inclusive('\n').collect();
    let bam = |name: &str, lines: &[&str]| {
        folder.write(name, lines.concat());
        folder.line(&format!("--device cpu --batch 100 --format bam {name} ref.fa")).done()
    };
    let whole = bam("whole.fa", &lines);
    let (first, second) = lines.split_at(2 * 9 * GROUP);
    let joined = [records(&bam("first.fa", first)), records(&bam("second.fa", second))].concat();
    assert!(joined == records(&whole));
    let (header, _) = blocks(&whole);
    let mut reader = Reader::new(&whole[..]);
    let header_of_whole = reader.read_header().unwrap();
    assert_eq!(reader.record_bufs(&header_of_whole).count(), count);
    // A header, the records of parts and the end block make a complete file.
    let made = [header.concat(), joined, END.to_vec()].concat();
    assert!(made == whole);
}

#[test]
fn bam_has_the_records_of_sam() {
    for (args, flags) in [
        ("--max-hits 3 data/illumina_chr22.fq.gz data/chr22_12k.fa", 16),
        (
            "--preset long --max-hits 3 --secondary-ratio 0.02 --eqx -R @RG\\tID:a data/ont_sars2.fq.gz data/sars2.fa",
            256,
        ),
        ("--min-score 24 data/artic_v3_primers.fa data/sars2.fa", 4),
        ("--max-hits 20 data/amplicon_16s.fq.gz data/16s_20.fa", 256),
    ] {
        let as_format = |format| line_here(&format!("--device cpu --format {format} {args}")).done();
        let sam = String::from_utf8(as_format("sam")).unwrap();
        let flagged = sam
            .lines()
            .filter(|line| !line.starts_with('@'))
            .filter(|line| line.split('\t').nth(1).unwrap().parse::<u32>().unwrap() & flags != 0);
        assert!(flagged.count() > 0, "{args}: none with flag {flags}");
        assert_eq!(without_pg(&as_text(&as_format("bam"))), without_pg(&sam), "{args}");
    }
}

#[test]
fn pairs_in_each_format() {
    let folder = Folder::new();
    folder.write("q.fa", ">a\nACGTACGGTTAACCAGGT\n>b\n\n>c\nTTTTTTTTTTTTTTTTTTTT\n");
    folder.write("t.fa", ">x\nCCACGTACGGTTAACCAGGTA\n>y\nACGTACGT\n>z\nGAGAGAGCGCGAGAGCGCGA\n");
    let as_format = |format| {
        folder.line(&format!("pairs --device cpu --min-score 10 --format {format} q.fa t.fa")).done()
    };
    let sam = String::from_utf8(as_format("sam")).unwrap();
    assert!(sam.contains("\nb\t4\t*\t0\t0\t*\t*\t0\t0\t*\t*\n"), "{sam}");
    assert_eq!(without_pg(&as_text(&as_format("bam"))), without_pg(&sam));
    assert_eq!(
        String::from_utf8(as_format("paf")).unwrap(),
        "a\t18\t0\t18\t+\tx\t21\t2\t20\t18\t18\t24\tNM:i:0\tAS:i:18\ttp:A:P\tde:f:0\tcg:Z:18M\n\
         b\t0\t0\t0\t*\t*\t0\t0\t0\t0\t0\t0\n\
         c\t20\t0\t0\t*\t*\t0\t0\t0\t0\t0\t0\n"
    );
}

#[test]
fn the_file_names_the_format() {
    let folder = folder(5);
    let written = |name: &str, args: &str| {
        assert!(folder.line(&format!("--device cpu -o {name} {args} q.fa ref.fa")).done().is_empty());
        folder.read(name)
    };
    let sam = written("out", "");
    assert!(sam.starts_with(b"@HD"));
    let bam = written("out.bam", "");
    assert_eq!(without_pg(&as_text(&bam)), without_pg(text(&sam)));
    assert!(written("out.paf", "").starts_with(b"r0\t"));
    assert!(written("sam.bam", "--format sam").starts_with(b"@HD"));
    assert_eq!(records(&written("bam.sam", "--format bam")), records(&bam));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3 + 5, "no temporary is left");
}

#[test]
fn proteins_are_not_for_bam() {
    let outcome = line_here("--device cpu --format bam data/proteins_20.fa data/uniprot_60.fa");
    outcome.said(2, &["nucleotides", "--format"]);
    assert!(outcome.stdout.is_empty());
}

/// The output of a failed run must not look complete: there is no file, and a pipe does not get the end block.
#[test]
fn a_failure_ends_no_bam() {
    let folder = folder(5);
    let queries = folder.text("q.fa");
    // One target too many, which is only known after all records are written.
    folder.write("t.fa", queries.clone() + ">more\nACGT\n");
    for output in ["--format bam", "-o out.bam"] {
        let outcome = folder.line(&format!("pairs --device cpu --batch 1 {output} q.fa t.fa"));
        outcome.said(1, &["5 queries", "6 targets"]);
        assert_eq!(outcome.stdout.is_empty(), output.starts_with("-o"));
        assert!(!outcome.stdout.ends_with(END), "{output}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "{output} left a file");
    }
}

/// An empty input gives a complete file without records.
#[test]
fn no_queries_give_no_records() {
    let folder = folder(1);
    folder.write("q.fa", "");
    let run = |args: &str| {
        let outcome = folder.line(&format!("--device cpu {args} q.fa ref.fa"));
        outcome.said(0, &["warning: q.fa: ", "empty"]);
        outcome.stdout
    };
    let sam = String::from_utf8(run("--format sam")).unwrap();
    assert!(sam.starts_with("@HD") && sam.contains("@SQ") && sam.contains("@PG"), "{sam}");
    assert!(sam.lines().all(|line| line.starts_with('@')), "{sam}");
    assert_eq!(as_text(&run("--format bam")), sam);
    assert!(run("--format paf").is_empty());
    run("--sort -o sorted.bam");
    assert!(folder.names().iter().any(|name| name.starts_with("sorted.bam.")), "{:?}", folder.names());
}
