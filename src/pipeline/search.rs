//! `swalign search`: one thread reads texts and lays them behind one another, the calling thread scans,
//! gathers and writes, in the order of the texts.

use super::receipts::Noted;
use super::scanner::{self, Work};
use super::{Reporter, Stage, estimate, set_threads, warn};
use crate::error::{Error, Result};
use crate::options::{Patterns, SearchDevice, SearchFormat, SearchOptions};
use crate::reader::{Extent, Slice, Text, Texts, read_lengths, read_patterns, slices};
use crate::search::exact;
use crate::search::format::{Lines, Place, sam_header};
use crate::search::hits::{Gatherer, Hit, Wanted};
use crate::search::limits::Limits;
use crate::search::pattern::Pattern;
use crate::search::stream::{Seams, Stream, Stretch, TextEnd, plain_codes};
use crate::search::{Rule, Scan};
use crate::writer::Output;
use rayon::prelude::*;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Letters of a batch for each thread, and of any batch at least and at most.
const LETTERS: usize = 1 << 22;
const LEAST_LETTERS: usize = 1 << 24;
const MOST_LETTERS: usize = 1 << 27;
/// Letters times patterns of a batch at most, unless it then were shorter than this or the patterns are looked up.
const WORK: usize = 1 << 36;
const SHORTEST: usize = 1 << 19;
/// Letters of a text that are scanned first where only its first hit is asked for; then twice as many, and so on. So
/// no more are scanned than these and twice as many as stand before the end of the hit, unless it is not known yet
/// to be the first.
const FIRST_LETTERS: usize = 1 << 18;
/// Texts of a batch, at most.
const TEXTS: usize = 1 << 17;

/// What a search did.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchSummary {
    /// Where the part that was searched begins and ends in each of the texts' files ([`Extent::places`]), added up.
    pub stretch: (u64, u64),
    pub patterns: u64,
    pub texts: u64,
    /// Of all texts.
    pub letters: u64,
    /// Without those after the last hit that was asked for.
    pub scanned: u64,
    pub hits: u64,
    /// Texts with a hit.
    pub found: u64,
    pub elapsed: Duration,
}

/// A text under way. Its codes are those of a scan.
struct Job {
    text: Text,
    /// Where in all files it begins and ends, in bytes, about.
    bytes: [u64; 2],
    /// Nothing more is asked of it.
    done: AtomicBool,
}

impl Job {
    /// Where in all files so much of it ends.
    fn place(&self, letters: usize) -> u64 {
        let ([begin, end], all) = (self.bytes, self.text.codes.len().max(1) as u128);
        begin + (u128::from(end - begin) * letters as u128 / all) as u64
    }
}

/// Texts, of which the first may have begun in the batch before, and the last may go on in the next.
#[derive(Default)]
struct Batch {
    jobs: Vec<Arc<Job>>,
    stream: Stream,
}

impl Batch {
    /// Whether nothing more is asked of any of its texts.
    fn is_done(&self) -> bool {
        self.jobs.iter().all(|job| job.done.load(Ordering::Relaxed))
    }
}

/// What was found in the part of a text that ends at `to`.
struct Gathered<'a> {
    job: &'a Job,
    to: usize,
    hits: Vec<Hit>,
    gatherer: Gatherer,
}

/// What a search is made of.
struct Search<'a> {
    options: &'a SearchOptions,
    reporter: &'a dyn Reporter,
    patterns: Vec<Pattern>,
    /// The classes of each, with both strands behind them those of the reverse complement.
    oriented: Vec<Vec<u8>>,
    wanted: Wanted,
    seams: Seams,
    /// What of each file is searched, where it is not all.
    slices: Option<Vec<Slice>>,
    /// Where what is searched begins and ends in each of the files read so far.
    extents: Mutex<Vec<Arc<Extent>>>,
    /// Letters of a batch.
    enough: usize,
    /// Bytes of the texts that are searched.
    searched: Arc<AtomicU64>,
}

/// Runs `swalign search` as `options` ask.
pub fn search(options: &SearchOptions, reporter: &dyn Reporter) -> Result<SearchSummary> {
    let begun = Instant::now();
    let options = &SearchOptions { threads: set_threads(options.threads, reporter)?, ..options.clone() };
    let noted = Noted::of_search(options);
    let search = Search::new(options, reporter)?;
    let header = match options.format {
        SearchFormat::Sam => sam_header(&read_lengths(&options.texts)?, &options.command_line),
        _ => Vec::new(),
    };
    let mut output = Output::create(options.output.as_deref())?;
    output.put(&header)?;
    let (to_writer, from_reader) = sync_channel(1);
    reporter.stage(search.stage());
    let mut summary = SearchSummary { patterns: search.patterns.len() as u64, ..SearchSummary::default() };
    thread::scope(|scope| {
        scope.spawn(|| {
            let batches = to_writer;
            if let Err(error) = search.read(&batches) {
                // A writer that has stopped has an error of its own.
                let _ = batches.send(Err(error));
            }
        });
        // A GPU is opened while the first text is read.
        let work = Work { patterns: &search.oriented, rule: &search.wanted.rule };
        let scan = scanner::open(options, &work, reporter)?;
        search.write(scan.as_ref(), from_reader, &mut output, &mut summary)
    })?;
    summary.stretch = search.stretch();
    match noted {
        None => output.finish()?,
        Some(noted) => {
            let line = Lines::new(options.format, &[]).header(options.invert);
            let frame = ((header.len() + line.len()) as u64, 0);
            let records = (summary.texts, summary.stretch);
            noted.finish(output, options.output.as_deref(), frame, records, None)?;
        }
    }
    summary.elapsed = begun.elapsed();
    Ok(summary)
}

impl<'a> Search<'a> {
    fn new(options: &'a SearchOptions, reporter: &'a dyn Reporter) -> Result<Search<'a>> {
        let patterns = patterns(&options.patterns, options.full_names, options.format == SearchFormat::Sam)?;
        let oriented: Vec<Vec<u8>> = match options.both_strands {
            true => patterns.iter().flat_map(|p| [p.classes(), p.reverse_classes()]).collect(),
            false => patterns.iter().map(Pattern::classes).collect(),
        };
        if options.part.is_some() && options.format == SearchFormat::Sam {
            check_names(&patterns)?;
        }
        let rule = Rule { max_edits: options.max_edits, indels: options.indels };
        let seams = Seams::new(patterns.iter().map(|pattern| pattern.letters.len()), &rule);
        let limits = |(insertions, deletions, substitutions)| Limits { insertions, deletions, substitutions };
        let wanted = Wanted {
            rule,
            limits: options.limits.map(limits),
            every_end: options.every_end,
            best: options.best,
            first: options.first || options.invert,
            strands: if options.both_strands { 2 } else { 1 },
            before: seams.before(),
        };
        let letters = (LETTERS * options.threads).clamp(LEAST_LETTERS, MOST_LETTERS);
        let swept = match options.device {
            SearchDevice::Cpu(_) | SearchDevice::Auto if exact::pays(&oriented, &rule) => 1,
            _ => oriented.len().max(1),
        };
        let enough = letters.min((WORK / swept).max(SHORTEST));
        let slices = options.part.map(|share| slices(&options.texts, share)).transpose()?;
        let extents = Mutex::default();
        Ok(Search {
            options,
            reporter,
            patterns,
            oriented,
            wanted,
            seams,
            slices,
            extents,
            enough,
            searched: Arc::default(),
        })
    }

    /// The search itself, for who waits for it.
    fn stage(&self) -> Stage {
        let bytes = self.options.texts.iter().map(|path| estimate::bytes(path, self.options.part));
        Stage {
            doing: "searching",
            counted: Some(["text", "texts"]),
            bytes: Some(Arc::clone(&self.searched)),
            size: bytes.sum(),
        }
    }

    fn stretch(&self) -> (u64, u64) {
        let extents = self.extents.lock().unwrap_or_else(PoisonError::into_inner);
        let places = extents.iter().map(|extent| extent.places());
        places.fold((0, 0), |(begin, end), (from, to)| (begin + from, end + to))
    }

    /// The reader's stage: all texts of all files, in batches.
    fn read(&self, batches: &SyncSender<Result<Batch>>) -> Result<()> {
        let mut batch = Batch::default();
        let mut before = 0;
        for (index, path) in self.options.texts.iter().enumerate() {
            let mut texts =
                Texts::open(path, self.slices.as_ref().map(|slices| slices[index]), self.options.full_names)?;
            self.extents.lock().unwrap_or_else(PoisonError::into_inner).push(texts.extent());
            let mut begin = before;
            while let Some(text) = texts.next() {
                let mut text = text?;
                plain_codes(&mut text.codes);
                let end = before + texts.bytes_given();
                let job = Arc::new(Job { text, bytes: [begin, end], done: AtomicBool::new(false) });
                begin = end;
                if !self.cut(&job, &mut batch, batches) {
                    return Ok(());
                }
            }
            before = begin;
            warn(self.reporter, texts.warning());
        }
        let _ = batches.send(Ok(batch));
        Ok(())
    }

    /// Lays a text into the batch, and what does not fit into further ones; `false` when nobody takes
    /// them any more.
    fn cut(&self, job: &Arc<Job>, batch: &mut Batch, batches: &SyncSender<Result<Batch>>) -> bool {
        let codes = &job.text.codes;
        let mut after = 0;
        let mut most = if self.wanted.first { FIRST_LETTERS } else { usize::MAX };
        // Nobody knows yet whether a text under way is done: its parts are batches of their own.
        let mut send = false;
        loop {
            let full = batch.stream.codes.len() >= self.enough || batch.jobs.len() >= TEXTS;
            if (full || send) && batches.send(Ok(std::mem::take(batch))).is_err() {
                return false;
            }
            let room = (self.enough - batch.stream.codes.len()).min(most);
            // What is done needs no further scan.
            let to =
                if job.done.load(Ordering::Relaxed) { codes.len() } else { codes.len().min(after + room) };
            let from = if job.done.load(Ordering::Relaxed) { to } else { after };
            batch.stream.push(&self.seams, batch.jobs.len(), codes, from..to);
            batch.jobs.push(Arc::clone(job));
            after = to;
            if after == codes.len() {
                return !send || batches.send(Ok(std::mem::take(batch))).is_ok();
            }
            send = self.wanted.first;
            most = most.saturating_mul(2);
        }
    }

    /// The writer's stage, which scans as well: a scan has all threads by itself.
    fn write(
        &self,
        scan: &dyn Scan,
        batches: Receiver<Result<Batch>>,
        output: &mut Output,
        summary: &mut SearchSummary,
    ) -> Result<()> {
        let mut lines = Lines::new(self.options.format, &self.patterns);
        let mut text = lines.header(self.options.invert).as_bytes().to_vec();
        let mut carried = Gatherer::default();
        for batch in batches {
            let batch = batch?;
            let ends = match batch.is_done() {
                true => Vec::new(),
                false => {
                    summary.scanned += batch.stream.stretches.iter().map(Stretch::own).sum::<usize>() as u64;
                    scan.scan(&batch.stream.codes, &self.oriented, &self.wanted.rule)?
                }
            };
            warn(self.reporter, scan.take_notice());
            let placed = batch.stream.place(&ends, &self.oriented, &self.wanted.rule);
            drop(ends);
            for Gathered { job, to, hits, gatherer } in
                self.gather(&batch, &placed, std::mem::take(&mut carried))?
            {
                let place = Place { name: &job.text.name, letters: &job.text.letters };
                if !self.options.invert {
                    hits.iter().for_each(|hit| lines.hit(&mut text, place, hit));
                }
                summary.hits += hits.len() as u64;
                if gatherer.is_done(&self.wanted) {
                    job.done.store(true, Ordering::Relaxed);
                }
                if to == job.text.codes.len() {
                    lines.text(&mut text, place, gatherer.given(), self.options.invert);
                    summary.texts += 1;
                    summary.letters += to as u64;
                    summary.found += u64::from(gatherer.given() > 0);
                } else {
                    carried = gatherer;
                }
                self.searched.store(job.place(to), Ordering::Relaxed);
            }
            self.reporter.progress(summary.texts);
            output.put(&text)?;
            text.clear();
        }
        output.put(&text)
    }

    /// The hits of each text of a batch; `first` has those of its first text so far.
    fn gather<'b>(&self, batch: &'b Batch, ends: &[TextEnd], first: Gatherer) -> Result<Vec<Gathered<'b>>> {
        let mut first = Some(first);
        let mut rest = ends;
        let tasks: Vec<(&[TextEnd], usize, Gatherer)> = batch
            .stream
            .stretches
            .iter()
            .map(|stretch| {
                let (own, others) = rest.split_at(rest.partition_point(|end| end.text <= stretch.text));
                rest = others;
                (own, stretch.to, first.take().unwrap_or_default())
            })
            .collect();
        tasks
            .into_par_iter()
            .zip(&batch.jobs)
            .map(|((ends, to, mut gatherer), job)| {
                let hits = gatherer.take(&self.wanted, &self.oriented, &job.text.codes, ends, to)?;
                Ok(Gathered { job, to, hits, gatherer })
            })
            .collect()
    }
}

/// By their names parts are joined.
fn check_names(patterns: &[Pattern]) -> Result<()> {
    let mut names = HashSet::new();
    match patterns.iter().find(|pattern| !names.insert(&pattern.name)) {
        None => Ok(()),
        Some(Pattern { name, .. }) => Err(Error::Usage(format!(
            "two patterns are called '{}': give each a name of its own for --part with --format sam",
            name.escape_debug()
        ))),
    }
}

/// The patterns that were given.
fn patterns(given: &Patterns, full_names: bool, sam: bool) -> Result<Vec<Pattern>> {
    let refused =
        |at: usize| Error::Usage(format!("PATTERN has a letter at position {} that is none", at + 1));
    match given {
        Patterns::Letters(letters) => {
            let pattern = Pattern::new("pattern".to_string(), letters.as_bytes()).map_err(refused)?;
            Ok(vec![pattern])
        }
        Patterns::File(path) => {
            let pattern = |text: Text| Pattern::new(text.name, &text.letters).map_err(refused);
            read_patterns(path, full_names, sam)?.into_iter().map(pattern).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::SearchDevice;
    use std::fs;

    struct Silence;

    impl Reporter for Silence {
        fn note(&self, _: &str) {}
        fn detail(&self, _: &str) {}
        fn progress(&self, _: u64) {}
    }

    /// Letters without the pattern, but where it is planted.
    fn text(len: usize, hits: &[usize]) -> Vec<u8> {
        let mut text = vec![b'T'; len];
        hits.iter().for_each(|&at| text[at..at + 4].copy_from_slice(b"GCGC"));
        text
    }

    fn run(texts: &[Vec<u8>], first: bool, invert: bool) -> (SearchSummary, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let mut fasta = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            fasta.extend_from_slice(format!(">t{number}\n").as_bytes());
            fasta.extend_from_slice(text);
            fasta.push(b'\n');
        }
        fs::write(path("t.fa"), fasta).unwrap();
        let options = SearchOptions {
            patterns: Patterns::Letters("GCGC".to_string()),
            texts: vec![path("t.fa")],
            output: Some(path("out")),
            max_edits: 0,
            indels: true,
            limits: None,
            both_strands: false,
            every_end: false,
            best: false,
            first,
            invert,
            format: SearchFormat::Tab,
            part: None,
            resume: false,
            full_names: false,
            device: SearchDevice::Cpu(None),
            threads: 1,
            command_line: String::new(),
            verbosity: 0,
        };
        let summary = search(&options, &Silence).unwrap();
        (summary, fs::read_to_string(path("out")).unwrap())
    }

    #[test]
    fn little_is_scanned_behind_the_first_hit() {
        let len = LEAST_LETTERS + 5_000_000;
        let seams = [FIRST_LETTERS - 2, FIRST_LETTERS, 3 * FIRST_LETTERS - 1, 2_000_000, LEAST_LETTERS + 7];
        for at in [0, 100].into_iter().chain(seams) {
            let (all, _) = run(&[text(len, &[at, len - 4])], false, false);
            assert_eq!((all.scanned, all.hits), (len as u64, 2));
            let bound = FIRST_LETTERS + 2 * (at + 4);
            for invert in [false, true] {
                let (summary, out) = run(&[text(len, &[at, len - 4])], true, invert);
                assert!(summary.scanned as usize <= bound, "{at}: {} letters", summary.scanned);
                assert!(summary.scanned as usize >= at + 4);
                assert_eq!((summary.letters, summary.hits, summary.found), (len as u64, 1, 1), "{at}");
                let hit = format!("t0\t{at}\t{}\t", at + 4);
                assert!(invert && out == "text\n" || !invert && out.contains(&hit), "{at}: {out}");
            }
        }
    }

    #[test]
    fn texts_beside_one_another() {
        let (most, hit) = (3 * FIRST_LETTERS, FIRST_LETTERS + 9);
        let texts =
            [text(50, &[3]), text(most, &[hit, hit + 50]), text(60, &[]), text(most, &[]), text(70, &[66])];
        let (summary, out) = run(&texts, true, false);
        assert_eq!((summary.texts, summary.hits, summary.found), (5, 3, 3));
        let starts: Vec<String> =
            out.lines().skip(1).map(|line| line.split('\t').take(2).collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(starts, ["t0 3".to_string(), format!("t1 {hit}"), "t4 66".to_string()]);
        assert_eq!(run(&texts, false, true).1, "text\nt2\nt3\n");
    }
}
