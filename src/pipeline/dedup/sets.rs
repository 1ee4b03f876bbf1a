//! The sets of the records so far: the distinct sequences, the representative of each, and, if a table is written, the
//! members.

use crate::align::dedup::{DistinctSequences, hash, prefixes, strands};
use crate::input::reader::ReadBatch;
use crate::terms::error::{Error, Result};
use crate::terms::options::{DedupBy, DedupOptions};
use foldhash::fast::RandomState;
use rayon::prelude::*;

/// Hashes sequences.
pub struct Hashing {
    hasher: RandomState,
    both_strands: bool,
}

/// Records with their hashes. With both strands, their sequences are canonical.
pub struct KeyedBatch {
    pub batch: ReadBatch,
    hashes: Vec<u64>,
    /// Whether each record's sequence was reverse complemented.
    turned: Vec<bool>,
}

/// The record that represents a sequence.
struct Representative {
    name: Box<[u8]>,
    abundance: u64,
    turned: bool,
}

/// All records, in input order.
#[derive(Default)]
struct Members {
    names: Vec<u8>,
    /// End of each name, the sequence's number, whether the sequence was reverse complemented, and its abundance.
    all: Vec<(usize, usize, bool, u64)>,
}

/// The sets of equal sequences.
pub struct Sets {
    distinct: DistinctSequences,
    both_strands: bool,
    /// The representative of each sequence.
    representatives: Vec<Representative>,
    sizes: Vec<u64>,
    /// Qualities, at the positions of the concatenated sequences. Empty for FASTA.
    qualities: Vec<u8>,
    /// Whether the most abundant record represents its set, and among equally abundant records the one with the
    /// smallest name. If not, the first record represents it.
    chooses: bool,
    members: Option<Members>,
    letters_of_all: u64,
}

/// The sets of a run, in the order in which they are written.
pub struct FoundSets {
    sets: Sets,
    /// For each sequence, the sequence whose set it is in.
    joined: Vec<usize>,
    /// The sequences that represent sets, sorted by descending number of reads, then by name, then by input order.
    pub order: Vec<usize>,
}

/// A record as it is in its set.
pub struct Member<'a> {
    /// Index of the set in the order.
    pub set: usize,
    pub name: &'a [u8],
    pub is_reverse: bool,
    pub abundance: u64,
}

impl Hashing {
    pub fn key(&self, mut batch: ReadBatch) -> KeyedBatch {
        let (mut hashes, mut turned) = (Vec::with_capacity(batch.len()), Vec::with_capacity(batch.len()));
        for record in 0..batch.len() {
            turned.push(self.both_strands && strands::make_lesser(batch.letters_mut(record)));
            hashes.push(hash(&self.hasher, batch.letters(record)));
        }
        KeyedBatch { batch, hashes, turned }
    }
}

impl Sets {
    pub fn new(options: &DedupOptions) -> Sets {
        Sets {
            distinct: DistinctSequences::default(),
            both_strands: options.both_strands,
            representatives: Vec::new(),
            sizes: Vec::new(),
            qualities: Vec::new(),
            chooses: options.by == DedupBy::Prefix,
            members: options.table.is_some().then(Members::default),
            letters_of_all: 0,
        }
    }

    /// A hasher for records to [`Sets::add`], for use on other threads.
    pub fn hashing(&self) -> Hashing {
        Hashing { hasher: self.distinct.hasher().clone(), both_strands: self.both_strands }
    }

    /// Adds records.
    pub fn add(&mut self, batches: &[KeyedBatch]) -> Result<()> {
        batches
            .iter()
            .try_for_each(|keyed| (0..keyed.batch.len()).try_for_each(|at| self.add_record(keyed, at)))
    }

    fn add_record(&mut self, keyed: &KeyedBatch, at: usize) -> Result<()> {
        let (batch, turned) = (&keyed.batch, keyed.turned[at]);
        let (name, letters, qualities) = (batch.name(at), batch.letters(at), batch.qualities(at));
        let abundance = batch.abundance(at);
        self.letters_of_all += letters.len() as u64;
        let inserted = self.distinct.insert_hashed(keyed.hashes[at], letters);
        let number = inserted.number;
        if let Some(members) = &mut self.members {
            members.names.extend_from_slice(name);
            members.all.push((members.names.len(), number, turned, abundance));
        }
        let representative = || Representative { name: name.into(), abundance, turned };
        if inserted.is_new {
            self.representatives.push(representative());
            self.sizes.push(abundance);
            self.qualities.extend_from_slice(qualities);
            return Ok(());
        }
        self.sizes[number] = sum(self.sizes[number], abundance)?;
        let known = &mut self.representatives[number];
        let is_better = abundance > known.abundance || (abundance == known.abundance && *name < *known.name);
        if self.chooses && is_better {
            *known = representative();
            if !qualities.is_empty() {
                self.qualities[self.distinct.place(number)].copy_from_slice(qualities);
            }
        }
        Ok(())
    }

    /// Joins sequences that are prefixes of others, if requested, and orders the sets.
    pub fn settle(mut self, by: DedupBy) -> Result<FoundSets> {
        let joined = match by {
            DedupBy::Whole => (0..self.distinct.len()).collect(),
            DedupBy::Prefix => prefixes::longest(&self.distinct, &self.ranks()),
        };
        for (number, &set) in joined.iter().enumerate().filter(|(number, set)| number != *set) {
            self.sizes[set] = sum(self.sizes[set], self.sizes[number])?;
        }
        let mut order: Vec<usize> = (0..joined.len()).filter(|&number| joined[number] == number).collect();
        let key = |number: usize| (u64::MAX - self.sizes[number], &self.representatives[number].name, number);
        order.par_sort_unstable_by(|&one, &other| key(one).cmp(&key(other)));
        Ok(FoundSets { sets: self, joined, order })
    }

    /// Ranks of the sequences by their representatives: descending abundance, then name.
    fn ranks(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.representatives.len()).collect();
        let key = |number: usize| {
            let Representative { name, abundance, .. } = &self.representatives[number];
            (u64::MAX - abundance, name, number)
        };
        order.par_sort_unstable_by(|&one, &other| key(one).cmp(&key(other)));
        let mut ranks = vec![0; order.len()];
        order.into_iter().enumerate().for_each(|(rank, number)| ranks[number] = rank);
        ranks
    }
}

fn sum(one: u64, other: u64) -> Result<u64> {
    let text =
        "--size-in: the abundances of a set add up to more than 2^64 - 1; correct the ;size= in the names";
    one.checked_add(other).ok_or_else(|| Error::Usage(text.to_string()))
}

impl FoundSets {
    pub fn name(&self, number: usize) -> &[u8] {
        &self.sets.representatives[number].name
    }

    /// Number of reads of the set that a sequence represents.
    pub fn size(&self, number: usize) -> u64 {
        self.sets.sizes[number]
    }

    /// Appends a sequence as its representative has it.
    pub fn put_letters(&self, number: usize, letters: &mut Vec<u8>) {
        letters.clear();
        letters.extend_from_slice(self.sets.distinct.get(number));
        if self.sets.representatives[number].turned {
            strands::turn(letters);
        }
    }

    /// The qualities of the representative.
    pub fn qualities(&self, number: usize) -> &[u8] {
        self.sets.qualities.get(self.sets.distinct.place(number)).unwrap_or_default()
    }

    /// Total length of the distinct sequences.
    pub fn letters(&self) -> u64 {
        (0..self.sets.distinct.len()).map(|number| self.sets.distinct.get(number).len() as u64).sum()
    }

    pub fn letters_of_all(&self) -> u64 {
        self.sets.letters_of_all
    }

    /// All records, set by set in the order of the sets, and in input order within a set.
    pub fn members(&self) -> impl Iterator<Item = Member<'_>> {
        let mut places = vec![0; self.joined.len()];
        self.order.iter().enumerate().for_each(|(place, &number)| places[number] = place);
        let members = self.sets.members.iter();
        let all = move |members: &'_ Members| {
            let mut order: Vec<(usize, usize)> = Vec::with_capacity(members.all.len());
            order.extend(
                members.all.iter().enumerate().map(|(at, member)| (places[self.joined[member.1]], at)),
            );
            order.par_sort_unstable();
            order
        };
        members.flat_map(move |members| {
            all(members).into_iter().map(|(set, at)| {
                let (end, number, turned, abundance) = members.all[at];
                let begin = at.checked_sub(1).map_or(0, |before| members.all[before].0);
                let representative = &self.sets.representatives[self.joined[number]];
                let is_reverse = turned != representative.turned;
                Member { set, name: &members.names[begin..end], is_reverse, abundance }
            })
        })
    }
}
