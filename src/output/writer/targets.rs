//! The targets of hits, as writers show them: the references of a run or, in a merge, what parts of the references
//! store with their hits.

use crate::terms::alignment::{Alignment, Frames, MOST_ORIENTATIONS as FRAMES, Strand, Strands};
use crate::terms::batch::Sequences;
use crate::terms::casts::to_u32;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The references of a run, as the output names them.
#[derive(Clone, Debug)]
pub struct NamedTargets {
    /// Names of all references; `lengths` has their lengths in residues.
    pub names: Vec<String>,
    /// Whole header lines if the output shows them, otherwise empty.
    pub titles: Vec<String>,
    pub lengths: Vec<u32>,
    /// Codes of the references that queries are aligned to: all references, or those of a part, which starts with
    /// reference `first`.
    pub sequences: Arc<Sequences>,
    pub first: usize,
    /// Lengths of references in bases if each six of `sequences` are the frames of one.
    pub bases: Vec<u32>,
}

/// The targets of the hits that a writer gets.
pub enum HitTargets {
    Loaded(NamedTargets),
    Stored(StoredTargets),
}

/// The target of a hit.
#[derive(Clone, Copy)]
pub struct HitTarget<'a> {
    /// Index among all references.
    pub number: usize,
    pub name: &'a str,
    /// The whole header line, if the output shows it.
    pub title: &'a str,
    /// Length in aligned residues.
    pub len: u32,
    /// The frame and the length in bases, if it is a frame of a translated reference.
    pub frame: Option<(Strand, u32)>,
    /// Codes of the residues that the hit aligns.
    pub aligned: &'a [u8],
}

/// The targets of the hits of some queries.
#[derive(Default)]
pub struct StoredTargets {
    labels: HashMap<u32, TargetLabel>,
    /// Codes of aligned residues, by their target and their position.
    aligned: BTreeMap<(u32, u32), Vec<u8>>,
}

/// The target of a hit, as a part stores it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredTarget {
    pub label: TargetLabel,
    /// Codes of the residues that the hit aligns.
    pub aligned: Vec<u8>,
}

/// The name, the title if the output shows it, and the length of a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetLabel {
    pub name: String,
    pub title: String,
    pub len: u32,
}

impl HitTargets {
    /// The target of a hit.
    pub fn of(&self, hit: &Alignment) -> HitTarget<'_> {
        match self {
            HitTargets::Loaded(targets) => targets.of(hit),
            HitTargets::Stored(targets) => targets.of(hit),
        }
    }

    /// Number of the sequence that is the target, or of which the target is a frame.
    pub fn sequence(&self, target: u32) -> usize {
        match self {
            HitTargets::Loaded(targets) if !targets.bases.is_empty() => {
                (targets.first + target as usize) / FRAMES
            }
            HitTargets::Loaded(_) | HitTargets::Stored(_) => target as usize,
        }
    }

    /// Length of a target, by its index in an alignment, if it is circular. References of other parts never are.
    pub fn circle(&self, target: u32) -> Option<u32> {
        match self {
            HitTargets::Loaded(targets) => targets.sequences.circle(target),
            HitTargets::Stored(_) => None,
        }
    }
}

impl NamedTargets {
    /// References that all queries are aligned to.
    pub fn whole(names: Vec<String>, sequences: Arc<Sequences>) -> NamedTargets {
        let lengths =
            (0..sequences.len()).map(|target| to_u32(sequences.once(to_u32(target)).len())).collect();
        NamedTargets { names, titles: Vec::new(), lengths, sequences, first: 0, bases: Vec::new() }
    }

    /// Names of the references that queries are aligned to.
    pub fn own_names(&self) -> &[String] {
        &self.names[self.first..][..self.sequences.len()]
    }

    /// Whether the reference with this index is circular. References of other parts never are.
    pub fn is_circle(&self, place: usize) -> bool {
        let own = place.checked_sub(self.first).and_then(|own| u32::try_from(own).ok());
        own.is_some_and(|own| self.sequences.circle(own).is_some())
    }

    fn of(&self, hit: &Alignment) -> HitTarget<'_> {
        let number = self.first + hit.target as usize;
        let aligned = hit.aligned_residues(self.sequences.once(hit.target));
        let title = self.titles.get(number).map_or("", String::as_str);
        let frame = self
            .bases
            .get(number / FRAMES)
            .map(|&bases| (Strands::Frames(Frames::ALL).of_number(hit.target), bases));
        HitTarget { number, name: &self.names[number], title, len: self.lengths[number], frame, aligned }
    }
}

impl StoredTargets {
    /// Adds the target of a hit.
    pub fn add(&mut self, hit: &Alignment, StoredTarget { label, aligned }: StoredTarget) {
        self.labels.entry(hit.target).or_insert(label);
        let known = self.aligned.entry((hit.target, hit.target_start)).or_default();
        if known.len() < aligned.len() {
            *known = aligned;
        }
    }

    /// The target of a hit that was added, or of a part of it.
    fn of(&self, hit: &Alignment) -> HitTarget<'_> {
        let label = self.labels.get(&hit.target);
        let (name, title, len) = label.map_or(("", "", 0), |label| (&*label.name, &*label.title, label.len));
        // Writers leave deletions at the ends of a hit out, so a hit may begin after the beginning of its residues.
        let before = self.aligned.range((hit.target, 0)..=(hit.target, hit.target_start)).rev();
        let aligned = before.map(|(&(_, start), codes)| {
            let [from, to] = [hit.target_start, hit.target_end].map(|end| (end - start) as usize);
            codes.get(from..to)
        });
        let aligned = aligned.flatten().next().unwrap_or_default();
        HitTarget { number: hit.target as usize, name, title, len, frame: None, aligned }
    }
}
