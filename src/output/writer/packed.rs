//! Text on its way to a file, in blocks of bgzf where the file's name says so.

use super::Output;
use super::bgzf::{Joint, RecordBytes};
use crate::terms::error::Result;

/// Bytes gathered before they are written.
const GATHERED: usize = 1 << 20;

/// An output of text.
pub struct TextOutput {
    output: Output,
    joint: Joint,
    packed: bool,
    text: Vec<u8>,
}

impl TextOutput {
    pub fn new(output: Output, packed: bool) -> Result<TextOutput> {
        let joint = if packed { Joint::of_blocks()? } else { Joint::of_text() };
        Ok(TextOutput { output, joint, packed, text: Vec::new() })
    }

    /// Writes what `add` appends.
    pub fn put(&mut self, add: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        add(&mut self.text);
        if self.text.len() >= GATHERED { self.write() } else { Ok(()) }
    }

    /// Writes what is gathered and what ends the file, and gives the output, which is still to be finished.
    pub fn end(mut self) -> Result<Output> {
        self.write()?;
        self.output.put(&self.joint.finish()?)?;
        Ok(self.output)
    }

    /// Writes what is gathered. The blocks of a packed file do not depend on it.
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
