//! The orientations of a query: its strands, and their translations.

use crate::terms::casts::to_u32;

/// Bases of a codon.
pub const CODON: u32 = 3;
/// Maximum number of orientations of a query.
pub const MOST_ORIENTATIONS: usize = FRAMES.len();
/// The translations of a query, each in one frame.
const FRAMES: [Strand; 6] =
    [Strand::Plus1, Strand::Plus2, Strand::Plus3, Strand::Minus1, Strand::Minus2, Strand::Minus3];
/// The translations of a query, each in the three frames of a strand.
const CODONS: [Strand; 2] = [Strand::PlusCodons, Strand::MinusCodons];

/// Orientation of a query against its target, or of a pattern against its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Strand {
    /// As given.
    Forward,
    /// Its reverse complement.
    Reverse,
    /// Its translation from the first, second or third base.
    #[doc(hidden)]
    Plus1,
    #[doc(hidden)]
    Plus2,
    #[doc(hidden)]
    Plus3,
    /// The translation of its reverse complement from the first, second or third base.
    #[doc(hidden)]
    Minus1,
    #[doc(hidden)]
    Minus2,
    #[doc(hidden)]
    Minus3,
    /// The residue of the codon that ends at each base. The first two bases have none.
    #[doc(hidden)]
    PlusCodons,
    /// The same of its reverse complement.
    #[doc(hidden)]
    MinusCodons,
}

#[doc(hidden)]
impl Strand {
    /// Whether the aligned residues are those of the reverse complement. A translation is aligned as it is.
    pub fn is_reverse(self) -> bool {
        self == Strand::Reverse
    }

    /// Whether it is the reverse complement, or a translation of it.
    pub fn is_minus(self) -> bool {
        match self {
            Strand::Reverse | Strand::Minus1 | Strand::Minus2 | Strand::Minus3 | Strand::MinusCodons => true,
            Strand::Forward | Strand::Plus1 | Strand::Plus2 | Strand::Plus3 | Strand::PlusCodons => false,
        }
    }

    /// Whether it is a translation.
    pub fn is_translated(self) -> bool {
        self.is_codons() || self.first_base().is_some()
    }

    /// Whether it is all codons of a strand.
    pub fn is_codons(self) -> bool {
        CODONS.contains(&self)
    }

    /// Bases before the first codon of a translation in one frame.
    pub fn first_base(self) -> Option<u32> {
        match self {
            Strand::Plus1 | Strand::Minus1 => Some(0),
            Strand::Plus2 | Strand::Minus2 => Some(1),
            Strand::Plus3 | Strand::Minus3 => Some(2),
            Strand::Forward | Strand::Reverse | Strand::PlusCodons | Strand::MinusCodons => None,
        }
    }

    /// The frame of an alignment that begins at `start` of the aligned residues, as BLAST numbers it: 1 to 3, or -1 to -3
    /// for the reverse complement.
    pub fn frame_from(self, start: u32) -> Option<i8> {
        let first = self.first_base().or_else(|| self.is_codons().then_some(start % CODON))?;
        let frame = match first {
            0 => 1,
            1 => 2,
            _ => 3,
        };
        Some(if self.is_minus() { -frame } else { frame })
    }
}

/// Frames in which sequences are translated: at least one of the six.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frames {
    /// Bit k stands for the frame k of `FRAMES`.
    bits: u8,
}

impl Frames {
    pub const ALL: Frames = Frames { bits: 0b11_1111 };
    const PLUS: Frames = Frames { bits: 0b00_0111 };
    const MINUS: Frames = Frames { bits: 0b11_1000 };

    /// The frames with these numbers, 1 to 3 and -1 to -3. `None` if another number is among them, or none.
    pub fn numbered(numbers: impl IntoIterator<Item = i8>) -> Option<Frames> {
        let mut bits = 0;
        for number in numbers {
            bits |= 1 << FRAMES.iter().position(|frame| frame.frame_from(0) == Some(number))?;
        }
        (bits != 0).then_some(Frames { bits })
    }

    fn orientations(self) -> &'static [Strand] {
        &SUBSETS[usize::from(self.bits)][..self.bits.count_ones() as usize]
    }
}

/// The frames of each set, in the order of `FRAMES`. The rest of a row has no meaning.
static SUBSETS: [[Strand; FRAMES.len()]; 1 << FRAMES.len()] = {
    let mut subsets = [FRAMES; 1 << FRAMES.len()];
    let mut bits = 0;
    while bits < subsets.len() {
        let (mut frame, mut count) = (0, 0);
        while frame < FRAMES.len() {
            if bits >> frame & 1 == 1 {
                subsets[bits][count] = FRAMES[frame];
                count += 1;
            }
            frame += 1;
        }
        bits += 1;
    }
    subsets
};

/// Strands that are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strands {
    #[default]
    Both,
    /// Queries as given.
    Plus,
    /// Only their reverse complements.
    Minus,
    /// Translations of queries in these frames.
    Frames(Frames),
    /// All codons of both strands, or of one.
    AllCodons,
    PlusCodons,
    MinusCodons,
}

impl Strands {
    /// Both strands, or only plus.
    pub fn of(is_both: bool) -> Strands {
        if is_both { Strands::Both } else { Strands::Plus }
    }

    pub fn only(strand: Strand) -> Strands {
        match strand {
            Strand::Reverse => Strands::Minus,
            _ => Strands::Plus,
        }
    }

    /// Orientations of each query, in the order of hits.
    pub fn orientations(self) -> &'static [Strand] {
        match self {
            Strands::Both => &[Strand::Forward, Strand::Reverse],
            Strands::Plus => &[Strand::Forward],
            Strands::Minus => &[Strand::Reverse],
            Strands::Frames(frames) => frames.orientations(),
            Strands::AllCodons => &CODONS,
            Strands::PlusCodons => &CODONS[..1],
            Strands::MinusCodons => &CODONS[1..],
        }
    }

    /// Number of orientations.
    pub fn count(self) -> u32 {
        to_u32(self.orientations().len())
    }

    /// Position of an orientation among those of a query; 0 if there is only one.
    pub fn position(self, strand: Strand) -> u32 {
        let place = self.orientations().iter().position(|&own| own == strand);
        to_u32(place.unwrap_or(0))
    }

    /// The translations of queries on these strands, in single frames or with changes of the frame.
    pub fn translated(self, shifts: bool) -> Strands {
        match (self, shifts) {
            (Strands::Plus, false) => Strands::Frames(Frames::PLUS),
            (Strands::Plus, true) => Strands::PlusCodons,
            (Strands::Minus, false) => Strands::Frames(Frames::MINUS),
            (Strands::Minus, true) => Strands::MinusCodons,
            (_, false) => Strands::Frames(Frames::ALL),
            (_, true) => Strands::AllCodons,
        }
    }

    /// Whether queries are translated.
    pub fn are_translated(self) -> bool {
        self.orientations()[0].is_translated()
    }

    pub fn has(self, strand: Strand) -> bool {
        self.orientations().contains(&strand)
    }

    /// Orientation of the sequence with this number, if the orientations of each query are adjacent.
    pub fn of_number(self, number: u32) -> Strand {
        self.orientations()[(number % self.count()) as usize]
    }
}
