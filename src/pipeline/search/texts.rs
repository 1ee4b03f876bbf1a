//! The texts of a search: records of FASTA and FASTQ, read one after another, or records of a database, which stay in
//! its file and are verified when they are first scanned.

use crate::input::database::{self, Database};
use crate::input::reader::{
    Extent, FileState, MateTexts, NO_QUALITIES, QUALITIES_REMEDY, References, Slice, Text, TextName,
    TextRules, Texts, check_distinct_names, check_reference_names, read_lengths,
};
use crate::output::writer::hits::{LettersShown, TextShown};
use crate::patterns::search::batch::SearchedText;
use crate::patterns::search::circle::Circle;
use crate::patterns::search::hits::HitOptions;
use crate::terms::alphabet::Alphabet;
use crate::terms::casts::to_u64;
use crate::terms::error::{Error, Place, Result};
use crate::terms::options::ReadRules;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A text that is searched.
pub struct SearchText {
    pub name: String,
    letters: TextLetters,
    /// The unrolled codes if the text is circular.
    circle: Option<(Circle, Vec<u8>)>,
    /// Approximate number of bytes of all files before its start and before its end.
    pub bytes: [u64; 2],
}

enum TextLetters {
    /// Qualities are empty unless they are kept.
    Read {
        letters: Vec<u8>,
        codes: Vec<u8>,
        qualities: Vec<u8>,
    },
    Stored {
        references: Arc<References>,
        place: usize,
    },
}

/// The texts of a file, in order.
pub enum TextSource {
    Read(Box<Texts>),
    Mates(Box<MateTexts>),
    Stored(StoredTexts),
}

/// The texts of a database, or of a part of it.
pub struct StoredTexts {
    references: Arc<References>,
    own: Range<usize>,
    next: usize,
    /// Bytes of the file.
    bytes: u64,
    change: Option<String>,
}

/// Where the searched part of a file begins and ends.
pub enum SearchedRange {
    Read(Arc<Extent>),
    /// Positions in the concatenated sequences of a database.
    Stored(u64, u64),
}

impl SearchedText for SearchText {
    fn codes(&self) -> &[u8] {
        match (&self.circle, &self.letters) {
            (Some((_, unrolled)), _) => unrolled,
            (None, TextLetters::Read { codes, .. }) => codes,
            (None, TextLetters::Stored { references, place }) => references.sequences.get(*place),
        }
    }

    fn circle(&self) -> Option<Circle> {
        self.circle.as_ref().map(|(circle, _)| *circle)
    }
}

impl SearchText {
    /// Approximate number of bytes of all files before the end of its first `letters`.
    pub fn place(&self, letters: usize) -> u64 {
        let ([begin, end], all) = (self.bytes, self.codes().len().max(1) as u128);
        begin + to_u64(u128::from(end - begin) * letters as u128 / all)
    }

    /// Number of bases. Those of a circular text count once.
    pub fn letter_count(&self) -> usize {
        match &self.letters {
            TextLetters::Read { letters, .. } => letters.len(),
            TextLetters::Stored { references, place } => references.sequences.get(*place).len(),
        }
    }

    /// Makes the text circular, unless it is empty.
    pub fn close(&mut self, wanted: &HitOptions) -> Result<()> {
        self.prove(0..self.letter_count())?;
        self.circle = Circle::unrolled(self.codes(), wanted);
        if let TextLetters::Read { codes, .. } = &mut self.letters {
            *codes = Vec::new();
        }
        Ok(())
    }

    /// Verifies bases before they are read. Those of a circular text were verified when it was unrolled.
    pub fn prove(&self, places: Range<usize>) -> Result<()> {
        if self.circle.is_some() {
            return Ok(());
        }
        if let TextLetters::Stored { references, place } = &self.letters {
            let start = references.sequences.start(*place);
            references.sequences.prove(start + places.start..start + places.end)?;
        }
        Ok(())
    }

    pub fn shown(&self) -> TextShown<'_> {
        let (letters, qualities) = match &self.letters {
            TextLetters::Read { letters, qualities, .. } => (LettersShown::Written(letters), &**qualities),
            TextLetters::Stored { references, place } => {
                (LettersShown::Codes(references.sequences.get(*place)), &[][..])
            }
        };
        TextShown { name: &self.name, letters, qualities, is_circle: self.circle.is_some() }
    }

    /// The error of the file that contains the text's bases, as far as it is known so far.
    pub fn fault(&self) -> Option<Error> {
        match &self.letters {
            TextLetters::Read { .. } => None,
            TextLetters::Stored { references, .. } => references.sequences.fault(),
        }
    }

    /// Whether both texts are stored in one file, so that they share its errors.
    pub fn shares_file(&self, other: &SearchText) -> bool {
        match (&self.letters, &other.letters) {
            (TextLetters::Stored { references: a, .. }, TextLetters::Stored { references: b, .. }) => {
                Arc::ptr_eq(a, b)
            }
            _ => false,
        }
    }
}

impl From<Text> for SearchText {
    fn from(Text { name, letters, codes, qualities }: Text) -> SearchText {
        SearchText {
            name,
            letters: TextLetters::Read { letters, codes, qualities },
            circle: None,
            bytes: [0; 2],
        }
    }
}

impl TextSource {
    /// Opens a file, or a slice of it.
    pub fn open(path: &Path, slice: Option<Slice>, rules: TextRules) -> Result<TextSource> {
        if !database::is_one(path) {
            return Ok(TextSource::Read(Box::new(Texts::open(path, slice, rules)?)));
        }
        if rules.has_qualities {
            return Err(without_qualities(path));
        }
        let (database, full_names) = (open_database(path)?, rules.name == TextName::Full);
        let mut references = database.references(full_names, None)?;
        if full_names {
            references.names = std::mem::take(&mut references.titles);
        }
        let bytes = std::fs::metadata(path).map_err(|source| Error::io(path, source))?.len();
        let mut texts = StoredTexts {
            own: 0..references.names.len(),
            next: 0,
            bytes,
            change: database.change(),
            references: Arc::new(references),
        };
        if let Some(slice) = slice {
            let [begin, end] = slice.borders(bytes).map(|border| texts.place_of(border));
            (texts.own, texts.next) = (begin..end, begin);
        }
        Ok(TextSource::Stored(texts))
    }

    /// Opens two files of mates.
    pub fn open_mates(paths: [&Path; 2], rules: TextRules) -> Result<TextSource> {
        if let Some(path) = paths.into_iter().find(|path| database::is_one(path)) {
            return Err(without_qualities(path));
        }
        Ok(TextSource::Mates(Box::new(MateTexts::open(paths, rules)?)))
    }

    pub fn searched(&self) -> SearchedRange {
        match self {
            TextSource::Read(texts) => SearchedRange::Read(texts.extent()),
            TextSource::Mates(texts) => SearchedRange::Read(texts.extent()),
            TextSource::Stored(StoredTexts { references, own, .. }) => {
                let place = |place: usize| match place == references.names.len() {
                    true => references.sequences.codes().len() as u64,
                    false => references.sequences.start(place) as u64,
                };
                SearchedRange::Stored(place(own.start), place(own.end))
            }
        }
    }

    /// Approximate number of file bytes of the texts returned so far.
    pub fn bytes_given(&self) -> u64 {
        match self {
            TextSource::Read(texts) => texts.bytes_given(),
            TextSource::Mates(texts) => texts.bytes_given(),
            TextSource::Stored(texts) => texts.bytes_before(texts.next) - texts.bytes_before(texts.own.start),
        }
    }

    /// State of the file when it was opened. Unknown for a database, and for mates, which are read once.
    pub fn state(&self) -> FileState {
        match self {
            TextSource::Read(texts) => texts.state().clone(),
            TextSource::Stored(_) | TextSource::Mates(_) => FileState::default(),
        }
    }

    pub fn warnings(&self) -> Vec<String> {
        match self {
            TextSource::Read(texts) => texts.warnings(),
            TextSource::Mates(texts) => texts.warnings(),
            TextSource::Stored(texts) => texts.change.clone().into_iter().collect(),
        }
    }
}

impl StoredTexts {
    /// File offset of a text if the file contained only bases.
    fn bytes_before(&self, place: usize) -> u64 {
        let sequences = &self.references.sequences;
        let all = sequences.codes().len() as u128;
        let before = if place == sequences.len() { all } else { sequences.start(place) as u128 };
        to_u64(u128::from(self.bytes) * before / all.max(1))
    }

    /// The first text that begins at or after a byte of the file.
    fn place_of(&self, border: u64) -> usize {
        let (mut low, mut high) = (0, self.references.sequences.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.bytes_before(middle) < border { low = middle + 1 } else { high = middle }
        }
        low
    }
}

impl Iterator for TextSource {
    type Item = Result<SearchText>;

    fn next(&mut self) -> Option<Result<SearchText>> {
        match self {
            TextSource::Read(texts) => Some(texts.next()?.map(SearchText::from)),
            TextSource::Mates(texts) => Some(texts.next()?.map(SearchText::from)),
            TextSource::Stored(texts) => {
                let place = texts.next;
                texts.next += 1;
                let references = Arc::clone(&texts.references);
                let name = references.names.get(place).filter(|_| place < texts.own.end)?.clone();
                let letters = TextLetters::Stored { references, place };
                Some(Ok(SearchText { name, letters, circle: None, bytes: [0; 2] }))
            }
        }
    }
}

impl SearchedRange {
    pub fn places(&self) -> (u64, u64) {
        match self {
            SearchedRange::Read(extent) => extent.places(),
            SearchedRange::Stored(begin, end) => (*begin, *end),
        }
    }
}

/// Name and number of bases of each text.
type TextLengths = Vec<(String, usize)>;

/// Names and lengths of all texts of the files, as in SAM's header. Refuses names that the header cannot contain. Also
/// returns the states of the files. A database needs none, since its checksums show whether it has changed.
pub fn lengths(paths: &[PathBuf], rules: ReadRules) -> Result<(TextLengths, Vec<FileState>)> {
    let (mut all, mut states) = (Vec::new(), Vec::with_capacity(paths.len()));
    for path in paths {
        if database::is_one(path) {
            let References { names, lengths, .. } = open_database(path)?.references(false, None)?;
            check_reference_names(&names, path)?;
            all.extend(names.into_iter().zip(lengths.into_iter().map(|len| len as usize)));
            states.push(FileState::default());
        } else {
            let (lengths, state) = read_lengths(path, rules)?;
            all.extend(lengths);
            states.push(state);
        }
        check_distinct_names(&all, path)?;
    }
    Ok((all, states))
}

/// Error for a database if qualities are required.
fn without_qualities(path: &Path) -> Error {
    let place = Place { file: path.to_path_buf(), ..Place::default() };
    Error::input(place, NO_QUALITIES, QUALITIES_REMEDY)
}

/// Opens a database of DNA, whose bases are stored unmodified.
fn open_database(path: &Path) -> Result<Arc<Database>> {
    let database = Database::open(path)?;
    let refused = |problem, remedy| {
        Error::input(Place { file: path.to_path_buf(), ..Place::default() }, problem, remedy)
    };
    if database.alphabet() != Alphabet::Dna {
        return Err(refused("it contains proteins, but patterns are nucleotides", "give a database of DNA"));
    }
    if database.masks_lower_case() {
        let remedy = "build a database without --mask-lower-case";
        return Err(refused("its lower-case residues are masked, but search needs all residues", remedy));
    }
    Ok(Arc::new(database))
}
