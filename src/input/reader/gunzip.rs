//! Decompresses gzip data: consecutive members, and any data after the last one.

use super::source::GZIP;
use flate2::bufread::GzDecoder;
use std::io::{self, BufRead, Read};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Decompresses all members. Like gzip, it ignores zeros after a member silently, and other bytes after the last member
/// with a warning. If another member begins among those bytes, data are lost, which is an error.
pub struct Gunzip<R: BufRead> {
    state: GzipState<R>,
    /// Number of uncompressed bytes of the current member so far.
    unpacked: u64,
    tail: GzipTail,
}

enum GzipState<R> {
    Member(Box<GzDecoder<R>>),
    Between(R),
    Ended,
}

/// Observations at the end of gzip data, for a warning.
#[derive(Clone, Default)]
pub struct GzipTail(Arc<TailObservations>);

#[derive(Default)]
struct TailObservations {
    garbage: AtomicBool,
    /// The last member is empty, like the block that ends bgzf.
    empty_member: AtomicBool,
    /// A part of a bgzf file reaches the end of the file, but the end marker is missing.
    cut: AtomicBool,
}

/// The data after a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Another member, after this number of zeros.
    Member(u64),
    End,
    Garbage,
}

impl GzipTail {
    /// Whether bytes other than zeros follow the last member.
    pub fn is_garbage(&self) -> bool {
        self.0.garbage.load(Ordering::Relaxed)
    }

    pub fn has_empty_member(&self) -> bool {
        self.0.empty_member.load(Ordering::Relaxed)
    }

    pub fn set_garbage(&self) {
        self.0.garbage.store(true, Ordering::Relaxed);
    }

    /// Whether a part of a bgzf file reaches the end of the file, but the end marker is missing.
    pub fn is_cut(&self) -> bool {
        self.0.cut.load(Ordering::Relaxed)
    }

    pub fn set_cut(&self, is_cut: bool) {
        self.0.cut.store(is_cut, Ordering::Relaxed);
    }

    /// Whether the last member so far is empty.
    pub fn set_empty_member(&self, is_empty: bool) {
        self.0.empty_member.store(is_empty, Ordering::Relaxed);
    }
}

impl<R: BufRead> Gunzip<R> {
    pub fn new(input: R, tail: GzipTail) -> Gunzip<R> {
        Gunzip { state: GzipState::Member(Box::new(GzDecoder::new(input))), unpacked: 0, tail }
    }

    /// Starts after a member that was decompressed elsewhere.
    pub fn behind_a_member(input: R, tail: GzipTail) -> Gunzip<R> {
        Gunzip { state: GzipState::Between(input), unpacked: 0, tail }
    }

    /// The compressed input; `None` at the end.
    pub fn input(&self) -> Option<&R> {
        match &self.state {
            GzipState::Member(decoder) => Some(decoder.get_ref()),
            GzipState::Between(input) => Some(input),
            GzipState::Ended => None,
        }
    }

    /// Continues after a member.
    fn go_on(&mut self, mut input: R) -> io::Result<()> {
        match next(&mut input)? {
            Next::Member(_) => {
                self.unpacked = 0;
                self.state = GzipState::Member(Box::new(GzDecoder::new(input)));
            }
            Next::End => {}
            Next::Garbage => self.tail.set_garbage(),
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            match mem::replace(&mut self.state, GzipState::Ended) {
                GzipState::Ended => return Ok(0),
                GzipState::Between(input) => self.go_on(input).map_err(damaged)?,
                GzipState::Member(mut decoder) => {
                    let read = decoder.read(buffer);
                    if let Ok(0) = read {
                        self.tail.set_empty_member(self.unpacked == 0);
                        self.state = GzipState::Between(decoder.into_inner());
                        continue;
                    }
                    self.unpacked += *read.as_ref().unwrap_or(&0) as u64;
                    self.state = GzipState::Member(decoder);
                    return read.map_err(damaged);
                }
            }
        }
    }
}

/// The data after a member. If another member follows, the input is positioned at its start, otherwise at the end.
pub fn next(input: &mut impl BufRead) -> io::Result<Next> {
    let mut zeros = 0;
    loop {
        let bytes = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        let run = bytes.iter().take_while(|&&byte| byte == 0).count();
        match bytes.get(run) {
            None if run == 0 => return Ok(Next::End),
            None => {}
            Some(&byte) if byte == GZIP[0] => {
                input.consume(run);
                return Ok(Next::Member(zeros + run as u64));
            }
            Some(_) => return pass_garbage(input).map(|()| Next::Garbage),
        }
        input.consume(run);
        zeros += run as u64;
    }
}

/// Reads to the end. If a member begins on the way, the data before it are damaged, which is an error.
fn pass_garbage(input: &mut impl BufRead) -> io::Result<()> {
    // The last bytes of the previous buffer, which may be the beginning of a member's header.
    let mut seam = Vec::with_capacity(2 * GZIP.len());
    loop {
        let bytes = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        if bytes.is_empty() {
            return Ok(());
        }
        seam.extend(bytes.iter().take(GZIP.len() - 1));
        if memchr::memmem::find(&seam, &GZIP).is_some() || memchr::memmem::find(bytes, &GZIP).is_some() {
            let text = "data between two parts of the gzip stream is not gzip";
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        seam.truncate(seam.len() - bytes.len().min(GZIP.len() - 1));
        seam.extend(&bytes[bytes.len().saturating_sub(GZIP.len() - 1)..]);
        let surplus = seam.len().saturating_sub(GZIP.len() - 1);
        seam.drain(..surplus);
        let read = bytes.len();
        input.consume(read);
    }
}

/// Gzip data that cannot be decompressed.
#[derive(Debug, thiserror::Error)]
#[error("the gzip data is truncated or damaged ({0})")]
pub struct Damaged(String);

/// Marks an error as [`Damaged`] if the compressed data caused it, and not reading them.
pub fn damaged(error: io::Error) -> io::Error {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    let is_of_data = matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof);
    if !is_of_data || error.get_ref().is_some_and(|known| known.is::<Damaged>()) {
        return error;
    }
    io::Error::new(error.kind(), Damaged(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::super::tests::stored;
    use super::*;
    use std::io::BufReader;

    /// The whole output, read in steps of `step` bytes, and whether there is garbage.
    fn unpacked(packed: &[u8], step: usize) -> Result<(Vec<u8>, bool), String> {
        let (tail, mut bytes) = (GzipTail::default(), Vec::new());
        let mut gunzip = Gunzip::new(BufReader::with_capacity(step, packed), tail.clone());
        gunzip.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        assert_eq!(gunzip.read(&mut [0]).unwrap(), 0);
        Ok((bytes, tail.is_garbage()))
    }

    #[test]
    fn members_padding_and_garbage() {
        let (a, b) = (stored(b"first"), stored(b" second"));
        let whole = || b"first second".to_vec();
        for step in [1, 2, 3, 7, 1000] {
            for zeros in [0, 1, 2, 600] {
                let zeros = vec![0; zeros];
                assert_eq!(unpacked(&[&a[..], &b].concat(), step), Ok((whole(), false)));
                assert_eq!(unpacked(&[&a[..], &zeros, &b, &zeros].concat(), step), Ok((whole(), false)));
                let garbage = [&a[..], &b, &zeros, b"garbage\x1f\x8b"].concat();
                assert_eq!(unpacked(&garbage, step), Ok((whole(), true)));
                let lost = [&a[..], &zeros, b"garbage", &b].concat();
                assert!(unpacked(&lost, step).unwrap_err().contains("between two parts"), "{step}");
            }
            for cut in 1..b.len() {
                let cut = [&a[..], &b[..cut]].concat();
                assert!(unpacked(&cut, step).unwrap_err().contains("truncated"), "{step}");
            }
        }
    }
}
