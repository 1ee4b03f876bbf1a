//! `swalign search`: one thread reads texts and concatenates them. The calling thread searches them
//! ([`crate::patterns::search::driver`]) and writes the hits in the order of the texts.

mod active;
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
use super::scanner::{self, SearchWork};
use super::threads::{set_threads, start};
use super::{Reporter, Stage, estimate};
use crate::input::reader::{FileState, Slice, slices};
use crate::output::writer::Output;
use crate::output::writer::hits::{AmpliconLines, HitLines, HitStyle, sam_header};
use crate::output::writer::output::CompanionFiles;
use crate::patterns::search::amplicons::PatternPairs;
use crate::patterns::search::batch::BatchRules;
use crate::patterns::search::driver::{Driver, oriented};
use crate::patterns::search::exact;
use crate::patterns::search::hits::HitOptions;
use crate::patterns::search::pattern::SearchPattern;
use crate::patterns::search::rates::Rate;
use crate::patterns::search::{EndScan, MatchRule};
use crate::terms::error::Result;
use crate::terms::options::{DeviceChoice, SearchFormat, SearchOptions};
use counts::PatternCounts;
use outputs::SearchOutputs;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use texts::SearchedRange;

/// Bases of a batch per thread, and minimum and maximum of any batch.
const LETTERS: usize = 1 << 22;
const LEAST_LETTERS: usize = 1 << 24;
const MOST_LETTERS: usize = 1 << 27;
/// Maximum number of bases times patterns of a batch, unless the patterns are looked up or the batch would be shorter
/// than [`SHORTEST`].
const WORK: usize = 1 << 36;
const SHORTEST: usize = 1 << 19;

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
    batches: BatchRules,
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
    let (to_writer, from_reader) = sync_channel(1);
    reporter.stage(search.stage());
    let amplicons = options.amplicons.as_ref().map(|_| 0);
    let patterns = search.patterns.len() as u64;
    let mut summary = SearchSummary { patterns, amplicons, ..SearchSummary::default() };
    let opened = search.choose()?;
    let search = &search;
    thread::scope(|scope| {
        start(scope, || {
            let batches = to_writer;
            if let Err(error) = search.read(&batches) {
                // A writer that has stopped has an error of its own.
                let _ = batches.send(Err(error));
            }
        })?;
        // A GPU is opened while the first text is read.
        let scan = opened.map_or_else(|| search.open(), Ok)?;
        search.write(scan.as_ref(), from_reader, (&mut outputs, &mut counts), &mut summary)
    })?;
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
        let oriented = oriented(&patterns, options.strands);
        if options.part.is_some() && options.format == SearchFormat::Sam {
            patterns::check_names(&patterns)?;
        }
        let rate = options.edits_by_rate.map(|millionths| Rate { millionths });
        let longest = patterns.iter().map(|pattern| pattern.letters.len()).max().unwrap_or(0);
        let max_edits = rate.map_or(options.max_edits, |rate| rate.edits_of(longest));
        let rule = MatchRule { max_edits, indels: options.indels };
        patterns::check_edits(options, &rule)?;
        let pam = options.pam.as_ref().map(patterns::pam).transpose()?;
        let wanted = HitOptions {
            rule,
            rate,
            limits: options.limits,
            pam,
            every_end: options.every_end,
            best: options.best,
            first: options.first || options.invert,
            strands: options.strands,
            before: 0,
        }
        .reaching(patterns.iter().map(|pattern| pattern.letters.len()));
        let sites = scanner::sites(options, &wanted, &oriented)?;
        let letters = (LETTERS * options.threads).clamp(LEAST_LETTERS, MOST_LETTERS);
        let swept = match options.device {
            DeviceChoice::Plain => oriented.len().max(1),
            _ if sites.is_some() => 1,
            DeviceChoice::Gpu(_) if exact::words_pay(&oriented, &rule) => 1,
            DeviceChoice::Cpu(_) | DeviceChoice::Auto if exact::pays(&oriented, &rule) => 1,
            _ => oriented.len().max(1),
        };
        let batches = BatchRules { letters: letters.min((WORK / swept).max(SHORTEST)), first: wanted.first };
        let slices = options.part.map(|share| slices(&options.texts, share)).transpose()?;
        let slices = slices.map(|slices| slices.into_iter().map(|(slice, _)| slice).collect());
        let stretches = Mutex::default();
        let given = |choice| amplicons::pairs(choice, &options.patterns, &patterns, reporter);
        let pairs = options.amplicons.as_ref().map(given).transpose()?;
        warn(reporter, patterns::everywhere(&patterns, &wanted));
        let driver = Driver::new(oriented, wanted, sites);
        Ok(SearchRun {
            options,
            reporter,
            patterns,
            driver,
            batches,
            pairs,
            slices,
            first_pass: Vec::new(),
            stretches,
            searched: Arc::default(),
        })
    }

    /// Chooses between a scan and the search from PAMs. Returns the scan if it had to be opened for the choice.
    fn choose(&mut self) -> Result<Option<Box<dyn EndScan>>> {
        let sites = self.driver.sites().filter(|sites| !scanner::needs_no_device(self.options, sites));
        let opened = sites.map(|_| self.open()).transpose()?;
        if opened.as_ref().is_some_and(|scan| scan.is_on_device()) {
            self.driver.without_sites();
        }
        Ok(opened)
    }

    /// Opens the scan.
    fn open(&self) -> Result<Box<dyn EndScan>> {
        let Driver { oriented, wanted, .. } = &self.driver;
        let from_pams =
            self.driver.sites().is_some_and(|sites| scanner::needs_no_device(self.options, sites));
        let work = SearchWork { patterns: oriented, rule: &wanted.rule, from_pams };
        Ok(scanner::open(self.options, &work, self.reporter)?)
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
