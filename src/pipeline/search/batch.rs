//! Texts laid behind one another, and how a batch is cut where its ends are too many to be held at once.

use crate::reader::Text;
use crate::search::stream::{Seams, Stream, Stretch};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A text under way. Its codes are those of a scan.
pub struct Job {
    pub text: Text,
    /// Where in all files it begins and ends, in bytes, about.
    bytes: [u64; 2],
    /// Nothing more is asked of it.
    done: AtomicBool,
}

impl Job {
    pub fn new(text: Text, bytes: [u64; 2]) -> Job {
        Job { text, bytes, done: AtomicBool::new(false) }
    }

    /// Where in all files so much of it ends.
    pub fn place(&self, letters: usize) -> u64 {
        let ([begin, end], all) = (self.bytes, self.text.codes.len().max(1) as u128);
        begin + (u128::from(end - begin) * letters as u128 / all) as u64
    }

    pub fn is_done(&self) -> bool {
        self.done.load(Ordering::Relaxed)
    }

    pub fn set_done(&self) {
        self.done.store(true, Ordering::Relaxed);
    }
}

/// Texts, of which the first may have begun in the batch before, and the last may go on in the next.
#[derive(Default)]
pub struct Batch {
    pub jobs: Vec<Arc<Job>>,
    pub stream: Stream,
}

impl Batch {
    /// Appends the part `own` of a text.
    pub fn push(&mut self, seams: &Seams, job: &Arc<Job>, own: Range<usize>) {
        self.stream.push(seams, self.jobs.len(), &job.text.codes, own);
        self.jobs.push(Arc::clone(job));
    }

    /// Whether nothing more is asked of any of its texts.
    pub fn is_done(&self) -> bool {
        self.jobs.iter().all(|job| job.is_done())
    }

    /// Letters whose ends are its own.
    pub fn letters(&self) -> usize {
        self.stream.stretches.iter().map(Stretch::own).sum()
    }
}

/// A part of a text.
type Piece = (Arc<Job>, Range<usize>);

/// What is left of a batch.
pub struct Rest {
    whole: Option<Batch>,
    pieces: VecDeque<Piece>,
}

impl Rest {
    pub fn of(batch: Batch) -> Rest {
        Rest { whole: Some(batch), pieces: VecDeque::new() }
    }

    /// The next portion: of so many letters at most, or all that is left.
    pub fn next(&mut self, seams: &Seams, letters: usize) -> Option<Batch> {
        if let Some(batch) = self.whole.take() {
            if batch.letters() <= letters {
                return Some(batch);
            }
            self.pieces.extend(pieces(batch));
        }
        let mut portion = Batch::default();
        let mut room = letters;
        while let Some((job, own)) = self.pieces.pop_front() {
            // What is done needs no further scan.
            let own = if job.is_done() { own.end..own.end } else { own };
            if own.len() > room {
                let middle = own.start + room;
                portion.push(seams, &job, own.start..middle);
                self.pieces.push_front((job, middle..own.end));
                break;
            }
            portion.push(seams, &job, own.clone());
            room -= own.len();
            if room == 0 {
                break;
            }
        }
        (!portion.jobs.is_empty()).then_some(portion)
    }

    /// Puts the last portion back, to be cut anew.
    pub fn put_back(&mut self, portion: Batch) {
        for piece in pieces(portion).rev() {
            self.pieces.push_front(piece);
        }
    }
}

fn pieces(batch: Batch) -> impl DoubleEndedIterator<Item = Piece> {
    let Batch { jobs, stream } = batch;
    jobs.into_iter().zip(stream.stretches).map(|(job, stretch)| (job, stretch.after..stretch.to))
}
