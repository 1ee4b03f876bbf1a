//! Tests joined records of parts of the references, in runs whose limits omit hits.

use super::*;

/// Tests single limits and several limits together, in records of each format.
#[test]
fn limited_records_of_relatives_are_the_whole() {
    let folder = amplicons();
    let none = whole(&folder, "--max-hits 1000 q.fq r.fa", "sam");
    for (options, format, counts) in [
        ("--max-targets 3", "sam", &[2, 45][..]),
        ("--max-targets 3 --ties", "sam", &[2, 7]),
        ("--max-hsps 1 --max-hits 4", "bam", &[3]),
        ("--evalue 1e-45 --max-hits 9", "sam", &[2, 25]),
        ("--evalue 1e-30 --min-score 20", "paf", &[3]),
        ("--min-identity 97", "sam", &[3, 40]),
        ("--min-identity 98.5 --max-hits 5 --iddef 3", "bam", &[3]),
        ("--min-coverage 90 --max-hits 3 --ties", "paf", &[4]),
        ("--min-identity 96 --min-coverage 50 --max-targets 2 --max-hsps 1", "sam", &[3]),
        ("--secondary-ratio 0 --max-targets 30 --min-identity 90", "sam.gz", &[2]),
        ("--mode glocal --min-identity 95 --max-targets 2 --ties", "sam", &[3]),
        ("--mode global --max-targets 3 --ties", "paf", &[2]),
    ] {
        let whole = check(&folder, &format!("{options} q.fq r.fa"), format, counts);
        assert!(format != "sam" || flags(&whole).1 < flags(&none).1, "{options} leave nothing out");
    }
}

#[test]
fn limited_records_of_proteins_are_the_whole() {
    let folder = Folder::new();
    for name in ["proteins_20.fa", "uniprot_60.fa"] {
        folder.copy_data(name, name);
    }
    for (options, format, counts) in [
        ("--evalue 10 --max-hits 20 --secondary-ratio 0", "sam", &[2, 60][..]),
        ("--evalue 1e-3 --max-targets 3 --secondary-ratio 0.1", "paf", &[3]),
        ("--min-identity 30 --min-score 30 --secondary-ratio 0", "sam", &[5]),
        ("--max-hsps 2 --min-score 25 --secondary-ratio 0 --max-targets 9", "paf", &[4]),
    ] {
        check(&folder, &format!("{options} proteins_20.fa uniprot_60.fa"), format, counts);
    }
}

/// Nearly every choice is between equal hits, and limits cut between them.
#[test]
fn ties_of_records_are_those_of_the_whole() {
    for seed in 100..130 {
        let mut random = Random::new(seed);
        let (folder, references) = equals(&mut random);
        let (format, count) = (random.pick(&["sam", "bam", "paf"]), random.pick(&[2, 3, references, 12]));
        let args = limits(&mut random) + " q.fa r.fa";
        println!("seed {seed}: {references} references, {format}, {args}");
        check(&folder, &args, format, &[count]);
    }
}

/// The best hit, in the first part, is below the limit by identity. Its score excludes a lower hit of the second part.
/// A hit that is reported there has mapping quality 0.
#[test]
fn hits_that_do_not_count_are_known_of() {
    let folder = Folder::new();
    let mut random = Random::new(8);
    let query = random.text(Alphabet::Dna, 100);
    let (better, worse) =
        (random.mutated(Alphabet::Dna, query.as_bytes(), 0), query.as_bytes()[..70].to_vec());
    let mut changed = better.clone();
    for at in [30, 60] {
        changed[at] = if changed[at] == b'A' { b'C' } else { b'A' };
    }
    let [best, counting, less] = [changed.clone(), better[..85].to_vec(), worse]
        .map(|letters| random.text(Alphabet::Dna, 200) + str::from_utf8(&letters).unwrap());
    let record = |fields: &[&str], quality: &str, second: Option<&str>, target: &str| {
        let sam = Sam::parse(fields[0]);
        let record = sam.primary().next().unwrap();
        assert_eq!((record.target(), &*record.fields[4], record.tag("XS")), (target, quality, second));
    };
    let run = |references: String| {
        folder.write("r.fa", references);
        folder.write("q.fa", format!(">q\n{query}\n"));
        let check = |format| check(&folder, "--min-identity 99.5 q.fa r.fa", format, &[2]);
        for format in ["bam", "paf"] {
            check(format);
        }
        String::from_utf8(check("sam")).unwrap()
    };
    // The best hit scores 90 with two mismatches. Without mismatches, the others score 85 and 70. A hit next to a score
    // of 90 must score at least 72.
    record(&[&run(format!(">best\n{best}\n>counting\n{counting}\n"))], "0", Some("90"), "counting");
    record(&[&run(format!(">best\n{best}\n>less\n{less}\n"))], "0", None, "*");
    record(&[&run(format!(">counting\n{counting}\n>best\n{best}\n"))], "0", Some("90"), "counting");
}

/// A hit that the limits omit is still the second hit.
#[test]
fn second_hits_count_whatever_the_limits() {
    let folder = Folder::new();
    let mut random = Random::new(9);
    let query = random.text(Alphabet::Dna, 100);
    let mut reference = |len: usize| random.text(Alphabet::Dna, 200) + &query[..len];
    let (a, b, c) = (reference(100), reference(95), reference(90) + &query[..92]);
    folder.write("q.fa", format!(">q\n{query}\n"));
    folder.write("r.fa", format!(">a\n{a}\n>b\n{b}\n>c\n{c}\n"));
    let all = whole(&folder, "q.fa r.fa", "sam");
    let sam = |bytes: &[u8]| Sam::parse(str::from_utf8(bytes).unwrap());
    let of_all = sam(&all);
    let of_all = of_all.primary().next().unwrap();
    assert_eq!((of_all.tag("XS"), &*of_all.fields[4] < "60"), (Some("95"), true));
    for options in [
        "--max-targets 1",
        "--max-targets 1 --max-hsps 1",
        "--min-identity 50",
        "--min-coverage 99",
        "--max-targets 1 --min-identity 99 --max-hsps 1",
        "--evalue 1e-9 --max-hsps 1 --max-hits 1",
    ] {
        for filter in ["auto", "none"] {
            let limited = sam(&whole(&folder, &format!("--filter {filter} {options} q.fa r.fa"), "sam"));
            let record = limited.primary().next().unwrap();
            assert_eq!(record.fields, of_all.fields, "{options}");
        }
        check(&folder, &format!("{options} q.fa r.fa"), "sam", &[3]);
    }
}
