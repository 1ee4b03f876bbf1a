//! Lists of hits through the command: tables against BLAST's own, JSON and text against the table, the same bytes
//! however computed, and what is refused.

mod common;

use common::command::{run, run_here};
use common::folder::{Folder, folder};
use common::random::Random;
use common::{data, repository};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use swalign::alphabet::Alphabet;

/// The columns of the tables in tests/golden, and where those stand that say which alignment it is.
const COLUMNS: &str = "std,qlen,slen,qcovs,qcovhsp,nident,positive,gaps,ppos,btop,score";
const SCORE: usize = 21;
const ALIGNMENT: [usize; 6] = [6, 7, 8, 9, 20, SCORE];

type Row = Vec<String>;

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// The rows of a table by their query and target.
fn table(text: &str) -> BTreeMap<(String, String), Vec<Row>> {
    let mut rows: BTreeMap<_, Vec<Row>> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let row: Row = line.split('\t').map(str::to_string).collect();
        rows.entry((row[0].clone(), row[1].clone())).or_default().push(row);
    }
    rows
}

/// Holds our table against one of BLAST: each hit of BLAST's is there with its score or a better one, and where both have
/// one alignment all columns are equal. Gives the number of such alignments.
fn against_blast(golden: &str, args: &[&str]) -> usize {
    let golden = fs::read_to_string(repository().join("tests/golden").join(golden)).unwrap();
    let limits =
        ["--device", "cpu", "--quiet", "--format", "tab", "--max-targets", "500", "--columns", COLUMNS];
    let ours = text(run_here(&[&limits, args].concat()).done());
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
    let proteins = ["data/uniprot_60.fa", "data/uniprot_60.fa"];
    assert!(against_blast("blastp_uniprot_60.tsv", &proteins) > 200);
    let scores = ["--preset", "blastn", "--min-score", "10"];
    let primers = ["data/artic_v3_primers.fa", "data/sars2.fa"];
    assert!(against_blast("blastn_primers.tsv", &[&scores[..], &primers].concat()) > 200);
    let genes = ["data/amplicon_16s.fq.gz", "data/16s_20.fa"];
    assert!(against_blast("blastn_16s.tsv", &[&scores[..], &genes].concat()) > 100);
}

/// About one hit in each search of random sequences has an E-value below 1.
#[test]
fn evalues_count_chance() {
    let mut random = Random::new(3);
    let mut fasta = |count: usize, len: usize| {
        let record = |number: usize, random: &mut Random| {
            // Letters as often as proteins have them.
            let letters: Vec<u8> = (0..len)
                .map(|_| random.pick(b"AAAAAAAARRRRRNNNNDDDDDCQQQQEEEEEEGGGGGGGHHIIIIILLLLLLLLLKKKKKKMMFFFFPPPPPSSSSSSSTTTTTTWYYYVVVVVV"))
                .collect();
            format!(">s{number}\n{}\n", String::from_utf8(letters).unwrap())
        };
        (0..count).map(|number| record(number, &mut random)).collect::<String>()
    };
    let (queries, targets) = (fasta(120, 250), fasta(300, 300));
    let folder = folder(&[("q.fa", queries.as_bytes()), ("t.fa", targets.as_bytes())]);
    for scores in [&["--matrix", "BLOSUM62"][..], &["--matrix", "BLOSUM62", "--gap-open", "14"]] {
        let args = ["--device", "cpu", "--format", "tab", "--evalue", "1", "--max-targets", "300"];
        let table = text(run(folder.path(), &[&args, scores, &["q.fa", "t.fa"]].concat()).done());
        let each = table.lines().count() as f64 / 120.0;
        assert!((0.4..2.0).contains(&each), "{each} hits a query below 1: {scores:?}");
    }
}

/// JSON and text say what the table says.
#[test]
fn json_and_text_have_the_hits_of_the_table() {
    let list = |format: &str, more: &[&str]| {
        let args = ["--device", "cpu", "--format", format, "--min-score", "40"];
        text(run_here(&[&args, more, &["data/proteins_20.fa", "data/uniprot_60.fa"]].concat()).done())
    };
    let columns = "qaccver,saccver,score,length,nident,gaps,qstart,qend,sstart,send,evalue,qseq,sseq,stitle";
    let table = list("tab", &["--columns", columns]);
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    assert!(rows.len() > 30, "{} rows", rows.len());
    let json = list("json", &[]);
    assert_eq!(json.lines().count(), 20, "a line a query");
    let hits: Vec<&str> = json.lines().flat_map(|line| line.split("{\"target\": ").skip(1)).collect();
    let page = list("text", &[]);
    assert_eq!(page.matches("\n> ").count(), rows.len());
    assert_eq!(hits.len(), rows.len());
    // Ends of lines stand for spaces where a header line is folded.
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
        // The text, from hit to hit.
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

/// Reads on both strands, some of them twice, and references with any name.
fn reads() -> Folder {
    let mut random = Random::new(8);
    let genome = random.sequence(Alphabet::Dna, 3_000);
    let mut queries = String::new();
    for number in 0..120 {
        let start = random.below(2_900);
        let end = start + 40 + random.below(60);
        let mut letters = random.mutated(Alphabet::Dna, &genome[start..end], 3);
        if number % 3 == 0 {
            letters = swalign::alphabet::reverse_complement(&letters);
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
    for format in ["tab", "json", "text"] {
        let header: &[&str] = if format == "tab" { &["--header"] } else { &[] };
        for more in
            [&[][..], &["--rank", "evalue"], &["--rank", "identity", "--ties"], &["--min-identity", "97"]]
        {
            let list = |how: &[&str]| {
                let args =
                    [&["--format", format, "--max-hsps", "2"], header, more, how, &["q.fa", "t.fa"]].concat();
                run(folder.path(), &args).done()
            };
            let whole = list(&["--device", "cpu"]);
            assert!(whole.len() > 2_000);
            for how in [
                &["--device", "cpu:baseline"][..],
                &["--device", "cpu", "--threads", "1", "--batch", "1"],
                &["--device", "cpu", "--filter", "none"],
                &["--device", "cpu", "--filter", "index"],
            ] {
                assert_eq!(text(list(how)), text(whole.clone()), "{format} {more:?} {how:?}");
            }
            for part in ["1/3", "2/3", "3/3"] {
                let out = format!("p{}.{}", &part[..1], if format == "text" { "txt" } else { format });
                list(&["--device", "cpu", "--part", part, "-o", &out, "--resume"]);
            }
            let end = if format == "text" { "txt" } else { format };
            let parts = [3, 1, 2].map(|part| format!("p{part}.{end}"));
            let merged = run(folder.path(), &["merge", "--quiet", "m", &parts[0], &parts[1], &parts[2]]);
            merged.ended(0);
            assert_eq!(text(folder.read("m")), text(whole), "{format} {more:?}");
            parts.iter().for_each(|part| fs::remove_file(folder.file(&format!("{part}.swalign"))).unwrap());
        }
    }
    let packed = run(folder.path(), &["--quiet", "--device", "cpu", "-o", "x.tsv.gz", "q.fa", "t.fa"]);
    packed.ended(0);
    let mut unpacked = String::new();
    let bytes = folder.read("x.tsv.gz");
    std::io::Read::read_to_string(&mut flate2::read::MultiGzDecoder::new(&bytes[..]), &mut unpacked).unwrap();
    let plain = run(folder.path(), &["--device", "cpu", "--format", "tab", "q.fa", "t.fa"]).done();
    assert_eq!(unpacked, text(plain));
}

#[test]
fn mates_are_listed() {
    let args = ["--quiet", "--device", "cpu", "--format", "tab", "--columns", "qaccver,mate,saccver,sstrand"];
    let inputs = ["data/mates_1.fq.gz", "data/mates_2.fq.gz", "data/sars2.fa"];
    let table = text(run_here(&[&args[..], &inputs].concat()).done());
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    assert!(rows.len() > 100);
    assert!(
        rows.iter()
            .all(|row| row[0].ends_with(&format!("/{}", row[1])) && ["plus", "minus"].contains(&row[3]))
    );
}

/// Ranks, filters and limits on sequences made by hand.
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
    let names = |args: &[&str]| -> Vec<String> {
        let all = [&["--device", "cpu", "--format", "tab", "--columns", "saccver"], args, &["q.fa", "t.fa"]]
            .concat();
        text(run(folder.path(), &all).done()).lines().map(str::to_string).collect()
    };
    assert_eq!(names(&[]), ["same", "again", "long", "part"]);
    assert_eq!(names(&["--max-targets", "1"]), ["same"]);
    assert_eq!(names(&["--max-targets", "1", "--ties"]), ["same", "again"]);
    assert_eq!(names(&["--rank", "identity"]), ["same", "again", "part", "long"]);
    assert_eq!(names(&["--rank", "identity", "--max-targets", "1", "--ties"]), ["same", "again", "part"]);
    assert_eq!(names(&["--min-coverage", "90"]), ["same", "again", "long"]);
    assert_eq!(names(&["--min-identity", "99", "--max-targets", "3"]), ["same", "again", "part"]);
    assert_eq!(names(&["--secondary-ratio", "0.95"]), ["same", "again"]);
    assert_eq!(names(&["--min-score", "40"]), ["same", "again", "long"]);
    assert_eq!(names(&["--evalue", "1e-24"]), ["same", "again"]);
    let sam = run(folder.path(), &["--device", "cpu", "--max-hits", "4", "q.fa", "t.fa"]);
    sam.said(0, &["1 query had further hits below 0.8 of the best score", "--secondary-ratio 0 keeps them"]);
}

/// A least coverage that all hits have changes nothing, with any rank and limits: scores decide which hits of a reference
/// count, and a reference that is let in keeps its further hits.
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
        let (mode, rank) = (random.pick(&["local", "glocal"]), random.pick(&["score", "identity"]));
        let (limit, hsps) = (random.pick(&["1", "2", "3"]), random.pick(&["1", "2", "3"]));
        let mut args = vec!["--device", "cpu", "-q", "--format", "tab", "--alphabet", "dna", "--mode", mode];
        args.extend(["--rank", rank, "--max-targets", limit, "--max-hsps", hsps]);
        if mode == "local" {
            args.extend(["--min-score", "2", "--evalue", "1e12"]);
        }
        if random.below(2) == 0 {
            args.push("--ties");
        }
        let run = |more: &[&str]| text(folder.done(&[&args[..], more, &["q.fa", "t.fa"]].concat()));
        assert_eq!(run(&["--min-coverage", "0.001"]), run(&[]), "seed {seed}: {args:?}");
    }
    // Beyond the limit a reference ties, and its second hit is as good as those of the others.
    let targets = b">t0\nG\n>t1\nG\n>t2\nG\n";
    let folder = folder(&[("q.fa", b">q\nC\n"), ("t.fa", targets)]);
    let args = ["--mode", "glocal", "--alphabet", "dna", "--max-targets", "2", "--max-hsps", "3", "--ties"];
    let more = ["--min-coverage", "100", "--format", "tab", "--columns", "sseqid,score", "q.fa", "t.fa"];
    let listed = text(folder.done(&[&args[..], &more].concat()));
    assert_eq!(listed, "t0\t1\nt1\t1\nt2\t1\nt0\t-4\nt1\t-4\nt2\t-4\n");
}

/// Scores that grow with the length have no E-values, and the list says so.
#[test]
fn scores_without_evalues_are_told() {
    let folder = folder(&[("q.fa", b">a\nACGTACGTAC\n"), ("t.fa", b">x\nACGTACGTAC\n")]);
    let scores = ["--match", "5", "--mismatch", "1", "--gap-open", "0", "--gap-extend", "1"];
    let args = [&["--format", "tab", "--min-score", "7"], &scores[..], &["q.fa", "t.fa"]].concat();
    let outcome = folder.run(&args);
    outcome.said(0, &["hits have no E-values; they score 7 or more"]);
    assert!(outcome.text().ends_with("\t-1\t0\n"), "{}", outcome.text());
}

/// The comments of a table name its columns as BLAST's do, and as `--columns` takes them.
#[test]
fn comments_name_the_columns() {
    let folder = folder(&[("q.fa", b">q\nMKWVTFISLLFLFSSAYS\n")]);
    let args = [
        "-q",
        "--device",
        "cpu",
        "--format",
        "tab",
        "--header",
        "--columns",
        "qaccver,pident,qcovhsp,strand",
    ];
    let table = text(folder.run(&[&args[..], &["q.fa", "q.fa"]].concat()).done());
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
    let refused = |args: &[&str], says: &[&str]| {
        let (query, target) = (data("mt_human.fa"), data("mt_orang.fa"));
        run_here(&[args, &[query.to_str().unwrap(), target.to_str().unwrap()]].concat()).said(2, says);
    };
    refused(&["--columns", "qlen"], &["--columns and --header are for --format tab"]);
    refused(&["--format", "tab", "--columns", "qlen,nonsense"], &["there is no column nonsense", "qcovhsp"]);
    refused(&["--rank", "evalue"], &["--rank is for --format tab, json and text"]);
    refused(&["--format", "tab", "--evalue", "0"], &["give a number above 0"]);
    refused(&["--format", "tab", "--min-identity", "101"], &["give a percentage"]);
    refused(&["--format", "tab", "--iddef", "5"], &["give 0, 1, 2, 3 or 4"]);
    refused(&["--format", "tab", "--sort"], &["--sort writes BAM"]);
    refused(
        &[
            "--format",
            "tab",
            "--match",
            "5",
            "--mismatch",
            "1",
            "--gap-open",
            "0",
            "--gap-extend",
            "1",
            "--evalue",
            "1",
        ],
        &["there are no E-values", "--min-score"],
    );
}

/// Letters in lower case align as N, in queries, references and parts of the references.
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
    let sam = |args: &[&str]| {
        let all = text(
            run(
                folder.path(),
                &[&["--device", "cpu", "--max-hits", "3", "--secondary-ratio", "0"], args].concat(),
            )
            .done(),
        );
        all.lines()
            .filter(|line| !line.starts_with("@PG"))
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    let masked = sam(&["--mask-lower-case", "q.fa", "t.fa"]);
    assert_eq!(masked, sam(&["nq.fa", "n.fa"]));
    assert_ne!(masked, sam(&["q.fa", "t.fa"]), "lower case is upper case unless it is masked");
    assert!(masked.contains("masked\t4\t"), "{masked}");
    let pairs = ["pairs", "--device", "cpu", "--format", "tab", "--mask-lower-case", "q.fa", "t.fa"];
    assert_eq!(text(run(folder.path(), &pairs).done()).lines().count(), 1);
    for part in ["1/2", "2/2"] {
        let args = [
            "--quiet",
            "--device",
            "cpu",
            "--mask-lower-case",
            "--max-hits",
            "3",
            "--secondary-ratio",
            "0",
            "--ref-part",
            part,
        ];
        run(folder.path(), &[&args[..], &["-o", &format!("{}.sam", &part[..1]), "q.fa", "t.fa"]].concat())
            .ended(0);
    }
    run(folder.path(), &["merge", "--quiet", "m.sam", "1.sam", "2.sam"]).ended(0);
    let merged: String = text(folder.read("m.sam"))
        .lines()
        .filter(|line| !line.starts_with("@PG"))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(merged, masked);
    let proteins = [
        "--device",
        "cpu",
        "--format",
        "tab",
        "--columns",
        "qaccver,score,sseq",
        "--mask-lower-case",
        "--min-score",
        "10",
    ];
    folder.write("p.fa", ">p\nMKWVTFISLLFLFSSAYS\n");
    folder.write("x.fa", ">x\nMKWVTFISLLflfssays\n");
    let table = text(run(folder.path(), &[&proteins[..], &["p.fa", "x.fa"]].concat()).done());
    assert!(table.ends_with("MKWVTFISLL\n"), "{table}");
}

/// `search --format text`: the pattern forward, the text beside it.
#[test]
fn searches_draw_alignments() {
    let text_of = "TTTTACGTACGGTCATTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTGAACGTATTTTT";
    let folder = folder(&[("t.fa", format!(">t\n{text_of}\n").as_bytes())]);
    let page =
        text(run(folder.path(), &["search", "-k", "1", "--format", "text", "TACGGTCA", "t.fa"]).done());
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
    // The second is the reverse complement of the text at its place.
    let last = page.lines().rfind(|line| line.starts_with("Text")).unwrap();
    let numbers: Vec<usize> = last.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert!(numbers[0] > numbers[1], "{page}");
    let at = swalign::alphabet::reverse_complement(&text_of.as_bytes()[numbers[1] - 1..numbers[0]]);
    assert_eq!(texts[1].replace('-', ""), String::from_utf8(at).unwrap(), "{page}");
    assert!(page.contains("strand -, 1 edit\n"), "{page}");
}
