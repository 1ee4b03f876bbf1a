//! The output does not depend on how it is computed.

use super::*;

/// The first `count` records of a FASTA or FASTQ file of `data/`.
fn head(name: &str, count: usize) -> Vec<u8> {
    let mut reader = needletail::parse_fastx_file(data(name)).unwrap();
    let mut out = Vec::new();
    for _ in 0..count {
        let Some(record) = reader.next() else { break };
        record.unwrap().write(&mut out, None).unwrap();
    }
    out.flush().unwrap();
    out
}

/// Runs with different devices, batch sizes and thread counts, and compares the output byte by byte.
fn same_bytes(query: &[u8], reference: &str, options: &[&str]) {
    let folder = folder(&[("q", query)]);
    let reference = data(reference);
    let run = |way: &[&str]| {
        let mut args = options.to_vec();
        args.extend(way);
        args.extend(["q", reference.to_str().unwrap()]);
        folder.run(&args).without_pg()
    };
    let expected = run(&["--device", "cpu", "-t", "1"]);
    for way in [
        &["--device", "cpu", "-t", "2"][..],
        &["--device", "cpu", "-t", "5", "--batch", "7"],
        &["--device", "cpu", "-t", "1", "--batch", "1"],
        &["--device", "cpu", "-t", "2", "--batch", "1000"],
        &["--device", "plain", "-t", "2"],
        &["--device", "plain", "-t", "5", "--batch", "7"],
    ] {
        assert!(run(way) == expected, "{options:?} {way:?} gives other bytes");
    }
}

#[test]
fn amplicons_however_computed() {
    same_bytes(&head("amplicon_16s.fq.gz", 15), "16s_20.fa", &["--max-hits", "5"]);
}

#[test]
fn long_reads_however_computed() {
    same_bytes(&head("ont_sars2.fq.gz", 6), "sars2.fa", &["--preset", "long", "--max-hits", "3"]);
}

#[test]
fn proteins_however_computed() {
    same_bytes(&head("proteins_20.fa", 20), "uniprot_60.fa", &["--max-hits", "4", "--min-score", "40"]);
}

/// All 50 reads have parasail's score on the better strand, and its target end if that is unique.
#[test]
fn ont_reads_have_parasails_scores() {
    let mut best: BTreeMap<String, golden::Row> = BTreeMap::new();
    for row in golden::rows("reads_sars2").into_iter().filter(|row| row.scheme == "dna_mm2_2_4_o4e2") {
        let read = row.pair.trim_end_matches(['+', '-']).to_string();
        if best.get(&read).is_none_or(|other| other.local < row.local) {
            best.insert(read, row);
        }
    }
    let sam =
        run_here(&["--device", "cpu", "--preset", "long", "data/ont_sars2.fq.gz", "data/sars2.fa"]).sam();
    assert_eq!(sam.primary().count(), 50);
    for record in sam.primary() {
        let row = &best[record.name()];
        let expected = (i64::from(row.local), row.pair.ends_with('-'));
        assert_eq!((record.score(), record.flag() & 16 != 0), expected, "{}", record.name());
        if let Some((_, target_end)) = row.end {
            assert_eq!(record.target_end(), u64::from(target_end), "{}", record.name());
        }
    }
}

/// Every primer matches in full and without mismatches at the position in the table of its scheme.
#[test]
fn primers_lie_where_their_scheme_says() {
    let table = fs::read_to_string(data("artic_v3_primers.bed")).unwrap();
    let places: BTreeMap<&str, (u64, u64, u32)> = table
        .lines()
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let strand = if fields[5] == "-" { 16 } else { 0 };
            (fields[3], (fields[1].parse::<u64>().unwrap() + 1, fields[2].parse().unwrap(), strand))
        })
        .collect();
    let sam = run_here(&["--device", "cpu", "data/artic_v3_primers.fa", "data/sars2.fa"]).sam();
    assert_eq!(sam.records.len(), 218);
    for record in &sam.records {
        let found = (record.position(), record.target_end(), record.flag());
        assert_eq!(found, places[record.name()], "{}", record.name());
        assert_eq!(
            (record.cigar(), record.tag("NM")),
            (&*format!("{}M", record.sequence().len()), Some("0"))
        );
    }
}

/// An unrelated read gets an unmapped record.
#[test]
fn no_hit() {
    let query = [b">random\n".to_vec(), Random::new(7).sequence(Alphabet::Dna, 60), b"\n".to_vec()].concat();
    let folder = folder(&[("q.fa", &query), ("ref.fa", REFERENCE)]);
    let sam = folder.run(&["--device", "cpu", "q.fa", "ref.fa"]).sam();
    assert_eq!(sam.records.len(), 1);
    assert_eq!(sam.records[0].fields[1..6], ["4", "*", "0", "0", "*"]);
    assert_eq!(sam.records[0].sequence().len(), 60);
}

/// Each target of a query may have a hit, even if it is short, so batches have few queries.
#[test]
fn many_short_targets_make_small_batches() {
    let targets: String = (0..100_000).map(|number| format!(">{number}\nAC\n")).collect();
    let queries: String = (0..40).map(|number| format!(">{number}\nACGTTGCATTAGCCATGGAT\n")).collect();
    let files = [("q.fa", queries.as_bytes()), ("ref.fa", targets.as_bytes())];
    let said = accepted(&files, &["-v", "--filter", "none", "q.fa", "ref.fa"]).stderr;
    let batches: Vec<usize> = said
        .lines()
        .filter_map(|line| line.strip_prefix("swalign: batch ")?.split(' ').nth(1)?.parse().ok())
        .collect();
    assert_eq!(batches.iter().sum::<usize>(), 40, "{said}");
    assert!(batches.iter().all(|&queries| queries <= 16), "{batches:?}");
}
