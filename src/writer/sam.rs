//! SAM: the header and the records (SAMv1 specification, 2024).
//!
//! One primary record a query, further hits as secondary ones without SEQ and QUAL, an unmapped
//! record where nothing was found. SEQ stands in the target's orientation, soft-clipped. Proteins
//! keep their letters; only a stop `*`, which SAM forbids there, becomes X.

use super::output::output_name;
use super::tags::{differences, equal, mapping_quality, sam_letter};
use crate::alignment::Found;
use crate::alignment::{Alignment, Op, Strand};
use crate::alphabet::reverse_complement;
use crate::batch::Sequences;
use crate::error::{Error, Place, Result};
use crate::options::Options;
use crate::reader::Record;
use crate::scoring::Scoring;
use noodles_sam::alignment::RecordBuf;
use noodles_sam::alignment::io::Write as _;
use noodles_sam::alignment::record::cigar::op::{Kind, Op as SamOp};
use noodles_sam::alignment::record::data::field::Tag;
use noodles_sam::alignment::record::{Flags, MappingQuality};
use noodles_sam::header::Parser;
use noodles_sam::header::record::value::Map;
use noodles_sam::header::record::value::map::header::{Version, tag as header_tag};
use noodles_sam::header::record::value::map::program::tag as program_tag;
use noodles_sam::header::record::value::map::{self, Program, ReadGroup, ReferenceSequence};
use noodles_sam::{Header, io::Writer};
use std::borrow::Cow;
use std::io::{self, Write};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;

/// Score of the second best hit; it has no constant of its own, since the specification leaves X?
/// tags to programs (bwa and bowtie2 use it alike).
const SECOND_SCORE: Tag = Tag::new(b'X', b'S');
/// What qualities are stored above, in FASTQ and SAM alike.
const PHRED_OFFSET: u8 = 33;
/// The program's ID and name in @PG.
const PROGRAM: &str = "swalign";

/// Writes SAM; all a run's records share one. It holds no state between calls, so that several
/// threads may each write a part into a buffer of their own.
pub struct SamWriter {
    header: Header,
    scoring: Arc<Scoring>,
    targets: Arc<Sequences>,
    eqx: bool,
    read_group: Option<String>,
    /// Where the records come from and go to, for error messages.
    query: PathBuf,
    output: PathBuf,
}

impl SamWriter {
    /// A writer for a run of `options` with its resolved least score and scoring, against `targets`
    /// under these `names`. Everything that can't stand in a header is refused here, before anything
    /// is written.
    pub fn new(
        options: &Options,
        min_score: i32,
        scoring: Arc<Scoring>,
        names: &[String],
        targets: Arc<Sequences>,
    ) -> Result<SamWriter> {
        let read_group = options.read_group.as_deref().map(parse_read_group).transpose()?;
        let comments = [scoring_comment(&scoring), limits_comment(min_score, options.secondary_ratio)];
        let mut builder = Header::builder().set_header(file_header());
        for (name, codes) in names.iter().zip(targets.iter()) {
            let length =
                NonZero::new(codes.len()).ok_or_else(|| refused_target(options, name, "it is empty"))?;
            builder = builder.add_reference_sequence(name.as_str(), Map::<ReferenceSequence>::new(length));
        }
        if let Some((id, group)) = read_group.clone() {
            builder = builder.add_read_group(id, group);
        }
        builder = builder.add_program(PROGRAM, program(&options.command_line));
        builder = comments.into_iter().fold(builder, |builder, comment| builder.add_comment(comment));
        let writer = SamWriter {
            header: builder.build(),
            scoring,
            targets,
            eqx: options.eqx,
            read_group: read_group.map(|(id, _)| id),
            query: options.query.clone(),
            output: output_name(options.output.as_deref()),
        };
        writer.check_header(options, names)?;
        Ok(writer)
    }

    /// Refuses a header that the format can't hold.
    fn check_header(&self, options: &Options, names: &[String]) -> Result<()> {
        let sequences = self.header.reference_sequences();
        if let Some((_, twice)) =
            (0..).zip(names).find(|(at, name)| sequences.get_index_of(name.as_bytes()) != Some(*at))
        {
            return Err(refused_target(options, twice, "its name stands twice"));
        }
        // A dry run finds letters that the format forbids.
        Writer::new(io::sink()).write_header(&self.header).map_err(|source| {
            let place = Place { file: options.reference.clone(), ..Place::default() };
            let remedy = "names may hold printable ASCII except brackets, quotes, commas and backslashes, and a \
                          sequence fewer than 2^31 residues";
            Error::input(place, format!("SAM can't hold this reference or read group ({source})"), remedy)
        })
    }

    /// Writes the header.
    pub fn write_header(&self, out: &mut impl Write) -> Result<()> {
        Writer::new(out).write_header(&self.header).map_err(|source| Error::io(&self.output, source))
    }

    /// Writes all records of the given queries, in their order.
    pub fn write_records<'r>(
        &self,
        out: &mut impl Write,
        found: impl IntoIterator<Item = (&'r Record, &'r Found)>,
    ) -> Result<()> {
        let mut out = Writer::new(out);
        let mut line = RecordBuf::default();
        for (record, found) in found {
            self.write_query(&mut out, &mut line, record, found)
                .map_err(|source| self.refused(record, source))?;
        }
        Ok(())
    }

    /// The error of a record that could not be written: its own fault, or the output's.
    fn refused(&self, record: &Record, source: io::Error) -> Error {
        if source.kind() != io::ErrorKind::InvalidInput {
            return Error::io(&self.output, source);
        }
        let place = Place {
            file: self.query.clone(),
            record: Some((record.number, record.name.clone())),
            line: None,
        };
        let remedy = "give it a name of 1 to 254 printable ASCII characters without '@', and qualities from '!' to '~'";
        Error::input(place, format!("SAM can't hold this record ({source})"), remedy)
    }

    /// Writes the records of one query; `line` is only a buffer.
    fn write_query<W: Write>(
        &self,
        out: &mut Writer<W>,
        line: &mut RecordBuf,
        record: &Record,
        found: &Found,
    ) -> io::Result<()> {
        set_name(line, &record.name);
        let Some((primary, secondary)) = found.alignments.split_first() else {
            set_unmapped(line);
            set_sequence(line, &record.sequence, record.qualities.as_deref(), Strand::Forward);
            return self.finish(out, line);
        };
        let query = oriented(record, primary.strand);
        self.set_alignment(line, &query, primary);
        set_sequence(line, &query, record.qualities.as_deref(), primary.strand);
        let quality = mapping_quality(&self.scoring, primary, found.second, found.threshold);
        *line.mapping_quality_mut() = MappingQuality::new(quality);
        if let Some(second) = found.second {
            line.data_mut().insert(SECOND_SCORE, second.into());
        }
        self.finish(out, line)?;
        for alignment in secondary {
            self.set_alignment(line, &oriented(record, alignment.strand), alignment);
            line.flags_mut().insert(Flags::SECONDARY);
            // The primary record has them already.
            set_sequence(line, &[], None, alignment.strand);
            *line.mapping_quality_mut() = MappingQuality::new(0);
            self.finish(out, line)?;
        }
        Ok(())
    }

    /// Everything that follows from the alignment alone. `query` is in the aligned orientation.
    fn set_alignment(&self, line: &mut RecordBuf, query: &[u8], alignment: &Alignment) {
        let target = self.targets.get(alignment.target as usize);
        *line.flags_mut() = match alignment.strand {
            Strand::Forward => Flags::empty(),
            Strand::Reverse => Flags::REVERSE_COMPLEMENTED,
        };
        *line.reference_sequence_id_mut() = Some(alignment.target as usize);
        *line.alignment_start_mut() = (alignment.target_start as usize + 1).try_into().ok();
        self.set_cigar(line.cigar_mut().as_mut(), query, target, alignment);
        let found = differences(self.scoring.alphabet, query, target, alignment);
        let data = line.data_mut();
        data.clear();
        data.insert(Tag::EDIT_DISTANCE, found.edits.into());
        data.insert(Tag::MISMATCHED_POSITIONS, found.md.into());
        data.insert(Tag::ALIGNMENT_SCORE, alignment.score.into());
    }

    /// The path with soft clips at its ends, so that it consumes the whole query.
    fn set_cigar(&self, cigar: &mut Vec<SamOp>, query: &[u8], target: &[u8], alignment: &Alignment) {
        let (mut i, mut j) = (alignment.query_start as usize, alignment.target_start as usize);
        cigar.clear();
        push_op(cigar, Kind::SoftClip, i);
        for &(len, op) in &alignment.cigar {
            let len = len as usize;
            match op {
                Op::Match if self.eqx => self.push_eqx(cigar, &query[i..i + len], &target[j..j + len]),
                Op::Match => push_op(cigar, Kind::Match, len),
                Op::Insertion => push_op(cigar, Kind::Insertion, len),
                Op::Deletion => push_op(cigar, Kind::Deletion, len),
            }
            i += if op == Op::Deletion { 0 } else { len };
            j += if op == Op::Insertion { 0 } else { len };
        }
        push_op(cigar, Kind::SoftClip, query.len() - i);
    }

    /// A run of `M` as `=` and `X`.
    fn push_eqx(&self, cigar: &mut Vec<SamOp>, query: &[u8], target: &[u8]) {
        for (&residue, &code) in query.iter().zip(target) {
            let kind = match equal(self.scoring.alphabet, residue, code) {
                true => Kind::SequenceMatch,
                false => Kind::SequenceMismatch,
            };
            push_op(cigar, kind, 1);
        }
    }

    /// Adds the read group, always the last tag, and writes the line.
    fn finish<W: Write>(&self, out: &mut Writer<W>, line: &mut RecordBuf) -> io::Result<()> {
        if let Some(id) = &self.read_group {
            line.data_mut().insert(Tag::READ_GROUP, id.as_str().into());
        }
        out.write_alignment_record(&self.header, line)
    }
}

fn set_name(line: &mut RecordBuf, name: &str) {
    // A nameless record is `*`.
    *line.name_mut() = (!name.is_empty()).then(|| name.into());
}

fn set_unmapped(line: &mut RecordBuf) {
    *line.flags_mut() = Flags::UNMAPPED;
    *line.reference_sequence_id_mut() = None;
    *line.alignment_start_mut() = None;
    *line.mapping_quality_mut() = MappingQuality::new(0);
    line.cigar_mut().as_mut().clear();
    line.data_mut().clear();
}

/// SEQ and QUAL: `query` in the aligned orientation already, `qualities` as they were read.
fn set_sequence(line: &mut RecordBuf, query: &[u8], qualities: Option<&[u8]>, strand: Strand) {
    let letters = line.sequence_mut().as_mut();
    letters.clear();
    letters.extend(query.iter().map(|&letter| sam_letter(letter)));
    let scores = line.quality_scores_mut().as_mut();
    scores.clear();
    // A character below the offset wraps to a score that is refused.
    scores.extend(qualities.unwrap_or_default().iter().map(|quality| quality.wrapping_sub(PHRED_OFFSET)));
    if strand == Strand::Reverse {
        scores.reverse();
    }
}

/// The query's letters in the orientation of an alignment.
fn oriented(record: &Record, strand: Strand) -> Cow<'_, [u8]> {
    match strand {
        Strand::Forward => Cow::Borrowed(&record.sequence),
        Strand::Reverse => Cow::Owned(reverse_complement(&record.sequence)),
    }
}

/// Appends an operation, joining it with an equal last one; nothing for length 0.
fn push_op(cigar: &mut Vec<SamOp>, kind: Kind, len: usize) {
    match cigar.last_mut() {
        _ if len == 0 => {}
        Some(last) if last.kind() == kind => *last = SamOp::new(kind, last.len() + len),
        _ => cigar.push(SamOp::new(kind, len)),
    }
}

/// @HD.
fn file_header() -> Map<map::Header> {
    let mut header = Map::<map::Header>::new(Version::new(1, 6));
    header.other_fields_mut().insert(header_tag::SORT_ORDER, "unsorted".into());
    header
}

/// @PG.
fn program(command_line: &str) -> Map<Program> {
    let mut program = Map::<Program>::default();
    let fields = program.other_fields_mut();
    fields.insert(program_tag::NAME, PROGRAM.into());
    fields.insert(program_tag::VERSION, env!("CARGO_PKG_VERSION").into());
    if !command_line.is_empty() {
        fields.insert(program_tag::COMMAND_LINE, printable(command_line).into());
    }
    program
}

/// The scoring, for readers of the file and for programs that check it. It says nothing of devices
/// and threads, so that the same input gives the same bytes on all of them.
fn scoring_comment(scoring: &Scoring) -> String {
    let numbers = printable(&scoring.to_string());
    format!("swalign scoring: {numbers}; a gap of k costs gap_open + k * gap_extend")
}

/// From which scores on hits exist.
fn limits_comment(min_score: i32, ratio: f64) -> String {
    format!("swalign hits: min_score={min_score} secondary_ratio={ratio}")
}

/// `text` as header fields may hold it, in printable ASCII; other characters escaped as in Rust.
fn printable(text: &str) -> String {
    let plain = |letter: char| letter == ' ' || letter.is_ascii_graphic();
    text.chars().fold(String::with_capacity(text.len()), |mut printable, letter| {
        match plain(letter) {
            true => printable.push(letter),
            false => printable.extend(letter.escape_default()),
        }
        printable
    })
}

/// ID and fields of a whole `@RG` line.
fn parse_read_group(line: &str) -> Result<(String, Map<ReadGroup>)> {
    let refuse = |problem: &str| {
        let example = r"'@RG\tID:run1\tSM:sample1'";
        Error::Usage(format!(
            "--read-group: {problem}; give one line of ASCII fields parted by tabs, such as {example}"
        ))
    };
    if !line.starts_with("@RG\tID:") {
        return Err(refuse("it must begin with @RG, a tab and ID:"));
    }
    if !line.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte)) {
        return Err(refuse("it holds a character that SAM forbids"));
    }
    let mut parser = Parser::default();
    // The version decides how strict the parser is.
    for line in ["@HD\tVN:1.6", line] {
        parser.parse_partial(line.as_bytes()).map_err(|error| refuse(&causes(&error)))?;
    }
    match parser.finish().read_groups().first() {
        Some((id, group))
            if !id.is_empty() && group.other_fields().values().all(|value| !value.is_empty()) =>
        {
            Ok((id.to_string(), group.clone()))
        }
        _ => Err(refuse("a field is empty")),
    }
}

/// An error with all that lies behind it.
fn causes(error: &dyn std::error::Error) -> String {
    let chain = std::iter::successors(Some(error), |error| error.source());
    chain.map(|error| error.to_string()).collect::<Vec<_>>().join(": ")
}

fn refused_target(options: &Options, name: &str, problem: &str) -> Error {
    let place = Place { file: options.reference.clone(), ..Place::default() };
    Error::input(
        place,
        format!("reference '{name}' can't stand in a SAM header: {problem}"),
        "rename or remove it",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::{Cigar, push_run};
    use crate::alphabet::Alphabet;
    use crate::options::{DeviceChoice, Mode, ScoringChoice};
    use crate::scoring::Matrix;

    fn options() -> Options {
        Options {
            mode: Mode::All,
            query: "reads.fq".into(),
            reference: "ref.fa".into(),
            output: None,
            alphabet: None,
            scoring: ScoringChoice::default(),
            both_strands: true,
            min_score: None,
            secondary_ratio: 0.8,
            max_hits: 1,
            device: DeviceChoice::Cpu,
            threads: 1,
            batch: None,
            eqx: false,
            read_group: None,
            command_line: "swalign reads.fq ref.fa".into(),
            verbosity: 0,
            checked_shaders: false,
        }
    }

    fn writer(options: &Options, scoring: Scoring, targets: &[(&str, &str)]) -> Result<SamWriter> {
        let alphabet = scoring.alphabet;
        let mut sequences = Sequences::default();
        for (_, letters) in targets {
            let mut codes = Vec::new();
            alphabet.encode(letters.as_bytes(), &mut codes).unwrap();
            sequences.push(codes);
        }
        let names: Vec<String> = targets.iter().map(|(name, _)| name.to_string()).collect();
        SamWriter::new(options, 20, Arc::new(scoring), &names, Arc::new(sequences))
    }

    fn dna(options: &Options, targets: &[(&str, &str)]) -> SamWriter {
        writer(options, Scoring::dna(1, 4, 6, 1), targets).unwrap()
    }

    fn header(writer: &SamWriter) -> String {
        let mut text = Vec::new();
        writer.write_header(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    fn lines(writer: &SamWriter, record: &Record, found: &Found) -> Vec<String> {
        let mut text = Vec::new();
        writer.write_records(&mut text, [(record, found)]).unwrap();
        String::from_utf8(text).unwrap().lines().map(str::to_string).collect()
    }

    fn read(name: &str, letters: &str, qualities: Option<&str>) -> Record {
        let qualities = qualities.map(|qualities| qualities.as_bytes().to_vec());
        Record { number: 1, name: name.into(), sequence: letters.as_bytes().to_vec(), qualities }
    }

    /// An alignment beginning at these places of query and target (number 0).
    fn at(strand: Strand, query_start: u32, target_start: u32, cigar: Cigar) -> Alignment {
        let span = |kind: Op| cigar.iter().filter(|(_, op)| *op != kind).map(|(len, _)| len).sum::<u32>();
        let (query_end, target_end) = (query_start + span(Op::Deletion), target_start + span(Op::Insertion));
        Alignment { strand, target: 0, score: 30, query_start, query_end, target_start, target_end, cigar }
    }

    fn found(alignments: Vec<Alignment>, second: Option<i32>) -> Found {
        Found { alignments, second, threshold: 24 }
    }

    #[test]
    fn the_header_whole() {
        let options = Options { read_group: Some("@RG\tID:run 1\tSM:s\tPL:ILLUMINA".into()), ..options() };
        let version = env!("CARGO_PKG_VERSION");
        let expected = format!(
            "@HD\tVN:1.6\tSO:unsorted\n@SQ\tSN:b\tLN:4\n@SQ\tSN:a\tLN:2\n@RG\tID:run 1\tSM:s\tPL:ILLUMINA\n\
             @PG\tID:swalign\tPN:swalign\tVN:{version}\tCL:swalign reads.fq ref.fa\n\
             @CO\tswalign scoring: alphabet=DNA match=1 mismatch=4 gap_open=6 gap_extend=1; \
             a gap of k costs gap_open + k * gap_extend\n\
             @CO\tswalign hits: min_score=20 secondary_ratio=0.8\n"
        );
        assert_eq!(header(&dna(&options, &[("b", "ACGT"), ("a", "AC")])), expected);
    }

    #[test]
    fn odd_command_lines_stay_one_printable_field() {
        let options = Options { command_line: "swalign a\tb\n\u{e9} 'x' c".into(), ..options() };
        assert!(header(&dna(&options, &[("a", "AC")])).contains("\tCL:swalign a\\tb\\n\\u{e9} 'x' c\n"));
        let none = Options { command_line: String::new(), ..options };
        assert!(!header(&dna(&none, &[("a", "AC")])).contains("CL:"));
    }

    #[test]
    fn bad_read_groups_are_usage_errors() {
        for line in [
            "",
            "run1",
            "@RG\tSM:x",
            "@SQ\tID:x",
            "@RG\tID:",
            "@RG\tID:x\tSM:",
            "@RG\tID:x\nSM:y",
            "@RG\tID:\u{e9}",
            "@RG\tID:x\tID:y",
            "@RG\tID:x\tSM",
            "@RG\tID:x\t1:y",
            "@RG\tID:x\t\tSM:y",
            "@RG\\tID:x",
        ] {
            let options = Options { read_group: Some(line.into()), ..options() };
            let error = writer(&options, Scoring::dna(1, 4, 6, 1), &[("a", "AC")]).err();
            assert!(matches!(error, Some(Error::Usage(_))), "{line:?}: {error:?}");
        }
    }

    #[test]
    fn bad_references_are_refused_before_anything_is_written() {
        for (targets, problem) in [
            (&[("a", "AC"), ("b", "A"), ("a", "AC")][..], "stands twice"),
            (&[("a", "")], "empty"),
            (&[("a,b", "AC")], "can't hold"),
            (&[("*", "AC")], "can't hold"),
            (&[("", "AC")], "can't hold"),
        ] {
            let error = writer(&options(), Scoring::dna(1, 4, 6, 1), targets).err().unwrap().to_string();
            assert!(error.starts_with("ref.fa: ") && error.contains(problem), "{error}");
        }
    }

    #[test]
    fn unmapped_records() {
        let writer = dna(&options(), &[("a", "ACGT")]);
        let none = Found::default();
        assert_eq!(
            lines(&writer, &read("q", "ACN", Some("!I~")), &none),
            ["q\t4\t*\t0\t0\t*\t*\t0\t0\tACN\t!I~"]
        );
        assert_eq!(lines(&writer, &read("q", "ACN", None), &none), ["q\t4\t*\t0\t0\t*\t*\t0\t0\tACN\t*"]);
        assert_eq!(lines(&writer, &read("q", "", Some("")), &none), ["q\t4\t*\t0\t0\t*\t*\t0\t0\t*\t*"]);
        assert_eq!(lines(&writer, &read("", "A", None), &none), ["*\t4\t*\t0\t0\t*\t*\t0\t0\tA\t*"]);
    }

    #[test]
    fn both_strands_and_secondary_records() {
        let writer = dna(&options(), &[("a", "TTACGTATT")]);
        let reverse = at(Strand::Reverse, 1, 2, vec![(4, Op::Match)]);
        let forward = Alignment {
            score: 25,
            ..at(Strand::Forward, 0, 3, vec![(2, Op::Match), (1, Op::Insertion), (1, Op::Match)])
        };
        let query = read("q", "NACGTC", Some("!\"#$%&"));
        // The reverse complement of the query is GACGTN.
        let written = lines(&writer, &query, &found(vec![reverse.clone(), forward, reverse], Some(25)));
        assert_eq!(
            written,
            [
                "q\t16\ta\t3\t27\t1S4M1S\t*\t0\t0\tGACGTN\t&%$#\"!\tNM:i:0\tMD:Z:4\tAS:i:30\tXS:i:25",
                "q\t256\ta\t4\t0\t2M1I1M2S\t*\t0\t0\t*\t*\tNM:i:4\tMD:Z:0C0G0T0\tAS:i:25",
                "q\t272\ta\t3\t0\t1S4M1S\t*\t0\t0\t*\t*\tNM:i:0\tMD:Z:4\tAS:i:30",
            ]
        );
    }

    #[test]
    fn equal_and_unequal_runs() {
        let options = Options { eqx: true, read_group: Some("@RG\tID:g".into()), ..options() };
        let writer = dna(&options, &[("a", "ACGTNACC")]);
        let cigar = vec![(5, Op::Match), (1, Op::Deletion), (2, Op::Match)];
        let alone = found(vec![at(Strand::Forward, 0, 0, cigar)], None);
        assert_eq!(
            lines(&writer, &read("q", "ACTTNCC", None), &alone),
            ["q\t0\ta\t1\t42\t2=1X1=1X1D2=\t*\t0\t0\tACTTNCC\t*\tNM:i:3\tMD:Z:2G1N0^A2\tAS:i:30\tRG:Z:g"]
        );
        let unmapped = lines(&writer, &read("q", "A", None), &Found::default());
        assert_eq!(unmapped, ["q\t4\t*\t0\t0\t*\t*\t0\t0\tA\t*\tRG:Z:g"]);
    }

    #[test]
    fn proteins_keep_their_letters_but_for_stops() {
        let scoring = Scoring::matrix(Alphabet::Protein, Matrix::named("BLOSUM62").unwrap(), 11, 1);
        let writer = writer(&Options { eqx: true, ..options() }, scoring, &[("a", "MKU*VL")]).unwrap();
        let alone = found(vec![at(Strand::Forward, 0, 0, vec![(6, Op::Match)])], None);
        let written = lines(&writer, &read("q", "MEU*JL", None), &alone).remove(0);
        assert!(written.contains("\t1=1X2=1X1=\t*\t0\t0\tMEUXJL\t*\tNM:i:2\tMD:Z:1K2V1\tAS"), "{written}");
        assert!(header(&writer).contains("alphabet=protein matrix=BLOSUM62 gap_open=11 gap_extend=1;"));
    }

    #[test]
    fn records_that_sam_cannot_hold_are_named() {
        let writer = dna(&options(), &[("a", "ACGT")]);
        for (name, qualities) in
            [("q@", "I"), ("q\t", "I"), (&"q".repeat(255), "I"), ("q", "\u{7f}"), ("q", " ")]
        {
            let query = read(name, "A", Some(qualities));
            let error = writer.write_records(&mut Vec::new(), [(&query, &Found::default())]).unwrap_err();
            assert!(error.to_string().starts_with("reads.fq, record 1 'q"), "{error}");
        }
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let error = writer.write_records(&mut Closed, [(&read("q", "A", None), &Found::default())]);
        assert!(matches!(error, Err(Error::Closed)));
    }

    /// Numbers that are random enough, and the same every time (Knuth's MMIX generator).
    struct Random(u64);

    impl Random {
        fn below(&mut self, n: u32) -> u32 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((self.0 >> 33) % u64::from(n)) as u32
        }

        fn letters(&mut self, len: u32, letters: &[u8]) -> String {
            (0..len).map(|_| char::from(letters[self.below(letters.len() as u32) as usize])).collect()
        }

        fn cigar(&mut self) -> Cigar {
            let mut cigar = vec![(1 + self.below(5), Op::Match)];
            for _ in 0..self.below(8) {
                let op = [Op::Match, Op::Insertion, Op::Deletion][self.below(3) as usize];
                push_run(&mut cigar, 1 + self.below(4), op);
            }
            push_run(&mut cigar, 1 + self.below(5), Op::Match);
            cigar
        }
    }

    /// A CIGAR's text as numbers and kinds.
    fn parse_cigar(text: &str) -> Vec<(usize, char)> {
        let kinds: Vec<char> = text.chars().filter(|letter| !letter.is_ascii_digit()).collect();
        let lens = text.split(|letter: char| !letter.is_ascii_digit());
        lens.zip(kinds).map(|(len, kind)| (len.parse().unwrap(), kind)).collect()
    }

    /// MD spread out: `None` for an equal residue, else the target's letter; deletions left out.
    fn spread_md(md: &str) -> (Vec<Option<char>>, String) {
        let (mut columns, mut deleted, mut number) = (Vec::new(), String::new(), String::new());
        let mut deleting = false;
        for letter in md.chars().chain(['!']) {
            if letter.is_ascii_digit() {
                number.push(letter);
                deleting = false;
                continue;
            }
            columns.extend(vec![None; number.parse().unwrap_or(0)]);
            assert!(deleting || !number.is_empty(), "{md}: a number before every letter");
            number.clear();
            match letter {
                '^' => deleting = true,
                '!' => {}
                _ if deleting => deleted.push(letter),
                _ => columns.push(Some(letter)),
            }
        }
        (columns, deleted)
    }

    /// The target's interval and NM, from nothing but a SAM line's SEQ, CIGAR and MD.
    fn rebuild(line: &str) -> (String, usize) {
        let fields: Vec<&str> = line.split('\t').collect();
        let tag = |name: &str| fields[11..].iter().find_map(|field| field.strip_prefix(name)).unwrap();
        let (columns, deleted) = spread_md(tag("MD:Z:"));
        let (mut columns, mut deleted) = (columns.into_iter(), deleted.chars());
        let mut letters = fields[9].chars();
        let (mut target, mut edits) = (String::new(), 0);
        for (len, kind) in parse_cigar(fields[5]) {
            for _ in 0..len {
                match kind {
                    'S' => drop(letters.next().unwrap()),
                    'I' => {
                        letters.next().unwrap();
                        edits += 1;
                    }
                    'D' => {
                        target.push(deleted.next().unwrap());
                        edits += 1;
                    }
                    _ => {
                        let (letter, other) = (letters.next().unwrap(), columns.next().unwrap());
                        assert!(kind == 'M' || (kind == '=') == other.is_none(), "{line}");
                        edits += usize::from(other.is_some());
                        target.push(other.unwrap_or(letter));
                    }
                }
            }
        }
        assert_eq!((letters.next(), columns.next(), deleted.next()), (None, None, None), "{line}");
        (target, edits)
    }

    #[test]
    fn random_records_give_back_their_targets() {
        for seed in 0..2000 {
            let mut random = Random(seed);
            let cigar = random.cigar();
            let strand = [Strand::Forward, Strand::Reverse][random.below(2) as usize];
            let alignment = at(strand, random.below(4), random.below(4), cigar);
            let letters = [&b"ACGT"[..], b"AAC", b"ACGTNRY"][random.below(3) as usize];
            let target = random.letters(alignment.target_end + 3, letters);
            let query = random.letters(alignment.query_end + 3, letters);
            let options = Options { eqx: random.below(2) == 0, ..options() };
            let writer = dna(&options, &[("a", &target)]);
            let (start, end) = (alignment.target_start as usize, alignment.target_end as usize);
            let line = lines(&writer, &read("q", &query, None), &found(vec![alignment], None)).remove(0);
            let (rebuilt, edits) = rebuild(&line);
            assert_eq!(rebuilt, target[start..end], "seed {seed}: {line}");
            assert!(line.contains(&format!("\tNM:i:{edits}\t")), "seed {seed}: {line}");
            let kinds: Vec<char> =
                parse_cigar(line.split('\t').nth(5).unwrap()).iter().map(|run| run.1).collect();
            assert!(kinds.windows(2).all(|two| two[0] != two[1]), "seed {seed}: {line}");
        }
    }
}
