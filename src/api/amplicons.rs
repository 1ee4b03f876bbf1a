//! Amplicons in texts: pairs of matches that face each other.

use super::answers::Answers;
use super::searcher::{CodeText, next_answer};
use super::{Searcher, Targets};
use crate::patterns::search::amplicons::{AmpliconSpan, Joiner, NoPair, PatternPairs, Site};
use crate::patterns::search::batch::{ActiveText, SearchedText};
use crate::patterns::search::driver::HitReceiver;
use crate::patterns::search::hits::PatternHit;
use crate::terms::alignment::{Strand, Strands};
use crate::terms::error::{Error, Result};
use std::iter::Fuse;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Which patterns of a [`Searcher`] are the two primers of a pair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PrimerPairs {
    /// The names define the pairs: those of a pair end in `_LEFT` and `_RIGHT`, `_F` and `_R`, or `/1` and `/2`.
    /// `_LEFT_2` and `_LEFT_alt1` are alternates, which pair with each primer of the other side.
    #[default]
    Names,
    /// Each pattern pairs with each pattern, itself included.
    Any,
    /// The names of the first and the second primer of each pair.
    Listed(Vec<[String; 2]>),
}

/// Finds amplicons: stretches of a text between two matches that face each other.
///
/// The match on the forward strand starts and ends no later than the match on the reverse strand, and the patterns of
/// both are a pair. The amplicon extends from the start of the first to the end of the second. The amplicons are those
/// of `swalign search --amplicons`. Threads share an amplicon searcher by reference.
///
/// ```
/// use swalign::{Device, PrimerPairs, Searcher};
///
/// let primers = [("16S_F", "GATTACA"), ("16S_R", "CCATGGC")];
/// let searcher = Searcher::builder(primers).device(Device::Cpu).build()?.amplicons(&PrimerPairs::Names, 1..=4000)?;
/// let found = searcher.search("TTGATTACAGGAGGAGCCATGGTT")?;
/// assert_eq!(found.len(), 1);
/// assert_eq!((found[0].range(), found[0].inner_range(), found[0].pair_name()), (2..22, 9..15, Some("16S")));
/// # Ok::<(), swalign::Error>(())
/// ```
#[derive(Clone)]
pub struct AmpliconSearcher {
    searcher: Searcher,
    pairs: PatternPairs,
    /// The names of the pairs.
    names: Vec<Arc<str>>,
    lengths: RangeInclusive<usize>,
}

impl AmpliconSearcher {
    pub(super) fn new(
        searcher: Searcher,
        pairs: &PrimerPairs,
        lengths: RangeInclusive<usize>,
    ) -> Result<AmpliconSearcher> {
        let wanted = &searcher.core.driver.wanted;
        let refused = |text: &str| Err(Error::Usage(format!("amplicons: {text}")));
        if wanted.strands != Strands::Both {
            return refused("they need matches on both strands; leave both_strands(false) out");
        }
        if wanted.best || wanted.first {
            return refused("they need all matches of a text; leave best(true) and first(true) out");
        }
        let names: Vec<&str> = searcher.core.names.iter().map(|name| &**name).collect();
        let pairs = match pairs {
            PrimerPairs::Any => PatternPairs::any(),
            PrimerPairs::Names => PatternPairs::of_names(&names).map_err(|none| unpaired(&none, &names))?,
            PrimerPairs::Listed(list) => PatternPairs::of_list(&names, list).map_err(|(at, side)| {
                Error::Usage(format!("pair {at}: no pattern is named '{}'", list[at][side]))
            })?,
        };
        let names = pairs.names().iter().map(|name| Arc::from(&**name)).collect();
        Ok(AmpliconSearcher { searcher, pairs, names, lengths })
    }

    /// The device that computes, as `swalign` names it: `GPU NVIDIA H100`, `CPU (2 threads, avx512)`.
    pub fn device(&self) -> &str {
        self.searcher.device()
    }

    /// A copy whose searches end soon after this flag is set; see [`Searcher::with_stop_flag`].
    pub fn with_stop_flag(&self, flag: Arc<AtomicBool>) -> AmpliconSearcher {
        AmpliconSearcher { searcher: self.searcher.with_stop_flag(flag), ..self.clone() }
    }

    /// The amplicons of one text, by start, end, pattern on the forward strand and pattern on the reverse strand.
    ///
    /// # Errors
    /// As [`Searcher::search`].
    pub fn search(&self, text: impl AsRef<[u8]>) -> Result<Vec<Amplicon>> {
        self.search_all([text]).next().unwrap_or_else(|| Ok(Vec::new()))
    }

    /// The amplicons of each text, in the order of the texts. Texts and errors are treated as in
    /// [`Searcher::search_all`].
    pub fn search_all<I>(&self, texts: I) -> AmpliconsAll<'_, I::IntoIter>
    where
        I: IntoIterator,
        I::Item: AsRef<[u8]>,
    {
        AmpliconsAll { searcher: self, texts: texts.into_iter().fuse(), answers: Answers::default() }
    }

    /// The amplicons of each of these targets, in their order.
    ///
    /// # Errors
    /// As [`Searcher::search_targets`].
    pub fn search_targets(&self, targets: &Targets) -> Result<Vec<Vec<Amplicon>>> {
        targets.searched(|texts| self.search_codes(texts))
    }

    fn search_codes(&self, texts: &[&[u8]]) -> Result<Vec<Vec<Amplicon>>> {
        let joiner = Joiner::new(&self.pairs, self.lengths.clone());
        let mut joined = TextAmplicons { own: self, joiner, amplicons: vec![Vec::new(); texts.len()] };
        self.searcher.give_codes(texts, &mut joined)?;
        Ok(joined.amplicons)
    }

    /// Adds joined hits to these amplicons.
    fn taker<'a>(&'a self, all: &'a mut Vec<Amplicon>) -> impl FnMut(&AmpliconSpan) -> Result<()> {
        |joined| {
            all.push(Amplicon::new(self, *joined));
            Ok(())
        }
    }
}

/// The error for a pattern whose name does not define a pair.
fn unpaired(none: &NoPair, names: &[&str]) -> Error {
    let (place, problem) = match none {
        NoPair::NoSide { place } => (*place, "its name does not identify a pair".to_string()),
        NoPair::Alone { place, partner } => (*place, format!("there is no pattern '{partner}' for a pair")),
    };
    Error::Usage(format!(
        "pattern '{}': {problem}; end the names of a pair in _LEFT and _RIGHT, _F and _R or /1 and /2, or use \
         PrimerPairs::Listed or PrimerPairs::Any",
        names[place as usize]
    ))
}

impl std::fmt::Debug for AmpliconSearcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AmpliconSearcher")
            .field("searcher", &self.searcher)
            .field("lengths", &self.lengths)
            .finish_non_exhaustive()
    }
}

/// The amplicons of each text of a call.
struct TextAmplicons<'a> {
    own: &'a AmpliconSearcher,
    joiner: Joiner<'a>,
    amplicons: Vec<Vec<Amplicon>>,
}

impl HitReceiver<CodeText<'_>> for TextAmplicons<'_> {
    type Error = Error;

    fn hits(&mut self, text: &Arc<ActiveText<CodeText>>, hits: Vec<PatternHit>) -> Result<()> {
        let TextAmplicons { own, joiner, amplicons } = self;
        joiner.set_circle(text.circle().map(|circle| circle.len));
        let mut give = own.taker(&mut amplicons[text.place]);
        hits.iter().try_for_each(|hit| joiner.put(hit, &mut give))
    }

    fn end(&mut self, text: &Arc<ActiveText<CodeText>>, _: u64) -> Result<()> {
        let TextAmplicons { own, joiner, amplicons } = self;
        joiner.finish(&mut own.taker(&mut amplicons[text.place])).map(|_| ())
    }
}

/// Iterator over the amplicons of texts; see [`AmpliconSearcher::search_all`].
#[derive(Debug)]
#[must_use = "iterators do nothing unless they are asked"]
pub struct AmpliconsAll<'a, I> {
    searcher: &'a AmpliconSearcher,
    texts: Fuse<I>,
    answers: Answers<Vec<Amplicon>>,
}

impl<I> Iterator for AmpliconsAll<'_, I>
where
    I: Iterator,
    I::Item: AsRef<[u8]>,
{
    type Item = Result<Vec<Amplicon>>;

    fn next(&mut self) -> Option<Self::Item> {
        next_answer(&mut self.texts, &mut self.answers, |texts| self.searcher.search_codes(texts))
    }
}

/// A stretch of a text between two matches that face each other, both included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Amplicon {
    joined: AmpliconSpan,
    pair: Option<Arc<str>>,
    /// The names of the patterns on the forward and on the reverse strand.
    names: [Arc<str>; 2],
}

impl Amplicon {
    fn new(own: &AmpliconSearcher, joined: AmpliconSpan) -> Amplicon {
        let name = |site: &Site| Arc::clone(&own.searcher.core.names[site.pattern as usize]);
        let names = [name(&joined.forward), name(&joined.reverse)];
        let pair = joined.pair.map(|pair| Arc::clone(&own.names[pair as usize]));
        Amplicon { joined, pair, names }
    }

    /// Range of the amplicon in the text, 0-based and half-open. Both primers are included. It may end after a circular
    /// text.
    pub fn range(&self) -> Range<usize> {
        self.joined.places()
    }

    /// Range of the text between both primers; empty if the primers overlap.
    pub fn inner_range(&self) -> Range<usize> {
        self.joined.without_primers()
    }

    /// Forward if the first primer of the pair is on the forward strand of the text. With [`PrimerPairs::Any`], the
    /// pattern that was given earlier counts as the first primer.
    pub fn strand(&self) -> Strand {
        self.joined.strand
    }

    /// The name of the pair. With [`PrimerPairs::Names`], it is the common part of both names; with
    /// [`PrimerPairs::Listed`], both names, separated by a comma; with [`PrimerPairs::Any`], `None`.
    pub fn pair_name(&self) -> Option<&str> {
        self.pair.as_deref()
    }

    /// The match on the forward strand, with which the amplicon starts.
    pub fn forward(&self) -> PrimerSite<'_> {
        PrimerSite { site: self.joined.forward, name: &self.names[0] }
    }

    /// The match on the reverse strand, with which the amplicon ends.
    pub fn reverse(&self) -> PrimerSite<'_> {
        PrimerSite { site: self.joined.reverse, name: &self.names[1] }
    }
}

/// The match of a primer at an end of an [`Amplicon`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrimerSite<'a> {
    site: Site,
    name: &'a str,
}

impl<'a> PrimerSite<'a> {
    /// Number of the pattern among those that are searched, from 0.
    pub fn pattern(&self) -> usize {
        self.site.pattern as usize
    }

    /// The pattern's name.
    pub fn pattern_name(&self) -> &'a str {
        self.name
    }

    /// Range of the match in the text, 0-based and half-open.
    pub fn range(&self) -> Range<usize> {
        self.site.start..self.site.end
    }

    /// Number of edits of the match.
    pub fn edits(&self) -> usize {
        self.site.edits as usize
    }
}
