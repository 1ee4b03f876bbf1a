//! Options: rejected values, and their effects.

use super::*;

#[test]
fn penalties() {
    refused_options(&["--mismatch", "-4"], 2, &["--mismatch"]);
    refused_options(&["--gap-open", "-1"], 2, &["--gap-open"]);
    refused_options(&["--gap-extend", "0"], 2, &["--gap-extend"]);
    refused_options(&["--match", "0"], 2, &["--match"]);
    refused_options(&["--match", "99999999999"], 2, &["--match"]);
    refused_options(&["--gap-extend", "9999999"], 2, &["--gap-extend"]);
    refused_options(&["--match", "1.5"], 2, &["--match"]);
    refused_options(&["--preset", "protein"], 2, &["--preset"]);
    refused_options(&["--preset", "nosuch"], 2, &["--preset", "short"]);
}

#[test]
fn numbers_out_of_range() {
    refused_options(&["--max-hits", "0"], 2, &["--max-hits"]);
    refused_options(&["--threads", "0"], 2, &["--threads"]);
    refused_options(&["--batch", "0"], 2, &["--batch"]);
    refused_options(&["--secondary-ratio", "1.5"], 2, &["--secondary-ratio"]);
    refused_options(&["--secondary-ratio", "nan"], 2, &["--secondary-ratio"]);
    refused_options(&["--min-score", "0"], 2, &["--min-score"]);
    refused_options(&["--min-score", "-3"], 2, &["--min-score"]);
}

/// At most four threads per core are used. The output is the same.
#[test]
fn too_many_threads() {
    let cores = std::thread::available_parallelism().unwrap().get();
    let (most, asked) = ((4 * cores).to_string(), (4 * cores + 1).to_string());
    let files = [("q.fa", QUERY), ("ref.fa", REFERENCE)];
    let warning = format!("warning: {asked} threads");
    let with = |threads: &str| accepted(&files, &["-t", threads, "q.fa", "ref.fa"]);
    assert!(!with(&most).stderr.contains("warning"));
    let more = with(&asked);
    more.said(0, &[&warning, &format!("{cores} core"), &format!("with {most}")]);
    assert_eq!(more.without_pg(), baseline().without_pg());
    assert!(more.stderr.contains(&format!("using CPU ({most} threads")), "{}", more.stderr);
    let folder = folder(&files);
    for args in [&["search", "-t", &asked, "ACGT", "ref.fa"][..], &["grep", "-t", &asked, "ACGT", "ref.fa"]] {
        let outcome = folder.run(args);
        outcome.said(0, &[&warning]);
    }
    let quiet = accepted(&files, &["-q", "-t", "1000000000", "q.fa", "ref.fa"]);
    assert_eq!((quiet.code, &*quiet.stderr), (Some(0), ""));
}

/// A stack size that exceeds any memory.
#[cfg(target_os = "linux")]
#[test]
fn threads_that_can_not_be_started() {
    let folder = folder(&[("q.fa", QUERY), ("ref.fa", REFERENCE)]);
    let mut command = command(folder.path());
    command.env("RUST_MIN_STACK", (1u64 << 60).to_string());
    let outcome = finish(command.args(["--device", "cpu", "-t", "3", "-o", "out.sam", "q.fa", "ref.fa"]));
    outcome.said(1, &["3 threads", "--threads"]);
    assert!(!folder.file("out.sam").exists());
}

#[test]
fn matrices() {
    refused_options(&["--matrix", "nosuch"], 2, &["nosuch", "BLOSUM62"]);
    let missing = b"# no T\n   A  C  G\nA  1 -1 -1\nC -1  1 -1\nG -1 -1  1\n";
    let torn = b"   A  C  G  T\nA  1 -1 -1 -1\nC -1  1\n";
    for (matrix, says) in [(&missing[..], "T"), (torn, "line 3"), (b"", "m.txt")] {
        let files = [("q.fa", QUERY), ("ref.fa", REFERENCE), ("m.txt", matrix)];
        refused(&files, &["--matrix", "m.txt", "q.fa", "ref.fa"], 1, &["m.txt", says]);
    }
    refused_options(&["--matrix", "m.txt", "--match", "3"], 2, &["--matrix", "--match"]);
    let whole = b"  A C G T\nA 1 -4 -4 -4\nC -4 1 -4 -4\nG -4 -4 1 -4\nT -4 -4 -4 1\n";
    let files = [("q.fa", QUERY), ("ref.fa", REFERENCE), ("m.txt", &whole[..])];
    let sam =
        accepted(&files, &["--matrix", "m.txt", "--gap-open", "6", "--gap-extend", "1", "q.fa", "ref.fa"])
            .sam();
    let scores: Vec<i64> = sam.records.iter().map(|record| record.score()).collect();
    assert_eq!(scores, [29, 24], "a matrix of 1 and -4 scores as --preset short does");
}

#[test]
fn a_scoring_that_could_overflow() {
    // Scores are limited to 2^29: 536 matches of a million each fit, 537 do not.
    let longest = 536;
    let long = [b">long\n".to_vec(), Random::new(1).sequence(Alphabet::Dna, longest + 1), b"\n".to_vec()];
    let long = long.concat();
    let args = ["--match", "1000000", "q.fa", "ref.fa"];
    let files = [("q.fa", &long[..]), ("ref.fa", &long)];
    refused(&files, &args, 1, &["q.fa", "'long'", "537 against 537 residues", "overflow", "--match"]);
    refused(&files, &["pairs", "--match", "1000000", "q.fa", "ref.fa"], 1, &["'long'", "--match"]);
    let fitting = &[&long[..6 + longest], b"\n"].concat()[..];
    for (query, reference) in [(fitting, &long[..]), (&long, fitting), (fitting, fitting)] {
        let sam = accepted(&[("q.fa", query), ("ref.fa", reference)], &args).sam();
        assert_eq!(sam.records[0].score(), 536_000_000);
    }
}

#[test]
fn pairs_of_unequal_counts() {
    let three = [QUERY, b">r3\nACGT\n"].concat();
    refused(
        &[("q.fa", &three), ("ref.fa", REFERENCE)],
        &["pairs", "q.fa", "ref.fa"],
        1,
        &["q.fa: 3 queries", "2 targets in ref.fa", "swalign pairs"],
    );
    refused(
        &[("q.fa", QUERY), ("ref.fa", &three)],
        &["pairs", "--batch", "1", "q.fa", "ref.fa"],
        1,
        &["q.fa: 2 queries", "3 targets in ref.fa", "swalign pairs"],
    );
}

#[test]
fn pairs_meet_only_each_other() {
    let turned: Vec<u8> = fasta(std::str::from_utf8(QUERY).unwrap())
        .into_iter()
        .flat_map(|(name, letters)| {
            [format!(">{name}\n").into_bytes(), reverse_complement(&letters), b"\n".to_vec()].concat()
        })
        .collect();
    let files = [("q.fa", QUERY), ("turned.fa", &turned[..]), ("ref.fa", REFERENCE)];
    let flags = |args: &[&str]| -> Vec<(u32, String)> {
        accepted(&files, args).sam().records.iter().map(|r| (r.flag(), r.target().to_string())).collect()
    };
    let found = |flag| vec![(flag, "chr1".to_string()), (flag, "chr2".to_string())];
    assert_eq!(flags(&["pairs", "q.fa", "ref.fa"]), found(0));
    assert_eq!(flags(&["pairs", "--both-strands", "turned.fa", "ref.fa"]), found(16));
    assert!(flags(&["pairs", "turned.fa", "ref.fa"]).iter().all(|(flag, _)| flag & 16 == 0), "forward only");
}

/// Option names of minimap2, BLAST and vsearch.
#[test]
fn names_of_other_tools() {
    let folder = folder(&[("q.fa", QUERY), ("ref.fa", REFERENCE)]);
    let records = |args: &[&str]| {
        let outcome = folder.run(args);
        outcome.ended(0);
        outcome.without_pg()
    };
    for (own, others) in [
        (&["--preset", "short"][..], &[&["-x", "sr"][..], &["-ax", "sr"]][..]),
        (&["--preset", "map-ont"], &[&["-x", "map-pb"][..], &["-ax", "map-ont"]]),
        (&[], &[&["-a"], &["--strand", "both"], &["--both-strands"]]),
        (&["--forward-only"], &[&["--strand", "plus"]]),
    ] {
        let expected = records(&[own, &["q.fa", "ref.fa"]].concat());
        for other in others {
            assert_eq!(records(&[other, &["q.fa", "ref.fa"][..]].concat()), expected, "{other:?}");
        }
    }
    let search = |more: &[&str]| records(&[&["search", "-k", "1"][..], more, &["ACGTAC", "ref.fa"]].concat());
    assert_eq!(search(&["--strand", "plus"]), search(&["--revcomp", "no"]));
    assert_eq!(search(&["--strand", "both"]), search(&[]));
    let dedup = |strands: &[&str]| records(&[&["dedup"][..], strands, &["ref.fa"]].concat());
    assert_eq!(dedup(&["--strand", "both"]), dedup(&["--both-strands"]));
    folder.run(&["-a", "--format", "paf", "q.fa", "ref.fa"]).said(2, &["-a", "--format"]);
    folder.run(&["-a", "-o", "x.paf", "q.fa", "ref.fa"]).said(2, &["-a is SAM"]);
    folder.run(&["--strand", "less", "q.fa", "ref.fa"]).said(2, &["--strand", "less"]);
    folder
        .run(&["--strand", "plus", "--both-strands", "q.fa", "ref.fa"])
        .said(2, &["--strand", "--both-strands"]);
}
