//! A parser of SAM text.

/// The header lines and the records.
#[derive(Debug)]
pub struct Sam {
    pub header: Vec<String>,
    pub records: Vec<Record>,
}

/// The fields of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub fields: Vec<String>,
}

impl Sam {
    pub fn parse(text: &str) -> Sam {
        assert!(text.is_empty() || text.ends_with('\n'), "the last line is cut off");
        let (header, records): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('@'));
        let record = |line: &str| Record { fields: line.split('\t').map(str::to_string).collect() };
        Sam {
            header: header.into_iter().map(str::to_string).collect(),
            records: records.into_iter().map(record).collect(),
        }
    }

    /// Records that are neither secondary nor supplementary.
    pub fn primary(&self) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(|record| record.flag() & 0x900 == 0)
    }
}

impl Record {
    pub fn name(&self) -> &str {
        &self.fields[0]
    }

    pub fn flag(&self) -> u32 {
        self.fields[1].parse().expect("a flag")
    }

    pub fn target(&self) -> &str {
        &self.fields[2]
    }

    /// 1-based.
    pub fn position(&self) -> u64 {
        self.fields[3].parse().expect("a position")
    }

    pub fn cigar(&self) -> &str {
        &self.fields[5]
    }

    pub fn sequence(&self) -> &str {
        &self.fields[9]
    }

    /// The value of a tag such as `AS`.
    pub fn tag(&self, name: &str) -> Option<&str> {
        self.fields[11..]
            .iter()
            .find_map(|field| field.strip_prefix(name)?.strip_prefix(':')?.split_once(':'))
            .map(|tag| tag.1)
    }

    pub fn score(&self) -> i64 {
        self.tag("AS").map_or(0, |score| score.parse().expect("a score"))
    }

    /// 1-based, inclusive end on the target.
    pub fn target_end(&self) -> u64 {
        let mut span = 0;
        let mut number = 0;
        for letter in self.cigar().bytes() {
            match letter {
                b'0'..=b'9' => number = number * 10 + u64::from(letter - b'0'),
                b'M' | b'D' | b'=' | b'X' | b'N' => (span, number) = (span + number, 0),
                _ => number = 0,
            }
        }
        self.position() + span - 1
    }
}

/// SAM text without its @PG lines, which contain the command line.
pub fn without_pg(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !line.starts_with("@PG")).collect()
}

/// The record lines of SAM text.
pub fn records(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !line.starts_with('@')).collect()
}
