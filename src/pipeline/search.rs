//! `swalign search`: one thread reads texts and lays them behind one another, the calling thread scans,
//! gathers and writes, in the order of the texts.
//!
//! Memory is bounded where nearly every place is an end, too: a batch with too many ends is scanned portion by portion,
//! and its hits are aligned and written portion by portion.

mod batch;
mod needs;

use super::receipts::{self, Noted};
use super::report::warn;
use super::scanner::{self, Work};
use super::threads::{set_threads, start};
use super::{Reporter, Stage, estimate};
use crate::error::{Error, Result};
use crate::options::{PatternSource, SearchDevice, SearchFormat, SearchOptions};
use crate::reader::{Extent, Slice, Text, Texts, read_lengths, read_patterns, slices};
use crate::search::exact;
use crate::search::hits::{self, Gatherer, Hit, Wanted};
use crate::search::limits::Limits;
use crate::search::pattern::Pattern;
use crate::search::room::Room;
use crate::search::stream::{Seams, TextEnd, plain_codes};
use crate::search::{Rule, Scan, scan_some};
use crate::writer::Output;
use crate::writer::hits::{HitLines, TextShown, sam_header};
use batch::{Batch, Job, Rest};
use needs::Needs;
use rayon::prelude::*;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
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
/// Ends of a scan, at most, but for the smallest portions.
const ENDS: usize = 1 << 20;
/// Letters of the smallest portion, unless hits are longer.
const LEAST_PORTION: usize = 1 << 8;
/// Bytes of lines that are gathered before they are written.
const LINES: usize = 1 << 20;

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

/// What was found in the part of a text that ends at `to`.
struct Gathered<'a> {
    job: &'a Job,
    to: usize,
    hits: Vec<Hit>,
    gatherer: Gatherer,
}

/// The ends in a part of a text.
struct Part<'a> {
    job: &'a Job,
    to: usize,
    ends: &'a [TextEnd],
}

/// Where the hits go.
struct Sink<'a> {
    lines: HitLines<'a>,
    /// Lines that are not written yet.
    text: Vec<u8>,
    /// The hits of the text that goes on in the next part.
    carried: Gatherer,
    output: &'a mut Output,
    summary: &'a mut SearchSummary,
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
    needs: Needs,
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
    let noted = Noted::of_search(options)?;
    let search = Search::new(options, reporter)?;
    let header = match options.format {
        SearchFormat::Sam => sam_header(&read_lengths(&options.texts)?, &options.command_line),
        _ => Vec::new(),
    };
    let mut output = receipts::open(options.output.as_deref(), &noted)?;
    output.put(&header)?;
    let (to_writer, from_reader) = sync_channel(1);
    reporter.stage(search.stage());
    let mut summary = SearchSummary { patterns: search.patterns.len() as u64, ..SearchSummary::default() };
    thread::scope(|scope| {
        start(scope, || {
            let batches = to_writer;
            if let Err(error) = search.read(&batches) {
                // A writer that has stopped has an error of its own.
                let _ = batches.send(Err(error));
            }
        })?;
        // A GPU is opened while the first text is read.
        let work = Work { patterns: &search.oriented, rule: &search.wanted.rule };
        let scan = scanner::open(options, &work, reporter)?;
        search.write(scan.as_ref(), from_reader, &mut output, &mut summary)
    })?;
    summary.stretch = search.stretch();
    match noted {
        None => output.finish()?,
        Some(noted) => {
            let line = HitLines::new(options.format, &[]).header(options.invert);
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
        let needs = Needs::new(&oriented, &rule);
        warn(reporter, everywhere(&patterns, &wanted));
        Ok(Search {
            options,
            reporter,
            patterns,
            oriented,
            wanted,
            seams,
            needs,
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
                let job = Arc::new(Job::new(text, [begin, end]));
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
            let to = if job.is_done() { codes.len() } else { codes.len().min(after + room) };
            let from = if job.is_done() { to } else { after };
            batch.push(&self.seams, job, from..to);
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
        let lines = HitLines::new(self.options.format, &self.patterns);
        let text = lines.header(self.options.invert).as_bytes().to_vec();
        let mut sink = Sink { lines, text, carried: Gatherer::default(), output, summary };
        let least = self.seams.before().max(LEAST_PORTION);
        // Letters of a portion: all of a batch, until one has too many ends.
        let mut most = usize::MAX;
        for batch in batches {
            let mut rest = Rest::of(batch?);
            while let Some(portion) = rest.next(&self.seams, most) {
                let letters = portion.letters();
                let room = if letters <= least { Room::unlimited() } else { Room::of(ENDS) };
                let ends = if portion.is_done() { Vec::new() } else { self.scan(scan, &portion, &room)? };
                warn(self.reporter, scan.take_notice());
                if room.is_over() {
                    most = (letters / 2).max(least);
                    rest.put_back(portion);
                    continue;
                }
                if ends.len() < ENDS / 4 && letters > most / 2 {
                    most = most.saturating_mul(2);
                }
                sink.summary.scanned += if portion.is_done() { 0 } else { letters as u64 };
                self.put(&portion, &ends, &mut sink)?;
            }
            sink.flush()?;
            self.reporter.progress(sink.summary.texts);
        }
        sink.flush()
    }

    /// The ends in all texts of a portion.
    fn scan(&self, scan: &dyn Scan, portion: &Batch, room: &Room) -> Result<Vec<TextEnd>> {
        let (rule, mut placed) = (&self.wanted.rule, Vec::new());
        let rounds = self.needs.rounds(portion, &self.seams);
        let one = rounds.len() == 1;
        for round in rounds {
            let codes = &round.stream.codes;
            let ends = match &round.patterns {
                None => scan.scan_within(codes, &self.oriented, rule, room)?,
                Some(some) => scan_some(scan, codes, (&self.oriented, some), rule, room)?,
            };
            if room.is_over() {
                return Ok(Vec::new());
            }
            let ends = round.stream.place(&ends, &self.oriented, rule);
            if one {
                return Ok(ends);
            }
            placed.extend(ends);
        }
        placed.par_sort_unstable();
        Ok(placed)
    }

    /// Writes the hits of a portion, so many texts at a time that their hits take little.
    fn put(&self, portion: &Batch, ends: &[TextEnd], sink: &mut Sink) -> Result<()> {
        let mut rest = ends;
        let (mut parts, mut weight) = (Vec::new(), 0);
        for (stretch, job) in portion.stream.stretches.iter().zip(&portion.jobs) {
            let (own, others) = rest.split_at(rest.partition_point(|end| end.text <= stretch.text));
            rest = others;
            weight += hits::weight(&self.oriented, own);
            parts.push(Part { job, to: stretch.to, ends: own });
            if weight >= hits::PORTION {
                self.put_parts(std::mem::take(&mut parts), sink)?;
                weight = 0;
            }
        }
        self.put_parts(parts, sink)
    }

    /// Writes the hits of parts of texts; of the first, some may have been found before.
    fn put_parts(&self, parts: Vec<Part>, sink: &mut Sink) -> Result<()> {
        let mut first = Some(std::mem::take(&mut sink.carried));
        let gatherers: Vec<Gatherer> = parts.iter().map(|_| first.take().unwrap_or_default()).collect();
        // Without parts it is still to come.
        sink.carried = first.unwrap_or_default();
        let (wanted, patterns) = (&self.wanted, &self.oriented);
        let gathered: Vec<Gathered> = parts
            .into_par_iter()
            .zip(gatherers)
            .map(|(Part { job, to, ends }, mut gatherer)| {
                gatherer.put(wanted, patterns, &job.text.codes, ends, to);
                let hits = gatherer.next(wanted, patterns, &job.text.codes)?;
                Ok(Gathered { job, to, hits, gatherer })
            })
            .collect::<Result<_>>()?;
        for Gathered { job, to, mut hits, mut gatherer } in gathered {
            while !hits.is_empty() {
                sink.hits(job, &hits, self.options.invert)?;
                hits = gatherer.next(wanted, patterns, &job.text.codes)?;
            }
            if gatherer.is_done(wanted) {
                job.set_done();
            }
            self.searched.store(job.place(to), Ordering::Relaxed);
            if to == job.text.codes.len() {
                sink.text(job, &gatherer, self.options.invert);
            } else {
                sink.carried = gatherer;
            }
        }
        Ok(())
    }
}

impl Sink<'_> {
    fn hits(&mut self, job: &Job, hits: &[Hit], invert: bool) -> Result<()> {
        let place = TextShown { name: &job.text.name, letters: &job.text.letters };
        self.summary.hits += hits.len() as u64;
        if invert {
            return Ok(());
        }
        for hit in hits {
            self.lines.hit(&mut self.text, place, hit);
            if self.text.len() >= LINES {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// A text after all of its hits.
    fn text(&mut self, job: &Job, gatherer: &Gatherer, invert: bool) {
        let place = TextShown { name: &job.text.name, letters: &job.text.letters };
        self.lines.text(&mut self.text, place, gatherer.given(), invert);
        self.summary.texts += 1;
        self.summary.letters += job.text.codes.len() as u64;
        self.summary.found += u64::from(gatherer.given() > 0);
    }

    fn flush(&mut self) -> Result<()> {
        self.output.put(&self.text)?;
        self.text.clear();
        Ok(())
    }
}

/// What the user should hear of patterns that occur at every place, whatever the text. With limits of single kinds of
/// edits they may not.
fn everywhere(patterns: &[Pattern], wanted: &Wanted) -> Option<String> {
    let Wanted { rule, limits: None, .. } = wanted else { return None };
    let mut some = patterns.iter().filter(|pattern| pattern.letters.len() <= rule.max_edits as usize);
    let first = some.next()?;
    let others = match some.count() {
        0 => String::new(),
        1 => "; so does another pattern".to_string(),
        others => format!("; so do {others} other patterns"),
    };
    let (most, name, len) = (rule.max_edits, first.name.escape_debug(), first.letters.len());
    Some(format!(
        "-k {most} is not below the length of pattern '{name}' ({len}): it occurs at every place{others}"
    ))
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
fn patterns(given: &PatternSource, full_names: bool, sam: bool) -> Result<Vec<Pattern>> {
    let refused =
        |at: usize| Error::Usage(format!("PATTERN has a letter at position {} that is none", at + 1));
    match given {
        PatternSource::Letters(letters) => {
            let pattern = Pattern::new("pattern".to_string(), letters.as_bytes()).map_err(refused)?;
            Ok(vec![pattern])
        }
        PatternSource::File(path) => {
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
            patterns: PatternSource::Letters("GCGC".to_string()),
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
