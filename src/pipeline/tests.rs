//! Runs on engines that fail: the records must be those of a sound engine, or there must be an error,
//! and no stage may wait for ever.

use super::device::Hardware;
use super::*;
use crate::alignment::Hit;
use crate::batch::{Batch, Pair};
use crate::engine::cpu::Cpu;
use crate::engine::{Capabilities, Engine, Paths, Window};
use crate::options::{DeviceChoice, FilterChoice, Format, Limits, Mode, OutputFormat, Rank, ScoringChoice};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// How long a run of a few hundred short queries may take before it is taken for stuck.
const PATIENCE: Duration = Duration::from_secs(60);

/// What goes wrong in an engine's scoring calls, given their number from 0.
type Fault = fn(call: usize, pairs: &[Pair], hits: Vec<Hit>) -> Result<Vec<Hit>, EngineError>;

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

    fn score(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<Hit>, EngineError> {
        self.calls += 1;
        (self.fault)(self.calls - 1, pairs, Cpu::new().score(batch, pairs)?)
    }

    fn paths(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        Cpu::new().paths(batch, windows)
    }
}

#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Reporter for Notes {
    fn note(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_string());
    }

    fn detail(&self, _: &str) {}

    fn progress(&self, _: u64) {}
}

fn letters(count: usize, seed: usize) -> String {
    (0..count).map(|i| char::from(b"ACGT"[(i * i + i / 7 + seed * (i % 11)) % 4])).collect()
}

/// 300 queries out of one reference, in batches of 2: many more than there is room for at once.
fn options(folder: &Path) -> Options {
    let reference = letters(700, 3);
    fs::write(folder.join("ref.fa"), format!(">r\n{reference}\n")).unwrap();
    let mut queries = String::new();
    for k in 0..300 {
        write!(queries, ">q{k}\n{}\n", &reference[k..k + 40]).unwrap();
    }
    fs::write(folder.join("q.fa"), queries).unwrap();
    Options {
        mode: Mode::All,
        query: folder.join("q.fa"),
        reference: folder.join("ref.fa"),
        mates: Default::default(),
        insert: None,
        split: None,
        hard_clips: false,
        circular: Default::default(),
        output: Some(folder.join("out.sam")),
        format: OutputFormat::Records(Format::Sam),
        sort: None,
        packed: false,
        rename_references: false,
        reads_as_reference: false,
        alphabet: None,
        scoring: ScoringChoice::default(),
        both_strands: true,
        min_score: None,
        secondary_ratio: 0.8,
        limits: Limits::records(2),
        evalue: None,
        rank: Rank::Score,
        columns: Vec::new(),
        table_header: false,
        identity: Default::default(),
        page: Default::default(),
        masks_lower_case: false,
        part: None,
        ref_part: None,
        resume: false,
        filter: FilterChoice::Auto,
        dedup: true,
        device: DeviceChoice::Cpu(None),
        threads: 4,
        batch: Some(2),
        eqx: false,
        read_group: None,
        command_line: "swalign".to_string(),
        verbosity: 1,
        report: None,
        stats: None,
        checked_shaders: false,
    }
}

fn faulty(fault: Fault, may_fall_back: bool) -> Guarded {
    let fallback = || Box::new(Cpu::new()) as Box<dyn Engine>;
    let fallback = may_fall_back.then(|| Box::new(fallback) as Box<dyn FnOnce() -> Box<dyn Engine> + Send>);
    Guarded::new(Box::new(Faulty { fault, calls: 0 }), fallback)
}

/// What a run on such engines writes, and its notes.
fn run_on(engine: impl Fn() -> Guarded + Send + Sync + 'static) -> Result<(Vec<u8>, Vec<String>)> {
    let (done, outcome) = sync_channel(1);
    // In a thread of its own, so that a run that is stuck fails its test.
    thread::spawn(move || {
        let folder = TempDir::new().unwrap();
        let options = options(folder.path());
        let notes = Notes::default();
        let outcome = OpenInputs::read(&options, &notes, sync_channel(1).0).and_then(|inputs| {
            set_threads(options.threads, &notes)?;
            let OpenInputs { references, target_file, index, mut queries } = inputs;
            let references = (references, target_file, index);
            let run = Run::new(&options, &notes, references, &mut queries, &Hardware::Plain)?;
            let mut output = Output::create(options.output.as_deref())?;
            run.whole(queries, (&Crew::sharing(WORKERS), &|_| engine()), &mut output)?;
            output.finish()
        });
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

/// Every query scores its 40 letters.
const WHOLE: i32 = 40;

#[track_caller]
fn falls_back(fault: Fault, says: &str) {
    let (written, notes) = run_on(move || faulty(fault, true)).unwrap();
    assert!(written == sound(), "other records");
    assert!((1..=WORKERS).contains(&notes.len()), "an engine falls back once: {notes:?}");
    for note in notes {
        assert!(note.starts_with("warning: faulty card: ") && note.contains(says), "{note}");
        assert!(note.contains("going on with CPU"), "{note}");
    }
}

#[track_caller]
fn fails(engine: impl Fn() -> Guarded + Send + Sync + 'static, says: &str) {
    let error = run_on(engine).unwrap_err();
    assert!(matches!(error, Error::Engine(_)) && error.to_string().contains(says), "{error}");
}

fn lost(call: usize, _: &[Pair], hits: Vec<Hit>) -> Result<Vec<Hit>, EngineError> {
    if call < 3 { Ok(hits) } else { Err(EngineError::Lost("unplugged".to_string())) }
}

fn one_less(_: usize, _: &[Pair], mut hits: Vec<Hit>) -> Result<Vec<Hit>, EngineError> {
    hits.iter_mut().filter(|hit| hit.score == WHOLE).for_each(|hit| hit.score -= 1);
    Ok(hits)
}

fn shifted(_: usize, _: &[Pair], mut hits: Vec<Hit>) -> Result<Vec<Hit>, EngineError> {
    hits.iter_mut().filter(|hit| hit.score == WHOLE).for_each(|hit| hit.target_end -= 1);
    Ok(hits)
}

fn too_much(_: usize, _: &[Pair], mut hits: Vec<Hit>) -> Result<Vec<Hit>, EngineError> {
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
        falls_back(fault, "does not hold");
        fails(move || faulty(fault, false), "does not hold");
    }
}

#[test]
fn memory_that_is_short_changes_no_byte() {
    let refused = |_: usize, pairs: &[Pair], hits: Vec<Hit>| match pairs.len() {
        0..=3 => Ok(hits),
        _ => Err(EngineError::OutOfMemory("refused".to_string())),
    };
    let (written, notes) = run_on(move || faulty(refused, false)).unwrap();
    assert!(written == sound() && notes.is_empty(), "{notes:?}");
    let none = |_: usize, _: &[Pair], _: Vec<Hit>| Err(EngineError::OutOfMemory("refused".to_string()));
    falls_back(none, "refused");
    fails(move || faulty(none, false), "out of memory");
}

/// While one worker is slow, the others fill all room there is; then it fails.
#[test]
fn a_slow_worker_that_fails_leaves_nobody_waiting() {
    let slow = |_: usize, _: &[Pair], _: Vec<Hit>| {
        thread::sleep(Duration::from_secs(1));
        Err(EngineError::Lost("unplugged".to_string()))
    };
    let panicking = |_: usize, _: &[Pair], _: Vec<Hit>| {
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

/// A thread of the pool that took up a second batch in the middle of the first would wait for what it
/// holds up itself; see [`set_threads`].
#[test]
fn many_threads_and_small_batches_come_to_an_end() {
    let expected = sound();
    for _ in 0..20 {
        assert!(sound() == expected);
    }
}
