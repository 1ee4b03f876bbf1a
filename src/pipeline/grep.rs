//! `swalign grep`: one thread reads blocks of lines. The calling thread has all threads find the matching lines of a
//! block, and writes them in order. A GPU starts on the next blocks while the calling thread processes one.

mod scan;
mod sought;

use super::report::{Reporter, warn};
use super::threads::{set_threads, start};
use crate::input::reader::{LineBlock, LineReader};
use crate::output::writer::Output;
use crate::patterns::lines::NEWLINE;
use crate::patterns::lines::dictionary::numbers::SharedCounters;
use crate::patterns::lines::dictionary::words::GivenWords;
use crate::patterns::lines::select::{self, Span};
use crate::patterns::scan::bitap::Pending;
use crate::terms::casts::to_usize;
use crate::terms::error::{Error, Result};
use crate::terms::options::{GrepOptions, GrepOutput};
use rayon::prelude::*;
use scan::{BlockMatches, LineScan};
use sought::WordsOrPatterns;
use std::collections::VecDeque;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Size of the pieces of a block that threads process, in bytes. A piece and its bit planes fit in a core's L2 cache.
const PIECE: usize = 512 << 10;
/// Number of blocks in progress: one being read, one waiting, one being searched.
const BLOCKS: usize = 3;
/// Name of stdin in the output.
const STDIN: &str = "(standard input)";

/// Result of a grep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GrepSummary {
    /// Selected lines. With -q, at most one.
    pub selected: u64,
    /// Whether some file could not be read.
    pub failed: bool,
}

impl GrepSummary {
    /// The exit code of grep. With -q, a match takes precedence over a failure.
    pub fn exit_code(&self, output: GrepOutput) -> u8 {
        match (self.selected > 0, self.failed) {
            (true, _) if output == GrepOutput::Nothing => 0,
            (_, true) => 2,
            (found, false) => u8::from(!found),
        }
    }
}

/// Message from the reader, sent with the index of the file.
enum News {
    Lines(LineBlock),
    Failed(Error),
    /// The file was read completely.
    End,
}

/// A message that the calling thread has started to process.
enum StartedMessage {
    /// A block, and the pending work on it if a device has started it.
    Lines(LineBlock, Option<Box<Pending>>),
    Failed(Error),
    End,
}

struct GrepRun<'a> {
    options: &'a GrepOptions,
    reporter: &'a dyn Reporter,
    scan: LineScan,
    /// The words as given, and their counts, if requested.
    table: Option<(GivenWords, SharedCounters)>,
    /// Whether the writer waits for lines.
    waits: AtomicBool,
    /// Index of the first file that is still needed. Earlier files are not read further.
    wanted: AtomicUsize,
}

/// The selected lines of a piece, and the matching stretches if only these are shown.
struct PieceLines<'a> {
    text: &'a [u8],
    lines: Vec<Span>,
    stretches: Vec<Span>,
}

/// Progress of writing a file.
#[derive(Default)]
struct WriteProgress {
    selected: u64,
    /// Lines before the next piece.
    lines: u64,
}

/// Runs `swalign grep` with the given options.
pub fn grep(options: &GrepOptions, reporter: &dyn Reporter) -> Result<GrepSummary> {
    let options = &GrepOptions { threads: set_threads(options.threads, reporter)?, ..options.clone() };
    let sought = WordsOrPatterns::read(options)?;
    let given = match &sought {
        WordsOrPatterns::Words(words) if options.output == GrepOutput::Table => Some(words.clone()),
        _ => None,
    };
    let scan = LineScan::open(options, sought, reporter)?;
    let table = given.map(|words| (words, scan.numbers()));
    let blocks = BLOCKS + scan.ahead();
    let (waits, wanted) = (AtomicBool::new(false), AtomicUsize::new(0));
    let grep = GrepRun { options, reporter, scan, table, waits, wanted };
    let mut output = Output::create(None)?;
    let (to_writer, from_reader) = sync_channel(1);
    let (to_reader, spare) = sync_channel(blocks);
    for _ in 0..blocks {
        // The channel has capacity for all of them.
        let _ = to_reader.send(LineBlock::default());
    }
    let mut summary = thread::scope(|scope| {
        start(scope, || {
            let (to_writer, spare) = (to_writer, spare);
            grep.read(&to_writer, &spare);
        })?;
        grep.write(from_reader, to_reader, &mut output)
    })?;
    summary.selected += grep.put_table(&mut output)?;
    output.finish()?;
    Ok(summary)
}

impl GrepRun<'_> {
    /// The reader's stage: all files, until the writer has stopped.
    fn read(&self, to_writer: &SyncSender<(usize, News)>, spare: &Receiver<LineBlock>) {
        for (file, path) in self.options.texts.iter().enumerate() {
            let news = self.read_file(file, path, to_writer, spare).map_or_else(News::Failed, |()| News::End);
            if to_writer.send((file, news)).is_err() {
                return;
            }
        }
    }

    fn read_file(
        &self,
        file: usize,
        path: &Path,
        to_writer: &SyncSender<(usize, News)>,
        spare: &Receiver<LineBlock>,
    ) -> Result<()> {
        let mut lines = LineReader::open(path, self.options.unzips)?;
        warn(self.reporter, lines.warning());
        let waits = || self.waits.load(Ordering::Relaxed);
        while self.wanted.load(Ordering::Relaxed) <= file
            && let Ok(mut block) = spare.recv()
            && lines.fill(&mut block, self.scan.block(), waits)?
            && to_writer.send((file, News::Lines(block))).is_ok()
        {}
        warn(self.reporter, lines.warning_of_end());
        Ok(())
    }

    /// The writer's stage, which also runs the search for lines.
    fn write(
        &self,
        news: Receiver<(usize, News)>,
        spare: SyncSender<LineBlock>,
        output: &mut Output,
    ) -> Result<GrepSummary> {
        let mut summary = GrepSummary::default();
        let mut progress = WriteProgress::default();
        let mut begun: VecDeque<(usize, StartedMessage)> = VecDeque::new();
        loop {
            if begun.len() <= self.scan.ahead()
                && let Some((file, news)) = self.next(&news, begun.is_empty())
            {
                begun.push_back((file, self.begin(file, news)?));
                continue;
            }
            let Some((file, stage)) = begun.pop_front() else { return Ok(summary) };
            match stage {
                StartedMessage::Lines(block, pending) => {
                    if self.is_wanted(file) {
                        let found = self.scan.finish(block.bytes(), pending)?;
                        self.put_block(file, block.bytes(), &found, &mut progress, output)?;
                    }
                    if progress.selected > 0 && self.options.output == GrepOutput::Nothing {
                        return Ok(GrepSummary { selected: progress.selected, ..summary });
                    }
                    // The reader may have left.
                    let _ = spare.try_send(block);
                }
                StartedMessage::Failed(error) => {
                    summary.failed = true;
                    self.reporter.note(&format!("error: {error}"));
                    // The block that was being filled is lost, so the reader gets a new one.
                    let _ = spare.try_send(LineBlock::default());
                    summary.selected += std::mem::take(&mut progress).selected;
                }
                StartedMessage::End => {
                    let _ = spare.try_send(LineBlock::default());
                    summary.selected += self.end_file(file, &mut progress, output)?;
                }
            }
        }
    }

    /// The next message. Returns `None` after the last one. If the thread is not `idle`, it does not wait, and `None`
    /// may also mean that no message has arrived yet.
    fn next(&self, news: &Receiver<(usize, News)>, idle: bool) -> Option<(usize, News)> {
        if !idle {
            return news.try_recv().ok();
        }
        self.waits.store(true, Ordering::Relaxed);
        let next = news.recv().ok();
        self.waits.store(false, Ordering::Relaxed);
        next
    }

    /// Starts a device on a block.
    fn begin(&self, file: usize, news: News) -> Result<StartedMessage> {
        Ok(match news {
            News::Lines(block) => {
                let pending = if self.is_wanted(file) { self.scan.begin(block.bytes())? } else { None };
                StartedMessage::Lines(block, pending)
            }
            News::Failed(error) => StartedMessage::Failed(error),
            News::End => StartedMessage::End,
        })
    }

    fn is_wanted(&self, file: usize) -> bool {
        self.wanted.load(Ordering::Relaxed) <= file
    }

    /// Writes the selected lines of a block.
    fn put_block(
        &self,
        file: usize,
        text: &[u8],
        found: &BlockMatches,
        progress: &mut WriteProgress,
        output: &mut Output,
    ) -> Result<()> {
        let piece = |piece| self.piece(text, piece, found);
        let pieces: Vec<PieceLines> = pieces(text).into_par_iter().map(piece).collect();
        let most = self.options.max_count.unwrap_or(u64::MAX);
        for PieceLines { text, mut lines, stretches } in pieces {
            lines.truncate(to_usize((most - progress.selected).min(lines.len() as u64)));
            match self.options.output {
                GrepOutput::Lines => self.put_lines(file, text, &lines, progress.lines, output)?,
                GrepOutput::Stretches => {
                    let end = lines.last().map_or(0, |line| line.end);
                    let own = stretches.partition_point(|stretch| stretch.start < end);
                    self.put_stretches(file, text, &stretches[..own], progress.lines, output)?;
                }
                _ => {}
            }
            progress.selected += lines.len() as u64;
            if self.options.numbers {
                progress.lines += select::count(text);
            }
        }
        let one = matches!(self.options.output, GrepOutput::Names | GrepOutput::Nothing);
        if progress.selected >= most || (one && progress.selected > 0) {
            self.wanted.store(file + 1, Ordering::Relaxed);
        }
        // The reader of a pipe gets the lines at once.
        output.flush_now()
    }

    fn piece<'a>(&self, block: &'a [u8], piece: Range<usize>, found: &BlockMatches) -> PieceLines<'a> {
        let text = &block[piece.clone()];
        let (mut stretches, lines) = match (self.options.output, &self.table) {
            (GrepOutput::Stretches, _) => self.scan.stretches(text),
            (_, Some((_, numbers))) => {
                self.scan.count(text, numbers);
                Default::default()
            }
            _ => (Vec::new(), self.scan.lines(block, piece, found)),
        };
        if self.options.invert {
            // The other lines contain no match.
            stretches.clear();
        }
        let lines = if self.options.invert { select::others(text, &lines) } else { lines };
        PieceLines { text, lines, stretches }
    }

    /// Writes lines. `before` is the number of lines before `text`.
    fn put_lines(
        &self,
        file: usize,
        text: &[u8],
        lines: &[Span],
        before: u64,
        output: &mut Output,
    ) -> Result<()> {
        let prefix = if self.options.names { [self.name(file), b":"].concat() } else { Vec::new() };
        let mut number = (0, before);
        let mut lines = lines.iter().peekable();
        while let Some(line) = lines.next() {
            let mut end = line.end;
            if self.options.numbers {
                number = (line.start, number.1 + select::count(&text[number.0..line.start]));
                output.put(&prefix)?;
                output.put(format!("{}:", number.1 + 1).as_bytes())?;
            } else if self.options.names {
                output.put(&prefix)?;
            } else {
                // Consecutive lines are written together.
                while let Some(next) = lines.next_if(|next| next.start == end + 1) {
                    end = next.end;
                }
            }
            output.put(&text[line.start..(end + 1).min(text.len())])?;
            if end == text.len() {
                output.put(&[NEWLINE])?;
            }
        }
        Ok(())
    }

    /// Writes matching stretches. `before` is the number of lines before `text`.
    fn put_stretches(
        &self,
        file: usize,
        text: &[u8],
        stretches: &[Span],
        before: u64,
        output: &mut Output,
    ) -> Result<()> {
        let prefix = if self.options.names { [self.name(file), b":"].concat() } else { Vec::new() };
        let mut number = (0, before);
        for stretch in stretches {
            output.put(&prefix)?;
            if self.options.numbers {
                let newlines = memchr::memchr_iter(NEWLINE, &text[number.0..stretch.start]).count();
                number = (stretch.start, number.1 + newlines as u64);
                output.put(format!("{}:", number.1 + 1).as_bytes())?;
            }
            output.put(&text[stretch.start..stretch.end])?;
            output.put(&[NEWLINE])?;
        }
        Ok(())
    }

    /// Writes the count of each word if requested. Returns the sum.
    fn put_table(&self, output: &mut Output) -> Result<u64> {
        let Some((words, numbers)) = &self.table else { return Ok(0) };
        let counted = self.scan.counted(numbers);
        for (word, count) in words.iter().zip(&counted) {
            output.put(format!("{count}\t").as_bytes())?;
            output.put(word)?;
            output.put(&[NEWLINE])?;
        }
        Ok(counted.iter().fold(0, |sum, &count| sum.saturating_add(count)))
    }

    /// Writes the output due at the end of a file. Returns the number of selected lines in it.
    fn end_file(&self, file: usize, progress: &mut WriteProgress, output: &mut Output) -> Result<u64> {
        let selected = std::mem::take(progress).selected;
        let name = self.name(file);
        match self.options.output {
            GrepOutput::Count if self.options.names => {
                output.put(&[name, b":", selected.to_string().as_bytes(), b"\n"].concat())?;
            }
            GrepOutput::Count => output.put(format!("{selected}\n").as_bytes())?,
            GrepOutput::Names if selected > 0 => output.put(&[name, b"\n"].concat())?,
            _ => {}
        }
        Ok(selected)
    }

    fn name(&self, file: usize) -> &[u8] {
        let path = &self.options.texts[file];
        if path == Path::new("-") { STDIN.as_bytes() } else { path.as_os_str().as_encoded_bytes() }
    }
}

/// Splits a text into pieces of whole lines.
fn pieces(text: &[u8]) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut begin = 0;
    while let Some(rest) = text.get(begin + PIECE..)
        && let Some(newline) = memchr::memchr(NEWLINE, rest)
    {
        let end = begin + PIECE + newline + 1;
        pieces.push(begin..end);
        begin = end;
    }
    pieces.push(begin..text.len());
    pieces
}
