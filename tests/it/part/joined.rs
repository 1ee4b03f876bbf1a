//! Tests parts of each kind of input: concatenated, they are the whole.

use super::*;

#[test]
fn parts_of_reads_are_the_whole() {
    let folder = reads();
    for (query, format, counts) in [
        ("q.fq", "bam", &[1, 2, 3, 7, 60][..]),
        ("q.fq", "sam", &[3]),
        ("q.fq.gz", "bam", &[2, 7]),
        ("blocks.fq.gz", "bam", &[3]),
        ("blocks.fq.gz", "paf", &[2]),
        ("q.fa", "paf", &[3]),
        ("wrapped.fa", "sam", &[2, 7]),
        ("mates.fq", "bam", &[5]),
        ("mates.fq.gz", "sam", &[3]),
        ("pairs.fa", "bam", &[9]),
        ("long.fa", "bam", &[4]),
    ] {
        let args = |more: &[&str]| {
            let fixed = ["--format", format, "--device", "cpu", "--max-hits", "2"];
            [&fixed, more, &[query, "ref.fa"]]
                .concat()
                .iter()
                .map(|word| word.to_string())
                .collect::<Vec<_>>()
        };
        let bytes = |more: &[&str]| {
            let args = args(more);
            folder.done(&args.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let whole = bytes(&["-t", "2"]);
        let (header, end) = frame(format, &whole);
        for &count in counts {
            let part = |number: usize| {
                let (threads, batch) = ((1 + number % 3).to_string(), (1 + 300 * number).to_string());
                bytes(&["--part", &format!("{number}/{count}"), "-t", &threads, "--batch", &batch])
            };
            let parts: Vec<Vec<u8>> = (1..=count).map(part).collect();
            assert!(joined(&parts, header, end) == whole, "{query} as {format} in {count} parts");
            let empty = parts.iter().filter(|part| part.len() == header + end).count();
            assert!(empty > 0 || count < 60, "{query} in {count} parts");
            assert!(empty == 0 || count > 3, "{query} in {count} parts");
        }
    }
}

/// The i-th part of the queries aligns with its own targets, although each part reads all targets.
#[test]
fn parts_of_pairs_are_the_whole() {
    let folder = reads();
    let queries = folder.text("q.fa");
    folder.write("t.fa", queries.replace(">r", ">t"));
    let bytes = |more: &[&str]| {
        let args = [&["pairs", "--format", "bam", "--device", "cpu"], more, &["q.fa", "t.fa"]].concat();
        folder.done(&args)
    };
    let whole = bytes(&[]);
    let (header, end) = frame("bam", &whole);
    let parts = [1, 2, 3].map(|number| bytes(&["--part", &format!("{number}/3")]));
    assert!(joined(&parts, header, end) == whole);
    // If there is one target too few or too many, the last part reports it.
    let last = queries.rfind('>').unwrap();
    for targets in [queries[..last].to_string(), format!("{queries}>more\nACGT\n")] {
        folder.write("t.fa", targets);
        let args = |part| ["pairs", "--device", "cpu", "--part", part, "-o", "out.sam", "q.fa", "t.fa"];
        assert_eq!(folder.run(&args("1/3")).code, Some(0));
        let outcome = folder.run(&args("3/3"));
        outcome.said(1, &["q.fa: ", "queries", "targets in t.fa"]);
    }
}

#[test]
fn parts_of_a_search_are_the_whole() {
    let folder = reads();
    let texts = ["q.fq.gz", "wrapped.fa", "blocks.fq.gz"];
    for (format, header) in [("tab", 1), ("bed", 0), ("fasta", 0), ("count", 1)] {
        let bytes = |more: &[&str]| {
            let fixed = ["search", "-k", "2", "--format", format, "--device", "cpu"];
            folder.done(&[&fixed, more, &["GATTACAGG"], &texts].concat())
        };
        let whole = bytes(&[]);
        let header = whole.split_inclusive(|&byte| byte == b'\n').take(header).map(<[u8]>::len).sum();
        for count in [1, 2, 5, 40] {
            let part = |number| bytes(&["--part", &format!("{number}/{count}")]);
            let parts: Vec<Vec<u8>> = (1..=count).map(part).collect();
            assert!(joined(&parts, header, 0) == whole, "{format} in {count} parts");
        }
    }
}

/// A later part of proteins is not mistaken for DNA if its residues look like bases.
#[test]
fn parts_of_proteins_that_look_like_dna() {
    let folder = Folder::new();
    let query = |(number, name): (usize, &String)| match number {
        0 => format!(">{name}\nMKVLAAGITRRWDEFHIKLMNPQRSTVWY\n"),
        _ => format!(">{name}\nGATTACAGATTACAGATTACAGATTACA\n"),
    };
    let queries: String = names_in_groups(200, 50, 28).iter().enumerate().map(query).collect();
    let reference = ">r\nMKVLAAGITRRWDEFHIKLMNPQRSTVWYGATTACAGATTACAGATTACA\n";
    folder.write("q.fa", queries);
    folder.write("r.fa", reference);
    let bytes = |more: &[&str]| {
        let args = [&["--device", "cpu"], more, &["q.fa", "r.fa"]].concat();
        folder.done(&args)
    };
    let whole = bytes(&[]);
    let parts = [bytes(&["--part", "1/2"]), bytes(&["--part", "2/2"])];
    let (header, _) = frame("sam", &whole);
    assert!(parts.iter().all(|part| part.len() > header));
    assert!(joined(&parts, header, 0) == whole);
}

#[test]
fn what_can_not_be_parted_is_refused() {
    let folder = reads();
    for args in [
        &["--part", "1/2", "-", "ref.fa"][..],
        &["--part", "1/2", "/dev/null", "ref.fa"],
        &["search", "--part", "1/2", "ACGT", "-"],
    ] {
        let outcome = finish(command(folder.path()).args(args).write_stdin(">a\nACGT\n"));
        outcome.said(2, &["--part", "regular file"]);
        assert!(outcome.stdout.is_empty(), "{args:?}");
    }
    // Only the part with a fault reports it. All parts report a file that is not FASTA.
    let fastq = folder.text("q.fq");
    let at = fastq.find("@r1900 ").unwrap();
    let faulty = [&fastq[..at], "@r1900\nAC\n-\nII\n", &fastq[at..]].concat();
    folder.write("q.fq", &faulty);
    let fasta = folder.text("q.fa");
    folder.write("text", "hello");
    folder.write("faulty.fq.gz", pack(faulty.as_bytes()).unwrap());
    folder.write("empty.fa", fasta.replace("\n>r1900\n", "\n>r1900\n\n>other\n"));
    let part = |number: &str, query: &str| {
        folder.run(&["--device", "cpu", "--part", number, "-o", "out", query, "ref.fa"])
    };
    assert_eq!(part("1/2", "q.fq").code, Some(0));
    for query in ["q.fq", "faulty.fq.gz"] {
        let outcome = part("2/2", query);
        assert!(outcome.stderr.contains("record 1901 'r1900', line 7603"), "{}", outcome.stderr);
    }
    part("2/2", "empty.fa").said(0, &["warning: empty.fa, record 1901 'r1900': ", "empty"]);
    for (number, query) in [("1/2", "text"), ("2/2", "text"), ("2/2", "nosuch.fq")] {
        part(number, query).said(1, &[query]);
    }
}
