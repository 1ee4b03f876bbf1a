//! The records of reads: those of a whole file by read, or the supplementary records of reads whose primary records are the
//! queries.

use super::{parsed, place};
use crate::input::reader::{FileRecord, MappedFields, MappedRecords, Reader};
use crate::pipeline::report::{RECORDS, Reporter, counted};
use crate::terms::error::{Error, Result};
use crate::terms::options::SampledNames;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The name of a read, and the number of the mate or 0.
type ReadKey = (Box<str>, u8);

/// The records of one read.
#[derive(Clone, Debug, Default)]
pub struct ReadRecords<'a> {
    pub primary: Option<MappedFields<'a>>,
    pub supplementary: Vec<MappedFields<'a>>,
}

/// Comments with the fields of supplementary records by read, in the order of the file.
#[derive(Default)]
pub struct SupplementaryRecords(HashMap<ReadKey, Vec<Box<[u8]>>>);

/// The first primary record of each read of a file, and its supplementary records.
pub struct RecordsByRead {
    file: PathBuf,
    /// The file of the reads.
    reads: PathBuf,
    /// Comments with the fields of records.
    primary: HashMap<ReadKey, Box<[u8]>>,
    supplementary: SupplementaryRecords,
    /// Number of further primary records of the same reads.
    repeated: u64,
    /// Number of primary records whose reads were found.
    used: AtomicU64,
}

impl<'a> ReadRecords<'a> {
    /// All records, the primary record first.
    pub fn iter(&self) -> impl Iterator<Item = &MappedFields<'a>> {
        self.primary.iter().chain(&self.supplementary)
    }
}

impl SupplementaryRecords {
    /// Reads the supplementary records of a file of alignments. With a sample, only those of its reads.
    pub fn open(path: &Path, sample: Option<&SampledNames>) -> Result<SupplementaryRecords> {
        let mut records = SupplementaryRecords::default();
        for record in Reader::open_mapped(path, MappedRecords::Supplementary)? {
            let FileRecord { name, number, tags, .. } = record?;
            if sample.is_none_or(|sample| sample.has(&name)) {
                let mate = parsed(path, &tags, (number, &name))?.mate();
                records.add((name.into(), mate), tags);
            }
        }
        Ok(records)
    }

    fn add(&mut self, key: ReadKey, tags: Vec<u8>) {
        self.0.entry(key).or_default().push(tags.into());
    }

    /// The records of a read of this file.
    pub fn of(&self, name: &str, mate: u8, file: &Path) -> Result<Vec<MappedFields<'_>>> {
        let records = if self.0.is_empty() { None } else { self.0.get(&(name.into(), mate)) };
        records.into_iter().flatten().map(|tags| parsed(file, tags, (0, name))).collect()
    }
}

impl RecordsByRead {
    /// Reads all records of a file.
    pub fn read(reader: Reader, reads: &Path) -> Result<RecordsByRead> {
        let file = reader.path().to_path_buf();
        let (mut primary, mut supplementary) = (HashMap::new(), SupplementaryRecords::default());
        let (mut repeated, is_paf) = (0, reader.is_paf());
        for record in reader {
            let FileRecord { name, number, tags, .. } = record?;
            let fields = parsed(&file, &tags, (number, &name))?;
            let (is_supplementary, key) = (fields.is_supplementary(), (name.into(), fields.mate()));
            if is_supplementary {
                supplementary.add(key, tags);
                continue;
            }
            match primary.entry(key) {
                Entry::Vacant(entry) => drop(entry.insert(tags.into())),
                // PAF does not mark them.
                Entry::Occupied(entry) if is_paf => supplementary.add(entry.key().clone(), tags),
                Entry::Occupied(_) => repeated += 1,
            }
        }
        let reads = reads.to_path_buf();
        Ok(RecordsByRead { file, reads, primary, supplementary, repeated, used: AtomicU64::new(0) })
    }

    /// The records of a read. `mate` is 0 if the reads are not paired.
    pub fn of(&self, read: &FileRecord, mate: u8) -> Result<ReadRecords<'_>> {
        let name = &*read.name;
        let with_suffix = || match name.rsplit_once('/') {
            Some((base, "1")) => Some((base.to_string(), 1)),
            Some((base, "2")) => Some((base.to_string(), 2)),
            _ => None,
        };
        // The name as the reads or the records write it.
        let other = if mate == 0 { with_suffix() } else { Some((format!("{name}/{mate}"), 0)) };
        for (name, mate) in [Some((name.to_string(), mate)), other].into_iter().flatten() {
            let records = self.named(&name, mate)?;
            if records.iter().next().is_some() {
                self.used.fetch_add(u64::from(records.primary.is_some()), Ordering::Relaxed);
                return Ok(records);
            }
        }
        let of_mates = || [1, 2].into_iter().find_map(|mate| self.primary.get(&(name.into(), mate)));
        if let (0, Some(tags)) = (mate, of_mates()) {
            let place = place(&self.file, (parsed(&self.file, tags, (0, name))?.number, name));
            let remedy = "give the files of both mates, as in --reads R1.fq,R2.fq";
            return Err(Error::input(place, "its records are those of a pair", remedy));
        }
        Ok(ReadRecords::default())
    }

    fn named(&self, name: &str, mate: u8) -> Result<ReadRecords<'_>> {
        let primary = self.primary.get(&(name.into(), mate));
        let primary = primary.map(|tags| parsed(&self.file, tags, (0, name))).transpose()?;
        Ok(ReadRecords { primary, supplementary: self.supplementary.of(name, mate, &self.file)? })
    }

    /// Reports which records were not judged. If `has_all`, the run had all reads.
    pub fn tell(&self, has_all: bool, reporter: &dyn Reporter) {
        let RecordsByRead { file, reads, primary, repeated, used, .. } = self;
        let file = file.display();
        if *repeated > 0 {
            let records = counted(*repeated, RECORDS);
            let text = "skipped, because the first primary record of each read is judged";
            reporter.note(&format!("{file}: {records} {text}"));
        }
        let unused = (primary.len() as u64).saturating_sub(used.load(Ordering::Relaxed));
        if unused > 0 && has_all {
            let records = counted(unused, RECORDS);
            reporter.note(&format!("warning: {file}: {records} of reads that {} lacks", reads.display()));
        }
    }
}
