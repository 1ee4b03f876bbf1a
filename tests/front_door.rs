//! The library's front door: what it answers is what the specification answers, in order, from any number of threads, and
//! what it refuses is said in its own words. The programs of `examples/` run.

mod common;

#[path = "../examples/pair.rs"]
mod pair;
#[path = "../examples/proteins.rs"]
mod proteins;
#[path = "../examples/references.rs"]
mod references;
#[path = "../examples/search.rs"]
mod search;
#[path = "../examples/stream.rs"]
mod stream;
#[path = "../examples/threads.rs"]
mod threads;

use common::random::Random;
use std::sync::Arc;
use swalign::batch::{Batch, Pair};
use swalign::engine::Engine;
use swalign::engine::plain::Plain;
use swalign::search::codes::Codes;
use swalign::search::pattern::Pattern;
use swalign::search::plain;
use swalign::search::{Rule, Scan};
use swalign::{
    Aligner, AlignmentMode, Alphabet, Device, Error, Hit, Match, Matrix, Op, PairAligner, PamSide, Records,
    Scoring, Searcher, SearcherBuilder, Significance, Strand, Targets, align_pair,
};

/// The best score of a pair by the specification.
fn plain_score(query: &str, target: &str, scoring: &Scoring) -> i32 {
    let sequences =
        |text: &str| [common::codes(scoring.alphabet, text.as_bytes()).as_slice()].into_iter().collect();
    let batch = Batch {
        queries: Arc::new(sequences(query)),
        targets: Arc::new(sequences(target)),
        scoring: Arc::new(scoring.clone()),
    };
    let pair = Pair { query: 0, target: 0, start: 0, own: 0, end: target.len() as u32 };
    Plain::new().score(&batch, &[pair]).unwrap()[0].score
}

/// The score of a hit's path, and where it ends, counted letter by letter.
fn rescored(hit: &Hit, query: &str, target: &str, scoring: &Scoring) -> i64 {
    let query = match hit.strand() {
        Strand::Forward => query.as_bytes()[hit.query_range()].to_vec(),
        Strand::Reverse => swalign::alphabet::reverse_complement(&query.as_bytes()[hit.query_range()]),
    };
    let (query, target) = (
        common::codes(scoring.alphabet, &query),
        common::codes(scoring.alphabet, &target.as_bytes()[hit.target_range()]),
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
            1 => String::from_utf8(swalign::alphabet::reverse_complement(read.as_bytes())).unwrap(),
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

#[test]
fn one_query_that_is_refused_stops_no_other() {
    let targets = Targets::from_dna([("t", "ACGTTGCATTAGCCATGGATCCATTGCACGG")]).unwrap();
    let aligner = Aligner::builder(Scoring::dna(1, 4, 6, 1)).device(Device::Cpu).build(&targets).unwrap();
    let queries = ["ACGTTGCATTAGCCATGGATCC", "ACG!T", "", "CCGTGCAATGGATCCATGGCTAATG"];
    let answers: Vec<_> = aligner.align_all(queries).collect();
    assert_eq!(answers.len(), 4);
    assert_eq!(answers[0].as_ref().unwrap()[0].score(), 22);
    assert_eq!(answers[1].as_ref().unwrap_err().to_string(), "query: '!' at place 3 is no letter of DNA");
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
    let says = |builder: swalign::AlignerBuilder, text: &str| {
        let error = builder.device(Device::Cpu).build(&targets).unwrap_err();
        assert!(matches!(error, Error::Usage(_)));
        assert_eq!(error.to_string(), text);
    };
    let dna = || Aligner::builder(Scoring::dna(1, 4, 6, 1));
    says(dna().min_score(0), "min_score(0): give at least 1");
    says(dna().max_hits(0), "max_hits(0): give at least 1");
    says(dna().secondary_ratio(f64::NAN), "secondary_ratio(NaN): give 0 to 1");
    says(Aligner::builder(Scoring::dna(0, 4, 6, 1)), "match 0 is out of range; give 1 to 1048576");
    says(Aligner::builder(Scoring::dna(1, 4, -6, 1)), "gap_open -6 is out of range; give 0 to 1048576");
    let protein = Scoring::matrix(Alphabet::Protein, Matrix::named("BLOSUM62").unwrap(), 11, 1);
    says(Aligner::builder(protein), "the scoring is for protein, the targets are DNA");
    let error = Targets::from_dna([("x", "AC-T")]).unwrap_err();
    assert_eq!(error.to_string(), "target 'x': '-' at place 2 is no letter of DNA");
    assert!(Targets::from_fasta("nosuch.fa").unwrap_err().to_string().contains("no such file"));
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

/// Every end of a pattern and of its reverse complement, by the specification: pattern, strand, end, edits and path.
fn plain_matches(patterns: &[String], text: &str, rule: &Rule) -> Vec<(usize, Strand, usize, usize, String)> {
    let codes: Vec<u8> =
        common::codes(Alphabet::Dna, text.as_bytes()).iter().map(|&code| code.min(4)).collect();
    let mut all = Vec::new();
    for (place, pattern) in patterns.iter().enumerate() {
        let pattern = Pattern::new(String::new(), pattern.as_bytes()).unwrap();
        for (strand, classes) in
            [(Strand::Forward, pattern.classes()), (Strand::Reverse, pattern.reverse_classes())]
        {
            let ends = plain::Plain.scan(&Codes::of(&codes), std::slice::from_ref(&classes), rule).unwrap();
            for end in ends {
                let aligned = plain::align(&classes, &codes, end.end as usize);
                let cigar: String = aligned.path.iter().map(|(len, step)| format!("{len}{step:?}")).collect();
                all.push((place, strand, end.end as usize, end.edits as usize, cigar));
            }
        }
    }
    all.sort();
    all
}

fn shown(found: &Match) -> (usize, Strand, usize, usize, String) {
    let cigar = found.cigar().runs().map(|(len, op)| format!("{len}{op:?}")).collect();
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
        let rule = Rule { max_edits: edits, indels: true };
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

/// More ends than a scan may find, so that the text is searched half by half.
#[test]
fn a_text_of_nothing_but_matches() {
    let text = "A".repeat(9 << 17);
    let build = |every| {
        let builder = Searcher::builder([("a", "AAAA")]).device(Device::Cpu).both_strands(false);
        builder.every_end(every).build().unwrap()
    };
    let ranges = |found: Vec<Match>| found.iter().map(Match::range).collect::<Vec<_>>();
    assert_eq!(ranges(build(false).search(&text).unwrap()), std::slice::from_ref(&(0..4)));
    let found = ranges(build(true).search(&text).unwrap());
    assert_eq!(found, (4..=text.len()).map(|end| end - 4..end).collect::<Vec<_>>());
    let texts = ["AAAA", "", &text, "CAAAAC", ""];
    let counts: Vec<usize> = build(true).search_all(texts).map(|found| found.unwrap().len()).collect();
    assert_eq!(counts, [1, 0, text.len() - 3, 1, 0]);
}

#[test]
fn searches_are_refused_in_the_words_of_the_library() {
    let says = |builder: SearcherBuilder, text: &str| {
        let error = builder.device(Device::Cpu).build().unwrap_err();
        assert!(matches!(error, Error::Usage(_)));
        assert_eq!(error.to_string(), text);
    };
    says(Searcher::builder([("p", "")]), "pattern 'p': it has no letters");
    says(Searcher::builder([("p", "AC-T")]), "pattern 'p': '-' at place 2 is no IUPAC code of DNA");
    says(
        Searcher::builder([("p", "ACGT")]).max_edits(40).max_insertions(1),
        "max_edits(40) with a limit of one kind of edits: give at most 32",
    );
    let builder = Searcher::builder([("p", "ACGT")]).device(Device::Cpu).max_edits(2).max_deletions(0);
    let searcher = builder.max_insertions(0).build().unwrap();
    let answers: Vec<_> = searcher.search_all(["AC!T", "ACCT", "TTTTTACGT"]).collect();
    assert_eq!(answers[0].as_ref().unwrap_err().to_string(), "text: '!' at place 2 is no letter of DNA");
    assert_eq!(answers[1].as_ref().unwrap().iter().map(Match::edits).min(), Some(1));
    assert!(answers[2].as_ref().unwrap().iter().all(|found| found.range().len() == 4));
    let none = Searcher::builder::<&str, &str>([]).device(Device::Cpu).build().unwrap();
    assert!(none.search("ACGT").unwrap().is_empty());
}

/// They stand in the repository's folder, where their files are.
#[test]
fn the_examples_run() {
    std::env::set_current_dir(common::repository()).unwrap();
    pair::main().unwrap();
    references::main().unwrap();
    proteins::main().unwrap();
    search::main().unwrap();
    stream::main().unwrap();
    threads::main().unwrap();
}

/// A PAM and a limit of gaps, as the command has them.
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

/// Many pairs at once, on both strands, in order, beside pairs that are refused.
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
        // The aligner of queries has the same one.
        let targets = Targets::from_dna([("target", target)]).unwrap();
        let of_targets =
            Aligner::builder(scoring.clone()).device(Device::Cpu).min_score(1).build(&targets).unwrap();
        assert_eq!(of_targets.align(query).unwrap().first(), Some(hit), "{query} {target}");
    }
    let mixed = [("ACGT", "AC!T"), ("ACGT", "ACGT"), ("", "ACGT"), ("?", "A")];
    let answers: Vec<_> = aligner.align_all(mixed).collect();
    assert_eq!(answers[0].as_ref().unwrap_err().to_string(), "target: '!' at place 2 is no letter of DNA");
    assert_eq!(answers[1].as_ref().unwrap().as_ref().map(Hit::score), Some(4));
    assert_eq!(answers[2].as_ref().unwrap(), &None);
    assert_eq!(answers[3].as_ref().unwrap_err().to_string(), "query: '?' at place 0 is no letter of DNA");
    let demanding = PairAligner::builder(scoring.clone()).min_score(5).build().unwrap();
    assert_eq!(demanding.align("ACGT", "ACGT").unwrap(), None);
    assert!(PairAligner::builder(scoring).min_score(0).build().is_err());
}

fn reverse_complement(letters: &str) -> String {
    String::from_utf8(swalign::alphabet::reverse_complement(letters.as_bytes())).unwrap()
}

/// In the other modes, scores may be negative, and every pair with letters has an alignment.
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
    assert!(error.to_string().contains("without letters"), "{error}");
    let proteins = Targets::from_protein([("p", "MKV")]).unwrap();
    assert!(aligner.score_all(["ACGT"], &proteins).next().unwrap().is_err());
}

/// A database of `swalign index` as targets, and its letters.
#[test]
fn targets_of_a_database() {
    let folder = common::folder::Folder::new();
    let file = folder.file("16s.swdb");
    let fasta = common::repository().join("data/16s_20.fa");
    let arguments = [std::ffi::OsStr::new("index"), fasta.as_os_str(), "-o".as_ref(), file.as_ref()];
    let outcome = common::command::finish(common::command::command(&common::repository()).args(arguments));
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
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

/// E-values as the command has them, of searches and of pairs.
#[test]
fn evalues_of_hits() {
    let targets = Targets::from_fasta(common::repository().join("data/uniprot_60.fa")).unwrap();
    let scoring = Scoring::preset("protein").unwrap();
    let of_search = Significance::of_search(&scoring, &targets).unwrap().unwrap();
    // tests/golden/blastp_uniprot_60.tsv, which has blastp's own: a score of 973 of 194 letters with 194.
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
    assert_eq!(made[0], Scoring::dna(1, 4, 6, 1));
    assert_eq!(made[4], Scoring::matrix(Alphabet::Protein, Matrix::named("BLOSUM62").unwrap(), 11, 1));
    assert_eq!(Scoring::preset("map-ont"), None);
    assert_eq!((made[2].match_and_mismatch(), made[4].match_and_mismatch()), (Some((2, 3)), None));
    assert_eq!(made[4].substitution_matrix().map(|matrix| matrix.name.as_str()), Some("BLOSUM62"));
    assert_eq!([made[4].of_letters(b'W', b'w'), made[0].of_letters(b'!', b'A')], [Some(11), None]);
}
