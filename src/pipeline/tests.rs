//! Runs on failing engines: the records must be those of a sound engine, or there must be an error, and no stage may
//! hang.

use super::device::Hardware;
use super::*;
use crate::engine::cpu::Cpu;
use crate::engine::{Capabilities, Engine, Guarded, Paths, Window};
use crate::terms::alignment::HitEnd;
use crate::terms::alphabet::reverse_complement;
use crate::terms::batch::{Batch, Pair};
use crate::terms::groups;
use crate::terms::insert::{InsertSize, Orientation};
use crate::terms::options::{
    DeviceChoice, DevicesChoice, FilterChoice, Format, HitLimits, MatesChoice, OutputFormat, PanelFormat,
    Rank, RankedOptions, ScoringChoice, Share,
};
use crate::terms::random::Random;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Maximum time of a run of a few hundred short queries before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(600);

/// A fault in an engine's scoring calls, given their number from 0.
type Fault = fn(call: usize, pairs: &[Pair], hits: Vec<HitEnd>) -> Result<Vec<HitEnd>, EngineError>;

/// Workers of the runs in these tests.
const WORKERS: usize = 2;

struct Faulty {
    fault: Fault,
    calls: usize,
}

impl Engine for Faulty {
    fn capabilities(&self) -> Capabilities {
        Capabilities::named("faulty card")
    }

    fn score(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<HitEnd>, EngineError> {
        self.calls += 1;
        (self.fault)(self.calls - 1, pairs, Cpu::new().score(batch, pairs)?)
    }

    fn paths(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        Cpu::new().paths(batch, windows)
    }
}

/// Notes, and the lines of `-v`.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>, Mutex<Vec<String>>);

impl Reporter for Notes {
    fn note(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_string());
    }

    fn detail(&self, text: &str) {
        self.1.lock().unwrap().push(text.to_string());
    }

    fn progress(&self, _: u64) {}
}

fn letters(count: usize, seed: usize) -> String {
    (0..count).map(|i| char::from(b"ACGT"[(i * i + i / 7 + seed * (i % 11)) % 4])).collect()
}

/// 300 queries from one reference, in batches of 2: many more than fit in memory together.
fn options(folder: &Path) -> Options {
    let reference = letters(700, 3);
    fs::write(folder.join("ref.fa"), format!(">r\n{reference}\n")).unwrap();
    let mut queries = String::new();
    for k in 0..300 {
        write!(queries, ">q{k}\n{}\n", &reference[k..k + 40]).unwrap();
    }
    fs::write(folder.join("q.fa"), queries).unwrap();
    Options {
        query: folder.join("q.fa"),
        reference: folder.join("ref.fa"),
        output: Some(folder.join("out.sam")),
        secondary_ratio: 0.8,
        ranked: RankedOptions { limits: HitLimits::records(2), rank: Rank::Raw, ..RankedOptions::default() },
        anchor: 19,
        dedup: true,
        device: DevicesChoice::One(DeviceChoice::Cpu(None)),
        threads: 4,
        batch: Some(2),
        command_line: "swalign".to_string(),
        verbosity: 1,
        ..Options::default()
    }
}

fn faulty(fault: Fault, may_fall_back: bool) -> Guarded {
    let fallback = || Box::new(Cpu::new()) as Box<dyn Engine>;
    let fallback = may_fall_back.then(|| Box::new(fallback) as Box<dyn FnOnce() -> Box<dyn Engine> + Send>);
    Guarded::new(Box::new(Faulty { fault, calls: 0 }), fallback)
}

/// Runs on the given engines. Also returns the insert size of mates.
fn run_in(options: &Options, notes: &Notes, engines: EngineFactory) -> Result<(Summary, Option<InsertSize>)> {
    let inputs = OpenInputs::read(options, None, notes, sync_channel(1).0)?;
    set_threads(options.threads, notes)?;
    let OpenInputs { references, target_file, index, runs, mut lanes, .. } = inputs;
    let references = (references, target_file, (index, runs));
    let crew = Crew::sharing(WORKERS);
    let machine = (&Hardware::Plain, &crew, engines);
    let mut first = lanes.next(options.mode)?;
    let (mut run, sample) = Run::new(options, notes, references, first.as_mut(), machine)?;
    let mut output = Output::create(options.output.as_deref())?;
    let (summary, _) = run.whole((first, sample), lanes, (&crew, engines), &mut output)?;
    output.finish()?;
    Ok((summary, run.pairing.map(|pairing| pairing.insert)))
}

/// Output of a run on the given engines, and its notes.
fn run_on(engine: impl Fn() -> Guarded + Send + Sync + 'static) -> Result<(Vec<u8>, Vec<String>)> {
    let (done, outcome) = sync_channel(1);
    // Uses a separate thread, so that a stuck run fails its test.
    thread::spawn(move || {
        let folder = TempDir::new().unwrap();
        let options = options(folder.path());
        let notes = Notes::default();
        let outcome = run_in(&options, &notes, &|_| engine()).map(|_| ());
        let left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(left.len(), if outcome.is_ok() { 3 } else { 2 }, "{left:?}");
        let outcome = outcome
            .map(|()| (fs::read(folder.path().join("out.sam")).unwrap(), notes.0.into_inner().unwrap()));
        done.send(outcome)
    });
    outcome.recv_timeout(PATIENCE).expect("the run comes to an end")
}

fn sound() -> Vec<u8> {
    run_on(|| Guarded::new(Box::new(Cpu::new()), None)).unwrap().0
}

/// Score of a query: every query has 40 bases.
const WHOLE: i32 = 40;

#[track_caller]
fn falls_back(fault: Fault, says: &str) {
    let (written, notes) = run_on(move || faulty(fault, true)).unwrap();
    assert!(written == sound(), "other records");
    assert!((1..=WORKERS).contains(&notes.len()), "an engine falls back once: {notes:?}");
    for note in notes {
        assert!(note.starts_with("warning: faulty card: ") && note.contains(says), "{note}");
        assert!(note.contains("continuing with CPU"), "{note}");
    }
}

#[track_caller]
fn fails(engine: impl Fn() -> Guarded + Send + Sync + 'static, says: &str) {
    let error = run_on(engine).unwrap_err();
    assert!(matches!(error, Error::Engine(_)) && error.to_string().contains(says), "{error}");
}

fn lost(call: usize, _: &[Pair], hits: Vec<HitEnd>) -> Result<Vec<HitEnd>, EngineError> {
    if call < 3 { Ok(hits) } else { Err(EngineError::Lost("unplugged".to_string())) }
}

fn one_less(_: usize, _: &[Pair], mut hits: Vec<HitEnd>) -> Result<Vec<HitEnd>, EngineError> {
    hits.iter_mut().filter(|hit| hit.score == WHOLE).for_each(|hit| hit.score -= 1);
    Ok(hits)
}

fn shifted(_: usize, _: &[Pair], mut hits: Vec<HitEnd>) -> Result<Vec<HitEnd>, EngineError> {
    hits.iter_mut().filter(|hit| hit.score == WHOLE).for_each(|hit| hit.target_end -= 1);
    Ok(hits)
}

fn too_much(_: usize, _: &[Pair], mut hits: Vec<HitEnd>) -> Result<Vec<HitEnd>, EngineError> {
    hits.iter_mut().for_each(|hit| hit.score = WHOLE + 1);
    Ok(hits)
}

#[test]
fn a_device_lost_in_the_middle_changes_no_byte() {
    falls_back(lost, "unplugged");
    fails(|| faulty(lost, false), "unplugged");
}

#[test]
fn answers_that_can_not_be_true_change_no_byte() {
    for fault in [one_less, shifted, too_much] {
        falls_back(fault, "impossible result");
        fails(move || faulty(fault, false), "impossible result");
    }
}

#[test]
fn memory_that_is_short_changes_no_byte() {
    let refused = |_: usize, pairs: &[Pair], hits: Vec<HitEnd>| match pairs.len() {
        0..=3 => Ok(hits),
        _ => Err(EngineError::OutOfMemory("refused".to_string())),
    };
    let (written, notes) = run_on(move || faulty(refused, false)).unwrap();
    assert!(written == sound() && notes.is_empty(), "{notes:?}");
    let none = |_: usize, _: &[Pair], _: Vec<HitEnd>| Err(EngineError::OutOfMemory("refused".to_string()));
    falls_back(none, "refused");
    fails(move || faulty(none, false), "out of memory");
}

/// While one worker is slow, the others fill all the room. Then it fails.
#[test]
fn a_slow_worker_that_fails_leaves_nobody_waiting() {
    let slow = |_: usize, _: &[Pair], _: Vec<HitEnd>| {
        thread::sleep(Duration::from_secs(1));
        Err(EngineError::Lost("unplugged".to_string()))
    };
    let panicking = |_: usize, _: &[Pair], _: Vec<HitEnd>| {
        thread::sleep(Duration::from_secs(1));
        panic!("a bug, as this test wants it")
    };
    for (fault, says) in [(slow as Fault, "unplugged"), (panicking, "report it")] {
        let made = AtomicU64::new(0);
        let engine = move || match made.fetch_add(1, Ordering::Relaxed) {
            0 => faulty(fault, false),
            _ => Guarded::new(Box::new(Cpu::new()), None),
        };
        fails(engine, says);
    }
}

/// A thread of the pool that started a second batch during the first would wait for work that it blocks itself; see
/// [`set_threads`].
#[test]
fn many_threads_and_small_batches_come_to_an_end() {
    let expected = sound();
    for _ in 0..20 {
        assert!(sound() == expected);
    }
}

/// Number of pairs that are searched for the insert size in tests ([`mates`] has more in a real run).
const SAMPLE: usize = 200;
/// Pairs of the runs below: more than the sample.
const PAIRS: usize = 260;

/// Mates, with names that begin a group every 20 pairs. In the sample, one in 20 pairs equals an earlier pair.
fn mates_options(folder: &Path) -> Options {
    let mut numbers = Random::new(5);
    let mut below = |most: u64| numbers.below(most as usize) as u64;
    let reference: String = (0..3000).map(|_| char::from(b"ACGT"[below(4) as usize])).collect();
    let complement = |letter: char| "TGCA".chars().nth("ACGT".find(letter).unwrap()).unwrap();
    let (mut reads, mut name) = (String::new(), String::new());
    for pair in 0..PAIRS {
        let begins =
            |next: &String| groups::begins(name.as_bytes(), next.as_bytes(), 50) == pair.is_multiple_of(20);
        name = (0..).map(|number| format!("p{pair}n{number}")).find(begins).unwrap();
        let pair = if pair % 20 == 19 && pair < SAMPLE { pair - 10 } else { pair };
        let (start, size) = (10 * pair, 150 + pair * 7 % 40);
        let second: String =
            reference[start + size - 50..start + size].chars().rev().map(complement).collect();
        write!(reads, ">{name}\n{}\n>{name}\n{second}\n", &reference[start..start + 50]).unwrap();
    }
    let options = options(folder);
    fs::write(&options.reference, format!(">r\n{reference}\n")).unwrap();
    fs::write(&options.query, reads).unwrap();
    Options { mates: MatesChoice::Interleaved, batch: None, ..options }
}

/// These reads are searched for the insert size before they are checked one by one.
#[test]
fn mates_whose_scores_overflow_are_refused() {
    let folder = TempDir::new().unwrap();
    let options = mates_options(folder.path());
    let reference = letters(7000, 3);
    let read = &reference[..6500];
    fs::write(&options.reference, format!(">r\n{reference}\n")).unwrap();
    fs::write(&options.query, format!(">p\n{read}\n>p\n{read}\n")).unwrap();
    let scoring = ScoringChoice { match_: Some(1 << 20), ..ScoringChoice::default() };
    let options = Options { scoring, ..options };
    let sound: EngineFactory = &|_| Guarded::new(Box::new(Cpu::new()), None);
    let error = run_in(&options, &Notes::default(), sound).unwrap_err();
    assert!(error.to_string().contains("6500 against 7000 residues could overflow"), "{error}");
}

/// The records that a run of mates writes, the queries that it searched, and the insert size.
fn run_of_mates(options: &Options, engines: EngineFactory) -> (String, u64, InsertSize) {
    let (summary, insert) = run_in(options, &Notes::default(), engines).unwrap();
    (fs::read_to_string(options.output.as_deref().unwrap()).unwrap(), summary.searched, insert.unwrap())
}

#[test]
fn the_estimate_of_the_insert_size_searches_no_read_twice() {
    let folder = TempDir::new().unwrap();
    let options = mates_options(folder.path());
    let sound: EngineFactory = &|_| Guarded::new(Box::new(Cpu::new()), None);
    let (expected, ..) = run_of_mates(&options, sound);
    assert!(expected.contains("\t99\t"), "mates are paired: {expected}");
    for (dedup, distinct) in [(true, PAIRS - SAMPLE / 20), (false, PAIRS)] {
        for batch in [None, Some(1), Some(7), Some(64)] {
            for filter in [FilterChoice::None, FilterChoice::Index] {
                let options = Options { dedup, batch, filter, ..options.clone() };
                let (estimated, searched, insert) = run_of_mates(&options, sound);
                assert!(estimated == expected, "{dedup} {batch:?} {filter:?}");
                assert_eq!(searched, 2 * distinct as u64, "{dedup} {batch:?} {filter:?}");
                let given = Options { insert: Some(insert), ..options };
                let (written, of_given, own) = run_of_mates(&given, sound);
                assert_eq!((written, own), (estimated, insert));
                // With equal pairs, the number depends on the batches in progress.
                assert!(dedup || of_given == searched, "{batch:?} {filter:?}");
            }
        }
    }
}

/// Each part searches the sample and its own reads. Reads in both are searched once.
#[test]
fn a_part_searches_no_read_twice() {
    let folder = TempDir::new().unwrap();
    let whole = mates_options(folder.path());
    let whole = Options { dedup: false, threads: 2, ..whole };
    let sound: EngineFactory = &|_| Guarded::new(Box::new(Cpu::new()), None);
    let records = |text: &str| text.lines().filter(|line| !line.starts_with('@')).count();
    let (expected, _, insert) = run_of_mates(&whole, sound);
    let mut before = 0;
    for number in 1..=3 {
        let options = Options { part: Some(Share { number, of: 3 }), ..whole.clone() };
        let (written, searched, own) = run_of_mates(&options, sound);
        let reads = records(&written);
        let beyond = (before + reads).saturating_sub(before.max(2 * SAMPLE));
        assert_eq!((searched, own), ((2 * SAMPLE + beyond) as u64, insert), "part {number}, {reads} reads");
        before += reads;
    }
    assert_eq!(before, records(&expected));
}

#[test]
fn a_device_lost_in_the_estimate_changes_no_byte() {
    let folder = TempDir::new().unwrap();
    let options = mates_options(folder.path());
    let sound: EngineFactory = &|_| Guarded::new(Box::new(Cpu::new()), None);
    let expected = run_of_mates(&options, sound);
    let unplugged: Fault = |_, _, _| Err(EngineError::Lost("unplugged".to_string()));
    for fault in [unplugged, lost] {
        assert_eq!(run_of_mates(&options, &|_| faulty(fault, true)), expected);
    }
    let error = run_in(&options, &Notes::default(), &|_| faulty(unplugged, false)).unwrap_err();
    assert!(error.to_string().contains("unplugged"), "{error}");
    let panics: Fault = |_, _, _| panic!("a bug, as this test wants it");
    let error = run_in(&options, &Notes::default(), &|_| faulty(panics, false)).unwrap_err();
    assert!(error.to_string().contains("report it"), "{error}");
}

/// Reads of alleles, with all their hits, in batches with far more hits than a worker has room for. Some reads are equal.
#[test]
fn batches_with_many_hits_are_written_in_parts() {
    let folder = TempDir::new().unwrap();
    let mut random = Random::new(3);
    let mut base = || b"ACGT"[random.below(4)];
    let first: Vec<u8> = (0..600).map(|_| base()).collect();
    let (mut alleles, mut reads) = (String::new(), String::new());
    for number in 0..30 {
        let mut allele = first.clone();
        (0..3).for_each(|at| allele[(number * 31 + at * 190) % 600] = base());
        writeln!(alleles, ">a{number}\n{}", str::from_utf8(&allele).unwrap()).unwrap();
        for pair in 0..6 {
            let start = pair / 2 * 90 + number % 10;
            let mut mate = reverse_complement(&allele[start + 200..start + 260]);
            mate[30] = base();
            let [one, other] = [&allele[start..start + 60], &mate].map(|read| str::from_utf8(read).unwrap());
            writeln!(reads, ">r{number}_{pair}\n{one}\n>r{number}_{pair}\n{other}").unwrap();
        }
    }
    let options = options(folder.path());
    fs::write(&options.reference, alleles).unwrap();
    fs::write(&options.query, reads).unwrap();
    let limits = HitLimits { identity: 90.0, ..HitLimits::records(usize::MAX) };
    let ranked = RankedOptions { limits, ..options.ranked.clone() };
    let sound: EngineFactory = &|_| Guarded::new(Box::new(Cpu::new()), None);
    let insert = InsertSize { orientation: Orientation::Fr, mean: 260, deviation: 20 };
    for mates in [MatesChoice::None, MatesChoice::Interleaved] {
        let insert = (mates != MatesChoice::None).then_some(insert);
        for format in [
            OutputFormat::Records(Format::Sam),
            OutputFormat::Records(Format::Bam),
            OutputFormat::Panel(PanelFormat::Matrix),
        ] {
            let run = |batch| {
                let (mates, ranked) = (mates.clone(), ranked.clone());
                let options = Options { mates, insert, format, ranked, batch, ..options.clone() };
                let notes = Notes::default();
                let (summary, _) = run_in(&options, &notes, sound).unwrap();
                assert_eq!((summary.queries, summary.aligned), (360, 360));
                let details = notes.1.into_inner().unwrap();
                // The reader makes smaller batches once the number of hits is known.
                let parts = details.iter().filter(|line| line.starts_with("batch 1:")).count();
                (fs::read(options.output.unwrap()).unwrap(), parts)
            };
            let (expected, parts) = run(Some(2));
            assert_eq!(parts, 1, "a pair is never divided");
            let (written, parts) = run(None);
            assert!(parts > 60, "{parts}");
            assert!(written == expected, "{format:?}");
            let (written, parts) = run(Some(100));
            assert!(parts > 10, "{parts}");
            assert!(written == expected, "{format:?}");
        }
    }
}

/// A worker that waits for its turn must not outlast a failure of another one.
#[test]
fn nobody_waits_for_a_turn_after_a_failure() {
    let (turns, failure) = (Turns::default(), Failure::default());
    assert!(turns.wait_for(0, &failure));
    turns.advance();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| turns.wait_for(7, &failure));
        failure.note(Error::Closed);
        assert!(!waiting.join().unwrap());
    });
    assert!(turns.wait_for(1, &failure), "its turn is now");
}
