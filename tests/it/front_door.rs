//! The library's interface: results are those of the specification, in order, from any number of threads, and errors
//! are worded for callers of the library. The programs of `examples/` run.

#[path = "../../examples/hits.rs"]
mod hits;
#[path = "../../examples/pair.rs"]
mod pair;
#[path = "../../examples/patterns.rs"]
mod patterns;
#[path = "../../examples/proteins.rs"]
mod proteins;
#[path = "../../examples/references.rs"]
mod references;
#[path = "../../examples/search.rs"]
mod search;
#[path = "../../examples/stream.rs"]
mod stream;
#[path = "../../examples/threads.rs"]
mod threads;

use crate::common::{batches, data, folder::Folder, random::Random, refused};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use swalign::engine::Engine;
use swalign::engine::plain::Plain;
use swalign::patterns::search::codes::TextCodes;
use swalign::patterns::search::pattern::SearchPattern;
use swalign::patterns::search::plain;
use swalign::patterns::search::{EndScan, MatchRule};
use swalign::{
    Aligner, AlignmentMode, Alphabet, Cigar, Device, EngineError, Error, ErrorKind, Hit, Match, Matrix, Op,
    PairAligner, PamSide, Records, Scoring, Searcher, SearcherBuilder, Significance, Strand, Targets,
    align_pair,
};

/// The best score of a pair, from the specification.
fn plain_score(query: &str, target: &str, scoring: &Scoring) -> i32 {
    let codes = |text: &str| [crate::common::codes(scoring.alphabet, text.as_bytes())];
    let batch = batches::of(codes(query), codes(target), scoring.clone());
    Plain::new().score(&batch, &batches::whole_pairs(&batch)).unwrap()[0].score
}

/// Recomputes the score of a hit's path from its residues, and checks the end of the path.
fn rescored(hit: &Hit, query: &str, target: &str, scoring: &Scoring) -> i64 {
    let query = match hit.strand() {
        Strand::Forward => query.as_bytes()[hit.query_range()].to_vec(),
        _ => swalign::terms::alphabet::reverse_complement(&query.as_bytes()[hit.query_range()]),
    };
    let (query, target) = (
        crate::common::codes(scoring.alphabet, &query),
        crate::common::codes(scoring.alphabet, &target.as_bytes()[hit.target_range()]),
    );
    let (mut q, mut t, mut score, mut matches) = (0, 0, 0, 0);
    for (len, op) in hit.cigar().runs() {
        let len = len as usize;
        match op {
            Op::Match => {
                score += scoring.score_all(&query[q..q + len], &target[t..t + len]);
                matches += (0..len).filter(|at| query[q + at] == target[t + at]).count();
                (q, t) = (q + len, t + len);
            }
            Op::Insertion => (score, q) = (score - scoring.gap_cost(len), q + len),
            Op::Deletion => (score, t) = (score - scoring.gap_cost(len), t + len),
            other => panic!("{other:?} in an alignment"),
        }
    }
    assert_eq!((q, t, matches), (query.len(), target.len(), hit.matches()));
    assert_eq!(hit.cigar_extended().to_basic(), hit.cigar());
    let columns =
        |of: Op| -> u32 { hit.cigar_extended().runs().filter(|(_, op)| *op == of).map(|(len, _)| len).sum() };
    let pairs: u32 = hit.cigar_basic().runs().filter(|(_, op)| *op == Op::Match).map(|(len, _)| len).sum();
    assert_eq!(columns(Op::Equal) as usize, hit.matches());
    assert_eq!(columns(Op::Equal) + columns(Op::Replaced), pairs);
    score
}

#[test]
fn pairs_are_those_of_the_specification() {
    let mut random = Random::new(11);
    for _ in 0..300 {
        let (rows, cols) = (1 + random.below(90), 1 + random.below(90));
        let (query, target) = (random.text(Alphabet::Dna, rows), random.text(Alphabet::Dna, cols));
        let scoring =
            Scoring::dna(1 + random.below(3) as i32, random.below(5) as i32, random.below(6) as i32, 1);
        let hit = align_pair(&query, &target, &scoring).unwrap();
        assert_eq!(
            hit.as_ref().map_or(0, Hit::score),
            plain_score(&query, &target, &scoring),
            "{query} {target}"
        );
        if let Some(hit) = hit {
            assert_eq!(rescored(&hit, &query, &target, &scoring), i64::from(hit.score()), "{query} {target}");
        }
    }
}

#[test]
fn hits_of_many_queries_in_order() {
    let mut random = Random::new(12);
    let texts: Vec<String> = (0..5).map(|_| random.text(Alphabet::Dna, 3_000)).collect();
    let names = ["a", "b", "c", "d", "e"];
    let targets = Targets::from_dna(names.iter().copied().zip(&texts)).unwrap();
    let scoring = Scoring::dna(1, 4, 6, 1);
    let build = |filter| {
        Aligner::builder(scoring.clone()).device(Device::Cpu).filter(filter).build(&targets).unwrap()
    };
    let (filtered, exhaustive) = (build(true), build(false));
    let mut queries = Vec::new();
    for number in 0..5_000 {
        let (text, from) = (&texts[number % 5], random.below(2_900));
        let read = &text[from..from + 60];
        queries.push(match number % 3 {
            0 => read.to_string(),
            1 => String::from_utf8(swalign::terms::alphabet::reverse_complement(read.as_bytes())).unwrap(),
            _ => read.to_ascii_lowercase(),
        });
    }
    let hits: Vec<Vec<Hit>> = filtered.align_all(&queries).map(Result::unwrap).collect();
    assert_eq!(hits.len(), queries.len());
    for (number, (hits, query)) in hits.iter().zip(&queries).enumerate() {
        let hit = &hits[0];
        assert_eq!((hit.target(), hit.target_name(), hit.score()), (number % 5, names[number % 5], 60));
        assert_eq!(hit.strand() == Strand::Reverse, number % 3 == 1);
        assert_eq!((hit.matches(), hit.edits(), hit.query_range()), (60, 0, 0..60));
        if number % 50 == 0 {
            assert_eq!(&exhaustive.align(query).unwrap(), hits);
        }
    }
}

/// The bases of a query's ends are equal to those of the target, also under an end bonus, which marks their codes.
#[test]
fn ends_with_a_bonus_are_matches() {
    let scoring = Scoring::dna(1, 4, 6, 1).with_end_bonus(5);
    let hit = align_pair("ACGTTGCATTCAGA", "CCACGTTGCATTCACACC", &scoring).unwrap().unwrap();
    assert_eq!((hit.matches(), hit.cigar_extended().to_string()), (13, "12=1X1=".to_string()));
    let aligner = Aligner::builder(scoring)
        .min_score(5)
        .device(Device::Cpu)
        .build(&Targets::from_dna([("t", "GGACGTTGCATTCACAGG")]).unwrap());
    let hit = &aligner.unwrap().align("TCTGAATGCAACGT").unwrap()[0];
    assert_eq!((hit.matches(), hit.cigar_extended().to_string()), (13, "12=1X1=".to_string()));
}

#[test]
fn one_query_that_is_refused_stops_no_other() {
    let targets = Targets::from_dna([("t", "ACGTTGCATTAGCCATGGATCCATTGCACGG")]).unwrap();
    let aligner = Aligner::builder(Scoring::dna(1, 4, 6, 1)).device(Device::Cpu).build(&targets).unwrap();
    let queries = ["ACGTTGCATTAGCCATGGATCC", "ACG!T", "", "CCGTGCAATGGATCCATGGCTAATG"];
    let answers: Vec<_> = aligner.align_all(queries).collect();
    assert_eq!(answers.len(), 4);
    assert_eq!(answers[0].as_ref().unwrap()[0].score(), 22);
    refused(answers[1].as_ref().unwrap_err(), ErrorKind::Usage, &["query: ", "'!' at position 3", "DNA"]);
    assert!(answers[2].as_ref().unwrap().is_empty());
    assert_eq!(answers[3].as_ref().unwrap()[0].strand(), Strand::Reverse);
    assert_eq!(aligner.align_all(["!"; 3]).filter(Result::is_err).count(), 3);
    assert_eq!(aligner.align_all::<[&str; 0]>([]).count(), 0);
}

#[test]
fn threads_share_an_aligner() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Aligner>();
    is_shared::<Targets>();
    is_shared::<Hit>();
    is_shared::<Searcher>();
    is_shared::<Match>();
    let mut random = Random::new(13);
    let text = random.text(Alphabet::Dna, 20_000);
    let targets = Targets::from_dna([("t", &text)]).unwrap();
    let aligner = Aligner::builder(Scoring::dna(1, 4, 6, 1)).device(Device::Cpu).build(&targets).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (aligner, text) = (&aligner, &text);
            scope.spawn(move || {
                for from in (thread * 1_000..19_000).step_by(500) {
                    let hits = aligner.align(&text[from..from + 100]).unwrap();
                    assert_eq!(hits[0].target_range(), from..from + 100);
                }
            });
        }
    });
}

#[test]
fn settings_are_refused_in_the_words_of_the_library() {
    let targets = Targets::from_dna([("t", "ACGT")]).unwrap();
    let says = |builder: swalign::AlignerBuilder, nouns: &[&str]| {
        refused(&builder.device(Device::Cpu).build(&targets).unwrap_err(), ErrorKind::Usage, nouns);
    };
    let dna = || Aligner::builder(Scoring::dna(1, 4, 6, 1));
    says(dna().min_score(0), &["min_score(0)", "at least 1"]);
    says(dna().max_hits(0), &["max_hits(0)", "at least 1"]);
    says(dna().secondary_ratio(f64::NAN), &["secondary_ratio(NaN)", "0 to 1"]);
    says(Aligner::builder(Scoring::dna(0, 4, 6, 1)), &["match 0", "1 to 1048576"]);
    says(Aligner::builder(Scoring::dna(1, 4, -6, 1)), &["gap_open -6", "0 to 1048576"]);
    let protein = Scoring::matrix(Alphabet::Protein, Matrix::named("BLOSUM62").unwrap(), 11, 1);
    says(Aligner::builder(protein), &["scoring is for protein", "targets are DNA"]);
    let error = Targets::from_dna([("x", "AC-T")]).unwrap_err();
    refused(&error, ErrorKind::Usage, &["target 'x': ", "'-' at position 2", "DNA"]);
    refused(&Targets::from_fasta("nosuch.fa").unwrap_err(), ErrorKind::Input, &["nosuch.fa"]);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), ">a,b\nACGT\n").unwrap();
    assert_eq!(Targets::from_fasta(file.path()).unwrap().name(0), Some("a,b"), "any name will do");
    let gone = dna().device(Device::GpuNamed("no such card".to_string())).build(&targets);
    assert!(matches!(gone, Err(Error::Engine(_))));
}

#[test]
fn no_targets_and_no_letters() {
    let none = Targets::from_dna::<&str, &str>([]).unwrap();
    let aligner = Aligner::builder(Scoring::dna(1, 4, 6, 1)).device(Device::Cpu).build(&none).unwrap();
    assert!(aligner.align("ACGTACGTACGTACGTACGTACGT").unwrap().is_empty());
    let scoring = Scoring::dna(1, 4, 6, 1);
    for (query, target) in [("", ""), ("A", ""), ("", "A"), ("A", "C"), ("N", "N")] {
        assert_eq!(align_pair(query, target, &scoring).unwrap(), None);
    }
}

/// All ends of the patterns and their reverse complements, from the specification: pattern, strand, end, edits and
/// path.
fn plain_matches(
    patterns: &[String],
    text: &str,
    rule: &MatchRule,
) -> Vec<(usize, Strand, usize, usize, String)> {
    let codes: Vec<u8> =
        crate::common::codes(Alphabet::Dna, text.as_bytes()).iter().map(|&code| code.min(4)).collect();
    let mut all = Vec::new();
    for (place, pattern) in patterns.iter().enumerate() {
        let pattern = SearchPattern::new(String::new(), pattern.as_bytes()).unwrap();
        for (strand, classes) in
            [(Strand::Forward, pattern.classes()), (Strand::Reverse, pattern.reverse_classes())]
        {
            let ends =
                plain::PlainScan.scan(&TextCodes::of(&codes), std::slice::from_ref(&classes), rule).unwrap();
            for end in ends {
                let aligned = plain::align(&classes, &codes, end.end as usize);
                let cigar: String = aligned
                    .path
                    .iter()
                    .map(|(len, op)| format!("{len}{}", char::from(op.letter())))
                    .collect();
                all.push((place, strand, end.end as usize, end.edits as usize, cigar));
            }
        }
    }
    all.sort();
    all
}

fn shown(found: &Match) -> (usize, Strand, usize, usize, String) {
    let cigar = found.cigar().runs().map(|(len, op)| format!("{len}{}", op.letter())).collect();
    (found.pattern(), found.strand(), found.range().end, found.edits(), cigar)
}

#[test]
fn matches_are_those_of_the_specification() {
    let mut random = Random::new(14);
    for edits in [0, 1, 3] {
        let texts: Vec<String> = (0..40).map(|text| random.text(Alphabet::Dna, text * 7)).collect();
        let patterns: Vec<String> = [5, 8, 21]
            .iter()
            .map(|&len| random.text(Alphabet::Dna, len))
            .chain(["ACNRT".to_string()])
            .collect();
        let named = patterns.iter().enumerate().map(|(place, pattern)| (format!("p{place}"), pattern));
        let searcher = Searcher::builder(named).device(Device::Cpu).max_edits(edits).every_end(true);
        let searcher = searcher.build().unwrap();
        let rule = MatchRule { max_edits: edits, indels: true };
        let found: Vec<Vec<Match>> = searcher.search_all(&texts).map(Result::unwrap).collect();
        assert_eq!(found.len(), texts.len());
        for (found, text) in found.iter().zip(&texts) {
            let mut all: Vec<_> = found.iter().map(shown).collect();
            all.sort();
            assert_eq!(all, plain_matches(&patterns, text, &rule), "{edits} edits, {text}");
            assert!(found.iter().all(|one| one.pattern_name() == format!("p{}", one.pattern())));
            assert_eq!(&searcher.search(text).unwrap(), found);
        }
    }
}

/// The text has more ends than a scan may return, so it is searched in halves.
#[test]
fn a_text_of_nothing_but_matches() {
    let text = "A".repeat(9 << 17);
    let build = |every| {
        let builder = Searcher::builder([("a", "AAAA")]).device(Device::Cpu).both_strands(false);
        builder.every_end(every).build().unwrap()
    };
    let ranges = |found: Vec<Match>| found.iter().map(Match::range).collect::<Vec<_>>();
    for every in [false, true] {
        let found = ranges(build(every).search(&text).unwrap());
        assert_eq!(found, (4..=text.len()).map(|end| end - 4..end).collect::<Vec<_>>());
    }
    let texts = ["AAAA", "", &text, "CAAAAC", ""];
    let counts: Vec<usize> = build(true).search_all(texts).map(|found| found.unwrap().len()).collect();
    assert_eq!(counts, [1, 0, text.len() - 3, 1, 0]);
}

/// Many guides next to a rare PAM are searched from the PAM, and a single guide is searched by a sweep. The matches are
/// the same.
#[test]
fn guides_are_found_from_their_pams() {
    let mut random = Random::new(31);
    let text = random.text(Alphabet::Dna, 200_000);
    let guides: Vec<String> = (0..300)
        .map(|_| {
            let at = random.below(text.len() - 20);
            text[at..at + 20].to_string()
        })
        .collect();
    let build = |guides: &[String]| {
        let named = guides.iter().map(|guide| (guide, guide));
        let builder = Searcher::builder(named).device(Device::Cpu).max_edits(3).pam("NGG", PamSide::Three);
        builder.build().unwrap()
    };
    let all = build(&guides).search(&text).unwrap();
    let mut count = 0;
    for guide in guides.iter().step_by(23) {
        let told = |found: &&Match| found.pattern_name() == guide;
        let key = |found: &Match| (found.range(), found.strand(), found.edits(), found.cigar().to_string());
        let of_all: Vec<_> = all.iter().filter(told).map(key).collect();
        let alone: Vec<_> =
            build(std::slice::from_ref(guide)).search(&text).unwrap().iter().map(key).collect();
        assert_eq!(of_all, alone, "{guide}");
        count += alone.len();
    }
    assert!(count > 0);
}

/// The stop flag ends a search of either kind before its answer.
#[test]
fn searches_are_stopped() {
    let text = Random::new(33).text(Alphabet::Dna, 10_000);
    let builder = Searcher::builder([("p", &text[100..130])]).device(Device::Cpu).max_edits(2);
    let many = Searcher::builder((0..300).map(|at| (at.to_string(), &text[at..at + 20]))).device(Device::Cpu);
    for builder in [builder, many.pam("NGG", PamSide::Three).max_edits(2)] {
        let flag = Arc::new(AtomicBool::new(false));
        let searcher = builder.stop_flag(Arc::clone(&flag)).build().unwrap();
        assert!(searcher.search(&text).is_ok_and(|found| !found.is_empty()));
        flag.store(true, Ordering::Relaxed);
        let stopped = searcher.search(&text).unwrap_err();
        assert!(matches!(stopped, Error::Engine(EngineError::Stopped)), "{stopped}");
    }
}

#[test]
fn searches_are_refused_in_the_words_of_the_library() {
    let says = |builder: SearcherBuilder, nouns: &[&str]| {
        refused(&builder.device(Device::Cpu).build().unwrap_err(), ErrorKind::Usage, nouns);
    };
    says(Searcher::builder([("p", "")]), &["pattern 'p': ", "empty"]);
    says(Searcher::builder([("p", "AC-T")]), &["pattern 'p': ", "'-' at position 2", "IUPAC"]);
    let limited = Searcher::builder([("p", "ACGT")]).max_edits(40).max_insertions(1);
    says(limited, &["40 edits", "one kind", "32"]);
    let builder = Searcher::builder([("p", "ACGT")]).device(Device::Cpu).max_edits(2).max_deletions(0);
    let searcher = builder.max_insertions(0).build().unwrap();
    let answers: Vec<_> = searcher.search_all(["AC!T", "ACCT", "TTTTTACGT"]).collect();
    refused(answers[0].as_ref().unwrap_err(), ErrorKind::Usage, &["text: ", "'!' at position 2", "DNA"]);
    assert_eq!(answers[1].as_ref().unwrap().iter().map(Match::edits).min(), Some(1));
    assert!(answers[2].as_ref().unwrap().iter().all(|found| found.range().len() == 4));
    let none = Searcher::builder::<&str, &str>([]).device(Device::Cpu).build().unwrap();
    assert!(none.search("ACGT").unwrap().is_empty());
}

/// Each alignment provides its path in both CIGAR dialects, and parsing a CIGAR returns the path.
#[test]
fn dialects_of_a_path() {
    let scoring = Scoring::builder(Alphabet::Dna).match_score(2).mismatch(1).build().unwrap();
    let hit = align_pair("ACGTNACGTA", "ACGTNACCTA", &scoring).unwrap().unwrap();
    assert_eq!((hit.cigar_basic().to_string(), hit.cigar()), ("10M".to_string(), hit.cigar_basic()));
    assert_eq!(hit.cigar_extended().to_string(), "4=1X2=1X2=", "N is equal to nothing");
    let searcher = Searcher::builder([("p", "GATNACA")]).device(Device::Cpu).max_edits(1).build().unwrap();
    let found = &searcher.search("CCGATCAGACC").unwrap()[0];
    assert_eq!(found.cigar_basic(), found.cigar_extended().to_basic());
    assert_eq!(found.cigar(), found.cigar_extended());
    for text in ["", "10M", "4=1X2=1X2=", "3M2I1D4="] {
        assert_eq!(text.parse::<Cigar>().unwrap().to_string(), text);
    }
    assert_eq!("2M3M".parse::<Cigar>().unwrap().to_string(), "5M");
    for text in ["M", "3", "0M", "2S", "4294967296M", "4294967295M1M", "-1M"] {
        assert_eq!(text.parse::<Cigar>().unwrap_err().kind(), ErrorKind::Usage, "{text}");
    }
}

#[test]
fn scorings_by_the_names_of_their_numbers() {
    let dna = || Scoring::builder(Alphabet::Dna);
    // The preset for reads has a lower penalty of ambiguous codes, as in bwa.
    assert_eq!(dna().build().unwrap(), Scoring::dna(1, 4, 6, 1));
    assert_eq!(dna().ambiguous(1).build().unwrap(), Scoring::preset("short").unwrap());
    assert_eq!(
        dna().match_score(2).mismatch(3).gap_open(5).gap_extend(2).build().unwrap(),
        Scoring::dna(2, 3, 5, 2)
    );
    // A penalty that is given stays, and without one ambiguous codes never cost more than a mismatch.
    let blastn = || Scoring::preset("blastn").unwrap().to_builder();
    assert_eq!(blastn().mismatch(5).build().unwrap(), Scoring::dna(2, 5, 5, 2));
    assert_eq!(dna().mismatch(0).build().unwrap(), Scoring::dna(1, 0, 6, 1));
    assert_eq!(blastn().ambiguous(7).build().unwrap(), Scoring::dna(2, 3, 5, 2).with_ambiguous(7));
    assert_eq!(blastn().iupac().build().unwrap(), Scoring::dna(2, 3, 5, 2).with_iupac());
    let protein = Scoring::builder(Alphabet::Protein);
    assert_eq!(protein.clone().build().unwrap(), Scoring::preset("protein").unwrap());
    let matrix = Matrix::named("BLOSUM50").unwrap();
    let by_matrix = protein.clone().matrix(matrix.clone());
    assert_eq!(by_matrix.clone().build().unwrap(), Scoring::matrix(Alphabet::Protein, matrix.clone(), 13, 2));
    let scoring = by_matrix.gap_open(9).mode(AlignmentMode::Glocal).build().unwrap();
    assert_eq!((scoring.gap_open, scoring.gap_extend, scoring.mode), (9, 2, AlignmentMode::Glocal));
    assert_eq!(scoring.to_builder().build().unwrap(), scoring);
    for refused in [
        dna().match_score(0),
        dna().gap_extend(0),
        dna().ambiguous(-1),
        dna().match_score(200).iupac(),
        protein.clone().iupac(),
        dna().matrix(matrix.clone()),
        protein.clone().mismatch(3),
        protein.matrix(matrix).match_score(1),
    ] {
        assert_eq!(refused.build().unwrap_err().kind(), ErrorKind::Usage);
    }
}

#[test]
fn errors_have_kinds() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("wrong.fa");
    std::fs::write(&file, ">a\nAC!T\n").unwrap();
    assert_eq!(Targets::from_fasta(&file).unwrap_err().kind(), ErrorKind::Input);
    assert_eq!(Targets::from_fasta(folder.path().join("none.fa")).unwrap_err().kind(), ErrorKind::Input);
    assert_eq!(Targets::from_dna([("t", "AC!T")]).unwrap_err().kind(), ErrorKind::Usage);
    let searcher = Searcher::builder([("p", "A")]).device(Device::GpuNamed("no such card".to_string()));
    assert_eq!(searcher.build().unwrap_err().kind(), ErrorKind::NoDevice);
    let text = |text: &str| text.to_string();
    for (error, kind) in [
        (EngineError::Threads(text("none")), ErrorKind::OutOfMemory),
        (EngineError::OutOfMemory(text("none")), ErrorKind::OutOfMemory),
        (EngineError::Lost(text("gone")), ErrorKind::Device),
        (EngineError::Stopped, ErrorKind::Stopped),
        (EngineError::Internal(text("bug")), ErrorKind::Internal),
    ] {
        assert_eq!(Error::from(error).kind(), kind);
    }
}

/// The `main` function of a program in `examples/`.
type Program = fn() -> Result<(), Box<dyn std::error::Error>>;

const EXAMPLES: [(&str, Program); 8] = [
    ("hits", || Ok(hits::main()?)),
    ("pair", || Ok(pair::main()?)),
    ("patterns", || Ok(patterns::main()?)),
    ("proteins", || Ok(proteins::main()?)),
    ("references", || Ok(references::main()?)),
    ("search", || search::main()),
    ("stream", || stream::main()),
    ("threads", || Ok(threads::main()?)),
];

/// Environment variable that names the example to run in a subprocess of this test.
const EXAMPLE: &str = "SWALIGN_EXAMPLE";
/// Lines before and after the output of an example.
const OUTPUT: [&str; 2] = ["--- output of the example", "--- end of the output"];

/// Runs an example in the root of the repository, which contains its files. It does nothing unless [`output_of`]
/// starts it in a subprocess.
#[test]
fn one_example_runs() {
    let Some(name) = std::env::var_os(EXAMPLE) else { return };
    let (_, program) = EXAMPLES.iter().find(|(known, _)| name == *known).unwrap();
    std::env::set_current_dir(crate::common::repository()).unwrap();
    println!("\n{}", OUTPUT[0]);
    program().unwrap();
    println!("{}", OUTPUT[1]);
}

/// The output of an example.
fn output_of(name: &str) -> String {
    let mut test = assert_cmd::Command::new(std::env::current_exe().unwrap());
    test.args(["--exact", "front_door::one_example_runs", "--nocapture"]).env(EXAMPLE, name);
    let outcome =
        test.write_stdin("GATTACAGATTACA\nGCAGTGGGGAATATTGGACAATGGGCGAAAGCCTGATCCAGC\n").output().unwrap();
    let text = String::from_utf8(outcome.stdout).unwrap();
    assert!(outcome.status.success(), "{name}: {text}{}", String::from_utf8_lossy(&outcome.stderr));
    let mut lines = text.lines().skip_while(|line| *line != OUTPUT[0]).skip(1);
    lines.by_ref().take_while(|line| *line != OUTPUT[1]).map(|line| format!("{line}\n")).collect()
}

/// The first code block of this kind in a text, and the text after the block.
fn block<'a>(text: &'a str, kind: &str) -> (&'a str, &'a str) {
    let begin = format!("```{kind}\n");
    let (_, after) = text.split_once(&*begin).unwrap_or_else(|| panic!("no block of {kind}"));
    after.split_once("```\n").unwrap()
}

#[test]
fn the_examples_print_what_they_say() {
    for (name, _) in EXAMPLES {
        let path = crate::common::repository().join(format!("examples/{name}.rs"));
        let text = std::fs::read_to_string(path).unwrap();
        let doc: String = text
            .lines()
            .map_while(|line| line.strip_prefix("//!"))
            .map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line)))
            .collect();
        assert_eq!(output_of(name), block(&doc, "text").0, "{name}");
    }
}

/// README.md contains two of the examples, each followed by its output.
#[test]
fn the_examples_of_the_readme_print_what_it_says() {
    let readme = std::fs::read_to_string(crate::common::repository().join("README.md")).unwrap();
    let mut rest = &*readme;
    for name in ["hits", "patterns"] {
        let code;
        (code, rest) = block(rest, "rust");
        let example = crate::common::repository().join(format!("examples/{name}.rs"));
        let example = std::fs::read_to_string(example).unwrap();
        let own = example.split_once("\n\n").unwrap().1.replace("pub fn main", "fn main");
        assert_eq!(code, own, "{name}");
        let output;
        (output, rest) = block(rest, "text");
        assert_eq!(output, output_of(name), "{name}");
    }
    assert!(!rest.contains("```rust"));
}

/// A PAM and a limit of gaps, like in the command.
#[test]
fn searches_with_a_pam() {
    let builder = || Searcher::builder([("g", "ACGTTGCATTAG")]).device(Device::Cpu).max_edits(2);
    let found = |searcher: Searcher| -> Vec<_> {
        let matches = searcher.search("AAACGTTGCATTAGTGGACCAATAATGCAACGT").unwrap();
        matches.iter().map(|one| (one.range(), one.edits())).collect()
    };
    assert_eq!(found(builder().pam("NGG", PamSide::Three).build().unwrap()), [(2..14, 0), (21..33, 1)]);
    assert_eq!(found(builder().pam("NAA", PamSide::Five).max_gaps(0).build().unwrap()), []);
    let told = |letters: &str| builder().pam(letters, PamSide::Three).build().unwrap_err().to_string();
    assert!(told("").contains("1 to 32") && told("NX").contains("'X'"));
}

/// Many pairs in one call, on both strands and in order, including invalid pairs.
#[test]
fn pairs_of_both_strands() {
    let mut random = Random::new(31);
    let scoring = Scoring::dna(1, 4, 6, 1);
    let aligner = PairAligner::builder(scoring.clone()).both_strands(true).build().unwrap();
    let lengths = [1, 7, 8, 9, 31, 32, 33, 64, 90];
    let mut pairs = Vec::new();
    for number in 0..600 {
        let (rows, cols) = (random.pick(&lengths), random.pick(&lengths));
        let query = random.text(Alphabet::Dna, rows);
        let mut target = random.text(Alphabet::Dna, cols);
        match number % 3 {
            0 => target.push_str(&query),
            1 => target.push_str(&reverse_complement(&query)),
            _ => {}
        }
        pairs.push((query, target));
    }
    let answers: Vec<Option<Hit>> =
        aligner.align_all(pairs.iter().map(|(q, t)| (q, t))).map(Result::unwrap).collect();
    assert_eq!(answers.len(), pairs.len());
    for (answer, (query, target)) in answers.iter().zip(&pairs) {
        let forward = plain_score(query, target, &scoring);
        let reverse = plain_score(&reverse_complement(query), target, &scoring);
        assert_eq!(answer.as_ref().map_or(0, Hit::score), forward.max(reverse), "{query} {target}");
        let Some(hit) = answer else { continue };
        assert_eq!(hit.strand() == Strand::Reverse, reverse > forward, "{query} {target}");
        assert_eq!(rescored(hit, query, target, &scoring), i64::from(hit.score()), "{query} {target}");
        // `Aligner` finds the same hit.
        let targets = Targets::from_dna([("target", target)]).unwrap();
        let of_targets =
            Aligner::builder(scoring.clone()).device(Device::Cpu).min_score(1).build(&targets).unwrap();
        assert_eq!(of_targets.align(query).unwrap().first(), Some(hit), "{query} {target}");
    }
    let mixed = [("ACGT", "AC!T"), ("ACGT", "ACGT"), ("", "ACGT"), ("?", "A")];
    let answers: Vec<_> = aligner.align_all(mixed).collect();
    refused(answers[0].as_ref().unwrap_err(), ErrorKind::Usage, &["target: ", "'!' at position 2", "DNA"]);
    assert_eq!(answers[1].as_ref().unwrap().as_ref().map(Hit::score), Some(4));
    assert_eq!(answers[2].as_ref().unwrap(), &None);
    assert_eq!(
        answers[3].as_ref().unwrap_err().to_string(),
        "query: '?' at position 0 is not a residue of DNA"
    );
    let demanding = PairAligner::builder(scoring.clone()).min_score(5).build().unwrap();
    assert_eq!(demanding.align("ACGT", "ACGT").unwrap(), None);
    assert!(PairAligner::builder(scoring).min_score(0).build().is_err());
}

fn reverse_complement(letters: &str) -> String {
    String::from_utf8(swalign::terms::alphabet::reverse_complement(letters.as_bytes())).unwrap()
}

/// In the other modes, scores may be negative, and every pair of nonempty sequences has an alignment, except in overlap
/// mode.
#[test]
fn pairs_in_other_modes() {
    let mut random = Random::new(32);
    for mode in [AlignmentMode::Glocal, AlignmentMode::Global, AlignmentMode::Overlap] {
        let scoring = Scoring::dna(2, 3, 5, 2).in_mode(mode);
        let aligner = PairAligner::builder(scoring.clone()).build().unwrap();
        for _ in 0..60 {
            let (rows, cols) = (1 + random.below(40), 1 + random.below(40));
            let (query, target) = (random.text(Alphabet::Dna, rows), random.text(Alphabet::Dna, cols));
            let Some(hit) = aligner.align(&query, &target).unwrap() else {
                assert_eq!(mode, AlignmentMode::Overlap, "{query} {target}");
                continue;
            };
            assert_eq!(hit.score(), plain_score(&query, &target, &scoring), "{mode} {query} {target}");
            assert_eq!(
                rescored(&hit, &query, &target, &scoring),
                i64::from(hit.score()),
                "{mode} {query} {target}"
            );
        }
    }
}

#[test]
fn scores_of_all_with_all() {
    let mut random = Random::new(33);
    let texts: Vec<String> = (0..23).map(|place| random.text(Alphabet::Dna, place * 5)).collect();
    let targets = Targets::from_dna(texts[..9].iter().map(|text| ("", text))).unwrap();
    let scoring = Scoring::dna(1, 1, 0, 2);
    for both in [false, true] {
        let builder = Aligner::builder(scoring.clone()).device(Device::Cpu).both_strands(both);
        let aligner = builder.build(&targets).unwrap();
        let rows: Vec<Vec<i32>> = aligner.score_all(&texts, &targets).map(Result::unwrap).collect();
        assert_eq!(rows.len(), texts.len());
        for (query, row) in texts.iter().zip(rows) {
            let score = |target: &String| {
                let forward = plain_score(query, target, &scoring);
                if both {
                    forward.max(plain_score(&reverse_complement(query), target, &scoring))
                } else {
                    forward
                }
            };
            assert_eq!(row, texts[..9].iter().map(score).collect::<Vec<i32>>(), "{query}");
        }
        let none = Targets::from_dna::<&str, &str>([]).unwrap();
        let rows: Vec<Vec<i32>> = aligner.score_all(["ACGT", "A"], &none).map(Result::unwrap).collect();
        assert_eq!(rows, [Vec::new(), Vec::new()]);
        let mixed: Vec<_> = aligner.score_all(["AC!T", "ACGT"], &targets).collect();
        assert!(mixed[0].is_err() && mixed[1].is_ok());
    }
    let global = scoring.in_mode(AlignmentMode::Global);
    let aligner = Aligner::builder(global).device(Device::Cpu).build(&targets).unwrap();
    let error = aligner.score_all(["ACGT"], &targets).next().unwrap().unwrap_err();
    assert!(error.to_string().contains("empty sequence"), "{error}");
    let proteins = Targets::from_protein([("p", "MKV")]).unwrap();
    assert!(aligner.score_all(["ACGT"], &proteins).next().unwrap().is_err());
}

/// A database of `swalign index` as targets, and its residues.
#[test]
fn targets_of_a_database() {
    let (folder, fasta) = (Folder::new(), data("16s_20.fa"));
    folder.done(&["index", fasta.to_str().unwrap(), "-o", "16s.swdb"]);
    let file = folder.file("16s.swdb");
    let (mapped, read) = (Targets::open(&file).unwrap(), Targets::open(&fasta).unwrap());
    assert_eq!(mapped.len(), read.len());
    let all = |targets: &Targets, place: usize| targets.letters(place, 0..targets.length(place).unwrap());
    assert!((0..read.len()).all(|place| all(&mapped, place) == all(&read, place)));
    let records: Vec<_> = Records::open(&fasta).unwrap().map(Result::unwrap).collect();
    assert_eq!(records[3].letters, all(&read, 3).unwrap());
    let build = |targets: &Targets| {
        Aligner::builder(Scoring::dna(1, 4, 6, 1)).device(Device::Cpu).max_hits(3).build(targets).unwrap()
    };
    let (of_mapped, of_read) = (build(&mapped), build(&read));
    for record in &records {
        let query = &record.letters[100..300];
        assert_eq!(of_mapped.align(query).unwrap(), of_read.align(query).unwrap());
    }
    let searcher =
        Searcher::builder([("515F", "GTGYCAGCMGCCGCGGTAA")]).max_edits(2).build_beside(&of_mapped).unwrap();
    let found = searcher.search_targets(&mapped).unwrap();
    let each: Vec<_> = records.iter().map(|record| searcher.search(record).unwrap()).collect();
    assert!(found == each && found.iter().all(|found| !found.is_empty()));
    let proteins = Targets::from_protein([("p", "MKV")]).unwrap();
    assert!(searcher.search_targets(&proteins).is_err());
    for path in [&file, &fasta] {
        assert_eq!(Targets::open_as(path, Alphabet::Dna).unwrap().len(), read.len());
    }
    let error = Targets::open_as(&file, Alphabet::Protein).unwrap_err();
    refused(&error, ErrorKind::Usage, &["16s.swdb", "DNA", "protein"]);
    assert_eq!(Targets::open_as(&fasta, Alphabet::Protein).unwrap().alphabet(), Alphabet::Protein);
}

/// An error of a whole batch is the last item, so that later items are not attributed to other queries.
#[test]
fn nothing_comes_after_a_failure() {
    let (folder, fasta) = (Folder::new(), data("16s_20.fa"));
    folder.done(&["index", fasta.to_str().unwrap(), "-o", "16s.swdb"]);
    let file = folder.file("16s.swdb");
    let mut bytes = std::fs::read(&file).unwrap();
    let letters = Records::open(&fasta).unwrap().next().unwrap().unwrap().letters;
    let codes: Vec<u8> = letters.iter().map(|&letter| Alphabet::Dna.code(letter).unwrap()).collect();
    let at = bytes.windows(codes.len()).position(|window| window == codes).unwrap();
    bytes[at] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let targets = Targets::open(&file).unwrap();
    let aligner =
        Aligner::builder(Scoring::dna(1, 4, 6, 1)).device(Device::Cpu).filter(false).build(&targets).unwrap();
    // More queries than fit into one batch.
    let queries = || (0..10_000).map(|_| "ACGTTGCATTAGCCATGGATCC");
    let hits: Vec<_> = aligner.align_all(queries()).collect();
    assert!(hits.len() < 10_000 && hits.last().unwrap().is_err(), "{}", hits.len());
    assert!(hits[..hits.len() - 1].iter().all(Result::is_ok));
    let scores: Vec<_> = aligner.score_all(queries(), &targets).collect();
    assert!(scores.len() < 10_000 && scores.last().unwrap().is_err(), "{}", scores.len());
}

#[test]
fn letters_of_targets() {
    let targets = Targets::from_dna([("a", "acguRN"), ("b", "")]).unwrap();
    assert_eq!(targets.letters(0, 0..6).as_deref(), Some(&b"ACGTRN"[..]));
    assert_eq!(targets.letters(1, 0..0).as_deref(), Some(&b""[..]));
    assert_eq!(
        [targets.letters(0, 0..7), targets.letters(2, 0..0), targets.letters(1, 0..1)],
        [None, None, None]
    );
}

/// Empty targets have no hits in any mode, and do not change the hits of other targets.
#[test]
fn empty_targets_have_no_hits() {
    let mut random = Random::new(4);
    let targets: Vec<Vec<u8>> = (0..20).map(|_| random.sequence(Alphabet::Dna, 30)).collect();
    let queries: Vec<Vec<u8>> =
        targets.iter().map(|target| random.mutated(Alphabet::Dna, target, 8)).collect();
    for (mode, name) in AlignmentMode::ALL {
        let scoring = Scoring::dna(2, 4, 4, 2).in_mode(mode);
        let least = if mode == AlignmentMode::Local { 1 } else { -1000 };
        let hits = |places_of_empty: &[usize]| -> Vec<Vec<(String, i32, String)>> {
            let mut named: Vec<(String, &[u8])> =
                targets.iter().enumerate().map(|(at, target)| (at.to_string(), &target[..])).collect();
            for &at in places_of_empty {
                named.insert(at, ("empty".to_string(), &[]));
            }
            let targets = Targets::from_dna(named).unwrap();
            let aligner = Aligner::builder(scoring.clone()).device(Device::Cpu).max_hits(30).min_score(least);
            let aligner = aligner.build(&targets).unwrap();
            let told =
                |hit: &swalign::Hit| (hit.target_name().to_string(), hit.score(), hit.cigar().to_string());
            aligner.align_all(&queries).map(|hits| hits.unwrap().iter().map(told).collect()).collect()
        };
        let expected = hits(&[]);
        assert!(expected.iter().all(|hits| !hits.is_empty()), "{name}");
        for places in [&[0][..], &[20], &[7, 7, 9]] {
            assert_eq!(hits(places), expected, "{name}, empty ones at {places:?}");
        }
    }
}

/// With many targets, only a few queries are read ahead.
#[test]
fn many_targets_meet_few_queries_at_a_time() {
    let targets = Targets::from_dna((0..200_000).map(|at| (format!("{at}"), "A"))).unwrap();
    let aligner = Aligner::builder(Scoring::dna(2, 4, 4, 2)).device(Device::Cpu).build(&targets).unwrap();
    let mut taken = 0;
    let queries = (0..1000).map(|_| "ACGT").inspect(|_| taken += 1);
    let hits = aligner.align_all(queries).next().unwrap().unwrap();
    assert!(hits.is_empty());
    assert!((2..100).contains(&taken), "{taken} queries at a time");
}

/// E-values of searches and of pairs are those of the command.
#[test]
fn evalues_of_hits() {
    let targets = Targets::from_fasta(crate::common::repository().join("data/uniprot_60.fa")).unwrap();
    let scoring = Scoring::preset("protein").unwrap();
    let of_search = Significance::of_search(&scoring, &targets).unwrap().unwrap();
    // Compares with blastp's E-value in tests/golden/blastp_uniprot_60.tsv: score 973 for 194 residues against 194
    // residues.
    let (evalue, bits) = (of_search.evalue(973, 194, 194), of_search.bits(973).trunc());
    assert_eq!(format!("{evalue:.2e} {bits}"), "2.38e-139 379");
    let of_pairs = Significance::of_pairs(&scoring).unwrap().unwrap();
    assert!(of_pairs.evalue(100, 194, 194) < of_search.evalue(100, 194, 194));
    assert_eq!(of_pairs.bits(100), of_search.bits(100));
    assert!(Significance::of_pairs(&Scoring::dna(1, 0, 1, 1)).unwrap().is_none());
    let global = scoring.in_mode(AlignmentMode::Global);
    assert!(Significance::of_pairs(&global).unwrap().is_none());
    assert!(Significance::of_pairs(&Scoring::dna(0, 0, 1, 1)).is_err());
}

#[test]
fn presets_by_name() {
    let made: Vec<Scoring> = Scoring::PRESETS.iter().map(|name| Scoring::preset(name).unwrap()).collect();
    let protein = &made[made.len() - 1];
    assert_eq!(made[0], Scoring::dna(1, 4, 6, 1).with_ambiguous(1));
    assert_eq!(*protein, Scoring::matrix(Alphabet::Protein, Matrix::named("BLOSUM62").unwrap(), 11, 1));
    assert_eq!(Scoring::preset("ont"), None);
    // The numbers of minimap2 2.24.
    let two = |(match_, mismatch), [(open, extend), (second, last)]: [(i32, i32); 2]| {
        let scoring = Scoring::dna(match_, mismatch, open, extend).with_ambiguous(1);
        Some(scoring.with_gap_piece(second, last).unwrap())
    };
    for (names, expected) in [
        (&["map-hifi", "asm20"][..], two((1, 4), [(6, 2), (26, 1)])),
        (&["map-ont", "map-pb"], two((2, 4), [(4, 2), (24, 1)])),
        (&["asm5"], two((1, 19), [(39, 3), (81, 1)])),
        (&["asm10"], two((1, 9), [(16, 2), (41, 1)])),
    ] {
        names.iter().for_each(|name| assert_eq!(Scoring::preset(name), expected, "{name}"));
    }
    let blastn = Scoring::preset("blastn").unwrap();
    assert_eq!((blastn.match_and_mismatch(), protein.match_and_mismatch()), (Some((2, 3)), None));
    assert_eq!(protein.substitution_matrix().map(|matrix| matrix.name.as_str()), Some("BLOSUM62"));
    assert_eq!([protein.of_letters(b'W', b'w'), made[0].of_letters(b'!', b'A')], [Some(11), None]);
}
