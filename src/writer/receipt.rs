//! What is written beside an output of a part, or of a run that may be resumed: how it was made, and that it
//! is whole. It stands in the output's file name with `.swalign` behind, and comes after the output itself.
//!
//! ```text
//! swalign 0.1.0
//! command <TAB> swalign --max-hits 3 reads.fq ref.fa
//! format  <TAB> bam
//! part    <TAB> 2/7                        or ref-part, of the references
//! input   <TAB> bytes <TAB> nanoseconds since 1970 <TAB> reads.fq
//! records <TAB> how many of the input
//! stretch <TAB> place in the input where they begin <TAB> and where they end
//! bytes   <TAB> of the header <TAB> of the end <TAB> of all
//! hits    <TAB> least score <TAB> millionths of the best <TAB> most of a query <TAB> match <TAB> mismatch
//! ```
//!
//! The last line is that of a part of the references, whose hits are chosen among those of all parts. The places are
//! those of [`crate::reader::Extent`], and 0 where it is no part of the queries.

use super::output::{Output, resolve};
use super::tags::Typical;
use crate::error::{Error, Result};
use crate::options::{PartsOf, RECEIPT_EXTENSION, Share};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The first line: other versions may write other records.
const FIRST_LINE: &str = concat!("swalign ", env!("CARGO_PKG_VERSION"));

/// What an output is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// As @PG has it.
    pub command: String,
    pub format: String,
    /// 1/1 is the whole.
    pub part: Share,
    pub parts_of: PartsOf,
    pub inputs: Vec<Input>,
}

/// How hits are chosen, and what their mapping quality depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    pub min_score: i32,
    pub secondary_ppm: i64,
    pub max_hits: usize,
    pub typical: Typical,
}

/// A file as it was when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    pub bytes: u64,
    /// Nanoseconds since 1970.
    pub modified: u64,
    pub name: String,
}

/// An output that is whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    pub task: Task,
    pub records: u64,
    /// Places in the input where the part's records begin and end, which tell whether another one is beside it.
    pub stretch: (u64, u64),
    /// Bytes of the header, of what stands behind the records, and of all.
    pub header: u64,
    pub end: u64,
    pub bytes: u64,
    /// Of a part of the references.
    pub choice: Option<Choice>,
}

impl Task {
    /// A task on `inputs`, those of them that are regular files.
    pub fn new<'a>(
        command: &str,
        format: &str,
        (parts_of, part): (PartsOf, Option<Share>),
        inputs: impl IntoIterator<Item = &'a Path>,
    ) -> Task {
        Task {
            command: command.to_string(),
            format: format.to_string(),
            part: part.unwrap_or(Share { number: 1, of: 1 }),
            parts_of,
            inputs: inputs.into_iter().filter_map(Input::of).collect(),
        }
    }

    /// Whether `output` is what this task would write. An input that is no file, as stdin, is never the same
    /// one.
    pub fn is_done(&self, output: &Path, inputs: usize) -> bool {
        let bytes = fs::metadata(output).ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len());
        let receipt = read(output).ok().flatten();
        self.inputs.len() == inputs
            && receipt.is_some_and(|receipt| receipt.task == *self && Some(receipt.bytes) == bytes)
    }

    /// Whether `other` is a part of the same run. Copies of inputs have times of their own.
    pub fn is_beside(&self, other: &Task) -> bool {
        let bytes = |task: &Task| task.inputs.iter().map(|input| input.bytes).collect::<Vec<_>>();
        (&self.command, &self.format, self.part.of) == (&other.command, &other.format, other.part.of)
            && self.parts_of == other.parts_of
            && bytes(self) == bytes(other)
    }
}

impl Input {
    fn of(path: &Path) -> Option<Input> {
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        let name = path.to_string_lossy().replace(|c: char| c.is_control(), " ");
        Some(Input { bytes: metadata.len(), modified: modified as u64, name })
    }
}

impl Receipt {
    fn text(&self) -> String {
        let Receipt { task, records, stretch, header, end, bytes, choice } = self;
        let Share { number, of } = task.part;
        let mut text = format!("{FIRST_LINE}\ncommand\t{}\nformat\t{}\n", task.command, task.format);
        text += &format!("{}\t{number}/{of}\n", key(task.parts_of));
        for input in &task.inputs {
            text += &format!("input\t{}\t{}\t{}\n", input.bytes, input.modified, input.name);
        }
        text += &format!("records\t{records}\nstretch\t{}\t{}\n", stretch.0, stretch.1);
        text += &format!("bytes\t{header}\t{end}\t{bytes}\n");
        if let Some(Choice { min_score, secondary_ppm, max_hits, typical }) = choice {
            let Typical { match_, mismatch } = typical;
            text += &format!("hits\t{min_score}\t{secondary_ppm}\t{max_hits}\t{match_}\t{mismatch}\n");
        }
        text
    }

    fn parse(text: &str) -> Option<Receipt> {
        let mut lines = text.strip_suffix('\n')?.split('\n').filter(|line| !line.is_empty()).peekable();
        lines.next().filter(|line| *line == FIRST_LINE)?;
        let command = lines.next()?.strip_prefix("command\t")?.to_string();
        let format = lines.next()?.strip_prefix("format\t")?.to_string();
        let (part_key, part) = lines.next()?.split_once('\t')?;
        let parts_of = [PartsOf::Queries, PartsOf::References].into_iter().find(|of| key(*of) == part_key)?;
        let (number, of) = part.split_once('/')?;
        let part = Share { number: number.parse().ok()?, of: of.parse().ok()? };
        let mut inputs = Vec::new();
        while let Some(input) = lines.peek().and_then(|line| line.strip_prefix("input\t")) {
            let mut fields = input.splitn(3, '\t');
            let mut number = || fields.next()?.parse::<u64>().ok();
            let (bytes, modified) = (number()?, number()?);
            inputs.push(Input { bytes, modified, name: fields.next()?.to_string() });
            lines.next();
        }
        let numbers = |line: &str| line.split('\t').map(|field| field.parse::<u64>().ok()).collect();
        let records = lines.next()?.strip_prefix("records\t")?.parse().ok()?;
        let stretch: Option<Vec<u64>> = numbers(lines.next()?.strip_prefix("stretch\t")?);
        let bytes: Option<Vec<u64>> = numbers(lines.next()?.strip_prefix("bytes\t")?);
        let (&[from, to], &[header, end, bytes]) = (&stretch?[..], &bytes?[..]) else { return None };
        let choice = match parts_of {
            PartsOf::Queries => None,
            PartsOf::References => Some(Choice::parse(lines.next()?)?),
        };
        let task = Task { command, format, part, parts_of, inputs };
        let stretch = (from, to);
        lines.next().is_none().then_some(Receipt { task, records, stretch, header, end, bytes, choice })
    }

    /// Writes it for the output that is at `output` now.
    pub fn write(&self, output: &Path) -> Result<()> {
        let mut file = Output::create(Some(&path(output)))?;
        file.put(self.text().as_bytes())?;
        file.finish()
    }
}

impl Choice {
    fn parse(line: &str) -> Option<Choice> {
        let fields: Vec<&str> = line.strip_prefix("hits\t")?.split('\t').collect();
        let &[min_score, secondary_ppm, max_hits, match_, mismatch] = &fields[..] else { return None };
        Some(Choice {
            min_score: min_score.parse().ok()?,
            secondary_ppm: secondary_ppm.parse().ok()?,
            max_hits: max_hits.parse().ok()?,
            typical: Typical { match_: match_.parse().ok()?, mismatch: mismatch.parse().ok()? },
        })
    }
}

/// The first word of the line that tells the part.
fn key(parts_of: PartsOf) -> &'static str {
    match parts_of {
        PartsOf::Queries => "part",
        PartsOf::References => "ref-part",
    }
}

/// Where the receipt of `output` stands.
pub fn path(output: &Path) -> PathBuf {
    let output = resolve(output).unwrap_or_else(|_| output.to_path_buf());
    let mut name = output.into_os_string();
    name.push(RECEIPT_EXTENSION);
    PathBuf::from(name)
}

/// The receipt of `output`; `None` where there is none, or none of this version.
pub fn read(output: &Path) -> Result<Option<Receipt>> {
    let path = path(output);
    match fs::read(&path) {
        Ok(bytes) => Ok(Receipt::parse(&String::from_utf8_lossy(&bytes))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io(path, error)),
    }
}

/// Takes back the receipt of `output`, which will be another one.
pub fn forget(output: &Path) -> std::io::Result<()> {
    let path = path(output);
    let ours = fs::read(&path).is_ok_and(|bytes| bytes.starts_with(b"swalign "));
    if ours { fs::remove_file(path) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receipt() -> Receipt {
        let part = Share { number: 2, of: 7 };
        let input = |name: &str| Input { bytes: 5, modified: 1_700_000_000_123_456_789, name: name.into() };
        let inputs = vec![input("a\tb"), input("")];
        let parts_of = PartsOf::Queries;
        let task = Task { command: "swalign q r".into(), format: "bam".into(), part, parts_of, inputs };
        Receipt {
            task,
            records: 512,
            stretch: (70_000, 140_000),
            header: 100,
            end: 28,
            bytes: 5000,
            choice: None,
        }
    }

    fn of_references() -> Receipt {
        let Receipt { task, .. } = receipt();
        let typical = Typical { match_: 6, mismatch: 4 };
        let choice = Choice { min_score: 20, secondary_ppm: 800_000, max_hits: 3, typical };
        let task = Task { parts_of: PartsOf::References, ..task };
        Receipt { task, choice: Some(choice), ..receipt() }
    }

    #[test]
    fn what_is_written_is_read() {
        for receipt in [receipt(), of_references()] {
            let text = receipt.text();
            assert_eq!(Receipt::parse(&text), Some(receipt.clone()));
            // No beginning of it is one.
            for len in 0..text.len() {
                assert_eq!(Receipt::parse(&text[..len]), None, "{len}");
            }
        }
        assert_eq!(Receipt::parse(&of_references().text().replace("ref-part", "part")), None);
        let text = receipt().text();
        assert_eq!(Receipt::parse(&text.replace("part", "ref-part")), None);
        assert_eq!(Receipt::parse(&text.replace("swalign 0", "swalign 9")), None);
        assert_eq!(Receipt::parse(&text.replace("5000", "five")), None);
        assert_eq!(Receipt::parse(&(text + "more\n")), None);
    }

    #[test]
    fn parts_of_one_run() {
        let Receipt { task, .. } = receipt();
        let other = |change: &dyn Fn(&mut Task)| {
            let mut other = task.clone();
            change(&mut other);
            task.is_beside(&other)
        };
        assert!(other(&|task| task.part.number = 3));
        assert!(other(&|task| task.inputs[0].modified = 3));
        assert!(!other(&|task| task.part.of = 8));
        assert!(!other(&|task| task.inputs[0].bytes = 8));
        assert!(!other(&|task| task.command.push('x')));
        assert!(!other(&|task| task.format.push('x')));
        assert!(!other(&|task| task.parts_of = PartsOf::References));
    }
}
