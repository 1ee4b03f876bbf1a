//! Writes text to a file, in bgzf blocks if the file's name asks for them.

use super::Output;
use super::bgzf::{BgzfJoiner, RecordBytes};
use crate::terms::error::Result;

/// Bytes gathered before they are written.
const GATHERED: usize = 1 << 20;

/// An output of text.
pub struct TextOutput {
    output: Output,
    joint: BgzfJoiner,
    packed: bool,
    text: Vec<u8>,
}

impl TextOutput {
    pub fn new(output: Output, packed: bool) -> Result<TextOutput> {
        let joint = if packed { BgzfJoiner::of_blocks()? } else { BgzfJoiner::of_text() };
        Ok(TextOutput { output, joint, packed, text: Vec::new() })
    }

    /// Writes what `add` appends.
    pub fn put(&mut self, add: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        add(&mut self.text);
        if self.text.len() >= GATHERED { self.write() } else { Ok(()) }
    }

    /// Writes the buffered text and the end of the file, and returns the output, which must still be finished.
    pub fn end(mut self) -> Result<Output> {
        self.write()?;
        self.output.put(&self.joint.finish()?)?;
        Ok(self.output)
    }

    /// Writes the buffered text. The blocks of a compressed file do not depend on when this is called.
    pub fn write(&mut self) -> Result<()> {
        if !self.packed {
            self.output.put(&self.text)?;
            self.text.clear();
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.text);
        let packed = self.joint.add(RecordBytes::Piece { begins: false, bytes })?;
        self.output.put(&packed)
    }
}
