//! `swalign dedup` end to end: sets compared with vsearch and with a map, files and formats, and errors.

use crate::common::command::{command, finish, shell};
use crate::common::folder::{Folder, folder};
use crate::common::gzip::{gzip, unpacked};
use crate::common::{data, random::Random, text};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use swalign::terms::alphabet::{Alphabet, reverse_complement};

const FASTA: &[u8] = b">a first\nACGT\n>b\nGGTT\n>c\nacg\nu\n>d\nACGN\n";
const FASTQ: &[u8] = b"@a x\nACGT\n+\nIIII\n@b\nGGTT\n+\nFFFF\n@c\nACGT\n+\n!!!!\n";

#[track_caller]
fn printed(files: &[(&str, &[u8])], args: &[&str]) -> String {
    let outcome = folder(files).run(&[&["dedup", "-q"], args].concat());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{args:?}");
    String::from_utf8(outcome.stdout).unwrap()
}

#[track_caller]
fn refused(files: &[(&str, &[u8])], args: &[&str], code: i32, says: &[&str]) {
    folder(files).refused(&[&["dedup"], args].concat(), code, says);
}

mod sets {
    use super::*;

    /// Name, bases and size of a record.
    type SizedRecord = (String, Vec<u8>, u64);

    #[test]
    fn letters_are_compared_without_their_case_and_u_is_t() {
        let all = ">a\nACGT\n>b\nGGTT\n>d\nACGN\n";
        assert_eq!(printed(&[("r.fa", FASTA)], &["r.fa"]), all);
        let sized = ">a;size=2\nACGT\n>b;size=1\nGGTT\n>d;size=1\nACGN\n";
        assert_eq!(printed(&[("r.fa", FASTA)], &["--size-out", "r.fa"]), sized);
        assert_eq!(printed(&[("r.fa", FASTA)], &["--min-size", "2", "r.fa"]), ">a\nACGT\n");
        assert_eq!(printed(&[("r.fa", FASTA)], &["--min-size", "3", "r.fa"]), "");
    }

    #[test]
    fn proteins_keep_their_u() {
        let proteins: &[u8] = b">p\nMKVLU\n>q\nMKVLT\n>r\nmkvlt\n";
        let sized = ">q;size=2\nMKVLT\n>p;size=1\nMKVLU\n";
        assert_eq!(printed(&[("p.fa", proteins)], &["--size-out", "p.fa"]), sized);
        let both = ["--both-strands", "p.fa"];
        refused(&[("p.fa", proteins)], &both, 1, &["p.fa: ", "proteins", "--both-strands"]);
    }

    #[test]
    fn most_reads_come_first_and_then_names() {
        let reads: &[u8] = b">z\nAC\n>y\nAG\n>x;size=2\nAT\n>w\nAG\n>v\nAA\n";
        assert_eq!(printed(&[("r.fa", reads)], &["r.fa"]), ">y\nAG\n>v\nAA\n>x;size=2\nAT\n>z\nAC\n");
        let sized = printed(&[("r.fa", reads)], &["--size-in", "--size-out", "r.fa"]);
        assert_eq!(sized, ">x;size=2\nAT\n>y;size=2\nAG\n>v;size=1\nAA\n>z;size=1\nAC\n");
        // vsearch's spellings of the options.
        assert_eq!(printed(&[("r.fa", reads)], &["--sizein", "--sizeout", "r.fa"]), sized);
        let frequent = |option: &str| printed(&[("r.fa", reads)], &["--size-in", option, "2", "r.fa"]);
        assert_eq!(frequent("--minuniquesize"), frequent("--min-size"));
    }

    #[test]
    fn the_first_record_of_a_set_gives_its_qualities() {
        let reads = [("r.fq", FASTQ)];
        assert_eq!(printed(&reads, &["r.fq"]), "@a\nACGT\n+\nIIII\n@b\nGGTT\n+\nFFFF\n");
        let sized = "@a;size=2\nACGT\n+\nIIII\n@b;size=1\nGGTT\n+\nFFFF\n";
        assert_eq!(printed(&reads, &["--size-out", "r.fq"]), sized);
        assert_eq!(printed(&reads, &["--format", "fasta", "r.fq"]), ">a\nACGT\n>b\nGGTT\n");
        let prefixes: &[u8] = b"@c\nACGT\n+\nIIII\n@b\nACG\n+\n!!!\n@a\nACGT\n+\nFFFF\n";
        let written = printed(&[("r.fq", prefixes)], &["--by", "prefix", "--size-out", "r.fq"]);
        assert_eq!(written, "@a;size=3\nACGT\n+\nFFFF\n");
    }

    #[test]
    fn a_reverse_complement_is_the_same_on_both_strands() {
        let reads: &[u8] = b"@a\nTTGG\n+\nABCD\n@b\nCCAA\n+\nEFGH\n@c\nTTGG\n+\nIIII\n@d\nACGT\n+\nIIII\n";
        let both = printed(&[("r.fq", reads)], &["--both-strands", "--size-out", "r.fq"]);
        assert_eq!(both, "@a;size=3\nTTGG\n+\nABCD\n@d;size=1\nACGT\n+\nIIII\n");
    }

    /// Set and strand of each record, compared with a map whose keys are the smaller of both orientations.
    #[test]
    fn the_table_has_every_record() {
        let mut random = Random::new(3);
        let mut reads = String::new();
        let mut sets: BTreeMap<Vec<u8>, Vec<SizedRecord>> = BTreeMap::new();
        for number in 0..2000 {
            let len = 1 + random.below(6);
            let letters = random.sequence(Alphabet::Dna, len);
            let size = 1 + random.below(5) as u64;
            let name = format!("r{number};size={size}");
            writeln!(reads, ">{name}\n{}", String::from_utf8_lossy(&letters)).unwrap();
            let lesser = letters.clone().min(reverse_complement(&letters));
            sets.entry(lesser).or_default().push((name, letters, size));
        }
        let mut sets: Vec<_> = sets.into_values().collect();
        let size = |set: &[SizedRecord]| set.iter().map(|(_, _, size)| size).sum::<u64>();
        sets.sort_by_key(|set| (u64::MAX - size(set), set[0].0.clone()));
        let mut expected = String::from("#set\trepresentative\tname\tstrand\tsize\tset_size\n");
        let mut records = String::new();
        for (number, set) in sets.iter().enumerate() {
            let (first, of_set) = (&set[0], size(set));
            for (name, letters, size) in set {
                let strand = if *letters == first.1 { '+' } else { '-' };
                writeln!(expected, "{}\t{}\t{name}\t{strand}\t{size}\t{of_set}", number + 1, first.0)
                    .unwrap();
            }
            let (name, _) = first.0.split_once(';').unwrap();
            writeln!(records, ">{name};size={of_set}\n{}", String::from_utf8_lossy(&first.1)).unwrap();
        }
        let folder = folder(&[("r.fa", reads.as_bytes())]);
        let args = ["dedup", "--both-strands", "--size-in", "--size-out", "--table", "t.tsv", "r.fa"];
        assert_eq!(String::from_utf8(folder.done(&args)).unwrap(), records);
        assert_eq!(folder.text("t.tsv"), expected);
        // The table also lists sets that are not written. A compressed table has the same content.
        let args =
            ["dedup", "--both-strands", "--size-in", "--min-size", "99", "--table", "t.tsv.gz", "r.fa"];
        folder.done(&args);
        assert_eq!(unpacked(&folder.file("t.tsv.gz")), expected);
    }
}

mod golden {
    use super::*;

    /// The same pieces of reads as in make_dedup.py.
    fn pieces() -> String {
        let reads = unpacked(&data("amplicon_16s.fq.gz"));
        let lines: Vec<&str> = reads.lines().collect();
        let mut pieces = String::new();
        for (number, read) in lines.chunks(4).enumerate() {
            let name = read[0][1..].split(' ').next().unwrap();
            let mut letters = read[1].as_bytes()[..[60, 60, 50, 100][number % 4]].to_vec();
            if number % 5 == 4 {
                letters = reverse_complement(&letters);
            }
            let size = number % 3 + 1;
            writeln!(pieces, ">{name};size={size}\n{}", String::from_utf8(letters).unwrap()).unwrap();
        }
        pieces
    }

    #[test]
    fn sets_are_those_of_vsearch() {
        let folder = folder(&[("r.fa", pieces().as_bytes())]);
        let table = text("tests/golden/dedup.tsv");
        for (mode, args) in
            [("whole", &[][..]), ("both", &["--both-strands"]), ("prefix", &["--by", "prefix"])]
        {
            let begin = format!("{mode}\t");
            let rows = table.lines().filter_map(|line| line.strip_prefix(&begin));
            let expected: Vec<String> = rows.map(|row| row.replace('\t', ";size=")).collect();
            assert!(expected.len() > 15, "{mode}");
            let args = [&["dedup", "--size-in", "--size-out", "r.fa"], args].concat();
            let found = String::from_utf8(folder.done(&args)).unwrap();
            let names: Vec<&str> = found.lines().filter_map(|line| line.strip_prefix('>')).collect();
            assert_eq!(names, expected, "{mode}");
        }
    }
}

mod files {
    use super::*;

    #[test]
    fn several_files_packed_or_from_stdin_are_as_one() {
        let folder = folder(&[("r.fq", FASTQ), ("r.fq.gz", &gzip(FASTQ))]);
        let expected = "@a;size=6\nACGT\n+\nIIII\n@b;size=3\nGGTT\n+\nFFFF\n";
        let mut dedup = command(folder.path());
        dedup.args(["dedup", "--size-out", "r.fq", "-", "r.fq.gz"]).write_stdin(gzip(FASTQ));
        let outcome = finish(&mut dedup);
        assert!(outcome.stderr.contains("swalign: 9 records, 2 distinct (22.2 %), "), "{}", outcome.stderr);
        assert_eq!(outcome.done(), expected.as_bytes());
        folder.done(&["dedup", "--size-out", "-o", "out.fq.gz", "r.fq", "r.fq", "r.fq"]);
        assert_eq!(unpacked(&folder.file("out.fq.gz")), expected);
    }

    #[test]
    fn formats_are_not_mixed_unless_the_output_is_fasta() {
        let files = [("r.fa", FASTA), ("r.fq", FASTQ)];
        refused(&files, &["r.fq", "r.fa"], 1, &["r.fa: ", "FASTA", "FASTQ", "--format fasta"]);
        refused(&files, &["r.fa", "r.fq"], 1, &["r.fq: ", "FASTQ", "FASTA", "--format fasta"]);
        let says = ["r.fa: ", "--format fastq", "qualities", "--format fasta"];
        refused(&files, &["--format", "fastq", "r.fa"], 1, &says);
        let sized = ">a;size=4\nACGT\n>b;size=2\nGGTT\n>d;size=1\nACGN\n";
        assert_eq!(printed(&files, &["--format", "fasta", "--size-out", "r.fq", "r.fa"]), sized);
    }

    #[test]
    fn threads_do_not_show() {
        let mut random = Random::new(7);
        let mut reads = String::new();
        let pool: Vec<String> = (0..500).map(|_| random.text(Alphabet::Dna, 300)).collect();
        for number in 0..6000 {
            let letters = &pool[random.below(pool.len())][..100 + random.below(4) * 50];
            let size = 1 + random.below(3);
            writeln!(reads, "@r{number};size={size}\n{letters}\n+\n{}", "I".repeat(letters.len())).unwrap();
        }
        let folder = folder(&[("r.fq", reads.as_bytes()), ("r.fq.gz", &gzip(reads.as_bytes()))]);
        for by in [&["--both-strands"][..], &["--by", "prefix"]] {
            let mut all = Vec::new();
            for (threads, file) in [("1", "r.fq"), ("2", "r.fq"), ("3", "r.fq.gz"), ("8", "r.fq")] {
                let table = ["--table", "t.tsv", "--size-in", "--size-out", "-t", threads, file];
                all.push((folder.done(&[&["dedup"], by, &table].concat()), folder.read("t.tsv")));
            }
            assert!(all.windows(2).all(|two| two[0] == two[1]), "{by:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_closed_pipe_is_success() {
        let mut reads = String::new();
        let mut random = Random::new(9);
        (0..20_000)
            .for_each(|number| writeln!(reads, ">r{number}\n{}", random.text(Alphabet::Dna, 100)).unwrap());
        let folder = folder(&[("r.fa", reads.as_bytes())]);
        let line = "(\"$SWALIGN\" dedup r.fa; echo $? >&2) | head -n 1";
        let outcome = finish(&mut shell(folder.path(), line));
        assert!(outcome.stderr.ends_with("0\n") && !outcome.stderr.contains("error"), "{}", outcome.stderr);
        assert_eq!(outcome.stdout.iter().filter(|&&byte| byte == b'\n').count(), 1);
    }
}

mod refusals {
    use super::*;

    #[test]
    fn damaged_inputs() {
        let packed = gzip(&FASTQ.repeat(3000));
        let half = [("r.fq.gz", &packed[..packed.len() / 2])];
        refused(&half, &["-o", "out.fq", "--table", "t.tsv", "r.fq.gz"], 1, &["r.fq.gz", "gzip -t"]);
        let cut = [("r.fq", &FASTQ[..FASTQ.len() - 8])];
        refused(&cut, &["-o", "out.fq", "r.fq"], 1, &["r.fq, record 3 'c', line"]);
        let says = ["bad.fa, record 2 'y', line 3: '-' at position 3", "gap characters"];
        refused(&[("bad.fa", b">x\nACGT\n>y\nAC-T\n")], &["-o", "out.fa", "bad.fa"], 1, &says);
        let protein: &[u8] = b">x\nACGT\n>y\nMKVL\n";
        let says = ["bad.fa, record 2 'y', line 3: 'L' at position 4", "(--alphabet protein)"];
        refused(&[("bad.fa", protein)], &["--alphabet", "dna", "bad.fa"], 1, &says);
        refused(&[("bad.fa", b">\nACGT\n")], &["bad.fa"], 1, &["bad.fa, record 1, line 1: ", "name"]);
        refused(&[], &["none.fa"], 1, &["none.fa"]);
    }

    #[test]
    fn abundances_that_are_none() {
        let zero = [("r.fa", &b">a\nAC\n>b;size=0\nAC\n"[..])];
        let says = ["r.fa, record 2 'b;size=0', line 3: ", "abundance", "0", ";size="];
        refused(&zero, &["--size-in", "r.fa"], 1, &says);
        assert_eq!(printed(&zero, &["r.fa"]), ">a\nAC\n");
        let large = b">a;size=18446744073709551615\nAC\n>b\nAC\n";
        refused(&[("r.fa", large)], &["--size-in", "r.fa"], 2, &["--size-in", "2^64 - 1", ";size="]);
    }

    #[test]
    fn wrong_usage() {
        let files = [("r.fa", FASTA)];
        refused(&files, &[], 2, &["READS", "Usage: swalign dedup [OPTIONS] READS..."]);
        refused(&files, &["-o", "r.fa", "r.fa"], 2, &["--output", "overwrite", "r.fa"]);
        refused(&files, &["--table", "r.fa", "r.fa"], 2, &["--table", "overwrite", "r.fa"]);
        refused(&files, &["--table", "x", "-o", "x", "r.fa"], 2, &["--table", "overwrite x"]);
        refused(&files, &["--table", "-", "r.fa"], 2, &["--table", "stdout"]);
        refused(&files, &["-", "-"], 2, &["stdin"]);
        refused(&files, &["--by", "prefix", "--both-strands", "r.fa"], 2, &["leave", "--both-strands"]);
        let protein = ["--alphabet", "protein", "--both-strands", "r.fa"];
        refused(&files, &protein, 2, &["proteins", "--both-strands"]);
        refused(&files, &["--min-size", "0", "r.fa"], 2, &["--min-size", "1 or more"]);
        refused(&files, &["--by", "suffix", "r.fa"], 2, &["--by"]);
        refused(&files, &["-o", "no/out.fa", "r.fa"], 1, &["no/out.fa", "directory"]);
    }

    #[test]
    fn a_file_that_was_there_stays() {
        let folder = Folder::new();
        folder.write("out.fa", "old");
        folder.write("r.fa", ">x\nACGT\n>y\nAC-T\n");
        folder.run(&["dedup", "-o", "out.fa", "r.fa"]).ended(1);
        assert_eq!(folder.names(), ["out.fa", "r.fa"]);
        assert_eq!(folder.text("out.fa"), "old");
    }
}
