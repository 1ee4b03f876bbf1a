//! The receipt of an output, which parts and resumable runs have. It records how the output was made, and that it is
//! complete. Its name is the output's name with `.swalign` appended, and it appears together with the output.
//!
//! ```text
//! swalign 0.1.0
//! receipt <TAB> 7                          what follows, counted up where that changes
//! command <TAB> swalign --max-hits 3 reads.fq ref.fa
//! format  <TAB> bam
//! part    <TAB> 2/7                        or ref-part, of the references
//! input   <TAB> bytes <TAB> nanoseconds since 1970 <TAB> reads.fq
//! records <TAB> how many of the input
//! stretch <TAB> place in the input where they begin <TAB> and where they end
//! bytes   <TAB> of the header <TAB> of the end <TAB> of all
//! crc32   <TAB> of all bytes, 8 hexadecimal digits
//! seal    <TAB> CRC-32 of the lines before it
//! ```
//!
//! The positions in `stretch` are those of [`crate::input::reader::Extent`], or 0 if the output is no part of the queries.
//! Checksums detect accidental or manual changes; they are no signature.

use super::output::{self, Output};
use super::place::resolve;
use crate::terms::error::{Error, Place, Result};
use crate::terms::options::{PartsOf, RECEIPT_EXTENSION, Share};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The first bytes of every receipt, of any version.
const WORD: &[u8] = b"swalign ";
/// The first lines. Receipts of other versions are rejected, since their records may differ.
pub const FIRST_LINES: &str = concat!("swalign ", env!("CARGO_PKG_VERSION"), "\nreceipt\t7\n");
const SEAL: &str = "seal\t";
/// Maximum length of a receipt in bytes: it holds a command line and a few file names.
const LONGEST: u64 = 1 << 26;

/// The work whose result an output is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The command line, as in @PG.
    pub command: String,
    pub format: String,
    /// 1/1 is the whole.
    pub part: Share,
    pub parts_of: PartsOf,
    pub inputs: Vec<InputFile>,
}

/// State of a file when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    pub bytes: u64,
    /// Nanoseconds since 1970.
    pub modified: u64,
    pub name: String,
}

/// A complete output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    pub task: Task,
    pub records: u64,
    /// Positions in the input at which the part's records begin and end, which show whether two parts are adjacent.
    pub stretch: (u64, u64),
    /// Bytes of the header, of the data after the records, and in total.
    pub header: u64,
    pub end: u64,
    pub bytes: u64,
    /// CRC-32 of all bytes.
    pub sum: u32,
}

/// The reason why there is no valid receipt.
#[derive(Debug)]
pub enum Unread {
    Missing,
    /// It was written by another version of swalign.
    Version,
    /// It was changed after it was written.
    Changed,
    Io(io::Error),
}

impl Task {
    /// A task on those of `inputs` that are regular files.
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
            inputs: inputs.into_iter().filter_map(InputFile::of).collect(),
        }
    }

    /// Whether `output` is already the result of this task. `inputs` is the number of the task's inputs. An input that
    /// is no regular file, such as stdin, is never considered unchanged.
    pub fn is_done(&self, output: &Path, inputs: usize) -> bool {
        let bytes = fs::metadata(output).ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len());
        self.inputs.len() == inputs
            && read(output).is_ok_and(|receipt| receipt.task == *self && Some(receipt.bytes) == bytes)
    }

    /// Whether `other` is a part of the same run. Modification times are ignored, since copies of inputs have their
    /// own.
    pub fn is_beside(&self, other: &Task) -> bool {
        let bytes = |task: &Task| task.inputs.iter().map(|input| input.bytes).collect::<Vec<_>>();
        (&self.command, &self.format, self.part.of) == (&other.command, &other.format, other.part.of)
            && self.parts_of == other.parts_of
            && bytes(self) == bytes(other)
    }
}

impl InputFile {
    fn of(path: &Path) -> Option<InputFile> {
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let modified = nanoseconds(metadata.modified().ok()?);
        let name = path.to_string_lossy().replace(|c: char| c.is_control(), " ");
        Some(InputFile { bytes: metadata.len(), modified, name })
    }
}

/// Nanoseconds since 1970: 0 for earlier times, and the maximum for times after the year 2554.
fn nanoseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    u64::try_from(since).unwrap_or(u64::MAX)
}

impl Receipt {
    fn text(&self) -> String {
        let Receipt { task, records, stretch, header, end, bytes, sum } = self;
        let Share { number, of } = task.part;
        let mut text = format!("{FIRST_LINES}command\t{}\nformat\t{}\n", task.command, task.format);
        text += &format!("{}\t{number}/{of}\n", key(task.parts_of));
        for input in &task.inputs {
            text += &format!("input\t{}\t{}\t{}\n", input.bytes, input.modified, input.name);
        }
        text += &format!("records\t{records}\nstretch\t{}\t{}\n", stretch.0, stretch.1);
        text += &format!("bytes\t{header}\t{end}\t{bytes}\ncrc32\t{sum:08x}\n");
        let seal = seal(text.as_bytes());
        text + &seal
    }

    /// Parses the text of a receipt.
    fn open(text: &[u8]) -> Result<Receipt, Unread> {
        if !text.starts_with(FIRST_LINES.as_bytes()) {
            return Err(if text.starts_with(WORD) { Unread::Version } else { Unread::Changed });
        }
        let text = str::from_utf8(text).map_err(|_| Unread::Changed)?;
        let (lines, sealed) = text.split_at(text.rfind(SEAL).ok_or(Unread::Changed)?);
        if sealed != seal(lines.as_bytes()) {
            return Err(Unread::Changed);
        }
        Receipt::parse(&lines[FIRST_LINES.len()..]).ok_or(Unread::Changed)
    }

    fn parse(lines: &str) -> Option<Receipt> {
        let mut lines = lines.strip_suffix('\n')?.split('\n').peekable();
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
            inputs.push(InputFile { bytes, modified, name: fields.next()?.to_string() });
            lines.next();
        }
        let numbers = |line: &str| line.split('\t').map(|field| field.parse::<u64>().ok()).collect();
        let records = lines.next()?.strip_prefix("records\t")?.parse().ok()?;
        let stretch: Option<Vec<u64>> = numbers(lines.next()?.strip_prefix("stretch\t")?);
        let bytes: Option<Vec<u64>> = numbers(lines.next()?.strip_prefix("bytes\t")?);
        let (&[from, to], &[header, end, bytes]) = (&stretch?[..], &bytes?[..]) else { return None };
        let sum = u32::from_str_radix(lines.next()?.strip_prefix("crc32\t")?, 16).ok()?;
        let task = Task { command, format, part, parts_of, inputs };
        let receipt = Receipt { task, records, stretch: (from, to), header, end, bytes, sum };
        (lines.next().is_none() && receipt.makes_sense()).then_some(receipt)
    }

    /// Whether its numbers can be those of an output.
    fn makes_sense(&self) -> bool {
        let Receipt { task, header, end, bytes, .. } = self;
        (1..=task.part.of).contains(&task.part.number)
            && header.checked_add(*end).is_some_and(|frame| frame <= *bytes)
    }

    /// Writes it for the future output at `output`. It is renamed together with the output ([`Output::finish_with`]).
    pub fn write(&self, output: &Path) -> Result<Output> {
        let mut file = Output::at(&path(output))?;
        file.put(self.text().as_bytes())?;
        Ok(file)
    }
}

/// The first word of the line with the part.
fn key(parts_of: PartsOf) -> &'static str {
    match parts_of {
        PartsOf::Queries => "part",
        PartsOf::References => "ref-part",
    }
}

/// Path of the receipt of `output`.
pub fn path(output: &Path) -> PathBuf {
    let output = resolve(output).unwrap_or_else(|_| output.to_path_buf());
    let mut name = output.into_os_string();
    name.push(RECEIPT_EXTENSION);
    PathBuf::from(name)
}

/// The last line, computed from the lines before it.
fn seal(lines: &[u8]) -> String {
    format!("{SEAL}{:08x}\n", crc32fast::hash(lines))
}

/// Reads the receipt of `output`.
pub fn read(output: &Path) -> Result<Receipt, Unread> {
    let path = path(output);
    let read = || -> io::Result<Vec<u8>> {
        if !fs::metadata(&path)?.is_file() {
            return Ok(Vec::new());
        }
        let mut text = Vec::new();
        File::open(&path)?.take(LONGEST).read_to_end(&mut text)?;
        Ok(text)
    };
    match read() {
        Ok(text) => Receipt::open(&text),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(Unread::Missing),
        Err(error) => Err(Unread::Io(error)),
    }
}

/// Whether the file at `path` is a receipt, of any version.
pub fn is_one(path: &Path) -> bool {
    let named = path.to_string_lossy().ends_with(RECEIPT_EXTENSION);
    named && fs::metadata(path).is_ok_and(|found| found.is_file()) && begins_as_one(path)
}

fn begins_as_one(path: &Path) -> bool {
    let mut word = [0; WORD.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut word)).is_ok() && word == *WORD
}

/// Returns an error if the receipt cannot be written beside the output, or would replace a file that is no receipt.
pub fn check(output: &Path) -> Result<()> {
    let path = path(output);
    let problem = match fs::metadata(&path) {
        Ok(found) if found.is_file() && (found.len() == 0 || begins_as_one(&path)) => return Ok(()),
        Ok(found) if found.is_file() => "the receipt of the output would overwrite this file",
        Ok(_) => "the receipt of the output would be written here, but this is not a file",
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(output::explain(&path, error)),
    };
    let place = Place { file: path, ..Place::default() };
    Err(Error::input(place, problem, "name another output file, or move this file"))
}

/// Returns an error if the folder of the output accepts no receipt, which a run would otherwise notice only at its end.
pub fn try_to_write(output: &Path) -> Result<()> {
    Output::at(&path(output)).map(drop)
}

/// Path of the current receipt of `output`, which becomes outdated when `output` is replaced.
pub fn of_output(output: &Path) -> Option<PathBuf> {
    Some(path(output)).filter(|path| is_one(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file's time may be set to any value.
    #[test]
    fn times_have_a_last_one() {
        let at = |seconds| nanoseconds(UNIX_EPOCH + std::time::Duration::from_secs(seconds));
        assert_eq!((at(0), at(1_700_000_000)), (0, 1_700_000_000_000_000_000));
        // The end of 9999.
        assert_eq!(at(253_402_300_799), u64::MAX);
    }

    fn receipt() -> Receipt {
        let part = Share { number: 2, of: 7 };
        let input =
            |name: &str| InputFile { bytes: 5, modified: 1_700_000_000_123_456_789, name: name.into() };
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
            sum: 0xcbf4_3926,
        }
    }

    fn of_references() -> Receipt {
        let Receipt { task, .. } = receipt();
        Receipt { task: Task { parts_of: PartsOf::References, ..task }, ..receipt() }
    }

    /// `text` with a valid seal.
    fn sealed(text: &str) -> String {
        let lines = &text[..text.rfind(SEAL).unwrap()];
        lines.to_string() + &seal(lines.as_bytes())
    }

    #[test]
    fn what_is_written_is_read() {
        for receipt in [receipt(), of_references()] {
            let text = receipt.text();
            assert_eq!(Receipt::open(text.as_bytes()).unwrap(), receipt);
            // No prefix of it is a receipt, and no text that differs in one character.
            for len in 0..text.len() {
                assert!(Receipt::open(&text.as_bytes()[..len]).is_err(), "{len}");
                let mut other = text.clone().into_bytes();
                other[len] ^= 1;
                assert!(Receipt::open(&other).is_err(), "{len}");
            }
            assert!(matches!(Receipt::open((text + "more\n").as_bytes()), Err(Unread::Changed)));
        }
        let text = receipt().text();
        for other in [text.replace("swalign 0", "swalign 9"), text.replace("receipt\t7", "receipt\t6")] {
            assert!(matches!(Receipt::open(other.as_bytes()), Err(Unread::Version)), "{other}");
        }
        let old = "swalign 0.1.0\ncommand\tswalign q r\nformat\tsam\npart\t1/2\n";
        assert!(matches!(Receipt::open(old.as_bytes()), Err(Unread::Version)));
    }

    /// Impossible values are rejected even if the seal is valid.
    #[test]
    fn what_can_not_be_is_not_believed() {
        let queries = receipt().text();
        assert!(Receipt::open(sealed(&queries.replace("512", "513")).as_bytes()).is_ok());
        for (from, to) in [
            ("part", "parts"),
            ("5000", "five"),
            ("5000", "127"),
            ("\t100\t28", "\t18446744073709551615\t28"),
            ("2/7", "8/7"),
            ("2/7", "0/7"),
            ("stretch\t", "stretch\t7\t"),
        ] {
            assert!(queries.contains(from), "{from}");
            let other = sealed(&queries.replace(from, to));
            assert!(matches!(Receipt::open(other.as_bytes()), Err(Unread::Changed)), "{other}");
        }
    }

    #[test]
    fn receipts_have_their_place() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("x.sam");
        let told = || check(&output).map_err(|error| error.to_string());
        assert_eq!(told(), Ok(()));
        for (text, fine) in [("", true), ("swalign 0.0.1\n", true), (">swalign\n", false), ("swali", false)] {
            fs::write(path(&output), text).unwrap();
            assert_eq!(told().is_ok(), fine, "{text}");
        }
        assert!(
            told()
                .unwrap_err()
                .contains("x.sam.swalign: the receipt of the output would overwrite this file")
        );
        fs::remove_file(path(&output)).unwrap();
        fs::create_dir(path(&output)).unwrap();
        assert!(told().unwrap_err().contains("x.sam.swalign") && !told().unwrap_err().contains("overwrite"));
        assert!(check(&folder.path().join("x".repeat(250))).unwrap_err().to_string().contains("shorter"));
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
