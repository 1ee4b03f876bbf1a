//! Parses patterns into sequences of byte classes.

use super::NEWLINE;
use crate::terms::casts::to_u8;

/// Regular-expression operators that a sequence of classes cannot express.
const OPERATORS: &[u8] = b"^$*+?()|{";
const TAKE_LITERALLY: &str = "or use -F to treat all characters literally";

/// A set of bytes; never contains the newline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteClass([u64; 4]);

/// A sequence of classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrepPattern {
    pub classes: Vec<ByteClass>,
}

/// The error in a pattern, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    /// 1-based, in bytes.
    pub position: usize,
    pub problem: String,
    pub remedy: String,
}

/// How to parse patterns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PatternSyntax {
    /// Every character matches itself.
    pub literal: bool,
    /// Matches ASCII without regard to case.
    pub any_case: bool,
}

/// Whether every byte of a pattern matches itself, with or without `literal`.
pub fn is_literal(text: &[u8]) -> bool {
    !text.iter().any(|byte| matches!(byte, b'.' | b'[' | b'\\') || OPERATORS.contains(byte))
}

impl ByteClass {
    pub fn has(self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    /// One bit for each byte.
    pub fn bits(self) -> [u64; 4] {
        self.0
    }

    pub fn insert(&mut self, byte: u8) {
        if byte != NEWLINE {
            self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
        }
    }

    /// The bytes that `is_in` accepts.
    pub fn of(is_in: impl Fn(u8) -> bool) -> ByteClass {
        let mut class = ByteClass::default();
        (0..=u8::MAX).filter(|&byte| is_in(byte)).for_each(|byte| class.insert(byte));
        class
    }

    fn with(self, other: ByteClass) -> ByteClass {
        ByteClass::of(|byte| self.has(byte) || other.has(byte))
    }

    fn in_any_case(self) -> ByteClass {
        ByteClass::of(|byte| self.has(byte.to_ascii_lowercase()) || self.has(byte.to_ascii_uppercase()))
    }
}

impl GrepPattern {
    /// Parses a pattern.
    pub fn new(text: &[u8], reading: PatternSyntax) -> Result<GrepPattern, PatternError> {
        let mut parser = Parser { text, at: 0, reading };
        let mut classes = Vec::new();
        while parser.at < text.len() {
            classes.push(parser.class()?);
        }
        Ok(GrepPattern { classes })
    }
}

/// A parsed bracket expression or escape.
enum Item {
    Byte(u8),
    Set(ByteClass),
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    reading: PatternSyntax,
}

impl Parser<'_> {
    fn next(&mut self) -> Option<u8> {
        let byte = self.text.get(self.at).copied();
        self.at += usize::from(byte.is_some());
        byte
    }

    fn class(&mut self) -> Result<ByteClass, PatternError> {
        let begin = self.at;
        let class = match self.next() {
            Some(byte) if self.reading.literal => ByteClass::of(|other| other == byte),
            Some(b'.') => ByteClass::of(|_| true),
            Some(b'[') => return self.brackets(begin),
            Some(b'\\') => self.escape(begin)?.class(),
            Some(byte) if OPERATORS.contains(&byte) => {
                let sign = char::from(byte);
                let problem =
                    format!("'{sign}' is an operator of regular expressions, which are not supported");
                return Err(fault(
                    begin,
                    problem,
                    format!("to match the character, write \\{sign}, {TAKE_LITERALLY}"),
                ));
            }
            Some(byte) => ByteClass::of(|other| other == byte),
            None => ByteClass::default(),
        };
        Ok(self.folded(class))
    }

    fn folded(&self, class: ByteClass) -> ByteClass {
        if self.reading.any_case { class.in_any_case() } else { class }
    }

    /// Parses the rest of an escape; the backslash at `begin` is already consumed.
    fn escape(&mut self, begin: usize) -> Result<Item, PatternError> {
        let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let space = |byte: u8| byte.is_ascii_whitespace() || byte == 0x0b;
        let set = |is_in: &dyn Fn(u8) -> bool| Ok(Item::Set(ByteClass::of(is_in)));
        match self.next() {
            Some(b'd') => set(&|byte| byte.is_ascii_digit()),
            Some(b'D') => set(&|byte| !byte.is_ascii_digit()),
            Some(b'w') => set(&word),
            Some(b'W') => set(&|byte| !word(byte)),
            Some(b's') => set(&space),
            Some(b'S') => set(&|byte| !space(byte)),
            Some(b't') => Ok(Item::Byte(b'\t')),
            Some(b'x') => self.hexadecimal(begin),
            Some(byte) if !byte.is_ascii_alphanumeric() => Ok(Item::Byte(byte)),
            Some(byte) => {
                let problem = format!("\\{} has no meaning", char::from(byte));
                Err(fault(
                    begin,
                    problem,
                    format!(
                        "\\d, \\w, \\s, \\D, \\W, \\S, \\t and \\xHH have one; write \\\\ for a backslash, {TAKE_LITERALLY}"
                    ),
                ))
            }
            None => {
                let remedy = format!("to match a backslash, write \\\\, {TAKE_LITERALLY}");
                Err(fault(begin, "nothing follows the backslash".to_string(), remedy))
            }
        }
    }

    fn hexadecimal(&mut self, begin: usize) -> Result<Item, PatternError> {
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        let byte = match (digit(self.next()), digit(self.next())) {
            (Some(high), Some(low)) => to_u8(high << 4 | low),
            _ => {
                return Err(fault(
                    begin,
                    "\\x needs two hexadecimal digits".to_string(),
                    "write \\x09 for a tab",
                ));
            }
        };
        match byte {
            NEWLINE => Err(fault(begin, "a line never contains a newline".to_string(), "leave it out")),
            byte => Ok(Item::Byte(byte)),
        }
    }

    /// Parses a class in brackets; the bracket at `begin` is already consumed.
    fn brackets(&mut self, begin: usize) -> Result<ByteClass, PatternError> {
        let negated = self.text.get(self.at) == Some(&b'^');
        self.at += usize::from(negated);
        let mut class = ByteClass::default();
        let first = self.at;
        // A closing bracket right after the opening bracket is a member of the class, as in POSIX.
        while self.at == first || self.text.get(self.at) != Some(&b']') {
            let place = self.at;
            match self.item(begin)? {
                Item::Set(set) => class = class.with(set),
                Item::Byte(low) => {
                    let high = self.range_end(begin, low)?;
                    if high < low {
                        let problem =
                            format!("the range {}-{} is backwards", low.escape_ascii(), high.escape_ascii());
                        return Err(fault(
                            place,
                            problem,
                            "write the smaller character first, or \\- for a hyphen",
                        ));
                    }
                    (low..=high).for_each(|byte| class.insert(byte));
                }
            }
        }
        self.at += 1;
        let class = self.folded(class);
        Ok(if negated { ByteClass::of(|byte| !class.has(byte)) } else { class })
    }

    /// The last byte of a range that begins with `low`, or `low` if there is no range.
    fn range_end(&mut self, begin: usize, low: u8) -> Result<u8, PatternError> {
        let hyphen = self.at;
        let is_range = self.text.get(hyphen) == Some(&b'-')
            && self.text.get(hyphen + 1).is_some_and(|&byte| byte != b']');
        if !is_range {
            return Ok(low);
        }
        self.at += 1;
        match self.item(begin)? {
            Item::Byte(high) => Ok(high),
            Item::Set(_) => {
                let problem = "a range cannot end with a class".to_string();
                Err(fault(hyphen, problem, "write \\- for a hyphen, or end the range with a character"))
            }
        }
    }

    /// One byte or named class in brackets.
    fn item(&mut self, begin: usize) -> Result<Item, PatternError> {
        let place = self.at;
        match self.next() {
            None => Err(fault(
                begin,
                "'[' is not closed".to_string(),
                format!("close it with ']', write \\[ to match the character, {TAKE_LITERALLY}"),
            )),
            Some(b'\\') => self.escape(place),
            Some(b'[') if matches!(self.text.get(self.at), Some(b':' | b'.' | b'=')) => self.named(place),
            Some(byte) if !byte.is_ascii() => {
                let problem =
                    "a character of several bytes cannot be in brackets, which match one byte".to_string();
                Err(fault(place, problem, "write it outside the brackets, or its bytes as \\xHH"))
            }
            Some(byte) => Ok(Item::Byte(byte)),
        }
    }

    /// Parses POSIX's `[:name:]`; the bracket at `place` is already consumed.
    fn named(&mut self, place: usize) -> Result<Item, PatternError> {
        let rest = &self.text[self.at..];
        let end = rest.windows(2).position(|pair| pair == b":]").unwrap_or(0);
        let name = rest.get(1..end).unwrap_or_default();
        let is_in: fn(&u8) -> bool = match name {
            b"alnum" => u8::is_ascii_alphanumeric,
            b"alpha" => u8::is_ascii_alphabetic,
            b"blank" => |byte| matches!(byte, b' ' | b'\t'),
            b"cntrl" => u8::is_ascii_control,
            b"digit" => u8::is_ascii_digit,
            b"graph" => u8::is_ascii_graphic,
            b"lower" => u8::is_ascii_lowercase,
            b"print" => |byte| byte.is_ascii_graphic() || *byte == b' ',
            b"punct" => u8::is_ascii_punctuation,
            b"space" => |byte| byte.is_ascii_whitespace() || *byte == 0x0b,
            b"upper" => u8::is_ascii_uppercase,
            b"xdigit" => u8::is_ascii_hexdigit,
            _ => {
                let problem = "no class has such a name".to_string();
                return Err(fault(
                    place,
                    problem,
                    "write [:alpha:], [:digit:], [:space:] and so on, or \\[ for the character",
                ));
            }
        };
        self.at += end + 2;
        Ok(Item::Set(ByteClass::of(|byte| is_in(&byte))))
    }
}

impl Item {
    fn class(self) -> ByteClass {
        match self {
            Item::Byte(byte) => ByteClass::of(|other| other == byte),
            Item::Set(class) => class,
        }
    }
}

/// `at` is 0-based.
fn fault(at: usize, problem: String, remedy: impl Into<String>) -> PatternError {
    PatternError { position: at + 1, problem, remedy: remedy.into() }
}
