//! Tests circular texts.

use super::*;

/// A plasmid of 40 bases.
const PLASMID: &str = "TTAGGCATCCAGATTACAGGCATTGCAAGTCCACGTTGCA";

fn rows(files: &[(&str, &[u8])], args: &[&str]) -> Vec<String> {
    let folder = folder(files);
    let outcome = folder.run(&[&["search", "-q"], args].concat());
    outcome.text().lines().map(|line| line.replace('\t', " ")).collect()
}

#[test]
fn hits_across_the_origin() {
    let fasta = format!(">other\n{PLASMID}\n>plasmid\n{PLASMID}\n");
    let files: &[(&str, &[u8])] = &[("p.fa", fasta.as_bytes())];
    let found = |args: &[&str]| rows(files, &[args, &["p.fa"]].concat());
    let row = "plasmid 32 46 pattern + 0 14= ACGTTGCATTAGGC";
    assert_eq!(found(&["ACGTTGCATTAGGC"])[1..], [""; 0]);
    assert_eq!(found(&["--circular", "plasmid", "ACGTTGCATTAGGC"])[1..], [row]);
    assert_eq!(found(&["--circular", "all", "ACGTTGCATTAGGC"])[1..], [&row.replace("plasmid", "other"), row]);
    assert_eq!(found(&["--circular", "other,plasmid", "ACGTTGCATTAGGC"])[1..].len(), 2);
    // The reverse strand, in both orientations.
    let reverse = found(&["--circular", "plasmid", "--orient", "pattern", "GCCTAATGCAACGT"]);
    assert_eq!(reverse[1..], ["plasmid 32 46 pattern - 0 14= GCCTAATGCAACGT ||||||||||||||"]);
    let columns = "start,end,text_len,before,after,text_aligned";
    assert_eq!(
        found(&["--circular", "plasmid", "--columns", columns, "ACGTTGCATTAGGC"])[1..],
        ["32 46 40 32 34 ACGTTGCATTAGGC"]
    );
    // Each hit is reported once, also if no hit is across the origin.
    assert_eq!(found(&["--circular", "plasmid", "GATTACA"]), found(&["GATTACA"]));
    let bed = found(&["--circular", "plasmid", "--format", "bed", "ACGTTGCATTAGGC"]);
    assert_eq!(bed, ["plasmid 32 46 pattern 0 +"]);
    let fasta = found(&["--circular", "plasmid", "--format", "fasta", "GCCTAATGCAACGT"]);
    assert_eq!(fasta, [">plasmid:32-46(-) pattern=pattern edits=0 cigar=14=", "GCCTAATGCAACGT"]);
    assert_eq!(found(&["--circular", "plasmid", "-v", "ACGTTGCATTAGGC"]), ["text", "other"]);
    // The first hit has the first start.
    assert_eq!(
        found(&["--circular", "plasmid", "--first", "--revcomp", "no", "CATT"])[2..],
        ["plasmid 20 24 pattern + 0 4= CATT"]
    );
}

#[test]
fn a_pam_across_the_origin() {
    // The pattern is at the end of the text, and its PAM at the start.
    let files: &[(&str, &[u8])] = &[("p.fa", b">c\nGGATTTTTTTTTTTACACGTA\n")];
    let found = |args: &[&str]| rows(files, &[args, &["p.fa"]].concat());
    assert_eq!(found(&["--pam", "NGG", "ACACGT"])[1..], [""; 0]);
    let row = "c 14 20 pattern + 0 6= ACACGT AGG";
    assert_eq!(found(&["--circular", "c", "--pam", "NGG", "ACACGT"])[1..], [row]);
    let row = "c 14 20 pattern - 0 6= ACACGT AGG";
    assert_eq!(found(&["--circular", "c", "--pam", "CCN", "--pam-side", "5", "ACGTGT"])[1..], [row]);
}

#[test]
fn amplicons_across_the_origin() {
    let fasta = format!(">plasmid\n{PLASMID}\n");
    let primers = ">a_F\nAGTCCACG\n>a_R\nCTGGATGCC\n";
    let files: &[(&str, &[u8])] = &[("p.fa", fasta.as_bytes()), ("a.fa", primers.as_bytes())];
    let found = |args: &[&str]| rows(files, &[&["--amplicons", "-f", "a.fa", "p.fa"], args].concat());
    assert_eq!(found(&[])[1..], [""; 0]);
    let row = "plasmid 27 52 25 a + a_F 35 0 a_R 43 0";
    assert_eq!(found(&["--circular", "all"])[1..], [row]);
    assert_eq!(found(&["--circular", "all", "--amplicon-size", "1..24"])[1..], [""; 0]);
    let fasta = found(&["--circular", "all", "--format", "fasta"]);
    assert_eq!(fasta[1], "AGTCCACGTTGCATTAGGCATCCAG");
}

/// The amplicons of a circle are those of three copies of the text that begin in the first copy and are no longer than
/// the circle.
#[test]
fn amplicons_of_random_circles() {
    let mut random = Random::new(113);
    let mut count = 0;
    for _ in 0..6 {
        let text = random.text(Alphabet::Dna, 300);
        let primer = |random: &mut Random| {
            let at = random.below(280);
            text[at..at + 5].to_string()
        };
        let primers: String = (0..6).map(|n| format!(">p{n}\n{}\n", primer(&mut random))).collect();
        let [circle, twice] = [format!(">c\n{text}\n"), format!(">c\n{text}{text}{text}\n")];
        let files: &[(&str, &[u8])] =
            &[("c.fa", circle.as_bytes()), ("t.fa", twice.as_bytes()), ("p.fa", primers.as_bytes())];
        let common = ["-f", "p.fa", "--amplicons=any", "--amplicon-size"];
        let found = rows(files, &[&common[..], &["1..1000", "--circular", "c", "c.fa"]].concat());
        let begins = |row: &&String| {
            row.split(' ').nth(1).is_some_and(|start| start.parse::<usize>().is_ok_and(|start| start < 300))
        };
        let expected = rows(files, &[&common[..], &["1..300", "t.fa"]].concat());
        let expected: Vec<&String> = expected[1..].iter().filter(begins).collect();
        assert_eq!(found[1..].iter().collect::<Vec<_>>(), expected);
        count += expected.len();
    }
    assert!(count > 30, "{count} amplicons");
}

#[test]
fn circles_of_a_database() {
    let fasta = format!(">other\n{PLASMID}\n>plasmid\n{PLASMID}\n");
    let folder = folder(&[("p.fa", fasta.as_bytes())]);
    folder.run(&["index", "p.fa"]).said(0, &[]);
    let search = |text: &str| {
        let args = ["search", "-q", "-k1", "--circular", "plasmid", "ACGTTGCATTAGGC", text];
        folder.run(&args).text().to_string()
    };
    assert!(search("p.fa").contains("plasmid\t32\t46"));
    assert_eq!(search("p.fa.swdb"), search("p.fa"));
}

#[test]
fn what_circles_are_refused() {
    let files: &[(&str, &[u8])] = &[("t.fa", TEXT)];
    refused(files, &["--circular", "x", "GATTACA", "t.fa"], 1, &["--circular x: ", "t.fa", "all"]);
    refused(files, &["--circular", "chr1,x", "GATTACA", "t.fa"], 1, &["--circular x: "]);
    refused(files, &["--circular", "all", "--format", "sam", "GATTACA", "t.fa"], 2, &["--format sam", "bed"]);
    refused(files, &["--circular", "a,,b", "GATTACA", "t.fa"], 2, &["--circular", "commas"]);
}
