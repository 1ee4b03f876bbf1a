//! The tables of `tests/golden`, and the comparison of an engine with them.

use super::{batches, codes, data, fasta, gzip, text};
use std::collections::BTreeMap;
use std::sync::Arc;
use swalign::align::backtrace;
use swalign::engine::Engine;
use swalign::terms::alignment::{Alignment, HitEnd, PathOp};
use swalign::terms::alphabet::{Alphabet, reverse_complement};
use swalign::terms::batch::{Batch, Pair};
use swalign::terms::scoring::{AlignmentMode, Matrix, Scoring};

/// One pair under one scoring, with the results of other programs. Ends are 1-based and inclusive, so they equal our
/// exclusive ends. Starts are 1-based.
#[derive(Debug)]
pub struct Row {
    pub pair: String,
    pub scheme: String,
    pub ambig: String,
    /// The best local score.
    pub local: i32,
    /// Query and target end, if only one cell has the best score.
    pub end: Option<(u32, u32)>,
    /// Query and target start, if both the end and the start are unique.
    pub start: Option<(u32, u32)>,
    /// The best scores in other modes, if the table has them.
    pub modes: Vec<(AlignmentMode, i32)>,
}

/// The columns of other modes.
const MODES: [(AlignmentMode, &str); 3] =
    [(AlignmentMode::Global, "global"), (AlignmentMode::Glocal, "fit"), (AlignmentMode::Overlap, "overlap")];

/// A table with its sequences.
pub struct Table {
    pub name: String,
    pub rows: Vec<Row>,
    pub queries: BTreeMap<String, Vec<u8>>,
    /// Targets by pair. If all pairs share one target, its name is empty.
    pub targets: BTreeMap<String, Vec<u8>>,
}

impl Table {
    /// A table in which the i-th query is aligned with the i-th target.
    pub fn pairs(name: &str) -> Table {
        let sequences = |side| fasta(&text(&format!("tests/golden/{name}.{side}.fa")));
        Table { name: name.to_string(), rows: rows(name), queries: sequences("q"), targets: sequences("t") }
    }

    /// The first ten ONT reads of the table, on both strands, against the genome of SARS-CoV-2.
    pub fn reads() -> Table {
        let reads = gzip::unpacked(&data("ont_sars2.fq.gz"));
        let mut queries = BTreeMap::new();
        for read in reads.lines().collect::<Vec<_>>().chunks(4) {
            let name = read[0][1..].split(' ').next().unwrap_or_default();
            queries.insert(format!("{name}+"), read[1].as_bytes().to_vec());
            queries.insert(format!("{name}-"), reverse_complement(read[1].as_bytes()));
        }
        let targets =
            fasta(&text("data/sars2.fa")).into_values().map(|genome| (String::new(), genome)).collect();
        let mut rows = rows("reads_sars2");
        rows.truncate(40);
        Table { name: "reads_sars2".to_string(), rows, queries, targets }
    }
}

/// The rows of a table.
pub fn rows(name: &str) -> Vec<Row> {
    let text = text(&format!("tests/golden/{name}.tsv"));
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().expect("a header").split('\t').collect();
    let row = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let field = |column: &str| {
            let index =
                columns.iter().position(|name| *name == column).unwrap_or_else(|| panic!("column {column}"));
            fields[index]
        };
        let number = |column: &str| field(column).parse::<u32>().ok();
        let unique = |count: &str, i: &str, j: &str| match number(count) {
            Some(1) => number(i).zip(number(j)),
            _ => None,
        };
        let end = unique("n_ends", "q_end", "t_end");
        Row {
            pair: field("pair").to_string(),
            scheme: field("scheme").to_string(),
            ambig: field("ambig").to_string(),
            local: field("local").parse().expect("a score"),
            end,
            start: end.and(unique("n_starts", "q_start", "t_start")),
            modes: MODES
                .into_iter()
                .filter(|(_, column)| columns.contains(column))
                .map(|(mode, column)| (mode, field(column).parse().expect("a score")))
                .collect(),
        }
    };
    lines.map(row).collect()
}

/// The scoring for a scheme name and a treatment of ambiguous bases or residues (tests/golden/README.md explains the
/// names).
pub fn scoring(scheme: &str, ambig: &str) -> Scoring {
    let number = |word: &str| word.parse::<i32>().ok();
    let (mut plain, mut first, mut open, mut extend, mut matrix) = (Vec::new(), None, None, None, None);
    for word in scheme.split('_') {
        let after = |prefix: &str| word.strip_prefix(prefix).and_then(number);
        if let Some(value) = number(word) {
            plain.push(value);
        } else if let Some(value) = after("first") {
            first = Some(value);
        } else if let Some(value) = after("linear") {
            (open, extend) = (Some(0), Some(value));
        } else if let Some((o, e)) = word.strip_prefix('o').and_then(|word| word.split_once('e')) {
            (open, extend) = (number(o), number(e));
        } else if let Some(value) = after("e") {
            extend = Some(value);
        } else if let Some(value) = after("pam") {
            matrix = Some(format!("PAM{value}"));
        } else if let Some(value) = after("b") {
            // The tables use the edition of BLOSUM80 in units of 1/3 bit.
            matrix = Some(if value == 80 { "BLOSUM80_3".to_string() } else { format!("BLOSUM{value}") });
        }
    }
    if let [_, _, gap] = plain[..] {
        (open, extend) = (Some(0), Some(gap));
    }
    let extend = extend.unwrap_or_else(|| panic!("no gap extension in {scheme}"));
    let open =
        open.or(first.map(|first| first - extend)).unwrap_or_else(|| panic!("no gap opening in {scheme}"));
    let dna_matrix = |name: &str| {
        let matrix = Matrix::parse(name, &text(&format!("tests/golden/{name}")), Alphabet::Dna).expect(name);
        Scoring::matrix(Alphabet::Dna, matrix, open, extend)
    };
    match (matrix, ambig, &plain[..]) {
        (Some(name), _, _) => {
            let matrix = Matrix::named(&name).unwrap_or_else(|| panic!("no matrix {name}"));
            Scoring::matrix(Alphabet::Protein, matrix, open, extend)
        }
        (None, "nuc44", _) => dna_matrix("NUC.4.4"),
        (None, "none" | "mis", [match_, mismatch, ..]) => Scoring::dna(*match_, *mismatch, open, extend),
        (None, ambig, [match_, mismatch, ..]) => dna_matrix(&format!("m{match_}x{mismatch}_{ambig}")),
        _ => panic!("no scoring in {scheme}, {ambig}"),
    }
}

/// Rows with the same scoring, as a batch of whole pairs.
struct Group<'a> {
    title: String,
    rows: Vec<&'a Row>,
    batch: Batch,
    pairs: Vec<Pair>,
}

fn groups(table: &Table) -> Vec<Group<'_>> {
    let mut by_scoring: BTreeMap<(&str, &str), Vec<&Row>> = BTreeMap::new();
    for row in &table.rows {
        // `none` and `mis` are the same scoring.
        let ambig = if row.ambig == "none" { "mis" } else { &row.ambig };
        by_scoring.entry((&row.scheme, ambig)).or_default().push(row);
    }
    by_scoring.into_iter().map(|((scheme, ambig), rows)| group(table, scheme, ambig, rows)).collect()
}

fn group<'a>(table: &Table, scheme: &str, ambig: &str, rows: Vec<&'a Row>) -> Group<'a> {
    let scoring = scoring(scheme, ambig);
    let encode = |letters: &[u8]| codes(scoring.alphabet, letters);
    let queries: Vec<Vec<u8>> = rows.iter().map(|row| encode(&table.queries[&row.pair])).collect();
    let shared = table.targets.get("");
    let targets: Vec<Vec<u8>> = match shared {
        Some(target) => vec![encode(target)],
        None => rows.iter().map(|row| encode(&table.targets[&row.pair])).collect(),
    };
    let batch = batches::of(&queries, &targets, scoring);
    let target = |query: u32| if shared.is_some() { 0 } else { query };
    let pairs = (0..rows.len() as u32).map(|query| batches::whole(&batch, query, target(query))).collect();
    Group { title: format!("{} {scheme} {ambig}", table.name), rows, batch, pairs }
}

/// Compares `engine` with every row of `table`: the score, the end and the start if they are unique, and the path,
/// which must rescore to the score. All rows use the same engine. Returns the number of rows.
pub fn check(engine: &mut dyn Engine, table: &Table) -> usize {
    let mut wrong = Vec::new();
    let groups = groups(table);
    for group in &groups {
        let hits = engine
            .score(&group.batch, &group.pairs)
            .unwrap_or_else(|error| panic!("{}: {error}", group.title));
        assert_eq!(hits.len(), group.rows.len(), "{}", group.title);
        scores(group, &hits, &mut wrong);
        paths(engine, group, &hits, &mut wrong);
    }
    let shown = wrong.len().min(20);
    assert!(
        wrong.is_empty(),
        "{}: {} differences, first {shown}:\n{}",
        engine.capabilities().name,
        wrong.len(),
        wrong[..shown].join("\n")
    );
    groups.iter().map(|group| group.rows.len()).sum()
}

/// Compares `engine` with the scores of other modes, and rescores each path. Returns the number of scores.
pub fn check_modes(engine: &mut dyn Engine, table: &Table) -> usize {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for mut group in groups(table) {
        for (mode, _) in MODES {
            group.batch.scoring = Arc::new(Scoring::clone(&group.batch.scoring).in_mode(mode));
            let hits = engine.score(&group.batch, &group.pairs).expect("scores");
            for (row, hit) in group.rows.iter().zip(&hits) {
                let expected = row.modes.iter().find(|(of, _)| *of == mode).expect("a column").1;
                count += 1;
                if hit.score != expected {
                    wrong.push(format!("{} {} {mode}: {hit:?}, expected {expected}", group.title, row.pair));
                }
            }
            // `align` rescores each path.
            let hits = group.pairs.iter().zip(&hits);
            let wanted: Vec<_> = hits.map(|(pair, hit)| batches::wanted(&group.batch, pair, hit)).collect();
            backtrace::align(engine, &group.batch, &wanted).expect("paths");
        }
    }
    assert!(wrong.is_empty(), "{} differences: {:#?}", wrong.len(), &wrong[..wrong.len().min(20)]);
    count
}

fn scores(group: &Group<'_>, hits: &[HitEnd], wrong: &mut Vec<String>) {
    for (row, hit) in group.rows.iter().zip(hits) {
        let end = row.end.unwrap_or((hit.query_end, hit.target_end));
        if hit.score != row.local || (hit.score > 0 && (hit.query_end, hit.target_end) != end) {
            wrong.push(format!("{} {}: {hit:?}, expected {} at {end:?}", group.title, row.pair, row.local));
        }
    }
}

fn paths(engine: &mut dyn Engine, group: &Group<'_>, hits: &[HitEnd], wrong: &mut Vec<String>) {
    let found: Vec<usize> = (0..hits.len()).filter(|&index| hits[index].score > 0).collect();
    let wanted = |&index: &usize| batches::wanted(&group.batch, &group.pairs[index], &hits[index]);
    let wanted: Vec<_> = found.iter().map(wanted).collect();
    let alignments = backtrace::align(engine, &group.batch, &wanted)
        .unwrap_or_else(|error| panic!("{}, {}: {error}", engine.capabilities().name, group.title));
    assert_eq!(alignments.len(), found.len(), "{}", group.title);
    for (&index, alignment) in found.iter().zip(&alignments) {
        let (row, pair) = (group.rows[index], &group.pairs[index]);
        let (query, target) = (group.batch.query(pair.query), group.batch.target(pair.target));
        if let Err(problem) = check_path(alignment, query, target, &group.batch.scoring) {
            wrong.push(format!("{} {}: {problem}: {alignment:?}", group.title, row.pair));
        }
        let start = (alignment.query_start + 1, alignment.target_start + 1);
        if row.start.is_some_and(|expected| expected != start) {
            wrong
                .push(format!("{} {}: starts at {start:?}, expected {:?}", group.title, row.pair, row.start));
        }
    }
}

/// Checks a path: its runs are not empty, no two adjacent runs have the same operation, it begins and ends with a pair
/// of residues, it spans its intervals, and it rescores to its score.
pub fn check_path(
    alignment: &Alignment,
    query: &[u8],
    target: &[u8],
    scoring: &Scoring,
) -> Result<(), String> {
    let cigar = &alignment.cigar;
    if cigar.iter().any(|run| run.0 == 0) || cigar.windows(2).any(|runs| runs[0].1 == runs[1].1) {
        return Err("empty or divided runs".to_string());
    }
    if cigar.first().map(|run| run.1) != Some(PathOp::Match)
        || cigar.last().map(|run| run.1) != Some(PathOp::Match)
    {
        return Err("begins or ends with a gap".to_string());
    }
    let (mut i, mut j) = (alignment.query_start as usize, alignment.target_start as usize);
    let mut score = 0i64;
    for &(len, op) in cigar {
        if op != PathOp::Match {
            score -= i64::from(scoring.gap_open);
        }
        for _ in 0..len {
            match op {
                PathOp::Match => {
                    let (q, t) =
                        (query.get(i).ok_or("leaves the query")?, target.get(j).ok_or("leaves the target")?);
                    score += i64::from(scoring.score(*q, *t));
                }
                PathOp::Insertion | PathOp::Deletion => score -= i64::from(scoring.gap_extend),
            }
            i += usize::from(op != PathOp::Deletion);
            j += usize::from(op != PathOp::Insertion);
        }
    }
    if (i, j) != (alignment.query_end as usize, alignment.target_end as usize) {
        return Err(format!("ends at {i}, {j}"));
    }
    match score == i64::from(alignment.score) {
        true => Ok(()),
        false => Err(format!("rescores to {score}")),
    }
}
