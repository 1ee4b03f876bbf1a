//! Tests PAMs, edits by length, limits on all gaps together, the orientation of patterns, and summaries.

use super::*;

const GUIDE: &str = ">g\nACGTTGCATTAG\n";

/// Returns the rows of the table without the header, split into columns.
fn rows(folder: &crate::common::folder::Folder, args: &[&str]) -> Vec<Vec<String>> {
    let text = folder.run(&[&["search"], args].concat()).text().to_string();
    text.lines().skip(1).map(|line| line.split('\t').map(String::from).collect()).collect()
}

#[test]
fn a_pam_on_each_side_of_each_strand() {
    let guide = "ACGTTGCATTAG";
    let turned = String::from_utf8(reverse_complement(guide.as_bytes())).unwrap();
    let texts = format!(
        ">a\nAA{guide}TGGA\n>b\nAACCA{turned}AA\n>c\nAA{guide}TG\n>d\nTTTA{guide}\n>e\n{turned}CAAAT\n"
    );
    let folder = folder(&[("t.fa", texts.as_bytes()), ("g.fa", GUIDE.as_bytes())]);
    let found = |args: &[&str]| -> Vec<String> {
        let rows = rows(&folder, &[&["-f", "g.fa", "t.fa"], args].concat());
        rows.iter().map(|row| [0, 1, 2, 4, 8].map(|at| row[at].as_str()).join(" ")).collect()
    };
    // A PAM that extends past the end of the text does not count.
    assert_eq!(found(&["--pam", "NGG"]), ["a 2 14 + TGG", "b 5 17 - CCA"]);
    assert_eq!(found(&["--pam", "ngg", "--orient", "pattern"]), ["a 2 14 + TGG", "b 5 17 - TGG"]);
    assert_eq!(found(&["--pam", "TTTV", "--pam-side", "5"]), ["d 4 16 + TTTA", "e 0 12 - CAAA"]);
    assert_eq!(found(&["--pam", "TTTG", "--pam-side", "5"]), ["e 0 12 - CAAA"]);
}

/// Compares with brute force: every position with a PAM next to a stretch with at most 4 edits, for 100 guides.
#[test]
fn all_sites_of_guides() {
    let genome = fs::read_to_string(data("chr22_12k.fa")).unwrap();
    let genome: Vec<u8> = genome.lines().skip(1).collect::<String>().to_uppercase().into_bytes();
    let genome = &genome[..4000];
    let mut random = Random::new(71);
    let guides: Vec<Vec<u8>> = (0..100)
        .map(|_| {
            let at = random.below(genome.len() - 20);
            let guide = random.mutated(Alphabet::Dna, &genome[at..at + 20], 4);
            if random.below(2) == 0 { guide } else { reverse_complement(&guide) }
        })
        .collect();
    let fasta: String = guides
        .iter()
        .enumerate()
        .map(|(number, guide)| format!(">g{number}\n{}\n", String::from_utf8_lossy(guide)))
        .collect();
    let text = [b">t\n".as_slice(), genome, b"\n"].concat();
    let folder = folder(&[("t.fa", &text), ("g.fa", fasta.as_bytes())]);
    let mut expected = Vec::new();
    for (strand, text) in [("+", genome.to_vec()), ("-", reverse_complement(genome))] {
        for (number, guide) in guides.iter().enumerate() {
            // Edits of the guide in stretches that end at each position (Sellers 1980).
            let mut column: Vec<usize> = (0..=guide.len()).collect();
            for end in 1..=text.len() {
                let mut diagonal = column[0];
                for row in 1..=guide.len() {
                    let differs = usize::from(guide[row - 1] != text[end - 1]);
                    let cell = (diagonal + differs).min(column[row] + 1).min(column[row - 1] + 1);
                    diagonal = std::mem::replace(&mut column[row], cell);
                }
                if column[guide.len()] <= 4 && text.get(end + 1..end + 3) == Some(b"GG") {
                    let edge = if strand == "+" { end } else { text.len() - end };
                    expected.push((format!("g{number}"), strand, edge, column[guide.len()]));
                }
            }
        }
    }
    expected.sort();
    assert!(expected.len() > 30, "{} sites", expected.len());
    for more in [&["-t", "1"][..], &["-t", "3"], &["--device", "plain"]] {
        let args = ["-k4", "--all", "--pam", "NGG", "-f", "g.fa", "t.fa"];
        let rows = rows(&folder, &[&args, more].concat());
        let mut found: Vec<(String, &str, usize, usize)> = rows
            .iter()
            .map(|row| {
                let edge = if row[4] == "+" { &row[2] } else { &row[1] };
                (row[3].clone(), row[4].as_str(), edge.parse().unwrap(), row[5].parse().unwrap())
            })
            .collect();
        found.sort();
        assert_eq!(found, expected, "{more:?}");
    }
}

/// The reverse complement of a text has the same sites, mirrored. Joined parts give the whole.
#[test]
fn strands_and_parts_agree() {
    let mut random = Random::new(73);
    let mut texts = (String::new(), String::new());
    let mut letters = Vec::new();
    for number in 0..12 {
        let text = random.sequence(Alphabet::Dna, 700);
        let turned = reverse_complement(&text);
        texts.0 += &format!(">t{number}\n{}\n", String::from_utf8_lossy(&text));
        texts.1 += &format!(">t{number}\n{}\n", String::from_utf8_lossy(&turned));
        letters.push(text);
    }
    let guides: String = (0..8)
        .map(|number| format!(">g{number}\n{}\n", String::from_utf8_lossy(&letters[number][90..110])))
        .collect();
    let folder =
        folder(&[("t.fa", texts.0.as_bytes()), ("u.fa", texts.1.as_bytes()), ("g.fa", guides.as_bytes())]);
    for side in ["3", "5"] {
        for more in [&["-k", "7"][..], &["-k", "35%", "--max-gaps", "2"], &["-k7", "--no-indels"]] {
            let base =
                [&["--pam", "NR", "--pam-side", side, "-f", "g.fa", "--orient", "pattern"], more].concat();
            let view = |file: &str, mirrored: bool| -> Vec<Vec<String>> {
                let mut rows = rows(&folder, &[&base[..], &[file]].concat());
                for row in rows.iter_mut().filter(|_| mirrored) {
                    let place = [&row[2], &row[1]].map(|place| 700 - place.parse::<usize>().unwrap());
                    (row[1], row[2]) = (place[0].to_string(), place[1].to_string());
                    row[4] = if row[4] == "+" { "-" } else { "+" }.to_string();
                }
                rows.sort();
                rows
            };
            let rows = view("t.fa", false);
            assert!(rows.len() > 7, "{} rows", rows.len());
            assert_eq!(rows, view("u.fa", true), "side {side}, {more:?}");
            let whole = folder.run(&[&["search", "t.fa"], &base[..]].concat()).text().to_string();
            for part in ["1/3", "2/3", "3/3"] {
                let out = format!("p{}", &part[..1]);
                folder.run(&[&["search", "t.fa", "--part", part, "-o", &out], &base[..]].concat()).text();
            }
            folder.run(&["merge", "joined", "p1", "p2", "p3"]).text();
            assert_eq!(folder.text("joined"), whole, "side {side}, {more:?}");
        }
    }
}

#[test]
fn edits_by_length_and_gaps_together() {
    // For 19 bases, a rate of 0.05 allows no edit, and a rate of 0.053 allows one.
    let folder = folder(&[
        ("t.fa", b">t\nAACGTTGCATTAGCCATGGATCCTT\n"),
        ("p.fa", b">a\nACGTTGCATTAGCCATGGAA\n>b\nACGTTGCATTAGCCATGGC\n"),
    ]);
    let names = |args: &[&str]| -> Vec<String> {
        rows(&folder, &[&["-f", "p.fa", "t.fa"], args].concat())
            .into_iter()
            .map(|row| row[3].clone())
            .collect()
    };
    assert_eq!(names(&["--edits-by-rate", "0.05", "--no-indels"]), ["a"]);
    assert_eq!(names(&["--edits-by-rate", "0.053", "--no-indels"]), ["b", "a"]);
    assert_eq!(names(&["-k", "5%", "--no-indels"]), ["a"]);
    assert_eq!(names(&["-k5.3%", "--no-indels"]), ["b", "a"]);
    assert_eq!(names(&["--max-edits=0%"]), names(&["-k0"]));
    let with_gaps = |most: &str| {
        let found = hits(&["-k2", "--all", "TTAGCTGG", "t.fa", "--max-gaps", most]);
        found.iter().any(|hit| hit.starts_with("chr1 8 18 pattern + 2 "))
    };
    assert!(with_gaps("2") && !with_gaps("1"));
}

#[test]
fn columns_of_the_pattern() {
    let columns = "pattern,strand,cigar,match,line,pattern_aligned,text_aligned,mismatches,insertions,deletions,gaps,\
                   edits_last1,edits_last3,edits_last5,last_run,before,after,pattern_len,text_len";
    let folder = folder(&[("t.fa", b">t\nTTTTAGCCATGGTT\n")]);
    let row = |pattern: &str| -> String {
        let args = ["-k1", "--revcomp", "yes", "--columns", columns, "--orient", "pattern", pattern, "t.fa"];
        rows(&folder, &args)[0].join(" ")
    };
    // CCATGGCTAA is the reverse complement of the text's TTAGCCATGG.
    assert_eq!(
        row("CCATGGCGAA"),
        "pattern - 7=1X2= CCATGGCtAA |||||||.|| CCATGGCGAA CCATGGCTAA 1 0 0 0 0 1 1 2 2 2 10 14"
    );
    assert_eq!(
        row("CCATGCTAA"),
        "pattern - 5=1D4= CCATGgCTAA |||||-|||| CCATG-CTAA CCATGGCTAA 0 0 1 1 0 0 1 4 2 2 9 14"
    );
    assert_eq!(
        row("TTAGCACATGG"),
        "pattern + 5=1I5= TTAGCCATGG |||||-||||| TTAGCACATGG TTAGC-CATGG 0 1 0 1 0 0 0 5 2 2 11 14"
    );
}

#[test]
fn a_summary_of_each_pattern() {
    let folder = folder(&[
        ("t.fa", b">a\nTTACGTTGCATTTACGTTGCATT\n>b\nGGACGATGCAGG\n>c\nAAAA\n"),
        ("p.fa", b">p\nACGTTGCA\n>q\nGGACGATG\n>none\nCCCCCCCC\n"),
    ]);
    folder.run(&["search", "-k1", "--no-indels", "-f", "p.fa", "t.fa", "--summary", "s.tsv", "-c"]).text();
    assert_eq!(
        folder.text("s.tsv"),
        "pattern\tlength\thits\tbest\tbest_hits\tunique\ttexts_with\ttexts_without\tedits_0\tedits_1\n\
         p\t8\t3\t0\t2\tno\t2\t1\t2\t1\nq\t8\t1\t0\t1\tyes\t1\t2\t1\t0\nnone\t8\t0\t*\t0\t*\t0\t3\t0\t0\n"
    );
}

#[test]
fn what_is_refused() {
    let files: &[(&str, &[u8])] = &[("t.fa", TEXT)];
    refused(files, &["--pam", "NGX", "ACGT", "t.fa"], 2, &["'X'", "IUPAC"]);
    refused(files, &["--pam", "", "ACGT", "t.fa"], 2, &["1 to 32 bases"]);
    refused(files, &["--pam", &"N".repeat(33), "ACGT", "t.fa"], 2, &["1 to 32 bases"]);
    refused(files, &["--pam-side", "5", "ACGT", "t.fa"], 2, &["--pam"]);
    refused(files, &["--edits-by-rate", "1", "ACGT", "t.fa"], 2, &["below 1"]);
    for rate in ["100%", "%", "0.00001%", "1e1%", "10 %"] {
        refused(files, &["-k", rate, "ACGT", "t.fa"], 2, &["--max-edits", "such as 10%"]);
    }
    let limited: &[&str] = &["-k", "50%", "--max-gaps", "1", &"ACGT".repeat(20), "t.fa"];
    refused(files, limited, 2, &["-k", "40 edits", "--max-gaps", "32"]);
    refused(files, &["--edits-by-rate", "0.1", "-k2", "ACGT", "t.fa"], 2, &["--max-edits"]);
    refused(files, &["--columns", "nose", "ACGT", "t.fa"], 2, &["no column nose", "edits_last3"]);
    refused(files, &["--columns", "pam", "ACGT", "t.fa"], 2, &["--pam"]);
    refused(files, &["--columns", "std", "--format", "bed", "ACGT", "t.fa"], 2, &["--format tab"]);
    refused(files, &["--orient", "pattern", "--format", "sam", "ACGT", "t.fa"], 2, &["--orient"]);
    refused(files, &["--summary", "s", "--part", "1/2", "ACGT", "t.fa"], 2, &["--part", "joined table"]);
    refused(files, &["--summary", "s", "-v", "ACGT", "t.fa"], 2, &["--invert-match"]);
    refused(files, &["--summary", "t.fa", "ACGT", "t.fa"], 2, &["overwrite"]);
    refused(files, &["--summary", "out", "ACGT", "t.fa"], 2, &["--summary would overwrite out"]);
}

/// There are enough guides to search only next to PAMs. The output is that of the specification, from FASTA and from a
/// database, with any number of threads.
#[test]
fn many_guides_from_their_pams() {
    let genome = fs::read_to_string(data("sars2.fa")).unwrap();
    let genome: Vec<u8> = genome.lines().skip(1).collect::<String>().to_uppercase().into_bytes();
    let mut random = Random::new(79);
    let guides: String = (0..300)
        .map(|number| {
            let at = random.below(genome.len() - 20);
            let guide = random.mutated(Alphabet::Dna, &genome[at..at + 20], 5);
            let guide = if random.below(2) == 0 { guide } else { reverse_complement(&guide) };
            format!(">g{number}\n{}\n", String::from_utf8_lossy(&guide))
        })
        .collect();
    let texts: String = [&genome[..12_000], &genome[12_000..12_030], &genome[11_000..24_000]]
        .iter()
        .enumerate()
        .map(|(number, text)| format!(">t{number}\n{}\n", String::from_utf8_lossy(text)))
        .collect();
    let folder = folder(&[("t.fa", texts.as_bytes()), ("g.fa", guides.as_bytes())]);
    folder.run(&["index", "t.fa", "-o", "t.swdb"]).text();
    for more in [&["-k1", "--pam", "NGG"][..], &["-k1", "--pam", "TTN", "--pam-side", "5", "--max-gap", "0"]]
    {
        let run = |text: &str, options: &[&str]| {
            folder.run(&[&["search", "-f", "g.fa", text], more, options].concat()).text().to_string()
        };
        let expected = run("t.fa", &["--device", "plain"]);
        assert!(expected.lines().count() > 10, "{more:?}");
        for options in [&["--device", "cpu"][..], &["-t", "1"], &["-t", "3"]] {
            assert_eq!(run("t.fa", options), expected, "{more:?}, {options:?}");
            assert_eq!(run("t.swdb", options), expected, "{more:?}, {options:?}");
        }
    }
}
