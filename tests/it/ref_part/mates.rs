//! Tests joined parts of the references with mates.

use super::*;
use crate::common::cases;
use swalign::terms::alphabet::reverse_complement;

const PAIRS: usize = 120;
const LETTERS: usize = 40;
const FILES: &str = "r1.fq r2.fq";

/// Properties of a folder of mates.
struct Kind<'a> {
    /// Bases of the references.
    letters: &'a [u8],
    /// Number of copies of a unit in each reference, and percentage of mutated bases in them.
    copies: (usize, usize),
    references: usize,
}

fn drawn(random: &mut Random, letters: &[u8], len: usize) -> Vec<u8> {
    (0..len).map(|_| random.pick(letters)).collect()
}

fn text(letters: &[u8]) -> &str {
    str::from_utf8(letters).unwrap()
}

/// Writes references and their mates, as two files and as one, with and without qualities. Some mates have errors, some
/// come from two references, some are random, and some have no bases.
fn mates(random: &mut Random, kind: &Kind) -> Folder {
    let folder = Folder::new();
    let unit = drawn(random, kind.letters, 45);
    let (copies, percent) = kind.copies;
    let mut references: Vec<Vec<u8>> = Vec::new();
    for _ in 0..kind.references {
        let mut letters = drawn(random, kind.letters, 150);
        for _ in 0..copies {
            letters.extend(random.mutated(Alphabet::Dna, &unit, percent));
            let between = random.below(100);
            letters.extend(drawn(random, kind.letters, between));
        }
        references.push(letters);
    }
    let fasta = |(number, letters): (usize, &Vec<u8>)| format!(">r{number}\n{}\n", text(letters));
    folder.write("r.fa", references.iter().enumerate().map(fasta).collect::<String>());
    let [mut files, mut both] = [[String::new(), String::new()], [String::new(), String::new()]];
    // The suffix `.1` in these names is part of the name and does not mark a mate.
    let names = names_in_groups(PAIRS, 30, LETTERS / 2);
    for (number, name) in names.iter().enumerate() {
        let name = if number % 7 == 3 { format!("{name}.1") } else { name.clone() };
        let [one, other] = [(); 2].map(|()| references[random.below(kind.references)].clone());
        let elsewhere = if random.below(6) == 0 { &other } else { &one };
        let (start, size) = (random.below(one.len() - 60), 85 + random.below(50));
        let piece = |letters: &[u8], from: usize| {
            letters[from.min(letters.len())..(from + LETTERS).min(letters.len())].to_vec()
        };
        let errors = random.pick(&[[0, 0], [1, 3], [0, 14], [22, 2], [0, 60]]);
        let left = random.mutated(Alphabet::Dna, &piece(&one, start), errors[0]);
        let right = reverse_complement(&piece(elsewhere, start + size - LETTERS));
        let right = random.mutated(Alphabet::Dna, &right, errors[1]);
        let mut pair = if random.below(2) == 0 { [left, right] } else { [right, left] };
        match number % 20 {
            3 => pair[random.below(2)] = drawn(random, b"ACGT", LETTERS),
            5 => pair = [(); 2].map(|()| drawn(random, b"ACGT", LETTERS)),
            7 => pair[random.below(2)] = Vec::new(),
            9 => pair[0] = b"ACGTNNRYKMSWBDHVN".repeat(2),
            _ => {}
        }
        for (mate, letters) in pair.iter().enumerate() {
            let qualities: String =
                letters.iter().map(|_| random.pick(&['#', '*', '/', '0', 'F', '~'])).collect();
            let record = format!("@{name}/{} comment\n{}\n+\n{qualities}\n", mate + 1, text(letters));
            files[mate] += &record;
            both[0] += &record;
            both[1] += &format!(">{name}\n{}\n", text(letters));
        }
    }
    ["r1.fq", "r2.fq"].iter().zip(&files).for_each(|(name, file)| folder.write(name, file));
    ["both.fq", "both.fa"].iter().zip(&both).for_each(|(name, file)| folder.write(name, file));
    folder
}

#[test]
fn parts_of_mates_are_the_whole() {
    let kinds = [
        Kind { letters: b"ACGT", copies: (4, 3), references: 8 },
        Kind { letters: b"AACG", copies: (25, 2), references: 5 },
        Kind { letters: b"AAC", copies: (2, 0), references: 4 },
    ];
    for (seed, kind) in kinds.iter().enumerate() {
        let folder = mates(&mut Random::new(seed as u64), kind);
        for (options, input, format, count) in [
            ("", FILES, "sam", 2),
            ("--max-hits 5 --eqx --cs -R @RG\\tID:run1\\tSM:s", FILES, "sam", 7),
            ("--max-hits 5 --secondary-ratio 0.3", "--interleaved both.fq", "sam", 3),
            ("--max-hits 2", "--interleaved both.fa", "sam", 3),
            ("--ties", FILES, "sam", 3),
            ("--ties --max-hits 2 --min-score 12", FILES, "bam", 4),
            ("--ties --secondary-ratio 0.3", "--interleaved both.fq", "paf", 2),
            ("", FILES, "bam", 3),
            ("--max-hits 5 --cs=long -R @RG\\tID:run1\\tSM:s", "--interleaved both.fa", "bam", 7),
            ("--max-hits 80 --secondary-ratio 0", "--interleaved both.fq", "bam", 2),
            ("", FILES, "paf", 7),
            ("--max-hits 5 --eqx --cs", "--interleaved both.fa", "paf", 2),
            ("--max-hits 3 --min-score 12", FILES, "sam.gz", 3),
            ("--evalue 1e9", FILES, "tab", 3),
            ("--max-hsps 2 --max-targets 2 --max-hits 3", FILES, "json.gz", 2),
            ("--max-hits 3 --min-score 9", "--interleaved both.fq", "paf.gz", 3),
            ("--max-targets 2", FILES, "sam", 3),
            ("--max-targets 1 --ties --min-score 12", FILES, "bam", 4),
            ("--max-hsps 1 --max-hits 3", "--interleaved both.fq", "sam", 2),
            ("--evalue 1e-9 --max-hits 3", FILES, "sam", 3),
            ("--evalue 1e-6 --max-targets 2", "--interleaved both.fa", "paf", 2),
            ("--min-identity 94", FILES, "sam", 3),
            ("--min-coverage 90 --max-hits 4", "--interleaved both.fq", "bam", 2),
            ("--min-identity 97 --iddef 0 --max-targets 2", FILES, "paf", 4),
            ("--preset short --no-split", FILES, "sam", 2),
            ("--end-bonus 12 --max-hits 3 --min-score 15", FILES, "bam", 3),
            ("--end-bonus 8 --ties --min-identity 90", FILES, "paf", 2),
        ] {
            check(&folder, &format!("--insert 110,20 {options} {input} r.fa"), format, &[count]);
        }
    }
}

/// Many small inputs, with random scores, orientations and parts.
#[test]
fn parts_of_any_mates_are_the_whole() {
    for seed in 0..cases(16, 32) {
        let mut random = Random::new(100 + seed);
        let kind = Kind {
            letters: random.pick(&[&b"ACGT"[..], b"AAC", b"AACGT"]),
            copies: random.pick(&[(0, 0), (3, 3), (20, 0), (20, 4)]),
            references: 1 + random.below(8),
        };
        let folder = mates(&mut random, &kind);
        let insert = random.pick(&["110,20", "110,3", "90,40,rf", "110,20,ff", "1,1"]);
        let preset = random.pick(&["short", "blastn", "linear"]);
        let (hits, least) = (random.pick(&["1", "2", "5", "70"]), random.pick(&["9", "20", "30"]));
        let ratio = random.pick(&["0", "0.5", "0.8", "1"]);
        let mut args = format!("--insert {insert} --preset {preset} --max-hits {hits} --min-score {least}");
        args += &format!(" --secondary-ratio {ratio} --no-split");
        let (format, count) =
            (random.pick(&["sam", "bam", "paf", "tab", "json", "txt"]), random.pick(&[2, 3, 7]));
        let is_list = ["tab", "json", "txt"].contains(&format);
        args += &format!(" --end-bonus {}", if is_list { "0" } else { random.pick(&["0", "5", "11"]) });
        if is_list || random.below(2) == 0 {
            let (targets, hsps) = (random.pick(&["1", "2", "25"]), random.pick(&["1", "2", "90"]));
            let evalue = random.pick(&["1e9", "1e9", "1e-3"]);
            args += &format!(" --max-targets {targets} --max-hsps {hsps} --evalue {evalue}");
        }
        args += random.pick(&[" --ties", ""]);
        if is_list {
            args += &format!(" --rank {}", random.pick(&["score", "score", "identity"]));
        }
        args += &format!(" --min-identity {}", random.pick(&["0", "90"]));
        let input = random.pick(&[FILES, "--interleaved both.fq", "--interleaved both.fa"]);
        println!("seed {seed}: {} references, {format}, {args}", kind.references);
        check(&folder, &format!("{args} {input} r.fa"), format, &[count]);
    }
}

/// The whole chooses pairs that no part contains.
#[test]
fn pairs_are_chosen_among_all_parts() {
    let folder = mates(&mut Random::new(3), &Kind { letters: b"ACGT", copies: (6, 6), references: 6 });
    let whole = check(&folder, "--insert 110,20 --max-hits 3 r1.fq r2.fq r.fa", "sam", &[3]);
    let sam = |bytes: &[u8]| Sam::parse(str::from_utf8(bytes).unwrap());
    let whole = sam(&whole);
    assert!(
        whole.header.iter().any(|line| line.contains("swalign insert: orientation=fr mean=110 deviation=20"))
    );
    // The mates as single reads.
    let single = ["r1.fq", "r2.fq"].map(|file| sam(&self::whole(&folder, &format!("{file} r.fa"), "sam")));
    let single = single.each_ref().map(|sam| sam.primary().collect::<Vec<_>>());
    let score = |record: &crate::common::sam::Record| {
        record.tag("AS").map_or(0, |score| score.parse::<i32>().unwrap())
    };
    let is_proper = |record: &crate::common::sam::Record| record.flag() & 2 != 0;
    let (mut proper, mut better_elsewhere, mut unmapped) = (0, 0, 0);
    for (number, record) in whole.primary().enumerate() {
        let best = score(single[number % 2][number / 2]);
        proper += usize::from(is_proper(record));
        better_elsewhere += usize::from(is_proper(record) && score(record) < best);
        unmapped += usize::from(record.flag() & 4 != 0);
    }
    assert!(proper > 80 && better_elsewhere > 2 && unmapped > 10, "{proper} {better_elsewhere} {unmapped}");
}

#[test]
fn parts_of_mates_need_the_insert_size() {
    let folder = mates(&mut Random::new(3), &Kind { letters: b"ACGT", copies: (1, 0), references: 2 });
    for input in [FILES, "--interleaved both.fq"] {
        let run = |more: &str| folder.line(&format!("--ref-part 1/2 {input} {more} r.fa"));
        run("").said(2, &["--ref-part needs --insert", "not enough to estimate", "--insert 350,60"]);
        run("--insert 110,20 --preset long -o x.sam").said(2, &["--ref-part", "--no-split"]);
        assert!(!folder.file("x.sam").exists());
        run("--insert 110,20 -o x.sam").ended(0);
        std::fs::remove_file(folder.file("x.sam")).unwrap();
    }
}

#[test]
fn damaged_parts_of_mates_are_refused() {
    let folder = mates(&mut Random::new(5), &Kind { letters: b"AACGT", copies: (6, 3), references: 4 });
    for format in ["sam", "bam", "paf"] {
        check_damage(&folder, "--insert 110,20 --max-hits 2 r1.fq r2.fq r.fa", format, 2 * PAIRS);
    }
}
