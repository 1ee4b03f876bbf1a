//! Several lanes in one run, as lists of files and as sample sheets, compared with a run of each lane; and parts.

use crate::common::sam::{Sam, records};
use crate::common::{bam, command::run, names_in_groups, random::Random};
use std::fs;
use std::path::Path;
use swalign::terms::alphabet::{Alphabet, reverse_complement};
use tempfile::TempDir;

const PAIRS: usize = 300;
const LETTERS: usize = 80;
/// Names and insert sizes of the lanes of mates. A third lane has single reads.
const LANES: [(&str, usize); 2] = [("a", 200), ("b", 420)];
const SHEET: &str = "ID\tSM\tPL\treads1\treads2\nx 1\ts 1\tILLUMINA\ta_1.fq\ta_2.fq\nx2\ts 1\t\tc.fa\t\nx3\ts2\t\tb_1.fq\tb_2.fq\n";

/// A reference with a repeat, and reads of three lanes with the same names.
fn lanes() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random::new(11);
    let mut reference = random.sequence(Alphabet::Dna, 8000);
    let copy = reference[1000..1700].to_vec();
    reference[5000..5700].copy_from_slice(&copy);
    let text = |letters: &[u8]| String::from_utf8(letters.to_vec()).unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("ref.fa", &format!(">one\n{}\n", text(&reference)));
    let names = names_in_groups(PAIRS, 20, LETTERS);
    let mut single = String::new();
    for (lane, insert) in LANES {
        let [mut first, mut second] = [String::new(), String::new()];
        for (number, name) in names.iter().enumerate() {
            let size = insert + random.below(30);
            let start = random.below(reference.len() - size);
            let mut left = random.mutated(Alphabet::Dna, &reference[start..start + LETTERS], 2);
            let mut right = reverse_complement(&reference[start + size - LETTERS..start + size]);
            if number % 15 == 4 {
                left = random.sequence(Alphabet::Dna, LETTERS);
            }
            if random.below(2) == 0 {
                std::mem::swap(&mut left, &mut right);
            }
            let record =
                |letters: &[u8]| format!("@{name}\n{}\n+\n{}\n", text(letters), "I".repeat(letters.len()));
            first += &record(&left);
            second += &record(&right);
            if lane == "a" {
                single += &format!(">{name}\n{}\n", text(&left));
            }
        }
        write(&format!("{lane}_1.fq"), &first);
        write(&format!("{lane}_2.fq"), &second);
    }
    write("c.fa", &single);
    write("lanes.tsv", SHEET);
    folder
}

/// The arguments of separate runs of the lanes of the sheet.
const SINGLE: [&[&str]; 3] = [
    &["-R", r"@RG\tID:x 1\tSM:s 1\tPL:ILLUMINA", "a_1.fq", "a_2.fq", "ref.fa"],
    &["-R", r"@RG\tID:x2\tSM:s 1", "c.fa", "ref.fa"],
    &["-R", r"@RG\tID:x3\tSM:s2", "b_1.fq", "b_2.fq", "ref.fa"],
];
const OF_SHEET: [&str; 3] = ["--sample-sheet", "lanes.tsv", "ref.fa"];

/// Returns stdout of `swalign OPTIONS ARGS`.
#[track_caller]
fn output(folder: &Path, options: &[&str], args: &[&str]) -> String {
    run(folder, &[&["-q", "--device", "cpu"], options, args].concat()).text().to_string()
}

#[test]
fn lanes_are_single_runs_in_turn() {
    let folder = lanes();
    for options in [&[][..], &["--max-hits", "3", "--no-dedup"], &["--format", "paf"], &["--format", "tab"]] {
        let expected: String =
            SINGLE.iter().map(|args| records(&output(folder.path(), options, args))).collect();
        for more in [&[][..], &["--batch", "7", "-t", "3"], &["--filter", "none", "-t", "1"]] {
            let whole = output(folder.path(), &[options, more].concat(), &OF_SHEET);
            assert!(records(&whole) == expected, "{options:?} {more:?}");
        }
    }
    let whole = Sam::parse(&output(folder.path(), &[], &OF_SHEET));
    let groups: Vec<&String> = whole.header.iter().filter(|line| line.starts_with("@RG")).collect();
    let expected = ["@RG\tID:x 1\tSM:s 1\tPL:ILLUMINA", "@RG\tID:x2\tSM:s 1", "@RG\tID:x3\tSM:s2"];
    assert_eq!(groups, expected);
    let of_lane = |id: &str| whole.records.iter().filter(|record| record.tag("RG") == Some(id)).count();
    assert!(of_lane("x 1") >= 2 * PAIRS && of_lane("x2") >= PAIRS && of_lane("x3") >= 2 * PAIRS);
    assert!(whole.records.iter().all(|record| record.tag("RG").is_some()));
    let insert = |line: &&String| line.starts_with("@CO\tswalign insert: of each lane");
    assert_eq!(whole.header.iter().filter(insert).count(), 1);
    let proper = |id: &str| {
        let of_lane = whole.primary().filter(|record| record.tag("RG") == Some(id));
        of_lane.filter(|record| record.flag() & 2 != 0).count()
    };
    assert!(proper("x 1") > PAIRS && proper("x3") > PAIRS, "each lane has its insert size");
}

#[test]
fn lists_of_files_are_lanes() {
    let folder = lanes();
    let lists = ["a_1.fq,b_1.fq", "a_2.fq,b_2.fq", "ref.fa"];
    let single = |id: &str, lane: &str, insert: &[&str]| {
        let (group, files) = (format!(r"@RG\tID:{id}"), [1, 2].map(|mate| format!("{lane}_{mate}.fq")));
        records(&output(
            folder.path(),
            &[&["-R", &*group], insert].concat(),
            &[&files[0], &files[1], "ref.fa"],
        ))
    };
    let whole = output(folder.path(), &[], &lists);
    assert!(whole.contains("\n@RG\tID:a\n@RG\tID:b\n"), "{}", &whole[..300]);
    assert!(records(&whole) == single("a", "a", &[]) + &single("b", "b", &[]));
    let groups = ["-R", r"@RG\tID:b", "-R", r"@RG\tID:a\tSM:s", "--insert", "300,60"];
    let whole = output(folder.path(), &groups, &lists);
    assert!(whole.contains("\n@RG\tID:b\n@RG\tID:a\tSM:s\n"), "in the order of the lanes");
    let insert = ["--insert", "300,60"];
    assert!(whole.contains("@CO\tswalign insert: orientation=fr mean=300 deviation=60\n"));
    assert!(records(&whole) == single("b", "a", &insert) + &single("a", "b", &insert));
    // A file name with commas is not a list if the file exists.
    fs::copy(folder.path().join("c.fa"), folder.path().join("a_1.fq,b_1.fq")).unwrap();
    let one = records(&output(folder.path(), &[], &["a_1.fq,b_1.fq", "ref.fa"]));
    assert!(one == records(&output(folder.path(), &[], &["c.fa", "ref.fa"])));
}

#[test]
fn parts_joined_are_the_whole() {
    let folder = lanes();
    let names = ["whole.bam", "merged.bam"];
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    for format in [&["--format", "sam"][..], &["--format", "bam"], &["--format", "paf"], &["--sort"]] {
        for (of, args) in [(1, &OF_SHEET[..]), (8, &OF_SHEET), (3, &["c.fa,c.fq", "ref.fa"])] {
            fs::copy(folder.path().join("b_1.fq"), folder.path().join("c.fq")).unwrap();
            let groups: &[&str] =
                if args == OF_SHEET { &[] } else { &["-R", r"@RG\tID:1", "-R", r"@RG\tID:2"] };
            let align = |more: &[&str]| {
                run(folder.path(), &[&["-q", "--device", "cpu"], format, groups, more, args].concat())
                    .ended(0);
            };
            align(&["-o", names[0]]);
            let parts: Vec<String> = (1..=of).map(|number| format!("part.{number}.bam")).collect();
            for (number, part) in (1..).zip(&parts) {
                align(&["--part", &format!("{number}/{of}"), "-o", part]);
            }
            let merge: Vec<&str> =
                ["merge", "-q", names[1]].into_iter().chain(parts.iter().map(|part| &**part)).collect();
            run(folder.path(), &merge).ended(0);
            let [whole, merged] = names.map(read);
            assert!(whole == merged, "{format:?} {of}: {} and {} bytes", whole.len(), merged.len());
        }
    }
}

/// The BAM records of all lanes are those of separate runs, one lane after another.
#[test]
fn bam_has_the_blocks_of_single_runs() {
    let folder = lanes();
    let records = |args: &[&str]| {
        let outcome = run(folder.path(), &[&["-q", "--device", "cpu", "--format", "bam"], args].concat());
        bam::records(&outcome.done())
    };
    let expected: Vec<u8> = SINGLE.iter().flat_map(|args| records(args)).collect();
    assert!(records(&OF_SHEET) == expected);
}

#[test]
fn statistics_are_of_all_lanes() {
    let folder = lanes();
    let stats = |options: &[&str]| {
        output(folder.path(), &[options, &["--stats", "stats.json", "-o", "out.sam"]].concat(), &OF_SHEET);
        fs::read_to_string(folder.path().join("stats.json")).unwrap()
    };
    let all = stats(&[]);
    assert!(
        all.contains(&format!("\"total\": {}", 5 * PAIRS)) || all.contains(&format!(":{}", 5 * PAIRS)),
        "{all}"
    );
    assert!(all.contains("b_2.fq") && all.contains("c.fa"), "{all}");
    assert_eq!(stats(&["--batch", "9", "-t", "3"]), all);
    // The lanes belong to two samples.
    output(folder.path(), &["--stats", "pool_mqc.json", "-o", "out.sam"], &OF_SHEET);
    let of_multiqc = fs::read_to_string(folder.path().join("pool_mqc.json")).unwrap();
    assert!(of_multiqc.contains("\"pool\":"), "{of_multiqc}");
}

#[test]
fn a_changed_sheet_is_another_run() {
    let folder = lanes();
    let resume = || {
        let args = ["--resume", "-o", "out.sam", "--device", "cpu", "--sample-sheet", "lanes.tsv", "ref.fa"];
        let outcome = run(folder.path(), &args);
        outcome.ended(0);
        outcome.stderr.contains("is complete")
    };
    assert_eq!([resume(), resume()], [false, true]);
    fs::write(folder.path().join("lanes.tsv"), SHEET.replace("s 1", "s 11")).unwrap();
    assert!(!resume());
}

#[test]
fn what_is_no_lane_is_refused() {
    let folder = lanes();
    let refused = |args: &[&str], code: i32, says: &[&str]| {
        let outcome = run(folder.path(), &[&["-o", "out.sam"], args].concat());
        outcome.said(code, says);
        assert!(!folder.path().join("out.sam").exists(), "{args:?}");
    };
    let lists = |args: &[&str], says: &[&str]| refused(&[args, &["ref.fa"]].concat(), 2, says);
    lists(&["a_1.fq,b_1.fq", "a_2.fq"], &["a_2.fq names 1 file", "a_1.fq,b_1.fq names 2"]);
    lists(&["a_1.fq", "a_2.fq,b_2.fq"], &["a_1.fq names 1 file", "a_2.fq,b_2.fq names 2"]);
    lists(&["a_1.fq,,b_1.fq"], &["'a_1.fq,,b_1.fq'", "comma"]);
    lists(&["-R", r"@RG\tID:x", "a_1.fq,b_1.fq"], &["--read-group", "once", "2 lanes"]);
    lists(
        &["-R", r"@RG\tID:x", "-R", r"@RG\tID:x", "a_1.fq,b_1.fq"],
        &["two lanes", "ID 'x'", "--read-group"],
    );
    lists(&["-R", r"@RG\tID:x", "-R", r"@RG\tID:y", "a_1.fq"], &["--read-group", "2 times", "one file"]);
    lists(&["-R", r"@RG\tID:x", "-R", r"@RG\tID:y", "a_1.fq,-", "b_1.fq,-"], &["stdin"]);
    refused(&["a_1.fq,nosuch.fq", "ref.fa"], 1, &["nosuch.fq"]);
    let sheet = |text: &str, says: &[&str]| {
        fs::write(folder.path().join("bad.tsv"), text).unwrap();
        refused(&["--sample-sheet", "bad.tsv", "ref.fa"], 2, says);
    };
    sheet("ID\treads1\tlane\nL1\ta_1.fq\t3\n", &["bad.tsv, line 1, column lane", "ID, SM"]);
    sheet("ID\treads1\nL1\ta_1.fq\nL1\tb_1.fq\n", &["bad.tsv, line 3, column ID", "'L1'", "line 2"]);
    sheet("ID\treads1\nL1\tnosuch.fq\n", &["bad.tsv, line 2, column reads1: nosuch.fq", "path"]);
    sheet("ID\treads1\treads2\nL1\ta_1.fq\tnosuch.fq\n", &["bad.tsv, line 2, column reads2: nosuch.fq"]);
    sheet("ID\treads1\nL1\n", &["bad.tsv, line 2: ", "fields is 1", "2 columns"]);
    sheet("", &["bad.tsv, line 1", "empty"]);
    fs::write(folder.path().join("bad.tsv"), b"ID\treads1\nL\xff\ta_1.fq\n").unwrap();
    refused(&["--sample-sheet", "bad.tsv", "ref.fa"], 2, &["bad.tsv, line 2", "UTF-8"]);
    refused(&["--sample-sheet", "nosuch.tsv", "ref.fa"], 2, &["--sample-sheet: nosuch.tsv", "path"]);
    let more = ["--sample-sheet", "lanes.tsv", "a_1.fq", "ref.fa"];
    refused(&more, 2, &["--sample-sheet", "REFERENCE", "leave ref.fa out"]);
    refused(&["--sample-sheet", "lanes.tsv"], 2, &["REFERENCE"]);
    refused(&["--sample-sheet", "lanes.tsv", "--interleaved", "ref.fa"], 2, &["--interleaved"]);
    refused(&["--sample-sheet", "lanes.tsv", "-R", r"@RG\tID:x", "ref.fa"], 2, &["--read-group"]);
    // An error in a later lane names the file of the record.
    fs::write(folder.path().join("bad.fq"), "@r1\nACGT\n+\nIII\n").unwrap();
    refused(&["a_1.fq,bad.fq", "ref.fa"], 1, &["bad.fq", "r1"]);
    refused(&["a_1.fq,b_1.fq", "a_2.fq,c.fa", "ref.fa", "--ref-part", "1/2"], 2, &["--ref-part"]);
}
