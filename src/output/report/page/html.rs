//! Pieces of HTML.

/// Maximum number of characters shown of a name.
const NAME: usize = 80;

/// Escapes text for use as content and as an attribute value.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' => escaped.push('\n'),
            letter if letter.is_control() || turns(letter) => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Whether a character changes the direction of the text around it.
fn turns(letter: char) -> bool {
    matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Truncates text to at most `most` characters.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}\u{2026}", &text[..end]),
        None => text.to_string(),
    }
}

/// The name of a reference or a query.
pub fn name(text: &str) -> String {
    escaped(&cut(text, NAME))
}

/// `1 letter`, `2,000 letters`.
pub fn counted(number: impl ToString, [one, several]: [&str; 2]) -> String {
    let number = grouped(number);
    let noun = if number == "1" { one } else { several };
    format!("{number} {noun}")
}

/// A number with commas between thousands.
pub fn grouped(number: impl ToString) -> String {
    let digits = number.to_string();
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + rest
}

/// The number, or a dash if there is none.
pub fn or_dash(number: Option<String>) -> String {
    number.map_or_else(|| "\u{2013}".to_string(), grouped)
}

/// A table of names and values.
pub fn pairs(rows: &[(&str, String)]) -> String {
    let rows: String = rows
        .iter()
        .map(|(name, value)| format!("<tr><th scope=\"row\">{name}</th><td>{value}</td></tr>\n"))
        .collect();
    format!("<table class=\"pairs\"><tbody>\n{rows}</tbody></table>\n")
}

/// A table; the first cell of each row is its heading, and the other cells are numbers.
pub fn table(heads: &[&str], first: &str, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut all = String::new();
    for row in rows {
        all.push_str("<tr>");
        for (at, cell) in row.iter().enumerate() {
            all.push_str(&match at {
                0 => format!("<th scope=\"row\"{first}>{cell}</th>"),
                _ => format!("<td class=\"number\">{cell}</td>"),
            });
        }
        all.push_str("</tr>\n");
    }
    let head = |(at, head): (usize, &&str)| match at {
        0 => format!("<th scope=\"col\"{first}>{head}</th>"),
        _ => format!("<th scope=\"col\" class=\"number\">{head}</th>"),
    };
    let heads: String = heads.iter().enumerate().map(head).collect();
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table>\n<thead><tr>{heads}</tr></thead>\n\
         <tbody>\n{all}</tbody>\n</table></div>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_text() {
        assert_eq!(name("<script>'\"&\u{202e}\u{7}"), "&lt;script&gt;&#39;&quot;&amp;\u{fffd}\u{fffd}");
        assert_eq!(name(&"é".repeat(81)), "é".repeat(80) + "…");
        assert_eq!(name(&"é".repeat(80)), "é".repeat(80));
    }

    #[test]
    fn thousands_are_parted() {
        for (number, expected) in
            [("0", "0"), ("999", "999"), ("1000", "1,000"), ("1234567.25", "1,234,567.25")]
        {
            assert_eq!(grouped(number), expected);
        }
    }
}
