//! The end bonus selects the alignment, but the reported scores do not include it.

use super::*;

/// A scoring with an end bonus.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    match_: i64,
    mismatch: i64,
    ambiguous: i64,
    open: i64,
    extend: i64,
    bonus: i64,
}

const NUMBERS: [Numbers; 4] = [
    Numbers { match_: 1, mismatch: 4, ambiguous: 4, open: 6, extend: 1, bonus: 5 },
    Numbers { match_: 1, mismatch: 4, ambiguous: 1, open: 6, extend: 1, bonus: 0 },
    // The bonus exceeds the cost of a short gap.
    Numbers { match_: 2, mismatch: 5, ambiguous: 1, open: 3, extend: 2, bonus: 9 },
    Numbers { match_: 2, mismatch: 8, ambiguous: 8, open: 12, extend: 2, bonus: 10 },
];

impl Numbers {
    fn args(&self) -> Vec<String> {
        let Numbers { match_, mismatch, ambiguous, open, extend, bonus } = self;
        let text = format!(
            "--match {match_} --mismatch {mismatch} --ambiguous {ambiguous} --gap-open {open} --gap-extend {extend} \
             --end-bonus {bonus}"
        );
        text.split_whitespace().map(String::from).collect()
    }

    fn pair(&self, query: u8, target: u8) -> i64 {
        match () {
            () if query == b'N' || target == b'N' => -self.ambiguous,
            () if query == target => self.match_,
            () => -self.mismatch,
        }
    }

    /// The highest total of a local alignment, by definition: the recurrence tries each length of a gap.
    fn best_total(&self, query: &[u8], target: &[u8]) -> i64 {
        let gap = |len: usize| self.open + len as i64 * self.extend;
        let mut ends = vec![vec![0i64; target.len() + 1]; query.len() + 1];
        let mut best = 0;
        for i in 1..=query.len() {
            let bonus = if i == 1 || i == query.len() { self.bonus } else { 0 };
            for j in 1..=target.len() {
                let met = ends[i - 1][j - 1] + self.pair(query[i - 1], target[j - 1]) + bonus;
                let insertions = (1..i).map(|len| ends[i - len][j] - gap(len));
                let deletions = (1..j).map(|len| ends[i][j - len] - gap(len));
                ends[i][j] = insertions.chain(deletions).fold(met.max(0), i64::max);
                best = best.max(met);
            }
        }
        best
    }
}

/// A reference, and reads of it with differences near their ends. Every second read is reverse-complemented.
fn input(random: &mut Random) -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut reference = random.sequence(Alphabet::Dna, 150);
    reference[40] = b'N';
    let read = |number: usize| {
        let len = 25 + random.below(20);
        let start = random.below(reference.len() - len);
        let mut read = reference[start..start + len].to_vec();
        for _ in 0..random.below(3) {
            let place = random.below(8);
            let place = if random.below(2) == 0 { place } else { read.len() - 1 - place };
            match random.below(4) {
                0 => drop(read.remove(place)),
                1 => read.insert(place, random.pick(b"ACGT")),
                2 => read[place] = b'N',
                _ => read[place] = random.pick(b"ACGT"),
            }
        }
        if number % 2 == 1 { reverse_complement(&read) } else { read }
    };
    let reads = (0..40).map(read).collect();
    (reference.clone(), reads)
}

/// The score of a record's path, without the bonus.
fn score_of(record: &sam::Record, reference: &[u8], numbers: &Numbers) -> i64 {
    let (query, mut i, mut j, mut score, mut len) =
        (record.sequence().as_bytes(), 0, record.position() as usize - 1, 0, 0);
    for letter in record.cigar().bytes() {
        match letter {
            b'0'..=b'9' => {
                len = 10 * len + usize::from(letter - b'0');
                continue;
            }
            b'S' => i += len,
            b'M' => {
                score += (0..len).map(|at| numbers.pair(query[i + at], reference[j + at])).sum::<i64>();
                (i, j) = (i + len, j + len);
            }
            b'I' => (i, score) = (i + len, score - numbers.open - len as i64 * numbers.extend),
            b'D' => (j, score) = (j + len, score - numbers.open - len as i64 * numbers.extend),
            other => panic!("{}", char::from(other)),
        }
        len = 0;
    }
    score
}

#[test]
fn the_best_total_wins_and_its_own_score_is_reported() {
    const LEAST: i64 = 20;
    let mut random = Random::new(5);
    for numbers in NUMBERS {
        let (reference, reads) = input(&mut random);
        let mut fasta = String::new();
        for (number, read) in reads.iter().enumerate() {
            writeln!(fasta, ">{number}\n{}", std::str::from_utf8(read).unwrap()).unwrap();
        }
        let text = format!(">chr\n{}\n", std::str::from_utf8(&reference).unwrap());
        let folder = folder(&[("reads.fa", fasta.as_bytes()), ("ref.fa", text.as_bytes())]);
        let args = numbers.args();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let common = ["--device", "cpu", "-q", "--min-score", "20", "reads.fa", "ref.fa"];
        let outcome = folder.run(&[&args[..], &common].concat());
        outcome.ended(0);
        let sam = sam::Sam::parse(std::str::from_utf8(&outcome.stdout).unwrap());
        let mut reaching = 0;
        for (record, read) in sam.primary().zip(&reads) {
            let totals =
                [read.clone(), reverse_complement(read)].map(|read| numbers.best_total(&read, &reference));
            let best = totals[0].max(totals[1]);
            let case = format!("{numbers:?} {} {}", record.name(), record.cigar());
            if record.flag() & 4 != 0 {
                assert!(best < LEAST + 2 * numbers.bonus, "{case}: {best}");
                continue;
            }
            assert_eq!(record.score(), score_of(record, &reference, &numbers), "{case}");
            assert!(record.score() >= LEAST, "{case}");
            let cigar = record.cigar();
            let starts = cigar.split(|letter: char| letter.is_ascii_alphabetic()).next().unwrap().len();
            let ends = i64::from(cigar.as_bytes()[starts] != b'S') + i64::from(!cigar.ends_with('S'));
            assert_eq!(record.score() + ends * numbers.bonus, best, "{case}");
            reaching += ends;
        }
        assert!(numbers.bonus == 0 || reaching > 40, "{reaching}");
    }
}

/// Reads of a reference with a repeat, as a file of single reads and two files of mates.
fn sample() -> Folder {
    let mut random = Random::new(8);
    let mut reference = random.sequence(Alphabet::Dna, 6000);
    reference.copy_within(1000..1800, 4000);
    let (mut single, mut mates) = (String::new(), [String::new(), String::new()]);
    for number in 0..300 {
        let start = random.below(reference.len() - 400);
        let fragment = reference[start..start + 350 + random.below(50)].to_vec();
        let ends = [fragment[..100].to_vec(), reverse_complement(&fragment)[..100].to_vec()];
        for (mut read, mates) in ends.into_iter().zip(&mut mates) {
            for _ in 0..2 {
                let place = random.pick(&[1, 2, 3, 50, 96, 97, 98]);
                read[place] = random.pick(b"ACGT");
            }
            if number % 10 == 0 {
                read[70..].fill(b'A');
            }
            let read = String::from_utf8(read).unwrap();
            write!(mates, "@{number}\n{read}\n+\n{}\n", "I".repeat(100)).unwrap();
            write!(single, "@{number}\n{read}\n+\n{}\n", "I".repeat(100)).unwrap();
        }
    }
    let reference = format!(">chr\n{}\n", String::from_utf8(reference).unwrap());
    let [one, other] = mates;
    folder(&[
        ("reads.fq", single.as_bytes()),
        ("1.fq", one.as_bytes()),
        ("2.fq", other.as_bytes()),
        ("ref.fa", reference.as_bytes()),
    ])
}

#[test]
fn records_do_not_depend_on_filters_threads_and_parts() {
    let folder = sample();
    for files in [&["reads.fq", "ref.fa"][..], &["1.fq", "2.fq", "ref.fa"]] {
        let run = |more: &[&str]| {
            let outcome = folder.run(&[&["-x", "sr", "--device", "cpu", "-q"], more, files].concat());
            outcome.ended(0);
            sam::records(std::str::from_utf8(&outcome.stdout).unwrap())
        };
        let expected = run(&[]);
        assert!(expected.contains("\t100M\t") && expected.contains("S\t"), "{expected}");
        for more in [&["--filter", "none"][..], &["--filter", "scan"], &["--threads", "1"], &["--no-dedup"]] {
            assert_eq!(run(more), expected, "{more:?}");
        }
        let parts = ["1/2", "2/2"].map(|part| run(&["--part", part]));
        if files.len() == 2 {
            assert_eq!(parts.concat(), expected);
        }
    }
}

#[test]
fn a_difference_next_to_an_end_stays_aligned() {
    let folder = sample();
    let clipped = |args: &[&str]| {
        let outcome = folder.run(&[&["--device", "cpu", "-q", "reads.fq", "ref.fa"], args].concat());
        outcome.ended(0);
        let sam = sam::Sam::parse(std::str::from_utf8(&outcome.stdout).unwrap());
        let of_short = |record: &&sam::Record| !record.cigar().contains('S') && record.cigar() != "*";
        let whole = sam.primary().filter(of_short).count();
        let lines = sam.primary().filter(|record| record.flag() & 4 == 0);
        for record in lines {
            let second = record.tag("XS").map(|score| score.parse::<i64>().unwrap());
            assert!(second.is_none_or(|second| second <= record.score()), "{}", record.name());
        }
        whole
    };
    let [with, without, default, preset] =
        [&["--end-bonus", "5"][..], &["-x", "sr", "--end-bonus", "0"], &[], &["-x", "sr"]].map(clipped);
    assert!(with > without + 100, "{with} {without}");
    assert_eq!((with, without), (preset, default));
}

#[test]
fn where_an_end_bonus_is_refused() {
    refused_options(&["--end-bonus", "5", "--mode", "glocal"], 2, &["--end-bonus", "--mode local"]);
    refused_options(&["--end-bonus", "5", "--format", "tab"], 2, &["--end-bonus", "--format sam", "paf"]);
    let most = ["--end-bonus 126", "--matrix", "--iupac", "0 to 125"];
    refused_options(&["--iupac", "--match", "2", "--end-bonus", "126"], 2, &most);
    refused_options(&["--end-bonus=-1"], 2, &["--end-bonus", "positive"]);
    let files: &[(&str, &[u8])] = &[("query.fa", PROTEINS), ("reference.fa", PROTEINS)];
    refused(files, &["--end-bonus", "5", "query.fa", "reference.fa"], 2, &["--end-bonus", "DNA"]);
}

/// The highest bonus under a table of scores.
#[test]
fn the_highest_bonus_with_iupac_codes() {
    let mut random = Random::new(41);
    let (mut reads, mut text) = (String::new(), String::new());
    let reference = random.sequence(Alphabet::Dna, 3000);
    write!(text, ">chr\n{}\n", reference.escape_ascii()).unwrap();
    for number in 0..60 {
        let start = random.below(2800);
        let mut read = random.mutated(Alphabet::Dna, &reference[start..start + 90], 8);
        let (last, code) = (read.len() - 1, random.pick(b"ACNR"));
        read[random.pick(&[0, last])] = code;
        write!(reads, ">r{number}\n{}\n", read.escape_ascii()).unwrap();
    }
    let folder = folder(&[("reads.fa", reads.as_bytes()), ("ref.fa", text.as_bytes())]);
    let run = |args: &[&str]| {
        let outcome =
            folder.run(&[args, &["--iupac", "--end-bonus", "126", "-q", "reads.fa", "ref.fa"]].concat());
        outcome.ended(0);
        sam::records(&String::from_utf8(outcome.stdout).unwrap())
    };
    let plain = run(&["--device", "plain", "--filter", "none"]);
    assert_eq!(plain.lines().count(), 60);
    for args in [&["--device", "cpu"][..], &["--device", "cpu", "--filter", "none", "-t", "2"]] {
        assert_eq!(run(args), plain, "{args:?}");
    }
}
