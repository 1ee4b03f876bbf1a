//! Tests `--mates`: pairs of reads that begin with the two primers of a pair.

use super::*;
use std::cmp::Reverse;

const PRIMERS: &[u8] = b">p_F\nACGTTGCATTGC\n>p_R\nGGATCCATGGAC\n";

/// Arguments of a search of mates with all outputs.
const OUTPUTS: &str = "--amplicons --format fastq 1.fq --mates 2.fq -o o1 --mates-output o2 --untrimmed-output u1 \
                       --untrimmed-mates-output u2";

/// Name, bases and qualities.
type FastqRead = (String, Vec<u8>, Vec<u8>);

/// A hit of the table: start, end, pattern, whether it is on the forward strand, and edits.
type Row = (usize, usize, usize, bool, usize);

fn fastq<'a>(reads: impl IntoIterator<Item = &'a FastqRead>) -> Vec<u8> {
    let record = |(name, letters, qualities): &FastqRead| {
        [b"@", name.as_bytes(), b"\n", letters, b"\n+\n", qualities, b"\n"].concat()
    };
    reads.into_iter().flat_map(record).collect()
}

/// Returns a part of a read.
fn cut((name, letters, qualities): &FastqRead, from: usize, to: usize) -> FastqRead {
    (name.clone(), letters[from..to].to_vec(), qualities[from..to].to_vec())
}

/// Returns the hits of all patterns in each read, from the search that other tests check.
fn hits_of(folder: &Folder, file: &str, reads: &[FastqRead], names: &[&str], edits: &str) -> Vec<Vec<Row>> {
    let table = folder.line(&format!("search -f p.fa {file} {edits}")).text().to_string();
    let mut hits = vec![Vec::new(); reads.len()];
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |at: usize| fields[at].parse::<usize>().unwrap();
        let read = reads.iter().position(|read| read.0.split(' ').next() == Some(fields[0])).unwrap();
        let pattern = names.iter().position(|name| *name == fields[3]).unwrap();
        hits[read].push((number(1), number(2), pattern, fields[4] == "+", number(5)));
    }
    hits
}

/// Returns the parts of two mates with these hits by the definition, first the part with the first primer, or none.
/// Patterns 2k and 2k + 1 are a pair.
fn expected(mates: [&FastqRead; 2], hits: [&[Row]; 2], offset: usize, trims: bool) -> Option<[FastqRead; 2]> {
    let at_start = |hit: &&Row| hit.3 && hit.0 <= offset;
    let mut chosen: Vec<_> = Vec::new();
    for one in hits[0].iter().filter(at_start) {
        for other in hits[1].iter().filter(at_start) {
            if one.2 / 2 == other.2 / 2 && one.2 != other.2 {
                chosen.push((one.4 + other.4, one.0, other.0, one.1, other.1, one.2, other.2));
            }
        }
    }
    let &(_, start, mate_start, end, mate_end, pattern, partner) = chosen.iter().min()?;
    let part = |mate: usize, start: usize, end: usize, other: usize| {
        let faces = |hit: &&Row| !hit.3 && hit.2 == other && hit.0 >= start && hit.1 >= end;
        let best = hits[mate].iter().filter(faces).max_by_key(|hit| Reverse((hit.4, hit.0, hit.1)));
        let len = mates[mate].1.len();
        match (best, trims) {
            (None, _) => cut(mates[mate], if trims { end } else { start }, len),
            (Some(hit), false) => cut(mates[mate], start, hit.1),
            (Some(hit), true) => cut(mates[mate], end, hit.0.max(end)),
        }
    };
    let parts = [part(0, start, end, partner), part(1, mate_start, mate_end, pattern)];
    Some(if pattern % 2 == 0 {
        parts
    } else {
        let [one, other] = parts;
        [other, one]
    })
}

/// Returns a read that consists of these parts, with errors.
fn read(random: &mut Random, name: String, parts: &[&[u8]]) -> FastqRead {
    let letters = random.mutated(Alphabet::Dna, &parts.concat(), 3);
    let qualities = letters.iter().map(|_| b'!' + random.below(94) as u8).collect();
    (name, letters, qualities)
}

/// Random mates of two primer pairs, in either order, with spacers, errors, short fragments and reads without primers.
/// The output does not depend on threads and devices.
#[test]
fn random_pairs() {
    let mut random = Random::new(913);
    let names = ["a_F", "a_R", "b_F", "b_R"];
    let primers: Vec<Vec<u8>> = (0..4).map(|_| random.sequence(Alphabet::Dna, 13)).collect();
    let patterns: String = names
        .iter()
        .zip(&primers)
        .map(|(name, p)| format!(">{name}\n{}\n", String::from_utf8_lossy(p)))
        .collect();
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    for number in 0..150 {
        let (pair, turned) = (random.below(2), random.below(3) == 0);
        let (spacer, len) = (random.below(8), random.below(120));
        let (spacer, insert) = (random.sequence(Alphabet::Dna, spacer), random.sequence(Alphabet::Dna, len));
        let [mut first, mut second] = [&primers[2 * pair], &primers[2 * pair + 1]];
        if turned {
            (first, second) = (second, first);
        }
        let lost = Vec::new();
        if random.below(6) == 0 {
            second = &lost;
        }
        let through = random.below(2) == 0;
        let behind = |primer: &[u8]| if through { reverse_complement(primer) } else { Vec::new() };
        let mate = reverse_complement(&insert);
        let header = |mate: usize| format!("read{number}/{mate} {mate}:N:0\tBC:Z:ACGT");
        ones.push(read(&mut random, header(1), &[&spacer, first, &insert, &behind(second)]));
        others.push(read(&mut random, header(2), &[second, &mate, &behind(first)]));
    }
    let folder = folder(&[("p.fa", patterns.as_bytes()), ("1.fq", &fastq(&ones)), ("2.fq", &fastq(&others))]);
    let mut sums = [0, 0];
    for (edits, offset) in [("-k1", 10), ("-k3", 4), ("-k2 --no-indels", 0), ("-k2 --all", 7)] {
        let hits = [
            hits_of(&folder, "1.fq", &ones, &names, edits),
            hits_of(&folder, "2.fq", &others, &names, edits),
        ];
        for trim in ["", "--trim-primers"] {
            let (mut found, mut rest) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
            for (at, (one, other)) in ones.iter().zip(&others).enumerate() {
                match expected([one, other], [&hits[0][at], &hits[1][at]], offset, !trim.is_empty()) {
                    Some(parts) => found.iter_mut().zip(parts).for_each(|(file, part)| file.push(part)),
                    None => {
                        rest.iter_mut().zip([one, other]).for_each(|(file, read)| file.push(read.clone()))
                    }
                }
            }
            sums = [sums[0] + found[0].len(), sums[1] + rest[0].len()];
            for device in ["-t1", "-t3", "--device plain"] {
                let args = format!("-f p.fa {OUTPUTS} --primer-offset {offset} {edits} {trim} {device}");
                folder.line(&format!("search {args}")).ended(0);
                for (file, reads) in ["o1", "o2", "u1", "u2"].iter().zip(found.iter().chain(&rest)) {
                    assert!(folder.read(file) == fastq(reads), "{file} {args}");
                }
            }
        }
    }
    assert!(sums[0] > 300 && sums[1] > 200, "{sums:?}");
}

/// Finds the same pairs as cutadapt 5 with linked, anchored adapters without indels, and keeps the same parts of them
/// (`make_cutadapt.py`).
#[test]
fn as_cutadapt() {
    let golden = |name: &str| crate::common::text(&format!("tests/golden/cutadapt/{name}"));
    let files = ["1.fq", "2.fq", "primers.fa"];
    let folder = Folder::new();
    files.iter().for_each(|name| folder.write(name, golden(name)));
    for (trim, outputs) in
        [("--trim-primers", ["trimmed_1.fq", "trimmed_2.fq"]), ("", ["kept_1.fq", "kept_2.fq"])]
    {
        let args = format!("search -k2 --no-indels -f primers.fa {OUTPUTS} --primer-offset 0 {trim}");
        folder.line(&args).ended(0);
        for (own, other) in ["o1", "o2"].into_iter().zip(outputs) {
            let other = golden(other);
            assert!(other.len() > 1000 && folder.text(own) == other, "{own}");
        }
        // The other pairs are written unchanged.
        for (own, input, found) in [("u1", "1.fq", outputs[0]), ("u2", "2.fq", outputs[1])] {
            let (input, found) = (golden(input), golden(found));
            let lines: Vec<&str> = input.split_inclusive('\n').collect();
            let rest = lines.chunks(4).filter(|read| !found.contains(read[0]));
            assert_eq!(folder.text(own), rest.flatten().copied().collect::<String>());
        }
    }
}

/// Tests a single pair, mates in either order, gzip by file name, and messages.
#[test]
fn a_pair() {
    let reads = |first: &str, second: &str| {
        let read = |name: &str, letters: &str| {
            (name.to_string(), letters.as_bytes().to_vec(), vec![b'I'; letters.len()])
        };
        [read("x/1 a", first), read("x/2 b", second)].map(|read| fastq([&read]))
    };
    let run = |[one, other]: [Vec<u8>; 2], args: &str| {
        let folder = folder(&[("p.fa", PRIMERS), ("1.fq", &one), ("2.fq", &other)]);
        let mates = "--amplicons --format fastq 1.fq --mates 2.fq --mates-output o2.gz --trim-primers";
        let outcome = folder.line(&format!("search -f p.fa {mates} {args}"));
        let mut mates = String::new();
        flate2::read::MultiGzDecoder::new(&*folder.read("o2.gz")).read_to_string(&mut mates).unwrap();
        let mut lines = outcome.text().lines().map(str::to_string).collect::<Vec<_>>();
        lines.extend(mates.lines().map(str::to_string));
        (lines, outcome.stderr)
    };
    let (first, second) = ("AACGTTGCATTGCTTTT", "GGATCCATGGACAAAAAA");
    let (lines, said) = run(reads(first, second), "");
    assert_eq!(lines, ["@x/1 a", "TTTT", "+", "IIII", "@x/2 b", "AAAAAA", "+", "IIIIII"]);
    assert!(said.contains("2 patterns, 2 texts of 35 bases, 2 with an amplicon, 1 amplicon in"), "{said}");
    let (lines, _) = run(reads(second, first), "");
    assert_eq!(lines, ["@x/2 b", "TTTT", "+", "IIII", "@x/1 a", "AAAAAA", "+", "IIIIII"]);
    assert_eq!(run(reads(first, second), "--primer-offset 0").0, [""; 0]);
    assert_eq!(run(reads(first, first), "").0, [""; 0]);
    assert_eq!(run(reads(first, ""), "").0, [""; 0]);
}

/// Faults in the files of mates leave no output.
#[test]
fn faulty_mates() {
    let read = |name: &str| format!("@{name}\nACGTTGCATTGC\n+\nIIIIIIIIIIII\n").into_bytes();
    let with = |one: &[u8], other: &[u8], says: &[&str]| {
        let folder = folder(&[("p.fa", PRIMERS), ("1.fq", one), ("2.fq", other)]);
        let mates = "--amplicons --format fastq --mates-output o2 1.fq --mates 2.fq";
        folder.line_refused(&format!("search -o out -f p.fa {mates}"), 1, says);
    };
    let (a, b) = (read("a"), read("b"));
    let ab = [&*a, &b].concat();
    with(&ab, &[&*b, &a].concat(), &["1.fq, record 1 'a'", "2.fq, record 1 'b'", "order"]);
    with(&ab, &a, &["1.fq, record 2 'b'", "no mate", "2.fq has fewer"]);
    with(&a, &ab, &["2.fq, record 2 'b'", "no mate", "1.fq has fewer"]);
    with(&ab, b">a\nACGT\n", &["2.fq, record 1 'a'", "no qualities"]);
    with(&ab, b"@a\nACGT\n+\nIII\n", &["2.fq"]);
    with(&ab, b"", &["2.fq"]);
}

#[test]
fn usage_of_mates() {
    let read = b"@a\nACGTTGCATTGC\n+\nIIIIIIIIIIII\n";
    let folder = folder(&[("p.fa", PRIMERS), ("1.fq", read), ("2.fq", read)]);
    let with = "--amplicons --mates 2.fq --mates-output o2";
    let fastq = format!("{with} --format fastq");
    for (given, args, says) in [
        (with, "", &["--mates", "--format fastq"][..]),
        (with, "--format fasta", &["--mates", "--format fastq"]),
        ("", "--mates 2.fq --mates-output o2", &["--amplicons"]),
        ("", "--amplicons --format fastq --mates 2.fq", &["--mates-output"]),
        ("", "--amplicons --format fastq --mates-output o2", &["--mates"]),
        (&fastq, "2.fq", &["--mates", "one TEXT"]),
        (&fastq, "--amplicon-size 1..9", &["--amplicon-size"]),
        (&fastq, "--circular all", &["--circular"]),
        (&fastq, "--part 1/2", &["--part"]),
        (&fastq, "--primer-offset -1", &["--primer-offset", "0 or more"]),
        (&fastq, "--untrimmed-output 2.fq", &["--untrimmed-output", "overwrite", "2.fq"]),
        (&fastq, "--untrimmed-mates-output o2", &["--untrimmed-mates-output", "overwrite o2"]),
        (
            "",
            "--amplicons --format fastq --mates 2.fq --mates-output out",
            &["--mates-output", "overwrite out"],
        ),
    ] {
        folder.line_refused(&format!("search -o out -f p.fa 1.fq {given} {args}"), 2, says);
    }
    let search = "search -f p.fa --amplicons --format fastq --mates-output o2";
    folder.line(&format!("{search} - --mates -")).said(2, &["stdin"]);
    let outcome = folder.line(&format!("{search} 1.fq --mates 2.fq -o 2.fq"));
    outcome.said(2, &["--output", "overwrite", "2.fq"]);
}

/// A resumed run is repeated if a further output is missing or the mates have changed.
#[test]
fn a_resumed_run() {
    let read = b"@a\nACGTTGCATTGC\n+\nIIIIIIIIIIII\n";
    let folder = folder(&[("p.fa", PRIMERS), ("1.fq", read), ("2.fq", read)]);
    let search = || folder.line(&format!("search -f p.fa {OUTPUTS} --resume"));
    search().ended(0);
    assert_eq!(folder.read("u2"), read);
    search().said(0, &["o1 is complete"]);
    fs::remove_file(folder.file("o2")).unwrap();
    search().ended(0);
    assert!(folder.file("o2").exists());
    folder.write("2.fq", b"@a\nACGTTGCATTGCA\n+\nIIIIIIIIIIIII\n");
    search().ended(0);
    assert_eq!(folder.text("u2").lines().nth(1), Some("ACGTTGCATTGCA"));
}
