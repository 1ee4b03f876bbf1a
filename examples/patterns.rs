//! Positions where a pattern matches with up to two edits: `cargo run --release --example patterns`.
//!
//! ```text
//! site 2..14 1 2=1I10=
//! ```

use swalign::Searcher;

pub fn main() -> Result<(), swalign::Error> {
    let searcher = Searcher::builder([("site", "GATTACANNNCAT")]).max_edits(2).build()?;
    for found in searcher.search("CCGATACATTTCATCC")? {
        println!("{} {:?} {} {}", found.pattern_name(), found.range(), found.edits(), found.cigar());
    }
    Ok(())
}
