//! The page of `--report`: one HTML file that needs no network and stays below 1 MB for any input.
//!
//! `page.js` draws all charts except those of depth from tables in the page, so that the tables can be read without it.
//! All names are escaped, and long names are truncated.

mod audit;
mod charts;
mod html;
mod sections;

pub use audit::audit_page;

use super::{Account, Facts};
use html::escaped;
use sections::ReportSection;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// The page loads nothing from anywhere.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// The content of the file of `--report`.
pub fn page(account: &Account, facts: &Facts) -> String {
    framed(&sections::title(account), &sections::note(account), &sections::all(account, facts))
}

/// A page of these sections. The note is HTML.
fn framed(title: &str, note: &str, sections: &[ReportSection]) -> String {
    let links: String = sections
        .iter()
        .map(|section| format!("<li><a href=\"#{}\">{}</a></li>\n", section.id, section.heading))
        .collect();
    let bodies: String = sections
        .iter()
        .map(|section| {
            let ReportSection { id, heading, body } = section;
            format!("<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{heading}</h2>\n{body}</section>\n")
        })
        .collect();
    let title = escaped(title);
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#content\">Skip to the content</a>\n\
         <header>\n<h1>{title}</h1>\n{note}</header>\n\
         <nav aria-label=\"Sections\">\n<ul>\n{links}</ul>\n</nav>\n\
         <main id=\"content\">\n{bodies}</main>\n\
         <footer>\n<p>Written by swalign {version}.</p>\n</footer>\n\
         <script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}
