//! Recomputes every column and tag of PAF from the SAM records and the sequences, and compares lines with minimap2's.

use crate::common::{command::run_here, repository, sam::Record, text};
use std::collections::BTreeMap;
use std::fmt::Write;
use swalign::terms::alphabet::{Alphabet, reverse_complement};

/// Returns names and upper-case residues, in the order of the file.
fn sequences(path: &str) -> Vec<(String, Vec<u8>)> {
    let mut reader = needletail::parse_fastx_file(repository().join(path)).unwrap();
    let mut found = Vec::new();
    while let Some(record) = reader.next() {
        let record = record.unwrap();
        let id = String::from_utf8(record.id().to_vec()).unwrap();
        let name = id.split_whitespace().next().unwrap().to_string();
        found.push((name, record.seq().to_ascii_uppercase()));
    }
    found
}

/// Returns the operations of a CIGAR with their lengths.
fn operations(cigar: &str) -> Vec<(usize, char)> {
    let mut number = 0;
    let mut found = Vec::new();
    for letter in cigar.chars() {
        match letter.to_digit(10) {
            Some(digit) => number = number * 10 + digit as usize,
            None => {
                found.push((number, letter));
                number = 0;
            }
        }
    }
    found
}

/// Returns whether two residues are equal, and whether one of them is ambiguous.
fn compare(alphabet: Alphabet, query: u8, target: u8) -> (bool, bool) {
    let [q, t] = [query, target].map(|letter| alphabet.code(letter).unwrap());
    let ambiguous = alphabet == Alphabet::Dna && (q > 3 || t > 3);
    (q == t && !ambiguous, ambiguous)
}

/// Returns the PAF line of a SAM record, computed residue by residue.
fn line(record: &Record, query: &[u8], target: &[u8], alphabet: Alphabet) -> String {
    if record.flag() & 4 != 0 {
        return format!("{}\t{}\t0\t0\t*\t*\t0\t0\t0\t0\t0\t0", record.name(), query.len());
    }
    let reverse = record.flag() & 16 != 0;
    let turned = if reverse { reverse_complement(query) } else { query.to_vec() };
    let (mut i, mut j) = (0, record.position() as usize - 1);
    let (start, mut clips, mut path) = (j, Vec::new(), String::new());
    let (mut matches, mut unequal, mut ambiguous, mut gapped, mut gaps) = (0, 0, 0, 0, 0);
    for (len, kind) in operations(record.cigar()) {
        if kind == 'S' {
            clips.push((i, len));
            i += len;
            continue;
        }
        write!(path, "{len}{kind}").unwrap();
        if matches!(kind, 'I' | 'D') {
            gaps += 1;
            gapped += len;
        }
        for _ in 0..len {
            let (equal, unclear) = match kind {
                'I' => (false, compare(alphabet, turned[i], turned[i]).1),
                'D' => (false, compare(alphabet, target[j], target[j]).1),
                _ => compare(alphabet, turned[i], target[j]),
            };
            matches += usize::from(equal);
            ambiguous += usize::from(unclear);
            unequal += usize::from(!equal && !matches!(kind, 'I' | 'D'));
            i += usize::from(kind != 'D');
            j += usize::from(kind != 'I');
        }
    }
    let before = clips.iter().find(|(at, _)| *at == 0).map_or(0, |(_, len)| *len);
    let after = clips.iter().find(|(at, _)| *at > 0).map_or(0, |(_, len)| *len);
    let (before, after) = if reverse { (after, before) } else { (before, after) };
    let block = matches + unequal + gapped - ambiguous;
    let divergence = 1.0 - matches as f64 / (matches + unequal + gaps) as f64;
    let divergence = if divergence == 0.0 { "0".to_string() } else { format!("{divergence:.4}") };
    assert_eq!(record.tag("NM"), Some(&*(unequal + gapped).to_string()), "{}", record.name());
    format!(
        "{}\t{}\t{before}\t{}\t{}\t{}\t{}\t{start}\t{j}\t{matches}\t{block}\t{}\tNM:i:{}\tAS:i:{}\ttp:A:{}\t\
         de:f:{divergence}\tcg:Z:{path}",
        record.name(),
        query.len(),
        query.len() - after,
        if reverse { '-' } else { '+' },
        record.target(),
        target.len(),
        record.fields[4],
        unequal + gapped,
        record.score(),
        if record.flag() & 256 != 0 { 'S' } else { 'P' },
    )
}

/// Compares our PAF with our SAM. Returns the numbers of reverse, secondary and unmapped records.
fn same_as_sam(query: &str, reference: &str, alphabet: Alphabet, options: &[&str]) -> [usize; 3] {
    let args = [options, &["--device", "cpu", query, reference]].concat();
    let sam = run_here(&args).sam();
    let paf = run_here(&[&["--format", "paf"], &args[..]].concat());
    paf.ended(0);
    let paf = String::from_utf8(paf.stdout).unwrap();
    let targets: BTreeMap<String, Vec<u8>> = sequences(reference).into_iter().collect();
    let queries: BTreeMap<String, Vec<u8>> = sequences(query).into_iter().collect();
    let expected: String = sam
        .records
        .iter()
        .map(|record| {
            let target = targets.get(record.target()).map(Vec::as_slice).unwrap_or_default();
            let end = if record.flag() & 0x800 != 0 { "\tsu:i:1\n" } else { "\n" };
            let anchored = if record.tag("ya").is_some() { "\tya:i:1" } else { "" };
            line(record, &queries[record.name()], target, alphabet) + anchored + end
        })
        .collect();
    for (ours, expected) in paf.lines().zip(expected.lines()) {
        assert_eq!(ours, expected);
    }
    assert!(paf == expected, "{} lines, expected {}", paf.lines().count(), expected.lines().count());
    [16, 256, 4].map(|flag| sam.records.iter().filter(|record| record.flag() & flag != 0).count())
}

#[test]
fn columns_of_reads() {
    let [reverse, secondary, _] = same_as_sam(
        "data/ont_sars2.fq.gz",
        "data/sars2.fa",
        Alphabet::Dna,
        &["--preset", "long", "--max-hits", "3", "--secondary-ratio", "0.02"],
    );
    assert!(reverse > 0 && secondary > 0, "{reverse} {secondary}");
    let options = ["--eqx", "--max-hits", "2", "--secondary-ratio", "0.1", "-R", "@RG\\tID:x"];
    let [reverse, secondary, _] =
        same_as_sam("data/illumina_chr22.fq.gz", "data/chr22_12k.fa", Alphabet::Dna, &options);
    assert!(reverse > 0 && secondary > 0, "{reverse} {secondary}");
}

/// The cs tag contains NM edits, is the same in SAM and PAF, and is on each aligned record.
#[test]
fn cs_of_reads() {
    let words = [
        "--preset",
        "long",
        "--max-hits",
        "3",
        "--secondary-ratio",
        "0.02",
        "data/ont_sars2.fq.gz",
        "data/sars2.fa",
    ];
    for form in ["--cs=short", "--cs=long"] {
        let tags = |format: &str| -> Vec<(u64, String)> {
            let output =
                run_here(&[&["--device", "cpu", "-q", form, "--format", format], &words[..]].concat());
            let text = String::from_utf8(output.stdout).unwrap();
            let lines = text.lines().filter(|line| !line.starts_with('@') && line.contains("\tNM:i:"));
            let tag = |line: &str, name: &str| {
                line.split('\t').find_map(|field| field.strip_prefix(name)).unwrap().to_string()
            };
            lines.map(|line| (tag(line, "NM:i:").parse().unwrap(), tag(line, "cs:Z:"))).collect()
        };
        let of_sam = tags("sam");
        assert_eq!(of_sam, tags("paf"));
        assert!(of_sam.len() > 20, "{}", of_sam.len());
        for (edits, cs) in &of_sam {
            let of_gaps = cs.split_inclusive(['+', '-', ':', '=', '*']).collect::<Vec<_>>();
            let edited = of_gaps.windows(2).map(|pair| {
                let letters = pair[1].trim_end_matches(['+', '-', ':', '=', '*']).len() as u64;
                match pair[0].chars().last() {
                    Some('+' | '-') => letters,
                    Some('*') => 1,
                    _ => 0,
                }
            });
            assert_eq!(edited.sum::<u64>(), *edits, "{cs}");
        }
    }
}

#[test]
fn columns_of_queries_without_a_hit() {
    let options = ["--min-score", "24"];
    let [.., unmapped] = same_as_sam("data/artic_v3_primers.fa", "data/sars2.fa", Alphabet::Dna, &options);
    assert!(unmapped > 0);
}

#[test]
fn columns_of_proteins() {
    let options = ["--max-hits", "5", "--secondary-ratio", "0.1"];
    let [_, secondary, _] =
        same_as_sam("data/proteins_20.fa", "data/uniprot_60.fa", Alphabet::Protein, &options);
    assert!(secondary > 0);
}

/// With the same scoring, minimap2 finds the same paths and counts the same. Its mapping qualities differ, since they
/// depend on seeds.
#[test]
fn minimap2_counts_the_same() {
    let ours = |query, reference| {
        let args =
            ["--device", "cpu", "--format", "paf", "--preset", "long", "--ambiguous", "1", query, reference];
        String::from_utf8(run_here(&args).stdout).unwrap()
    };
    let ours = ours("data/ont_sars2.fq.gz", "data/sars2.fa")
        + &ours("data/illumina_chr22.fq.gz", "data/chr22_12k.fa");
    let of_both = |line: &str| -> String {
        let fields: Vec<&str> = line.split('\t').collect();
        let tag = |field: &&&str| ["NM", "AS", "tp", "de", "cg"].contains(&&field[..2]);
        fields[..11].iter().chain(fields[12..].iter().filter(tag)).map(|field| format!("{field}\t")).collect()
    };
    let ours: BTreeMap<&str, String> =
        ours.lines().map(|line| (line.split('\t').next().unwrap(), of_both(line))).collect();
    let theirs = text("tests/golden/minimap2.paf");
    for line in theirs.lines() {
        assert_eq!(ours[line.split('\t').next().unwrap()], of_both(line));
    }
    assert_eq!(theirs.lines().count(), 20);
}
