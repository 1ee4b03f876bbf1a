//! The read group of a run's records.

/// What a read group looks like, for errors.
const EXAMPLE: &str = r"'@RG\tID:run1\tSM:sample1'";

/// An `@RG` line that SAM can hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadGroup {
    /// `@RG`, a tab, `ID:` and the rest, without a line's end.
    line: String,
}

impl ReadGroup {
    /// Reads bwa's form of a read group, with tabs real or written `\t`. The error is the remedy.
    pub fn parse(text: &str) -> Result<ReadGroup, String> {
        let line = text.replace("\\t", "\t");
        let mut fields = line.split('\t');
        if fields.next() != Some("@RG") {
            return Err(format!("begin with @RG, as in {EXAMPLE}"));
        }
        let mut fields: Vec<&str> = fields.collect();
        if let Some(wrong) = fields.iter().find(|field| !is_header_field(field)) {
            let wrong = wrong.escape_debug();
            return Err(format!("'{wrong}' is not TAG:VALUE; write fields as in {EXAMPLE}"));
        }
        let mut tags: Vec<&str> = fields.iter().map(|field| &field[..2]).collect();
        tags.sort_unstable();
        if let Some(twice) = tags.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("{} is given twice; give each tag once", twice[0]));
        }
        let id = fields.iter().position(|field| field.starts_with("ID:"));
        let id = id.ok_or_else(|| format!("ID is missing; add it, as in {EXAMPLE}"))?;
        fields[..=id].rotate_right(1);
        Ok(ReadGroup { line: format!("@RG\t{}", fields.join("\t")) })
    }

    /// The line of the header, ID first, without its end.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// What records call it.
    pub fn id(&self) -> &str {
        self.line.split('\t').find_map(|field| field.strip_prefix("ID:")).unwrap_or_default()
    }
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
