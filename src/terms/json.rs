//! JSON (RFC 8259) from strings that are JSON already.

/// A string.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            control if control < ' ' => quoted.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => quoted.push(other),
        }
    }
    quoted + "\""
}

/// An object on one line.
pub fn object<K: AsRef<str>>(fields: impl IntoIterator<Item = (K, String)>) -> String {
    let fields: Vec<String> = fields.into_iter().map(field).collect();
    format!("{{{}}}", fields.join(", "))
}

/// An object with a line for each field.
pub fn lines<K: AsRef<str>>(fields: impl IntoIterator<Item = (K, String)>) -> String {
    let fields: Vec<String> = fields.into_iter().map(field).collect();
    format!("{{\n{}\n}}", fields.join(",\n"))
}

fn field<K: AsRef<str>>((key, value): (K, String)) -> String {
    format!("{}: {value}", quoted(key.as_ref()))
}

/// An array on one line.
pub fn array(values: impl IntoIterator<Item = String>) -> String {
    let values: Vec<String> = values.into_iter().collect();
    format!("[{}]", values.join(", "))
}

/// An array with a line for each value.
pub fn rows(values: impl IntoIterator<Item = String>) -> String {
    let values: Vec<String> = values.into_iter().collect();
    if values.is_empty() { "[]".to_string() } else { format!("[\n{}\n]", values.join(",\n")) }
}

/// An array of numbers.
pub fn numbers(values: impl IntoIterator<Item = u64>) -> String {
    let values: Vec<String> = values.into_iter().map(|value| value.to_string()).collect();
    format!("[{}]", values.join(","))
}

/// A value that may be missing.
pub fn or_null(value: Option<String>) -> String {
    value.unwrap_or_else(|| "null".to_string())
}
