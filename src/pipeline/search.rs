//! `swalign search`: one thread reads texts and concatenates them. The calling thread searches them
//! ([`crate::patterns::search::driver`]) and writes the hits in the order of the texts.

mod amplicons;
mod circles;
mod counts;
mod mates;
mod outputs;
mod patterns;
mod read;
#[cfg(test)]
mod tests;
mod texts;
mod write;

use super::receipts::{self, ReceiptRun};
use super::report::warn;
use super::scanner;
use super::threads::{set_threads, start};
use super::{Reporter, Stage, estimate};
use crate::input::reader::{FileState, Slice, slices};
use crate::output::writer::Output;
use crate::output::writer::hits::{AmpliconLines, HitLines, HitStyle, sam_header};
use crate::output::writer::output::CompanionFiles;
use crate::patterns::search::EndScan;
use crate::patterns::search::amplicons::PatternPairs;
use crate::patterns::search::driver::Driver;
use crate::patterns::search::pattern::SearchPattern;
use crate::terms::error::{Error, Result};
use crate::terms::options::{SearchFormat, SearchOptions};
use crate::terms::system::{HAS_THREADS, Instant};
use counts::PatternCounts;
use outputs::SearchOutputs;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use texts::SearchedRange;

/// Summary of a search.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchSummary {
    /// Where the searched part begins and ends in each of the texts' files (`SearchedRange::places`), summed over
    /// files.
    pub stretch: (u64, u64),
    pub patterns: u64,
    pub texts: u64,
    /// Bases of all texts.
    pub letters: u64,
    /// Bases scanned, excluding those after the last requested hit.
    pub scanned: u64,
    pub hits: u64,
    /// Number of joined hits. For mates, number of pairs that begin with a pair of primers.
    pub amplicons: Option<u64>,
    /// Texts with a hit. If hits are joined, texts with an amplicon.
    pub found: u64,
    pub elapsed: Duration,
}

/// Context shared by the stages of a search.
struct SearchRun<'a> {
    options: &'a SearchOptions,
    reporter: &'a dyn Reporter,
    patterns: Vec<SearchPattern>,
    driver: Driver,
    /// Approximate number of bases of all texts, if known.
    letters: Option<u64>,
    /// Pairs of patterns whose hits are joined, if requested.
    pairs: Option<PatternPairs>,
    /// The slice of each file that is searched. `None` for whole files.
    slices: Option<Vec<Slice>>,
    /// The files' states in a first pass. Empty without a first pass.
    first_pass: Vec<FileState>,
    /// Searched sections of the files that are open or finished.
    stretches: Mutex<Vec<SearchedRange>>,
    /// Bytes of the texts searched so far.
    searched: Arc<AtomicU64>,
}

/// Runs `swalign search` with the given options.
pub fn search(options: &SearchOptions, reporter: &dyn Reporter) -> Result<SearchSummary> {
    let begun = Instant::now();
    let options = &SearchOptions { threads: set_threads(options.threads, reporter)?, ..options.clone() };
    let noted = ReceiptRun::of_search(options)?;
    let mut search = SearchRun::new(options, reporter)?;
    let header = match options.format {
        SearchFormat::Sam => {
            let (lengths, states) = texts::lengths(&options.texts, options.rules())?;
            search.first_pass = states;
            sam_header(&lengths, &options.command_line)
        }
        _ => Vec::new(),
    };
    let output = receipts::open(options.output.as_deref(), &noted)?;
    let mut outputs = SearchOutputs::open(options, output)?;
    outputs.main.put(|out| out.extend_from_slice(&header))?;
    outputs.flush()?;
    let about = options.summary.as_deref().map(Output::create_side).transpose()?;
    let most = search.driver.wanted.rule.max_edits.min(counts::MOST_EDITS);
    let mut counts = about.is_some().then(|| PatternCounts::new(search.patterns.len(), most));
    reporter.stage(search.stage());
    let amplicons = options.amplicons.as_ref().map(|_| 0);
    let patterns = search.patterns.len() as u64;
    let mut summary = SearchSummary { patterns, amplicons, ..SearchSummary::default() };
    let opened = search.choose()?;
    let search = &search;
    let written = (&mut outputs, &mut counts);
    match HAS_THREADS {
        true => search.stages_beside(opened, written, &mut summary)?,
        false => {
            let scan = opened.map_or_else(|| search.open(), Ok)?;
            let give =
                |take: &mut dyn FnMut(_) -> Result<()>| search.read(|batch| take(batch).map(|()| true));
            search.write(scan.as_ref(), give, written, &mut summary)?;
        }
    }
    summary.stretch = search.stretch();
    let (output, about_texts) = outputs.end()?;
    let mut beside = CompanionFiles { about: about_texts, ..CompanionFiles::default() };
    if let (Some(mut about), Some(counts)) = (about, counts) {
        about.put(counts.table(&search.patterns, summary.texts).as_bytes())?;
        beside.about.push(about);
    }
    match noted {
        None => output.finish_with(beside)?,
        Some(noted) => {
            let frame = ((header.len() + search.first_line().len()) as u64, 0);
            let records = (summary.texts, summary.stretch);
            noted.finish((output, beside), options.output.as_deref(), frame, records)?;
        }
    }
    summary.elapsed = begun.elapsed();
    Ok(summary)
}

impl<'a> SearchRun<'a> {
    fn new(options: &'a SearchOptions, reporter: &'a dyn Reporter) -> Result<SearchRun<'a>> {
        let (patterns, warnings) = patterns::read(options)?;
        warn(reporter, warnings);
        if options.part.is_some() && options.format == SearchFormat::Sam {
            patterns::check_names(&patterns)?;
        }
        let work = scanner::work(options)?;
        let driver = Driver::new(&patterns, &options.hits, &work).map_err(|error| match error {
            Error::Usage(text) => Error::Usage(format!("-k with --max-gaps or the like: {text}")),
            other => other,
        })?;
        patterns::check_edits(options, &driver.wanted.rule)?;
        let slices = options.part.map(|share| slices(&options.texts, share)).transpose()?;
        let slices = slices.map(|slices| slices.into_iter().map(|(slice, _)| slice).collect());
        let given = |choice| amplicons::pairs(choice, &options.patterns, &patterns, reporter);
        let pairs = options.amplicons.as_ref().map(given).transpose()?;
        warn(reporter, patterns::everywhere(&patterns, &driver.wanted));
        Ok(SearchRun {
            options,
            reporter,
            patterns,
            driver,
            letters: work.letters,
            pairs,
            slices,
            first_pass: Vec::new(),
            stretches: Mutex::default(),
            searched: Arc::default(),
        })
    }

    /// Runs the reader beside the writer.
    fn stages_beside(
        &self,
        opened: Option<Box<dyn EndScan>>,
        written: (&mut SearchOutputs, &mut Option<PatternCounts>),
        summary: &mut SearchSummary,
    ) -> Result<()> {
        let (to_writer, from_reader) = sync_channel(1);
        thread::scope(|scope| {
            start(scope, || {
                let batches = to_writer;
                if let Err(error) = self.read(|batch| Ok(batches.send(Ok(batch)).is_ok())) {
                    // A writer that has stopped has an error of its own.
                    let _ = batches.send(Err(error));
                }
            })?;
            // A GPU is opened while the first text is read.
            let scan = opened.map_or_else(|| self.open(), Ok)?;
            let give = |take: &mut dyn FnMut(_) -> Result<()>| {
                from_reader.into_iter().try_for_each(|batch: Result<_>| take(batch?))
            };
            self.write(scan.as_ref(), give, written, summary)
        })
    }

    /// Opens the scan, if the choice between a scan and the search from PAMs depends on it.
    fn choose(&mut self) -> Result<Option<Box<dyn EndScan>>> {
        let opened = self.driver.plan.needs_device(&self.options.device).then(|| self.open()).transpose()?;
        if opened.as_ref().is_some_and(|scan| scan.is_on_device()) {
            self.driver.without_sites();
        }
        Ok(opened)
    }

    fn open(&self) -> Result<Box<dyn EndScan>> {
        Ok(scanner::open(self.options, &self.driver.plan, self.reporter)?)
    }

    /// Style of the hits in the output.
    fn style(&self) -> HitStyle {
        HitStyle {
            page: self.options.page,
            columns: self.options.columns.clone(),
            as_pattern: self.options.as_pattern,
            pam: self.driver.wanted.pam.clone(),
        }
    }

    /// The first line of the table.
    fn first_line(&self) -> String {
        match self.options.amplicons {
            None => HitLines::new(self.options.format, self.style(), &[]).header(self.options.invert),
            Some(_) => AmpliconLines::header(self.options.format),
        }
    }

    /// The stage for progress reports.
    fn stage(&self) -> Stage {
        let mates = self.options.mates().map(|mates| &mates.file);
        let texts = self.options.texts.iter().chain(mates);
        let bytes = texts.map(|path| estimate::bytes(path, self.options.part));
        Stage {
            doing: "searching",
            counted: Some(["text", "texts"]),
            bytes: Some(Arc::clone(&self.searched)),
            size: bytes.sum(),
            total: None,
        }
    }

    fn stretch(&self) -> (u64, u64) {
        let stretches = self.stretches.lock().unwrap_or_else(PoisonError::into_inner);
        let places = stretches.iter().map(SearchedRange::places);
        places.fold((0, 0), |(begin, end), (from, to)| (begin + from, end + to))
    }
}
