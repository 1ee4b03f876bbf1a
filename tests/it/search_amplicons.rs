//! Tests `swalign search --amplicons` end to end: the amplicons of published schemes, all pairs of hits by brute force,
//! formats and errors.

use crate::common::folder::{Folder, folder};
use crate::common::{data, random::Random};
use std::collections::BTreeMap;
use std::fs;
use swalign::terms::alphabet::{Alphabet, reverse_complement};

const HEADER: &str = "text\tstart\tend\tlength\tpair\tstrand\tforward\tforward_end\tforward_edits\t\
                      reverse\treverse_start\treverse_edits\n";

/// `p` is a pair on the forward strand of a and on the reverse strand of b. c has one of its sites.
const TEXTS: &str =
    ">a\nTTACGTTGCATTGGGGGCCATGGATCCAAA\n>b\nTTTGGATCCATGGCCCCCAATGCAACGTAA\n>c\nACGTTGCATT\n";
const PRIMERS: &str = ">p_LEFT\nACGTTGCATT\n>p_RIGHT\nGGATCCATGG\n";

/// Returns the rows of the table, with spaces for tabs.
#[track_caller]
fn rows(folder: &Folder, args: &[&str]) -> Vec<String> {
    let outcome = folder.run(&[&["search"], args].concat());
    let rows = outcome.text().strip_prefix(HEADER).expect("a header");
    rows.lines().map(|line| line.replace('\t', " ")).collect()
}

/// A primer of a scheme, at its position in the BED.
struct Primer {
    name: String,
    start: usize,
    end: usize,
    forward: bool,
    letters: String,
}

/// Returns the primers of a BED, with bases from its last column or from a FASTA.
fn scheme(bed: &str, fasta: Option<&str>) -> Vec<Primer> {
    let mut letters = BTreeMap::new();
    let text = fasta.map(|name| fs::read_to_string(data(name)).unwrap()).unwrap_or_default();
    for record in text.split('>').skip(1) {
        let (name, rest) = record.split_once('\n').unwrap();
        letters.insert(name.trim().to_string(), rest.split_whitespace().collect::<String>());
    }
    let bed = fs::read_to_string(data(bed)).unwrap();
    let primer = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let name = fields[3].to_string();
        let letters = letters.get(&name).cloned().unwrap_or_else(|| fields[6].to_string());
        let [start, end] = [1, 2].map(|at| fields[at].parse().unwrap());
        Primer { name, start, end, forward: fields[5] == "+", letters }
    };
    bed.lines().filter(|line| !line.is_empty()).map(primer).collect()
}

/// Returns the pair of an ARTIC primer, which is its name before the side.
fn pair_of(name: &str) -> &str {
    let at = name.find("_LEFT").or(name.find("_RIGHT"));
    &name[..at.expect("a side")]
}

/// The amplicons of a scheme are at the positions of the primers in its BED. An alternate primer has amplicons with all
/// primers of the other side. There are no other amplicons.
#[test]
fn the_amplicons_of_artic() {
    for (bed, fasta, pairs, count) in [
        ("artic_v3_primers.bed", Some("artic_v3_primers.fa"), 98, 131),
        ("artic_v4.1_primers.bed", None, 99, 113),
        ("artic_v5.3.2_primers.bed", None, 96, 96),
    ] {
        let mut primers = scheme(bed, fasta);
        // The BED of V4.1 has one primer whose interval is 14 bases longer than its sequence.
        let longer = |primer: &&mut Primer| primer.end - primer.start != primer.letters.len();
        for Primer { name, start, end, letters, .. } in primers.iter_mut().filter(longer) {
            assert_eq!((&**name, *end - *start - letters.len()), ("SARS-CoV-2_64_LEFT", 14));
            *end = *start + letters.len();
        }
        let mut expected = Vec::new();
        for (f, left) in primers.iter().enumerate().filter(|(_, primer)| primer.forward) {
            for (r, right) in primers.iter().enumerate().filter(|(_, primer)| !primer.forward) {
                let pair = pair_of(&left.name);
                if pair == pair_of(&right.name) {
                    let (start, end, len) = (left.start, right.end, right.end - left.start);
                    let sites = format!("{} {} 0 {} {} 0", left.name, left.end, right.name, right.start);
                    let row = format!("MN908947.3 {start} {end} {len} {pair} + {sites}");
                    expected.push(((start, end, f, r), row));
                }
            }
        }
        expected.sort();
        let expected: Vec<String> = expected.into_iter().map(|(_, row)| row).collect();
        assert_eq!(expected.len(), count, "{bed}");
        let names: std::collections::BTreeSet<&str> = primers.iter().map(|p| pair_of(&p.name)).collect();
        assert_eq!(names.len(), pairs, "{bed}");
        let text: String = primers.iter().map(|p| format!(">{}\n{}\n", p.name, p.letters)).collect();
        let folder = folder(&[("p.fa", text.as_bytes())]);
        folder.copy_data("sars2.fa", "t.fa");
        assert_eq!(rows(&folder, &["-f", "p.fa", "--amplicons", "t.fa"]), expected, "{bed}");
        // The range of the lengths of a scheme includes all its amplicons. A smaller range does not.
        let lengths = expected.iter().map(|row| row.split(' ').nth(3).unwrap().parse::<usize>().unwrap());
        let (least, most) = (lengths.clone().min().unwrap(), lengths.max().unwrap());
        let within = |size: String| {
            rows(&folder, &["-f", "p.fa", "--amplicons", "--amplicon-size", &size, "t.fa"]).len()
        };
        assert_eq!(within(format!("{least}..{most}")), count);
        assert!(within(format!("{}..{most}", least + 1)) < count);
        assert!(within(format!("{least}..{}", most - 1)) < count);
    }
}

#[test]
fn formats() {
    let folder = folder(&[("t.fa", TEXTS.as_bytes()), ("p.fa", PRIMERS.as_bytes())]);
    let run = |args: &[&str]| {
        let args = [&["search", "-f", "p.fa", "--amplicons", "t.fa"], args].concat();
        folder.run(&args).text().to_string()
    };
    let sites = ["p_LEFT\t12\t0\tp_RIGHT\t17\t0", "p_RIGHT\t13\t0\tp_LEFT\t18\t0"];
    let tab = format!("a\t2\t27\t25\tp\t+\t{}\nb\t3\t28\t25\tp\t-\t{}\n", sites[0], sites[1]);
    assert_eq!(run(&[]), format!("{HEADER}{tab}"));
    assert_eq!(run(&["--format", "bed"]), "a\t2\t27\tp\t0\t+\nb\t3\t28\tp\t0\t-\n");
    let letters = "ACGTTGCATTGGGGGCCATGGATCC";
    let fasta = format!(
        ">a:2-27(+) pair=p forward=p_LEFT forward_edits=0 reverse=p_RIGHT reverse_edits=0\n{letters}\n\
         >b:3-28(-) pair=p forward=p_RIGHT forward_edits=0 reverse=p_LEFT reverse_edits=0\n{letters}\n"
    );
    assert_eq!(run(&["--format", "fasta"]), fasta);
    for count in [&["-c"][..], &["--format", "count"]] {
        assert_eq!(run(count), "text\tamplicons\na\t1\nb\t1\nc\t0\n");
    }
    // Edits of each site, and their sum in BED.
    let edited = PRIMERS.replace("GTTGC", "GTAGC").replace("ATCCAT", "TTCCTT");
    folder.write("p.fa", edited);
    assert_eq!(rows(&folder, &["-k1", "-f", "p.fa", "--amplicons", "t.fa"]), [""; 0]);
    let found = rows(&folder, &["-k2", "-f", "p.fa", "--amplicons", "t.fa", "--no-indels"]);
    assert_eq!(found[0], "a 2 27 25 p + p_LEFT 12 1 p_RIGHT 17 2");
    assert!(run(&["-k2", "--no-indels", "--format", "bed"]).starts_with("a\t2\t27\tp\t3\t+\n"));
    let said = folder.run(&["search", "-k2", "-f", "p.fa", "--amplicons", "t.fa", "-o", "out"]);
    said.said(0, &["2 patterns, 3 texts", "2 with an amplicon, 2 amplicons in"]);
}

#[test]
fn pairs_of_a_list_and_all_with_all() {
    let primers = ">l first\nACGTTGCATT\n>r\nGGATCCATGG\n>both\nGGATCC\n";
    let folder = folder(&[("t.fa", TEXTS.as_bytes()), ("p.fa", primers.as_bytes())]);
    let listed = |list: &str, args: &[&str]| {
        folder.write("pairs.tsv", list);
        rows(&folder, &[&["-f", "p.fa", "--amplicons", "--pairs", "pairs.tsv", "t.fa"], args].concat())
    };
    let sites = ["a 2 27 25 l,r + l 12 0 r 17 0", "b 3 28 25 l,r - r 13 0 l 18 0"];
    assert_eq!(listed("l\tr\n", &[]), sites);
    assert_eq!(listed("# left\tright\r\n\r\n l\tr \r\nl\tr\nr\tl", &[]), sites);
    assert_eq!(listed("\u{feff}l\tr", &[]), sites);
    assert_eq!(listed("r\tl\n", &[])[0], "a 2 27 25 r,l - l 12 0 r 17 0");
    // A list of pairs has the first words of names, whatever `--name` shows.
    assert_eq!(listed("l\tr\n", &["--name", "full"])[0], "a 2 27 25 l,r + l first 12 0 r 17 0");
    // A single site of a palindrome is an amplicon.
    let own = ["a 21 27 6 both,both + both 27 0 both 21 0", "b 3 9 6 both,both + both 9 0 both 3 0"];
    assert_eq!(listed("both\tboth\n", &[]), own);
    let outcome = folder.run(&["search", "-f", "p.fa", "--amplicons", "--pairs", "pairs.tsv", "t.fa"]);
    outcome.said(0, &["warning: ", "2 patterns", "pairs.tsv"]);
    let any = [
        "a 2 27 25 l,r + l 12 0 r 17 0",
        "a 2 27 25 l,both + l 12 0 both 21 0",
        "a 21 27 6 both,both + both 27 0 both 21 0",
        "b 3 9 6 both,both + both 9 0 both 3 0",
        "b 3 28 25 l,r - r 13 0 l 18 0",
        "b 3 28 25 l,both - both 9 0 l 18 0",
    ];
    for words in
        [&["--amplicons", "any", "t.fa"][..], &["--amplicons=any", "t.fa"], &["t.fa", "--amplicons", "any"]]
    {
        assert_eq!(rows(&folder, &[&["-f", "p.fa"], words].concat()), any);
    }
    assert_eq!(rows(&folder, &["GGATCC", "--amplicons", "any", "t.fa"]).len(), 2);
    // Arguments after -- are files, whatever their names.
    folder.copy("t.fa", "any");
    folder.copy("p.fa", "named.fa");
    folder.write("named.fa", PRIMERS);
    assert_eq!(rows(&folder, &["-f", "named.fa", "--amplicons", "--", "any"]).len(), 2);
}

/// A hit of the table: text, start, end, pattern, whether it is on the forward strand, and edits.
type Row = (String, usize, usize, usize, bool, usize);

/// Returns all amplicons of hits: each forward hit with each reverse hit in its text.
fn joined(
    hits: &[Row],
    names: &[String],
    lengths: (usize, usize),
    pair: impl Fn(usize, usize) -> Option<(String, char)>,
) -> Vec<String> {
    let mut found = Vec::new();
    let mut texts: Vec<&str> = hits.iter().map(|hit| &*hit.0).collect();
    texts.dedup();
    for (place, text) in texts.iter().enumerate() {
        let on = |forward| hits.iter().filter(move |hit| hit.0 == *text && hit.4 == forward);
        for f in on(true) {
            for r in on(false) {
                let len = r.2.saturating_sub(f.1);
                let face = f.1 <= r.1 && f.2 <= r.2 && (lengths.0..=lengths.1).contains(&len);
                if let (true, Some((pair, sign))) = (face, pair(f.3, r.3)) {
                    let sites = format!("{} {} {} {} {} {}", names[f.3], f.2, f.5, names[r.3], r.1, r.5);
                    let row = format!("{text} {} {} {len} {pair} {sign} {sites}", f.1, r.2);
                    found.push(((place, f.1, r.2, f.3, r.3, f.2, r.1), row));
                }
            }
        }
    }
    found.sort();
    found.into_iter().map(|(_, row)| row).collect()
}

/// Random texts with mutated copies of primers have all amplicons that brute force finds among the hits of a search,
/// with any number of threads, in parts, and from a database.
#[test]
fn joined_hits_of_random_texts() {
    let mut random = Random::new(117);
    let (mut primers, mut texts, mut names) = (String::new(), String::new(), Vec::new());
    let mut letters = Vec::new();
    for number in 0..12 {
        let len = 9 + random.below(12);
        letters.push(random.sequence(Alphabet::Dna, len));
        let side = ["_F", "_R", "_F_2"][number % 3];
        names.push(format!("p{}{side}", number / 3));
        primers += &format!(">{}\n{}\n", names[number], String::from_utf8_lossy(&letters[number]));
    }
    for number in 0..40 {
        let mut text = Vec::new();
        for _ in 0..random.below(25) {
            let len = random.below(60);
            text.extend(random.sequence(Alphabet::Dna, len));
            let number = random.below(12);
            let copy = random.mutated(Alphabet::Dna, &letters[number], 5);
            text.extend(if random.below(2) == 0 { copy } else { reverse_complement(&copy) });
        }
        texts += &format!(">t{number}\n{}\n", String::from_utf8_lossy(&text));
    }
    let folder = folder(&[("t.fa", texts.as_bytes()), ("p.fa", primers.as_bytes())]);
    folder.done(&["index", "t.fa", "-o", "t.swdb"]);
    let by_names = |f: usize, r: usize| {
        let sides = (f % 3 == 1, r % 3 == 1);
        let sign = if sides.1 { '+' } else { '-' };
        (f / 3 == r / 3 && sides.0 != sides.1).then(|| (format!("p{}", f / 3), sign))
    };
    let any = |f: usize, r: usize| {
        let (first, second, sign) = if f <= r { (f, r, '+') } else { (r, f, '-') };
        Some((format!("{},{}", names[first], names[second]), sign))
    };
    let mut sum = 0;
    for edits in [&["-k2"][..], &["-k3", "--all"], &["-k4", "--no-indels"]] {
        let table = folder.run(&[&["search", "-f", "p.fa", "t.fa"], edits].concat()).text().to_string();
        let hit = |line: &str| -> Row {
            let fields: Vec<&str> = line.split('\t').collect();
            let number = |at: usize| fields[at].parse().unwrap();
            let pattern = names.iter().position(|name| name == fields[3]).unwrap();
            (fields[0].to_string(), number(1), number(2), pattern, fields[4] == "+", number(5))
        };
        let hits: Vec<Row> = table.lines().skip(1).map(hit).collect();
        for (size, lengths) in [("1..4000", (1, 4000)), ("30..200", (30, 200))] {
            let args = [&["-f", "p.fa", "--amplicon-size", size], edits].concat();
            let (named, all) =
                (joined(&hits, &names, lengths, by_names), joined(&hits, &names, lengths, any));
            sum += named.len();
            assert!(all.len() > 2 * named.len());
            for more in [&["-t1"][..], &["-t4"], &["--device", "plain"]] {
                let args = [&args, more].concat();
                assert!(rows(&folder, &[&args[..], &["--amplicons", "t.fa"]].concat()) == named, "{args:?}");
                assert!(
                    rows(&folder, &[&args[..], &["--amplicons", "any", "t.fa"]].concat()) == all,
                    "{args:?}"
                );
            }
            assert!(rows(&folder, &[&args[..], &["--amplicons", "t.swdb"]].concat()) == named, "{args:?}");
        }
    }
    assert!(sum > 500, "{sum} amplicons");
    for format in ["tab", "bed", "fasta", "count"] {
        let search = ["search", "-f", "p.fa", "-k2", "--amplicons", "--format", format, "t.fa"];
        let whole = folder.done(&search);
        let name = |number: usize| format!("{format}.{number}");
        for number in 1..=3 {
            let part = format!("{number}/3");
            folder.done(&[&search[..], &["--part", &part, "-o", &name(number)]].concat());
        }
        let merged = folder.done(&["merge", "-q", "-", &name(1), &name(2), &name(3)]);
        assert!(merged == whole, "{format}");
    }
}

/// A resumed run is repeated if its pairs have changed.
#[test]
fn pairs_are_an_input() {
    let folder = folder(&[
        ("t.fa", TEXTS.as_bytes()),
        ("p.fa", PRIMERS.as_bytes()),
        ("pairs.tsv", b"p_LEFT\tp_RIGHT\n"),
    ]);
    let search =
        ["search", "-f", "p.fa", "--amplicons", "--pairs", "pairs.tsv", "t.fa", "--resume", "-o", "out"];
    folder.done(&search);
    folder.run(&search).said(0, &["out is complete"]);
    folder.write("pairs.tsv", "p_LEFT\tp_LEFT\n");
    folder.done(&search);
    assert_eq!(folder.text("out"), HEADER);
}

/// [`Folder::refused`] for `swalign search -o out t.fa ARGS` in a folder of `files`.
#[track_caller]
fn refused(files: &[(&str, &[u8])], args: &[&str], code: i32, says: &[&str]) {
    let folder = folder(&[files, &[("t.fa", TEXTS.as_bytes())]].concat());
    folder.refused(&[&["search", "-o", "out", "t.fa"], args].concat(), code, says);
}

#[test]
fn usage() {
    let files: &[(&str, &[u8])] = &[("p.fa", PRIMERS.as_bytes()), ("pairs.tsv", b"p_LEFT\tp_RIGHT\n")];
    let with = |args: &[&str], says: &[&str]| {
        refused(files, &[&["-f", "p.fa", "--amplicons"], args].concat(), 2, says);
    };
    for size in
        ["500", "..", "1..", "..9", "0..9", "-1..9", "a..b", "1...9", "1..9..10", "1..99999999999999999999"]
    {
        with(&["--amplicon-size", size], &["--amplicon-size", "MIN..MAX", "300..500"]);
    }
    with(&["--amplicon-size", "500..300"], &["500", "300..500"]);
    with(&["--revcomp", "no"], &["--revcomp no"]);
    for flag in ["--best", "--first", "--invert-match"] {
        with(&[flag], &["--amplicons", flag]);
    }
    for format in ["sam", "text"] {
        with(&["--format", format], &["--amplicons", "tab", "bed", "fasta", "fastq", "count"]);
    }
    with(&["--columns", "std"], &["--columns"]);
    with(&["--orient", "pattern"], &["--orient"]);
    with(&["--summary", "s.tsv"], &["--summary"]);
    with(&["--pairs", "-"], &["--pairs", "stdin"]);
    with(&["any", "--pairs", "pairs.tsv"], &["--amplicons any", "--pairs"]);
    refused(files, &["-f", "p.fa", "--amplicons=all"], 2, &["--amplicons", "any"]);
    refused(files, &["-f", "p.fa", "--pairs", "pairs.tsv"], 2, &["--amplicons"]);
    refused(files, &["-f", "p.fa", "--amplicon-size", "1..9"], 2, &["--amplicons"]);
    let folder = folder(&[("t.fa", TEXTS.as_bytes())]);
    folder.write("pairs.tsv", "p_LEFT\tp_RIGHT\n");
    let over = ["search", "-f", "p.fa", "--amplicons", "--pairs", "pairs.tsv", "t.fa", "-o", "pairs.tsv"];
    folder.run(&over).said(2, &["--output", "overwrite", "pairs.tsv"]);
    folder.run(&["search", "--amplicons", "ACGT", "t.fa"]).said(2, &["with -f", "--amplicons any"]);
}

#[test]
fn patterns_without_a_partner() {
    let named = |names: &[&str], says: &[&str]| {
        let patterns: String = names.iter().map(|name| format!(">{name}\nACGTTGCATT\n")).collect();
        refused(&[("p.fa", patterns.as_bytes())], &["-f", "p.fa", "--amplicons"], 1, says);
    };
    named(
        &["a_F", "a_R", "probe"],
        &["p.fa, record 3 'probe'", "_LEFT", "_RIGHT", "--pairs FILE", "--amplicons any"],
    );
    named(&["a_F", "a_R", "b_R"], &["p.fa, record 3 'b_R'", "'b_F'", "--pairs FILE"]);
    named(&["a/2"], &["p.fa, record 1 'a/2'", "'a/1'"]);
    named(&["a_LEFT", "a_R"], &["p.fa, record 1 'a_LEFT'", "'a_RIGHT'"]);
}

#[test]
fn pairs_that_are_none() {
    let listed = |list: &[u8], says: &[&str]| {
        let files: &[(&str, &[u8])] = &[("p.fa", PRIMERS.as_bytes()), ("pairs.tsv", list)];
        refused(files, &["-f", "p.fa", "--amplicons", "--pairs", "pairs.tsv"], 1, says);
    };
    listed(b"", &["pairs.tsv", "no pairs", "names"]);
    listed(b"# left\tright\n", &["pairs.tsv", "no pairs"]);
    listed(b"p_LEFT\tp_RIGHT\np_LEFT p_RIGHT\n", &["pairs.tsv, line 2", "one column", "a tab"]);
    listed(b"\np_LEFT\tp_RIGHT\t1\n", &["pairs.tsv, line 2", "3 columns"]);
    listed(b"p_LEFT\t\n", &["pairs.tsv, line 1", "empty", "names"]);
    listed(b"p_LEFT\tp_RIGHT\n\nleft\tp_RIGHT\n", &["pairs.tsv, line 3", "'left'"]);
    listed(b"p_LEFT\tx\\y\x1b\n", &["pairs.tsv, line 1", "'x\\\\y\\u{1b}'"]);
    listed(b"\xff\tp_RIGHT\n", &["pairs.tsv, line 1", "UTF-8"]);
    for (name, says) in [("nosuch", "nosuch: "), (".", "error: .: ")] {
        let args = ["-f", "p.fa", "--amplicons", "--pairs", name];
        refused(&[("p.fa", PRIMERS.as_bytes())], &args, 1, &[says]);
    }
}
