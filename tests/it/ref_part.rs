//! Tests runs in parts of the references through the command: joined, the parts are the whole, byte for byte.

#[path = "ref_part/joined.rs"]
mod joined;
#[path = "ref_part/limits.rs"]
mod limits;
#[path = "ref_part/lists.rs"]
mod lists;
#[path = "ref_part/mates.rs"]
mod mates;
#[path = "ref_part/merge.rs"]
mod merge;

use crate::common::command::{command, finish, shell};
use crate::common::folder::Folder;
use crate::common::gzip::unpacked;
use crate::common::random::Random;
use crate::common::sam::Sam;
use crate::common::{data, fasta, names_in_groups, receipts};
use swalign::terms::alphabet::Alphabet;

/// Writes all parts of a run. Returns their names.
#[track_caller]
fn parts(folder: &Folder, args: &[&str], format: &str, count: usize) -> Vec<String> {
    let name = |number: usize| format!("part.{number}.{format}");
    for number in 1..=count {
        let (part, threads) = (format!("{number}/{count}"), (1 + number % 2).to_string());
        let batch = (1 + 100 * number).to_string();
        let own = ["--device", "cpu", "-q", "-t", &threads, "--batch", &batch];
        folder.done(&[&own, &["--ref-part", &part, "-o", &name(number)][..], args].concat());
    }
    (1..=count).map(name).collect()
}

/// Returns the output of the run of `args` as a whole.
#[track_caller]
fn whole(folder: &Folder, args: &[&str], format: &str) -> Vec<u8> {
    folder.done(&[&["--device", "cpu", "-q", "--format", format], args].concat())
}

/// Joins `count` parts of the run of `args`, and compares the result with `whole`.
#[track_caller]
fn check(folder: &Folder, args: &[&str], format: &str, count: usize, whole: &[u8]) {
    let mut parts = parts(folder, args, format, count);
    // The order of the parts does not matter.
    parts.reverse();
    let merge = ["merge", "-q", "out"].into_iter().chain(parts.iter().map(String::as_str));
    folder.done(&merge.collect::<Vec<_>>());
    let joined = folder.read("out");
    if joined != whole && ["sam", "paf", "tab", "json"].contains(&format) {
        let [joined, whole] = [&joined[..], whole].map(String::from_utf8_lossy);
        let mut lines = joined.lines().zip(whole.lines()).filter(|(one, other)| one != other);
        panic!("{args:?} in {count} parts: {:?}", lines.next());
    }
    assert!(joined == whole, "{args:?} as {format} in {count} parts");
    if cfg!(target_os = "linux") && count >= 25 {
        // Fewer files can be open than there are parts.
        let line = format!("ulimit -n 34; exec \"$SWALIGN\" merge -q few {}", parts.join(" "));
        finish(&mut shell(folder.path(), &line)).ended(0);
        assert!(folder.read("few") == whole, "{args:?} as {format} in {count} parts, few of them open");
    }
}

/// Writes queries, and the tiny references that they come from, many of them equal, from both strands. Returns the
/// number of references too.
fn equals(random: &mut Random) -> (Folder, usize) {
    let folder = Folder::new();
    let letters = |random: &mut Random, most: usize| {
        let len = 1 + random.below(most);
        (0..len).map(|_| random.pick(b"AACGT")).collect::<Vec<u8>>()
    };
    let mut kinds: Vec<Vec<u8>> = (0..3).map(|_| letters(random, 30)).collect();
    kinds.extend(kinds.clone().iter().map(|kind| swalign::terms::alphabet::reverse_complement(kind)));
    let records = |random: &mut Random, count: usize, name: &str| -> String {
        let record = |number| {
            let letters = match random.below(4) {
                0 => letters(random, 12),
                1 => (0..3).flat_map(|_| kinds[random.below(6)].clone()).collect(),
                _ => kinds[random.below(6)].clone(),
            };
            format!(">{name}{number} of {number}\n{}\n", String::from_utf8(letters).unwrap())
        };
        (0..count).map(record).collect()
    };
    let references = 2 + random.below(9);
    folder.write("r.fa", records(random, references, "r"));
    folder.write("q.fa", records(random, 40, "q"));
    (folder, references)
}

/// Returns random limits of hits.
fn limits(random: &mut Random) -> Vec<&'static str> {
    let hits = random.pick(&["1", "2", "3", "5", "1000"]);
    let (targets, hsps) = (random.pick(&["1", "2", "3", "25"]), random.pick(&["1", "2", "9"]));
    let least = random.pick(&["1", "3", "8"]);
    let ratio = random.pick(&["0", "0.5", "0.8", "1"]);
    let evalue = random.pick(&["1000000000", "1000", "1"]);
    let (identity, coverage) = (random.pick(&["0", "60", "90"]), random.pick(&["0", "30", "70"]));
    let strands = random.pick(&["--both-strands", "--forward-only"]);
    let mut args = vec!["--max-hits", hits, "--max-targets", targets, "--max-hsps", hsps];
    args.extend(["--min-score", least, "--secondary-ratio", ratio, "--evalue", evalue, strands]);
    args.extend(["--min-identity", identity, "--min-coverage", coverage, "--alphabet", "dna"]);
    if random.below(2) == 0 {
        args.push("--ties");
    }
    args
}

const READS: usize = 552;

/// Writes reads in many groups, some of which have no hits, and 20 related references. A slightly different copy of
/// each reference comes before all of them, so that the best hit may be in any part, and an equal hit in another part.
fn amplicons() -> Folder {
    let folder = Folder::new();
    let text = unpacked(&data("amplicon_16s.fq.gz"));
    let lines: Vec<&str> = text.lines().collect();
    let mut random = Random::new(16);
    let mut fastq = String::new();
    for (number, name) in names_in_groups(READS, 60, 50).iter().enumerate() {
        let record = &lines[4 * number % lines.len()..][..4];
        let start = number % 50;
        let letters = match number % 37 {
            5 => random.text(Alphabet::Dna, 100),
            _ => record[1][start..(start + 100).min(record[1].len())].to_string(),
        };
        let qualities = &record[3][..letters.len()];
        fastq += &format!("@{name} some\n{letters}\n+\n{qualities}\n");
    }
    folder.write("q.fq", &fastq);
    let relatives = fasta(&crate::common::text("data/16s_20.fa"));
    let text = |letters: &[u8]| String::from_utf8(letters.to_vec()).unwrap();
    let mut references = String::new();
    for (name, letters) in &relatives {
        references += &format!(">{name}_copy\n{}\n", text(&random.mutated(Alphabet::Dna, letters, 1)));
    }
    for (name, letters) in &relatives {
        references += &format!(">{name}\n{}\n", text(letters));
    }
    folder.write("r.fa", &references);
    folder
}

/// Returns the distinct flags and the number of records of a SAM.
fn flags(sam: &[u8]) -> (Vec<u32>, usize) {
    let sam = Sam::parse(str::from_utf8(sam).unwrap());
    let mut flags: Vec<u32> = sam.records.iter().map(|record| record.flag()).collect();
    flags.sort();
    flags.dedup();
    (flags, sam.records.len())
}
