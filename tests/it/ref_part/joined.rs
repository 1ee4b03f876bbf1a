//! Tests joined parts of each kind of references.

use super::*;

#[test]
fn parts_of_relatives_are_the_whole() {
    let folder = amplicons();
    for (options, format, counts) in [
        ("--max-hits 1", "sam", &[1, 2, 3, 45][..]),
        ("--max-hits 3 -R @RG\\tID:run1\\tSM:s", "bam", &[3, 25]),
        ("--max-hits 20 --secondary-ratio 0", "sam", &[2]),
        ("--max-hits 20 --secondary-ratio 0 --eqx --cs", "bam", &[2]),
        ("--max-hits 20 --cs=long -R @RG\\tID:run1\\tSM:s", "sam", &[7]),
        ("--max-hits 3 --cs", "paf", &[1, 3]),
        ("--secondary-ratio 0", "paf", &[2]),
        ("--filter none --preset long --no-split", "sam", &[3]),
        ("--filter bitap --max-hits 2", "sam", &[25]),
        ("--preset short --no-split", "sam", &[3]),
        ("--end-bonus 30 --max-hits 5 --cs", "paf", &[2, 7]),
        ("--end-bonus 9 --min-score 80 --secondary-ratio 0.9", "bam", &[3]),
    ] {
        let whole = check(&folder, &format!("{options} q.fq r.fa"), format, counts);
        if format == "sam" {
            let (flags, records) = flags(&whole);
            assert!(flags.contains(&4) && flags.contains(&0), "{options}: {flags:?}");
            assert!(records > READS || !flags.contains(&256), "{options}: {records}");
        }
    }
}

/// All parts have the header of the whole, which records renamed references.
#[test]
fn parts_of_renamed_references_are_the_whole() {
    let folder = amplicons();
    folder.write("r.fa", folder.text("r.fa").replace("_copy\n", ";tax=d,c(copy)\n"));
    for (options, format) in [("--rename-references", "sam"), ("--rename-references", "bam"), ("", "paf")] {
        let args = format!("{options} --max-hits 2 q.fq r.fa");
        let whole = check(&folder, &args, format, &[3]);
        let text = String::from_utf8_lossy(&whole);
        match format {
            "sam" => {
                assert!(text.contains("@CO\tswalign names: 20 of 40 references") && !text.contains("d,c\t"))
            }
            "paf" => assert!(text.contains(";tax=d,c(copy)\t")),
            _ => {}
        }
        // Parts of the queries have the same header.
        let args = format!("--device cpu --resume {args}");
        assert!(folder.merged(&args, "--part", 2, format) == whole, "{format}");
        for number in [1, 2] {
            let again = folder.line(&format!("{args} --part {number}/2 -o {number}.{format}"));
            again.said(0, &["is complete"]);
        }
    }
}

/// The hits of some references may have another target, mapping quality or second score than those of all.
#[test]
fn parts_choose_otherwise_than_the_whole() {
    let folder = amplicons();
    let text = folder.text("r.fa");
    folder.write("half.fa", &text[..text.len() / 2 + text[text.len() / 2..].find('>').unwrap()]);
    let all = check(&folder, "--max-hits 2 q.fq r.fa", "sam", &[2]);
    let half = whole(&folder, "--max-hits 2 q.fq half.fa", "sam");
    let sam = |bytes: &[u8]| Sam::parse(str::from_utf8(bytes).unwrap());
    let (all, half) = (sam(&all), sam(&half));
    let mut other = [0; 3];
    for (of_all, of_half) in all.primary().zip(half.primary()) {
        assert_eq!(of_all.name(), of_half.name());
        let (place, quality) = (of_all.target() != of_half.target(), of_all.fields[4] != of_half.fields[4]);
        let second = !place && of_all.tag("XS") != of_half.tag("XS");
        for (count, differs) in other.iter_mut().zip([place, !place && quality, second]) {
            *count += usize::from(differs);
        }
    }
    assert!(other.iter().all(|&count| count > 0), "targets, qualities, second scores: {other:?}");
}

/// Sorted records of all parts, and their index.
#[test]
fn sorted_parts_are_the_whole() {
    let folder = amplicons();
    for options in ["--eqx", "--end-bonus 7 --preset short --no-split"] {
        let run = |more: &str| folder.line(&format!("--device cpu --max-hits 2 {options} {more} q.fq r.fa"));
        run("--sort -o whole.bam").ended(0);
        // The memory for sorting may differ.
        for (number, sort) in [("1", "--sort"), ("2", "--sort=1M"), ("3", "--sort")] {
            let args = format!("{sort} --ref-part {number}/3 -o {number}.bam --resume");
            run(&args).ended(0);
            run(&args).said(0, &["is complete"]);
            assert!(!folder.file(&format!("{number}.bam.bai")).exists());
        }
        folder.line("merge -q joined.bam 3.bam 1.bam 2.bam").ended(0);
        for end in ["bam", "bam.bai"] {
            assert!(folder.read(&format!("joined.{end}")) == folder.read(&format!("whole.{end}")), "{end}");
        }
    }
}

#[test]
fn parts_of_proteins_are_the_whole() {
    let folder = Folder::new();
    for name in ["proteins_20.fa", "uniprot_60.fa"] {
        folder.copy_data(name, name);
    }
    for (options, format, counts) in [
        ("--max-hits 5", "sam", &[2, 90][..]),
        ("--max-hits 20 --secondary-ratio 0.1 --min-score 30", "paf", &[3]),
        ("--matrix BLOSUM50 --gap-open 13 --gap-extend 2", "sam", &[3]),
    ] {
        check(&folder, &format!("{options} proteins_20.fa uniprot_60.fa"), format, counts);
    }
}

/// Tiny references, many of them equal, from both strands: nearly every choice is between equal hits.
#[test]
fn ties_between_parts_go_to_the_earlier_reference() {
    for seed in 0..12 {
        let mut random = Random::new(seed);
        let (folder, references) = equals(&mut random);
        let (hits, least) = (random.pick(&["1", "2", "4", "30"]), random.pick(&["1", "3", "8"]));
        let ratio = random.pick(&["0", "0.5", "0.8", "1"]);
        let strands = random.pick(&["--both-strands", "--forward-only"]);
        let (format, count) = (random.pick(&["sam", "bam", "paf"]), random.pick(&[2, 3, references, 12]));
        let args = format!("--max-hits {hits} --min-score {least} --secondary-ratio {ratio} {strands}");
        println!("seed {seed}: {references} references, {format}");
        check(&folder, &format!("{args} --alphabet dna q.fa r.fa"), format, &[count]);
    }
}

/// Each part has the same reference. The record has the reference of the first part, and the others lower its mapping
/// quality.
#[test]
fn equal_references_in_different_parts() {
    let folder = Folder::new();
    let mut random = Random::new(5);
    let letters = random.text(Alphabet::Dna, 200);
    folder.write("r.fa", (0..3).map(|number| format!(">r{number}\n{letters}\n")).collect::<String>());
    folder.write("q.fa", format!(">q\n{}\n", &letters[20..120]));
    let whole = check(&folder, "q.fa r.fa", "sam", &[3]);
    let record = Sam::parse(str::from_utf8(&whole).unwrap()).records.remove(0);
    assert_eq!((record.target(), &*record.fields[4], record.tag("XS")), ("r0", "0", Some("100")));
}

/// All queries have the name of one pair, so that they are one group. The records of this group exceed the amount that
/// is packed at once, and have the same blocks as in a single run.
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
    check(&folder, "q.fa r.fa", "bam", &[2]);
}

/// Each part has the alphabet, the errors and the header that all references determine.
#[test]
fn parts_see_all_references() {
    let folder = Folder::new();
    let dna = "ACGTACGTACGATCGATCGATCGACTAGCTAGC";
    let protein = "MKVLAAGITRRWDEFHIKLMNPQRSTVWYMKVLAAGITRRWDEFHIKLMNPQRSTVWY";
    folder.write("q.fa", format!(">q\n{protein}\n"));
    // The second part alone would look like DNA.
    folder.write("r.fa", format!(">p\n{protein}\n>d\n{dna}\n"));
    check(&folder, "q.fa r.fa", "sam", &[2]);
    let part = |part: &str| folder.line(&format!("--device cpu --ref-part {part} -o x.sam q.fa r.fa"));
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
        "--ref-part 1/2 q.fa -",
        "--ref-part 1/2 q.fa /dev/null",
        "--ref-part 1/2 --part 1/2 q.fa q.fa",
        "--ref-part 3/2 q.fa q.fa",
        "pairs --ref-part 1/2 q.fa q.fa",
        "search --ref-part 1/2 ACGT q.fa",
    ] {
        let outcome = finish(command(folder.path()).args(words(args)).write_stdin(">a\nACGT\n"));
        outcome.said(2, &["--ref-part"]);
        assert!(outcome.stdout.is_empty(), "{args}");
    }
}
