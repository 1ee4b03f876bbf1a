//! Texts laid behind one another, and how a batch is cut where its ends are too many to be held at once.

use super::texts::SearchText;
use crate::search::stream::{Seams, Stream, Stretch};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A text under way, with the codes that a scan takes.
pub struct ActiveText {
    pub text: SearchText,
    /// Bytes of all files before its beginning and its end, about.
    bytes: [u64; 2],
    /// No further hit of it is asked for.
    done: AtomicBool,
}

impl ActiveText {
    pub fn new(text: SearchText, bytes: [u64; 2]) -> ActiveText {
        ActiveText { text, bytes, done: AtomicBool::new(false) }
    }

    /// Bytes of all files before the end of its first `letters`, about.
    pub fn place(&self, letters: usize) -> u64 {
        let ([begin, end], all) = (self.bytes, self.text.codes().len().max(1) as u128);
        begin + (u128::from(end - begin) * letters as u128 / all) as u64
    }

    pub fn is_done(&self) -> bool {
        self.done.load(Ordering::Relaxed)
    }

    pub fn set_done(&self) {
        self.done.store(true, Ordering::Relaxed);
    }
}

/// How parts of texts are laid into a batch.
#[derive(Clone, Copy)]
pub struct Layout {
    pub seams: Seams,
    /// Whether a scan takes them, so that their codes are laid behind one another.
    pub scanned: bool,
}

/// Texts, of which the first may have begun in the batch before, and the last may go on in the next.
#[derive(Default)]
pub struct TextBatch {
    pub texts: Vec<Arc<ActiveText>>,
    pub stream: Stream,
    /// Letters that were laid into it, about.
    pub laid: usize,
}

impl TextBatch {
    /// Appends the part `own` of a text.
    pub fn push(&mut self, layout: &Layout, active: &Arc<ActiveText>, own: Range<usize>) {
        if layout.scanned {
            self.stream.push(&layout.seams, self.texts.len(), active.text.codes(), own);
            self.laid = self.stream.codes.len();
        } else {
            self.laid += own.len();
            self.stream.mark(self.texts.len(), own);
        }
        self.texts.push(Arc::clone(active));
    }

    /// Whether all of its texts are done.
    pub fn is_done(&self) -> bool {
        self.texts.iter().all(|active| active.is_done())
    }

    /// Letters whose ends are its own.
    pub fn letters(&self) -> usize {
        self.stream.stretches.iter().map(Stretch::own).sum()
    }
}

/// A part of a text.
type TextRange = (Arc<ActiveText>, Range<usize>);

/// What is left of a batch.
pub struct Remainder {
    whole: Option<TextBatch>,
    pieces: VecDeque<TextRange>,
}

impl Remainder {
    pub fn of(batch: TextBatch) -> Remainder {
        Remainder { whole: Some(batch), pieces: VecDeque::new() }
    }

    /// The next portion, of at most this many letters; `None` where nothing is left.
    pub fn next(&mut self, layout: &Layout, letters: usize) -> Option<TextBatch> {
        if let Some(batch) = self.whole.take() {
            if batch.letters() <= letters {
                return Some(batch);
            }
            self.pieces.extend(pieces(batch));
        }
        let mut portion = TextBatch::default();
        let mut room = letters;
        while let Some((active, own)) = self.pieces.pop_front() {
            // A text that is done needs no further scan.
            let own = if active.is_done() { own.end..own.end } else { own };
            if own.len() > room {
                let middle = own.start + room;
                portion.push(layout, &active, own.start..middle);
                self.pieces.push_front((active, middle..own.end));
                break;
            }
            portion.push(layout, &active, own.clone());
            room -= own.len();
            if room == 0 {
                break;
            }
        }
        (!portion.texts.is_empty()).then_some(portion)
    }

    /// Puts the last portion back, to be cut anew.
    pub fn put_back(&mut self, portion: TextBatch) {
        for piece in pieces(portion).rev() {
            self.pieces.push_front(piece);
        }
    }
}

fn pieces(batch: TextBatch) -> impl DoubleEndedIterator<Item = TextRange> {
    let TextBatch { texts, stream, .. } = batch;
    texts.into_iter().zip(stream.stretches).map(|(active, stretch)| (active, stretch.after..stretch.to))
}
