//! The plain twin of our text output: records built and written by noodles. Our output must be the same byte for byte,
//! including the errors, and noodles must be able to read it. It must read the same records from our BAM.

use super::Writer;
use super::header::of_search;
use super::tests::{at, group, options, random_path, random_text, read, writer};
use crate::align::quality::mapping_quality;
use crate::input::reader::FileRecord;
use crate::terms::alignment::{Alignment, PathOp, PathRuns, QueryResult, Strand};
use crate::terms::alphabet::{Alphabet, reverse_complement};
use crate::terms::options::{CsForm, Format, Options};
use crate::terms::random::Random;
use crate::terms::scoring::{Matrix, Scoring};
use noodles_bam::io::Reader as BamReader;
use noodles_sam::Header;
use noodles_sam::alignment::RecordBuf;
use noodles_sam::alignment::io::Write as _;
use noodles_sam::alignment::record::cigar::op::{Kind, Op as SamOp};
use noodles_sam::alignment::record::data::field::Tag;
use noodles_sam::alignment::record::{Flags, MappingQuality};
use noodles_sam::io::{Reader, Writer as SamWriter};
use std::io;

/// One query against a few targets.
#[derive(Clone)]
struct Case {
    options: Options,
    scoring: Scoring,
    /// Names and residues.
    targets: Vec<(String, String)>,
    query: FileRecord,
    found: QueryResult,
}

impl Case {
    fn writer(&self) -> Writer {
        let targets: Vec<_> =
            self.targets.iter().map(|(name, letters)| (name.as_str(), letters.as_str())).collect();
        writer(&self.options, self.scoring.clone(), &targets).unwrap()
    }

    /// The records that noodles reads from our BAM.
    fn read_bam(&self) -> io::Result<Vec<RecordBuf>> {
        let options = Options {
            format: crate::terms::options::OutputFormat::Records(Format::Bam),
            ..self.options.clone()
        };
        let writer = Case { options, ..self.clone() }.writer();
        let mut bytes = writer.header().concat();
        let query = std::slice::from_ref(&self.query);
        let parts =
            writer.parts((0, None), query, std::slice::from_ref(&self.found)).map_err(io::Error::other)?;
        let mut joint = writer.joint().unwrap();
        parts.into_iter().for_each(|part| bytes.extend(joint.add(part).unwrap()));
        bytes.extend(joint.finish().unwrap());
        let mut reader = BamReader::new(&bytes[..]);
        let header = reader.read_header()?;
        reader.record_bufs(&header).collect()
    }

    /// All records of the query.
    fn lines(&self) -> Vec<RecordBuf> {
        let QueryResult { alignments, second, threshold, .. } = &self.found;
        let mut lines: Vec<_> = alignments.iter().map(|alignment| self.line(alignment)).collect();
        match alignments.first() {
            None => {
                let mut line = RecordBuf::default();
                *line.flags_mut() = Flags::UNMAPPED;
                *line.mapping_quality_mut() = MappingQuality::new(0);
                self.set_sequence(&mut line, Strand::Forward);
                lines.push(line);
            }
            Some(primary) => {
                let quality = mapping_quality(&self.scoring, primary, *second, *threshold);
                *lines[0].mapping_quality_mut() = MappingQuality::new(quality);
                self.set_sequence(&mut lines[0], primary.strand);
                if let Some(second) = *second {
                    lines[0].data_mut().insert(Tag::new(b'X', b'S'), second.into());
                }
            }
        }
        for line in lines.iter_mut().skip(1) {
            line.flags_mut().insert(Flags::SECONDARY);
            *line.mapping_quality_mut() = MappingQuality::new(0);
        }
        for line in &mut lines {
            *line.name_mut() = (!self.query.name.is_empty()).then(|| self.query.name.as_str().into());
            if self.options.read_group.is_some() {
                line.data_mut().insert(Tag::READ_GROUP, "g 1".into());
            }
        }
        lines
    }

    fn oriented(&self, strand: Strand) -> Vec<u8> {
        match strand {
            Strand::Reverse => reverse_complement(&self.query.sequence),
            _ => self.query.sequence.clone(),
        }
    }

    /// SEQ and QUAL.
    fn set_sequence(&self, line: &mut RecordBuf, strand: Strand) {
        let letters = self.oriented(strand).into_iter();
        *line.sequence_mut() =
            letters.map(|letter| if letter == b'*' { b'X' } else { letter }).collect::<Vec<_>>().into();
        let mut scores = self.query.qualities.clone().unwrap_or_default();
        scores.iter_mut().for_each(|score| *score = score.wrapping_sub(b'!'));
        if strand == Strand::Reverse {
            scores.reverse();
        }
        *line.quality_scores_mut() = scores.into();
    }

    /// The fields that follow from the alignment alone, residue by residue.
    fn line(&self, alignment: &Alignment) -> RecordBuf {
        let query = self.oriented(alignment.strand);
        let target = self.targets[alignment.target as usize].1.as_bytes();
        let (mut i, mut j) = (alignment.query_start as usize, alignment.target_start as usize);
        let (mut cigar, mut md) = (vec![Kind::SoftClip; i], String::new());
        let (mut equals, mut edits) = (0, 0);
        let (mut cs, mut last) = (String::new(), None);
        for &(len, op) in &alignment.cigar {
            if op == PathOp::Deletion {
                md += &format!("{equals}^");
                equals = 0;
            }
            for _ in 0..len {
                let equal = op == PathOp::Match && self.equal(query[i], target[j]);
                match op {
                    PathOp::Match if equal => equals += 1,
                    PathOp::Match => {
                        md += &format!("{equals}{}", self.letter(target[j]));
                        equals = 0;
                    }
                    PathOp::Insertion => {}
                    PathOp::Deletion => md.push(self.letter(target[j])),
                }
                // A sign precedes the first residue of a run, and each substitution.
                let sign = match op {
                    PathOp::Match if equal => '=',
                    PathOp::Match => '*',
                    PathOp::Insertion => '+',
                    PathOp::Deletion => '-',
                };
                if last.replace((op, equal)) != Some((op, equal)) || sign == '*' {
                    cs.push(sign);
                }
                if op != PathOp::Insertion {
                    cs.push(if equal { self.letter(target[j]) } else { self.cs_letter(target[j]) });
                }
                if op == PathOp::Insertion || sign == '*' {
                    cs.push(self.cs_letter(query[i]));
                }
                cigar.push(match op {
                    PathOp::Match if !self.options.eqx => Kind::Match,
                    PathOp::Match if equal => Kind::SequenceMatch,
                    PathOp::Match => Kind::SequenceMismatch,
                    PathOp::Insertion => Kind::Insertion,
                    PathOp::Deletion => Kind::Deletion,
                });
                edits += i32::from(!equal);
                i += usize::from(op != PathOp::Deletion);
                j += usize::from(op != PathOp::Insertion);
            }
        }
        md += &equals.to_string();
        cigar.resize(cigar.len() + query.len() - i, Kind::SoftClip);
        let mut line = RecordBuf::default();
        *line.flags_mut() = match alignment.strand {
            Strand::Reverse => Flags::REVERSE_COMPLEMENTED,
            _ => Flags::empty(),
        };
        *line.reference_sequence_id_mut() = Some(alignment.target as usize);
        *line.alignment_start_mut() = (alignment.target_start as usize + 1).try_into().ok();
        let runs = cigar.chunk_by(|a, b| a == b).map(|run| SamOp::new(run[0], run.len()));
        *line.cigar_mut() = runs.collect();
        let data = line.data_mut();
        data.insert(Tag::EDIT_DISTANCE, edits.into());
        data.insert(Tag::MISMATCHED_POSITIONS, md.into());
        match self.options.cs {
            None => {}
            Some(CsForm::Long) => drop(data.insert(Tag::new(b'c', b's'), cs.into())),
            Some(CsForm::Short) => drop(data.insert(Tag::new(b'c', b's'), shortened(&cs).into())),
        }
        data.insert(Tag::ALIGNMENT_SCORE, alignment.score.into());
        line
    }

    /// The same code, and in DNA one of A, C, G, T.
    fn equal(&self, a: u8, b: u8) -> bool {
        let [a, b] = [a, b].map(|letter| self.scoring.alphabet.code(letter));
        a.is_some() && a == b && (self.scoring.alphabet == Alphabet::Protein || a < Some(4))
    }

    /// A residue in cs in a column that is not equal.
    fn cs_letter(&self, letter: u8) -> char {
        match self.letter(letter) {
            'A' | 'C' | 'G' | 'T' => self.letter(letter).to_ascii_lowercase(),
            _ if self.scoring.alphabet == Alphabet::Dna => 'n',
            letter => letter.to_ascii_lowercase(),
        }
    }

    /// A target residue as its code represents it, which is all that the writer knows.
    fn letter(&self, letter: u8) -> char {
        let code = self.scoring.alphabet.code(letter).unwrap();
        match self.scoring.alphabet.letters()[usize::from(code)] {
            b'*' => 'X',
            letter => char::from(letter),
        }
    }
}

impl Random {
    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn case(&mut self) -> Case {
        let protein = self.number(3) == 0;
        let scoring = match protein {
            true => Scoring::matrix(Alphabet::Protein, Matrix::named("BLOSUM62").unwrap(), 11, 1),
            false => Scoring::dna(1, 4, 6, 1),
        };
        let letters = match protein {
            true => self.pick(&[&b"ARNDCQEGHILKMFPSTWYVBZX*UOJ"[..], b"KKKKKKKKKX*UJ", b"MK*"]),
            false => self.pick(&[&b"ACGT"[..], b"AAAAAAAAAAAC", b"ACGTRYSWKMBDHVNUacgtrn", b"GGGGGGGGN"]),
        };
        let alignments: Vec<_> = (0..self.number(4)).map(|_| self.alignment(protein)).collect();
        let longest = |end: fn(&Alignment) -> u32| alignments.iter().map(end).max().unwrap_or(0);
        let query_len = longest(|alignment| alignment.query_end) + self.number(3) * self.number(60);
        let target_len = longest(|alignment| alignment.target_end) + 1 + self.number(3);
        let names = ["a", "b|c=*", "a_name.of:some-length/1"];
        let targets = names.map(|name| (name.to_string(), random_text(self, target_len, letters))).to_vec();
        let qualities = (self.number(2) == 0)
            .then(|| (0..query_len).map(|_| char::from(b'!' + self.number(94) as u8)).collect::<String>());
        let query = read("q/1", &random_text(self, query_len, letters), qualities.as_deref());
        let second = (self.number(2) == 0).then(|| self.number(2000) as i32 - 5);
        let found = QueryResult {
            alignments,
            second,
            threshold: self.number(200) as i32 - 5,
            ..QueryResult::default()
        };
        let read_group = (self.number(2) == 0).then(|| group("@RG\tID:g 1\tSM:s"));
        let cs = self.pick(&[None, Some(CsForm::Short), Some(CsForm::Long)]);
        let options = Options { eqx: self.number(2) == 0, cs, read_group, ..options() };
        Case { options, scoring, targets, query, found }
    }

    fn alignment(&mut self, protein: bool) -> Alignment {
        let stretch = self.pick(&[1, 7, 40]);
        let longer = |(len, op)| if op == PathOp::Match { (len * stretch, op) } else { (len, op) };
        let cigar: PathRuns = random_path(self).into_iter().map(longer).collect();
        let strand = if protein { Strand::Forward } else { self.pick(&[Strand::Forward, Strand::Reverse]) };
        let query_start = self.pick(&[0, 1, 9, 10, 101]);
        let target_start = self.pick(&[0, 8, 9, 98, 99, 1000]);
        let (target, score) = (self.number(3), self.number(100_000) as i32 - 20);
        Alignment { target, score, ..at(strand, query_start, target_start, cigar) }
    }

    /// Changes a record so that SAM may not be able to hold it.
    fn spoil(&mut self, query: &mut FileRecord) {
        let qualities = query.qualities.get_or_insert_default();
        match self.number(8) {
            0 => query.name = self.pick(&["", "*", "**", "q@", "q\t", " ", "\u{e9}", "\u{7f}"]).to_string(),
            1 => query.name = "q".repeat(self.pick(&[1, 254, 255])),
            2 => qualities.clear(),
            3 => qualities.push(b'!'),
            4 => drop(qualities.pop()),
            5 => qualities.fill(self.pick(b" !~\x7f\xff*")),
            6 => query.sequence.fill(self.pick(b"-=.1*@Zz[`{\x80")),
            _ => query.sequence.truncate(0),
        }
    }
}

/// The short form of the tag cs.
fn shortened(cs: &str) -> String {
    let mut pieces = cs.split('=');
    let first = pieces.next().unwrap().to_string();
    let of_piece = |piece: &str| {
        let equal = piece.bytes().take_while(u8::is_ascii_uppercase).count();
        format!(":{equal}{}", &piece[equal..])
    };
    first + &pieces.map(of_piece).collect::<String>()
}

/// SEQ after a round trip through BAM.
fn of_four_bits(mut line: RecordBuf) -> RecordBuf {
    for letter in line.sequence_mut().as_mut() {
        let upper = letter.to_ascii_uppercase();
        *letter = if b"=ACMGRSVTWYHKDBN".contains(&upper) { upper } else { b'N' };
    }
    line
}

fn written(header: &Header, lines: &[RecordBuf]) -> io::Result<Vec<u8>> {
    let mut writer = SamWriter::new(Vec::new());
    lines.iter().try_for_each(|line| writer.write_alignment_record(header, line))?;
    Ok(writer.into_inner())
}

#[test]
fn records_are_those_of_noodles() {
    let (mut refused, mut held, mut binary) = (0, 0, 0);
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let mut case = random.case();
        if case.found.alignments.is_empty() || random.below(8) == 0 {
            case.found.alignments.clear();
            random.spoil(&mut case.query);
        }
        let writer = case.writer();
        let header: Header = String::from_utf8(writer.header().concat()).unwrap().parse().unwrap();
        let lines = case.lines();
        let text = writer.records(&[case.query.clone()], &[case.found.clone()]);
        match written(&header, &lines) {
            Err(problem) => {
                refused += 1;
                let expected = format!(
                    "reads.fq, record 1{}: SAM cannot store this record ({problem}); give it a name of 1 to 254 \
                     printable ASCII characters without '@', and qualities from '!' to '~'",
                    if case.query.name.is_empty() {
                        String::new()
                    } else {
                        format!(" '{}'", case.query.name)
                    },
                );
                assert_eq!(text.unwrap_err().to_string(), expected, "seed {seed}");
                if case.scoring.alphabet == Alphabet::Dna {
                    assert_eq!(case.read_bam().unwrap_err().to_string(), expected, "seed {seed}");
                }
            }
            Ok(expected) => {
                held += 1;
                let text = text.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
                let show = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
                assert_eq!(show(&text), show(&expected), "seed {seed}");
                let mut reader = Reader::new(&text[..]);
                let again: Vec<_> = reader.record_bufs(&header).collect::<io::Result<_>>().unwrap();
                assert_eq!(again.len(), lines.len(), "seed {seed}");
                assert_eq!(show(&written(&header, &again).unwrap()), show(&expected), "seed {seed}");
                if case.scoring.alphabet == Alphabet::Dna {
                    binary += 1;
                    let lines: Vec<_> = lines.into_iter().map(of_four_bits).collect();
                    let expected = written(&header, &lines).unwrap();
                    let again = case.read_bam().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
                    assert_eq!(show(&written(&header, &again).unwrap()), show(&expected), "seed {seed}");
                }
            }
        }
    }
    assert!(refused > 300 && held > 1500 && binary > 1000, "{refused} refused, {held} held, {binary} in BAM");
}

/// More operations than BAM can count, on both sides of the limit, in a primary and a secondary record.
#[test]
fn cigars_that_bam_cannot_count() {
    for operations in [65_533, 65_535, 65_536, 65_537, 70_001] {
        let mut random = Random::new(operations);
        let path = |op| (0..operations).map(|at| (1, if at % 2 == 0 { PathOp::Match } else { op })).collect();
        let long = at(Strand::Reverse, 0, 5, path(PathOp::Insertion));
        let other = at(Strand::Forward, 0, 9, path(PathOp::Deletion));
        let query = read("q", &random_text(&mut random, long.query_end, b"ACGT"), None);
        let target = random_text(&mut random, other.target_end + 9, b"ACGT");
        let found = QueryResult {
            alignments: vec![long, other],
            second: Some(7),
            threshold: 5,
            ..QueryResult::default()
        };
        let (scoring, targets) = (Scoring::dna(1, 4, 6, 1), vec![("a".to_string(), target)]);
        let options = Options { read_group: Some(group("@RG\tID:g 1")), ..options() };
        let case = Case { options, scoring, targets, query, found };
        let header: Header = String::from_utf8(case.writer().header().concat()).unwrap().parse().unwrap();
        let expected = case.lines();
        let again = case.read_bam().unwrap();
        assert!(written(&header, &again).unwrap() == written(&header, &expected).unwrap(), "{operations}");
        assert_eq!(again[0].cigar().as_ref().len(), expected[0].cigar().as_ref().len(), "{operations}");
    }
}

/// Numbers of references at the boundaries of the parts in which they are written.
#[test]
fn headers_are_those_of_noodles() {
    for references in [1, 2, 4095, 4096, 4097, 10_000] {
        let name = |at: usize| {
            (format!("{at}{}", ["xy|z", "#*=", "~/"][at % 3].repeat(at % 8)), "A".repeat(1 + at % 130))
        };
        let targets = (0..references).map(name).collect();
        let (scoring, found) = (Scoring::dna(1, 4, 6, 1), QueryResult::default());
        let read_group = Some(group("@RG\tID:g 1\tSM:s\tPL:ILLUMINA"));
        let options = Options { read_group, ..options() };
        let case = Case { options, scoring, targets, query: read("q", "A", None), found };
        let text = String::from_utf8(case.writer().header().concat()).unwrap();
        let header: Header = text.parse().unwrap();
        let read =
            header.reference_sequences().iter().map(|(name, map)| (name.to_string(), map.length().get()));
        let expected = case.targets.iter().map(|(name, letters)| (name.clone(), letters.len()));
        assert!(read.eq(expected), "{references} references");
        let mut again = Vec::new();
        SamWriter::new(&mut again).write_header(&header).unwrap();
        assert!(again == text.as_bytes(), "{references} references");
        let options = Options {
            format: crate::terms::options::OutputFormat::Records(Format::Bam),
            ..case.options.clone()
        };
        let bytes = Case { options, ..case }.writer().header().concat();
        assert!(BamReader::new(&bytes[..]).read_header().unwrap() == header, "{references} references");
    }
}

#[test]
fn headers_of_searches_are_those_of_noodles() {
    let texts = [("a", 4), ("none", 0), ("b|c", 1 << 30)].map(|(name, len)| (name.to_string(), len));
    let text = of_search(&texts, "swalign search ACGT a.fa");
    let header: Header = std::str::from_utf8(&text).unwrap().parse().unwrap();
    assert_eq!(header.reference_sequences().len(), 2);
    let mut again = Vec::new();
    SamWriter::new(&mut again).write_header(&header).unwrap();
    assert!(again == text);
}
