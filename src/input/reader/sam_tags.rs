//! SAM tags in comments of header lines, as `samtools fastq -T` writes them: `@read1<TAB>BC:Z:ACGT<TAB>MM:Z:C+m,3;`.

/// Tags that the aligner writes itself. They are not copied from a comment.
const WRITTEN_TAGS: [&[u8; 2]; 15] =
    [b"NM", b"MD", b"AS", b"XS", b"SA", b"MC", b"MQ", b"ms", b"CG", b"tp", b"de", b"cg", b"cs", b"su", b"ya"];
/// The read group, which the command line may also set.
const READ_GROUP: &[u8; 2] = b"RG";

/// The parsed comment of a header line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommentTags {
    /// The text of each tag, preceded by a tab; a read group comes first.
    pub text: Vec<u8>,
    /// Whether a field is no tag, or repeats the name of an earlier tag.
    pub has_others: bool,
}

/// Finds the tags of a comment, whose fields are separated by tabs. The tags in [`WRITTEN_TAGS`] are skipped, and so is
/// a read group if the output has one of its own.
pub fn tags_of_comment(comment: &[u8], has_read_group: bool) -> CommentTags {
    let mut found = CommentTags::default();
    let mut names: Vec<&[u8]> = Vec::new();
    for field in comment.split(|&byte| byte == b'\t').filter(|field| !field.is_empty()) {
        if !is_tag(field) || names.contains(&&field[..2]) {
            found.has_others = true;
            continue;
        }
        let name = &field[..2];
        names.push(name);
        let is_group = name == READ_GROUP;
        if WRITTEN_TAGS.iter().any(|written| name == *written) || is_group && has_read_group {
            continue;
        }
        let tag = [b"\t", field].concat();
        match is_group {
            true => drop(found.text.splice(0..0, tag)),
            false => found.text.extend(tag),
        }
    }
    found
}

/// Whether a field is a valid SAM tag (SAMv1 specification, 1.5), with numbers that BAM can hold.
fn is_tag(field: &[u8]) -> bool {
    let &[first, second, b':', kind, b':', ref value @ ..] = field else { return false };
    let is_group = [first, second] == *READ_GROUP;
    first.is_ascii_alphabetic()
        && second.is_ascii_alphanumeric()
        && (!is_group || kind == b'Z')
        && match kind {
            b'A' => matches!(value, [b'!'..=b'~']),
            b'i' => is_integer(value, i64::from(i32::MIN), i64::from(u32::MAX)),
            b'f' => is_float(value),
            b'Z' => value.iter().all(|letter| (b' '..=b'~').contains(letter)),
            b'H' => value.len().is_multiple_of(2) && value.iter().all(u8::is_ascii_hexdigit),
            b'B' => is_array(value),
            _ => false,
        }
}

fn is_integer(text: &[u8], least: i64, most: i64) -> bool {
    let digits = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let number = str::from_utf8(text).ok().and_then(|text| text.parse::<i64>().ok());
    is_number && number.is_some_and(|number| (least..=most).contains(&number))
}

fn is_float(text: &[u8]) -> bool {
    let letters = text.iter().all(|letter| b"0123456789+-.eE".contains(letter));
    letters && str::from_utf8(text).is_ok_and(|text| text.parse::<f64>().is_ok())
}

fn is_array(value: &[u8]) -> bool {
    let mut entries = value.split(|&byte| byte == b',');
    let (least, most) = match entries.next() {
        Some(b"c") => (i64::from(i8::MIN), i64::from(i8::MAX)),
        Some(b"C") => (0, i64::from(u8::MAX)),
        Some(b"s") => (i64::from(i16::MIN), i64::from(i16::MAX)),
        Some(b"S") => (0, i64::from(u16::MAX)),
        Some(b"i") => (i64::from(i32::MIN), i64::from(i32::MAX)),
        Some(b"I") => (0, i64::from(u32::MAX)),
        Some(b"f") => return entries.all(is_float),
        _ => return false,
    };
    entries.all(|entry| is_integer(entry, least, most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_other_fields() {
        for (comment, expected, others) in [
            ("", "", false),
            ("BC:Z:ACGT", "\tBC:Z:ACGT", false),
            ("BC:Z:AC GT\tMM:Z:C+m,3;\tML:B:C,200,7", "\tBC:Z:AC GT\tMM:Z:C+m,3;\tML:B:C,200,7", false),
            ("1:N:0:ACGT\tBC:Z:ACGT", "\tBC:Z:ACGT", true),
            ("AS:i:3\tcs:Z::4\tNM:i:1\tXX:A:x", "\tXX:A:x", false),
            ("BC:Z:A\tRG:Z:g", "\tRG:Z:g\tBC:Z:A", false),
            ("BC:Z:A\tBC:Z:C", "\tBC:Z:A", true),
            (
                "x1:i:-2147483648\tx2:i:4294967295\tx3:i:+7",
                "\tx1:i:-2147483648\tx2:i:4294967295\tx3:i:+7",
                false,
            ),
            (
                "x1:f:-1.5e3\tx2:f:.5\tx3:H:1aF0\tx4:Z:\tx5:B:f,1,2.5\tx6:B:c",
                "\tx1:f:-1.5e3\tx2:f:.5\tx3:H:1aF0\tx4:Z:\tx5:B:f,1,2.5\tx6:B:c",
                false,
            ),
        ] {
            let found = tags_of_comment(comment.as_bytes(), false);
            assert_eq!(
                (String::from_utf8(found.text).unwrap().as_str(), found.has_others),
                (expected, others)
            );
        }
        for wrong in [
            "of a read",
            "B:Z:x",
            "1C:Z:x",
            "BC:Z",
            "BC:X:x",
            "BC:A:xy",
            "BC:A:",
            "BC:i:",
            "BC:i:1.5",
            "BC:i:4294967296",
            "BC:i:-",
            "BC:f:x",
            "BC:f:inf",
            "BC:Z:\u{e9}",
            "BC:H:abc",
            "BC:H:xy",
            "BC:B:",
            "BC:B:x,1",
            "BC:B:c,128",
            "BC:B:C,-1",
            "BC:B:S,",
            "RG:i:1",
        ] {
            let expected = CommentTags { text: Vec::new(), has_others: true };
            assert_eq!(tags_of_comment(wrong.as_bytes(), false), expected, "{wrong}");
        }
        assert_eq!(tags_of_comment(b"RG:Z:g\tBC:Z:A", true).text, b"\tBC:Z:A");
    }
}
