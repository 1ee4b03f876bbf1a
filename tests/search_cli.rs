//! `swalign search` end to end: its options, what it refuses and how, and that its answer does not depend
//! on how it computes.

mod common;

use common::command::{command, finish, program};
use common::folder::folder;
use common::{data, memory, random::Random};
use std::fs;
use std::io::{Read, Write};
use std::process::Stdio;
use swalign::alphabet::{Alphabet, reverse_complement};
use swalign::engine::cpu::simd::InstructionSet;

const TEXT: &[u8] = b">chr1 the first\nACGTTGCATTAGCCATGGATCCATTGCACGGTTAACCGTATGCAAGG\n>chr2\nTTGACCAGTACCNGGATACAGATTTACC\n>none\nCCCCCCCC\n>empty\n";
const PATTERNS: &[u8] = b">p1\nTTAGCCATGG\n>p2 turned\nGGTAAATCTG\n>p3\nTACCNGGA\n";
const HEADER: &str = "text\tstart\tend\tpattern\tstrand\tedits\tcigar\tmatch\n";

/// stdout of `swalign search ARGS` beside t.fa and p.fa.
#[track_caller]
fn found(args: &[&str]) -> String {
    let folder = folder(&[("t.fa", TEXT), ("p.fa", PATTERNS)]);
    folder.run(&[&["search"], args].concat()).text().to_string()
}

/// The lines of hits in columns, with spaces for tabs.
#[track_caller]
fn hits(args: &[&str]) -> Vec<String> {
    let text = found(args);
    let lines = text.strip_prefix(HEADER).expect("a header");
    lines.lines().map(|line| line.replace('\t', " ")).collect()
}

/// `swalign search ARGS` must fail with `code`, say `says`, and leave nothing behind.
#[track_caller]
fn refused(files: &[(&str, &[u8])], args: &[&str], code: i32, says: &[&str]) {
    let folder = folder(files);
    let outcome = folder.run(&[&["search", "-o", "out"], args].concat());
    outcome.said(code, says);
    assert!(outcome.stdout.is_empty());
    assert_eq!(folder.names().len(), files.len(), "{args:?} left something behind");
}

mod options {
    use super::*;

    #[test]
    fn one_pattern() {
        assert_eq!(hits(&["TTAGCCATGG", "t.fa"]), ["chr1 8 18 pattern + 0 10= TTAGCCATGG"]);
        assert_eq!(hits(&["ccatggctaa", "t.fa"]), ["chr1 8 18 pattern - 0 10= TTAGCCATGG"]);
        assert_eq!(hits(&["UUAGCCAUGG", "t.fa"]), ["chr1 8 18 pattern + 0 10= TTAGCCATGG"]);
        // A palindrome is found on both strands.
        let both = ["chr1 16 22 pattern + 0 6= GGATCC", "chr1 16 22 pattern - 0 6= GGATCC"];
        assert_eq!(hits(&["GGATCC", "t.fa"]), both);
        assert_eq!(hits(&["GGATCC", "t.fa", "--revcomp", "no"]), both[..1]);
        assert_eq!(hits(&["GGATCC", "t.fa", "--revcomp", "yes"]), both);
        assert_eq!(hits(&["AAAAAAAAA", "t.fa"]), [""; 0]);
    }

    #[test]
    fn edits_and_their_cigars() {
        assert_eq!(hits(&["-k1", "TTAGCGATGG", "t.fa"]), ["chr1 8 18 pattern + 1 5=1X4= TTAGCCATGG"]);
        assert_eq!(hits(&["-k1", "TTAGCCCATGG", "t.fa"]), ["chr1 8 18 pattern + 1 4=1I6= TTAGCCATGG"]);
        assert_eq!(hits(&["-k1", "TTAGCATGG", "t.fa"]), ["chr1 8 18 pattern + 1 4=1D5= TTAGCCATGG"]);
        // In the text's order on the reverse strand too.
        assert_eq!(hits(&["-k1", "CCATGCTAA", "t.fa"]), ["chr1 8 18 pattern - 1 4=1D5= TTAGCCATGG"]);
        assert_eq!(hits(&["-k1", "CCATCGCTAA", "t.fa"]), ["chr1 8 18 pattern - 1 5=1X4= TTAGCCATGG"]);
    }

    #[test]
    fn without_gaps_and_with_limits() {
        for (pattern, kind) in
            [("TTAGCGATGG", "--max-sub"), ("TTAGCCCATGG", "--max-ins"), ("TTAGCATGG", "--max-del")]
        {
            assert_eq!(hits(&["-k1", pattern, "t.fa"]).len(), 1);
            assert_eq!(hits(&["-k1", pattern, "t.fa", kind, "0"]), [""; 0]);
            for other in ["--max-sub", "--max-ins", "--max-del"].into_iter().filter(|other| *other != kind) {
                assert_eq!(hits(&["-k1", pattern, "t.fa", other, "0"]).len(), 1, "{pattern} {other}");
            }
            let replaced = usize::from(kind == "--max-sub");
            assert_eq!(hits(&["-k1", pattern, "t.fa", "--no-indels"]).len(), replaced);
            assert_eq!(hits(&["-k1", pattern, "t.fa", "--max-ins", "0", "--max-del", "0"]).len(), replaced);
        }
        // A replaced letter is an insertion and a deletion too.
        let [hit] = &hits(&["-k2", "TTAGCGATGG", "t.fa", "--max-sub", "0"])[..] else { panic!("one hit") };
        assert!(hit.starts_with("chr1 8 18 pattern + 2 "), "{hit}");
        assert_eq!(hits(&["-k2", "--no-indels", "--max-sub", "1", "TTTGCGATGG", "t.fa"]), [""; 0]);
    }

    #[test]
    fn patterns_of_a_file() {
        let all = [
            "chr1 8 18 p1 + 0 10= TTAGCCATGG",
            "chr2 8 16 p3 + 0 8= TACCNGGA",
            "chr2 18 28 p2 - 0 10= CAGATTTACC",
        ];
        assert_eq!(hits(&["-f", "p.fa", "t.fa"]), all);
        assert_eq!(hits(&["-f", "p.fa", "t.fa", "t.fa"]).len(), 6);
        let folder = folder(&[("t.fa", TEXT)]);
        let mut from_stdin = command(folder.path());
        from_stdin.args(["search", "-f", "-", "t.fa"]).write_stdin(PATTERNS);
        assert_eq!(finish(&mut from_stdin).text(), found(&["-f", "p.fa", "t.fa"]));
    }

    #[test]
    fn clusters_and_every_end() {
        let all = [
            "chr1 8 17 pattern + 1 8=1I1= TTAGCCATG",
            "chr1 8 18 pattern + 0 10= TTAGCCATGG",
            "chr1 8 19 pattern + 1 10=1D TTAGCCATGGA",
        ];
        assert_eq!(hits(&["-k1", "--all", "TTAGCCATGG", "t.fa"]), all);
        assert_eq!(hits(&["-k1", "TTAGCCATGG", "t.fa"]), all[1..2]);
        // Of equal ends side by side, the leftmost.
        assert_eq!(hits(&["CCC", "t.fa"]), ["none 0 3 pattern + 0 3= CCC"]);
        assert_eq!(hits(&["CCC", "t.fa", "--all"]).len(), 6);
    }

    #[test]
    fn best_first_count_and_invert() {
        let two = ["-k3", "GGATCC", "t.fa"];
        let counted = found(&["-k3", "GGATCC", "t.fa", "-c"]);
        let count = |name: &str| hits(&two).iter().filter(|hit| hit.starts_with(name)).count();
        let expected: String = ["chr1", "chr2", "none", "empty"]
            .iter()
            .map(|name| format!("{name}\t{}\n", count(&format!("{name} "))))
            .collect();
        assert_eq!(counted, format!("text\thits\n{expected}"));
        assert_eq!(found(&["-k3", "GGATCC", "t.fa", "--format", "count"]), counted);
        let best = hits(&["-k3", "--best", "GGATCC", "t.fa"]);
        assert!(
            best.len() < hits(&two).len() && best.contains(&"chr1 16 22 pattern + 0 6= GGATCC".to_string())
        );
        for name in ["chr1 ", "chr2 "] {
            let edits = |hit: &&String| hit.split(' ').nth(5).unwrap().parse::<u32>().unwrap();
            let of = |hits: &[String]| -> Vec<String> {
                hits.iter().filter(|hit| hit.starts_with(name)).cloned().collect()
            };
            let all = of(&hits(&two));
            let least = all.iter().map(|hit| edits(&hit)).min().unwrap();
            let expected: Vec<String> = all.iter().filter(|hit| edits(hit) == least).cloned().collect();
            assert_eq!(of(&best), expected);
            assert_eq!(of(&hits(&["-k3", "--first", "GGATCC", "t.fa"])), all[..1]);
            assert_eq!(of(&hits(&["-k3", "--first", "--best", "GGATCC", "t.fa"])), expected[..1]);
        }
        assert_eq!(found(&["-v", "GGATCC", "t.fa"]), "text\nchr2\nnone\nempty\n");
        assert_eq!(found(&["-v", "N", "t.fa"]), "text\nempty\n");
        assert_eq!(
            found(&["-v", "GGATCC", "t.fa", "--format", "fasta"]),
            ">chr2\nTTGACCAGTACCNGGATACAGATTTACC\n>none\nCCCCCCCC\n>empty\n\n"
        );
    }

    #[test]
    fn formats() {
        let of = |format: &str| found(&["-k1", "-f", "p.fa", "t.fa", "--format", format, "--best"]);
        assert_eq!(of("tab"), found(&["-k1", "-f", "p.fa", "t.fa", "--best"]));
        assert_eq!(of("bed"), "chr1\t8\t18\tp1\t0\t+\nchr2\t8\t16\tp3\t0\t+\nchr2\t18\t28\tp2\t0\t-\n");
        assert_eq!(
            of("fasta"),
            ">chr1:8-18(+) pattern=p1 edits=0 cigar=10=\nTTAGCCATGG\n>chr2:8-16(+) pattern=p3 edits=0 \
             cigar=8=\nTACCNGGA\n>chr2:18-28(-) pattern=p2 edits=0 cigar=10=\nGGTAAATCTG\n"
        );
    }

    #[test]
    fn sam() {
        let folder = folder(&[
            ("t.fa", b">a x\nACGTTGCATTAGCCATGGATCC\n>b\nTTTTAGCATGGTTT\n"),
            ("p.fa", b">p\nUUAGCCATGG\n>q\nCCATGGC\n"),
        ]);
        let args = ["search", "-k1", "-f", "p.fa", "--format", "sam", "t.fa"];
        let outcome = folder.run(&args);
        let sam = outcome.sam();
        assert_eq!(sam.header[..3], ["@HD\tVN:1.6\tSO:coordinate", "@SQ\tSN:a\tLN:22", "@SQ\tSN:b\tLN:14"]);
        assert!(
            sam.header[3].starts_with("@PG\tID:swalign\tPN:swalign\tVN:") && sam.header[3].contains("CL:")
        );
        let records: Vec<String> = sam.records.iter().map(|record| record.fields.join(" ")).collect();
        assert_eq!(
            records,
            [
                "p 0 a 9 255 10= * 0 0 TTAGCCATGG * NM:i:0",
                "q 16 a 12 255 7= * 0 0 GCCATGG * NM:i:0",
                "q 256 a 13 255 6=1I * 0 0 CCATGGC * NM:i:1",
                "p 256 b 3 255 4=1I5= * 0 0 TTAGCCATGG * NM:i:1",
                "q 272 b 6 255 1=1I5= * 0 0 GCCATGG * NM:i:1",
            ]
        );
    }

    /// SAM has no sequence of length 0, and no record is of such a text.
    #[test]
    fn sam_of_empty_texts() {
        let folder = folder(&[("t.fa", b">a\n>b\nACGT\n>c\n"), ("e.fa", b">a\n")]);
        let sam = folder.run(&["search", "ACGT", "t.fa", "--format", "sam"]).sam();
        assert_eq!(sam.header[..2], ["@HD\tVN:1.6\tSO:coordinate", "@SQ\tSN:b\tLN:4"]);
        assert_eq!((sam.header.len(), sam.records.len()), (3, 2));
        let sam = folder.run(&["search", "ACGT", "e.fa", "--format", "sam"]).sam();
        assert_eq!((sam.header.len(), sam.records.len()), (2, 0));
    }

    #[test]
    fn names() {
        let folder = folder(&[
            ("t.fa", b">chr1 the\tfirst \nAAACGCGAAA\n>chr2\nCGCG\n"),
            ("p.fa", b">p a pattern\nCGCG\n"),
        ]);
        let search = |args: &[&str]| {
            let base = ["search", "-f", "p.fa", "t.fa", "--revcomp", "no", "--format", "bed", "--name"];
            folder.run(&[&base, args].concat()).text().to_string()
        };
        assert_eq!(search(&["id"]), "chr1\t3\t7\tp\t0\t+\nchr2\t0\t4\tp\t0\t+\n");
        let full = search(&["full"]).replace("first \t", "first\t");
        assert_eq!(full, "chr1 the first\t3\t7\tp a pattern\t0\t+\nchr2\t0\t4\tp a pattern\t0\t+\n");
    }

    #[test]
    fn letters_that_are_no_base() {
        // N in the text matches only N.
        assert_eq!(hits(&["ACCNGG", "t.fa"]), ["chr2 9 15 pattern + 0 6= ACCNGG"]);
        assert_eq!(hits(&["ACCVGG", "t.fa"]), [""; 0]);
        assert_eq!(hits(&["RCCRTGG", "t.fa"]), ["chr1 11 18 pattern + 0 7= GCCATGG"]);
    }
}

mod inputs {
    use super::*;

    #[test]
    fn stdin_is_a_dash() {
        let folder = folder(&[]);
        let mut command = command(folder.path());
        command.args(["search", "TTAGCCATGG", "-"]).write_stdin(TEXT);
        assert_eq!(finish(&mut command).text(), found(&["TTAGCCATGG", "t.fa"]));
    }

    #[test]
    fn gzip_and_fastq() {
        let reads = data("illumina_chr22.fq.gz");
        let folder = folder(&[]);
        let packed = folder.run(&["search", "-k1", "GATTACA", reads.to_str().unwrap()]).text().to_string();
        let mut reader = needletail::parse_fastx_file(&reads).unwrap();
        let (mut plain, mut texts) = (Vec::new(), 0);
        while let Some(record) = reader.next() {
            record.unwrap().write(&mut plain, None).unwrap();
            texts += 1;
        }
        let mut command = command(folder.path());
        command.args(["search", "-k1", "GATTACA", "-"]).write_stdin(plain);
        assert_eq!(finish(&mut command).text(), packed);
        assert!(texts == 300 && packed.lines().count() > 10, "{packed}");
    }

    #[test]
    fn an_output_file_appears_whole() {
        let folder = folder(&[("t.fa", TEXT)]);
        let outcome = folder.run(&["search", "TTAGCCATGG", "t.fa", "-o", "out", "-q"]);
        assert_eq!((outcome.text(), outcome.stderr.as_str()), ("", ""));
        let written = folder.text("out");
        assert_eq!(written, found(&["TTAGCCATGG", "t.fa"]));
        assert_eq!(folder.names().len(), 2);
    }

    #[test]
    fn a_closed_pipe_is_success() {
        let folder = folder(&[("t.fa", &[b">t\n".as_slice(), &[b'A'; 300_000], b"\n"].concat())]);
        let mut child = std::process::Command::new(program())
            .args(["search", "--all", "AAAA", "t.fa"])
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

mod errors {
    use super::*;

    const FILES: &[(&str, &[u8])] = &[("t.fa", TEXT), ("p.fa", PATTERNS)];

    #[test]
    fn usage() {
        refused(FILES, &[], 2, &["PATTERN"]);
        refused(FILES, &["ACGT"], 2, &["no TEXT was given", "stdin"]);
        refused(FILES, &["-f", "p.fa"], 2, &["PATTERN"]);
        refused(FILES, &["", "t.fa"], 2, &["PATTERN has no letters"]);
        refused(FILES, &["p.fa", "t.fa"], 2, &["'p'", "IUPAC", "-f FILE"]);
        refused(FILES, &["ACXGT", "t.fa"], 2, &["'X'", "IUPAC"]);
        refused(FILES, &["-k", "-1", "ACGT", "t.fa"], 2, &["--max-edits", "0 or more"]);
        refused(FILES, &["-k", "1.5", "ACGT", "t.fa"], 2, &["--max-edits", "0 or more"]);
        refused(FILES, &["--revcomp", "maybe", "ACGT", "t.fa"], 2, &["--revcomp"]);
        refused(FILES, &["--format", "xml", "ACGT", "t.fa"], 2, &["--format", "bed"]);
        refused(FILES, &["-c", "--format", "bed", "ACGT", "t.fa"], 2, &["--count"]);
        refused(FILES, &["-v", "--format", "bed", "ACGT", "t.fa"], 2, &["--invert-match", "fasta"]);
        for flag in ["--all", "--best", "--first", "-c"] {
            refused(FILES, &["-v", flag, "ACGT", "t.fa"], 2, &["--invert-match"]);
        }
        refused(FILES, &["--no-indels", "--max-ins", "1", "ACGT", "t.fa"], 2, &["--max-ins"]);
        refused(FILES, &["-k", "33", "--max-ins", "1", "ACGT", "t.fa"], 2, &["at most 32"]);
        refused(FILES, &["--format", "sam", "ACGT", "-"], 2, &["--format sam", "stdin"]);
        refused(FILES, &["--name", "short", "ACGT", "t.fa"], 2, &["--name"]);
        refused(FILES, &["--name", "full", "--format", "sam", "ACGT", "t.fa"], 2, &["--name full"]);
        refused(FILES, &["--device", "tpu", "ACGT", "t.fa"], 2, &["--device", "cpu"]);
        refused(FILES, &["--device", "gpu:tpu", "ACGT", "t.fa"], 1, &["'tpu'", "swalign devices"]);
        refused(FILES, &["--device", "cpu:vax", "ACGT", "t.fa"], 1, &["'vax'", "it has"]);
        refused(FILES, &["-t", "0", "ACGT", "t.fa"], 2, &["--threads"]);
        refused(FILES, &["-f", "-", "-"], 2, &["stdin"]);
        refused(FILES, &["ACGT", "-", "-"], 2, &["stdin"]);
        let files = folder(FILES);
        for args in [["search", "-o", "t.fa", "ACGT", "t.fa"], ["search", "-fp.fa", "t.fa", "-o", "p.fa"]] {
            files.run(&args).said(2, &["--output would overwrite"]);
        }
    }

    #[test]
    fn files() {
        refused(FILES, &["ACGT", "nosuch.fa"], 1, &["nosuch.fa", "no such file"]);
        refused(FILES, &["ACGT", "t.fa", "nosuch.fa"], 1, &["nosuch.fa", "no such file"]);
        refused(FILES, &["-f", "nosuch.fa", "t.fa"], 1, &["nosuch.fa", "no such file"]);
        let texts = |bytes: &[u8], says: &[&str]| refused(&[("x.fa", bytes)], &["ACGT", "x.fa"], 1, says);
        texts(b"", &["x.fa", "empty"]);
        texts(b"hello\n", &["x.fa", "FASTA"]);
        texts(
            b">a\nACGT\n>b\nACGT\nAC!T\n",
            &["x.fa, record 2 'b', line 3", "'!' at position 7", "replace it"],
        );
        texts(b">\nACGT\n", &["x.fa", "record 1", "no name"]);
        texts(b"@a\nACGT\n+\nIII\n", &["x.fa", "record 1", "differ"]);
        let patterns = |bytes: &[u8], says: &[&str]| {
            refused(&[("x.fa", bytes), ("t.fa", TEXT)], &["-fx.fa", "t.fa"], 1, says)
        };
        patterns(b"", &["x.fa", "empty"]);
        patterns(b">a\nACGT\n>b\n>c\nA\n", &["x.fa, record 2 'b', line 3", "no letters"]);
        patterns(b">a\nMKVLE\n", &["x.fa, record 1 'a'", "'L'"]);
        let packed = fs::read(data("illumina_chr22.fq.gz")).unwrap();
        refused(
            &[("x.gz", &packed[..packed.len() / 2])],
            &["ACGT", "x.gz"],
            1,
            &["x.gz", "gzip", "cut short"],
        );
    }

    #[test]
    fn names_that_sam_can_not_hold() {
        let texts = |bytes: &[u8], says: &[&str]| {
            refused(&[("x.fa", bytes)], &["ACGT", "x.fa", "--format", "sam"], 1, says);
        };
        texts(b">a\nACGT\n>a 2\nACGT\n", &["x.fa", "'a'", "twice"]);
        texts(b">a,b\nACGT\n", &["x.fa, record 1", "a,b"]);
        let patterns = b">a@b\nACGT\n";
        refused(
            &[("x.fa", patterns), ("t.fa", TEXT)],
            &["-fx.fa", "t.fa", "--format", "sam"],
            1,
            &["x.fa", "a@b"],
        );
    }

    #[test]
    fn outputs() {
        let folder = folder(FILES);
        folder.run(&["search", "ACGT", "t.fa", "-o", "no/out"]).said(1, &["create the directory"]);
    }
}

/// What is unusual, and legal.
mod odd {
    use super::*;
    use std::time::{Duration, Instant};

    #[track_caller]
    fn searched(files: &[(&str, &[u8])], args: &[&str]) -> (String, String) {
        let folder = folder(files);
        let outcome = folder.run(&[&["search"], args].concat());
        (outcome.text().to_string(), outcome.stderr)
    }

    #[test]
    fn patterns_that_occur_everywhere_are_named_once() {
        let files: &[(&str, &[u8])] = &[("t.fa", TEXT), ("p.fa", PATTERNS)];
        let says = |args: &[&str]| searched(files, args).1;
        let said = says(&["-k", "10", "TTAGCCATGG", "t.fa"]);
        let warning =
            "warning: -k 10 is not below the length of pattern 'pattern' (10): it occurs at every place";
        assert_eq!(said.lines().filter(|line| line.contains(warning)).count(), 1, "{said}");
        assert!(!says(&["-k", "9", "TTAGCCATGG", "t.fa"]).contains("warning"));
        assert!(says(&["-k", "8", "-f", "p.fa", "t.fa"]).contains("'p3' (8): it occurs at every place\n"));
        assert!(says(&["-k", "4294967295", "-f", "p.fa", "t.fa"]).contains("every place; so do 2 other"));
        assert!(!says(&["-q", "-k", "10", "TTAGCCATGG", "t.fa"]).contains("warning"));
        // Limits of single kinds may leave no place.
        let limited = ["-k", "10", "--max-ins", "0", "--max-sub", "1", "TTAGCCATGG", "t.fa"];
        assert!(!says(&limited).contains("warning"));
    }

    /// As many edits as fit in a number are those of the pattern's length.
    #[test]
    fn huge_numbers_of_edits() {
        let files: &[(&str, &[u8])] = &[("t.fa", TEXT), ("p.fa", PATTERNS)];
        for args in [&["--all"][..], &[], &["--best"], &["--no-indels", "--all"], &["--first"]] {
            let search = |k: &str| searched(files, &[&["-k", k, "-f", "p.fa", "t.fa"], args].concat()).0;
            assert_eq!(search("4294967295"), search("10"), "{args:?}");
        }
    }

    #[test]
    fn texts_of_one_letter_and_patterns_of_any() {
        let files: &[(&str, &[u8])] = &[("t.fa", b">a\nA\n>n\nN\n>c\nC\n")];
        let hits = |args: &[&str]| searched(files, args).0.lines().count() - 1;
        assert_eq!(hits(&["A", "t.fa"]), 1);
        assert_eq!(hits(&["N", "t.fa"]), 6);
        assert_eq!(hits(&["NN", "t.fa"]), 0);
        assert_eq!(hits(&["-k1", "NN", "t.fa"]), 6);
        assert_eq!(hits(&["-k1", "--no-indels", "NN", "t.fa"]), 0);
        assert_eq!(hits(&["-k9", "ACGTACGT", "t.fa"]), 6);
    }

    /// A pattern that is the text, and one that is far too long for it, beside others.
    #[test]
    fn patterns_longer_than_texts() {
        let mut random = Random::new(51);
        let (text, long) = (random.text(Alphabet::Dna, 3000), random.text(Alphabet::Dna, 120_000));
        let short = &text[1000..1020];
        let texts = format!(">t\n{text}\n>u\n{}\n>v\n{short}\n", &text[500..1500]);
        let patterns = format!(">long\n{long}\n>whole\n{text}\n>short\n{short}\n");
        let others = format!(">whole\n{text}\n>short\n{short}\n");
        let files: &[(&str, &[u8])] =
            &[("t.fa", texts.as_bytes()), ("p.fa", patterns.as_bytes()), ("o.fa", others.as_bytes())];
        for args in [&["-k3"][..], &["-k3", "--no-indels", "--all"], &[], &["-k3", "--max-ins", "1"]] {
            let begun = Instant::now();
            let (all, _) = searched(files, &[&["-f", "p.fa", "t.fa"], args].concat());
            // Cell by cell it took a minute; this is far above what the machine needs for the others.
            assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
            assert!(all.contains("whole") && all.lines().count() >= 5, "{all}");
            assert_eq!(all, searched(files, &[&["-f", "o.fa", "t.fa"], args].concat()).0);
        }
    }
}

/// A pattern that occurs at every place of a long text is searched in little memory.
#[cfg(target_os = "linux")]
#[test]
fn memory_where_every_place_is_an_end() {
    let mut random = Random::new(53);
    let text = random.sequence(Alphabet::Dna, 300_000);
    let folder = folder(&[("t.fa", &[b">t\n".as_slice(), &text, b"\n"].concat())]);
    let peak = |args: &[&str]| {
        let mut command = std::process::Command::new(program());
        command.current_dir(folder.path()).args(["search", "--device", "cpu", "-o", "out"]);
        let (peak, output) = memory::peak_mib(command.args(args).arg("t.fa"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        peak
    };
    let pattern = ["-k", "0", "ACGTTGCATTAGCCATGGAT"];
    let little = peak(&pattern);
    for args in [&["-k", "20", "--all"][..], &["-k", "25", "--all", "--format", "sam"]] {
        let much = peak(&[args, &pattern[2..]].concat());
        // All ends of all strands at once, with their paths, are some 200 MiB.
        assert!(much < little + 100, "{args:?}: {much} MiB, and {little} without hits");
    }
}

/// A text with mutated copies of patterns on both strands, patterns as FASTA, and what all computations
/// agree on.
#[test]
fn the_same_bytes_whatever_computes() {
    let mut random = Random::new(3);
    let mut text = Vec::new();
    let mut patterns = Vec::new();
    for number in 0..30 {
        let len = 8 + random.below(40);
        let pattern = random.sequence(Alphabet::Dna, len);
        for _ in 0..4 {
            text.extend(random.sequence(Alphabet::Dna, 300));
            let copy = random.mutated(Alphabet::Dna, &pattern, 5);
            text.extend(if random.below(2) == 0 { copy } else { reverse_complement(&copy) });
        }
        write!(patterns, ">p{number}\n{}\n", String::from_utf8(pattern).unwrap()).unwrap();
    }
    let mut texts = [b">whole\n".as_slice(), &text, b"\n"].concat();
    for (number, part) in text.chunks(97).enumerate() {
        write!(texts, ">part{number}\n{}\n", String::from_utf8(part.to_vec()).unwrap()).unwrap();
    }
    let folder = folder(&[("t.fa", &texts), ("p.fa", &patterns)]);
    let search =
        |args: &[&str]| folder.run(&[&["search", "-f", "p.fa", "t.fa"], args].concat()).text().to_string();
    for args in [
        &["-k3"][..],
        &["-k2", "--all"],
        &["-k4", "--best"],
        &["-k3", "--no-indels"],
        &["-k3", "--max-ins", "1"],
    ] {
        let expected = search(&[args, &["--device", "plain"]].concat());
        assert!(expected.lines().count() > 100, "{args:?}");
        for set in InstructionSet::available() {
            let device = format!("cpu:{set}");
            assert!(search(&[args, &["--device", &device]].concat()) == expected, "{args:?} {set}");
        }
        for threads in ["1", "2", "5"] {
            assert!(search(&[args, &["-t", threads]].concat()) == expected, "{args:?} -t {threads}");
        }
    }
}
