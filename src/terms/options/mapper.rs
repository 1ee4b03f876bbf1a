//! The scorings of other mappers, by the commands in the @PG lines of their records.

use super::{PerPiece, ScoringChoice};

/// The scoring of the program that wrote records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapperScoring {
    /// The command as the header states it.
    pub command: String,
    pub choice: ScoringChoice,
    /// A difference between the program's scores and these.
    pub remark: Option<&'static str>,
}

/// A program, and how its scoring follows from its options.
struct Mapper {
    names: &'static [&'static str],
    /// The short options that have a value.
    valued: &'static str,
    scoring: fn(&StatedOptions) -> Result<MapperScores, String>,
}

/// The mappers whose options are known.
const MAPPERS: [Mapper; 3] = [
    Mapper { names: &["bwa", "bwa-mem2"], valued: "kcvsrtRABOEUwLdTQDmINofWxGhyKXHFz", scoring: bwa },
    Mapper { names: &["minimap2"], valued: "wkKtrfvgGIdTsxpMnzABbOEmNuRFCoeUJj", scoring: minimap2 },
    Mapper { names: &["bowtie2"], valued: "x12USbsu53pIXMkLNDRi", scoring: bowtie2 },
];

/// Scores of a mapper. A gap of k bases costs the lowest `open + k * extend` of its pieces.
struct MapperScores {
    match_: i32,
    mismatch: i32,
    ambiguous: i32,
    /// Opening and extension of each piece.
    gaps: Vec<[i32; 2]>,
    end_bonus: i32,
    remark: Option<&'static str>,
}

/// The words of a command.
struct StatedOptions {
    /// Names and values of options, in order. An option without a value has an empty one.
    options: Vec<(String, String)>,
    others: Vec<String>,
}

impl MapperScoring {
    /// The scoring of the mapper in these @PG lines; `None` if they state no command of a known mapper. The error is a
    /// problem of the file.
    pub fn of_programs(lines: &[String]) -> Result<Option<MapperScoring>, String> {
        let mut found: Option<MapperScoring> = None;
        for line in lines {
            let field = |name: &str| line.split('\t').find_map(|field| field.strip_prefix(name));
            let program = field("PN:").or(field("ID:")).unwrap_or_default();
            let mapper = MAPPERS.iter().find(|mapper| mapper.names.contains(&program));
            let (Some(mapper), Some(command)) = (mapper, field("CL:")) else { continue };
            let command = command.trim_matches('"');
            let scores = (mapper.scoring)(&StatedOptions::of(command, mapper.valued));
            let scores =
                scores.map_err(|problem| format!("by @PG, `{command}` wrote the records, and {problem}"))?;
            let scoring = scores.scoring(command);
            match &found {
                Some(first) if first.choice != scoring.choice => {
                    let first = &first.command;
                    return Err(format!(
                        "by @PG, `{first}` and `{command}` wrote the records with different scorings"
                    ));
                }
                Some(_) => {}
                None => found = Some(scoring),
            }
        }
        Ok(found)
    }

    /// The options of `swalign` for this scoring.
    pub fn options(&self) -> String {
        let ScoringChoice { match_, mismatch, ambiguous, end_bonus, gap_open, gap_extend, .. } = &self.choice;
        let pieces = |costs: &Option<PerPiece>| {
            costs.map(|costs| costs.costs().map(|cost| cost.to_string()).collect::<Vec<_>>().join(","))
        };
        let number = |number: &Option<i32>| number.map(|number| number.to_string());
        let options = [
            ("--match", number(match_)),
            ("--mismatch", number(mismatch)),
            ("--gap-open", pieces(gap_open)),
            ("--gap-extend", pieces(gap_extend)),
            ("--ambiguous", number(ambiguous)),
            ("--end-bonus", number(end_bonus)),
        ];
        let shown = options.into_iter().filter_map(|(name, value)| Some(format!("{name} {}", value?)));
        shown.collect::<Vec<_>>().join(" ")
    }
}

impl MapperScores {
    fn scoring(self, command: &str) -> MapperScoring {
        let MapperScores { match_, mismatch, ambiguous, mut gaps, end_bonus, remark } = self;
        // A piece that is never the lowest one is left out.
        gaps.sort_unstable();
        gaps.dedup();
        let all = gaps.clone();
        let is_lower =
            |one: &[i32; 2], other: &[i32; 2]| one != other && one[0] <= other[0] && one[1] <= other[1];
        gaps.retain(|piece| !all.iter().any(|other| is_lower(other, piece)));
        let costs = |at: usize| PerPiece::of(&gaps.iter().map(|piece| piece[at]).collect::<Vec<_>>());
        let choice = ScoringChoice {
            match_: Some(match_),
            mismatch: Some(mismatch),
            ambiguous: Some(ambiguous),
            end_bonus: Some(end_bonus),
            gap_open: costs(0),
            gap_extend: costs(1),
            ..ScoringChoice::default()
        };
        MapperScoring { command: command.to_string(), choice, remark }
    }
}

impl StatedOptions {
    /// The options of a command. Options without a dash at their front, such as files, are in `others`.
    fn of(command: &str, valued: &str) -> StatedOptions {
        let (mut options, mut others) = (Vec::new(), Vec::new());
        let mut words = command.split_ascii_whitespace().peekable();
        while let Some(word) = words.next() {
            if let Some(long) = word.strip_prefix("--") {
                let (name, value) = match long.split_once('=') {
                    Some((name, value)) => (name, value),
                    // If the option has no value, the next word is none of its own, and does no harm.
                    None => (long, words.peek().filter(|next| !next.starts_with('-')).copied().unwrap_or("")),
                };
                options.push((format!("--{name}"), value.to_string()));
                continue;
            }
            let Some(letters) = word.strip_prefix('-') else {
                others.push(word.to_string());
                continue;
            };
            for (at, letter) in letters.char_indices() {
                let rest = &letters[at + letter.len_utf8()..];
                let has_value = valued.contains(letter);
                let value = match (has_value, rest) {
                    (false, _) => "",
                    (true, "") => words.next().unwrap_or(""),
                    (true, rest) => rest,
                };
                options.push((format!("-{letter}"), value.to_string()));
                if has_value {
                    break;
                }
            }
        }
        StatedOptions { options, others }
    }

    /// The last value of an option.
    fn value(&self, name: &str) -> Option<&str> {
        self.options.iter().rev().find(|(other, _)| other == name).map(|(_, value)| &**value)
    }

    fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    /// The last values of an option: one or two numbers.
    fn numbers(&self, name: &str) -> Result<Option<[Option<i32>; 2]>, String> {
        let Some(text) = self.value(name) else { return Ok(None) };
        let number = |text: &str| text.parse().map_err(|_| format!("{name} {text} is no number"));
        Ok(Some(match text.split_once(',') {
            Some((first, second)) => [Some(number(first)?), Some(number(second)?)],
            None => [Some(number(text)?), None],
        }))
    }

    /// The value of an option that has one, or the first of two.
    fn number(&self, name: &str) -> Result<Option<i32>, String> {
        Ok(self.numbers(name)?.and_then(|[first, _]| first))
    }

    /// The value of an option that has one, or two equal ones. `nouns` name what the two are of.
    fn equal_numbers(&self, name: &str, nouns: &str) -> Result<Option<i32>, String> {
        match self.numbers(name)? {
            Some([first, second]) if second.is_some_and(|second| Some(second) != first) => {
                Err(format!("{name} {} differs between {nouns}", self.value(name).unwrap_or_default()))
            }
            numbers => Ok(numbers.and_then(|[first, _]| first)),
        }
    }
}

/// bwa mem: `-A` multiplies all costs that are not given, unless a preset is.
fn bwa(stated: &StatedOptions) -> Result<MapperScores, String> {
    if stated.others.get(1).is_none_or(|command| command != "mem") {
        return Err("only the scoring of bwa mem is known".to_string());
    }
    let [mismatch, open, extend, clip] = match stated.value("-x") {
        None => [4, 6, 1, 5],
        Some("pacbio" | "ont2d") => [1, 1, 1, 0],
        Some("intractg") => [9, 16, 1, 5],
        Some(other) => return Err(format!("-x {other} is unknown")),
    };
    let match_ = stated.number("-A")?.unwrap_or(1);
    let times = if stated.has("-x") { 1 } else { match_ };
    let gaps = "deletions and insertions";
    let open = stated.equal_numbers("-O", gaps)?.unwrap_or(times.saturating_mul(open));
    let extend = stated.equal_numbers("-E", gaps)?.unwrap_or(times.saturating_mul(extend));
    Ok(MapperScores {
        match_,
        mismatch: stated.number("-B")?.unwrap_or(times.saturating_mul(mismatch)),
        ambiguous: 1,
        gaps: vec![[open, extend]],
        end_bonus: stated.equal_numbers("-L", "both ends")?.unwrap_or(times.saturating_mul(clip)),
        remark: None,
    })
}

/// minimap2: a second value of `-O` and `-E` is that of the second piece; one value holds for both.
fn minimap2(stated: &StatedOptions) -> Result<MapperScores, String> {
    let preset = stated.value("-x").or(stated.value("--preset"));
    let (match_, mismatch, opens, extends, bonus) = match preset.unwrap_or("map-ont") {
        "map-ont" | "map-pb" | "map10k" | "lr" | "lr:hq" | "lr:hqae" => (2, 4, [4, 24], [2, 1], 0),
        "map-hifi" | "map-ccs" | "asm20" => (1, 4, [6, 26], [2, 1], 0),
        "asm5" => (1, 19, [39, 81], [3, 1], 0),
        "asm10" => (1, 9, [16, 41], [2, 1], 0),
        "sr" | "short" => (2, 8, [12, 32], [2, 1], 10),
        other => return Err(format!("the scores of -x {other} cannot be expressed")),
    };
    if stated.has("--splice") {
        return Err("the scores of introns cannot be expressed".to_string());
    }
    let both = |values: [Option<i32>; 2]| values.map(|value| value.or(values[0]).unwrap_or_default());
    let opens = stated.numbers("-O")?.map_or(opens, both);
    let extends = stated.numbers("-E")?.map_or(extends, both);
    let mismatch = stated.number("-B")?.unwrap_or(mismatch);
    if stated.number("-b")?.is_some_and(|transition| transition != mismatch) {
        return Err("the scores of transitions (-b) cannot be expressed".to_string());
    }
    Ok(MapperScores {
        match_: stated.number("-A")?.unwrap_or(match_),
        mismatch,
        ambiguous: stated.number("--score-N")?.unwrap_or(1).saturating_abs(),
        gaps: vec![[opens[0], extends[0]], [opens[1], extends[1]]],
        end_bonus: stated.number("--end-bonus")?.unwrap_or(bonus).max(0),
        remark: None,
    })
}

/// bowtie2: matches have a bonus with `--local` alone.
fn bowtie2(stated: &StatedOptions) -> Result<MapperScores, String> {
    let is_local = |(name, _): &(String, String)| name == "--local" || name.ends_with("-local");
    if !stated.options.iter().any(is_local) {
        let problem =
            "the scores of its end-to-end alignments, in which a match scores 0, cannot be expressed";
        return Err(problem.to_string());
    }
    let gap = |name: &str| -> Result<[i32; 2], String> {
        let [open, extend] = stated.numbers(name)?.unwrap_or_default();
        Ok([open.unwrap_or(5), extend.unwrap_or(3)])
    };
    let (of_reads, of_references) = (gap("--rdg")?, gap("--rfg")?);
    if of_reads != of_references {
        return Err("its gaps in reads (--rdg) and in references (--rfg) have different costs".to_string());
    }
    let by_quality =
        "mismatches at bases of low quality cost less in bowtie2; here, all cost the highest penalty of --mp";
    Ok(MapperScores {
        match_: stated.number("--ma")?.unwrap_or(2),
        mismatch: stated.number("--mp")?.unwrap_or(6),
        ambiguous: stated.number("--np")?.unwrap_or(1),
        gaps: vec![of_reads],
        end_bonus: 0,
        remark: (!stated.has("--ignore-quals")).then_some(by_quality),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scoring(program: &str, command: &str) -> Result<String, String> {
        let line = format!("@PG\tID:{program}\tPN:{program}\tVN:1\tCL:{command}");
        MapperScoring::of_programs(&[line]).map(|scoring| scoring.expect("a scoring").options())
    }

    fn options(numbers: [&str; 6]) -> String {
        let names = ["--match", "--mismatch", "--gap-open", "--gap-extend", "--ambiguous", "--end-bonus"];
        let options = names.iter().zip(numbers).map(|(name, number)| format!("{name} {number}"));
        options.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn commands_have_scorings() {
        for (program, command, numbers) in [
            ("bwa", "bwa mem -t 8 ref.fa r1.fq r2.fq", ["1", "4", "6", "1", "1", "5"]),
            ("bwa", r"bwa mem -t8 -R @RG\tID:a\tSM:b -Y ref.fa r.fq", ["1", "4", "6", "1", "1", "5"]),
            ("bwa", "bwa mem -A 2 ref.fa r.fq", ["2", "8", "12", "2", "1", "10"]),
            ("bwa", "bwa mem -A2 -B5 -L0 ref.fa r.fq", ["2", "5", "12", "2", "1", "0"]),
            ("bwa", "bwa mem ref.fa r.fq -O 5,5 -E2,2 -L 7,7", ["1", "4", "5", "2", "1", "7"]),
            ("bwa", "bwa mem -x pacbio -B 2 ref.fa r.fq", ["1", "2", "1", "1", "1", "0"]),
            ("bwa", "bwa mem -x ont2d -A 2 ref.fa r.fq", ["2", "1", "1", "1", "1", "0"]),
            ("bwa", "bwa mem -MYx intractg ref.fa r.fq", ["1", "9", "16", "1", "1", "5"]),
            ("bwa-mem2", "/opt/bwa-mem2.avx2 mem -t 4 ref.fa r.fq", ["1", "4", "6", "1", "1", "5"]),
            ("minimap2", "minimap2 -a ref.fa r.fq", ["2", "4", "4,24", "2,1", "1", "0"]),
            ("minimap2", "minimap2 -ax sr -t 3 ref.fa r.fq", ["2", "8", "12,32", "2,1", "1", "10"]),
            (
                "minimap2",
                "minimap2 -ax map-hifi --secondary=no ref.fa r.fq",
                ["1", "4", "6,26", "2,1", "1", "0"],
            ),
            ("minimap2", "minimap2 -cxasm5 --cs ref.fa r.fa", ["1", "19", "39,81", "3,1", "1", "0"]),
            ("minimap2", "minimap2 -a -x asm10 -A 3 -B7 ref.fa r.fa", ["3", "7", "16,41", "2,1", "1", "0"]),
            (
                "minimap2",
                "minimap2 -a -O 6,30 -E 3,1 --end-bonus 5 --score-N 2 r q",
                ["2", "4", "6,30", "3,1", "2", "5"],
            ),
            ("minimap2", "minimap2 -a --end-bonus=3 -O6 r q", ["2", "4", "6", "1", "1", "3"]),
            ("minimap2", "minimap2 -a -O4,24 -E2,2 -b 4 r q", ["2", "4", "4", "2", "1", "0"]),
            ("minimap2", "minimap2 -a -O24,4 -E1,2 r q", ["2", "4", "4,24", "2,1", "1", "0"]),
            (
                "bowtie2",
                "\"/usr/bin/bowtie2-align-s --wrapper basic-0 -x ref -p 2 --local r.fq\"",
                ["2", "6", "5", "3", "1", "0"],
            ),
            (
                "bowtie2",
                "\"bowtie2-align-s --very-sensitive-local --ma 3 --mp 5,2 --np 2 --rdg 8,2 --rfg=8,2 --ignore-quals -x ref -U r.fq\"",
                ["3", "5", "8", "2", "2", "0"],
            ),
        ] {
            assert_eq!(scoring(program, command), Ok(options(numbers)), "{command}");
        }
    }

    #[test]
    fn commands_that_cannot_be_expressed_are_refused() {
        for (program, command, noun) in [
            ("bwa", "bwa samse ref.fa r.sai r.fq", "bwa mem"),
            ("bwa", "bwa mem -O 6,7 ref.fa r.fq", "-O 6,7 differs between deletions and insertions"),
            ("bwa", "bwa mem -L 5,0 ref.fa r.fq", "-L 5,0 differs between both ends"),
            ("bwa", "bwa mem -A x ref.fa r.fq", "-A x is no number"),
            ("bwa", "bwa mem -x other ref.fa r.fq", "-x other"),
            ("minimap2", "minimap2 -ax splice ref.fa r.fq", "-x splice"),
            ("minimap2", "minimap2 -a --splice ref.fa r.fq", "introns"),
            ("minimap2", "minimap2 -a -b 2 ref.fa r.fq", "transitions"),
            ("bowtie2", "\"bowtie2-align-s -x ref -U r.fq\"", "end-to-end"),
            ("bowtie2", "\"bowtie2-align-s --local --rdg 4,3 -x ref -U r.fq\"", "--rdg"),
        ] {
            let error = scoring(program, command).unwrap_err();
            assert!(error.contains(noun) && error.contains(command.trim_matches('"')), "{error}");
        }
    }

    #[test]
    fn headers_have_one_mapper() {
        let lines = |lines: &[&str]| lines.iter().map(|line| line.to_string()).collect::<Vec<_>>();
        let of = |all: &[&str]| MapperScoring::of_programs(&lines(all));
        let bwa = "@PG\tID:bwa\tPN:bwa\tVN:0.7.17\tCL:bwa mem ref.fa r.fq";
        let sorted = "@PG\tID:samtools\tPN:samtools\tPP:bwa\tCL:samtools sort -A 3";
        let again = "@PG\tID:bwa-1\tPN:bwa\tCL:bwa mem -t 4 ref.fa s.fq";
        assert_eq!(of(&[bwa, sorted, again]).unwrap().unwrap().command, "bwa mem ref.fa r.fq");
        assert_eq!(of(&["@PG\tID:bwa\tCL:bwa mem ref.fa r.fq"]).unwrap().unwrap().remark, None);
        for none in [&[][..], &[sorted], &["@PG\tID:bwa\tPN:bwa"]] {
            assert_eq!(of(none), Ok(None));
        }
        let other = "@PG\tID:minimap2\tPN:minimap2\tCL:minimap2 -ax sr ref.fa r.fq";
        assert!(of(&[bwa, other]).unwrap_err().contains("different scorings"));
        let local = "@PG\tID:bowtie2\tPN:bowtie2\tCL:\"bowtie2-align-s --local -x ref r.fq\"";
        assert!(of(&[local]).unwrap().unwrap().remark.unwrap().contains("--mp"));
    }
}
