//! Sample sheets: a table of lanes, with the files and the read group of each.
//!
//! ```text
//! ID <TAB> SM <TAB> reads1      <TAB> reads2
//! L1 <TAB> s1 <TAB> L1_1.fq.gz  <TAB> L1_2.fq.gz
//! L2 <TAB> s1 <TAB> L2_1.fq.gz  <TAB> L2_2.fq.gz
//! ```

use super::{MatesChoice, ReadGroup, SequencingLane};
use std::collections::HashMap;
use std::path::PathBuf;

/// Columns that are fields of a read group.
const GROUP: [&str; 5] = ["ID", "SM", "LB", "PL", "PU"];
/// Columns of files.
const READS: &str = "reads1";
const MATES: &str = "reads2";

/// Why a sample sheet is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SheetFault {
    /// Line number, from 1.
    pub line: usize,
    pub column: Option<String>,
    pub problem: String,
    pub remedy: String,
}

impl SheetFault {
    fn new(line: usize, column: Option<&str>, problem: impl Into<String>, remedy: &str) -> SheetFault {
        SheetFault {
            line,
            column: column.map(str::to_string),
            problem: problem.into(),
            remedy: remedy.to_string(),
        }
    }
}

/// A lane of a sheet, with its line.
pub type LaneInSheet = (SequencingLane, usize);

/// The lanes of a sheet.
pub fn parse_sample_sheet(text: &str) -> Result<Vec<LaneInSheet>, SheetFault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let mut rows = lines.map(|(number, line)| (number, line.split('\t').map(str::trim).collect::<Vec<_>>()));
    let Some((line, columns)) = rows.next() else {
        return Err(SheetFault::new(1, None, "the sheet is empty", &format!("give it {}", example())));
    };
    check_columns(line, &columns)?;
    let mut lanes: Vec<LaneInSheet> = Vec::new();
    let mut ids = HashMap::new();
    for (line, fields) in rows {
        if fields.len() != columns.len() {
            let (fields, columns) = (fields.len(), columns.len());
            let problem = format!("the number of fields is {fields}, but the header has {columns} columns");
            return Err(SheetFault::new(line, None, problem, "separate fields by single tabs"));
        }
        let lane = lane(line, &columns, &fields)?;
        if let Some(first) = ids.insert(lane.name(), line) {
            let problem = format!("'{}' is also the ID of line {first}", lane.name());
            return Err(SheetFault::new(line, Some("ID"), problem, "give each lane an ID of its own"));
        }
        lanes.push((lane, line));
    }
    if lanes.is_empty() {
        return Err(SheetFault::new(line, None, "no lane follows the header", "add a line for each lane"));
    }
    Ok(lanes)
}

/// Description of a sheet, for errors.
fn example() -> String {
    format!("a header line with {} and {READS}, separated by tabs, and a line for each lane", GROUP[0])
}

fn check_columns(line: usize, columns: &[&str]) -> Result<(), SheetFault> {
    let known = || GROUP.into_iter().chain([READS, MATES]);
    let refused = |column: &str, problem: String, remedy: &str| {
        Err(SheetFault::new(line, Some(column), problem, remedy))
    };
    for (place, column) in columns.iter().enumerate() {
        if !known().any(|name| name == *column) {
            let names = known().collect::<Vec<_>>().join(", ");
            let remedy = format!("columns are {names}; give {}", example());
            return refused(column, format!("no column is called '{}'", column.escape_debug()), &remedy);
        }
        if columns[..place].contains(column) {
            return refused(column, "the column is there twice".to_string(), "give each column once");
        }
    }
    for needed in [GROUP[0], READS] {
        if !columns.contains(&needed) {
            return refused(needed, "the column is missing".to_string(), &format!("give {}", example()));
        }
    }
    Ok(())
}

fn lane(line: usize, columns: &[&str], fields: &[&str]) -> Result<SequencingLane, SheetFault> {
    let field = |name: &str| {
        let place = columns.iter().position(|column| *column == name);
        place.map(|place| fields[place]).filter(|field| !field.is_empty())
    };
    for needed in [GROUP[0], READS] {
        if field(needed).is_none() {
            return Err(SheetFault::new(line, Some(needed), "the field is empty", "fill it in"));
        }
    }
    for name in GROUP {
        let is_foreign = |letter: char| !(' '..='~').contains(&letter);
        if let Some(letter) = field(name).and_then(|value| value.chars().find(|&letter| is_foreign(letter))) {
            let problem = format!("a read group can't hold '{}'", letter.escape_unicode());
            return Err(SheetFault::new(line, Some(name), problem, "write printable ASCII"));
        }
    }
    for name in [READS, MATES] {
        if field(name) == Some("-") {
            let problem = "standard input (-) is no file of a lane";
            return Err(SheetFault::new(line, Some(name), problem, "give the path of a file"));
        }
    }
    let values = GROUP.into_iter().filter_map(|name| Some((name, field(name)?)));
    let mates = field(MATES).map_or(MatesChoice::None, |path| MatesChoice::File(PathBuf::from(path)));
    let reads = field(READS).map(PathBuf::from).unwrap_or_default();
    Ok(SequencingLane { reads, mates, read_group: Some(ReadGroup::of_fields(values)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_of_a_sheet() {
        let sheet =
            "\u{feff}reads1\tID\tSM\treads2\tPL\r\na 1.fq\tL1\ts 1\ta 2.fq\tILLUMINA\r\n\r\nb.fq\tL2\t\t\t\n";
        let lanes = parse_sample_sheet(sheet).unwrap();
        let told: Vec<_> = lanes
            .iter()
            .map(|(lane, line)| {
                (lane.read_group.as_ref().unwrap().line(), lane.files().collect::<Vec<_>>(), *line)
            })
            .collect();
        let path = std::path::Path::new;
        assert_eq!(
            told,
            [
                ("@RG\tID:L1\tSM:s 1\tPL:ILLUMINA", vec![path("a 1.fq"), path("a 2.fq")], 2),
                ("@RG\tID:L2", vec![path("b.fq")], 4)
            ]
        );
    }

    #[test]
    fn what_is_wrong_with_a_sheet() {
        for (sheet, line, column, problem) in [
            ("", 1, None, "empty"),
            ("\n \n", 1, None, "empty"),
            ("ID\treads1\n", 1, None, "no lane"),
            ("ID\tSM\nL1\ts\n", 1, Some("reads1"), "missing"),
            ("SM\treads1\ns\ta.fq\n", 1, Some("ID"), "missing"),
            ("ID\treads1\tlane\nL1\ta.fq\t1\n", 1, Some("lane"), "'lane'"),
            ("ID\treads1\tID\nL1\ta.fq\tL1\n", 1, Some("ID"), "twice"),
            ("ID\treads1\nL1\n", 2, None, "fields is 1"),
            ("ID\treads1\nL1\ta.fq\tb.fq\n", 2, None, "fields is 3"),
            ("ID\treads1\n\ta.fq\n", 2, Some("ID"), "empty"),
            ("ID\treads1\n\nL1\t\n", 3, Some("reads1"), "empty"),
            ("ID\treads1\tSM\nL1\ta.fq\t\u{e9}\n", 2, Some("SM"), "can't hold"),
            ("ID\treads1\nL1\t-\n", 2, Some("reads1"), "standard input"),
            ("ID\treads1\nL1\ta.fq\nL1\tb.fq\n", 3, Some("ID"), "line 2"),
        ] {
            let fault = parse_sample_sheet(sheet).unwrap_err();
            assert_eq!((fault.line, fault.column.as_deref()), (line, column), "{sheet:?}: {fault:?}");
            assert!(fault.problem.contains(problem) && !fault.remedy.is_empty(), "{sheet:?}: {fault:?}");
        }
    }
}
