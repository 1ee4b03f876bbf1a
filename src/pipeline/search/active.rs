//! A text that is being searched.

use super::texts::SearchText;
use crate::patterns::search::batch::TextHandle;
use crate::patterns::search::circle::Circle;
use crate::terms::casts::to_u64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A text in progress, with its progress in bytes.
pub struct ActiveText {
    pub text: SearchText,
    /// Approximate number of bytes of all files before its start and before its end.
    bytes: [u64; 2],
    /// Whether no further hit of the text is needed.
    done: AtomicBool,
}

impl ActiveText {
    pub fn new(text: SearchText, bytes: [u64; 2]) -> ActiveText {
        ActiveText { text, bytes, done: AtomicBool::new(false) }
    }

    /// Approximate number of bytes of all files before the end of its first `letters`.
    pub fn place(&self, letters: usize) -> u64 {
        let ([begin, end], all) = (self.bytes, self.text.codes().len().max(1) as u128);
        begin + to_u64(u128::from(end - begin) * letters as u128 / all)
    }
}

impl TextHandle for Arc<ActiveText> {
    fn codes(&self) -> &[u8] {
        self.text.codes()
    }

    fn circle(&self) -> Option<Circle> {
        self.text.circle()
    }

    fn is_done(&self) -> bool {
        self.done.load(Ordering::Relaxed)
    }

    fn set_done(&self) {
        self.done.store(true, Ordering::Relaxed);
    }
}
