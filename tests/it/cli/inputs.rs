//! Files that other programs accept: without records, with empty lines, gaps, dots and repeated names.

use super::*;

const READ: &str = "@r1\nTTAGCCATGGATCCATTGCACGGTTAACC\n+\nIIIIIIIIIIIIIIIIIIIIIIIIIIIII\n";

/// Number of SAM records of `query` against [`REFERENCE`], and stderr.
#[track_caller]
fn aligned(query: &[u8]) -> (usize, String) {
    let outcome = accepted(&[("q.fq", query), ("ref.fa", REFERENCE)], &["q.fq", "ref.fa"]);
    let stderr = outcome.stderr.clone();
    (outcome.sam().records.len(), stderr)
}

#[test]
fn inputs_without_records_give_empty_outputs() {
    let packed = gzip(b"");
    let files: [(&str, &[u8]); 6] = [
        ("e.fq", b""),
        ("blank.fq", b"\n\n"),
        ("e.fq.gz", &packed),
        ("e.fa", b""),
        ("ref.fa", REFERENCE),
        ("q.fa", QUERY),
    ];
    let folder = folder(&files);
    let cpu = |args: &str| {
        let args: Vec<&str> = args.split(' ').collect();
        let outcome = folder.run(&args);
        outcome.ended(0);
        assert!(
            outcome.stderr.contains("warning: e") || outcome.stderr.contains("warning: blank"),
            "{args:?}: {}",
            outcome.stderr
        );
        assert!(outcome.stderr.contains("no records"), "{args:?}: {}", outcome.stderr);
        String::from_utf8_lossy(&outcome.stdout).into_owned()
    };
    for query in ["e.fq", "blank.fq", "e.fq.gz", "e.fq e.fq", "--interleaved e.fq", "--part 1/2 e.fq"] {
        let sam = cpu(&format!("--device cpu {query} ref.fa"));
        assert!(
            sam.contains("@SQ\tSN:chr2\tLN:42") && sam.lines().all(|line| line.starts_with('@')),
            "{query}: {sam}"
        );
    }
    for format in ["tab", "json", "text", "paf"] {
        assert_eq!(cpu(&format!("--device cpu --format {format} e.fq ref.fa")), "", "{format}");
    }
    cpu("--device cpu --sort -o sorted.bam e.fq ref.fa");
    assert!(folder.read("sorted.bam").starts_with(b"\x1f\x8b"));
    assert!(folder.names().iter().any(|name| name.starts_with("sorted.bam.")), "an index");
    cpu("--device cpu --report page.html --stats stats.json -o out.sam e.fq ref.fa");
    assert!(folder.text("stats.json").contains('{'));
    for both in ["e.fq e.fa", "--format tab e.fq e.fa", "--mode global --format json e.fq e.fa"] {
        let text = cpu(&format!("pairs --device cpu {both}"));
        assert!(text.lines().all(|line| line.starts_with('@')), "{text}");
    }
    assert_eq!(cpu("all --device cpu e.fa"), "");
    cpu("all --device cpu --format matrix -o m.npy e.fa");
    cpu("all --device cpu --format matrix e.fa");
    assert_eq!(cpu("dedup e.fq"), "");
    assert_eq!(cpu("dedup e.fq q.fa").lines().count(), 4);
    assert_eq!(cpu("search ACGT e.fa").lines().count(), 1);
    assert_eq!(cpu("search --format sam ACGT e.fa").lines().filter(|line| !line.starts_with('@')).count(), 0);
    assert_eq!(cpu("search -f e.fa ref.fa").lines().count(), 1);
    // Without references, all queries are unaligned.
    let sam = cpu("--device cpu q.fa e.fa");
    let records = sam.lines().filter(|line| !line.starts_with('@'));
    assert!(records.map(|line| line.split('\t').nth(1).unwrap()).eq(["4", "4"]), "{sam}");
    assert_eq!(cpu("--device cpu --format tab q.fa e.fa"), "");
    cpu("index -o e.swdb e.fa");
    folder.run(&["--device", "cpu", "q.fa", "e.swdb"]).ended(0);
    // -q silences the warning. A file that is not FASTA is still an error.
    assert_eq!(folder.run(&["-q", "--device", "cpu", "e.fq", "ref.fa"]).stderr, "");
    refused_inputs(b"hello\n", REFERENCE, &["q.fa", "FASTA", "FASTQ"]);
}

#[test]
fn empty_lines_at_the_end_of_fastq() {
    for end in ["", "\n", "\n\n", "\r\n\r\n", " \n", "\n\n\n\n\n\n\n\n"] {
        let (records, stderr) = aligned(format!("{READ}{end}").as_bytes());
        assert_eq!(records, 1, "{end:?}");
        assert!(!stderr.contains("warning"), "{stderr}");
        let (records, _) = aligned(format!("{end}{READ}").as_bytes());
        assert_eq!(records, 1, "{end:?} before");
    }
}

#[test]
fn dots_in_fastq_are_n_with_a_warning() {
    let with_dot = READ.replacen("CATGG", "CA.GG", 1);
    let outcome = accepted(&[("q.fq", with_dot.as_bytes()), ("ref.fa", REFERENCE)], &["q.fq", "ref.fa"]);
    assert!(outcome.stderr.contains("warning: q.fq, record 1 'r1', line 1: '.'"), "{}", outcome.stderr);
    assert_eq!(outcome.sam().records[0].fields[9], "TTAGCCANGGATCCATTGCACGGTTAACC");
}

#[test]
fn gaps_of_aligned_fasta() {
    let gapped = b">chr1\nACGTTGCATT-AGCCATGGATCCATTGCACGGTTAACC--GTATGCAAGGCTTA\n>chr2\n..TTGACCAGTACCAGGATACAGATTTACCGGATACCAGATCCA\n";
    refused_inputs(
        QUERY,
        gapped,
        &["ref.fa, record 1 'chr1'", "'-' at position 11", "DNA alphabet", "--remove-gaps"],
    );
    let files: [(&str, &[u8]); 3] = [("q.fa", QUERY), ("gapped.fa", gapped), ("ref.fa", REFERENCE)];
    let folder = folder(&files);
    let records = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).unwrap();
        text.lines().filter(|line| !line.starts_with("@PG")).map(str::to_string).collect::<Vec<_>>()
    };
    let cpu = ["--device", "cpu", "--min-score", "10"];
    let whole = records(folder.done(&[&cpu[..], &["q.fa", "ref.fa"]].concat()));
    let removed = records(folder.done(&[&cpu[..], &["--remove-gaps", "q.fa", "gapped.fa"]].concat()));
    assert_eq!(whole, removed);
    // With --ref-part, the references are read twice.
    for part in ["1/2", "2/2"] {
        let args = [&cpu[..], &["--remove-gaps", "--ref-part", part, "-o", "x.paf", "q.fa", "gapped.fa"]];
        folder.run(&args.concat()).ended(0);
    }
    for (args, code) in [(&["pairs", "--device", "cpu"][..], 0), (&["all", "--device", "cpu"], 2)] {
        folder.run(&[args, &["--remove-gaps", "q.fa", "gapped.fa"]].concat()).ended(code);
    }
    let found = |file| folder.done(&["search", "--remove-gaps", "GCATTAGCC", file]);
    assert_eq!(found("gapped.fa"), found("ref.fa"));
    let sam = folder.done(&["search", "--remove-gaps", "--format", "sam", "GCATTAGCC", "gapped.fa"]);
    assert!(String::from_utf8(sam).unwrap().contains("SN:chr1\tLN:51"));
    assert_eq!(
        folder.done(&["dedup", "--remove-gaps", "gapped.fa"]).iter().filter(|&&c| c == b'-').count(),
        0
    );
    folder.run(&["index", "--remove-gaps", "-o", "g.swdb", "gapped.fa"]).ended(0);
    assert_eq!(records(folder.done(&[&cpu[..], &["q.fa", "g.swdb"]].concat())), whole);
}

#[test]
fn names_of_targets_may_repeat_without_a_header() {
    let twice = b">w\nACGTTGCATTAGG\n>w\nACGTTGCATTACG\n";
    let queries = b">a\nACGTTGCATTAGG\n>b\nACGTTGCATTACG\n";
    let folder = folder(&[("t.fa", twice), ("q.fa", queries)]);
    for format in ["tab", "paf", "json", "text"] {
        let args = ["pairs", "--device", "cpu", "-q", "--mode", "global", "--format", format, "q.fa", "t.fa"];
        let text = String::from_utf8(folder.done(&args)).unwrap();
        assert!(text.matches('w').count() >= 2, "{format}: {text}");
        let args = ["--device", "cpu", "-q", "--min-score", "8", "--format", format, "q.fa", "t.fa"];
        folder.run(&args).ended(0);
    }
    for of in [["--part"], ["--ref-part"]] {
        let args = |part| {
            [
                &["--device", "cpu", "--min-score", "8", "--format", "tab"][..],
                &of,
                &[part, "-o"],
                &[if part == "1/2" { "p1" } else { "p2" }, "q.fa", "t.fa"],
            ]
            .concat()
        };
        folder.run(&args("1/2")).ended(0);
        folder.run(&args("2/2")).ended(0);
        folder.run(&["merge", "joined", "p1", "p2"]).ended(0);
        let whole = folder.done(&["--device", "cpu", "--min-score", "8", "--format", "tab", "q.fa", "t.fa"]);
        assert_eq!(folder.read("joined"), whole, "{of:?}");
    }
    assert!(!folder.done(&["all", "--device", "cpu", "-q", "--mode", "global", "t.fa"]).is_empty());
    folder.run(&["all", "--device", "cpu", "--format", "matrix", "t.fa"]).ended(0);
    folder.run(&["index", "-o", "t.swdb", "t.fa"]).ended(0);
    folder.run(&["--device", "cpu", "--format", "paf", "q.fa", "t.swdb"]).ended(0);
    for reference in ["t.fa", "t.swdb"] {
        folder.run(&["--device", "cpu", "q.fa", reference]).said(1, &["w"]);
    }
    folder
        .run(&["pairs", "--device", "cpu", "q.fa", "t.fa"])
        .said(1, &["record 2 'w', line 3", "record 1", "--format"]);
}

#[test]
fn targets_without_residues_are_left_out() {
    let targets = b">a\nACGTTGCATTAGG\n>b\n\n>c\nACGTTGCATTACG\n";
    let queries = b">x\nACGTTGCATTAGG\n>y\nACGTTGCATTACG\n>z\nACGTTGCATTACG\n";
    let folder = folder(&[("t.fa", targets), ("q.fa", queries)]);
    let warning = "warning: t.fa, record 2 'b', line 3: ";
    let run = |args: &[&str]| {
        let outcome = folder.run(args);
        outcome.said(0, &[warning]);
        String::from_utf8(outcome.stdout).unwrap()
    };
    let pairs = ["pairs", "--device", "cpu", "--mode", "global"];
    let columns = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split('\t').take(2).collect::<Vec<_>>().join(" ")).collect()
    };
    assert_eq!(columns(&run(&[&pairs[..], &["--format", "tab", "q.fa", "t.fa"]].concat())), ["x a", "z c"]);
    let sam = run(&[&pairs[..], &["q.fa", "t.fa"]].concat());
    assert!(!sam.contains("SN:b"), "{sam}");
    let records: Vec<Vec<&str>> =
        sam.lines().filter(|line| !line.starts_with('@')).map(|line| line.split('\t').collect()).collect();
    assert_eq!(
        records.iter().map(|record| (record[0], record[1], record[2])).collect::<Vec<_>>(),
        [("x", "0", "a"), ("y", "4", "*"), ("z", "0", "c")]
    );
    // As queries, empty records are unaligned. Parts have the same pairs.
    for part in 1..=3 {
        let share = format!("{part}/3");
        run(&[&pairs[..], &["--part", &share, "-o", &format!("p{part}.sam"), "q.fa", "t.fa"]].concat());
    }
    folder.run(&["merge", "joined.sam", "p3.sam", "p1.sam", "p2.sam"]).ended(0);
    assert_eq!(folder.text("joined.sam"), sam);
    assert!(!run(&["--device", "cpu", "--min-score", "8", "q.fa", "t.fa"]).contains("SN:b"));
    let list = run(&["all", "--device", "cpu", "--mode", "global", "--columns", "qseqid,sseqid", "t.fa"]);
    assert_eq!(columns(&list), ["a c"]);
    for part in 1..=2 {
        let share = format!("{part}/2");
        let args =
            ["all", "--device", "cpu", "--mode", "global", "--columns", "qseqid,sseqid", "--part", &share];
        run(&[&args[..], &["-o", &format!("a{part}.tsv"), "t.fa"]].concat());
    }
    folder.run(&["merge", "all.tsv", "a1.tsv", "a2.tsv"]).ended(0);
    assert_eq!(folder.text("all.tsv"), list);
    let matrix = run(&["all", "--device", "cpu", "--format", "matrix", "t.fa"]);
    assert_eq!(matrix.lines().count(), 3, "{matrix}");
    run(&["index", "-o", "t.swdb", "t.fa"]);
    let database = folder.done(&["--device", "cpu", "--min-score", "8", "--format", "paf", "q.fa", "t.swdb"]);
    assert_eq!(
        database,
        run(&["--device", "cpu", "--min-score", "8", "--format", "paf", "q.fa", "t.fa"]).as_bytes()
    );
    // The error message counts all records, including empty ones.
    folder.write("two.fa", b">x\nACGT\n>y\nACGT\n");
    folder
        .run(&[&pairs[..], &["two.fa", "t.fa"]].concat())
        .said(1, &["two.fa: 2 queries", "3 targets in t.fa"]);
}

#[test]
fn bgzf_without_its_end_marker_is_a_warning() {
    let whole = swalign::output::writer::bgzf::pack(READ.repeat(3000).as_bytes()).unwrap();
    let with_end = [&whole[..], &swalign::output::writer::bgzf::end_of_file().unwrap()].concat();
    let folder = folder(&[("cut.fq.gz", &whole), ("whole.fq.gz", &with_end), ("ref.fa", REFERENCE)]);
    for (file, is_cut) in [("cut.fq.gz", true), ("whole.fq.gz", false)] {
        for part in ["1/1", "2/2"] {
            let outcome = folder.run(&["--device", "cpu", "--part", part, file, "ref.fa"]);
            outcome.ended(0);
            assert_eq!(
                outcome.stderr.contains("the bgzf end marker is missing"),
                is_cut,
                "{file} {part}: {}",
                outcome.stderr
            );
        }
        let outcome = folder.run(&["--device", "cpu", file, "ref.fa"]);
        assert_eq!(outcome.stderr.contains("the bgzf end marker is missing"), is_cut, "{}", outcome.stderr);
    }
}

#[test]
fn alignments_are_no_sequences() {
    let folder = folder(&[("q.fa", QUERY), ("ref.fa", REFERENCE)]);
    folder.run(&["--device", "cpu", "-q", "-o", "x.bam", "q.fa", "ref.fa"]).ended(0);
    folder.run(&["--device", "cpu", "-q", "-o", "x.sam", "q.fa", "ref.fa"]).ended(0);
    for args in [
        &["--device", "cpu", "x.sam", "ref.fa"][..],
        &["--device", "cpu", "--part", "1/2", "x.sam", "ref.fa"],
        &["--device", "cpu", "q.fa", "x.sam"],
        &["dedup", "x.sam"],
        &["search", "ACGT", "x.sam"],
    ] {
        folder.run(args).said(1, &["x.sam", "SAM", "samtools"]);
    }
    folder
        .run(&["--device", "cpu", "q.fa", "x.bam"])
        .said(2, &["x.bam", "reads", "swalign x.bam q.fa", "--reads-as-reference"]);
    let args = ["--device", "cpu", "--reads-as-reference", "q.fa", "x.bam"];
    folder.run(&args).said(1, &["x.bam", "BAM", "samtools fasta"]);
    folder.run(&["index", "x.bam"]).said(2, &["x.bam", "reads", "--reads-as-reference"]);
    folder.run(&["index", "--reads-as-reference", "x.bam"]).said(1, &["x.bam", "BAM", "samtools fasta"]);
    for part in ["1/2", "2/2"] {
        let args = ["--device", "cpu", "--part", part, "x.bam", "ref.fa"];
        folder.run(&args).said(1, &["x.bam", "in parts", "samtools fastq"]);
    }
}

/// A BAM file of aligned reads gives the original reads: those of the reverse strand are reverse-complemented, each
/// read occurs once, and the tags are those of the FASTQ comments.
#[test]
fn reads_of_bam_are_those_of_fastq() {
    let mut random = Random::new(41);
    let reference: String = (0..600).map(|_| char::from(b"ACGT"[random.below(4)])).collect();
    let turned = |bases: &str| {
        String::from_utf8(swalign::terms::alphabet::reverse_complement(bases.as_bytes())).unwrap()
    };
    let mut reads = String::new();
    for at in 0..60 {
        let begin = random.below(500);
        let bases = reference[begin..begin + 40 + random.below(60)].to_string();
        let bases = if random.below(2) == 0 { turned(&bases) } else { bases };
        let qualities: String = (0..bases.len()).map(|_| char::from(b'!' + random.below(60) as u8)).collect();
        writeln!(
            reads,
            "@read{at}\tBC:Z:AC GT{at}\tML:B:C,{at},7\tqs:f:{}.5\n{bases}\n+\n{qualities}",
            at % 7
        )
        .unwrap();
    }
    // A chimera has a supplementary record, and a repeated reference causes secondary records.
    writeln!(reads, "@chimera\n{}{}\n+\n{}", &reference[..80], turned(&reference[300..400]), "5".repeat(180))
        .unwrap();
    let reference = format!(">a\n{reference}\n>b\n{reference}\n");
    let folder = folder(&[("reads.fq", reads.as_bytes()), ("ref.fa", reference.as_bytes())]);
    let common = ["--device", "cpu", "-q", "--copy-comments", "--preset", "long", "--max-hits", "2"];
    let run = |more: &[&str]| folder.run(&[&common[..], more].concat());
    run(&["-o", "reads.bam", "reads.fq", "ref.fa"]).ended(0);
    let expected = run(&["reads.fq", "ref.fa"]).without_pg();
    let records = expected.lines().filter(|line| !line.starts_with('@')).count();
    assert!(records > 2 * 61, "secondary and supplementary records: {records}");
    assert_eq!(run(&["reads.bam", "ref.fa"]).without_pg(), expected);
    let bam = folder.read("reads.bam");
    folder.write("cut.bam", &bam[..bam.len() / 2]);
    run(&["cut.bam", "ref.fa"]).said(1, &["cut.bam"]);
}

/// If records keep the read groups of a BAM file, the header has to declare the groups.
#[test]
fn read_groups_of_bam_are_kept_with_the_tags() {
    let folder = folder(&[("q.fa", QUERY), ("ref.fa", REFERENCE)]);
    let group = "@RG\tID:g\tSM:s\tDS:one two";
    let run = |args: &[&str]| folder.run(&[&["--device", "cpu", "-q"], args].concat());
    run(&["-R", &group.replace('\t', "\\t"), "-o", "reads.bam", "q.fa", "ref.fa"]).ended(0);
    let groups = |args: &[&str]| -> (Vec<String>, Vec<Option<String>>) {
        let outcome = run(&[args, &["reads.bam", "ref.fa"]].concat());
        outcome.ended(0);
        let sam = sam::Sam::parse(std::str::from_utf8(&outcome.stdout).unwrap());
        let lines = sam.header.into_iter().filter(|line| line.starts_with("@RG")).collect();
        (lines, sam.records.iter().map(|record| record.tag("RG").map(str::to_string)).collect())
    };
    let all = |id: Option<&str>| vec![id.map(str::to_string); 2];
    assert_eq!(groups(&["--copy-comments"]), (vec![group.to_string()], all(Some("g"))));
    assert_eq!(groups(&[]), (vec![], all(None)));
    let other = "@RG\tID:h";
    let given = ["--copy-comments", "-R", "@RG\\tID:h"];
    assert_eq!(groups(&given), (vec![other.to_string()], all(Some("h"))));
    // The same from a pipe, and with BAM output.
    let line = "cat reads.bam | \"$SWALIGN\" --device cpu -q --copy-comments -o again.bam - ref.fa";
    finish(&mut shell(folder.path(), line)).ended(0);
    run(&["--copy-comments", "-o", "whole.sam", "again.bam", "ref.fa"]).ended(0);
    assert!(folder.text("whole.sam").contains(&format!("\n{group}\n")), "{}", folder.text("whole.sam"));
    for part in ["1/2", "2/2"] {
        let name = format!("{}.sam", &part[..1]);
        run(&["--copy-comments", "--ref-part", part, "-o", &name, "again.bam", "ref.fa"]).ended(0);
    }
    folder.run(&["merge", "joined.sam", "1.sam", "2.sam"]).ended(0);
    assert_eq!(folder.text("joined.sam"), folder.text("whole.sam"));
}

#[test]
fn mates_by_their_suffixes() {
    let folder = folder(&[("ref.fa", REFERENCE)]);
    let second = "TAAGCCTTGCATACGGTTAACCGTG";
    let fastq = |name: &str, letters: &str| format!("@{name}\n{letters}\n+\n{}\n", "I".repeat(letters.len()));
    let first = &READ.lines().nth(1).unwrap();
    let cpu = ["--device", "cpu", "-q", "--insert", "50,10", "--min-score", "10"];
    let names = |sam: Vec<u8>| -> Vec<String> {
        let text = String::from_utf8(sam).unwrap();
        let records = text.lines().filter(|line| !line.starts_with('@'));
        records.map(|line| line.split('\t').next().unwrap().to_string()).collect()
    };
    for (one, other, name) in [
        (".1", ".2", "SRR0.7"),
        ("_1", "_2", "SRR0.7"),
        (":1", ":2", "SRR0.7"),
        ("/1", "/3", "SRR0.7"),
        ("/1", "/2", "SRR0.7"),
        ("", "", "SRR0.7"),
        (".1", ".1", "SRR0.7.1"),
    ] {
        let [one, other] = [one, other].map(|suffix| format!("SRR0.7{suffix}"));
        folder.write("1.fq", fastq(&one, first));
        folder.write("2.fq", fastq(&other, second));
        let both = folder.done(&[&cpu[..], &["1.fq", "2.fq", "ref.fa"]].concat());
        assert_eq!(names(both), [name, name], "{one} {other}");
        folder.write("both.fq", fastq(&one, first) + &fastq(&other, second));
        let both = folder.done(&[&cpu[..], &["--interleaved", "both.fq", "ref.fa"]].concat());
        assert_eq!(names(both), [name, name], "{one} {other}");
    }
    for (one, other) in [("/F", "/R"), (".1", "_2"), (".1", ".3"), ("1", "2")] {
        folder.write("1.fq", fastq(&format!("r{one}"), first));
        folder.write("2.fq", fastq(&format!("r{other}"), second));
        folder
            .run(&["1.fq", "2.fq", "ref.fa"])
            .said(1, &["1.fq, record 1", "2.fq, record 1", ".1", "_2", ":1"]);
    }
}

/// Number of SAM columns before the tags.
const FIXED: usize = 11;

#[test]
fn tags_of_comments_are_copied() {
    let letters =
        |read: usize| QUERY.split(|&c| c == b'\n').nth(2 * read + 1).map(String::from_utf8_lossy).unwrap();
    let read = |name: &str, comment: &str, read: usize| {
        format!("@{name}{comment}\n{}\n+\n{}\n", letters(read), "I".repeat(letters(read).len()))
    };
    let tags = "BC:Z:AC GT\tMM:Z:C+m,3;\tML:B:C,200,7\tx1:f:-1.5\tx2:i:-7\tx3:A:q\tx4:H:1AF0\tx5:B:f,1.5,2";
    let queries = [
        read("a", &format!(" 1:N:0:ACGT\t{tags}\tAS:i:3\tNM:i:9\tRG:Z:own"), 0),
        read("b", "\tBC:Z:T\tof a read", 1),
        read("c", " none", 0),
        "@d\tBC:Z:d\nAAAAAAAA\n+\nIIIIIIII\n".to_string(),
    ]
    .concat();
    let folder = folder(&[("q.fq", queries.as_bytes()), ("ref.fa", REFERENCE)]);
    let cpu = ["--device", "cpu", "--min-score", "10", "--copy-comments"];
    let run = |args: &[&str]| {
        let outcome = folder.run(&[&cpu[..], args, &["q.fq", "ref.fa"]].concat());
        outcome.said(0, &["warning: q.fq, record 1 'a', line 1: ", "comment", "SAM tag", "of 3"]);
        String::from_utf8(outcome.stdout).unwrap()
    };
    let copied = |sam: &str| -> Vec<String> {
        let own = ["NM:", "MD:", "AS:", "XS:"];
        let line = |line: &str| {
            let tags = line.split('\t').skip(FIXED).filter(|tag| !own.iter().any(|own| tag.starts_with(own)));
            tags.collect::<Vec<_>>().join("\t")
        };
        sam.lines().filter(|line| !line.starts_with('@')).map(line).collect()
    };
    let whole = run(&[]);
    assert_eq!(copied(&whole), [&format!("RG:Z:own\t{tags}"), "BC:Z:T", "", "BC:Z:d"]);
    let group = run(&["-R", "@RG\\tID:g"]);
    assert_eq!(copied(&group), [&format!("RG:Z:g\t{tags}"), "RG:Z:g\tBC:Z:T", "RG:Z:g", "RG:Z:g\tBC:Z:d"]);
    let paf = run(&["--format", "paf"]);
    let ends: Vec<bool> = paf.lines().zip(copied(&whole)).map(|(line, tags)| line.ends_with(&tags)).collect();
    assert_eq!(ends, [true; 4], "{paf}");
    // Joined parts, also of the references, give the same output as the whole run.
    for of in ["--part", "--ref-part"] {
        for format in ["sam", "bam", "paf"] {
            run(&["-o", &format!("whole.{format}")]);
            let names = ["1/2", "2/2"].map(|part| (part, format!("p{}.{format}", &part[..1])));
            for (part, name) in &names {
                let outcome = folder.run(&[&cpu[..], &[of, part, "-o", name, "q.fq", "ref.fa"]].concat());
                outcome.ended(0);
            }
            let out = format!("joined.{format}");
            folder.run(&["merge", &out, &names[1].1, &names[0].1]).ended(0);
            assert!(folder.read(&out) == folder.read(&format!("whole.{format}")), "{of} {format}");
        }
    }
    folder
        .run(&["--copy-comments", "--format", "tab", "q.fq", "ref.fa"])
        .said(2, &["--copy-comments", "SAM"]);
    for format in [&["--format", "tab"][..], &["--format=json"], &["-o", "x.txt"]] {
        let words = [&["--cs"][..], format, &["q.fq", "ref.fa"]].concat();
        folder.run(&words).said(2, &["--cs", "--format sam"]);
    }
    folder.run(&["all", "--cs=long", "ref.fa"]).said(2, &["--cs", "--format sam"]);
    folder.run(&["--cs=full", "q.fq", "ref.fa"]).said(2, &["--cs"]);
}

#[test]
fn tags_of_mates_are_copied() {
    let (first, second) = ("TTAGCCATGGATCCATTGCACGGTTAACC", "TAAGCCTTGCATACGGTTAACCGTG");
    let read = |name: &str, letters: &str| format!("@{name}\n{letters}\n+\n{}\n", "I".repeat(letters.len()));
    let ones = read("r/1\tRG:Z:x\tBC:Z:A\tb1:B:s,-3,4", first) + &read("s/1\tBC:Z:C", "AAAAAAAAAA");
    let others = read("r/2\tBC:Z:G\tf1:f:0.25", second) + &read("s/2\tBC:Z:T", second);
    let folder = folder(&[("1.fq", ones.as_bytes()), ("2.fq", others.as_bytes()), ("ref.fa", REFERENCE)]);
    for format in ["sam", "bam", "paf"] {
        for group in [&[][..], &["-R", "@RG\\tID:g"]] {
            let args = [
                &["--device", "cpu", "-q", "--insert", "50,10", "--min-score", "10", "--copy-comments"],
                group,
            ];
            let run = |more: &[&str]| {
                folder.run(&[&args.concat()[..], more, &["1.fq", "2.fq", "ref.fa"]].concat()).ended(0)
            };
            let name = |name: &str| format!("{name}.{format}");
            run(&["-o", &name("whole")]);
            if format == "sam" {
                let text = folder.text(&name("whole"));
                let codes = text
                    .lines()
                    .filter(|line| !line.starts_with('@'))
                    .map(|line| line.split('\t').find(|tag| tag.starts_with("BC:")).unwrap().to_string());
                assert_eq!(codes.collect::<Vec<_>>(), ["BC:Z:A", "BC:Z:G", "BC:Z:C", "BC:Z:T"], "{text}");
            }
            run(&["--ref-part", "1/2", "-o", &name("p1")]);
            run(&["--ref-part", "2/2", "-o", &name("p2")]);
            folder.run(&["merge", &name("joined"), &name("p1"), &name("p2")]).ended(0);
            assert!(folder.read(&name("joined")) == folder.read(&name("whole")), "{format} {group:?}");
        }
    }
}
