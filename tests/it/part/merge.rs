//! Tests `swalign merge`: joined outputs, errors, and receipts, which it does not trust.

use super::*;

/// Runs `swalign` for one part of an output.
fn write_part(folder: &Folder, part: &str, out: &str) -> crate::common::command::Outcome {
    folder.run(&["--device", "cpu", "--part", part, "--resume", "-o", out, "q.fq", "ref.fa"])
}

#[test]
fn merged_parts_are_the_whole() {
    let folder = reads();
    for (query, format, count) in [
        ("q.fq", "bam", 3),
        ("q.fq.gz", "bam", 60),
        ("q.fa", "paf", 7),
        ("wrapped.fa", "sam", 2),
        ("q.fq", "sam", 1),
    ] {
        let name = |number: u32| format!("part.{number}.{format}");
        for number in 1..=count {
            let (part, threads) = (format!("{number}/{count}"), (1 + number % 3).to_string());
            let args =
                ["--device", "cpu", "-t", &threads, "--part", &part, "-o", &name(number), query, "ref.fa"];
            folder.done(&args);
        }
        // The order of a directory listing, in which 10 comes before 2.
        let mut parts: Vec<String> = (1..=count).map(name).collect();
        parts.sort();
        let args: Vec<&str> = ["merge", "out"].into_iter().chain(parts.iter().map(String::as_str)).collect();
        folder.done(&args);
        let named: Vec<&str> = ["merge"].into_iter().chain(parts.iter().map(String::as_str)).collect();
        folder.done(&[&named[..], &["--output", "named"]].concat());
        assert!(folder.read("named") == folder.read("out"));
        let whole = folder.done(&["--device", "cpu", "--format", format, query, "ref.fa"]);
        assert!(folder.read("out") == whole, "{query} as {format} in {count} parts");
    }
    for format in ["tab", "count", "fasta"] {
        let search = ["search", "-k", "2", "--format", format, "GATTACAGG", "q.fa", "wrapped.fa"];
        for number in 1..=3 {
            let (part, out) = (format!("{number}/3"), format!("{number}.out"));
            folder.done(&[&search[..], &["--part", &part, "-o", &out]].concat());
        }
        let whole = folder.done(&search);
        for output in [&["merge", "-"][..], &["merge", "-o", "-"]] {
            let merged = folder.done(&[output, &["2.out", "3.out", "1.out"]].concat());
            assert!(merged == whole, "{format}");
        }
    }
}

/// In SAM, a pattern has one primary record, whatever the number of parts.
#[test]
fn merged_hits_are_the_whole() {
    let folder = reads();
    folder.write("p.fa", ">one\nGATTACAGG\n>two\nTTGCAT\n>none\nACGTTGCAACGTTGCAACGTTGCA\n");
    let search = ["search", "-k", "1", "--format", "sam", "-f", "p.fa", "q.fa"];
    let whole = folder.done(&search);
    let primaries = |bytes: &[u8], pattern: &str| {
        let text = str::from_utf8(bytes).unwrap();
        let flags = text.lines().filter_map(|line| line.strip_prefix(pattern)?.strip_prefix('\t'));
        flags.filter(|line| line.starts_with("0\t") || line.starts_with("16\t")).count()
    };
    for count in [1, 2, 5] {
        let name = |number: u32| format!("{number}.sam");
        for number in 1..=count {
            let part = format!("{number}/{count}");
            folder.done(&[&search[..], &["--part", &part, "-o", &name(number)]].concat());
            let part = folder.read(&name(number));
            assert_eq!(
                ["two", "none"].map(|pattern| primaries(&part, pattern)),
                [1, 0],
                "there is something to do"
            );
        }
        let parts: Vec<String> = (1..=count).map(name).collect();
        let args: Vec<&str> = ["merge", "-"].into_iter().chain(parts.iter().map(String::as_str)).collect();
        assert!(folder.done(&args) == whole, "{count} parts");
    }
    folder.write("p.fa", ">one\nGATTACAGG\n>one\nTTGCAT\n");
    let outcome = folder.run(&[&search[..], &["--part", "1/2"]].concat());
    outcome.said(2, &["'one'", "--part"]);
}

#[test]
fn merge_says_what_is_missing_or_foreign() {
    let folder = reads();
    let path = |name: &str| folder.file(name);
    for number in ["1", "2", "3"] {
        write_part(&folder, &format!("{number}/3"), &format!("{number}.bam")).ended(0);
    }
    let write = |args: &[&str]| folder.done(&[&["--device", "cpu"], args, &["ref.fa"]].concat());
    write(&["--part", "2/4", "-o", "of4.bam", "q.fq"]);
    write(&["--part", "2/3", "-o", "2.sam", "q.fq"]);
    write(&["--part", "2/3", "-o", "eqx.bam", "--eqx", "q.fq"]);
    write(&["--part", "2/3", "-o", "other.bam", "q.fa"]);
    write(&["-o", "whole.bam", "q.fq"]);
    folder.copy("2.bam", "again.bam");
    folder.copy("2.bam.swalign", "again.bam.swalign");
    folder.write("short.bam", &folder.read("2.bam")[..1000]);
    folder.copy("2.bam.swalign", "short.bam.swalign");
    folder.write("empty.bam", "");
    fs::create_dir(folder.file("folder")).unwrap();
    let receipt = folder.text("2.bam.swalign");
    for name in ["gone", "empty"] {
        folder.write(&format!("{name}.bam.swalign"), &receipt);
    }
    let old = receipt.replace("receipt\t7\n", "");
    for (name, text) in [("cut", &receipt[..receipt.len() / 2]), ("none", ""), ("old", &*old)] {
        folder.copy("2.bam", &format!("{name}.bam"));
        folder.write(&format!("{name}.bam.swalign"), text);
    }
    let before = folder.names();
    for (parts, says) in [
        (&["1.bam", "3.bam"][..], &["part 2/3", "missing"][..]),
        (&["2.bam"], &["2 parts", "missing: 1/3, 3/3;"]),
        (&["1.bam", "2.bam", "3.bam", "again.bam"], &["part 2/3, as is 2.bam", "again.bam"]),
        (&["1.bam", "of4.bam", "3.bam"], &["of4.bam", "another run", "in 4 parts"]),
        (&["1.bam", "2.sam", "3.bam"], &["2.sam", "another run", "as sam"]),
        (&["1.bam", "eqx.bam", "3.bam"], &["eqx.bam", "another run", "--eqx"]),
        (&["1.bam", "other.bam", "3.bam"], &["other.bam", "another run", "q.fa"]),
        (&["1.bam", "whole.bam", "3.bam"], &["whole.bam", "whole.bam.swalign is missing"]),
        (&["1.bam", "short.bam", "3.bam"], &["short.bam", "1000 bytes"]),
        (&["1.bam", "nosuch.bam", "3.bam"], &["nosuch.bam: ", "path"]),
        (&["1.bam", "gone.bam", "3.bam"], &["gone.bam: ", "gone.bam.swalign", "again"]),
        (&["1.bam", "empty.bam", "3.bam"], &["empty.bam: ", "0 bytes", "again"]),
        (&["1.bam", "folder", "3.bam"], &["folder: ", "directory", "file"]),
        (&["1.bam", "cut.bam", "3.bam"], &["cut.bam.swalign", "truncated", "again"]),
        (&["1.bam", "none.bam", "3.bam"], &["none.bam.swalign", "truncated", "again"]),
        (&["1.bam", "old.bam", "3.bam"], &["old.bam.swalign", "version of swalign", "again"]),
    ] {
        folder.run(&[&["merge", "out.bam"], parts].concat()).said(1, says);
        assert_eq!(folder.names(), before, "{parts:?}");
    }
    folder.run(&["merge", "1.bam", "2.bam", "1.bam", "3.bam"]).ended(2);
    folder.done(&["merge", "out.bam", "1.bam", "2.bam", "3.bam"]);
    assert!(folder.read("out.bam") == folder.read("whole.bam"));
    // The receipt of an input that has kept its size, but not the positions of its cuts.
    receipts::change(&path("2.bam"), |text| receipts::with(text, "stretch", "5\t6"));
    let outcome = folder.run(&["merge", "out.bam", "1.bam", "2.bam", "3.bam"]);
    outcome.said(1, &["2.bam: ", "byte 5", "input has changed"]);
}

/// Merges two parts, which must fail with one of these messages and leave no file.
#[track_caller]
fn not_joined(folder: &Folder, parts: &[String], says: &[&str], what: &str) {
    let before = folder.names();
    let outcome = folder.run(&["merge", "out", &parts[0], &parts[1]]);
    assert_eq!(outcome.code, Some(1), "{what}: {}", outcome.stderr);
    assert!(says.iter().any(|says| outcome.stderr.contains(says)), "{what}: {}", outcome.stderr);
    assert_eq!(folder.names(), before, "{what}");
}

/// Changes single bytes of every format. The length of the part stays the same.
#[test]
fn merge_sees_a_changed_byte() {
    let refused = |folder: &Folder, parts: &[String]| {
        let bytes = folder.read(&parts[0]);
        for at in (0..bytes.len()).step_by(bytes.len() / 23).chain([bytes.len() - 1]) {
            let mut changed = bytes.clone();
            changed[at] ^= 4;
            folder.write(&parts[0], &changed);
            not_joined(folder, parts, &["part again", "all parts"], &format!("{}, {at}", parts[0]));
        }
    };
    for format in ["bam", "sam", "paf"] {
        let (folder, parts) = parts_of(format, 2);
        refused(&folder, &parts);
    }
    let folder = reads();
    for format in ["tab", "bed", "sam", "fasta", "count"] {
        let parts = ["1", "2"].map(|number| {
            let (part, out) = (format!("{number}/2"), format!("{number}.{format}"));
            let args =
                ["search", "-k", "2", "--format", format, "--part", &part, "-o", &out, "GATTACAGG", "q.fa"];
            folder.done(&args);
            out
        });
        refused(&folder, &parts);
    }
}

/// A changed receipt is an error. A receipt with a new seal is compared with the bytes.
#[test]
fn merge_does_not_believe_receipts() {
    for format in ["bam", "sam", "paf"] {
        let (folder, parts) = parts_of(format, 2);
        let path = |part: &String| folder.file(&format!("{part}.swalign"));
        let receipts = parts.iter().map(|part| fs::read_to_string(path(part)).unwrap()).collect::<Vec<_>>();
        let bytes = receipts[0].lines().find_map(|line| line.strip_prefix("bytes\t")).unwrap();
        let [header, end, all] = bytes.split('\t').collect::<Vec<_>>()[..] else { panic!("{bytes}") };
        let frame = |header: &str, end: &str| format!("{header}\t{end}\t{all}");
        let headers = ["header", "records", "it has"];
        for (key, value, says) in [
            ("bytes", frame("100", end), &headers[..]),
            ("bytes", frame("18446744073709551615", end), &[".swalign was changed"]),
            ("bytes", frame(header, "18446744073709551615"), &[".swalign was changed"]),
            ("bytes", frame(header, "5"), &["its end", "checksum", "it has"]),
            ("records", "0".to_string(), &["0 queries", "checksum"]),
            ("records", "4000".to_string(), &["4000 queries", "its run"]),
            ("crc32", "00000000".to_string(), &["checksum"]),
            ("part", "3/2".to_string(), &[".swalign was changed"]),
        ] {
            // The records of BAM are not unpacked, so their number is taken from the receipt.
            if key == "records" && format == "bam" {
                continue;
            }
            for (part, receipt) in parts.iter().zip(&receipts) {
                let other = receipts::with(receipt, key, &value);
                if other != *receipt {
                    fs::write(path(part), &other).unwrap();
                    not_joined(&folder, &parts, &[".swalign was changed"], &other);
                }
                fs::write(path(part), receipt).unwrap();
            }
            for part in &parts {
                receipts::change(&folder.file(part), |text| receipts::with(text, key, &value));
            }
            not_joined(&folder, &parts, says, &format!("{format} {key} {value}"));
            for (part, receipt) in parts.iter().zip(&receipts) {
                fs::write(path(part), receipt).unwrap();
            }
        }
        folder.done(&["merge", "out", &parts[0], &parts[1]]);
    }
}

/// The time and memory of `merge` depend neither on the number of parts nor on the number of missing parts.
#[test]
fn parts_of_very_many() {
    let folder = reads();
    let args = ["--device", "cpu", "--part", "1/4294967295", "-o", "1.sam", "q.fq", "ref.fa"];
    folder.done(&args);
    let outcome = folder.run(&["merge", "out.sam", "1.sam"]);
    let named: Vec<String> = (2..12).map(|number| format!("{number}/4294967295")).collect();
    let says = format!("{} and 4294967284 more;", named.join(", "));
    outcome.said(1, &["4294967294 parts", &says]);
    receipts::change(&folder.file("1.sam"), |text| receipts::with(text, "part", "1/4000000000"));
    let outcome = folder.run(&["merge", "out.sam", "1.sam"]);
    outcome.said(1, &["3999999999 parts"]);
}

/// OUT must be neither a part nor the receipt of a part, however its path is written. The error changes no file.
#[test]
fn merge_writes_over_no_part() {
    let (folder, _) = parts_of("sam", 2);
    let path = |name: &str| folder.file(name);
    fs::hard_link(path("1.sam"), path("hard.sam")).unwrap();
    fs::hard_link(path("2.sam.swalign"), path("hard.receipt")).unwrap();
    folder.copy("2.sam", "new.swalign");
    folder.copy("2.sam.swalign", "new.swalign.swalign");
    let whole = path("2.sam").display().to_string();
    let mut outs =
        vec!["1.sam", "./2.sam", &whole, "1.sam.swalign", "./2.sam.swalign", "hard.sam", "hard.receipt"];
    if cfg!(unix) {
        #[cfg(unix)]
        std::os::unix::fs::symlink("2.sam.swalign", path("soft.sam")).unwrap();
        outs.push("soft.sam");
    }
    let refused = |args: &[&str]| {
        folder.refused(args, 2, &["OUT", "-o"]);
    };
    for out in outs {
        refused(&["merge", out, "1.sam", "2.sam"]);
        refused(&["merge", "1.sam", "2.sam", "-o", out]);
    }
    // Its receipt would have the name of a part.
    refused(&["merge", "new", "1.sam", "new.swalign"]);
    // The receipt of an output that is not joined, and a receipt as the output of another command.
    for args in [
        &["merge", "new.swalign.swalign", "1.sam", "2.sam"][..],
        &["--device", "cpu", "--format", "sam", "-o", "1.sam.swalign", "q.fq", "ref.fa"],
    ] {
        folder.run(args).said(1, &["receipt of another output"]);
    }
}
