//! The read group of a run's records.

use std::path::Path;

/// Example of a read group, for errors.
const EXAMPLE: &str = r"'@RG\tID:run1\tSM:sample1'";

/// An `@RG` line that is valid in SAM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadGroup {
    /// `@RG`, a tab, `ID:` and the rest, without a line ending.
    line: String,
}

impl ReadGroup {
    /// Parses a read group in bwa's form, with actual tabs or `\t`. The error is the remedy.
    pub fn parse(text: &str) -> Result<ReadGroup, String> {
        let line = text.replace("\\t", "\t");
        let mut fields = line.split('\t');
        if fields.next() != Some("@RG") {
            return Err(format!("begin with @RG, as in {EXAMPLE}"));
        }
        let mut fields: Vec<&str> = fields.collect();
        if let Some(wrong) = fields.iter().find(|field| !is_header_field(field)) {
            let wrong = wrong.escape_debug();
            return Err(format!("'{wrong}' is not a TAG:VALUE field; write fields as in {EXAMPLE}"));
        }
        let mut tags: Vec<&str> = fields.iter().map(|field| &field[..2]).collect();
        tags.sort_unstable();
        if let Some(twice) = tags.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("tag {} is given twice; give each tag once", twice[0]));
        }
        let id = fields.iter().position(|field| field.starts_with("ID:"));
        let id = id.ok_or_else(|| format!("ID is missing; add it, as in {EXAMPLE}"))?;
        fields[..=id].rotate_right(1);
        Ok(ReadGroup { line: format!("@RG\t{}", fields.join("\t")) })
    }

    /// A read group with these fields, by tag and value, ID first. Values are printable ASCII.
    pub fn of_fields<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> ReadGroup {
        let fields = fields.into_iter().map(|(tag, value)| format!("\t{tag}:{value}"));
        ReadGroup { line: fields.fold("@RG".to_string(), |line, field| line + &field) }
    }

    /// A read group named after files of reads: by the common prefix of the names of two mate files, or by the name of
    /// one file, without extensions.
    pub fn of_files<'a>(files: impl IntoIterator<Item = &'a Path>) -> ReadGroup {
        let names: Vec<String> = files.into_iter().map(stem).collect();
        let common = match &names[..] {
            [one, other] => common_prefix(one, other),
            _ => "",
        };
        let own = names.first().map_or("", |name| name);
        let id: String = if common.is_empty() { own } else { common }
            .chars()
            .map(|letter| if (' '..='~').contains(&letter) { letter } else { '_' })
            .collect();
        ReadGroup::of_fields([("ID", if id.is_empty() { "reads" } else { &*id })])
    }

    /// The header line, ID first, without a line ending.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// The ID, to which records refer.
    pub fn id(&self) -> &str {
        self.field("ID:").unwrap_or_default()
    }

    /// The sample, if it has one.
    pub fn sample(&self) -> Option<&str> {
        self.field("SM:")
    }

    fn field(&self, tag: &str) -> Option<&str> {
        self.line.split('\t').find_map(|field| field.strip_prefix(tag))
    }
}

/// The name of a file without its folders and extensions.
fn stem(path: &Path) -> String {
    if path == Path::new("-") {
        return "stdin".to_string();
    }
    let mut stem = path.to_path_buf();
    if stem.extension().is_some_and(|extension| extension == "gz" || extension == "bgz") {
        stem.set_extension("");
    }
    stem.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The common prefix of two names, without the R of R1 and R2 and without trailing separators.
fn common_prefix<'a>(one: &'a str, other: &str) -> &'a str {
    let equal = one.chars().zip(other.chars()).take_while(|(one, other)| one == other);
    let common = &one[..equal.map(|(letter, _)| letter.len_utf8()).sum()];
    let is_separator = |letter: char| "._- ".contains(letter);
    match common.strip_suffix('R').filter(|rest| rest.ends_with(is_separator)) {
        Some(rest) => rest,
        None => common,
    }
    .trim_end_matches(is_separator)
}

/// Whether `field` is `TAG:VALUE` with a two-character tag and a value of printable characters.
fn is_header_field(field: &str) -> bool {
    match field.as_bytes() {
        [first, second, b':', value @ ..] => {
            first.is_ascii_alphabetic()
                && second.is_ascii_alphanumeric()
                && !value.is_empty()
                && value.iter().all(|byte| (b' '..=b'~').contains(byte))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_groups_are_called_like_files() {
        for (files, id) in [
            (&["d/a.fq.gz"][..], "a"),
            (&["a_1.fq", "a_2.fq"], "a"),
            (&["x/S1_L001_R1_001.fastq.gz", "x/S1_L001_R2_001.fastq.gz"], "S1_L001"),
            (&["lane.R1.fq", "lane.R2.fq"], "lane"),
            (&["R1.fq", "R2.fq"], "R"),
            (&["left.fq", "right.fq"], "left"),
            (&["same.fq", "same.fq"], "same"),
            (&["\u{e9}1.fa"], "_1"),
            (&["-"], "stdin"),
            (&["a.b.fq"], "a.b"),
        ] {
            assert_eq!(ReadGroup::of_files(files.iter().map(Path::new)).id(), id, "{files:?}");
        }
    }

    #[test]
    fn read_groups_as_bwa_takes_them() {
        for (text, line, id) in [
            (r"@RG\tID:x\tSM:y z", "@RG\tID:x\tSM:y z", "x"),
            ("@RG\tSM:y\tPL:z\tID:x", "@RG\tID:x\tSM:y\tPL:z", "x"),
            ("@RG\tDS:ID:z\tID:x ID:y", "@RG\tID:x ID:y\tDS:ID:z", "x ID:y"),
        ] {
            let group = ReadGroup::parse(text).unwrap();
            assert_eq!((group.line(), group.id()), (line, id), "{text}");
        }
        for (wrong, part) in [
            ("", "@RG"),
            ("run1", "@RG"),
            ("ID:x", "@RG"),
            ("@SQ\tID:x", "@RG"),
            ("@RG ID:x", "@RG"),
            ("@RG", "ID"),
            (r"@RG\tSM:y", "ID"),
            (r"@RG\tID:", "TAG:VALUE"),
            ("@RG\tID:x\tSM:", "TAG:VALUE"),
            ("@RG\tID:x\tSM", "TAG:VALUE"),
            ("@RG\tID:x\t1:y", "TAG:VALUE"),
            ("@RG\tID:x\t\tSM:y", "TAG:VALUE"),
            (r"@RG\tID:x\tsample", "TAG:VALUE"),
            (r"@RG\tID:x\té:y", "TAG:VALUE"),
            ("@RG\tID:\u{e9}", "TAG:VALUE"),
            ("@RG\tID:x\ny", "TAG:VALUE"),
            ("@RG\tID:x\nSM:y", "TAG:VALUE"),
            (r"@RG\tID:x\tID:y", "twice"),
        ] {
            let text = ReadGroup::parse(wrong).unwrap_err();
            assert!(text.contains(part), "{wrong:?}: {text:?}");
        }
    }
}
