//! Progress of reading a file.

use crate::terms::casts::to_u64;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the bytes read from a file, before decompression.
#[derive(Clone, Debug, Default)]
pub struct Meter(Arc<AtomicU64>);

/// An input whose bytes are counted.
pub struct Metered<R> {
    input: R,
    meter: Meter,
}

/// Position in the file of the records handed out so far. A batch of records has a known byte range, which is
/// attributed to its records by their residues.
#[derive(Debug, Default)]
pub struct Position {
    begin: u64,
    end: u64,
    letters: u64,
    given: u64,
}

impl Meter {
    /// Wraps an input, and counts its bytes here.
    pub fn watch<R>(&self, input: R) -> Metered<R> {
        Metered { input, meter: self.clone() }
    }

    pub fn set(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// The counter itself, which keeps growing.
    pub fn count(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.0)
    }
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.meter.0.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl Position {
    /// Starts a new batch, after all records so far were handed out. It has `letters` residues and ends at the byte
    /// `end`.
    pub fn go_on(&mut self, end: u64, letters: u64) {
        *self = Position { begin: self.end, end: end.max(self.end), letters, given: 0 };
    }

    /// Records with `letters` residues are handed out.
    pub fn give(&mut self, letters: u64) {
        self.given += letters;
    }

    pub fn bytes(&self) -> u64 {
        let (span, all) = (self.end - self.begin, u128::from(self.letters.max(1)));
        let share = u128::from(span) * u128::from(self.given.min(self.letters)) / all;
        self.begin + if self.letters == 0 { span } else { to_u64(share) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_as_they_are_read() {
        let meter = Meter::default();
        let mut input = meter.watch(&[7u8; 10][..]);
        input.read_exact(&mut [0; 4]).unwrap();
        assert_eq!(meter.bytes(), 4);
        io::copy(&mut input, &mut io::sink()).unwrap();
        assert_eq!((meter.bytes(), meter.count().load(Ordering::Relaxed)), (10, 10));
    }

    #[test]
    fn letters_share_the_bytes_of_their_records() {
        let mut position = Position::default();
        assert_eq!(position.bytes(), 0);
        position.go_on(100, 50);
        assert_eq!(position.bytes(), 0);
        position.give(10);
        assert_eq!(position.bytes(), 20);
        position.give(40);
        assert_eq!(position.bytes(), 100);
        position.go_on(300, 10);
        position.give(5);
        assert_eq!(position.bytes(), 200);
        position.go_on(310, 0);
        assert_eq!(position.bytes(), 310, "records without letters");
    }
}
