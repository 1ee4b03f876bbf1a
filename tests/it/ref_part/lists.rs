//! Tests joined lists of parts of the references.

use super::*;

const ALL_COLUMNS: &str = "std,qlen,slen,score,qcovs,qcovhsp,nident,positive,gaps,ppos,btop,qseq,sseq,cigar,sframe,sstrand,\
                           strand,stitle,mate,id0,id1,id2,id3,id4";

/// Compares joined parts with the whole, as plain and compressed files.
#[track_caller]
fn check_lists(folder: &Folder, options: &[&str], input: &[&str], (extension, counts): (&str, &[usize])) {
    let args = [options, input].concat();
    let output = format!("whole.{extension}");
    folder.done(&[&["--device", "cpu", "-q", "-o", &output], &args[..]].concat());
    let whole = folder.read(&output);
    assert!(whole.len() > 1000, "{options:?}");
    counts.iter().for_each(|&count| check(folder, &args, extension, count, &whole));
}

#[test]
fn lists_of_relatives_are_the_whole() {
    let folder = amplicons();
    for (options, extension, counts) in [
        (&[][..], "tab", &[1, 3, 45][..]),
        (&["--header", "--columns", ALL_COLUMNS, "--max-hsps", "3", "--evalue", "1e-3"], "tsv", &[3]),
        (&["--max-targets", "3", "--ties"], "tab", &[2, 7]),
        (&["--max-targets", "3", "--max-hsps", "2", "--max-hits", "4", "--evalue", "1000"], "json", &[3]),
        (&["--min-identity", "97", "--rank", "identity", "--max-targets", "2", "--ties"], "tab", &[3]),
        (&["--rank", "evalue", "--max-hits", "5", "--min-coverage", "80"], "json", &[4]),
        (&["--min-identity", "90", "--secondary-ratio", "0.9", "--iddef", "3"], "tab", &[3]),
        (&["--max-hits", "2", "--max-targets", "1000"], "txt", &[3]),
        (&["--min-score", "60", "--filter", "none"], "txt.gz", &[2]),
        (&["--max-targets", "5"], "json.gz", &[25]),
        (&["--columns", "qseqid,sseqid,qcovs", "--max-hsps", "2", "--max-hits", "3"], "tab.gz", &[2]),
    ] {
        check_lists(&folder, options, &["q.fq", "r.fa"], (extension, counts));
    }
}

#[test]
fn lists_of_proteins_are_the_whole() {
    let folder = Folder::new();
    for name in ["proteins_20.fa", "uniprot_60.fa"] {
        folder.copy_data(name, name);
    }
    for (options, extension, counts) in [
        (&["--evalue", "1000", "--max-hsps", "2"][..], "tab", &[2, 90][..]),
        (&["--evalue", "100", "--rank", "evalue", "--columns", ALL_COLUMNS], "tab", &[3]),
        (
            &["--matrix", "BLOSUM50", "--gap-open", "13", "--gap-extend", "2", "--rank", "identity"],
            "json",
            &[3],
        ),
        (&["--mode", "global", "--max-targets", "7", "--ties", "--columns", ALL_COLUMNS], "tab", &[2]),
        (&["--mode", "glocal", "--min-identity", "20", "--rank", "identity", "--iddef", "0"], "txt", &[5]),
        (&["--mode", "overlap", "--max-targets", "9"], "json", &[4]),
    ] {
        check_lists(&folder, options, &["proteins_20.fa", "uniprot_60.fa"], (extension, counts));
    }
}

/// Nearly every choice is between equal hits, and limits cut between them.
#[test]
fn ties_of_lists_are_those_of_the_whole() {
    for seed in 0..24 {
        let mut random = Random::new(seed);
        let (folder, references) = equals(&mut random);
        let rank = random.pick(&["score", "evalue", "identity"]);
        let (format, count) = (random.pick(&["tab", "json", "txt"]), random.pick(&[2, 3, references, 12]));
        let mut args = limits(&mut random);
        args.extend(["--rank", rank]);
        if format == "tab" {
            args.extend(["--columns", ALL_COLUMNS]);
        }
        println!("seed {seed}: {references} references, {format}, {args:?}");
        check_lists(&folder, &args, &["q.fa", "r.fa"], (format, &[count]));
    }
}

/// Hits of a part on a reference that the whole omits do not exclude hits on other references. The whole lists x, a and
/// again a, although the first part ranks c before the second hit on a.
#[test]
fn limits_of_hits_and_references_go_together() {
    let folder = Folder::new();
    let mut random = Random::new(7);
    let query = random.text(Alphabet::Dna, 100);
    let mut with = |lens: &[usize]| -> String {
        lens.iter().map(|&len| random.text(Alphabet::Dna, 150) + &query[..len]).collect()
    };
    let (a, c, x) = (with(&[90, 60]), with(&[80, 70]), with(&[100, 0, 0, 0]));
    folder.write("r.fa", format!(">a\n{a}\n>c\n{c}\n>x\n{x}\n"));
    folder.write("q.fa", format!(">q\n{query}\n"));
    let limits = ["--max-targets", "2", "--max-hsps", "2", "--max-hits", "3"];
    let args = [&["--columns", "sseqid,score"], &limits[..], &["q.fa", "r.fa"]].concat();
    let whole = whole(&folder, &args, "tab");
    assert_eq!(str::from_utf8(&whole), Ok("x\t100\na\t90\na\t60\n"));
    check(&folder, &args, "tab", 2, &whole);
}

/// All references determine the E-values, the minimum score, and the output of a query without a hit.
#[test]
fn parts_of_lists_see_all_references() {
    let folder = Folder::new();
    let mut random = Random::new(3);
    let [long, query] = [300_000, 60].map(|len| random.text(Alphabet::Dna, len));
    folder.write("r.fa", format!(">other\n{long}\n>own\tof q\n{query}\n"));
    folder.write("q.fa", format!(">q\n{}\n>none\nACGT\n", &query[10..40]));
    let run = |more: &[&str]| folder.done(&[&["--device", "cpu", "-q"], more, &["q.fa", "r.fa"]].concat());
    let whole = run(&["--format", "json"]);
    for number in ["1", "2"] {
        run(&["--ref-part", &format!("{number}/2"), "--format", "json", "-o", number]);
    }
    assert!(folder.done(&["merge", "-q", "-", "2", "1"]) == whole);
    let text = String::from_utf8(whole).unwrap();
    assert!(text.contains("\"own\"") && text.ends_with("\"hits\": []}\n"), "{text}");
    // With the second reference alone, the same score has a lower E-value.
    folder.write("own.fa", format!(">own\tof q\n{query}\n"));
    let alone = folder.done(&["--device", "cpu", "-q", "--format", "json", "q.fa", "own.fa"]);
    assert_ne!(String::from_utf8(alone).unwrap(), text);
}

#[test]
fn parts_of_lists_are_checked() {
    let folder = amplicons();
    let names = parts(&folder, &["--max-targets", "3", "q.fq", "r.fa"], "json", 2);
    let args = [
        "--device",
        "cpu",
        "--max-targets",
        "3",
        "--ref-part",
        "1/2",
        "--resume",
        "-o",
        &names[0],
        "q.fq",
        "r.fa",
    ];
    folder.run(&args).said(0, &["is complete"]);
    let merged = || folder.run(&["merge", "out", &names[0], &names[1]]);
    let receipts = names.iter().map(|part| folder.read(&format!("{part}.swalign"))).collect::<Vec<_>>();
    for (key, value, says) in [
        ("records", "0", "more than 0 queries"),
        ("records", "551", "more than 551 queries"),
        ("records", "553", "fewer than 553 queries"),
        ("crc32", "00000000", "the checksum differs"),
    ] {
        for (part, receipt) in names.iter().zip(&receipts) {
            folder.write(&format!("{part}.swalign"), receipt);
            receipts::change(&folder.file(part), |text| receipts::with(text, key, value));
        }
        merged().said(1, &[says]);
        assert!(!folder.file("out").exists());
    }
    names.iter().zip(&receipts).for_each(|(part, receipt)| folder.write(&format!("{part}.swalign"), receipt));
    let bytes = folder.read(&names[1]);
    for at in (0..bytes.len()).step_by(bytes.len() / 40).chain([bytes.len() - 1]) {
        let mut changed = bytes.clone();
        changed[at] ^= 4;
        folder.write(&names[1], &changed);
        let outcome = merged();
        assert_eq!(outcome.code, Some(1), "byte {at}: {}", outcome.stderr);
        // With a matching checksum, `merge` may accept the part. Otherwise it ends with code 1.
        let sum = format!("{:08x}", crc32fast::hash(&changed));
        receipts::change(&folder.file(&names[1]), |text| receipts::with(text, "crc32", &sum));
        match merged().code {
            Some(0) => std::fs::remove_file(folder.file("out")).unwrap(),
            code => assert_eq!(code, Some(1), "byte {at}"),
        }
        folder.write(&format!("{}.swalign", names[1]), &receipts[1]);
    }
    folder.write(&names[1], &bytes);
    merged().said(0, &["joined 2 parts of the references, of 552 records"]);
}

#[test]
fn parts_need_an_output_file() {
    let folder = amplicons();
    for format in ["tab", "sam", "bam"] {
        let run = |more: &[&str]| {
            folder.run(&[&["--ref-part", "1/2", "--format", format], more, &["q.fq", "r.fa"]].concat())
        };
        run(&[]).said(2, &["--ref-part needs an output file"]);
        run(&["-o", "-"]).said(2, &["--ref-part needs an output file"]);
    }
}
