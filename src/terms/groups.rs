//! Groups of records, which stay together in a part and in BAM's blocks.
//!
//! The records themselves determine the beginning of a group, so a reader that begins in the middle of a file finds the
//! same groups as one that begins at its start. A record begins a group if it is the first of all, or if its name
//! differs from that of the previous record (mates have the same name) and
//!
//! ```text
//! hash(name) / 2^32 < letters / STRIDE
//! ```
//!
//! So names drawn at random begin a group every `STRIDE` residues: one in 512 reads of 150 bases, one in 4 reads of
//! 20,000 bases, and every read of 76,800 bases or more.

/// Average number of residues of a group.
const STRIDE: u64 = 76_800;

/// Whether a record of `letters` residues that follows a record called `before` begins a group. If true for fewer
/// residues than the record has, it is true for all of them; false is only certain for all of them.
pub fn begins(before: &[u8], name: &[u8], letters: usize) -> bool {
    let letters = (letters as u64).min(STRIDE);
    !are_mates(before, name) && u64::from(hash(base(name))) * STRIDE < letters << 32
}

/// Whether two names are those of mates, or the same.
pub fn are_mates(one: &[u8], other: &[u8]) -> bool {
    base(one) == base(other)
}

/// The name without the suffix that distinguishes mates.
pub fn base(name: &[u8]) -> &[u8] {
    match name {
        [base @ .., b'.' | b'_' | b':', b'1' | b'2'] | [base @ .., b'/', b'0'..=b'9'] => base,
        _ => name,
    }
}

/// FNV-1a of 32 bits, followed by the finalizer of MurmurHash3, so that names that differ only in their last digit have
/// unrelated hashes. It must never change, because different builds may write the parts of one run.
fn hash(name: &[u8]) -> u32 {
    let fnv =
        name.iter().fold(0x811c_9dc5, |hash: u32, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let mixed = (fnv ^ (fnv >> 16)).wrapping_mul(0x85eb_ca6b);
    let mixed = (mixed ^ (mixed >> 13)).wrapping_mul(0xc2b2_ae35);
    mixed ^ (mixed >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mates_stay_together() {
        for (one, other, together) in [
            ("r", "r", true),
            ("r/1", "r/2", true),
            ("r.1", "r.2", true),
            ("r_1", "r_2", true),
            ("r:1", "r:2", true),
            ("r/1", "r/3", true),
            ("r:1", "r:3", false),
            ("r/1", "r", true),
            ("r1", "r2", false),
            ("r/11", "r/12", false),
            ("/1", "/2", true),
            ("1", "2", false),
            ("", "", true),
        ] {
            assert_eq!(are_mates(one.as_bytes(), other.as_bytes()), together, "{one} {other}");
            let long = begins(one.as_bytes(), other.as_bytes(), usize::MAX);
            assert_eq!(long, !together, "{one} {other}");
        }
    }

    /// Values of another implementation: all builds must compute the same.
    #[test]
    fn the_hash_is_the_same_for_ever() {
        let names = ["", "r0", "r1", "read/with.all"];
        assert_eq!(
            names.map(|name| hash(name.as_bytes())),
            [0xab3e_7c0b, 0x8391_5509, 0x6dcd_e39e, 0xc294_32ae]
        );
    }

    #[test]
    fn letters_decide() {
        assert!(!begins(b"a", b"b", 0));
        assert!(begins(b"a", b"b", STRIDE as usize) && begins(b"a", b"b", usize::MAX));
        // At the length from which a name begins a group.
        for name in ["r0", "r1", "x"] {
            let least = ((u64::from(hash(name.as_bytes())) * STRIDE) >> 32) as usize + 1;
            assert!(
                begins(b"a", name.as_bytes(), least) && !begins(b"a", name.as_bytes(), least - 1),
                "{name}"
            );
        }
    }

    /// Consecutive names, as numbered by sequencers and simulators.
    #[test]
    fn names_in_sequence_are_as_good_as_any() {
        let schemes: [fn(u32) -> String; 6] = [
            |k| format!("r{k}"),
            |k| format!("read_{k:09}"),
            |k| format!("SRR1234567.{k}"),
            |k| {
                format!(
                    "A00123:45:HXXXXXXXX:{}:{}:{}:{}",
                    1 + k % 4,
                    1101 + k / 4000,
                    k * 7 % 32_000,
                    k % 37_000
                )
            },
            |k| format!("{k}/1"),
            |k| format!("{:08x}-0000-4000-8000-{k:012x}", k.wrapping_mul(2_654_435_761)),
        ];
        for (number, scheme) in schemes.into_iter().enumerate() {
            let names: Vec<String> = (0..200_000).map(scheme).collect();
            let pairs = || names.windows(2).enumerate();
            for letters in [150, 15_000] {
                let begun: Vec<usize> = pairs()
                    .filter(|(_, pair)| begins(pair[0].as_bytes(), pair[1].as_bytes(), letters))
                    .map(|(at, _)| at)
                    .collect();
                let expected = names.len() as f64 * letters as f64 / STRIDE as f64;
                // Within five standard deviations; the longest run without a group is at most 20 times the mean.
                assert!(
                    (begun.len() as f64 - expected).abs() < 5.0 * expected.sqrt(),
                    "{number}: {}",
                    begun.len()
                );
                let gap = begun.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
                assert!(gap < 20 * STRIDE as usize / letters, "{number}: {gap}");
            }
        }
    }
}
