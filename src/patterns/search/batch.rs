//! Texts laid one after the other, and how a batch is cut if it has too many ends to be held at once.

use super::circle::Circle;
use super::stream::{Seams, Stream, TextStretch};
use std::collections::VecDeque;
use std::mem;
use std::ops::{Deref, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Maximum number of texts in a batch.
const TEXTS: usize = 1 << 17;
/// Bases of the first part of a text if only its first hit is asked for. Each further part has twice as many bases. So
/// the scan reads at most these bases and twice the bases before the end of the hit, unless an earlier hit is still
/// possible.
pub const FIRST_LETTERS: usize = 1 << 18;

/// A text, as its owner holds it.
pub trait SearchedText: Send + Sync {
    /// Codes of DNA; those of a circle are unrolled.
    fn codes(&self) -> &[u8];

    /// How the text is unrolled if it is a circle.
    fn circle(&self) -> Option<Circle>;
}

/// A text that is being searched.
#[derive(Debug)]
pub struct ActiveText<T> {
    text: T,
    /// Whether no further hit of it is asked for.
    is_done: AtomicBool,
}

impl<T> Deref for ActiveText<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.text
    }
}

impl<T> ActiveText<T> {
    pub fn new(text: T) -> Arc<ActiveText<T>> {
        Arc::new(ActiveText { text, is_done: AtomicBool::new(false) })
    }

    pub fn is_done(&self) -> bool {
        self.is_done.load(Ordering::Relaxed)
    }

    pub fn set_done(&self) {
        self.is_done.store(true, Ordering::Relaxed);
    }
}

/// How parts of texts are laid into a batch.
#[derive(Clone, Copy)]
pub struct TextLayout {
    pub seams: Seams,
    /// Whether a scan reads the texts, so that their codes are copied into the stream.
    pub scanned: bool,
}

/// Texts. The first may have begun in the batch before, and the last may continue in the next batch.
pub struct TextBatch<T> {
    pub texts: Vec<Arc<ActiveText<T>>>,
    pub stream: Stream,
    /// Approximate number of bases in it.
    pub laid: usize,
}

impl<T> Default for TextBatch<T> {
    fn default() -> TextBatch<T> {
        TextBatch { texts: Vec::new(), stream: Stream::default(), laid: 0 }
    }
}

impl<T: SearchedText> TextBatch<T> {
    /// Appends the part `own` of a text.
    pub fn push(&mut self, layout: &TextLayout, text: &Arc<ActiveText<T>>, own: Range<usize>) {
        if layout.scanned {
            self.stream.push(&layout.seams, self.texts.len(), text.codes(), own);
            self.laid = self.stream.codes.len();
        } else {
            self.laid += own.len();
            self.stream.mark(self.texts.len(), own);
        }
        self.texts.push(Arc::clone(text));
    }

    /// Whether all of its texts are done.
    pub fn is_done(&self) -> bool {
        self.texts.iter().all(|text| text.is_done())
    }

    /// Number of bases whose ends belong to this batch.
    pub fn letters(&self) -> usize {
        self.stream.stretches.iter().map(TextStretch::own).sum()
    }
}

/// A part of a text.
type TextRange<T> = (Arc<ActiveText<T>>, Range<usize>);

/// The rest of a batch.
pub struct Remainder<T> {
    whole: Option<TextBatch<T>>,
    pieces: VecDeque<TextRange<T>>,
}

impl<T: SearchedText> Remainder<T> {
    pub fn of(batch: TextBatch<T>) -> Remainder<T> {
        Remainder { whole: Some(batch), pieces: VecDeque::new() }
    }

    /// The next portion, of at most `letters` bases; `None` if nothing is left.
    pub fn next(&mut self, layout: &TextLayout, letters: usize) -> Option<TextBatch<T>> {
        if let Some(batch) = self.whole.take() {
            if batch.letters() <= letters {
                return Some(batch);
            }
            self.pieces.extend(pieces(batch));
        }
        let mut portion = TextBatch::default();
        let mut room = letters;
        while let Some((text, own)) = self.pieces.pop_front() {
            // A text that is done needs no further scan.
            let own = if text.is_done() { own.end..own.end } else { own };
            if own.len() > room {
                let middle = own.start + room;
                portion.push(layout, &text, own.start..middle);
                self.pieces.push_front((text, middle..own.end));
                break;
            }
            portion.push(layout, &text, own.clone());
            room -= own.len();
            if room == 0 {
                break;
            }
        }
        (!portion.texts.is_empty()).then_some(portion)
    }

    /// Puts the last portion back, to be cut anew.
    pub fn put_back(&mut self, portion: TextBatch<T>) {
        for piece in pieces(portion).rev() {
            self.pieces.push_front(piece);
        }
    }
}

fn pieces<T>(batch: TextBatch<T>) -> impl DoubleEndedIterator<Item = TextRange<T>> {
    let TextBatch { texts, stream, .. } = batch;
    texts.into_iter().zip(stream.stretches).map(|(text, stretch)| (text, stretch.after..stretch.to))
}

/// What batches of a search have in common.
#[derive(Clone, Copy)]
pub struct BatchRules {
    /// Bases of a full batch.
    pub letters: usize,
    /// Whether only the first hit of each text is asked for.
    pub first: bool,
}

impl BatchRules {
    /// Lays a text into the batch, and what does not fit into further batches. `send` takes a full batch, and returns
    /// whether it takes more. `before` is called before a part of the text is laid. Returns whether more texts are
    /// wanted.
    pub fn lay<T: SearchedText, E>(
        &self,
        layout: &TextLayout,
        text: &Arc<ActiveText<T>>,
        batch: &mut TextBatch<T>,
        before: impl Fn(Range<usize>) -> Result<(), E>,
        mut send: impl FnMut(TextBatch<T>) -> Result<bool, E>,
    ) -> Result<bool, E> {
        let letters = text.codes().len();
        let mut after = 0;
        let mut most = if self.first { FIRST_LETTERS } else { usize::MAX };
        // Later parts depend on whether a scan completes the text, so each part is a separate batch.
        let mut is_part = false;
        loop {
            let is_full = batch.laid >= self.letters || batch.texts.len() >= TEXTS;
            if (is_full || is_part) && !send(mem::take(batch))? {
                return Ok(false);
            }
            let room = (self.letters - batch.laid).min(most);
            // A text that is done needs no further scan.
            let to = if text.is_done() { letters } else { letters.min(after + room) };
            let from = if text.is_done() { to } else { after };
            before(from..to)?;
            batch.push(layout, text, from..to);
            after = to;
            if after == letters {
                return if is_part { send(mem::take(batch)) } else { Ok(true) };
            }
            is_part = self.first;
            most = most.saturating_mul(2);
        }
    }
}
