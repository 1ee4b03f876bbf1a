//! What `swalign grep` finds lines with.

use crate::engine::gpu::Card;
use crate::engine::gpu::scan::bitap::{Ends, Pending};
use crate::error::EngineError;
use crate::grep::gpu::{self, OnGpu};
use crate::grep::pattern::Pattern;
use crate::grep::plain;
use crate::grep::select::Span;
use crate::grep::sliced::Sliced;
use crate::options::{GrepDevice, GrepOptions};
use crate::pipeline::{Reporter, device};
use crate::search::Rule;
use std::ops::Range;

/// Bytes of a block for the cores, and for a GPU.
const BLOCK: usize = 4 << 20;
const GPU_BLOCK: usize = 32 << 20;
/// Blocks that a GPU has besides the one in hand: one being sent, one being searched.
const ON_GPU: usize = 2;

/// What finds lines.
pub enum LineScan {
    Sliced(Sliced),
    Plain(Vec<Pattern>, Rule),
    Gpu(Box<OnGpu>),
}

impl LineScan {
    /// Opens what was asked for.
    pub fn open(
        options: &GrepOptions,
        patterns: Vec<Pattern>,
        reporter: &dyn Reporter,
    ) -> Result<LineScan, EngineError> {
        let rule = Rule { max_edits: options.max_edits, indels: options.indels };
        Ok(match &options.device {
            GrepDevice::Cpu(name) => {
                LineScan::Sliced(Sliced::new(device::instruction_set(name.as_deref())?, &patterns, rule))
            }
            GrepDevice::Plain => LineScan::Plain(patterns, rule),
            GrepDevice::Gpu(name) => {
                let remedy = |error| if name.is_none() { device::with_remedy(error) } else { error };
                let card = Card::open(name.as_deref(), false).map_err(remedy)?;
                let scan = OnGpu::new(card, &patterns, rule)?;
                note_left(&scan, patterns.len(), reporter);
                LineScan::Gpu(Box::new(scan))
            }
        })
    }

    /// Bytes of a block.
    pub fn block(&self) -> usize {
        if matches!(self, LineScan::Gpu(_)) { GPU_BLOCK } else { BLOCK }
    }

    /// Blocks that may be begun before the one in front is done.
    pub fn ahead(&self) -> usize {
        if matches!(self, LineScan::Gpu(_)) { ON_GPU } else { 0 }
    }

    pub fn begin(&self, text: &[u8]) -> Result<Option<Box<Pending>>, EngineError> {
        match self {
            LineScan::Gpu(scan) => scan.begin(text).map(|pending| Some(Box::new(pending))),
            LineScan::Sliced(_) | LineScan::Plain(..) => Ok(None),
        }
    }

    /// Where hits end, if a device has looked for them.
    pub fn finish(&self, text: &[u8], pending: Option<Box<Pending>>) -> Result<Ends, EngineError> {
        match (self, pending) {
            (LineScan::Gpu(scan), Some(pending)) => scan.finish(text, *pending),
            _ => Ok(Ends::default()),
        }
    }

    /// The lines that match in a piece of a block.
    pub fn lines(&self, block: &[u8], piece: Range<usize>, ends: &Ends) -> Vec<Span> {
        match self {
            LineScan::Sliced(scan) => scan.lines(&block[piece]),
            LineScan::Plain(patterns, rule) => plain::lines(&block[piece], patterns, rule),
            LineScan::Gpu(scan) => scan.lines(block, piece, ends),
        }
    }
}

/// Says which patterns the device leaves to the cores.
fn note_left(scan: &OnGpu, patterns: usize, reporter: &dyn Reporter) {
    let (left, rows, edits) = (scan.left_to_cores(), gpu::MOST_ROWS, gpu::MOST_EDITS);
    if left > 0 {
        reporter.note(&format!(
            "{left} of {patterns} patterns are searched on the CPU: the GPU takes up to {rows} characters and {edits} edits"
        ));
    }
}
