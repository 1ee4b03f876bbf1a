//! Runs in parts of the references from the command: joined, they are the whole, byte for byte.

mod common;

use common::command::{command, finish};
use common::folder::Folder;
use common::gzip::unpacked;
use common::random::Random;
use common::sam::Sam;
use common::{data, fasta, names_in_groups, receipts};
use swalign::alphabet::Alphabet;

/// Names of the parts of a run, all written.
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

/// The run of `args` as a whole.
#[track_caller]
fn whole(folder: &Folder, args: &[&str], format: &str) -> Vec<u8> {
    folder.done(&[&["--device", "cpu", "-q", "--format", format], args].concat())
}

/// Holds the run of `args` in so many parts, joined, against `whole`.
#[track_caller]
fn check(folder: &Folder, args: &[&str], format: &str, count: usize, whole: &[u8]) {
    let mut parts = parts(folder, args, format, count);
    // The order in which they are given says nothing.
    parts.reverse();
    let merge = ["merge", "-q", "out"].into_iter().chain(parts.iter().map(String::as_str));
    folder.done(&merge.collect::<Vec<_>>());
    let joined = folder.read("out");
    if joined != whole && format != "bam" {
        let [joined, whole] = [&joined[..], whole].map(String::from_utf8_lossy);
        let mut lines = joined.lines().zip(whole.lines()).filter(|(one, other)| one != other);
        panic!("{args:?} in {count} parts: {:?}", lines.next());
    }
    assert!(joined == whole, "{args:?} as {format} in {count} parts");
}

const READS: usize = 552;

/// Reads in many groups, some of which hit nothing; and 20 relatives, with a copy of each before all of
/// them that differs a little, so that the best hit may be in any part, and its equal in another.
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
    let relatives = fasta(&common::text("data/16s_20.fa"));
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

/// Distinct flags and the number of records of a SAM.
fn flags(sam: &[u8]) -> (Vec<u32>, usize) {
    let sam = Sam::parse(str::from_utf8(sam).unwrap());
    let mut flags: Vec<u32> = sam.records.iter().map(|record| record.flag()).collect();
    flags.sort();
    flags.dedup();
    (flags, sam.records.len())
}

#[test]
fn parts_of_relatives_are_the_whole() {
    let folder = amplicons();
    let group = "@RG\tID:run1\tSM:s";
    for (options, format, counts) in [
        (&["--max-hits", "1"][..], "sam", &[1, 2, 3, 45][..]),
        (&["--max-hits", "3", "-R", group], "bam", &[3, 25]),
        (&["--max-hits", "20", "--secondary-ratio", "0"], "sam", &[2]),
        (&["--max-hits", "20", "--secondary-ratio", "0", "--eqx"], "bam", &[2]),
        (&["--max-hits", "20", "--eqx", "-R", group], "sam", &[7]),
        (&["--max-hits", "3"], "paf", &[1, 3]),
        (&["--secondary-ratio", "0"], "paf", &[2]),
        (&["--filter", "none", "--preset", "long"], "sam", &[3]),
        (&["--filter", "bitap", "--max-hits", "2"], "sam", &[25]),
    ] {
        let args = [options, &["q.fq", "r.fa"]].concat();
        let whole = whole(&folder, &args, format);
        if format == "sam" {
            let (flags, records) = flags(&whole);
            assert!(flags.contains(&4) && flags.contains(&0), "{options:?}: {flags:?}");
            assert!(records > READS || !flags.contains(&256), "{options:?}: {records}");
        }
        for &count in counts {
            check(&folder, &args, format, count, &whole);
        }
    }
}

/// Headers tell what was renamed, and are those of the whole in all parts.
#[test]
fn parts_of_renamed_references_are_the_whole() {
    let folder = amplicons();
    folder.write("r.fa", folder.text("r.fa").replace("_copy\n", ";tax=d,c(copy)\n"));
    for (options, format) in
        [(&["--rename-references"][..], "sam"), (&["--rename-references"], "bam"), (&[], "paf")]
    {
        let args = [options, &["--max-hits", "2", "q.fq", "r.fa"]].concat();
        let whole = whole(&folder, &args, format);
        let text = String::from_utf8_lossy(&whole);
        match format {
            "sam" => {
                assert!(text.contains("@CO\tswalign names: 20 of 40 references") && !text.contains("d,c\t"))
            }
            "paf" => assert!(text.contains(";tax=d,c(copy)\t")),
            _ => {}
        }
        check(&folder, &args, format, 3, &whole);
        // Parts of the queries have the same header.
        let name = |number: usize| format!("{number}.{format}");
        for number in 1..=2 {
            let own = ["--device", "cpu", "--part", &format!("{number}/2"), "-o", &name(number), "--resume"];
            folder.done(&[&own, &args[..]].concat());
            let again = folder.run(&[&own, &args[..]].concat());
            assert!(again.stderr.contains("is there and whole"), "{}", again.stderr);
        }
        assert!(folder.done(&["merge", "-q", "-", &name(1), &name(2)]) == whole, "{format}");
    }
}

/// What stands in the parts is not yet what stands in the whole.
#[test]
fn parts_choose_otherwise_than_the_whole() {
    let folder = amplicons();
    let args = ["--max-hits", "2", "q.fq", "r.fa"];
    let whole = whole(&folder, &args, "sam");
    let parts = parts(&folder, &args, "sam", 2);
    let sam = |bytes: &[u8]| Sam::parse(str::from_utf8(bytes).unwrap());
    let (whole, first) = (sam(&whole), sam(&folder.read(&parts[0])));
    assert_eq!(whole.header, first.header);
    let mut other = [0; 3];
    for (of_all, of_part) in whole.primary().zip(first.primary()) {
        assert_eq!(of_all.name(), of_part.name());
        let (place, quality) = (of_all.target() != of_part.target(), of_all.fields[4] != of_part.fields[4]);
        let second = !place && of_all.tag("XS") != of_part.tag("XS");
        for (count, differs) in other.iter_mut().zip([place, !place && quality, second]) {
            *count += usize::from(differs);
        }
    }
    assert!(other.iter().all(|&count| count > 0), "targets, qualities, second scores: {other:?}");
}

#[test]
fn parts_of_proteins_are_the_whole() {
    let folder = Folder::new();
    for name in ["proteins_20.fa", "uniprot_60.fa"] {
        folder.copy_data(name, name);
    }
    for (options, format, counts) in [
        (&["--max-hits", "5"][..], "sam", &[2, 90][..]),
        (&["--max-hits", "20", "--secondary-ratio", "0.1", "--min-score", "30"], "paf", &[3]),
        (&["--matrix", "BLOSUM50", "--gap-open", "13", "--gap-extend", "2"], "sam", &[3]),
    ] {
        let args = [options, &["proteins_20.fa", "uniprot_60.fa"]].concat();
        let whole = whole(&folder, &args, format);
        for &count in counts {
            check(&folder, &args, format, count, &whole);
        }
    }
}

/// Tiny references, many of them equal, on both strands: nearly every choice is between equals.
#[test]
fn ties_between_parts_go_to_the_earlier_reference() {
    for seed in 0..12 {
        let mut random = Random::new(seed);
        let folder = Folder::new();
        let letters = |random: &mut Random, most: usize| {
            let len = 1 + random.below(most);
            (0..len).map(|_| random.pick(b"AACGT")).collect::<Vec<u8>>()
        };
        let mut kinds: Vec<Vec<u8>> = (0..3).map(|_| letters(&mut random, 40)).collect();
        kinds.extend(kinds.clone().iter().map(|kind| swalign::alphabet::reverse_complement(kind)));
        let records = |random: &mut Random, count: usize, name: &str| -> String {
            let record = |number| {
                let letters = match random.below(4) {
                    0 => letters(random, 12),
                    1 => [random.pick(&[b"", &b"AC"[..]]), &kinds[random.below(6)], b"A"].concat(),
                    _ => kinds[random.below(6)].clone(),
                };
                format!(">{name}{number}\n{}\n", String::from_utf8(letters).unwrap())
            };
            (0..count).map(record).collect()
        };
        let references = 1 + random.below(9);
        folder.write("r.fa", records(&mut random, references, "r"));
        folder.write("q.fa", records(&mut random, 40, "q"));
        let (hits, least) = (random.pick(&["1", "2", "4", "30"]), random.pick(&["1", "3", "8"]));
        let ratio = random.pick(&["0", "0.5", "0.8", "1"]);
        let strands = random.pick(&["--both-strands", "--forward-only"]);
        let (format, count) = (random.pick(&["sam", "bam", "paf"]), random.pick(&[2, 3, references, 12]));
        let args = [
            &["--max-hits", hits, "--min-score", least, "--secondary-ratio", ratio, strands][..],
            &["--alphabet", "dna", "q.fa", "r.fa"],
        ]
        .concat();
        let whole = whole(&folder, &args, format);
        println!("seed {seed}: {references} references, {format}");
        check(&folder, &args, format, count, &whole);
    }
}

/// The same reference in all parts: the first has the record, the others make it doubtful.
#[test]
fn equal_references_in_different_parts() {
    let folder = Folder::new();
    let mut random = Random::new(5);
    let letters = random.text(Alphabet::Dna, 200);
    folder.write("r.fa", (0..3).map(|number| format!(">r{number}\n{letters}\n")).collect::<String>());
    folder.write("q.fa", format!(">q\n{}\n", &letters[20..120]));
    let args = ["q.fa", "r.fa"];
    let whole = whole(&folder, &args, "sam");
    check(&folder, &args, "sam", 3, &whole);
    let record = Sam::parse(str::from_utf8(&whole).unwrap()).records.remove(0);
    assert_eq!((record.target(), &*record.fields[4], record.tag("XS")), ("r0", "0", Some("100")));
    let last = Sam::parse(str::from_utf8(&folder.read("part.3.sam")).unwrap()).records.remove(0);
    assert_eq!((last.target(), &*last.fields[4], last.tag("XS")), ("r2", "60", None));
}

/// A group of queries whose records are more than is packed at once has the blocks that it has in one run. These all
/// have the name of a pair.
#[test]
fn groups_of_long_queries_are_the_whole() {
    let folder = Folder::new();
    let mut random = Random::new(11);
    let references = [0, 1].map(|_| random.text(Alphabet::Dna, 60));
    folder.write("r.fa", format!(">a\n{}\n>b\n{}\n", references[0], references[1]));
    let query = |number: usize| {
        let (before, behind) = (random.text(Alphabet::Dna, 5000), random.text(Alphabet::Dna, 5000));
        format!(">q/{}\n{before}{}{behind}\n", 1 + number % 2, references[number % 2])
    };
    folder.write("q.fa", (0..READS).map(query).collect::<String>());
    let args = ["q.fa", "r.fa"];
    let whole = whole(&folder, &args, "bam");
    check(&folder, &args, "bam", 2, &whole);
}

/// What all references decide is the same in each part: the alphabet, what is refused, the header.
#[test]
fn parts_see_all_references() {
    let folder = Folder::new();
    let dna = "ACGTACGTACGATCGATCGATCGACTAGCTAGC";
    let protein = "MKVLAAGITRRWDEFHIKLMNPQRSTVWYMKVLAAGITRRWDEFHIKLMNPQRSTVWY";
    folder.write("q.fa", format!(">q\n{protein}\n"));
    // The second part alone would look like DNA.
    folder.write("r.fa", format!(">p\n{protein}\n>d\n{dna}\n"));
    let whole = whole(&folder, &["q.fa", "r.fa"], "sam");
    check(&folder, &["q.fa", "r.fa"], "sam", 2, &whole);
    let part =
        |number: &str| folder.run(&["--device", "cpu", "--ref-part", number, "-o", "x.sam", "q.fa", "r.fa"]);
    for references in [
        format!(">a\n{dna}\n>b\n{dna}\n>a\n{dna}\n"),
        format!(">a\n{dna}\n>b\n{dna}\n>c\nAC!GT\n"),
        format!(">a\n{dna}\n>b\n{dna}\n>c\n\n>d\nA\n"),
    ] {
        folder.write("r.fa", &references);
        let [first, second] = ["1/2", "2/2"].map(part);
        assert_eq!((first.code, &first.stderr), (Some(1), &second.stderr), "{references}");
        assert!(first.stderr.contains("record 3"), "{}", first.stderr);
        assert!(!folder.file("x.sam").exists());
    }
}

#[test]
fn what_can_not_be_parted_is_refused() {
    let folder = Folder::new();
    folder.write("q.fa", ">q\nACGT\n");
    for args in [
        &["--ref-part", "1/2", "q.fa", "-"][..],
        &["--ref-part", "1/2", "q.fa", "/dev/null"],
        &["--ref-part", "1/2", "--part", "1/2", "q.fa", "q.fa"],
        &["--ref-part", "3/2", "q.fa", "q.fa"],
        &["pairs", "--ref-part", "1/2", "q.fa", "q.fa"],
        &["search", "--ref-part", "1/2", "ACGT", "q.fa"],
    ] {
        let outcome = finish(command(folder.path()).args(args).write_stdin(">a\nACGT\n"));
        outcome.said(2, &["--ref-part"]);
        assert!(outcome.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn merge_says_what_is_missing_or_foreign() {
    let folder = amplicons();
    let write = |more: &[&str]| folder.done(&[&["--device", "cpu", "-q"], more, &["r.fa"]].concat());
    for number in ["1", "2", "3"] {
        write(&["--ref-part", &format!("{number}/3"), "-o", &format!("{number}.sam"), "q.fq"]);
    }
    write(&["--ref-part", "2/4", "-o", "of4.sam", "q.fq"]);
    write(&["--ref-part", "2/3", "-o", "2.bam", "q.fq"]);
    write(&["--ref-part", "2/3", "-o", "hits.sam", "--max-hits", "2", "q.fq"]);
    write(&["--part", "2/3", "-o", "queries.sam", "q.fq"]);
    write(&["--resume", "-o", "whole.sam", "q.fq"]);
    let copy = |from: &str, to: &str, change: &dyn Fn(String) -> String| {
        folder.write(to, change(folder.text(from)));
        folder.copy(&format!("{from}.swalign"), &format!("{to}.swalign"));
    };
    copy("2.sam", "again.sam", &|text| text);
    // As many bytes, other records.
    copy("2.sam", "renamed.sam", &|text| text.replacen("\nr7\t", "\nx7\t", 1));
    copy("2.sam", "fewer.sam", &|text| text.replacen("\nr7\t", "\nr7 ", 1));
    copy("2.sam", "joined.sam", &|text| text.replacen("\nr7\t", " r7\t", 1));
    copy("2.sam", "headed.sam", &|text| text.replacen("SO:unsorted", "SO:unknown_", 1));
    let before = folder.names();
    for (parts, says) in [
        (&["1.sam", "3.sam"][..], &["part 2/3", "missing"][..]),
        (&["2.sam"], &["2 parts of its run are missing: 1/3, 3/3;"]),
        (&["1.sam", "2.sam", "again.sam", "3.sam"], &["part 2/3, as is 2.sam", "again.sam"]),
        (&["1.sam", "of4.sam", "3.sam"], &["of4.sam", "another run", "in 4 parts of the references"]),
        (&["1.sam", "2.bam", "3.sam"], &["2.bam", "another run", "as bam"]),
        (&["1.sam", "hits.sam", "3.sam"], &["hits.sam", "another run", "--max-hits"]),
        (&["1.sam", "queries.sam", "3.sam"], &["queries.sam", "another run", "in 3 parts, of inputs"]),
        (&["1.sam", "whole.sam", "3.sam"], &["another run"]),
        (&["1.sam", "renamed.sam", "3.sam"], &["renamed.sam", "query 8 is 'x7'", "'r7'"]),
        (&["1.sam", "fewer.sam", "3.sam"], &["fewer.sam", "damaged", "write this part again"]),
        (&["1.sam", "joined.sam", "3.sam"], &["joined.sam"]),
        (&["1.sam", "headed.sam", "3.sam"], &["headed.sam", "header"]),
        (&["1.sam", "nosuch.sam", "3.sam"], &["nosuch.sam", "--ref-part"]),
    ] {
        folder.run(&[&["merge", "out.sam"], parts].concat()).said(1, says);
        assert_eq!(folder.names(), before, "{parts:?}");
    }
    let outcome = folder.run(&["merge", "out.sam", "1.sam", "2.sam", "3.sam"]);
    outcome.said(0, &["joined 3 parts of the references, of 552 records"]);
    assert!(folder.read("out.sam") == folder.read("whole.sam"));
    // Parts that differ in the number of queries, or in what else the receipt says.
    let receipt = folder.text("2.sam.swalign");
    for (from, to, says) in [
        ("records\t552", "records\t551", "551 queries"),
        ("hits\t20\t", "hits\t21\t", "chosen otherwise"),
        ("ref-part\t2/3", "ref-part\t9", "was changed after it was written"),
    ] {
        folder.write("2.sam.swalign", &receipt);
        receipts::change(&folder.file("2.sam"), |text| {
            assert!(text.contains(from), "{text}");
            text.replace(from, to)
        });
        let outcome = folder.run(&["merge", "out.sam", "1.sam", "2.sam", "3.sam"]);
        assert_eq!(outcome.code, Some(1), "{to}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(says), "{to}: {}", outcome.stderr);
    }
}

/// What is read is held against the receipts, even if all of them were changed alike and sealed anew.
#[test]
fn merge_does_not_believe_receipts() {
    let folder = amplicons();
    for format in ["sam", "bam", "paf"] {
        let parts = parts(&folder, &["--max-hits", "2", "q.fq", "r.fa"], format, 2);
        let receipts = parts.iter().map(|part| folder.read(&format!("{part}.swalign"))).collect::<Vec<_>>();
        for (key, value, says) in [
            ("records", "0", "more than 0 queries"),
            ("records", "551", "more than 551 queries"),
            ("records", "553", "fewer than 553 queries"),
            ("hits", "0\t0\t0\t0\t0", "was changed after it was written"),
            ("hits", "20\t800000\t0\t1\t4", "was changed after it was written"),
            ("crc32", "00000000", "the checksum differs"),
        ] {
            for (part, receipt) in parts.iter().zip(&receipts) {
                folder.write(&format!("{part}.swalign"), receipt);
                receipts::change(&folder.file(part), |text| receipts::with(text, key, value));
            }
            let outcome = folder.run(&["merge", "out", &parts[0], &parts[1]]);
            assert_eq!(outcome.code, Some(1), "{format} {key}: {}", outcome.stderr);
            assert!(outcome.stderr.contains(says), "{format} {key} {value}: {}", outcome.stderr);
            assert!(!folder.file("out").exists());
        }
    }
}

/// Any byte of any format.
#[test]
fn merge_sees_a_changed_byte() {
    let folder = amplicons();
    for format in ["sam", "bam", "paf"] {
        let parts = parts(&folder, &["q.fq", "r.fa"], format, 2);
        let bytes = folder.read(&parts[1]);
        for at in (0..bytes.len()).step_by(bytes.len() / 23).chain([bytes.len() - 1]) {
            let mut changed = bytes.clone();
            changed[at] ^= 4;
            folder.write(&parts[1], &changed);
            let outcome = folder.run(&["merge", "out", &parts[0], &parts[1]]);
            assert_eq!(outcome.code, Some(1), "{format}, byte {at}: {}", outcome.stderr);
            // A name that differs is told before the checksum is known.
            let says = ["write this part again", "write all parts"];
            assert!(
                says.iter().any(|says| outcome.stderr.contains(says)),
                "{format}, {at}: {}",
                outcome.stderr
            );
            assert!(!folder.file("out").exists());
        }
    }
}

/// A part of a number that nobody joins is written as any other.
#[test]
fn one_part_of_very_many() {
    let folder = amplicons();
    let args =
        ["--device", "cpu", "-q", "--ref-part", "4294967295/4294967295", "-o", "x.bam", "q.fq", "r.fa"];
    folder.done(&args);
    let says = "4294967294 parts of its run are missing: 1/4294967295, 2/4294967295, ";
    folder.run(&["merge", "out.bam", "x.bam"]).said(1, &[says]);
}

/// A part of the references is another output than the whole and than a part of the queries.
#[test]
fn what_is_done_is_not_done_again() {
    let folder = amplicons();
    let resume = |more: &[&str]| {
        let args = [&["--device", "cpu", "--resume", "-o", "x.sam"], more, &["q.fq", "r.fa"]].concat();
        let outcome = folder.run(&args);
        outcome.ended(0);
        outcome.stderr.contains("is there and whole")
    };
    assert!(!resume(&["--ref-part", "1/2"]) && resume(&["--ref-part", "1/2", "-t", "1"]));
    assert!(!resume(&["--part", "1/2"]) && resume(&["--part", "1/2"]));
    assert!(!resume(&["--ref-part", "1/2"]) && !resume(&["--ref-part", "2/2"]));
    assert!(!resume(&[]) && resume(&[]));
}
