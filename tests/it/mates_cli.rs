//! Tests mates and split reads through the command: input files, parts, flags, and the fields of records about their
//! mates.

use crate::common::command::{command, finish};
use crate::common::folder::Folder;
use crate::common::sam::{Record, Sam};
use crate::common::{codes, names_in_groups, random::Random};
use std::collections::HashMap;
use swalign::terms::alphabet::{Alphabet, reverse_complement};

const PAIRS: usize = 1500;
const LETTERS: usize = 80;
const INSERT: (usize, usize) = (220, 60);
const REFERENCE: &str = "ref.fa";

fn text(letters: &[u8]) -> &str {
    std::str::from_utf8(letters).unwrap()
}

/// Writes two references that share a stretch, and mates from them in every input form. One pair in 20 has a mate of
/// random bases, one in 40 has two, and one in 30 has mates from two references.
fn mates() -> Folder {
    let folder = Folder::new();
    let mut random = Random::new(7);
    let mut references: Vec<Vec<u8>> = (0..2).map(|_| random.sequence(Alphabet::Dna, 6000)).collect();
    let copy = references[0][1000..1600].to_vec();
    references[1][3000..3600].copy_from_slice(&copy);
    folder.write(REFERENCE, format!(">one\n{}\n>two\n{}\n", text(&references[0]), text(&references[1])));
    let [mut first, mut second, mut both, mut fasta] = [(); 4].map(|()| String::new());
    let names = names_in_groups(PAIRS, 50, LETTERS);
    for (number, name) in names.iter().enumerate() {
        let size = INSERT.0 + random.below(INSERT.1);
        let reference = &references[number % 2];
        let start = random.below(reference.len() - size);
        let left = random.mutated(Alphabet::Dna, &reference[start..start + LETTERS], 1);
        let elsewhere = number % 30 == 7;
        let right = match elsewhere {
            true => references[1 - number % 2][start..start + LETTERS].to_vec(),
            false => reverse_complement(&reference[start + size - LETTERS..start + size]),
        };
        let right = random.mutated(Alphabet::Dna, &right, 1);
        let mut pair = if random.below(2) == 0 { [left, right] } else { [right, left] };
        if number % 20 == 3 {
            pair[random.below(2)] = random.sequence(Alphabet::Dna, LETTERS);
        }
        if number % 40 == 5 {
            pair = [(); 2].map(|()| random.sequence(Alphabet::Dna, LETTERS));
        }
        for (mate, (letters, file)) in pair.iter().zip([&mut first, &mut second]).enumerate() {
            let qualities: String = (0..letters.len()).map(|_| random.pick(&['#', '/', '0', 'F'])).collect();
            let record = format!("@{name}/{} comment {mate}\n{}\n+\n{qualities}\n", mate + 1, text(letters));
            file.push_str(&record);
            both.push_str(&record);
            fasta.push_str(&format!(">{name}\n{}\n", text(letters)));
        }
    }
    for (name, text) in [("r1.fq", first), ("r2.fq", second), ("both.fq", both), ("both.fa", fasta)] {
        folder.write(name, text);
    }
    folder
}

#[test]
fn two_files_or_one_are_the_same() {
    let folder = mates();
    let whole = folder.line("-q r1.fq r2.fq ref.fa").without_pg();
    assert_eq!(folder.line("-q --interleaved both.fq ref.fa").without_pg(), whole);
    let mut piped = command(folder.path());
    piped.args(["-q", "--interleaved", "-", REFERENCE]).write_stdin(folder.read("both.fq"));
    assert_eq!(finish(&mut piped).without_pg(), whole);
    for more in ["-t 1 --batch 7", "-t 4 --filter none", "--filter scan --batch 64"] {
        assert_eq!(folder.line(&format!("-q r1.fq r2.fq ref.fa {more}")).without_pg(), whole, "{more}");
    }
}

#[test]
fn parts_joined_are_the_whole() {
    let folder = mates();
    for format in ["sam", "bam", "paf"] {
        for input in ["r1.fq r2.fq", "--interleaved both.fq", "--interleaved both.fa"] {
            let args = format!("-q --format {format} {input} ref.fa");
            folder.line(&format!("{args} -o whole")).ended(0);
            let (whole, merged) = (folder.read("whole"), folder.merged(&args, "--part", 3, format));
            assert!(whole == merged, "{args}: {} and {} bytes", whole.len(), merged.len());
        }
    }
}

/// Returns the flag of a SAM record, the reference and position of its mate, and the template length.
fn told(record: &Record) -> (u32, &str, u64, i64) {
    let field = |at: usize| record.fields[at].as_str();
    let mate = if field(6) == "=" { record.target() } else { field(6) };
    (record.flag(), mate, field(7).parse().unwrap(), field(8).parse().unwrap())
}

fn end(record: &Record) -> u64 {
    let mut len = 0;
    let mut number = 0;
    for letter in record.cigar().chars() {
        match letter.to_digit(10) {
            Some(digit) => number = 10 * number + u64::from(digit),
            None => {
                len += if "MD=X".contains(letter) { number } else { 0 };
                number = 0;
            }
        }
    }
    record.position() - 1 + len
}

#[test]
fn records_of_mates_agree() {
    let folder = mates();
    let sam = folder.line("-q --max-hits 3 r1.fq r2.fq ref.fa").sam();
    assert!(sam.header.iter().any(|line| line.starts_with("@CO\tswalign insert: orientation=fr mean=2")));
    let primary: Vec<&Record> = sam.primary().collect();
    assert_eq!(primary.len(), 2 * PAIRS);
    let (mut proper, mut half, mut none, mut elsewhere) = (0, 0, 0, 0);
    for pair in primary.chunks(2) {
        let [one, other] = [pair[0], pair[1]];
        assert_eq!(one.name(), other.name());
        assert!(!one.name().contains('/'));
        assert_eq!((one.flag() & 0xc1, other.flag() & 0xc1), (0x41, 0x81), "first and last of a pair");
        assert_eq!(one.flag() & 2, other.flag() & 2);
        for (own, mate) in [(one, other), (other, one)] {
            let (flag, target, position, length) = told(own);
            let unmapped = |record: &Record| record.flag() & 4 != 0;
            assert_eq!((flag & 8 != 0, flag & 32 != 0), (unmapped(mate), mate.flag() & 16 != 0));
            assert_eq!((target, position), (mate.target(), mate.position()));
            if unmapped(own) && !unmapped(mate) {
                half += 1;
                assert_eq!((own.target(), own.position()), (mate.target(), mate.position()));
                assert_eq!((own.cigar(), own.fields[4].as_str()), ("*", "0"));
            }
            assert_eq!(own.tag("MC"), (!unmapped(mate)).then_some(mate.cigar()));
            assert_eq!(own.tag("MQ"), (!unmapped(mate)).then_some(&*mate.fields[4]));
            let sum: u32 = mate.fields[10].bytes().map(|q| u32::from(q - b'!')).filter(|&q| q >= 15).sum();
            assert_eq!(own.tag("ms"), Some(&*sum.to_string()));
            let five_prime =
                |record: &Record| if record.flag() & 16 == 0 { record.position() - 1 } else { end(record) } as i64;
            let is_together = !unmapped(own) && !unmapped(mate) && own.target() == mate.target();
            assert_eq!(length, if is_together { five_prime(mate) - five_prime(own) } else { 0 });
            if flag & 2 != 0 {
                proper += 1;
                assert!(is_together && (flag & 16 != 0) != (flag & 32 != 0));
            }
            elsewhere += usize::from(own.target() != target && target != "*");
            none += usize::from(unmapped(own) && unmapped(mate));
        }
    }
    assert!(proper > 2 * PAIRS * 8 / 10 && half > 50 && none > 40 && elsewhere > 30);
    let further = || sam.records.iter().filter(|record| record.flag() & 0x100 != 0);
    let (mut together, mut alone) = (0, 0);
    for record in further() {
        assert_eq!(record.tag("MC"), None);
        let points_to = |other: &&Record| {
            let (_, target, position, length) = told(record);
            let (_, own_target, own_position, other_length) = told(other);
            (target, position, length) == (other.target(), other.position(), -other_length)
                && (own_target, own_position) == (record.target(), record.position())
        };
        let mate =
            |other: &&Record| other.name() == record.name() && (other.flag() ^ record.flag()) & 0xc0 == 0xc0;
        if record.flag() & 2 != 0 {
            together += 1;
            let partner = further().filter(mate).find(points_to).expect("a further hit of the mate");
            assert_eq!((partner.flag() & 2, partner.flag() & 16 != 0), (2, record.flag() & 32 != 0));
            assert_eq!(partner.flag() & 32 != 0, record.flag() & 16 != 0);
        } else {
            alone += 1;
            let (_, target, position, _) = told(record);
            let first = sam.primary().find(mate).unwrap();
            assert_eq!((target, position), (first.target(), first.position()));
        }
    }
    assert!(together > 20 && alone > 20, "{together} {alone}");
    // In a stretch with two equal copies, the mate outside it decides.
    assert!(primary.iter().any(|record| record.tag("XS") == record.tag("AS") && record.flag() & 2 != 0));
}

#[test]
fn paf_names_mates() {
    let folder = mates();
    let paf = folder.line("-q --format paf r1.fq r2.fq ref.fa");
    let names: Vec<&str> = paf.text().lines().map(|line| line.split('\t').next().unwrap()).collect();
    assert_eq!(names.len(), 2 * PAIRS);
    assert!(names.chunks(2).all(|pair| pair[0].strip_suffix("/1") == pair[1].strip_suffix("/2")));
}

#[test]
fn orientations() {
    let folder = mates();
    let turned = |file: &str, to: &str| {
        let text = folder.text(file);
        let lines: Vec<&str> = text.lines().collect();
        let record = |record: &[&str]| {
            let letters = reverse_complement(record[1].as_bytes());
            format!("{}\n{}\n+\n{}\n", record[0], std::str::from_utf8(&letters).unwrap(), record[3])
        };
        folder.write(to, lines.chunks(4).map(record).collect::<String>());
    };
    turned("r1.fq", "turned1.fq");
    turned("r2.fq", "turned2.fq");
    for (files, orientation, mean) in
        [("turned1.fq turned2.fq", "rf", "mean=9"), ("r1.fq turned2.fq", "ff", "mean=1")]
    {
        let sam = folder.line(&format!("-q {files} ref.fa")).sam();
        let insert = sam.header.iter().find_map(|line| line.strip_prefix("@CO\tswalign insert: ")).unwrap();
        assert!(insert.starts_with(&format!("orientation={orientation} {mean}")), "{insert}");
        let proper = sam.primary().filter(|record| record.flag() & 2 != 0).count();
        assert!(proper > 2 * PAIRS * 8 / 10, "{orientation}: {proper}");
        // The estimated insert size gives the same records when it is set by hand.
        let numbers = insert.replace("mean=", "").replace("deviation=", "");
        let [_, mean, deviation] = numbers.split(' ').collect::<Vec<_>>()[..] else { panic!("{insert}") };
        let by_hand = format!("-q --insert {mean},{deviation},{orientation} {files} ref.fa");
        assert_eq!(folder.line(&by_hand).sam().records, sam.records);
    }
}

#[test]
fn what_is_no_pair_is_refused() {
    let folder = mates();
    let lines = |text: &str, from: usize, to: usize| -> String {
        text.split_inclusive('\n').skip(4 * from).take(4 * (to - from)).collect()
    };
    folder.write("fewer.fq", lines(&folder.text("r2.fq"), 0, 40));
    folder.write("shifted.fq", lines(&folder.text("r2.fq"), 1, PAIRS));
    folder.write("odd.fq", lines(&folder.text("both.fq"), 0, 41));
    folder.write("protein.fa", ">p\nMKVLAAGITRMKVLAAGITRMKVLWWPPQQEEFF\n");
    for (args, code, says) in [
        ("r1.fq fewer.fq ref.fa", 1, &["r1.fq, record 41", "fewer.fq has fewer"][..]),
        ("fewer.fq r1.fq ref.fa", 1, &["fewer.fq, record 1", "r1.fq, record 1", "another name"]),
        ("r1.fq shifted.fq ref.fa", 1, &["r1.fq, record 1", "shifted.fq, record 1", "same order"]),
        ("--interleaved odd.fq ref.fa", 1, &["odd.fq, record 41", "no mate"]),
        ("--interleaved r1.fq ref.fa", 1, &["r1.fq, record 1", "r1.fq, record 2"]),
        ("r1.fq nosuch.fq ref.fa", 1, &["nosuch.fq"]),
        ("r1.fq r2.fq protein.fa", 2, &["protein"]),
        ("--forward-only r1.fq r2.fq ref.fa", 2, &["both strands"]),
        ("--interleaved r1.fq r2.fq ref.fa", 2, &["--interleaved", "one file"]),
        ("--insert 300,30 r1.fq ref.fa", 2, &["--insert", "mates"]),
        ("--insert 300 r1.fq r2.fq ref.fa", 2, &["MEAN,SD"]),
        ("--insert 0,1 r1.fq r2.fq ref.fa", 2, &["MEAN,SD"]),
        ("--insert 300,30,fx r1.fq r2.fq ref.fa", 2, &["MEAN,SD", "rf"]),
        ("- - ref.fa", 2, &["stdin"]),
        ("-o r2.fq r1.fq r2.fq ref.fa", 2, &["overwrite", "r2.fq"]),
    ] {
        folder.line(args).said(code, says);
    }
    // Mates are also paired if there are too few for an estimate.
    folder.write("few1.fq", lines(&folder.text("r1.fq"), 0, 3));
    folder.write("few2.fq", lines(&folder.text("r2.fq"), 0, 3));
    let few = folder.line("few1.fq few2.fq ref.fa");
    assert!(few.stderr.contains("insert size") && few.stderr.contains("--insert"), "{}", few.stderr);
    assert!(few.sam().primary().filter(|record| record.flag() & 2 != 0).count() >= 4);
}

/// Splits reads with chimeras, inversions and deletions of one reference.
#[test]
fn split_reads() {
    let folder = Folder::new();
    let mut random = Random::new(11);
    let reference = random.sequence(Alphabet::Dna, 8000);
    let piece = |from: usize, to: usize| reference[from..to].to_vec();
    let turned = |from: usize, to: usize| reverse_complement(&reference[from..to]);
    let reads = [
        ("chimera", [piece(100, 700), turned(5000, 5400)].concat()),
        ("inversion", [piece(1000, 1400), turned(1400, 2300), piece(2300, 2700)].concat()),
        ("deletion", [piece(3000, 3500), piece(4500, 4950)].concat()),
        ("whole", piece(6000, 7000)),
        ("short", [piece(6000, 7000), piece(100, 130)].concat()),
    ];
    let fastq: String = reads
        .iter()
        .map(|(name, letters)| {
            let qualities: String = (0..letters.len()).map(|at| (b'!' + (at % 40) as u8) as char).collect();
            format!("@{name}\n{}\n+\n{qualities}\n", text(letters))
        })
        .collect();
    folder.write("q.fq", fastq);
    folder.write(REFERENCE, format!(">r\n{}\n", text(&reference)));
    let letters: HashMap<&str, &Vec<u8>> = reads.iter().map(|(name, letters)| (*name, letters)).collect();
    let long = "-q --preset long q.fq ref.fa";
    for clip in ["soft", "hard"] {
        let sam = folder.line(&format!("{long} --clip {clip}")).sam();
        for (name, count) in [("chimera", 2), ("inversion", 3), ("deletion", 2), ("whole", 1), ("short", 1)] {
            let records: Vec<&Record> = sam.records.iter().filter(|record| record.name() == name).collect();
            assert_eq!(records.len(), count, "{name}");
            assert_eq!(records[0].flag() & 0x900, 0);
            let element = |record: &&Record| {
                let strand = if record.flag() & 16 == 0 { "+" } else { "-" };
                let cigar = record.cigar().replace('H', "S");
                let (position, quality) = (record.position(), &record.fields[4]);
                format!("r,{position},{strand},{cigar},{quality},{};", record.tag("NM").unwrap())
            };
            for (at, record) in records.iter().enumerate() {
                assert_eq!(record.flag() & 0x900, if at == 0 { 0 } else { 0x800 });
                let others = records.iter().enumerate().filter(|(other, _)| *other != at);
                let others: String = others.map(|(_, other)| element(other)).collect();
                assert_eq!(record.tag("SA").unwrap_or_default(), others, "{name}");
                // SEQ is the read, or the aligned part of it.
                let oriented = match record.flag() & 16 {
                    0 => letters[name].clone(),
                    _ => reverse_complement(letters[name]),
                };
                let own = record.sequence().as_bytes();
                let found = codes(Alphabet::Dna, &oriented)
                    .windows(own.len())
                    .any(|w| w == codes(Alphabet::Dna, own));
                assert!(found && own.len() == record.fields[10].len());
                let is_whole = own.len() == letters[name].len();
                assert_eq!(is_whole, clip == "soft" || at == 0, "{name} {clip}");
                assert_eq!(record.cigar().contains('H'), !is_whole);
            }
        }
    }
    let records = |more: &str| folder.line(&format!("-q q.fq ref.fa {more}")).sam().records;
    let supplementary = |more: &str| records(more).iter().filter(|record| record.flag() & 0x800 != 0).count();
    // Short reads are not split by default.
    for (more, count) in [
        ("", 0),
        ("--split", 4),
        ("--split --split-score 25", 5),
        ("--split-score 500", 0),
        ("--preset long --no-split", 0),
    ] {
        assert_eq!(supplementary(more), count, "{more}");
    }
    assert_eq!(records("--preset long"), records("--preset long --filter none -t 1"));
    assert_eq!(records("--preset long"), records("--preset long --device plain"));
    // The pieces are in descending order of length, so that each round finds one.
    let pieces: Vec<Vec<u8>> = (0..24).map(|at| piece(300 * at, 300 * at + 80 - at)).collect();
    folder.write("many.fa", format!(">many\n{}\n", text(&pieces.concat())));
    let pieces_found = |more: &str| {
        let outcome = folder.line(&format!("--preset long many.fa ref.fa {more}"));
        (outcome.sam().records.len(), outcome.stderr.contains("1 query may have more"))
    };
    assert_eq!(pieces_found("--split"), (24, false));
    let (found, is_said) = pieces_found("");
    assert!(is_said && (4..24).contains(&found), "{found}");
    // The number of supplementary alignments does not depend on `--max-hits`.
    let many = records("--preset long --max-hits 4");
    assert_eq!(many.iter().filter(|record| record.flag() & 0x800 != 0).count(), 4);
    for (args, says) in [
        ("--split --no-split", "--no-split"),
        ("--split --ref-part 1/2", "--ref-part"),
        ("--no-split --split-score 9", "--split-score"),
    ] {
        folder.line(&format!("{args} q.fq ref.fa")).said(2, &[says]);
    }
    // `merge` counts the queries of parts, not their supplementary records.
    for format in ["sam", "paf", "bam"] {
        let args = format!("{long} --format {format}");
        folder.line(&format!("{args} -o whole")).ended(0);
        assert!(folder.read("whole") == folder.merged(&args, "--part", 2, format), "{format}");
    }
}

/// Limits by identity keep pairs: the hit of the pair stays first, even if a better hit is elsewhere. If a hit of the
/// pair is below the limit, the mates are not a proper pair.
#[test]
fn limits_by_identity_keep_pairs() {
    let folder = Folder::new();
    let mut random = Random::new(12);
    let mut reference = random.sequence(Alphabet::Dna, 6000);
    let left = reference[1000..1100].to_vec();
    // The first mate has two copies: an exact copy, and a copy with two mismatches near the second mate.
    reference.copy_within(1000..1100, 4000);
    for at in [4030, 4070] {
        reference[at] = if reference[at] == b'A' { b'C' } else { b'A' };
    }
    let right = reverse_complement(&reference[4200..4300]);
    let fasta = |name: &str, letters: &[u8]| folder.write(name, format!(">x\n{}\n", text(letters)));
    fasta(REFERENCE, &reference);
    fasta("1.fa", &left);
    fasta("2.fa", &right);
    let lines = |identity: &str| {
        let sam = folder.line(&format!("--insert 300,50 --max-hits 3 {identity} 1.fa 2.fa ref.fa"));
        sam.text().lines().filter(|line| !line.starts_with('@')).map(str::to_string).collect::<Vec<_>>()
    };
    let column = |line: &str, number: usize| line.split('\t').nth(number).unwrap().to_string();
    let all = lines("");
    let (flags, place) = (|line: &str| column(line, 1).parse::<u32>().unwrap(), |line: &str| column(line, 3));
    assert_eq!((flags(&all[0]) & 2, place(&all[0])), (2, "4001".to_string()), "{all:#?}");
    // The better hit elsewhere is a further hit.
    assert_eq!(all.len(), 3, "{all:#?}");
    assert_eq!(lines("--min-identity 90"), all);
    let strict = lines("--min-identity 99");
    assert_eq!(strict.len(), 2, "{strict:#?}");
    assert_eq!((flags(&strict[0]) & 2, place(&strict[0])), (0, "1001".to_string()), "{strict:#?}");
    assert_eq!(flags(&strict[1]) & 2, 0, "{strict:#?}");
}

/// `--ties` lifts `--max-hits` for mates as for single reads, and the records show the mates of each of the equal
/// pairs.
#[test]
fn equal_pairs_are_reported_together() {
    let folder = Folder::new();
    let mut random = Random::new(1);
    let copy = random.sequence(Alphabet::Dna, 1000);
    let mut poorer = copy.clone();
    poorer[150] = if poorer[150] == b'A' { b'C' } else { b'A' };
    let fasta = |name: &str, records: &[(&str, &[u8])]| {
        let records = records.iter().map(|(name, letters)| format!(">{name}\n{}\n", text(letters)));
        folder.write(name, records.collect::<String>());
    };
    fasta(REFERENCE, &[("a", &copy), ("b", &copy), ("poorer", &poorer), ("c", &copy)]);
    fasta("1.fa", &[("x", &copy[100..200])]);
    fasta("2.fa", &[("x", &reverse_complement(&copy[350..450]))]);
    let run =
        |more: &str| folder.line(&format!("-q --device cpu --insert 350,50 {more} 1.fa 2.fa ref.fa")).sam();
    /// Flag, reference and position of a record, reference and position of its mate, and template length.
    type Line = (u32, String, u64, String, u64, i64);
    let lines = |sam: &Sam| -> Vec<Line> {
        let line = |record: &Record| {
            let (flag, mate, position, length) = told(record);
            (flag, record.target().to_string(), record.position(), mate.to_string(), position, length)
        };
        sam.records.iter().map(line).collect()
    };
    let pair = |target: &str, rank: u32| {
        let on = target.to_string();
        [(99 + rank, on.clone(), 101, on.clone(), 351, 350), (147 + rank, on.clone(), 351, on, 101, -350)]
    };
    let [a, b, c] = [pair("a", 0), pair("b", 256), pair("c", 256)];
    let of = |pairs: &[&[Line]]| -> Vec<_> {
        (0..2).flat_map(|mate| pairs.iter().map(move |pair| pair[mate].clone())).collect()
    };
    assert_eq!(lines(&run("")), of(&[&a]));
    // On the poorer reference, the second mate scores as much, but the first mate does not.
    let alone = (401, "poorer".to_string(), 351, "a".to_string(), 101, 0);
    let mut expected = of(&[&a, &b, &c]);
    expected.insert(5, alone);
    assert_eq!(lines(&run("--ties")), expected);
    assert_eq!(lines(&run("--ties --max-hits 2")), expected);
    assert_eq!(run("--ties --max-hits 4").records.len(), 8);
    // Pairs that reach a minimum identity stay together.
    assert_eq!(lines(&run("--ties --min-identity 90")), expected);
}
