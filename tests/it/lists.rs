//! Tests lists of hits through the command: tables are compared with BLAST's, JSON and text with the table. The output
//! does not depend on the device, the filter or the parts, and invalid options are errors.

use crate::common::command::line_here;
use crate::common::folder::{Folder, folder};
use crate::common::random::Random;
use crate::common::repository;
use crate::common::sam::without_pg;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use swalign::terms::alphabet::Alphabet;

/// Columns of the tables in tests/golden. `SCORE` is the index of the score, and `ALIGNMENT` has the indices of the
/// columns that identify an alignment.
const COLUMNS: &str = "std,qlen,slen,qcovs,qcovhsp,nident,positive,gaps,ppos,btop,score";
const SCORE: usize = 21;
const ALIGNMENT: [usize; 6] = [6, 7, 8, 9, 20, SCORE];

type Row = Vec<String>;

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// Returns the rows of a table by query and target.
fn table(text: &str) -> BTreeMap<(String, String), Vec<Row>> {
    let mut rows: BTreeMap<_, Vec<Row>> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let row: Row = line.split('\t').map(str::to_string).collect();
        rows.entry((row[0].clone(), row[1].clone())).or_default().push(row);
    }
    rows
}

/// Compares our table with one of BLAST. Each pair of BLAST's table has a hit with the same score or a higher score,
/// and if both tables have the same alignment, all columns are equal. Returns the number of equal alignments.
fn against_blast(golden: &str, args: &str) -> usize {
    let golden = fs::read_to_string(repository().join("tests/golden").join(golden)).unwrap();
    let limits = format!("--device cpu --quiet --format tab --max-targets 500 --columns {COLUMNS}");
    let ours = text(line_here(&format!("{limits} {args}")).done());
    let (golden, ours) = (table(&golden), table(&ours));
    let mut equal = 0;
    for (pair, rows) in golden {
        let Some(own) = ours.get(&pair) else { panic!("{pair:?} is missing: {rows:?}") };
        let score = |row: &Row| row[SCORE].parse::<i32>().unwrap();
        assert!(score(&own[0]) >= score(&rows[0]), "{rows:?}\n{own:?}");
        if ALIGNMENT.iter().all(|&at| own[0][at] == rows[0][at]) {
            assert_eq!(own[0], rows[0]);
            equal += 1;
        }
    }
    equal
}

#[test]
fn tables_are_blasts() {
    for (golden, args, equal) in [
        ("blastp_uniprot_60.tsv", "data/uniprot_60.fa data/uniprot_60.fa", 200),
        ("blastp_blosum45.tsv", "--matrix BLOSUM45 data/proteins_20.fa data/uniprot_60.fa", 60),
        ("blastp_blosum80.tsv", "--matrix BLOSUM80 data/proteins_20.fa data/uniprot_60.fa", 60),
        ("blastn_primers.tsv", "--preset blastn --min-score 10 data/artic_v3_primers.fa data/sars2.fa", 200),
        ("blastn_16s.tsv", "--preset blastn --min-score 10 data/amplicon_16s.fq.gz data/16s_20.fa", 100),
    ] {
        assert!(against_blast(golden, args) > equal, "{golden}");
    }
}

/// In random sequences, each query has about one hit with an E-value below 1.
#[test]
fn evalues_count_chance() {
    let mut random = Random::new(3);
    let mut fasta = |count: usize, len: usize| {
        let record = |number: usize, random: &mut Random| {
            // Residues as frequent as in proteins.
            let letters: Vec<u8> = (0..len)
                .map(|_| random.pick(b"AAAAAAAARRRRRNNNNDDDDDCQQQQEEEEEEGGGGGGGHHIIIIILLLLLLLLLKKKKKKMMFFFFPPPPPSSSSSSSTTTTTTWYYYVVVVVV"))
                .collect();
            format!(">s{number}\n{}\n", String::from_utf8(letters).unwrap())
        };
        (0..count).map(|number| record(number, &mut random)).collect::<String>()
    };
    let (queries, targets) = (fasta(120, 250), fasta(300, 300));
    let folder = folder(&[("q.fa", queries.as_bytes()), ("t.fa", targets.as_bytes())]);
    for scores in ["", "--gap-open 14"] {
        let args = "--device cpu --format tab --evalue 1 --max-targets 300 --matrix BLOSUM62";
        let table = text(folder.line(&format!("{args} {scores} q.fa t.fa")).done());
        let each = table.lines().count() as f64 / 120.0;
        assert!((0.4..2.0).contains(&each), "{each} hits a query below 1: {scores}");
    }
}

/// JSON and text contain the hits of the table.
#[test]
fn json_and_text_have_the_hits_of_the_table() {
    let list = |format: &str| {
        let inputs = "data/proteins_20.fa data/uniprot_60.fa";
        text(line_here(&format!("--device cpu --min-score 40 {inputs} --format {format}")).done())
    };
    let columns = "qaccver,saccver,score,length,nident,gaps,qstart,qend,sstart,send,evalue,qseq,sseq,stitle";
    let table = list(&format!("tab --columns {columns}"));
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    assert!(rows.len() > 30, "{} rows", rows.len());
    let json = list("json");
    assert_eq!(json.lines().count(), 20, "a line a query");
    let hits: Vec<&str> = json.lines().flat_map(|line| line.split("{\"target\": ").skip(1)).collect();
    let page = list("text");
    assert_eq!(page.matches("\n> ").count(), rows.len());
    assert_eq!(hits.len(), rows.len());
    // A folded header line has line breaks in place of spaces.
    let unfolded = page.replace('\n', " ");
    let mut at = 0;
    for (row, hit) in rows.iter().zip(hits) {
        let [query_start, target_start] = [row[6], row[8]].map(|from| from.parse::<u32>().unwrap() - 1);
        for says in [
            format!("\"{}\"", row[1]),
            format!("\"title\": \"{}\"", row[13].replace('\\', "\\\\")),
            format!("\"score\": {},", row[2]),
            format!("\"columns\": {},", row[3]),
            format!("\"matches\": {},", row[4]),
            format!("\"gaps\": {},", row[5]),
            format!("\"query_start\": {query_start}, \"query_end\": {},", row[7]),
            format!("\"target_start\": {target_start}, \"target_end\": {},", row[9]),
            format!("\"query_aligned\": \"{}\"", row[11]),
            format!("\"target_aligned\": \"{}\"", row[12]),
        ] {
            assert!(hit.contains(&says), "{says} is missing in {hit}");
        }
        // The part of the text that describes this hit.
        let begin =
            at + unfolded[at..].find(&format!(" > {} (", row[13])).unwrap_or_else(|| panic!("{row:?}")) + 1;
        let end = page[begin + 1..].find("\n> ").map_or(page.len(), |end| begin + 1 + end);
        let block = &page[begin..end];
        assert!(
            block.contains(&format!("Score {} (", row[2]))
                && block.contains(&format!("E-value {}\n", row[10]))
        );
        assert!(block.contains(&format!("Identities {}/{} (", row[4], row[3])), "{block}");
        for (label, from, to, letters) in
            [("Query ", row[6], row[7], row[11]), ("Target", row[8], row[9], row[12])]
        {
            let lines = block.lines().filter(|line| line.starts_with(label));
            let fields: Vec<Vec<&str>> = lines.map(|line| line.split_whitespace().collect()).collect();
            assert_eq!((fields[0][1], fields.last().unwrap()[3]), (from, to), "{block}");
            assert_eq!(fields.iter().map(|fields| fields[2]).collect::<String>(), letters);
        }
        at = begin + 1;
    }
    assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
    let keys: BTreeSet<&str> = json
        .split('"')
        .skip(1)
        .step_by(2)
        .filter(|key| {
            json.contains(&format!("\"{key}\": "))
                && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        })
        .collect();
    let schema = fs::read_to_string(repository().join("docs/hits.schema.json")).unwrap();
    for key in keys {
        assert!(schema.contains(&format!("\"{key}\":")), "{key} is not in the schema");
    }
}

/// Protein hits are in the order of the E-values that the table shows, and limits keep the first of them.
#[test]
fn rows_come_by_their_evalue() {
    let limited = |evalue: &str, more: &str| -> Vec<Row> {
        let args = "-q --device cpu --format tab --max-hsps 3 --columns qseqid,sseqid,evalue,score,slen";
        let inputs = "data/proteins_20.fa data/uniprot_60.fa";
        let table = text(line_here(&format!("{args} --evalue {evalue} {more} {inputs}")).done());
        table.lines().map(|line| line.split('\t').map(str::to_string).collect()).collect()
    };
    let list = |more: &str| limited("1000", more);
    // Groups the hits of each query by target.
    let by_target = |rows: &[Row]| -> Vec<Vec<Vec<Row>>> {
        let queries = rows.chunk_by(|one, other| one[0] == other[0]);
        queries
            .map(|rows| rows.chunk_by(|one, other| one[1] == other[1]).map(<[Row]>::to_vec).collect())
            .collect()
    };
    let by_score = list("--rank raw");
    let sorted = |rows: &[Row]| {
        let mut rows: Vec<_> =
            rows.iter().map(|row| [&row[0], &row[1], &row[3]].map(String::clone)).collect();
        rows.sort();
        rows
    };
    for rank in ["", "--rank score", "--rank evalue"] {
        let rows = list(rank);
        assert!(rows.len() > 200, "{} rows", rows.len());
        assert_ne!(rows, by_score, "{rank}");
        if rank != "--rank evalue" {
            assert_eq!(sorted(&rows), sorted(&by_score));
        }
        let mut of_other_order = 0;
        for targets in by_target(&rows) {
            let names: BTreeSet<&String> = targets.iter().map(|rows| &rows[0][1]).collect();
            assert_eq!(names.len(), targets.len(), "hits of a target stand together");
            let firsts: Vec<Row> = targets.iter().map(|rows| rows[0].clone()).collect();
            for rows in targets.iter().chain([&firsts]) {
                for pair in rows.windows(2) {
                    let [one, other] = [0, 1].map(|at| pair[at][2].parse::<f64>().unwrap());
                    assert!(one <= other, "{rank:?}: {pair:?}");
                    let [score, next] = [0, 1].map(|at| pair[at][3].parse::<i32>().unwrap());
                    of_other_order += usize::from(score < next);
                }
            }
        }
        assert!(of_other_order > 10, "{rank:?}: scores have the same order but for {of_other_order}");
        let cut = list(&format!("{rank} --max-targets 2"));
        let kept: Vec<Row> =
            by_target(&rows).into_iter().flat_map(|targets| targets.into_iter().take(2).flatten()).collect();
        assert_eq!(cut, kept, "{rank:?}");
    }
    // The E-value that ranks the hits also limits them.
    let most = |row: &Row| row[2].parse::<f64>().unwrap() <= 1e-3;
    let limited = limited("1e-3", "--rank evalue");
    assert_eq!(limited, list("--rank evalue").into_iter().filter(most).collect::<Vec<_>>());
}

/// A line reports that a limit omits references.
#[test]
fn cut_lists_are_told() {
    let targets: String =
        (0..4).map(|number| format!(">t{number}\nACGTTGCAAGCTTAGCATCGGATCCTAGTA\n")).collect();
    let folder = folder(&[
        ("q.fa", b">q\nACGTTGCAAGCTTAGCATCGGATCCTAGTA\n>r\nACGTTGCAAGCTTAGCATCGGATCCTAGTA\n>n\nTTTTTTTT\n"),
        ("t.fa", targets.as_bytes()),
    ]);
    let says = |args: &str| {
        let outcome = folder.line(&format!("--device cpu --format tab --min-score 20 {args} q.fa t.fa"));
        outcome.ended(0);
        outcome.stderr
    };
    let cut = "2 queries may have hits on more than 3 references";
    for rank in ["score", "evalue", "identity"] {
        for dedup in ["", "--no-dedup"] {
            assert!(says(&format!("--rank {rank} --max-targets 3 {dedup}")).contains(cut), "{rank}");
            let all = says(&format!("--rank {rank} --max-targets 4 {dedup}"));
            assert!(!all.contains("may have hits"), "{rank}");
        }
    }
    assert!(!says("").contains("may have hits"));
    folder.merged("-q --min-score 20 --max-targets 3 q.fa t.fa", "--ref-part", 2, "tsv");
    folder.line("merge m.tsv 1.tsv 2.tsv").said(0, &[cut]);
}

/// A table without hits ends with the same comments as BLAST's tables, also if its parts are joined.
#[test]
fn empty_tables_say_so() {
    let folder =
        folder(&[("q.fa", b">q\nACGTACGT\n>r\nACGT\n"), ("t.fa", b">t\nTTTTTTTTTTTTTTTT\n>s\nTTTT\n")]);
    let list = |more: &str| folder.line(&format!("-q --device cpu --format tab --header {more} q.fa t.fa"));
    let whole = text(list("--min-score 40").done());
    assert!(whole.ends_with("\n# 0 hits found\n") && !whole.contains("# Fields"), "{whole}");
    for (kind, end) in
        [("--part", "tsv"), ("--ref-part", "tsv"), ("--part", "tsv.gz"), ("--ref-part", "tsv.gz")]
    {
        list(&format!("--min-score 40 -o whole.{end}")).ended(0);
        let args = "-q --device cpu --format tab --header --min-score 40 q.fa t.fa";
        let merged = folder.merged(args, kind, 2, end);
        assert_eq!(merged, folder.read(&format!("whole.{end}")), "{kind} {end}");
    }
    assert!(!text(list("--min-score 1 --evalue 1e6").done()).contains("0 hits"));
}

/// A line reports the number of queries that are too short for any hit. In lists, only the E-value limits the hits of
/// short DNA queries.
#[test]
fn short_queries_are_told() {
    let unit = "ACGTTGCAAGCTTAGCATCGGATCCTAGTACGATCGATTACGGCTAAGCTA";
    let queries = format!(">a\n{}\n>b\n{}\n>c\n{unit}\n", &unit[5..23], &unit[8..26]);
    let folder = folder(&[("q.fa", queries.as_bytes()), ("t.fa", format!(">t\n{unit}\n").as_bytes())]);
    let run = |args: &str| folder.line(&format!("--device cpu {args} q.fa t.fa"));
    let short = "2 queries are too short to reach --min-score 20 (their highest possible score is 18): set --min-score 15";
    for format in ["sam", "paf"] {
        run(&format!("--format {format}")).said(0, &[short, "3 queries, 1 aligned"]);
        let outcome = run(&format!("--format {format} --min-score 15 --stats x.json"));
        outcome.said(0, &["3 queries, 3 aligned"]);
        assert!(!outcome.stderr.contains("too short"));
        assert!(folder.text("x.json").contains("\"too_short\": 0"));
    }
    run("--stats x.json").ended(0);
    assert!(folder.text("x.json").contains("\"too_short\": 2"));
    let listed = run("--format tab --columns qseqid,score");
    listed.said(0, &["2 queries of fewer than 30 bases: any alignment with an E-value of at most 10 (--evalue) is a hit"]);
    assert!(listed.text().contains("a\t18\n") && listed.text().contains("b\t18\n"), "{}", listed.text());
    run("--format tab --min-score 20").said(0, &[short]);
    let unlikely = run("--format tab --evalue 1e-9");
    unlikely.said(0, &["2 queries are too short for an E-value of 1e-9", "set --evalue"]);
    // The advised E-value is sufficient.
    let advised = unlikely.stderr.split("set --evalue ").nth(1).unwrap().lines().next().unwrap().to_string();
    let enough = run(&format!("--format tab --columns qseqid --evalue {advised}"));
    assert!(!enough.stderr.contains("too short"), "{}", enough.stderr);
    assert!(enough.text().starts_with("a\n") || enough.text().starts_with("a\na\n"), "{}", enough.text());
    // Here the target is too short.
    folder.write("s.fa", format!(">s\n{}\n", &unit[..18]));
    let short = "1 query is too short to reach --min-score 20 (its highest possible score is 18)";
    folder.line("pairs --device cpu t.fa s.fa").said(0, &[short]);
    folder.line("all --device cpu --format sam q.fa").said(0, &["too short to reach --min-score 20"]);
}

/// Returns reads of both strands, two per name, and references with unusual names.
fn reads() -> Folder {
    let mut random = Random::new(8);
    let genome = random.sequence(Alphabet::Dna, 3_000);
    let mut queries = String::new();
    for number in 0..120 {
        let start = random.below(2_900);
        let end = start + 40 + random.below(60);
        let mut letters = random.mutated(Alphabet::Dna, &genome[start..end], 3);
        if number % 3 == 0 {
            letters = swalign::terms::alphabet::reverse_complement(&letters);
        }
        if number % 10 == 9 {
            letters = random.sequence(Alphabet::Dna, 50);
        }
        queries += &format!(">r{}\n{}\n", number / 2, String::from_utf8(letters).unwrap());
    }
    let other = random.mutated(Alphabet::Dna, &genome[500..2_500], 1);
    let targets = format!(">a;tax=d:B,p:C the first\n{}\n>b\tx\n{}\n", text(genome), text(other));
    folder(&[("q.fa", queries.as_bytes()), ("t.fa", targets.as_bytes())])
}

#[test]
fn bytes_do_not_depend_on_how_they_are_computed() {
    let folder = reads();
    for (format, end) in [("tab --header", "tab"), ("json", "json"), ("text", "txt")] {
        for more in ["", "--rank evalue", "--rank identity --ties", "--min-identity 97"] {
            let list = |how: &str| {
                let args = format!("--format {format} --max-hsps 2 {more} --device {how} q.fa t.fa");
                text(folder.line(&args).done())
            };
            let whole = list("cpu");
            assert!(whole.len() > 2_000);
            for how in
                ["cpu:baseline", "cpu --threads 1 --batch 1", "cpu --filter none", "cpu --filter index"]
            {
                assert_eq!(list(how), whole, "{format} {more} {how}");
            }
            for part in [1, 2, 3] {
                list(&format!("cpu --part {part}/3 -o p{part}.{end} --resume"));
            }
            folder.line(&format!("merge --quiet m p3.{end} p1.{end} p2.{end}")).ended(0);
            assert_eq!(folder.text("m"), whole, "{format} {more}");
            for part in [1, 2, 3] {
                fs::remove_file(folder.file(&format!("p{part}.{end}.swalign"))).unwrap();
            }
        }
    }
    folder.line("--quiet --device cpu -o x.tsv.gz q.fa t.fa").ended(0);
    let mut unpacked = String::new();
    let bytes = folder.read("x.tsv.gz");
    std::io::Read::read_to_string(&mut flate2::read::MultiGzDecoder::new(&bytes[..]), &mut unpacked).unwrap();
    assert_eq!(unpacked, folder.line("--device cpu --format tab q.fa t.fa").text());
}

/// Columns that need no path have the same values in a table without paths as in a table with paths.
#[test]
fn columns_without_paths() {
    let folder = reads();
    let columns = "qseqid,sseqid,score,evalue,bitscore,sstrand,qlen,slen,stitle,mate";
    let with_paths = format!("{columns},cigar");
    folder.copy_data("16s_20.fa", "genes.fa");
    for command in [
        "q.fa t.fa",
        "q.fa t.fa --max-targets 1",
        "q.fa t.fa --max-targets 1 --ties",
        "q.fa t.fa --rank evalue --evalue 1e-3",
        "q.fa t.fa --filter none --forward-only",
        "q.fa t.fa --rank identity",
        "q.fa t.fa --min-identity 98",
        "q.fa t.fa --mask low",
        "q.fa t.fa --max-hsps 3",
        "q.fa t.fa --interleaved",
        "t.fa t.fa --circular b",
        "all genes.fa --mode local",
        "all genes.fa --mode glocal",
        "all genes.fa --mode global",
        "all genes.fa --mode overlap",
    ] {
        let list = |columns: &str| {
            let args = format!("{command} --device cpu --format tab --columns {columns}");
            text(folder.line(&args).done())
        };
        let expected: String = list(&with_paths)
            .lines()
            .map(|line| format!("{}\n", line.rsplit_once('\t').unwrap().0))
            .collect();
        assert!(expected.len() > 200, "{command}: {expected}");
        assert_eq!(list(columns), expected, "{command}");
    }
}

#[test]
fn mates_are_listed() {
    let args = "--quiet --device cpu --format tab --columns qaccver,mate,saccver,sstrand";
    let inputs = "data/mates_1.fq.gz data/mates_2.fq.gz data/sars2.fa";
    let table = text(line_here(&format!("{args} {inputs}")).done());
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    assert!(rows.len() > 100);
    assert!(
        rows.iter()
            .all(|row| row[0].ends_with(&format!("/{}", row[1])) && ["plus", "minus"].contains(&row[3]))
    );
}

/// Tests ranks, filters and limits on hand-made sequences.
#[test]
fn limits_by_hand() {
    let unit = "ACGTTGCAAGCTTAGCATCGGATCCTAGTACGATCGATTACGGCTAAGCTA";
    let changed = unit.replacen("TTAG", "TCAG", 1);
    let targets = format!(
        ">long\n{changed}{}\n>part\n{}\n>same\n{unit}\n>again\n{unit}\n",
        "T".repeat(900),
        &unit[..30]
    );
    let folder = folder(&[("q.fa", format!(">q\n{unit}\n").as_bytes()), ("t.fa", targets.as_bytes())]);
    let names = |args: &str| -> Vec<String> {
        let line = format!("--device cpu --format tab --columns saccver {args} q.fa t.fa");
        text(folder.line(&line).done()).lines().map(str::to_string).collect()
    };
    for (args, listed) in [
        ("", &["same", "again", "long", "part"][..]),
        ("--max-targets 1", &["same"]),
        ("--max-targets 1 --ties", &["same", "again"]),
        ("--rank identity", &["same", "again", "long"]),
        ("--rank identity --min-coverage 0", &["same", "again", "part", "long"]),
        ("--rank identity --min-coverage 0 --max-targets 1 --ties", &["same", "again", "part"]),
        ("--min-coverage 90", &["same", "again", "long"]),
        ("--min-identity 99 --max-targets 3", &["same", "again", "part"]),
        ("--secondary-ratio 0.95", &["same", "again"]),
        ("--min-score 40", &["same", "again", "long"]),
        ("--evalue 1e-24", &["same", "again"]),
    ] {
        assert_eq!(names(args), listed, "{args}");
    }
    // If ties include all references, no reference is omitted.
    for (more, omitted) in [
        ("", Some("on more than 1 reference, which")),
        ("--ties", Some("on more than 1 reference and those that tie with the last, which")),
        ("--ties --min-score 48", None),
        ("--ties --min-score 48 --rank identity", None),
        ("--min-score 48 --rank identity", Some("on more than 1 reference, which")),
    ] {
        let outcome = folder.line(&format!("--device cpu --format tab --max-targets 1 {more} q.fa t.fa"));
        let line = outcome.stderr.lines().find(|line| line.contains("--max-targets"));
        assert!(line.is_some() == omitted.is_some(), "{more}: {}", outcome.stderr);
        assert!(line.is_none_or(|line| line.contains(omitted.unwrap_or_default())), "{more}: {line:?}");
    }
    let further = "at least 1 query had further hits below 0.8 of the best score";
    folder.line("--device cpu --max-hits 4 q.fa t.fa").said(0, &[further, "use --secondary-ratio 0"]);
}

/// In modes in which an alignment may cover any part of the query, `--rank identity` requires a minimum coverage, so
/// that a short perfect hit does not rank before a hit of nearly the whole query. A line reports omitted hits, and
/// `--min-coverage` replaces the default.
#[test]
fn ranks_by_identity_have_a_least_coverage() {
    let mut random = Random::new(2);
    let query = random.text(Alphabet::Dna, 300);
    let changed: String = (0..)
        .zip(query.chars())
        .map(|(at, letter)| if at % 40 == 20 { if letter == 'A' { 'C' } else { 'A' } } else { letter })
        .collect();
    let around: Vec<String> = (0..3).map(|_| random.text(Alphabet::Dna, 200)).collect();
    // In overlap mode, the end of the query aligns with the start of a reference.
    let targets = format!(
        ">whole\n{}{changed}{}\n>inner\n{}{}{}\n>end\n{}{}\n",
        around[0],
        around[1],
        around[1],
        &query[100..130],
        around[2],
        &query[270..],
        around[2]
    );
    let folder = folder(&[("q.fa", format!(">q\n{query}\n").as_bytes()), ("t.fa", targets.as_bytes())]);
    let run = |mode: &str, more: &str| {
        let shared = "--device cpu --forward-only --min-score 25 --format tab --columns saccver";
        folder.line(&format!("{shared} --mode {mode} {more} q.fa t.fa"))
    };
    let said = "1 query had hits that align less than 80 % of the query, which --rank identity omits";
    for (mode, short) in [("local", "inner\n"), ("overlap", "end\n")] {
        let outcome = run(mode, "--rank identity");
        outcome.said(0, &[said, "use --min-coverage"]);
        assert_eq!(outcome.text(), "whole\n", "{mode}");
        for coverage in ["0", "5"] {
            let outcome = run(mode, &format!("--rank identity --min-coverage {coverage}"));
            assert!(!outcome.stderr.contains("identity omits"), "{}", outcome.stderr);
            assert!(outcome.text().starts_with(short), "{mode} {coverage}");
        }
        let outcome = run(mode, "--rank raw");
        assert!(!outcome.stderr.contains("identity omits"), "{}", outcome.stderr);
        assert!(outcome.text().starts_with("whole\n"), "{mode}");
    }
    // Parts of the references have the same minimum coverage, and the merged list is the list of the whole.
    let args = "-q --forward-only --min-score 25 --format tab --columns saccver --rank identity q.fa t.fa";
    assert_eq!(folder.merged(args, "--ref-part", 2, "tab"), b"whole\n");
    // Alignments of whole queries need no minimum coverage.
    assert!(!run("glocal", "--rank identity").stderr.contains("identity omits"));
}

/// A minimum coverage that all hits reach does not change the list, with any rank and limits. Scores select the hits of
/// each reference, and a reference within the limit keeps its further hits.
#[test]
fn what_excludes_nothing_changes_nothing() {
    for seed in 0..30 {
        let mut random = Random::new(seed);
        let mut records = |count: usize, name: &str, least: usize| -> String {
            let record = |number| {
                let len = least + random.below(14);
                format!(">{name}{number}\n{}\n", random.text(Alphabet::Dna, len))
            };
            (0..count).map(record).collect()
        };
        let (queries, targets) = (records(6, "q", 1), records(5, "t", 1));
        let folder = folder(&[("q.fa", queries.as_bytes()), ("t.fa", targets.as_bytes())]);
        let (mode, rank) = (random.pick(&["local", "glocal"]), random.pick(&["score", "raw", "identity"]));
        let (limit, hsps) = (random.pick(&["1", "2", "3"]), random.pick(&["1", "2", "3"]));
        let limits = if mode == "local" { "--min-score 2 --evalue 1e12" } else { "" };
        let ties = random.pick(&["--ties", ""]);
        let args = format!(
            "--device cpu -q --format tab --alphabet dna --mode {mode} --rank {rank} --max-targets {limit} \
             --max-hsps {hsps} {limits} {ties} q.fa t.fa"
        );
        let run = |least: &str| text(folder.line(&format!("{args} --min-coverage {least}")).done());
        assert_eq!(run("0.001"), run("0"), "seed {seed}: {args}");
    }
    // The third reference ties with the last within the limit, and its second hit scores as much as theirs.
    let targets = b">t0\nG\n>t1\nG\n>t2\nG\n";
    let folder = folder(&[("q.fa", b">q\nC\n"), ("t.fa", targets)]);
    let args = "--mode glocal --alphabet dna --max-targets 2 --max-hsps 3 --ties --min-coverage 100";
    let listed = text(folder.line(&format!("{args} --format tab --columns sseqid,score q.fa t.fa")).done());
    assert_eq!(listed, "t0\t1\nt0\t-4\nt1\t1\nt1\t-4\nt2\t1\nt2\t-4\n");
}

/// If scores grow with the length, hits have no E-values, and a line reports it.
#[test]
fn scores_without_evalues_are_told() {
    let folder = folder(&[("q.fa", b">a\nACGTACGTAC\n"), ("t.fa", b">x\nACGTACGTAC\n")]);
    let scores = "--match 5 --mismatch 1 --gap-open 0 --gap-extend 1";
    let outcome = folder.line(&format!("--format tab --min-score 7 {scores} q.fa t.fa"));
    outcome.said(0, &["hits have no E-values; they score at least 7"]);
    assert!(outcome.text().ends_with("\tNA\tNA\n"), "{}", outcome.text());
}

/// A scoring scheme and its multiples list the same hits with the same E-values and bit scores, even for large factors.
#[test]
fn multiples_have_the_same_evalues() {
    let unit = "ACGTTGCAAGCTTAGCATCGGATCCTAGTACG";
    let folder = folder(&[
        ("q.fa", format!(">q\n{unit}\n").as_bytes()),
        ("t.fa", format!(">t\n{unit}{unit}\n").as_bytes()),
    ]);
    for scores in [[1, 2, 5, 1], [3, 7, 5, 3], [2, 3, 5, 2], [1, 1, 1, 1]] {
        let listed = |factor: i32| {
            let [match_, mismatch, open, extend] = scores.map(|score| score * factor);
            let scores =
                format!("--match {match_} --mismatch {mismatch} --gap-open {open} --gap-extend {extend}");
            let columns = "qseqid,sseqid,sstart,length,evalue,bitscore";
            let args =
                format!("--device cpu --format tab --max-hsps 2 --columns {columns} {scores} q.fa t.fa");
            text(folder.line(&args).done())
        };
        let once = listed(1);
        assert!(once.lines().count() >= 2, "{scores:?}: {once}");
        for factor in [2, 3, 6, 70_001] {
            assert_eq!(listed(factor), once, "{scores:?} times {factor}");
        }
    }
    // A file with the scores of a built-in matrix has the statistical constants of that matrix.
    let listed = |matrix: &str| {
        let inputs = "data/proteins_20.fa data/uniprot_60.fa";
        text(line_here(&format!("--device cpu --format tab --matrix {matrix} {inputs}")).done())
    };
    assert_eq!(listed("data/matrices/BLOSUM62"), listed("BLOSUM62"));
}

/// A warning in all formats names a scoring scheme whose alignments extend through random sequences, and the gap costs
/// to raise.
#[test]
fn the_linear_phase_is_told() {
    let said = |args: &str, says: &[&str]| {
        line_here(&format!("{args} data/proteins_20.fa data/uniprot_60.fa")).said(0, says);
    };
    let low = "--matrix BLOSUM45 --gap-open 11 --gap-extend 1 --format";
    let grow = "under --matrix BLOSUM45 with gap costs 11/1, scores of random sequences grow in proportion to their length";
    let usual = "raise --gap-open or --gap-extend (BLOSUM45 usually takes 14/2)";
    let no_evalues = "hits have no E-values; they score at least 60";
    said(&format!("{low} tab"), &[grow, no_evalues, usual]);
    said(&format!("{low} sam"), &[grow, "alignments extend beyond the similar regions", usual]);
    let raise = "raise --gap-open or --gap-extend";
    said("--matrix data/matrices/BLOSUM45 --format paf", &["with gap costs 11/1", raise]);
    said(
        "--matrix BLOSUM50 --gap-open 12 --gap-extend 1 --format tab",
        &["almost in proportion to their length", "E-values are approximate", "BLOSUM50 usually takes 13/2"],
    );
    for matrix in ["BLOSUM45", "BLOSUM50", "BLOSUM80", "BLOSUM80_3", "PAM250"] {
        let inputs = "data/proteins_20.fa data/uniprot_60.fa";
        let outcome = line_here(&format!("--matrix {matrix} --format tab {inputs}"));
        assert!(!outcome.stderr.contains("warning"), "{matrix}: {}", outcome.stderr);
    }
}

/// The comments of a table name its columns as BLAST does and as `--columns` accepts them.
#[test]
fn comments_name_the_columns() {
    let folder = folder(&[("q.fa", b">q\nMKWVTFISLLFLFSSAYS\n")]);
    let columns = "qaccver,pident,qcovhsp,strand";
    let args = format!("-q --device cpu --format tab --header --columns {columns} q.fa q.fa");
    let table = text(folder.line(&args).done());
    let fields = "# Fields: query acc.ver, % identity, % query coverage per hsp, strand\n";
    assert!(table.contains(fields), "{table}");
    assert!(
        table.contains(
            "# Columns: qaccver\tpident\tqcovhsp\tstrand\n# The hits found, a line each:\nq\t100.000\t"
        ),
        "{table}"
    );
}

#[test]
fn what_lists_refuse() {
    for (args, says) in [
        ("--columns qlen", &["--columns is for --format tab"][..]),
        ("--header --format json", &["--header is for --format tab"]),
        ("--format tab --columns qlen,nonsense", &["there is no column nonsense", "qcovhsp"]),
        ("--rank evalue", &["--rank evalue is for --format tab, json and text"]),
        ("--format tab --evalue 0", &["give a number above 0"]),
        ("--format tab --min-identity 101", &["give a percentage"]),
        ("--format tab --iddef 5", &["give 0, 1, 2, 3 or 4"]),
        ("--format tab --sort", &["--sort writes only BAM"]),
        (
            "--format tab --match 5 --mismatch 1 --gap-open 0 --gap-extend 1 --evalue 1",
            &["there are no E-values", "--min-score"],
        ),
    ] {
        line_here(&format!("{args} data/mt_human.fa data/mt_orang.fa")).said(2, says);
    }
}

/// Lower-case bases align as N and lower-case residues as X, in queries, references and parts of the references.
#[test]
fn lower_case_is_masked() {
    let unit = "ACGTTGCAAGCTTAGCATCGGATCCTAGTACGATCGATTACGGCTAAGCTA";
    let lower = unit.to_lowercase();
    let targets = format!(">half\n{}{}\n>whole\n{unit}\n", &unit[..26], &lower[26..]);
    let folder = folder(&[
        ("q.fa", format!(">q\n{unit}\n>masked\n{lower}\n").as_bytes()),
        ("t.fa", targets.as_bytes()),
        ("n.fa", targets.replace(&lower[26..], &"N".repeat(25)).as_bytes()),
        ("nq.fa", format!(">q\n{unit}\n>masked\n{}\n", "N".repeat(51)).as_bytes()),
    ]);
    let options = "--device cpu --max-hits 3 --secondary-ratio 0";
    let sam = |args: &str| folder.line(&format!("{options} {args}")).without_pg();
    let masked = sam("--mask-lower-case q.fa t.fa");
    assert_eq!(masked, sam("nq.fa n.fa"));
    assert_ne!(masked, sam("q.fa t.fa"), "lower case is upper case unless it is masked");
    assert!(masked.contains("masked\t4\t"), "{masked}");
    let pairs = folder.line("pairs --device cpu --format tab --mask-lower-case q.fa t.fa");
    assert_eq!(pairs.text().lines().count(), 1);
    let args = format!("-q {options} --mask-lower-case q.fa t.fa");
    assert_eq!(without_pg(&text(folder.merged(&args, "--ref-part", 2, "sam"))), masked);
    folder.write("p.fa", ">p\nMKWVTFISLLFLFSSAYS\n");
    folder.write("x.fa", ">x\nMKWVTFISLLflfssays\n");
    let proteins = "--device cpu --format tab --columns qaccver,score,sseq --mask-lower-case --min-score 10";
    let table = text(folder.line(&format!("{proteins} p.fa x.fa")).done());
    assert!(table.ends_with("MKWVTFISLL\n"), "{table}");
}

/// Hits that consist only of low-complexity stretches are omitted. The other hits are the same as without the mask.
#[test]
fn low_complexity_hits_are_left_out() {
    let glutamines = "Q".repeat(40);
    let domain = "MKWVTFISLLFLFSSAYSRGVFRRDAHKSEVAHRFKDLGEENFKALVLIAFAQYLQQCPFEDHVKLVNEVTEFAKTCVADE";
    let repeat = "ATATATATATATATATATATATATATATATATATATAT";
    let gene = "GATCTTGCAGGTCCATTAGCCGATTACCGGATGCTTAACGTCAGGCTAACCTGATTCGAC";
    let folder = folder(&[
        ("p.fa", format!(">query\nWHNPCMRDE{glutamines}{domain}\n").as_bytes()),
        (
            "proteins.fa",
            format!(">homolog\n{domain}KKLM{glutamines}\n>stranger\nNDPHYCMWR{glutamines}GTVKLCPHW\n")
                .as_bytes(),
        ),
        ("d.fa", format!(">query\nCCGTACGGTC{repeat}{gene}\n").as_bytes()),
        (
            "dna.fa",
            format!(">homolog\n{repeat}{gene}TTGCACGT\n>stranger\nGGCATTGCC{repeat}CCAGTGGTCA\n").as_bytes(),
        ),
    ]);
    for (query, targets) in [("p.fa", "proteins.fa"), ("d.fa", "dna.fa")] {
        let list = |options: &str| {
            let args = format!("--device cpu -q --format tab --min-score 25 {options} {query} {targets}");
            text(folder.line(&args).done())
        };
        let (all, masked) = (list(""), list("--mask low"));
        assert_eq!(all.lines().filter(|line| line.contains("stranger")).count(), 1, "{all}");
        assert_eq!(masked.lines().count(), 1, "{masked}");
        assert!(masked.contains("homolog") && all.contains(&masked), "{all}{masked}");
        assert_eq!(list("--mask none"), all);
        for (mask, expected) in
            [("low", "\"masked_hits\": 1"), ("none", "\"masked_letters\": null, \"masked_hits\": null")]
        {
            list(&format!("--mask {mask} --stats x.json"));
            assert!(folder.text("x.json").contains(expected), "{mask}");
        }
        let counted = list("--mask low --columns std,masked");
        let (line, count) = counted.trim_end().rsplit_once('\t').unwrap();
        assert_eq!(line, masked.trim_end());
        // The protein hit contains no glutamines, and the DNA hit contains the repeat.
        assert_eq!(count.parse::<u32>().unwrap() > 0, query == "d.fa", "{counted}");
        // Merged parts of the references give the same table.
        let args = format!("--device cpu -q --format tab --min-score 25 --mask low {query} {targets}");
        assert_eq!(text(folder.merged(&args, "--ref-part", 2, "tab")), masked);
        // SAM omits these hits as well.
        let sam = |mask| -> Vec<bool> {
            let options = "--device cpu --max-hits 9 --secondary-ratio 0 --mask";
            let text = text(folder.line(&format!("{options} {mask} {query} {targets}")).done());
            let records = text.lines().filter(|line| !line.starts_with('@'));
            records.map(|line| line.contains("stranger")).collect()
        };
        assert!(sam("none").contains(&true) && sam("low") == [false]);
    }
    let outcome = folder.line("--mask low --mode global p.fa proteins.fa");
    outcome.said(2, &["--mode global does not support --mask"]);
}

/// Returns the name, the residues and the mask of each sequence in the output of NCBI's maskers.
fn masked_by_ncbi(golden: &str) -> Vec<(String, String, Vec<bool>)> {
    let record = |record: &str| {
        let mut lines = record.lines();
        let (name, letters) = (lines.next().unwrap(), lines.next().unwrap());
        let mut mask = vec![false; letters.len()];
        for interval in lines {
            let (first, last) = interval.split_once(" - ").unwrap();
            mask[first.parse().unwrap()..=last.parse().unwrap()].fill(true);
        }
        let name = name.split_whitespace().next().unwrap();
        (name.to_string(), letters.to_string(), mask)
    };
    golden.split("\n>").skip(1).map(record).collect()
}

/// `--mask hard` finds the same hits as a query with N or X in its low-complexity stretches, but shows the original
/// residues.
#[test]
fn hard_masks_score_and_do_not_show() {
    let golden = [
        ("segmasker.txt", 'X', "--alphabet protein --min-score 30"),
        ("dustmasker.txt", 'N', "--alphabet dna --min-score 15"),
    ];
    for (file, any, options) in golden {
        let sequences =
            masked_by_ncbi(&fs::read_to_string(repository().join("tests/golden").join(file)).unwrap());
        let fasta = |letters: &dyn Fn(&str, &[bool]) -> String| -> String {
            let record = |(name, written, mask): &(String, String, Vec<bool>)| {
                format!(">{name}\n{}\n", letters(written, mask))
            };
            sequences.iter().map(record).collect()
        };
        let written = fasta(&|letters, _| letters.to_string());
        let hidden = fasta(&|letters, mask| {
            letters
                .chars()
                .zip(mask)
                .map(|(letter, &is_masked)| if is_masked { any } else { letter })
                .collect()
        });
        let folder = folder(&[("written.fa", written.as_bytes()), ("hidden.fa", hidden.as_bytes())]);
        let list = |columns: &str, more: &str, query: &str| -> Vec<Vec<String>> {
            let columns = format!("--device cpu --format tab --columns {columns} --max-hsps 3");
            let table = text(folder.line(&format!("{columns} {options} {more} {query} written.fa")).done());
            table.lines().map(|line| line.split('\t').map(str::to_string).collect()).collect()
        };
        let scores = "qseqid,sseqid,score,evalue,qstart,qend,sstart,send,length,gaps";
        let hard = list(scores, "--mask hard", "written.fa");
        assert_eq!(hard, list(scores, "", "hidden.fa"), "{file}");
        assert_ne!(hard, list(scores, "", "written.fa"), "{file}");
        let shown = "qseqid,qstart,qend,masked,nident,pident,length,qseq,sseq";
        let all = list(shown, "--mask hard", "written.fa");
        let mut masked_in_all = 0;
        for line in &all {
            let number = |at: usize| line[at].parse::<usize>().unwrap();
            let (_, letters, mask) = sequences.iter().find(|(name, ..)| *name == line[0]).unwrap();
            let within = number(1) - 1..number(2);
            let masked = mask[within.clone()].iter().filter(|&&is_masked| is_masked).count();
            assert_eq!(number(3), masked, "{line:?}");
            masked_in_all += masked;
            assert_eq!(line[7].replace('-', ""), letters[within].to_uppercase(), "{line:?}");
            let equal = line[7]
                .bytes()
                .zip(line[8].bytes())
                .filter(|(one, other)| one == other && (any == 'X' || b"ACGT".contains(one)));
            let equal = equal.count();
            assert_eq!(number(4), equal, "{line:?}");
            assert_eq!(line[5], format!("{:.3}", 100.0 * equal as f64 / number(6) as f64), "{line:?}");
        }
        assert!(masked_in_all > 0, "{file}");
        let is_alike = |line: &[String]| line[5].parse::<f64>().unwrap() >= 60.0;
        let alike = list(shown, "--mask hard --min-identity 60", "written.fa");
        assert!(alike.iter().all(|line| is_alike(line)), "{file}");
        assert!(all.iter().filter(|line| is_alike(line)).all(|line| alike.contains(line)), "{file}");
        assert!(list(shown, "", "written.fa").iter().all(|line| line[3] == "NA"), "{file}");
        // SAM records show all residues and have the same scores.
        let args = format!("--device cpu --mask hard --stats x.json {options} written.fa written.fa");
        let sam = folder.line(&args).sam();
        for (record, (name, letters, _)) in sam.records.iter().zip(&sequences) {
            assert_eq!(record.name(), name);
            let is_forward = record.flag() & 16 == 0;
            assert!(!is_forward || record.fields[9] == letters.to_uppercase(), "{name}");
            let best = hard.iter().filter(|line| line[0] == *name).map(|line| line[2].parse().unwrap()).max();
            assert!(best.is_none_or(|best: i64| record.score() == best), "{name}");
        }
        let masked: usize =
            sequences.iter().map(|(_, _, mask)| mask.iter().filter(|&&is_masked| is_masked).count()).sum();
        let expected = format!("\"masked_letters\": {masked}, \"masked_hits\": 0,");
        assert!(folder.text("x.json").contains(&expected), "{expected}");
        // The statistics of `--mask low` count the omitted hits.
        let plain: BTreeSet<_> = list(scores, "", "written.fa").into_iter().collect();
        let low = list(scores, "--mask low --stats y.json", "written.fa");
        let left_out = plain.difference(&low.into_iter().collect()).count();
        assert!(any == 'N' || left_out > 100, "{left_out}");
        let expected = format!("\"masked_hits\": {left_out},");
        assert!(folder.text("y.json").contains(&expected), "{expected}");
        folder.line("all --mask hard written.fa").said(2, &["--mask hard", "--mask low"]);
    }
}

/// `search --format text` draws the pattern forward and the text below it.
#[test]
fn searches_draw_alignments() {
    let text_of = "TTTTACGTACGGTCATTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTGAACGTATTTTT";
    let folder = folder(&[("t.fa", format!(">t\n{text_of}\n").as_bytes())]);
    let page = text(folder.line("search -k 1 --format text TACGGTCA t.fa").done());
    assert!(page.starts_with(
        "pattern in t, 8 to 15, strand +, 0 edits\n\nPattern  1 TACGGTCA 8\n           ||||||||\nText     8 TACGGTCA 15\n\n"
    ), "{page}");
    let letters = |label: &str| -> Vec<String> {
        let lines = page.lines().filter(|line| line.starts_with(label));
        lines.map(|line| line.split_whitespace().nth(2).unwrap().to_string()).collect()
    };
    let (patterns, texts) = (letters("Pattern"), letters("Text"));
    assert_eq!(patterns.len(), 2, "{page}");
    assert!(patterns.iter().all(|pattern| pattern.replace('-', "") == "TACGGTCA"), "{page}");
    assert_eq!(texts[0], "TACGGTCA", "{page}");
    // The second alignment shows the reverse complement of the text at its position.
    let last = page.lines().rfind(|line| line.starts_with("Text")).unwrap();
    let numbers: Vec<usize> = last.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert!(numbers[0] > numbers[1], "{page}");
    let at = swalign::terms::alphabet::reverse_complement(&text_of.as_bytes()[numbers[1] - 1..numbers[0]]);
    assert_eq!(texts[1].replace('-', ""), String::from_utf8(at).unwrap(), "{page}");
    assert!(page.contains("strand -, 1 edit\n"), "{page}");
}
