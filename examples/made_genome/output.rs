//! Outputs that name themselves in errors.

use std::fs::File;
use std::io::{self, Write};

use crate::failure::Failure;

/// Standard output, a file, or memory in tests.
pub struct Output {
    name: String,
    writer: Box<dyn Write>,
}

impl Output {
    pub fn standard() -> Self {
        Self { name: "standard output".into(), writer: Box::new(io::stdout().lock()) }
    }

    pub fn create(path: &str) -> Result<Self, Failure> {
        let name = path.to_string();
        match File::create(path) {
            Ok(file) => Ok(Self { name, writer: Box::new(file) }),
            Err(error) => Err(Failure::Output { name, error }),
        }
    }

    #[cfg(test)]
    pub fn new(writer: impl Write + 'static) -> Self {
        Self { name: "memory".into(), writer: Box::new(writer) }
    }

    /// Writes bytes without a buffer, so callers pass many of them.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.writer.write_all(bytes).map_err(|error| Failure::Output { name: self.name.clone(), error })
    }

    pub fn finish(mut self) -> Result<(), Failure> {
        self.writer.flush().map_err(|error| Failure::Output { name: self.name, error })
    }
}
