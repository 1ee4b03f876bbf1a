//! Translated queries: the hits of a query are those of the proteins of its six frames, with the positions of its bases. The
//! results of blastx are those of tests/golden/README.md.

use crate::common::command::line_here;
use crate::common::folder::{Folder, folder};
use crate::common::random::Random;
use std::collections::{BTreeMap, BTreeSet};
use swalign::terms::alphabet::Alphabet;

const COLUMNS: &str =
    "--columns qseqid,sseqid,score,qstart,qend,sstart,send,cigar,qframe,qlen,length,pident,evalue";

/// The standard code as NCBI writes it, for bases in the order TCAG.
const AMINO_ACIDS: &[u8; 64] = b"FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG";

fn translated(dna: &[u8]) -> String {
    let place = |base: u8| b"TCAG".iter().position(|&known| known == base).unwrap();
    let residue = |codon: &[u8]| AMINO_ACIDS[16 * place(codon[0]) + 4 * place(codon[1]) + place(codon[2])];
    dna.chunks_exact(3).map(|codon| char::from(residue(codon))).collect()
}

fn complemented(dna: &[u8]) -> Vec<u8> {
    dna.iter().rev().map(|base| b"TGCA"[b"ACGT".iter().position(|known| known == base).unwrap()]).collect()
}

/// DNA that codes for parts of proteins, in all frames, with substitutions and lost bases, and its frames as proteins.
fn coding() -> Folder {
    let mut random = Random::new(21);
    let proteins: Vec<String> = (0..12).map(|_| random.text(Alphabet::Protein, 120)).collect();
    let codons: Vec<Vec<u8>> =
        (0..64).map(|k| [k / 16, k / 4 % 4, k % 4].map(|base| b"TCAG"[base]).to_vec()).collect();
    let (mut dna, mut frames) = (String::new(), String::new());
    let mut synonymous: Option<Vec<u8>> = None;
    for number in 0..30 {
        let protein = proteins[number % 12].as_bytes();
        let start = random.below(40);
        let mut query = random.sequence(Alphabet::Dna, number % 5);
        for &residue in &protein[start..start + 30 + random.below(50)] {
            let synonyms: Vec<usize> = (0..64).filter(|&k| AMINO_ACIDS[k] == residue).collect();
            query.extend(&codons[random.pick(&synonyms)]);
        }
        query.extend(random.sequence(Alphabet::Dna, number % 4));
        if number % 3 == 0 {
            query.remove(60);
        }
        (0..number % 7).for_each(|_| {
            let at = random.below(query.len());
            query[at] = random.pick(b"ACGT");
        });
        if number % 2 == 1 {
            query = complemented(&query);
        }
        // Its first frame is that of the query before, and the others are not.
        if let Some(before) = synonymous.take() {
            query = before;
        } else if number % 10 == 1 {
            let synonym = |codon: &[u8]| {
                let residue = translated(codon).into_bytes()[0];
                let others = (0..64).rev().filter(|&k| AMINO_ACIDS[k] == residue);
                others.map(|k| codons[k].clone()).find(|other| other != codon).unwrap_or(codon.to_vec())
            };
            synonymous = Some(query.chunks_exact(3).flat_map(synonym).collect());
        }
        dna += &format!(">q{number}\n{}\n", query.escape_ascii());
        for (strand, letters) in [(1, query.clone()), (-1, complemented(&query))] {
            for frame in 1..=3i64 {
                let protein = translated(&letters[frame as usize - 1..]);
                frames += &format!(">q{number}:{}:{}\n{protein}\n", strand * frame, query.len());
            }
        }
    }
    let targets: String =
        proteins.iter().enumerate().map(|(k, protein)| format!(">p{k}\n{protein}\n")).collect();
    folder(&[("dna.fa", dna.as_bytes()), ("frames.fa", frames.as_bytes()), ("p.fa", targets.as_bytes())])
}

fn rows(text: &str) -> Vec<Vec<String>> {
    text.lines().map(|line| line.split('\t').map(str::to_string).collect()).collect()
}

#[test]
fn hits_are_those_of_the_frames() {
    let folder = coding();
    let limits = "--all --min-score 28 --evalue 1e9";
    let selections: [(&str, &[i64]); 6] = [
        ("--strand both", &[1, 2, 3, -1, -2, -3]),
        ("--strand plus", &[1, 2, 3]),
        ("--strand minus", &[-1, -2, -3]),
        ("--frames 1", &[1]),
        ("--frames -3,2,+1", &[1, 2, -3]),
        ("--frames -1,-2,-3,1,2,3,1", &[1, 2, 3, -1, -2, -3]),
    ];
    for (selection, frames) in selections {
        let own = folder.line(&format!("-q --translate query {selection} {limits} {COLUMNS} dna.fa p.fa"));
        let own: BTreeSet<Vec<String>> = rows(own.text()).into_iter().map(|row| row[..12].to_vec()).collect();
        let of_frames =
            folder.line(&format!("-q --alphabet protein --format tab {limits} {COLUMNS} frames.fa p.fa"));
        let mut expected = BTreeSet::new();
        for mut row in rows(of_frames.text()) {
            let name = row[0].clone();
            let parts: Vec<&str> = name.split(':').collect();
            let (frame, len): (i64, i64) = (parts[1].parse().unwrap(), parts[2].parse().unwrap());
            if !frames.contains(&frame) {
                continue;
            }
            let base = |residues: i64| frame.abs() - 1 + 3 * residues;
            let (start, end): (i64, i64) = (row[3].parse().unwrap(), row[4].parse().unwrap());
            let (first, last) = match frame > 0 {
                true => (base(start - 1) + 1, base(end)),
                false => (len - base(start - 1), len - base(end) + 1),
            };
            (row[0], row[3], row[4]) = (parts[0].to_string(), first.to_string(), last.to_string());
            (row[8], row[9]) = (frame.to_string(), len.to_string());
            expected.insert(row[..12].to_vec());
        }
        assert!(own == expected, "{selection}: {:?}", own.symmetric_difference(&expected).next());
        assert!(own.len() >= 8 * frames.len(), "{selection}: {}", own.len());
    }
}

/// The hits on translated references are those on the proteins of their frames; so are those of translated queries there.
#[test]
fn hits_on_translated_references_are_those_on_their_frames() {
    let folder = coding();
    let limits = "--all --min-score 28 --evalue 1e9";
    let columns = "--columns qseqid,sseqid,score,sstart,send,qstart,qend,cigar,sframe,slen,length,pident";
    for (what, query) in [("target", "p.fa"), ("both", "dna.fa")] {
        let own = folder.line(&format!("-q --translate {what} {limits} {columns} {query} dna.fa"));
        let own: BTreeSet<Vec<String>> = rows(own.text()).into_iter().collect();
        let translation =
            if what == "both" { "--translate query" } else { "--alphabet protein --format tab" };
        let of_frames = folder.line(&format!("-q {translation} {limits} {columns} {query} frames.fa"));
        let mut expected = BTreeSet::new();
        for mut row in rows(of_frames.text()) {
            let name = row[1].clone();
            let parts: Vec<&str> = name.split(':').collect();
            let (frame, len): (i64, i64) = (parts[1].parse().unwrap(), parts[2].parse().unwrap());
            let base = |residues: i64| frame.abs() - 1 + 3 * residues;
            let (start, end): (i64, i64) = (row[3].parse().unwrap(), row[4].parse().unwrap());
            let (first, last) = match frame > 0 {
                true => (base(start - 1) + 1, base(end)),
                false => (len - base(start - 1), len - base(end) + 1),
            };
            (row[1], row[3], row[4]) = (parts[0].to_string(), first.to_string(), last.to_string());
            (row[8], row[9]) = (frame.to_string(), len.to_string());
            expected.insert(row);
        }
        assert!(own == expected, "{what}: {:?}", own.symmetric_difference(&expected).next());
        assert!(own.len() >= 60, "{what}: {}", own.len());
    }
    for (format, more) in [("tab", "--columns std,sframe,qframe"), ("json", ""), ("text", "")] {
        let common = format!("-q --translate target --format {format} {more} --min-score 40");
        let expected = folder.line(&format!("{common} --device cpu p.fa dna.fa")).done();
        for more in ["--device plain", "--batch 1 -t 1"] {
            assert!(
                folder.line(&format!("{common} {more} p.fa dna.fa")).done() == expected,
                "{format} {more}"
            );
        }
    }
    folder.line("index -q dna.fa -o dna.swdb").ended(0);
    let of = |reference: &str| {
        folder.line(&format!("tblastn -q --min-score 40 p.fa {reference}")).text().to_string()
    };
    assert_eq!(of("dna.swdb"), of("dna.fa"));
    folder.line("tblastn -q p.fa p.fa").said(2, &["--translate target", "DNA", "protein"]);
    folder.line("blastx -q dna.fa dna.fa").said(2, &["--translate query", "DNA", "protein"]);
    folder
        .line("-q --translate target --frameshift 15 p.fa dna.fa")
        .said(2, &["--frameshift", "--translate query"]);
}

/// The rows of each query on its first `targets` references, and the first `hits` rows of each reference.
fn within(rows: &[Vec<String>], targets: usize, hits: usize) -> Vec<Vec<String>> {
    let mut counts: BTreeMap<&String, BTreeMap<&String, usize>> = BTreeMap::new();
    let mut kept = Vec::new();
    for row in rows {
        let of_query = counts.entry(&row[0]).or_default();
        if of_query.len() < targets || of_query.contains_key(&row[1]) {
            let count = of_query.entry(&row[1]).or_default();
            *count += 1;
            kept.extend((*count <= hits).then(|| row.clone()));
        }
    }
    kept
}

/// The frames of a reference count as one reference: the hits within the limits are those that the limits choose from all hits.
#[test]
fn limits_count_the_frames_of_a_reference_together() {
    let folder = coding();
    // Each reference has genes in two frames or more.
    let text = folder.text("dna.fa");
    let genes: Vec<&str> = text.lines().filter(|line| !line.starts_with('>')).collect();
    let joined: String = genes
        .windows(4)
        .enumerate()
        .map(|(number, genes)| format!(">r{number}\n{}\n", genes.join(["A", "AC", "ACG"][number % 3])))
        .collect();
    folder.write("joined.fa", joined);
    let run = |query: &str, more: &str| {
        let (query, what) = if query == "both" { ("dna.fa", "both") } else { ("p.fa", "target") };
        let line = format!("-q --translate {what} --format tab --min-score 40 {more} {query} joined.fa");
        rows(folder.line(&line).text())
    };
    let paths = "--columns qseqid,sseqid,sframe,score,sstart,send,cigar";
    let scores = "--columns qseqid,sseqid,sframe,score";
    let frames_of = |rows: &[Vec<String>]| {
        let first = rows.iter().filter(|row| row[..2] == rows[0][..2]);
        first.map(|row| row[2].clone()).collect::<BTreeSet<_>>().len()
    };
    let ranks = ["", "--rank raw", "--rank evalue", "--min-identity 1", "--device plain"];
    // Equal scores in two frames of a reference are common here. Their E-values may differ, but not their order.
    let raw = ["--rank raw", "--rank raw --min-identity 1"];
    for (query, columns, ranks) in
        [("p.fa", paths, &ranks[..]), ("p.fa", scores, &ranks), ("both", paths, &raw), ("both", scores, &raw)]
    {
        for more in ranks {
            let all = run(query, &format!("--all {more} {columns}"));
            assert!(frames_of(&all) > 1);
            for (targets, hits) in [(1, 1), (1, 9), (2, 1), (3, 2), (5, 9), (500, 1), (500, 3)] {
                let limits = format!("--max-targets {targets} --max-hsps {hits}");
                let own = run(query, &format!("{limits} {more} {columns}"));
                let expected = within(&all, targets, hits);
                let differing = own.iter().zip(&expected).find(|(own, expected)| own != expected);
                assert!(own == expected, "{query} {limits} {more} {columns}: {differing:?}");
            }
        }
    }
    // The note counts references.
    let note = |most: usize| {
        let line =
            format!("--translate target --format tab --min-score 40 --max-targets {most} p.fa joined.fa");
        folder.line(&line).stderr.contains("--max-targets")
    };
    let of_query = |query: &String| {
        let all = run("p.fa", &format!("--all {scores}"));
        let own = all.into_iter().filter(|row| row[0] == *query);
        own.map(|row| row[1].clone()).collect::<BTreeSet<_>>().len()
    };
    let most = (0..12).map(|number| of_query(&format!("p{number}"))).max().unwrap();
    assert!(note(most - 1) && !note(most));
}

#[test]
fn nothing_but_the_input_decides() {
    let folder = coding();
    for format in ["tab", "json", "text"] {
        let common = format!("-q --translate query --format {format} --min-score 40");
        let expected = folder.line(&format!("{common} --device cpu dna.fa p.fa")).done();
        for more in ["--device plain", "--batch 1 -t 1", "--no-dedup --batch 7"] {
            assert!(
                folder.line(&format!("{common} {more} dna.fa p.fa")).done() == expected,
                "{format} {more}"
            );
        }
        for part in 1..=3 {
            folder.line(&format!("{common} --part {part}/3 -o part{part} dna.fa p.fa")).ended(0);
        }
        folder.line("merge -q joined part1 part2 part3").ended(0);
        assert!(folder.read("joined") == expected, "{format} in parts");
    }
}

/// Each hit of blastx with the same scores is found with at least its score, and on the same bases if the scores are equal.
/// E-values differ by BLAST's allowance for gaps between hits.
#[test]
fn hits_are_at_least_those_of_blast() {
    hits_are_at_least_those_of("blastx", "qframe data/coding.fa data/uniprot_60.fa");
    hits_are_at_least_those_of("tblastn", "sframe data/uniprot_60.fa data/coding.fa");
}

fn hits_are_at_least_those_of(program: &str, frame_and_files: &str) {
    let own = line_here(&format!(
        "{program} -q --matrix BLOSUM62 --gap-open 11 --gap-extend 1 --all --evalue 10 \
         --columns qseqid,sseqid,score,evalue,bitscore,qstart,qend,sstart,send,{frame_and_files}"
    ));
    let own = rows(own.text());
    let mut equal = 0;
    let text = crate::common::text(&format!("tests/golden/{program}.tsv"));
    let expected: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    for row in &expected {
        let number = |text: &str| text.parse::<f64>().unwrap();
        let is_on = |own: &&Vec<String>| own[0] == row[0] && own[1] == row[1] && own[9] == row[9];
        let covers = |own: &Vec<String>| {
            let [a, b, c, d] = [&*own[7], &*own[8], row[7], row[8]].map(number);
            a.min(b) < c.max(d) && c.min(d) < a.max(b)
        };
        let best =
            own.iter().filter(is_on).filter(|own| covers(own)).max_by_key(|own| number(&own[2]) as i64);
        let best = best.unwrap_or_else(|| panic!("{row:?} is missing"));
        assert!(number(&best[2]) >= number(row[2]), "{row:?} and {best:?}");
        if best[2] == row[2] {
            equal += 1;
            assert!(best[5..] == row[5..], "{row:?} and {best:?}");
            let ratio = number(&best[3]).max(1e-180) / number(row[3]).max(1e-180);
            assert!((1.0 / 3.0..=3.0).contains(&ratio), "{row:?} and {best:?}");
        }
    }
    assert!(equal * 10 >= expected.len() * 9, "{equal} of {}", expected.len());
}

#[test]
fn codes_and_frames_are_shown() {
    let dna = "ATGGCTTGGAAACGTTGATGGCATATTGATGAACATGGTTGGTATCGT";
    let files = [("q.fa", format!(">q\n{dna}\n")), ("p.fa", ">p\nMAWKRWWHIDEHGWYR\n".to_string())];
    let folder = Folder::new();
    files.iter().for_each(|(name, text)| folder.write(name, text));
    // TGA is tryptophan in code 4, and a stop in the standard code.
    let score = |more: &str| {
        let line = format!(
            "-q --translate query {more} --min-score 20 --evalue 1e9 --columns score,qframe,qstart,qend q.fa p.fa"
        );
        folder.line(&line).text().to_string()
    };
    assert_eq!(score("--genetic-code 4").lines().next(), Some("112\t1\t1\t48"));
    assert_eq!(score("").lines().next(), Some("97\t1\t1\t48"));
    let text = folder.line("-q --translate query --format text --min-score 20 --evalue 1e9 q.fa p.fa");
    assert!(
        text.text().contains(", frame +1") && text.text().contains("Query   1 MAWKR*WHIDEHGWYR 48"),
        "{}",
        text.text()
    );
    for (args, nouns) in [
        ("--translate query --format sam q.fa p.fa", &["--translate", "--format tab"][..]),
        ("--translate query --genetic-code 7 q.fa p.fa", &["--genetic-code", "11"]),
        ("--genetic-code 4 q.fa p.fa", &["--translate"]),
        ("--translate query --stats x.json q.fa p.fa", &["--translate", "--stats"]),
    ] {
        folder.line(args).said(2, nouns);
    }
    folder.line("--translate query p.fa p.fa").said(1, &["p.fa, record 1 'p'", "protein", "--translate"]);
}

/// Each hit of DIAMOND with frameshifts is found with at least its score, and with its path and E-value if the scores are equal.
#[test]
fn hits_with_frameshifts_are_at_least_those_of_diamond() {
    let own = line_here(
        "-q --translate query --frameshift 15 --matrix BLOSUM62 --gap-open 11 --gap-extend 1 --all --evalue 10 \
         --columns qseqid,sseqid,score,evalue,bitscore,qstart,qend,sstart,send,qframe,length,btop \
         data/coding_indels.fa data/uniprot_60.fa",
    );
    let own = rows(own.text());
    let text = crate::common::text("tests/golden/diamond_frameshift.tsv");
    let expected: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    let mut equal = 0;
    for row in &expected {
        let is_minus = |frame: &str| frame.starts_with('-');
        let mut on = own.iter().filter(|own| own[..2] == row[..2] && is_minus(&own[9]) == is_minus(row[9]));
        let best = on.next().unwrap_or_else(|| panic!("{row:?} is missing"));
        let number = |text: &str| text.parse::<f64>().unwrap();
        assert!(number(&best[2]) >= number(row[2]), "{row:?} and {best:?}");
        if best[2] == row[2] {
            equal += 1;
            let ratio = number(&best[3]).max(1e-180) / number(row[3]).max(1e-180);
            assert!((1.0 / 3.0..=3.0).contains(&ratio), "{row:?} and {best:?}");
            assert!(best[5..11] == row[5..11], "{row:?} and {best:?}");
        }
    }
    assert!(equal >= 18 && expected.len() == 19, "{equal} of {}", expected.len());
    let shifts = |row: &Vec<&str>| row[11].matches("/-").count() + row[11].matches("\\-").count();
    assert!(expected.iter().map(shifts).sum::<usize>() > 100);
}

/// Limits on E-values and identities choose among the hits that are found without them.
#[test]
fn limits_choose_among_the_hits_with_frameshifts() {
    let of = |limits: &str| {
        let line = format!(
            "-q --translate query --frameshift 15 --all {limits} --columns qseqid,sseqid,score,qstart,sstart,evalue,pident \
             data/coding_indels.fa data/uniprot_60.fa"
        );
        rows(line_here(&line).text())
    };
    let all = of("--evalue 10");
    let number = |text: &str| text.parse::<f64>().unwrap();
    // Printed E-values are rounded, and none of them is close to these limits.
    for most in [0.955, 1.505e-4, 1.505e-20] {
        let expected: Vec<Vec<String>> = all.iter().filter(|row| number(&row[5]) <= most).cloned().collect();
        assert!(expected.len() < all.len() && of(&format!("--evalue {most}")) == expected, "{most}");
    }
    let alike = of("--evalue 1e-3 --min-identity 90");
    let of_list: Vec<Vec<String>> =
        of("--evalue 1e-3").into_iter().filter(|row| number(&row[6]) >= 90.0).collect();
    assert!(alike == of_list && !alike.is_empty(), "{alike:?} {of_list:?}");
}

/// A gene that lost and gained bases has one hit on its protein, where single frames have pieces.
#[test]
fn frameshifts_join_the_pieces_of_a_gene() {
    let folder = coding_with_shifts();
    let limits = "--all --evalue 0.001";
    let columns =
        "--columns qseqid,sseqid,score,qstart,qend,sstart,send,cigar,qframe,frameshifts,btop,length";
    let of = |more: &str| {
        rows(folder.line(&format!("-q --translate query {more} {limits} {columns} dna.fa p.fa")).text())
    };
    let (joined, pieces) = (of("--frameshift 15"), of(""));
    for number in 0..10 {
        let (query, target) = (format!("q{number}"), format!("p{number}"));
        let hits = |rows: &[Vec<String>]| -> Vec<Vec<String>> {
            rows.iter().filter(|row| row[0] == query && row[1] == target).cloned().collect()
        };
        let (whole, parts) = (hits(&joined), hits(&pieces));
        let [first, last] = [5, 6].map(|place| whole[0][place].parse::<u32>().unwrap());
        assert!(first <= 5 && last >= 116, "{whole:?}");
        assert!(parts.len() > 1 || number % 3 == 0, "{parts:?}");
        let best = parts.iter().map(|row| row[2].parse::<i32>().unwrap()).max().unwrap();
        assert!(whole[0][2].parse::<i32>().unwrap() >= best, "{whole:?} {parts:?}");
        let signs = whole[0][7].matches(['\\', '/']).count();
        assert_eq!(whole[0][9], signs.to_string());
        assert_eq!(whole[0][10].matches("\\-").count() + whole[0][10].matches("/-").count(), signs);
        assert!(signs > 0 || number % 3 == 0, "{whole:?}");
    }
    for format in ["tab", "json", "text"] {
        let common = format!("-q --translate query --frameshift 15 --format {format}");
        let expected = folder.line(&format!("{common} --device cpu dna.fa p.fa")).done();
        for more in ["--device plain", "--batch 1 -t 1", "--no-dedup --batch 7"] {
            assert!(
                folder.line(&format!("{common} {more} dna.fa p.fa")).done() == expected,
                "{format} {more}"
            );
        }
    }
    let frames = |columns: &str| -> Vec<Vec<String>> {
        rows(
            folder
                .line(&format!("-q --translate query --frameshift 15 --columns {columns} dna.fa p.fa"))
                .text(),
        )
    };
    let whole = frames("qseqid,score,qframe,qstart");
    assert!(frames("qseqid,score,qframe").iter().zip(&whole).all(|(own, whole)| own[..] == whole[..3]));
    assert!(whole.iter().any(|row| row[2] == "-2" || row[2] == "2"));
    let text = folder.line("-q --translate query --frameshift 15 --format text dna.fa p.fa");
    assert!(text.text().contains('\\') && text.text().contains('/'), "{}", text.text());
    for (args, nouns) in [
        ("--frameshift 15 dna.fa p.fa", &["--translate"][..]),
        ("--translate query --frameshift 0 dna.fa p.fa", &["--frameshift", "15"]),
        ("--translate query --frameshift 15 --mode glocal dna.fa p.fa", &["--frameshift", "--mode"]),
        (
            "--translate query --frameshift 15 --gap-open 11,20 --gap-extend 2,1 dna.fa p.fa",
            &["--frameshift", "--gap-open"],
        ),
        ("--translate query --frameshift 15 --filter index dna.fa p.fa", &["--frameshift", "--filter"]),
    ] {
        folder.line(args).said(2, nouns);
    }
}

/// Ten proteins, and DNA that codes for each on either strand, with a base lost and another one added in most of them.
fn coding_with_shifts() -> Folder {
    let mut random = Random::new(5);
    let (mut dna, mut proteins) = (String::new(), String::new());
    for number in 0..10 {
        let protein = random.text(Alphabet::Protein, 120);
        let mut gene: Vec<u8> = Vec::new();
        for residue in protein.bytes() {
            let codon = AMINO_ACIDS.iter().position(|&known| known == residue).unwrap();
            gene.extend([codon / 16, codon / 4 % 4, codon % 4].map(|base| b"TCAG"[base]));
        }
        if number % 3 > 0 {
            gene.remove(100);
            gene.insert(220, b'A');
        }
        let mut query = random.sequence(Alphabet::Dna, 10 + number);
        query.extend(gene);
        query.extend(random.sequence(Alphabet::Dna, 7));
        if number % 2 == 1 {
            query = complemented(&query);
        }
        dna += &format!(">q{number}\n{}\n", query.escape_ascii());
        proteins += &format!(">p{number}\n{protein}\n");
    }
    folder(&[("dna.fa", dna.as_bytes()), ("p.fa", proteins.as_bytes())])
}
