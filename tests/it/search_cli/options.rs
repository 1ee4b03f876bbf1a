//! Tests options: which hits are found, and how they are written.

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
    // Also in text order on the reverse strand.
    assert_eq!(hits(&["-k1", "CCATGCTAA", "t.fa"]), ["chr1 8 18 pattern - 1 4=1D5= TTAGCCATGG"]);
    assert_eq!(hits(&["-k1", "CCATCGCTAA", "t.fa"]), ["chr1 8 18 pattern - 1 5=1X4= TTAGCCATGG"]);
}

#[test]
fn without_gaps_and_with_limits() {
    for (pattern, kind) in [
        ("TTAGCGATGG", "--max-substitutions"),
        ("TTAGCCCATGG", "--max-insertions"),
        ("TTAGCATGG", "--max-deletions"),
    ] {
        assert_eq!(hits(&["-k1", pattern, "t.fa"]).len(), 1);
        assert_eq!(hits(&["-k1", pattern, "t.fa", kind, "0"]), [""; 0]);
        for other in ["--max-substitutions", "--max-insertions", "--max-deletions"]
            .into_iter()
            .filter(|other| *other != kind)
        {
            assert_eq!(hits(&["-k1", pattern, "t.fa", other, "0"]).len(), 1, "{pattern} {other}");
        }
        let replaced = usize::from(kind == "--max-substitutions");
        assert_eq!(hits(&["-k1", pattern, "t.fa", "--no-indels"]).len(), replaced);
        assert_eq!(
            hits(&["-k1", pattern, "t.fa", "--max-insertions", "0", "--max-deletions", "0"]).len(),
            replaced
        );
    }
    for (name, other) in [
        ("--max-insertions", "--max-ins"),
        ("--max-deletions", "--max-del"),
        ("--max-substitutions", "--max-sub"),
        ("--max-gaps", "--max-gap"),
    ] {
        let found = |name: &str| hits(&["-k2", "--all", "TTAGCGATGG", "t.fa", name, "1"]);
        assert_eq!(found(name), found(other), "{other}");
    }
    // A substitution is also an insertion and a deletion.
    let [hit] = &hits(&["-k2", "TTAGCGATGG", "t.fa", "--max-substitutions", "0"])[..] else {
        panic!("one hit")
    };
    assert!(hit.starts_with("chr1 8 18 pattern + 2 "), "{hit}");
    assert_eq!(hits(&["-k2", "--no-indels", "--max-substitutions", "1", "TTTGCGATGG", "t.fa"]), [""; 0]);
}

/// Other programs accept lists and tables of patterns. The error says how to convert them.
#[test]
fn a_list_of_patterns_is_refused_with_the_remedy() {
    let text: &[u8] = b">t\nACGTACGTTTGACC\n";
    for list in [&b"GTACG\nTTGAC\n"[..], b"name\tsequence\np1\tGTACG\n"] {
        let says = ["p.txt: ", "FASTA", "FASTQ", "-f", "awk", "LIST", "TABLE"];
        refused(&[("t.fa", text), ("p.txt", list)], &["-f", "p.txt", "t.fa"], 1, &says);
    }
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
fn local_minima_and_every_end() {
    let all = [
        "chr1 8 17 pattern + 1 8=1I1= TTAGCCATG",
        "chr1 8 18 pattern + 0 10= TTAGCCATGG",
        "chr1 8 19 pattern + 1 10=1D TTAGCCATGGA",
    ];
    assert_eq!(hits(&["-k1", "--all", "TTAGCCATGG", "t.fa"]), all);
    assert_eq!(hits(&["-k1", "TTAGCCATGG", "t.fa"]), all[1..2]);
    // Adjacent ends with the same edits are one hit, the leftmost, unless they have no edits.
    assert_eq!(hits(&["CCC", "t.fa"]).len(), 6);
    assert_eq!(hits(&["CCC", "t.fa", "--all"]).len(), 6);
    let replaced = hits(&["-k1", "--no-indels", "CGC", "t.fa"]);
    let in_none: Vec<&String> = replaced.iter().filter(|hit| hit.starts_with("none")).collect();
    assert_eq!(in_none, ["none 0 3 pattern + 1 1=1X1= CCC"]);
}

/// Exact occurrences in tandem repeats are hits with any number of edits, as are the amplicons between them.
#[test]
fn more_edits_lose_no_hit() {
    let text = format!(">m\nGGT{}TGG\n>tel\n{}\n", "AC".repeat(20), "TTAGGG".repeat(30));
    let primers = ">a_F\nACACACAC\n>a_R\nCCAGTGTG\n";
    let folder = folder(&[("t.fa", text.as_bytes()), ("p.fa", primers.as_bytes())]);
    let rows = |args: &[&str]| -> Vec<String> {
        let outcome = folder.run(&[&["search", "-q", "t.fa"], args].concat());
        outcome.text().lines().skip(1).map(str::to_string).collect()
    };
    let pattern = |pattern: &str, k: &str| {
        let outcome = folder.run(&["search", "-q", "--revcomp", "no", "-k", k, pattern, "t.fa"]);
        outcome.text().lines().skip(1).map(str::to_string).collect::<Vec<_>>()
    };
    for (letters, exact) in [("ACACACAC", 17), ("TTAGGGTTAGGGTTAGGG", 28)] {
        let mut before = pattern(letters, "0");
        assert_eq!(before.len(), exact);
        for k in ["1", "2", "3", "4"] {
            let found = pattern(letters, k);
            assert!(before.iter().all(|hit| found.contains(hit)), "{letters} -k {k}");
            before = found;
        }
    }
    let amplicons = |k: &str| rows(&["-f", "p.fa", "--amplicons", "-k", k]);
    let mut before = amplicons("0");
    assert!(before.len() > 5, "{before:?}");
    for k in ["1", "2", "3"] {
        let found = amplicons(k);
        assert!(before.iter().all(|amplicon| found.contains(amplicon)), "-k {k}");
        before = found;
    }
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
    assert!(best.len() < hits(&two).len() && best.contains(&"chr1 16 22 pattern + 0 6= GGATCC".to_string()));
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
    assert!(sam.header[3].starts_with("@PG\tID:swalign\tPN:swalign\tVN:") && sam.header[3].contains("CL:"));
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

/// SAM has no sequences of length 0: the header omits these texts, and they have no records.
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

/// @PG has the command line as it was given, without `--summary`.
#[test]
fn program_lines_of_sam() {
    let folder = folder(&[("t\u{e9}.fa", TEXT), ("p\u{e9}.fa", PATTERNS)]);
    let args = ["search", "--format", "sam", "TTAGCCATGG", "t\u{e9}.fa"];
    let sam = folder.done(&args);
    let line = "\tCL:swalign search TTAGCCATGG t\u{e9}.fa\n";
    assert!(String::from_utf8_lossy(&sam).contains(line), "{}", String::from_utf8_lossy(&sam));
    assert!(folder.done(&[&args[..], &["--summary", "s.tsv"]].concat()) == sam);
    let aligned = folder.done(&["--device", "cpu", "p\u{e9}.fa", "p\u{e9}.fa"]);
    let line = "\tCL:swalign p\u{e9}.fa p\u{e9}.fa\n";
    assert!(String::from_utf8_lossy(&aligned).contains(line), "{}", String::from_utf8_lossy(&aligned));
}
