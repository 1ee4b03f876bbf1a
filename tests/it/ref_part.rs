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

use crate::common::command::{command, finish, shell, words};
use crate::common::folder::Folder;
use crate::common::gzip::unpacked;
use crate::common::random::Random;
use crate::common::sam::Sam;
use crate::common::{data, fasta, names_in_groups, receipts};
use swalign::terms::alphabet::Alphabet;

/// Writes all parts of a run. Returns their names.
#[track_caller]
fn parts(folder: &Folder, args: &str, format: &str, count: usize) -> Vec<String> {
    let name = |number: usize| format!("part.{number}.{format}");
    for number in 1..=count {
        let (threads, batch) = (1 + number % 2, 1 + 100 * number);
        let own = format!("--device cpu -q -t {threads} --batch {batch} --ref-part {number}/{count}");
        folder.line(&format!("{own} -o {} {args}", name(number))).ended(0);
    }
    (1..=count).map(name).collect()
}

/// Returns the output of a run.
#[track_caller]
fn whole(folder: &Folder, args: &str, format: &str) -> Vec<u8> {
    let output = format!("whole.{format}");
    folder.line(&format!("--device cpu -q -o {output} {args}")).ended(0);
    folder.read(&output)
}

/// Joins parts of a run, for each of these numbers of parts, and compares the result with the whole. Returns the whole.
#[track_caller]
fn check(folder: &Folder, args: &str, format: &str, counts: &[usize]) -> Vec<u8> {
    let whole = whole(folder, args, format);
    for &count in counts {
        let mut parts = parts(folder, args, format, count);
        // The order of the parts does not matter.
        parts.reverse();
        folder.line(&format!("merge -q out {}", parts.join(" "))).ended(0);
        let joined = folder.read("out");
        if joined != whole && ["sam", "paf", "tab", "json"].contains(&format) {
            let [joined, whole] = [&joined, &whole].map(|bytes| String::from_utf8_lossy(bytes));
            let mut lines = joined.lines().zip(whole.lines()).filter(|(one, other)| one != other);
            panic!("{args} in {count} parts: {:?}", lines.next());
        }
        assert!(joined == whole, "{args} as {format} in {count} parts");
        if cfg!(target_os = "linux") && count >= 25 {
            // Fewer files can be open than there are parts.
            let line = format!("ulimit -n 34; exec \"$SWALIGN\" merge -q few {}", parts.join(" "));
            finish(&mut shell(folder.path(), &line)).ended(0);
            assert!(folder.read("few") == whole, "{args} as {format} in {count} parts, few of them open");
        }
    }
    whole
}

/// Merges parts whose receipts have wrong numbers and a new seal, and parts with a changed byte. `records` is the number
/// of queries.
#[track_caller]
fn check_damage(folder: &Folder, args: &str, format: &str, records: usize) {
    let parts = parts(folder, args, format, 2);
    let merged = || folder.line(&format!("merge out {}", parts.join(" ")));
    let receipts = parts.iter().map(|part| folder.read(&format!("{part}.swalign"))).collect::<Vec<_>>();
    let restore = || {
        let all = parts.iter().zip(&receipts);
        all.for_each(|(part, receipt)| folder.write(&format!("{part}.swalign"), receipt));
    };
    for (key, value, says) in [
        ("records", "0".to_string(), "more than 0 queries".to_string()),
        ("records", (records - 1).to_string(), format!("more than {} queries", records - 1)),
        ("records", (records + 2).to_string(), format!("fewer than {} queries", records + 2)),
        ("crc32", "00000000".to_string(), "the checksum differs".to_string()),
    ] {
        restore();
        for part in &parts {
            receipts::change(&folder.file(part), |text| receipts::with(text, key, &value));
        }
        merged().said(1, &[&says]);
        assert!(!folder.file("out").exists());
    }
    restore();
    let bytes = folder.read(&parts[1]);
    for at in (0..bytes.len()).step_by(bytes.len() / 40).chain([bytes.len() - 1]) {
        let mut changed = bytes.clone();
        changed[at] ^= 4;
        folder.write(&parts[1], &changed);
        let outcome = merged();
        assert_eq!(outcome.code, Some(1), "{format}, byte {at}: {}", outcome.stderr);
        // A different name is an error before the checksum is known.
        let says = ["write this part again", "write all parts"];
        assert!(says.iter().any(|says| outcome.stderr.contains(says)), "{format}, {at}: {}", outcome.stderr);
        assert!(!folder.file("out").exists());
        // With a matching checksum, `merge` may accept the part. Otherwise it ends with code 1.
        let sum = format!("{:08x}", crc32fast::hash(&changed));
        receipts::change(&folder.file(&parts[1]), |text| receipts::with(text, "crc32", &sum));
        match merged().code {
            Some(0) => std::fs::remove_file(folder.file("out")).unwrap(),
            code => assert_eq!(code, Some(1), "{format}, byte {at}"),
        }
        restore();
    }
    folder.write(&parts[1], &bytes);
    merged().said(0, &[&format!("joined 2 parts of the references, of {records} records")]);
    std::fs::remove_file(folder.file("out")).unwrap();
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
fn limits(random: &mut Random) -> String {
    let hits = random.pick(&["1", "2", "3", "5", "1000"]);
    let (targets, hsps) = (random.pick(&["1", "2", "3", "25"]), random.pick(&["1", "2", "9"]));
    let least = random.pick(&["1", "3", "8"]);
    let ratio = random.pick(&["0", "0.5", "0.8", "1"]);
    let evalue = random.pick(&["1000000000", "1000", "1"]);
    let (identity, coverage) = (random.pick(&["0", "60", "90"]), random.pick(&["0", "30", "70"]));
    let strands = random.pick(&["--both-strands", "--forward-only"]);
    let ties = random.pick(&["--ties", ""]);
    format!(
        "--max-hits {hits} --max-targets {targets} --max-hsps {hsps} --min-score {least} --secondary-ratio {ratio} \
         --evalue {evalue} --min-identity {identity} --min-coverage {coverage} --alphabet dna {strands} {ties}"
    )
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
