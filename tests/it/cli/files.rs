//! Input files: errors in them, and variations that are accepted.

use super::*;

#[test]
fn the_baseline_of_these_tests_aligns() {
    let sam = baseline().sam();
    let found: Vec<(&str, u32, &str, u64, &str)> =
        sam.records.iter().map(|r| (r.name(), r.flag(), r.target(), r.position(), r.cigar())).collect();
    assert_eq!(found, [("r1", 0, "chr1", 9, "29M"), ("r2", 0, "chr2", 5, "24M")]);
}

#[test]
fn no_such_file() {
    refused(&[("q.fa", QUERY)], &["q.fa", "nosuch.fa"], 1, &["nosuch.fa"]);
    refused(&[("ref.fa", REFERENCE)], &["nosuch.fa", "ref.fa"], 1, &["nosuch.fa"]);
    refused(&[("ref.fa", REFERENCE)], &[".", "ref.fa"], 1, &["."]);
}

#[test]
fn neither_fasta_nor_fastq() {
    refused_inputs(b"hello world\nACGT\n", REFERENCE, &["q.fa", "FASTA"]);
    refused_inputs(QUERY, b"\x00\x01\x02\x03 binary\n", &["ref.fa", "FASTA"]);
}

/// An output that was begun before an error was found is removed.
#[test]
fn truncated_gzip() {
    let whole = fs::read(data("illumina_chr22.fq.gz")).unwrap();
    let half = &[&whole[..], &whole, &whole[..whole.len() / 2]].concat()[..];
    let args = ["--batch", "20", "q.fq.gz", "ref.fa"];
    let says = ["q.fq.gz", "gzip", "truncated"];
    refused(&[("q.fq.gz", half), ("ref.fa", REFERENCE)], &args, 1, &says);
    let folder = folder(&[("q.fq.gz", half), ("ref.fa", REFERENCE)]);
    let written = folder.run(&[&["--device", "cpu"][..], &args].concat());
    assert_eq!(written.code, Some(1));
    let lines = written.stdout.split(|byte| *byte == b'\n').count();
    assert!(lines > 200, "{lines}: the fault comes late");
    assert!(written.stdout.ends_with(b"\n"), "a record is cut");
    refused(
        &[("q.fa", QUERY), ("ref.fa.gz", &whole[..whole.len() / 2])],
        &["--reads-as-reference", "q.fa", "ref.fa.gz"],
        1,
        &["ref.fa.gz", "gzip"],
    );
}

/// A bgzf file ends with an empty block. Without that block, it may be truncated.
#[test]
fn bgzf_without_its_end() {
    // `>a` and a line of 60 bases, packed by Python's zlib.
    let block = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0F\0\x15\x8a1\r\x000\0\xc2\xfe\x89Z\xd2p`\0\x03\xf3ob\
                  p5\x94\xdew\x90\x13\x8b\x04\xab\xb0\xc98'\xf7\x035a\x1b[\xeb\\U\x90\xf3\x018\xf7\x80\xa7A\0\0\0";
    let end = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0\x1b\0\x03\0\0\0\0\0\0\0\0\0";
    let whole = &[&block[..], end].concat()[..];
    for (query, reference, cut) in
        [(whole, whole, None), (block, whole, Some("q.gz")), (whole, block, Some("ref.gz"))]
    {
        let outcome = accepted(&[("q.gz", query), ("ref.gz", reference)], &["q.gz", "ref.gz"]);
        let warnings: Vec<&str> = outcome.stderr.lines().filter(|line| line.contains("warning")).collect();
        assert_eq!(warnings.len(), usize::from(cut.is_some()), "{}", outcome.stderr);
        let said = |name: &str| warnings[0].contains(name) && warnings[0].contains("end marker");
        assert!(cut.is_none_or(said), "{}", outcome.stderr);
        assert_eq!(outcome.sam().records.len(), 1);
    }
}

#[test]
fn quality_of_another_length() {
    let query = b"@r1\nACGTACGT\n+\nIIIIIIII\n@r2\nACGTACGT\n+\nIIII\n";
    refused(&[("q.fq", query), ("ref.fa", REFERENCE)], &["q.fq", "ref.fa"], 1, &["q.fq", "r2", "line"]);
}

#[test]
fn truncated_fastq() {
    let query = b"@r1\nACGTACGT\n+\nIIIIIIII\n@r2\nACGTACGT\n";
    refused(&[("q.fq", query), ("ref.fa", REFERENCE)], &["q.fq", "ref.fa"], 1, &["q.fq"]);
}

#[test]
fn a_letter_of_proteins_names_the_flag() {
    let query = b">q\nACGTACGTACGTACGTACGE\n";
    refused_inputs(query, REFERENCE, &["q.fa, record 1 'q'", "with N", "(--alphabet protein)"]);
}

#[test]
fn reference_names() {
    refused_inputs(QUERY, b">a\nACGT\n>b\nACCC\n>a\nGGGG\n", &["ref.fa", "'a'", "record 3"]);
    refused_inputs(QUERY, b">a 1\nACGT\n>a 2\nGGGG\n", &["ref.fa", "'a'", "record 2"]);
    refused_inputs(QUERY, b">\nACGT\n", &["ref.fa", "name"]);
    refused_inputs(QUERY, b"> \nACGT\n", &["ref.fa", "name"]);
    refused_inputs(QUERY, b">a,b\nACGT\n", &["ref.fa, record 1 'a,b', line 1", "--rename-references", "PAF"]);
    refused_inputs(QUERY, b">*a\nACGT\n", &["ref.fa", "*a"]);
    let bam = ["--format", "bam", "q.fa", "ref.fa"];
    let files = [("q.fa", QUERY), ("ref.fa", &b">a\nACGT\n>b(c)\nACGT\n"[..])];
    refused(&files, &bam, 1, &["record 2 'b(c)', line 3", "'('", "--rename-references"]);
}

/// Names from databases that SAM forbids, and the names after --rename-references.
const ODD_REFERENCE: &[u8] = b">chr1;tax=d:Bacteria,p:Firmicutes\nACGTTGCATTAGCCATGGATCCATTGCACGGTTAACCGTATGCAAGGCTTA\n>*(2)\nTTGACCAGTACCAGGATACAGATTTACCGGATACCAGATCCA\n";
const RENAMED: [&str; 2] = ["chr1;tax=d:Bacteria_p:Firmicutes", "__2_"];

#[test]
fn paf_takes_any_name() {
    let long = "n".repeat(300);
    let query = format!(
        ">*\nTTAGCCATGGATCCATTGCACGGTTAACC\n>a@{long}\u{e9}\nCCAGTACCAGGATACAGATTTACC\n>@none\nAAAA\n"
    );
    let files = [("q.fa", query.as_bytes()), ("ref.fa", ODD_REFERENCE)];
    let paf =
        |args: &[&str]| accepted(&files, &[args, &["--format", "paf", "q.fa", "ref.fa"]].concat()).stdout;
    let text = String::from_utf8(paf(&[])).unwrap();
    let columns = |at: usize| text.lines().map(|line| line.split('\t').nth(at).unwrap()).collect::<Vec<_>>();
    assert_eq!(columns(0), ["*", &format!("a@{long}\u{e9}"), "@none"]);
    assert_eq!(columns(5), ["chr1;tax=d:Bacteria,p:Firmicutes", "*(2)", "*"]);
    assert!(paf(&["--rename-references"]) == text.as_bytes(), "nothing is renamed");
    refused(
        &[("q.fa", b">\nACGT\n"), ("ref.fa", REFERENCE)],
        &["--format", "paf", "q.fa", "ref.fa"],
        1,
        &["record 1, line 1", "no name"],
    );
    let twice = b">a\nACGT\n>a\nACGT\n";
    refused_inputs(QUERY, twice, &["record 2 'a'", "same name"]);
}

#[test]
fn references_renamed_for_sam() {
    let files = [("q.fa", QUERY), ("ref.fa", ODD_REFERENCE)];
    let sam = accepted(&files, &["--rename-references", "q.fa", "ref.fa"]).sam();
    let targets: Vec<&str> = sam.records.iter().map(|record| record.target()).collect();
    assert_eq!(targets, RENAMED);
    for (name, len) in RENAMED.iter().zip([51, 42]) {
        assert!(sam.header.contains(&format!("@SQ\tSN:{name}\tLN:{len}")), "{:?}", sam.header);
    }
    let expected = format!(
        "@CO\tswalign names: 2 of 2 references renamed, with _ for each character that SAM forbids: \
         chr1;tax=d:Bacteria,p:Firmicutes={} *(2)={}",
        RENAMED[0], RENAMED[1]
    );
    assert!(sam.header.contains(&expected), "{:?}", sam.header);
    // If no name has to change, the output is the same, and there is no message.
    let plain = [("q.fa", QUERY), ("ref.fa", REFERENCE)];
    let unchanged = accepted(&plain, &["--rename-references", "q.fa", "ref.fa"]);
    assert_eq!(unchanged.without_pg(), baseline().without_pg());
    let collision = b">a(b\nACGT\n>c\nACGT\n>a,b\nACGT\n";
    let args = ["--rename-references", "q.fa", "ref.fa"];
    let says = ["ref.fa, record 3 'a,b'", "record 1 'a(b'", "'a_b'"];
    refused(&[("q.fa", QUERY), ("ref.fa", collision)], &args, 1, &says);
}

/// Errors in the first query are reported before anything is written, even to stdout.
#[test]
fn nothing_is_written_before_the_first_query_is_sound() {
    let dna = b">q\nACGTACGTACGTACGTACGTACGT\n";
    for (query, reference, args, says) in [
        (&b">*\nACGT\n"[..], REFERENCE, &[][..], &["record 1 '*', line 1", "rename"][..]),
        (dna, PROTEINS, &[], &["query is DNA", "--alphabet protein"]),
        (PROTEINS, REFERENCE, &[], &["query is protein", "--alphabet protein"]),
        (b">q\nAC!T\n", REFERENCE, &[], &["'!' at position 3"]),
        (b">q@\nACGT\n", REFERENCE, &["--format", "bam"], &["'q@'", "'@'"]),
        (PROTEINS, PROTEINS, &["--format", "bam"], &["only nucleotides"]),
        (dna, b">a\nACGT\n>b{\nACGT\n", &[], &["'b{'", "'{'"]),
        (dna, REFERENCE, &["--matrix", "q.fa"], &["q.fa"]),
    ] {
        let folder = folder(&[("q.fa", query), ("ref.fa", reference)]);
        let outcome = folder.run(&[args, &["--device", "cpu", "q.fa", "ref.fa"]].concat());
        assert!(
            !matches!(outcome.code, Some(0)) && outcome.stdout.is_empty(),
            "{says:?}: {}",
            outcome.stderr
        );
        says.iter().for_each(|text| assert!(outcome.stderr.contains(text), "{text}: {}", outcome.stderr));
    }
}

/// A run without queries still writes its header.
#[test]
fn a_header_without_records() {
    let header = baseline().sam().header;
    let mut records = Vec::new();
    for number in 1..=5 {
        let args = ["--part", &format!("{number}/5"), "q.fa", "ref.fa"];
        let sam = accepted(&[("q.fa", QUERY), ("ref.fa", REFERENCE)], &args).sam();
        assert_eq!(sam.header, header, "{number}");
        records.push(sam.records.len());
    }
    assert!(records.contains(&0) && records.iter().sum::<usize>() == 2, "{records:?}");
}

#[test]
fn query_names() {
    refused_inputs(b">a@b\nACGT\n", REFERENCE, &["q.fa", "a@b"]);
    refused_inputs("\u{3e}caf\u{e9}\nACGT\n".as_bytes(), REFERENCE, &["q.fa", "record 1"]);
    let long = format!(">{}\nACGT\n", "n".repeat(300));
    refused_inputs(long.as_bytes(), REFERENCE, &["q.fa", "254"]);
}

#[test]
fn names_end_at_the_first_space() {
    let sam = baseline().sam();
    assert_eq!(sam.records[1].name(), "r2");
    assert!(sam.header.iter().any(|line| line.starts_with("@SQ\tSN:chr1\tLN:51")), "{:?}", sam.header);
}

#[test]
fn empty_sequences() {
    let query = b">r0\n>r1\nTTAGCCATGGATCCATTGCACGGTTAACC\n>r9\n";
    let outcome = accepted(&[("q.fa", query), ("ref.fa", REFERENCE)], &["q.fa", "ref.fa"]);
    for (number, name) in [(1, "r0"), (3, "r9")] {
        let warning = format!("warning: q.fa, record {number} '{name}': the query is empty");
        assert!(outcome.stderr.contains(&warning), "{}", outcome.stderr);
    }
    let sam = outcome.sam();
    assert_eq!(sam.records.iter().map(|r| r.name()).collect::<Vec<_>>(), ["r0", "r1", "r9"]);
    assert_eq!(sam.records[0].fields[1..11], ["4", "*", "0", "0", "*", "*", "0", "0", "*", "*"]);
}

#[test]
fn letters_outside_the_alphabet() {
    refused_inputs(b">r1\nACGT\n>r2\nACGTACGTACGTACGT!ACGT\n", REFERENCE, &["q.fa", "r2", "'!'"]);
    refused_inputs(QUERY, b">a\nACGTACGTACGTACGTACGTACGTAC\nGT-ACGT\n", &["ref.fa", "'a'", "'-'"]);
}

#[test]
fn protein_against_dna() {
    refused_inputs(PROTEINS, REFERENCE, &["q.fa", "p1", "DNA", "protein"]);
}

#[test]
fn one_standard_input() {
    refused(&[], &["-", "-"], 2, &["-"]);
    let folder = folder(&[("q.fa", QUERY), ("ref.fa", REFERENCE)]);
    let expected = baseline().without_pg();
    for (args, input) in [(["-", "ref.fa"], QUERY), (["q.fa", "-"], REFERENCE)] {
        let mut command = command(folder.path());
        command.args(["--device", "cpu", "--min-score", "10"]).args(args).write_stdin(input);
        assert_eq!(finish(&mut command).without_pg(), expected, "{args:?}");
    }
}

#[test]
fn an_error_in_stdin_names_it() {
    let folder = folder(&[("ref.fa", REFERENCE)]);
    let mut command = command(folder.path());
    command.args(["--device", "cpu", "-", "ref.fa"]).write_stdin("hello");
    let outcome = finish(&mut command);
    assert_eq!(outcome.code, Some(1));
    assert!(
        outcome.stderr.contains("stdin") || outcome.stderr.contains("standard input"),
        "{}",
        outcome.stderr
    );
}

/// Lower case, CRLF, RNA, wrapped lines and a missing last newline give the same SAM.
#[test]
fn ways_to_write_the_same() {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let sequences = |bytes: &[u8], change: &dyn Fn(&str) -> String| -> Vec<u8> {
        let line = |line: &str| {
            if line.starts_with('>') { format!("{line}\n") } else { format!("{}\n", change(line)) }
        };
        text(bytes).lines().map(line).collect::<String>().into_bytes()
    };
    let expected = baseline().without_pg();
    let check = |what: &str, query: &[u8], reference: &[u8]| {
        let outcome = accepted(&[("q.fa", query), ("ref.fa", reference)], &["q.fa", "ref.fa"]);
        assert_eq!(outcome.without_pg(), expected, "{what}");
    };
    let lower = |line: &str| line.to_lowercase();
    check("lower case", &sequences(QUERY, &lower), &sequences(REFERENCE, &lower));
    let crlf = |bytes: &[u8]| text(bytes).replace('\n', "\r\n").into_bytes();
    check("CRLF", &crlf(QUERY), &crlf(REFERENCE));
    let rna = |line: &str| line.replace('T', "U");
    check("RNA", &sequences(QUERY, &rna), REFERENCE);
    check("RNA twice", &sequences(QUERY, &rna), &sequences(REFERENCE, &rna));
    let wrapped = |line: &str| {
        line.as_bytes().chunks(7).map(|part| text(part) + "\n").collect::<String>().trim_end().to_string()
    };
    check("wrapped", &sequences(QUERY, &wrapped), &sequences(REFERENCE, &wrapped));
    let classic = |bytes: &[u8]| text(bytes).replace('\n', "\r").into_bytes();
    check("CR alone", &classic(QUERY), &classic(REFERENCE));
    let spaced = |line: &str| line.as_bytes().chunks(10).map(|part| text(part) + " ").collect::<String>();
    check("white space", &sequences(QUERY, &spaced), &sequences(REFERENCE, &spaced));
    let framed =
        |bytes: &[u8]| [b"\n \n", &text(bytes).replace('>', "> ").into_bytes()[..], b"\n\n"].concat();
    check("empty lines", &framed(QUERY), &framed(REFERENCE));
    let unfinished = |bytes: &[u8]| bytes[..bytes.len() - 1].to_vec();
    check("no last newline", &unfinished(QUERY), &unfinished(REFERENCE));
}

/// Gzipped reads give the same records as plain reads. Qualities are copied, and reversed if the read is.
#[test]
fn gzip_and_qualities() {
    let mut reader = needletail::parse_fastx_file(data("illumina_chr22.fq.gz")).unwrap();
    let mut plain = Vec::new();
    let mut qualities = BTreeMap::new();
    while let Some(record) = reader.next() {
        let record = record.unwrap();
        if qualities.len() < 40 {
            let quality = record.qual().unwrap().to_vec();
            record.write(&mut plain, None).unwrap();
            qualities
                .insert(String::from_utf8(record.id().to_vec()).unwrap(), (record.seq().to_vec(), quality));
        }
    }
    let reference = fs::read(data("chr22_12k.fa")).unwrap();
    let folder = folder(&[("q.fq", &plain), ("ref.fa", &reference)]);
    let sam = folder.run(&["--device", "cpu", "q.fq", "ref.fa"]).sam();
    assert_eq!(sam.records.len(), 40);
    let mut turned = 0;
    for record in sam.primary() {
        let (mut sequence, mut quality) = qualities[record.name()].clone();
        if record.flag() & 16 != 0 {
            (sequence, turned) = (reverse_complement(&sequence), turned + 1);
            quality.reverse();
        }
        assert_eq!(record.sequence().as_bytes(), sequence, "{}", record.name());
        assert_eq!(record.fields[10].as_bytes(), quality, "{}", record.name());
    }
    assert!(0 < turned && turned < 40, "both strands occur");
    let packed = run_here(&["--device", "cpu", "data/illumina_chr22.fq.gz", "data/chr22_12k.fa"]).sam();
    assert_eq!(packed.records.len(), 300);
    assert_eq!(packed.records[..40], sam.records);
}

/// A record in another format than the records before it.
#[test]
fn mixed_formats() {
    let fastq = b"@r3\nACGTACGT\n+\nIIIIIIII\n";
    let (first, second) = ([QUERY, fastq].concat(), [&fastq[..], b">r4\nACGT\nACGT\nACGT\n"].concat());
    let formats = ["FASTA", "FASTQ"];
    refused_inputs(&first, REFERENCE, &["q.fa, record 2 'r2', line 5", formats[0], formats[1]]);
    refused_inputs(&second, REFERENCE, &["q.fa, record 2, line 5", formats[0], formats[1]]);
    let reference = [REFERENCE, fastq].concat();
    refused_inputs(QUERY, &reference, &["ref.fa, record 2 'chr2', line 5", formats[0], formats[1]]);
    let folder = folder(&[("t.fa", &first)]);
    let outcome = folder.run(&["search", "--device", "cpu", "ACGTACGT", "t.fa"]);
    outcome.said(1, &["t.fa, record 2 'r2', line 5"]);
}

#[test]
fn carriage_returns() {
    let remedy = "CRLF";
    refused_inputs(b">r1\nACGT\nACGT\rAC\n", REFERENCE, &["q.fa, record 1 'r1', line 3", "CR", remedy]);
    refused_inputs(QUERY, b">a\r\nACGT\rAC\r\n", &["ref.fa, record 1 'a', line 2", "CR", remedy]);
    let fastq = b"@r1\nAC\n+\nII\n@r2\nAC\rGT\n+\nIIIII\n";
    refused_inputs(fastq, REFERENCE, &["q.fa, record 2 'r2', line 6", "CR", remedy]);
}

#[test]
fn other_encodings() {
    let text = String::from_utf8(QUERY.to_vec()).unwrap();
    let units = |of: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(of).collect::<Vec<u8>>();
    let (little, big) = (units(u16::to_le_bytes), units(u16::to_be_bytes));
    for query in [[b"\xff\xfe", &little[..]].concat(), [b"\xfe\xff", &big[..]].concat()] {
        refused_inputs(&query, REFERENCE, &["q.fa", "UTF-16", "iconv -f UTF-16 -t UTF-8"]);
        refused_inputs(QUERY, &gzip(&query), &["ref.fa", "UTF-16", "iconv"]);
    }
    refused_inputs(&little, REFERENCE, &["q.fa", "iconv -f UTF-16LE -t UTF-8"]);
    refused_inputs(&big, REFERENCE, &["q.fa", "iconv -f UTF-16BE -t UTF-8"]);
    let files: [(&str, &[u8]); 2] = [("q.fa", &little), ("ref.fa", REFERENCE)];
    refused(&files, &["--part", "1/3", "q.fa", "ref.fa"], 1, &["q.fa", "UTF-16"]);
}

/// The records of all parts, concatenated.
fn in_parts(query: &[u8], reference: &[u8]) -> (String, String) {
    let (mut sam, mut said) = (String::new(), String::new());
    for part in ["1/4", "2/4", "3/4", "4/4"] {
        let files = [("q.fa", query), ("ref.fa", reference)];
        let outcome = accepted(&files, &["--part", part, "q.fa", "ref.fa"]);
        sam += &sam::records(outcome.text());
        said += &outcome.stderr;
    }
    (sam, said)
}

#[test]
fn a_byte_order_mark_is_no_text() {
    let mark = |text: &[u8]| [b"\xef\xbb\xbf", text].concat();
    let (query, reference) = (mark(QUERY), mark(REFERENCE));
    let expected = baseline().without_pg();
    for (query, reference) in
        [(&query[..], &reference[..]), (&gzip(&query)[..], &gzip(&reference)[..]), (&query[..], REFERENCE)]
    {
        let outcome = accepted(&[("q.fa", query), ("ref.fa", reference)], &["q.fa", "ref.fa"]);
        assert_eq!(outcome.without_pg(), expected);
        assert_eq!(in_parts(query, reference).0, sam::records(&expected));
    }
    let folder = folder(&[("ref.fa", &reference)]);
    let mut command = command(folder.path());
    command.args(["--device", "cpu", "--min-score", "10", "-", "ref.fa"]).write_stdin(query);
    assert_eq!(finish(&mut command).without_pg(), expected);
}

/// Like in gzip, which was made for tapes: trailing zeros are padding, other trailing bytes cause a warning.
#[test]
fn gzip_with_something_behind_it() {
    let expected = baseline().without_pg();
    let records = sam::records(&expected);
    let packed = gzip(QUERY);
    let half = QUERY.iter().position(|&byte| byte == b'2').unwrap() - 2;
    let members = [gzip(&QUERY[..half]), gzip(&QUERY[half..])].concat();
    let blocks = bgzf(&[&QUERY[..half], &QUERY[half..]]);
    for packed in [packed, members, blocks] {
        for (behind, warned) in
            [(&b""[..], false), (&[0; 700][..], false), (&b"garbage"[..], true), (&b"\0\0garbage"[..], true)]
        {
            let query = [&packed[..], behind].concat();
            for (query, reference) in
                [(&query[..], REFERENCE), (QUERY, &[&gzip(REFERENCE)[..], behind].concat()[..])]
            {
                let outcome = accepted(&[("q.fa", query), ("ref.fa", reference)], &["q.fa", "ref.fa"]);
                assert_eq!(outcome.without_pg(), expected);
                assert_eq!(outcome.stderr.contains("ignored"), warned, "{}", outcome.stderr);
            }
            let (sam, said) = in_parts(&query, REFERENCE);
            assert_eq!(sam, records);
            assert_eq!(said.contains("ignored"), warned, "{said}");
            let folder = folder(&[("t.gz", &query)]);
            let args = ["search", "--device", "cpu", "CCATGGATCC", "t.gz"];
            let outcome = folder.run(&args);
            assert_eq!(
                (outcome.code, outcome.stderr.contains("ignored")),
                (Some(0), warned),
                "{}",
                outcome.stderr
            );
        }
        let lost = [&packed[..], b"garbage", &packed].concat();
        refused_inputs(&lost, REFERENCE, &["q.fa", "damaged", "gzip -t"]);
        refused_inputs(&packed[..packed.len() - 3], REFERENCE, &["q.fa", "truncated", "gzip -t"]);
    }
}

/// The texts as bgzf blocks, with the final empty block.
fn bgzf(texts: &[&[u8]]) -> Vec<u8> {
    let block = |text: &&[u8]| {
        let builder = flate2::GzBuilder::new().extra(&b"BC\x02\0\0\0"[..]);
        let mut encoder = builder.write(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        let mut block = encoder.finish().unwrap();
        let len = u16::try_from(block.len() - 1).unwrap();
        block[16..18].copy_from_slice(&len.to_le_bytes());
        block
    };
    texts.iter().chain([&&b""[..]]).flat_map(block).collect()
}

#[test]
fn a_query_without_a_name_of_its_own() {
    refused_inputs(b">r1\nACGT\n>*\nACGT\n", REFERENCE, &["q.fa, record 2 '*', line 3", "rename"]);
}

#[test]
fn matrices() {
    let matrix = |text: &[u8], says: &[&str]| {
        let files = [("q.fa", QUERY), ("ref.fa", REFERENCE), ("m", text)];
        refused(&files, &["--matrix", "m", "q.fa", "ref.fa"], 1, says);
    };
    matrix(b"A A C G T\n", &["m, line 1: ", "column A", "NCBI"]);
    matrix(b"A C G T\nA 1 0 0 0\nA 1 0 0 0\n", &["m, line 3: ", "row A", "NCBI"]);
    matrix(b"\xff\xfeA\0 \0", &["m: ", "UTF-16", "iconv"]);
    matrix(&[b'#'; (1 << 20) + 1], &["m: ", "1 MiB"]);
    let good = "\u{feff}  A C G T\nA 1 -4 -4 -4\nC -4 1 -4 -4\nG -4 -4 1 -4\nT -4 -4 -4 1\n";
    let files = [("q.fa", QUERY), ("ref.fa", REFERENCE), ("m", good.as_bytes())];
    accepted(&files, &["--matrix", "m", "q.fa", "ref.fa"]);
}

#[test]
#[cfg(unix)]
fn errors_of_the_system_have_a_remedy() {
    let folder = folder(&[("q.fa", QUERY), ("ref.fa", REFERENCE)]);
    std::os::unix::fs::symlink("loop", folder.file("loop")).unwrap();
    let says = |args: &[&str], remedy: &str| {
        let outcome = folder.run(args);
        assert!(matches!(outcome.code, Some(1 | 2)), "{args:?}");
        assert!(outcome.stderr.contains(remedy), "{args:?}: {}", outcome.stderr);
    };
    says(&["--device", "cpu", "--matrix", ".", "q.fa", "ref.fa"], "directory");
    says(&["--device", "cpu", "loop", "ref.fa"], "symbolic links");
    says(&["--device", "cpu", "q.fa", "loop"], "symbolic links");
    says(&["search", "--device", "cpu", "ACGT", "loop"], "symbolic links");
    says(&["grep", "ACGT", "loop"], "symbolic links");
    says(&["grep", "ACGT", "."], "directory");
    says(&["merge", "out", "loop"], "symbolic links");
}
