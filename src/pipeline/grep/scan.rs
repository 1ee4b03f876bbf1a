//! The search engines of `swalign grep`.

use super::sought::{WordsOrPatterns, patterns};
use crate::engine::cpu::simd::InstructionSet;
use crate::engine::gpu::Card;
use crate::patterns::lines::dictionary::numbers::SharedCounters;
use crate::patterns::lines::dictionary::words::GivenWords;
use crate::patterns::lines::dictionary::{self, Dictionary, gpu::GpuWordScan};
use crate::patterns::lines::gpu::{self, GpuLineScan};
use crate::patterns::lines::pattern::{GrepPattern, PatternSyntax};
use crate::patterns::lines::plain;
use crate::patterns::lines::select::{LineCollector, Span};
use crate::patterns::lines::sliced::SlicedLineScan;
use crate::patterns::scan::bitap::{Pending, TextEnds};
use crate::patterns::search::MatchRule;
use crate::pipeline::{Reporter, device};
use crate::terms::error::{EngineError, Error, Result};
use crate::terms::options::{DeviceChoice, GrepOptions, GrepOutput, OccurrenceRule, WordPosition};
use std::ops::Range;
use std::sync::Arc;

/// Size of a block in bytes, for the CPU and for a GPU.
const BLOCK: usize = 4 << 20;
const GPU_BLOCK: usize = 32 << 20;
/// Bytes of a block for each thread that looks up words.
const OF_THREAD: usize = 1 << 20;
/// Minimum number of words for dictionary look-up on a GPU. Fewer words are searched as patterns.
const LOOKED_UP: usize = 32;
/// Number of blocks that a GPU holds besides the current one: one being sent, one being searched.
const ON_GPU: usize = 2;

/// Search engine for lines.
pub enum LineScan {
    Sliced(SlicedLineScan),
    Plain(Vec<GrepPattern>, MatchRule),
    Gpu(Box<GpuLineScan>),
    /// A dictionary, with the block size in bytes.
    Words(Box<Dictionary>, usize),
    GpuWords(Box<GpuWordScan>),
    PlainWords(GivenWords, OccurrenceRule),
}

/// Matches that a device has found in a block.
#[derive(Default)]
pub enum BlockMatches {
    #[default]
    Nothing,
    Ends(TextEnds),
    Words(dictionary::gpu::TextLookup),
}

impl LineScan {
    /// Opens the requested engine.
    pub fn open(options: &GrepOptions, sought: WordsOrPatterns, reporter: &dyn Reporter) -> Result<LineScan> {
        let patterns = match sought {
            WordsOrPatterns::Words(words) if are_looked_up(options, &words) => {
                return LineScan::of_words(options, words, reporter);
            }
            WordsOrPatterns::Words(words) => own_patterns(options, &words)?,
            WordsOrPatterns::Patterns(_) if needs_words(options) => {
                return Err(Error::Usage(ONLY_WORDS.to_string()));
            }
            WordsOrPatterns::Patterns(patterns) => patterns,
        };
        let rule = MatchRule { max_edits: options.max_edits, indels: options.indels };
        Ok(match &options.device {
            device @ (DeviceChoice::Cpu(_) | DeviceChoice::Auto) => {
                LineScan::Sliced(SlicedLineScan::new(device::instruction_set(device)?, &patterns, rule))
            }
            DeviceChoice::Plain => LineScan::Plain(patterns, rule),
            DeviceChoice::Gpu(name) => {
                let scan = GpuLineScan::new(card(name.as_deref())?, &patterns, rule)?;
                note_left(&scan, patterns.len(), reporter);
                LineScan::Gpu(Box::new(scan))
            }
        })
    }

    fn of_words(options: &GrepOptions, words: GivenWords, reporter: &dyn Reporter) -> Result<LineScan> {
        let rule = options.rule;
        let set = match &options.device {
            DeviceChoice::Plain => return Ok(LineScan::PlainWords(words, rule)),
            device @ (DeviceChoice::Cpu(_) | DeviceChoice::Auto) => device::instruction_set(device)?,
            DeviceChoice::Gpu(_) if needs_places(options) => {
                reporter.note("-o and --count-by-pattern run on the CPU");
                InstructionSet::best()
            }
            DeviceChoice::Gpu(name) => match GpuWordScan::new(card(name.as_deref())?, words.clone(), rule) {
                Ok(scan) => return Ok(LineScan::GpuWords(Box::new(scan))),
                Err(EngineError::Unsupported(problem)) => {
                    reporter.note(&format!("looking up words on the CPU: {problem}"));
                    InstructionSet::best()
                }
                Err(error) => return Err(error.into()),
            },
        };
        let block = (OF_THREAD * options.threads).clamp(BLOCK, GPU_BLOCK);
        Ok(LineScan::Words(Box::new(Dictionary::new(set, words, rule)), block))
    }

    /// Bytes of a block.
    pub fn block(&self) -> usize {
        match self {
            LineScan::Gpu(_) | LineScan::GpuWords(_) => GPU_BLOCK,
            LineScan::Words(_, block) => *block,
            _ => BLOCK,
        }
    }

    /// Number of blocks that may be started before the current one is done.
    pub fn ahead(&self) -> usize {
        if matches!(self, LineScan::Gpu(_)) { ON_GPU } else { 0 }
    }

    pub fn begin(&self, text: &[u8]) -> Result<Option<Box<Pending>>> {
        match self {
            LineScan::Gpu(scan) => Ok(scan.begin(text).map(|pending| Some(Box::new(pending)))?),
            _ => Ok(None),
        }
    }

    /// Waits for the matches that a device finds.
    pub fn finish(&self, text: &[u8], pending: Option<Box<Pending>>) -> Result<BlockMatches> {
        match (self, pending) {
            (LineScan::Gpu(scan), Some(pending)) => Ok(BlockMatches::Ends(scan.finish(text, *pending)?)),
            (LineScan::GpuWords(scan), _) => Ok(BlockMatches::Words(scan.find(text)?)),
            _ => Ok(BlockMatches::Nothing),
        }
    }

    /// The lines that match in a piece of a block.
    pub fn lines(&self, block: &[u8], piece: Range<usize>, found: &BlockMatches) -> Vec<Span> {
        match (self, found) {
            (LineScan::Gpu(scan), BlockMatches::Ends(ends)) => scan.lines(block, piece, ends),
            (LineScan::GpuWords(scan), BlockMatches::Words(found)) => scan.lines(block, piece, found),
            (LineScan::Sliced(scan), _) => scan.lines(&block[piece]),
            (LineScan::Plain(patterns, rule), _) => plain::lines(&block[piece], patterns, rule),
            (LineScan::Words(dictionary, _), _) => dictionary.lines(&block[piece]),
            (LineScan::PlainWords(words, rule), _) => dictionary::plain::lines(&block[piece], words, rule),
            // A device has searched each block before its lines are requested.
            (LineScan::Gpu(_) | LineScan::GpuWords(_), _) => Vec::new(),
        }
    }

    /// The matching stretches of a text, and the matching lines. Lines without such a stretch are included if the empty
    /// word is sought.
    pub fn stretches(&self, text: &[u8]) -> (Vec<Span>, Vec<Span>) {
        match self {
            LineScan::Words(dictionary, _) => {
                let stretches = dictionary.stretches(text);
                let lines =
                    if dictionary.has_empty() { dictionary.lines(text) } else { lines_of(text, &stretches) };
                (stretches, lines)
            }
            LineScan::PlainWords(words, rule) => {
                (dictionary::plain::stretches(text, words, rule), dictionary::plain::lines(text, words, rule))
            }
            _ => Default::default(),
        }
    }

    /// Counters for the occurrences of each word.
    pub fn numbers(&self) -> SharedCounters {
        match self {
            LineScan::Words(dictionary, _) => SharedCounters::of(dictionary),
            LineScan::PlainWords(words, _) => SharedCounters::of_words(words.len()),
            _ => SharedCounters::of_words(0),
        }
    }

    /// Adds the occurrences of each word in a text.
    pub fn count(&self, text: &[u8], numbers: &SharedCounters) {
        match self {
            LineScan::Words(dictionary, _) => dictionary.count(text, numbers),
            LineScan::PlainWords(words, rule) => {
                let own = dictionary::plain::numbers(text, words, rule);
                (0..).zip(own).for_each(|(word, count)| numbers.add(word, count));
            }
            _ => {}
        }
    }

    /// The count of each word, in the order in which the words were given.
    pub fn counted(&self, numbers: &SharedCounters) -> Vec<u64> {
        match self {
            LineScan::Words(dictionary, _) => numbers.finish(dictionary),
            _ => numbers.sums(),
        }
    }
}

const ONLY_WORDS: &str = "-o, -w, -x, --prefix and --count-by-pattern need literal patterns without edits; use -F, \
                          and leave out -k";

/// Whether words are found by dictionary look-up.
fn are_looked_up(options: &GrepOptions, words: &GivenWords) -> bool {
    let on_gpu = matches!(options.device, DeviceChoice::Gpu(_));
    !on_gpu || needs_words(options) || words.len() >= LOOKED_UP
}

/// Whether the options require a dictionary.
fn needs_words(options: &GrepOptions) -> bool {
    options.rule.whole_words || options.rule.place != WordPosition::Anywhere || needs_places(options)
}

/// Whether the output needs the positions of matches in lines.
fn needs_places(options: &GrepOptions) -> bool {
    matches!(options.output, GrepOutput::Stretches | GrepOutput::Table)
}

fn card(name: Option<&str>) -> Result<Arc<Card>> {
    let remedy = |error| if name.is_none() { device::with_remedy(error) } else { error };
    Ok(Card::open(name, false).map_err(remedy)?)
}

fn own_patterns(options: &GrepOptions, words: &GivenWords) -> Result<Vec<GrepPattern>> {
    let reading = PatternSyntax { literal: true, any_case: options.rule.any_case };
    patterns(words, reading).map_err(|fault| Error::Usage(format!("{}; {}", fault.problem, fault.remedy)))
}

fn lines_of(text: &[u8], stretches: &[Span]) -> Vec<Span> {
    let mut finder = LineCollector::new(text);
    stretches.iter().for_each(|stretch| finder.take(stretch.start));
    finder.lines()
}

/// Notes which patterns the device leaves to the CPU.
fn note_left(scan: &GpuLineScan, patterns: usize, reporter: &dyn Reporter) {
    let (left, rows, edits) = (scan.left_to_cores(), gpu::MOST_ROWS, gpu::MOST_EDITS);
    if left > 0 {
        reporter.note(&format!(
            "{left} of {patterns} patterns are searched on the CPU: the GPU supports up to {rows} characters and \
             {edits} edits"
        ));
    }
}
