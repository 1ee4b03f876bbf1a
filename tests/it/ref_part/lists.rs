//! Tests joined lists of parts of the references.

use super::*;

const ALL_COLUMNS: &str = "std,qlen,slen,score,qcovs,qcovhsp,nident,positive,gaps,ppos,btop,qseq,sseq,cigar,sframe,sstrand,\
                           strand,stitle,mate,id0,id1,id2,id3,id4";

/// Compares joined parts with the whole, as plain and compressed files.
#[track_caller]
fn check_lists(folder: &Folder, args: &str, extension: &str, counts: &[usize]) {
    assert!(check(folder, args, extension, counts).len() > 1000, "{args}");
}

#[test]
fn lists_of_relatives_are_the_whole() {
    let folder = amplicons();
    for (options, extension, counts) in [
        ("", "tab", &[1, 3, 45][..]),
        ("--header --columns ALL --max-hsps 3 --evalue 1e-3", "tsv", &[3]),
        ("--max-targets 3 --ties", "tab", &[2, 7]),
        ("--max-targets 3 --max-hsps 2 --max-hits 4 --evalue 1000", "json", &[3]),
        ("--min-identity 97 --rank identity --max-targets 2 --ties", "tab", &[3]),
        ("--rank evalue --max-hits 5 --min-coverage 80", "json", &[4]),
        ("--min-identity 90 --secondary-ratio 0.9 --iddef 3", "tab", &[3]),
        ("--max-hits 2 --max-targets 1000", "txt", &[3]),
        ("--min-score 60 --filter none", "txt.gz", &[2]),
        ("--max-targets 5", "json.gz", &[25]),
        ("--columns qseqid,sseqid,qcovs --max-hsps 2 --max-hits 3", "tab.gz", &[2]),
    ] {
        check_lists(
            &folder,
            &format!("{} q.fq r.fa", options.replace("ALL", ALL_COLUMNS)),
            extension,
            counts,
        );
    }
}

#[test]
fn lists_of_proteins_are_the_whole() {
    let folder = Folder::new();
    for name in ["proteins_20.fa", "uniprot_60.fa"] {
        folder.copy_data(name, name);
    }
    for (options, extension, counts) in [
        ("--evalue 1000 --max-hsps 2", "tab", &[2, 90][..]),
        ("--evalue 100 --rank evalue --columns ALL", "tab", &[3]),
        ("--matrix BLOSUM50 --gap-open 13 --gap-extend 2 --rank identity", "json", &[3]),
        ("--mode global --max-targets 7 --ties --columns ALL", "tab", &[2]),
        ("--mode glocal --min-identity 20 --rank identity --iddef 0", "txt", &[5]),
        ("--mode overlap --max-targets 9", "json", &[4]),
    ] {
        let options = options.replace("ALL", ALL_COLUMNS);
        check_lists(&folder, &format!("{options} proteins_20.fa uniprot_60.fa"), extension, counts);
    }
}

/// Nearly every choice is between equal hits, and limits cut between them.
#[test]
fn ties_of_lists_are_those_of_the_whole() {
    for seed in 0..24 {
        let mut random = Random::new(seed);
        let (folder, references) = equals(&mut random);
        let rank = random.pick(&["score", "evalue", "identity"]);
        let (format, count) = (random.pick(&["tab", "json", "txt"]), random.pick(&[2, 3, references, 12]));
        let columns = if format == "tab" { format!("--columns {ALL_COLUMNS}") } else { String::new() };
        let args = format!("{} --rank {rank} {columns} q.fa r.fa", limits(&mut random));
        println!("seed {seed}: {references} references, {format}, {args}");
        check_lists(&folder, &args, format, &[count]);
    }
}

/// Hits of a part on a reference that the whole omits do not exclude hits on other references. The whole lists x, a and
/// again a, although the first part ranks c before the second hit on a.
#[test]
fn limits_of_hits_and_references_go_together() {
    let folder = Folder::new();
    let mut random = Random::new(7);
    let query = random.text(Alphabet::Dna, 100);
    let mut with = |lens: &[usize]| -> String {
        lens.iter().map(|&len| random.text(Alphabet::Dna, 150) + &query[..len]).collect()
    };
    let (a, c, x) = (with(&[90, 60]), with(&[80, 70]), with(&[100, 0, 0, 0]));
    folder.write("r.fa", format!(">a\n{a}\n>c\n{c}\n>x\n{x}\n"));
    folder.write("q.fa", format!(">q\n{query}\n"));
    let limits = "--max-targets 2 --max-hsps 2 --max-hits 3";
    let whole = check(&folder, &format!("--columns sseqid,score {limits} q.fa r.fa"), "tab", &[2]);
    assert_eq!(str::from_utf8(&whole), Ok("x\t100\na\t90\na\t60\n"));
}

/// All references determine the E-values, the minimum score, and the output of a query without a hit.
#[test]
fn parts_of_lists_see_all_references() {
    let folder = Folder::new();
    let mut random = Random::new(3);
    let [long, query] = [300_000, 60].map(|len| random.text(Alphabet::Dna, len));
    folder.write("r.fa", format!(">other\n{long}\n>own\tof q\n{query}\n"));
    folder.write("q.fa", format!(">q\n{}\n>none\nACGT\n", &query[10..40]));
    let text = String::from_utf8(check(&folder, "q.fa r.fa", "json", &[2])).unwrap();
    assert!(text.contains("\"own\"") && text.ends_with("\"hits\": []}\n"), "{text}");
    // With the second reference alone, the same score has a lower E-value.
    folder.write("own.fa", format!(">own\tof q\n{query}\n"));
    assert_ne!(folder.line("--device cpu -q --format json q.fa own.fa").text(), text);
}

#[test]
fn parts_of_lists_are_checked() {
    let folder = amplicons();
    let args = "--max-targets 3 q.fq r.fa";
    check_damage(&folder, args, "json", READS);
    let again = format!("--device cpu --ref-part 1/2 --resume -o part.1.json {args}");
    folder.line(&again).said(0, &["is complete"]);
}

#[test]
fn parts_need_an_output_file() {
    let folder = amplicons();
    for output in ["", "-o -"] {
        for format in ["tab", "sam", "bam"] {
            let outcome = folder.line(&format!("--ref-part 1/2 --format {format} {output} q.fq r.fa"));
            outcome.said(2, &["--ref-part needs an output file"]);
        }
    }
}
