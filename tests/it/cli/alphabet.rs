//! DNA or protein: all commands decide in the same way, and warn if the sequences are ambiguous.

use super::*;

/// A consensus of 300 bases, every eighth of which is an IUPAC code, and queries from it, one on each strand, with
/// IUPAC codes at other positions.
fn degenerate() -> [Vec<u8>; 2] {
    let bases = Random::new(5).text(Alphabet::Dna, 300).into_bytes();
    let degenerate = |from: usize, bases: &[u8]| -> Vec<u8> {
        let code = |(at, &base): (usize, &u8)| match base {
            b'A' | b'G' if (at + from).is_multiple_of(8) => b'R',
            b'C' | b'T' if (at + from).is_multiple_of(8) => b'Y',
            _ => base,
        };
        bases.iter().enumerate().map(code).collect()
    };
    let piece = degenerate(4, &bases[100..250]);
    let queries = [&b">forward\n"[..], &piece, b"\n>reverse\n", &reverse_complement(&piece), b"\n"].concat();
    [[&b">consensus\n"[..], &degenerate(0, &bases), b"\n"].concat(), queries]
}

#[test]
fn degenerate_dna_is_dna() {
    let [reference, queries] = degenerate();
    let folder = folder(&[("ref.fa", &reference), ("q.fa", &queries)]);
    for more in
        [&[][..], &["--alphabet", "dna"], &["--preset", "short", "--end-bonus", "0"], &["--match", "1"]]
    {
        let outcome = folder.run(&[&["--mismatch", "1"], more, &["q.fa", "ref.fa"]].concat());
        let sam = outcome.sam();
        let found: Vec<_> =
            sam.records.iter().map(|r| (r.name(), r.flag(), r.position(), r.cigar())).collect();
        assert_eq!(found, [("forward", 0, 101, "148M2S"), ("reverse", 16, 101, "148M2S")], "{more:?}");
        assert!(!outcome.stderr.contains("--alphabet"), "{}", outcome.stderr);
    }
    // A protein preset contradicts DNA sequences.
    let outcome = folder.run(&["--preset", "protein", "q.fa", "ref.fa"]);
    outcome.said(2, &["--alphabet protein"]);
}

#[test]
fn degenerate_primers_are_dna_everywhere() {
    let primers = b">p1_F\nGTGYCAGTMGCCGAGGTAA\n>p2_R\nGGACTTCNVGGGTWTCTTAT\n";
    let turned = b">p3\nTTACCTCGGCKACTGRCAC\n";
    let folder = folder(&[("primers.fa", primers), ("turned.fa", turned)]);
    folder.done(&["all", "-q", "primers.fa"]);
    folder.done(&["all", "-q", "--format", "matrix", "primers.fa"]);
    let outcome = folder.run(&["dedup", "--both-strands", "primers.fa", "turned.fa"]);
    assert_eq!(outcome.text().matches('>').count(), 2, "{}", outcome.stderr);
    folder.run(&["index", "primers.fa"]).said(0, &["2 references of DNA"]);
    assert!(folder.run(&["search", "-q", "GGACTT", "primers.fa.swdb"]).text().contains("p2_R\t0\t6\t"));
    // A sequence of 19 residues is undecided, so --both-strands decides.
    let outcome = folder.run(&["dedup", "--both-strands", "turned.fa"]);
    outcome.said(0, &[]);
}

#[test]
fn short_sequences_are_dna_with_a_warning() {
    let says = ["warning: ", "ref.fa", "as DNA", "--alphabet protein", "--alphabet dna"];
    let folder = folder(&[
        ("ref.fa", b">p\nGATTACA\n"),
        ("same.fa", b">q\nGATTACA\n"),
        ("dna.fa", b">q\nACGTACGTGATTACAACGTACGT\n"),
        ("reads.fq", b"@q\nGATTACA\n+\nIIIIIII\n"),
        ("protein.fa", b">q\nMKVLGATTACAE\n"),
    ]);
    folder.run(&["same.fa", "ref.fa"]).said(0, &says);
    folder.run(&["all", "ref.fa"]).said(0, &says);
    folder.run(&["all", "--format", "matrix", "ref.fa"]).said(0, &says);
    folder.run(&["index", "ref.fa"]).said(0, &says);
    let dna = [
        &["--preset", "long", "same.fa", "ref.fa"][..],
        &["--alphabet", "dna", "same.fa", "ref.fa"],
        &["pairs", "--both-strands", "same.fa", "ref.fa"],
        &["dna.fa", "ref.fa"],
        &["reads.fq", "ref.fa"],
        &["--part", "2/2", "dna.fa", "ref.fa"],
        &["same.fa", "ref.fa.swdb"],
    ];
    let protein = [
        &["--matrix", "BLOSUM62", "same.fa", "ref.fa"][..],
        &["--alphabet", "protein", "same.fa", "ref.fa"],
        &["protein.fa", "ref.fa"],
    ];
    let told = dna
        .iter()
        .map(|args| (args, "alphabet=DNA"))
        .chain(protein.iter().map(|args| (args, "alphabet=protein")));
    for (args, alphabet) in told {
        let outcome = folder.run(args);
        assert!(outcome.text().contains(alphabet), "{args:?}: {}", outcome.text());
        assert!(!outcome.stderr.contains("--alphabet"), "{args:?}: {}", outcome.stderr);
    }
}

/// If few residues are A, C, G or T, a query or an option may decide.
#[test]
fn highly_degenerate_references() {
    let folder = folder(&[
        ("ref.fa", b">consensus\nRYSWKMRYSWKMRYSWKMACGT\n"),
        ("dna.fa", b">q\nACGTACGTGATTACAACGTACGT\n"),
        ("short.fa", b">q\nACGTACGT\n"),
    ]);
    folder.run(&["short.fa", "ref.fa"]).said(0, &["warning: ", "ref.fa", "as protein", "--alphabet dna"]);
    for args in [&["dna.fa", "ref.fa"][..], &["--preset", "short", "short.fa", "ref.fa"]] {
        assert!(folder.run(args).text().contains("alphabet=DNA"), "{args:?}");
    }
}

/// A residue that does not exist in DNA is an error that names it. The sequences are not read as proteins.
#[test]
fn a_stray_letter_does_not_make_a_protein() {
    let reference = b">chr\nACGTTGCATTAGCCATGGXTCCATTGCACGGTTAACCG\n";
    let says = ["ref.fa, record 1 'chr'", "'X' at position 19", "with N", "--alphabet protein"];
    refused(&[("q.fa", QUERY), ("ref.fa", reference)], &["q.fa", "ref.fa"], 1, &says);
    let gap = b">chr\nACGTTGCATTAGCCATGG-TCCATTGCACGGTTAACCG\n";
    refused(&[("q.fa", QUERY), ("ref.fa", gap)], &["q.fa", "ref.fa"], 1, &["DNA", "gap characters"]);
}

#[test]
fn options_of_the_other_alphabet_name_the_remedy() {
    let files = [("q.fa", PROTEINS), ("ref.fa", PROTEINS)];
    for args in [&["--preset", "short"][..], &["--match", "2"], &["--mismatch", "3"]] {
        refused(&files, &[args, &["q.fa", "ref.fa"]].concat(), 2, &["--alphabet dna"]);
    }
    let dna = b">q\nACGTACGTACGTACGTACGTACGT\n";
    let says = ["q.fa, record 1 'q'", "query is DNA", "--alphabet dna"];
    refused(&[("q.fa", dna), ("ref.fa", PROTEINS)], &["q.fa", "ref.fa"], 1, &says);
}

/// U, O and J in proteins: identity compares residues as they are written, and the output shows the original residues.
#[test]
fn residues_are_shown_and_compared_as_they_are_written() {
    let [before, after] = ["MKWVTFISLLFLFSSAYSRG", "DAHKSEVAHRFKDLGEENFK"];
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ*";
    let (mut queries, mut targets) = (String::new(), String::new());
    for (query, target) in letters.chars().flat_map(|q| letters.chars().map(move |t| (q, t))) {
        queries += &format!(">{query}{target}\n{before}{query}{after}\n");
        targets += &format!(">{query}{target}\n{before}{target}{after}\n");
    }
    let folder = folder(&[("q.fa", queries.as_bytes()), ("t.fa", targets.as_bytes())]);
    let table =
        ["pairs", "--device", "cpu", "--format", "tab", "--columns", "qseqid,score,nident,qseq,sseq,btop"];
    let outcome = folder.run(&[&table[..], &["q.fa", "t.fa"]].concat());
    let mut scores = BTreeMap::new();
    for line in outcome.text().lines() {
        let [name, score, nident, query, target, btop] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        assert_eq!(query.len(), 41, "{line}");
        let (q, t) = (&name[..1], &name[1..]);
        assert_eq!([&query[20..21], &target[20..21]], [q, t], "{line}");
        assert_eq!(nident == "41", q == t, "{line}");
        assert_eq!(btop, if q == t { "41".to_string() } else { format!("20{q}{t}20") });
        scores.insert((q.to_string(), t.to_string()), score.parse::<i32>().unwrap());
    }
    assert_eq!(scores.len(), 27 * 27);
    let score = |q: char, t: char| scores[&(q.to_string(), t.to_string())];
    for letter in letters.chars() {
        assert_eq!([score('U', letter), score(letter, 'U')], [score('C', letter), score(letter, 'C')]);
        assert_eq!([score('O', letter), score(letter, 'O')], [score('K', letter), score(letter, 'K')]);
    }
    for letter in "ARNDCQEGHILKMFPSTWYVBZX*".chars() {
        let sum = score('I', letter) + score('L', letter);
        assert_eq!(score('J', letter), (sum + 1).div_euclid(2), "{letter}");
    }
    // SAM, a database, and the plain engine behave the same.
    folder.write("u.fa", format!(">u\n{before}U{after}\n"));
    folder.write("o.fa", format!(">o\n{before}O{after}\n"));
    for (target, cigar) in [("u.fa", "41="), ("o.fa", "20=1X20=")] {
        let sam = folder.run(&["--device", "cpu", "--eqx", "u.fa", target]).sam();
        assert_eq!(sam.records[0].cigar(), cigar);
    }
    folder.write("u.fa", format!(">u\n{before}UOJ{after}\n"));
    folder.done(&["index", "-q", "u.fa"]);
    for (target, device) in [("u.fa", "cpu"), ("u.fa.swdb", "cpu"), ("u.fa", "plain")] {
        let args = ["--device", device, "--format", "tab", "--columns", "nident,sseq", "u.fa", target];
        let expected = format!("43\t{before}UOJ{after}\n");
        assert_eq!(folder.run(&args).text(), expected, "{target} {device}");
    }
}
