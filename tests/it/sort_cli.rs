//! Tests `--sort`: the order, the index, output that does not depend on memory and threads, and no files after a
//! failure.

use crate::common::command::{Outcome, command, finish, run, shell};
use crate::common::sorted::{order, place, records, write_mates};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const PAIRS: usize = 400;

fn mates() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_mates(folder.path(), PAIRS, 3);
    folder
}

/// Returns the names in a folder, sorted, without the inputs.
fn outputs(folder: &Path) -> Vec<String> {
    let names = folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| !name.ends_with(".fq") && name != "ref.fa").collect();
    names.sort();
    names
}

/// Runs `swalign OPTIONS 1.fq 2.fq ref.fa`.
fn align(folder: &Path, options: &[&str]) -> Outcome {
    run(folder, &[&["--device", "cpu", "--min-score", "60"], options, &["1.fq", "2.fq", "ref.fa"]].concat())
}

#[track_caller]
fn succeed(folder: &Path, options: &[&str]) -> Vec<u8> {
    let outcome = align(folder, options);
    assert_eq!(outcome.code, Some(0), "{options:?}: {}", outcome.stderr);
    outcome.stdout
}

fn bytes(folder: &Path, name: &str) -> Vec<u8> {
    fs::read(folder.join(name)).unwrap()
}

/// With any memory, batches and threads, the records are those of a run without `--sort`, in order.
#[test]
fn records_come_in_order() {
    let folder = mates();
    let hits = ["--max-hits", "2"];
    let mut expected = records(&succeed(folder.path(), &[&["--format", "bam"], &hits[..]].concat()));
    expected.sort_by_key(|record| order(record));
    // The records include ties, unmapped mates at the position of the other mate, and records without a position.
    let with = |flags: u16| expected.iter().filter(|record| place(record).2 & flags == flags).count();
    assert!(expected.windows(2).any(|pair| order(&pair[0]) == order(&pair[1])));
    let placed = |record: &&Vec<u8>| place(record).0 >= 0 && place(record).2 & 4 != 0;
    assert!(expected.iter().filter(placed).count() > 10 && with(4 | 8) > 10 && with(256) > 0);
    let mut whole = Vec::new();
    for (memory, batch, threads) in
        [("256M", "10000", "1"), ("256M", "7", "4"), ("1", "10", "4"), ("20K", "64", "1"), ("64k", "5", "3")]
    {
        let sort = format!("--sort={memory}");
        let options = [&*sort, "--batch", batch, "-t", threads, "-o", "out.bam"];
        succeed(folder.path(), &[&options[..], &hits].concat());
        assert_eq!(outputs(folder.path()), ["out.bam", "out.bam.bai"]);
        let made = ["out.bam", "out.bam.bai"].map(|name| bytes(folder.path(), name));
        if whole.is_empty() {
            assert!(records(&made[0]) == expected, "other records, or in another order");
            whole = made.to_vec();
        }
        assert!(made[..] == whole[..], "{options:?}");
        fs::remove_file(folder.path().join("out.bam")).unwrap();
    }
    let to_stdout = succeed(folder.path(), &[&["--sort", "--sort-memory", "10K"], &hits[..]].concat());
    assert!(to_stdout == whole[0]);
    let mut text = Vec::new();
    let header = crate::common::bam::blocks(&to_stdout).0.concat();
    std::io::Read::read_to_end(&mut noodles_bgzf::io::Reader::new(&header[..]), &mut text).unwrap();
    assert!(String::from_utf8_lossy(&text).contains("@HD\tVN:1.6\tSO:coordinate\n"));
}

/// The index finds the records of each region and counts the records of each reference.
#[test]
fn regions_are_found() {
    let folder = mates();
    succeed(folder.path(), &["--sort", "--sort-memory", "30K", "-o", "out.bam"]);
    let all = records(&bytes(folder.path(), "out.bam"));
    let path = folder.path().join("out.bam");
    let mut reader = noodles_bam::io::indexed_reader::Builder::default().build_from_path(&path).unwrap();
    let header = reader.read_header().unwrap();
    let unplaced = all.iter().filter(|record| place(record).0 < 0).count();
    assert_eq!(reader.index().unplaced_unmapped_record_count(), Some(unplaced as u64));
    let counts: Vec<(u64, u64)> = reader
        .index()
        .reference_sequences()
        .map(|reference| {
            let counts = reference.metadata();
            counts.map_or((0, 0), |counts| (counts.mapped_record_count(), counts.unmapped_record_count()))
        })
        .collect();
    for (target, name) in ["c0", "none0", "c1", "none1", "c2", "none2"].iter().enumerate() {
        let of_target = |unmapped: bool| {
            let mine = |record: &&Vec<u8>| {
                place(record).0 == target as i32 && (place(record).2 & 4 != 0) == unmapped
            };
            all.iter().filter(mine).count()
        };
        assert_eq!(counts[target], (of_target(false) as u64, of_target(true) as u64), "{name}");
        // These records have no gaps, and at most 90 bases.
        for (from, to) in [(0, 19_999), (5_000, 5_000), (16_384, 16_400), (10_000, 20_000), (19_990, 60_000)]
        {
            let region = format!("{name}:{}-{}", from + 1, to + 1).parse().unwrap();
            let mut reader =
                noodles_bam::io::indexed_reader::Builder::default().build_from_path(&path).unwrap();
            reader.read_header().unwrap();
            let query = reader.query(&header, &region).unwrap();
            let found =
                query.records().filter(|record| !record.as_ref().unwrap().flags().is_unmapped()).count();
            let overlaps = |record: &&Vec<u8>| {
                let (of_record, start, flags) = place(record);
                let len = i32::from(record[36 + usize::from(record[12])] >> 4)
                    + 16 * i32::from(record[37 + usize::from(record[12])]);
                of_record == target as i32 && flags & 4 == 0 && start <= to && start + len > from
            };
            assert_eq!(found, all.iter().filter(overlaps).count(), "{name}:{from}-{to}");
        }
    }
}

/// Sorted parts of the queries merge to the bytes of a single run, and so do their indexes.
#[test]
fn merged_parts_are_the_whole() {
    let folder = mates();
    succeed(folder.path(), &["--sort", "-o", "whole.bam"]);
    let mut parts = Vec::new();
    for number in 1..=3 {
        let (part, name) = (format!("{number}/3"), format!("part{number}.bam"));
        let memory = ["1K", "16K", "256M"][number - 1];
        let options = ["--sort", "--sort-memory", memory, "--part", &part, "--resume", "-o", &name];
        succeed(folder.path(), &options);
        let names = ["", ".bai", ".swalign"].map(|extension| format!("{name}{extension}"));
        assert!(names.iter().all(|name| folder.path().join(name).exists()), "{:?}", outputs(folder.path()));
        // The part is complete, but not without its index.
        let again = align(folder.path(), &options);
        assert!(again.stderr.contains("is complete"), "{}", again.stderr);
        let before = bytes(folder.path(), &names[1]);
        fs::remove_file(folder.path().join(&names[1])).unwrap();
        let again = align(folder.path(), &options);
        assert!(again.code == Some(0) && !again.stderr.contains("is complete"), "{}", again.stderr);
        assert!(bytes(folder.path(), &names[1]) == before);
        parts.push(name);
    }
    let merge = |out: &str, parts: &[String]| {
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        run(folder.path(), &[&["merge", out], &parts[..]].concat())
    };
    let outcome = merge("merged.bam", &parts);
    outcome.said(0, &["sorted parts"]);
    for extension in ["", ".bai"] {
        let [merged, whole] =
            ["merged.bam", "whole.bam"].map(|name| bytes(folder.path(), &(name.to_string() + extension)));
        assert!(merged == whole, "{extension}");
    }
    // A soft limit of open files is raised, and a hard limit is kept.
    for limit in ["-Sn 20", "-n 34"].into_iter().filter(|_| cfg!(target_os = "linux")) {
        let line = format!("ulimit {limit}; exec \"$SWALIGN\" merge few.bam {}", parts.join(" "));
        finish(&mut shell(folder.path(), &line)).ended(0);
        assert!(bytes(folder.path(), "few.bam") == bytes(folder.path(), "whole.bam"), "{limit}");
    }
    for name in ["few.bam", "few.bam.bai"].into_iter().filter(|_| cfg!(target_os = "linux")) {
        fs::remove_file(folder.path().join(name)).unwrap();
    }
    let to_stdout = merge("-", &parts);
    assert!(to_stdout.stdout == bytes(folder.path(), "whole.bam"));
    // A part of an unsorted run belongs to another run. A changed part is an error. Both leave no output.
    let before = outputs(folder.path());
    succeed(folder.path(), &["--part", "3/3", "-o", "other.bam"]);
    let other = merge("x.bam", &[&parts[..2], &["other.bam".to_string()]].concat());
    other.said(1, &["another run"]);
    let mut changed = bytes(folder.path(), &parts[1]);
    let middle = changed.len() * 3 / 4;
    changed[middle] ^= 1;
    fs::write(folder.path().join(&parts[1]), changed).unwrap();
    let outcome = merge("x.bam", &parts);
    assert!(outcome.code == Some(1) && outcome.stderr.contains(&parts[1]), "{}", outcome.stderr);
    for name in ["other.bam", "other.bam.swalign"] {
        fs::remove_file(folder.path().join(name)).unwrap();
    }
    assert_eq!(outputs(folder.path()), before);
    let outcome = merge("part1.bam", &parts);
    outcome.said(2, &["part1.bam"]);
}

#[test]
fn pairs_and_empty_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("q.fa"), ">a\nACGTTGCAACGGATCTTACGATC\n>b\nGGATCTTACGATCACGTTGCAAC\n").unwrap();
    fs::write(path.join("t.fa"), ">x\nTTACGTTGCAACGGATCTTACGATC\n>y\nGGATCTTACGATCACGTTGCAAC\n").unwrap();
    fs::write(path.join("none.fa"), "").unwrap();
    let pairs = run(path, &["pairs", "--device", "cpu", "--sort", "-o", "p.bam", "q.fa", "t.fa"]);
    pairs.ended(0);
    let places: Vec<_> = records(&bytes(path, "p.bam")).iter().map(|record| place(record)).collect();
    assert_eq!(places, [(0, 2, 0), (1, 0, 0)]);
    assert!(path.join("p.bam.bai").exists());
    // Readers would take an older index of the replaced file for the index of the new file.
    fs::write(path.join("p.bam.csi"), "old").unwrap();
    run(path, &["pairs", "--device", "cpu", "--sort", "-o", "p.bam", "q.fa", "t.fa"]);
    assert!(path.join("p.bam.bai").exists() && !path.join("p.bam.csi").exists());
    let proteins =
        run(path, &["--device", "cpu", "--sort", "--alphabet", "protein", "-o", "x.bam", "q.fa", "t.fa"]);
    assert!(proteins.stderr.contains("--sort"), "{}", proteins.stderr);
}

#[test]
fn what_can_not_be_sorted_is_wrong_usage() {
    let folder = mates();
    for (options, says) in [
        (&["--sort", "-o", "x.sam"][..], &["--sort", "BAM", ".bam"][..]),
        (&["--sort", "--format", "paf"], &["--sort", "BAM"]),
        (&["--sort", "-o", "x.sam.gz"], &["--sort", "BAM"]),
        (&["--sort-memory", "1M"], &["--sort"]),
        (&["--sort=0"], &["--sort", "512M"]),
        (&["--sort="], &["--sort"]),
        (&["--sort=1G", "--sort-memory", "2G"], &["--sort-memory", "--sort=1G"]),
        (&["--sort", "--sort-memory", "0"], &["--sort", "512M"]),
        (&["--sort", "--sort-memory", "12Q"], &["--sort", "512M"]),
        (&["--sort", "--sort-memory", "99999999999999999G"], &["--sort", "512M"]),
    ] {
        let outcome = align(folder.path(), options);
        assert_eq!(outcome.code, Some(2), "{options:?}: {}", outcome.stderr);
        assert!(says.iter().all(|text| outcome.stderr.contains(text)), "{options:?}: {}", outcome.stderr);
    }
    fs::copy(folder.path().join("ref.fa"), folder.path().join("x.bam.bai")).unwrap();
    let index = run(folder.path(), &["--sort", "-o", "x.bam", "1.fq", "x.bam.bai"]);
    index.said(2, &["index", "--output", "x.bam.bai"]);
    assert_eq!(outputs(folder.path()), ["x.bam.bai"]);
}

/// An error during or at the end of a run leaves no output, no index and no temporary runs.
#[test]
fn what_fails_leaves_nothing() {
    let folder = mates();
    let path = folder.path();
    let fails = |options: &[&str], says: &[&str]| {
        let before = outputs(path);
        let outcome = align(path, options);
        assert_eq!(outcome.code, Some(1), "{options:?}: {}", outcome.stderr);
        assert!(says.iter().all(|text| outcome.stderr.contains(text)), "{options:?}: {}", outcome.stderr);
        assert_eq!(outputs(path), before);
    };
    fs::create_dir(path.join("x.bam.bai")).unwrap();
    fails(&["--sort", "-o", "x.bam"], &["x.bam.bai"]);
    fails(&["--sort", "-o", "nosuch/x.bam"], &["nosuch/x.bam", "directory"]);
    // The run finds late that the last mate is missing.
    let mates = fs::read_to_string(path.join("2.fq")).unwrap();
    fs::write(path.join("2.fq"), &mates[..mates.rfind("@p").unwrap()]).unwrap();
    fails(&["--sort", "--sort-memory", "1K", "--batch", "20", "-o", "y.bam"], &["1.fq"]);
    if cfg!(target_os = "linux") {
        fs::write(path.join("2.fq"), &mates).unwrap();
        fails(&["--sort", "--sort-memory", "1K", "-o", "/dev/full"], &["/dev/full", "space"]);
    }
    // Temporary files of a sort to stdout.
    let mut no_folder = command(path);
    no_folder.env("TMPDIR", "nosuch").args([
        "--device",
        "cpu",
        "--sort",
        "--sort-memory",
        "1K",
        "1.fq",
        "ref.fa",
    ]);
    let outcome = finish(&mut no_folder);
    outcome.said(1, &["nosuch"]);
}

/// A signal leaves no files either.
#[cfg(target_os = "linux")]
#[test]
fn signals_leave_nothing() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    let folder = mates();
    let options =
        ["--device", "cpu", "--sort", "--sort-memory", "1K", "--batch", "20", "-o", "x.bam", "-", "ref.fa"];
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("swalign"))
        .args(options)
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let reads = bytes(folder.path(), "1.fq");
    // The input does not end before the command.
    let feeder = std::thread::spawn(move || while input.write_all(&reads).is_ok() {});
    // Waits for the output, its index, and temporary runs.
    let begun = Instant::now();
    while outputs(folder.path()).len() < 5 {
        assert!(begun.elapsed() < Duration::from_secs(300), "no runs: {:?}", outputs(folder.path()));
        std::thread::sleep(Duration::from_millis(20));
    }
    let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert!(outputs(folder.path()).is_empty(), "{:?}", outputs(folder.path()));
    feeder.join().unwrap();
}
