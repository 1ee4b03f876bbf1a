//! Splits a file into blocks of whole records, and blocks into pieces that can be parsed in parallel.

use super::cut::{begins_record, cuts, cuts_inside, without_empty_end};
use super::faults::{Origin, lengthen, unread};
use super::source::FileText;
use crate::terms::error::{Error, Result};
use crate::terms::memory::may_fail;
use needletail::errors::ParseError;
use needletail::parser::Format;
use std::io::{ErrorKind, Read};
use std::mem;
use std::sync::Arc;

/// Parsing a piece should take far longer than handing it to a thread, and a piece should fit into the thread's cache.
const PIECE: usize = 1 << 18;
/// Pieces per thread and block: enough to even out differences between them.
const PIECES_PER_THREAD: usize = 8;
/// Maximum block size in bytes, unless a single record is larger.
const MAX_BLOCK: usize = 1 << 25;

/// Minimum sizes of blocks and pieces, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub block: usize,
    pub piece: usize,
}

/// Records in file order: whole records, or with [`RecordBlocks::split_records`] also parts of long records.
pub struct RecordBlock {
    format: Format,
    /// Whether the first piece continues a record of the previous block.
    continues: bool,
    /// The bytes after the last cut are meaningless.
    bytes: Vec<u8>,
    /// 0, followed by the end of each piece.
    cuts: Vec<usize>,
    end: BlockEnd,
}

/// The state of the input after a block.
enum BlockEnd {
    /// More input, which may begin with another record.
    Record,
    /// The input ended here; the parser must check whether the last record is complete.
    Open,
    /// The input ended with a fault, which was already reported.
    Closed,
    Fault(Error),
}

/// Some of a block's records.
#[derive(Clone, Copy)]
pub struct BlockPiece<'a> {
    pub format: Format,
    pub bytes: &'a [u8],
    /// Whether the first record continues one that began in an earlier piece, so that it has no header.
    pub continues: bool,
    /// Whether another record follows or could follow, so that the last record is complete.
    pub closed: bool,
}

/// Blocks of one file, in order.
pub struct RecordBlocks {
    origin: Arc<Origin>,
    feed: BlockFeed,
    sizes: Sizes,
    /// Minimum size of the next block in bytes.
    wanted: usize,
    /// Buffers to reuse: fresh memory costs more than reading into it.
    spare: Vec<Vec<u8>>,
    ended: bool,
}

/// Uncompressed input.
struct BlockFeed {
    source: FileText,
    format: Format,
    /// Whether FASTA records longer than a piece are split.
    splits: bool,
    /// Bytes already read of the next block.
    rest: Vec<u8>,
    /// Whether `rest` continues a record of the previous block.
    continues: bool,
}

impl Default for Sizes {
    fn default() -> Sizes {
        let block = PIECE * PIECES_PER_THREAD * rayon::current_num_threads();
        Sizes { block: block.min(MAX_BLOCK), piece: PIECE }
    }
}

impl RecordBlocks {
    /// Returns an error if `source` begins neither as FASTA nor as FASTQ.
    pub fn new(origin: Arc<Origin>, source: FileText, sizes: Sizes) -> Result<RecordBlocks> {
        let format = match source.lead().first {
            Some(b'>') => Format::Fasta,
            Some(b'@') => Format::Fastq,
            other => {
                let error = ParseError::new_unknown_format(other.unwrap_or(b'\n'));
                return Err(origin.fault(None, error));
            }
        };
        let feed = BlockFeed::new(source, format);
        // The first block is small, so that a fault at the start is reported quickly.
        let wanted = sizes.piece.min(sizes.block);
        Ok(RecordBlocks { origin, feed, sizes, wanted, spare: Vec::new(), ended: false })
    }

    /// Blocks of an input without records.
    pub fn none(origin: Arc<Origin>, source: FileText, sizes: Sizes) -> RecordBlocks {
        let feed = BlockFeed::new(source, Format::Fasta);
        RecordBlocks { origin, feed, sizes, wanted: 0, spare: Vec::new(), ended: true }
    }

    /// From now on, FASTA records longer than a piece come in parts, so that no buffer grows to their length.
    pub fn split_records(&mut self) {
        self.feed.splits = self.feed.format == Format::Fasta;
    }

    pub fn is_fastq(&self) -> bool {
        self.feed.format == Format::Fastq
    }

    /// Whether there are no more blocks.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// The next block.
    pub fn next(&mut self) -> Option<RecordBlock> {
        if self.ended {
            return None;
        }
        let bytes = self.spare.pop().unwrap_or_default();
        let block = self.feed.read(&self.origin, self.wanted, self.sizes.piece, bytes);
        self.ended = !matches!(block.end, BlockEnd::Record);
        self.wanted = self.sizes.block;
        Some(block)
    }

    /// Reclaims a block's buffer, unless a long record has made it large.
    pub fn recycle(&mut self, block: RecordBlock) {
        if block.bytes.capacity() <= 4 * self.sizes.block {
            self.spare.push(block.bytes);
        }
    }
}

impl BlockFeed {
    fn new(source: FileText, format: Format) -> BlockFeed {
        BlockFeed { source, format, splits: false, rest: Vec::new(), continues: false }
    }

    /// Reads until the end of a record is in the buffer, or a part that can be split off.
    fn read(&mut self, origin: &Origin, mut wanted: usize, piece: usize, mut bytes: Vec<u8>) -> RecordBlock {
        let (mut len, mut known) = (self.rest.len(), 0);
        wanted = wanted.max(2 * len);
        if !lengthen(&mut bytes, wanted) {
            return RecordBlock::too_long(origin, self.format, &self.rest);
        }
        bytes[..len].copy_from_slice(&self.rest);
        loop {
            let end = self.fill(origin, &mut bytes[..wanted], &mut len);
            let at_end = matches!(end, BlockEnd::Open);
            let own = match self.format {
                Format::Fasta => len,
                Format::Fastq => without_empty_end(&bytes[..len], at_end),
            };
            let cuts = match self.splits {
                true => cuts_inside(&bytes[..own], piece, at_end, self.continues),
                false => cuts(self.format, &bytes[..own], piece, at_end, known),
            };
            if own == 0 && len > MAX_BLOCK && matches!(end, BlockEnd::Record) {
                let end = BlockEnd::Fault(origin.only_empty_lines());
                return RecordBlock { format: self.format, continues: false, bytes, cuts, end };
            }
            if cuts.len() > 1 || !matches!(end, BlockEnd::Record) {
                let last = cuts.last().copied().unwrap_or(0);
                let continues = self.continues;
                if last > 0 {
                    self.continues = self.splits && last < len && !begins_record(&bytes, last);
                }
                let rest = &bytes[last..len];
                self.rest.clear();
                let end = match may_fail(|| self.rest.try_reserve(rest.len())) {
                    Ok(()) => end,
                    Err(_) => BlockEnd::Fault(origin.too_long(rest)),
                };
                if !matches!(end, BlockEnd::Fault(_)) {
                    self.rest.extend_from_slice(rest);
                }
                return RecordBlock { format: self.format, continues, bytes, cuts, end };
            }
            known = len;
            wanted *= 2;
            if !lengthen(&mut bytes, wanted) {
                return RecordBlock::too_long(origin, self.format, &bytes[..len]);
            }
        }
    }

    /// Fills `bytes`, of which `len` are already read, unless the input ends.
    fn fill(&mut self, origin: &Origin, bytes: &mut [u8], len: &mut usize) -> BlockEnd {
        while *len < bytes.len() {
            match self.source.read(&mut bytes[*len..]) {
                Ok(0) => return BlockEnd::Open,
                Ok(read) => *len += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return BlockEnd::Fault(unread(&origin.path, error)),
            }
        }
        BlockEnd::Record
    }
}

impl RecordBlock {
    /// A block without records, and the error that memory does not suffice for the next record, which begins with these
    /// bytes.
    fn too_long(origin: &Origin, format: Format, bytes: &[u8]) -> RecordBlock {
        let end = BlockEnd::Fault(origin.too_long(bytes));
        RecordBlock { format, continues: false, bytes: Vec::new(), cuts: vec![0], end }
    }

    /// Number of pieces.
    pub fn len(&self) -> usize {
        self.cuts.len() - 1
    }

    /// The first `len` bytes, if they can be parsed alone: any prefix of FASTA is FASTA.
    pub fn start(&self, len: usize) -> Option<BlockPiece<'_>> {
        let last = self.cuts.last().copied().unwrap_or(0);
        let long = self.format == Format::Fasta && last > len;
        let continues = self.continues;
        long.then(|| BlockPiece { format: self.format, bytes: &self.bytes[..len], continues, closed: false })
    }

    /// The error that ended the input after this block; returned once.
    pub fn take_fault(&mut self) -> Option<Error> {
        match mem::replace(&mut self.end, BlockEnd::Closed) {
            BlockEnd::Fault(error) => Some(error),
            end => {
                self.end = end;
                None
            }
        }
    }

    pub fn piece(&self, index: usize) -> BlockPiece<'_> {
        let (start, end) = (self.cuts[index], self.cuts[index + 1]);
        let continues = match self.format {
            Format::Fasta if start > 0 => !begins_record(&self.bytes, start),
            Format::Fasta => self.continues,
            Format::Fastq => false,
        };
        BlockPiece {
            format: self.format,
            bytes: &self.bytes[start..end],
            continues,
            closed: index + 1 < self.len() || !matches!(self.end, BlockEnd::Open),
        }
    }
}
