// Searches a text of bases for exact occurrences of many patterns: looks up words of the text among words of the
// patterns. src/patterns/search/exact/words.rs explains which words, and why every STEP-th word of the text is enough
// (Sutinen and Tarhio 1996).
//
// The text is stored in three planes: the low bit of each base, the high bit, and whether the position holds no base.
// If it holds none, the low bit is set for an empty position and clear for any other code. A thread checks one unit:
// PLACES positions, STEP bases apart, so that its plane words begin with the base at its first position. It loads the
// filter bits of all positions before it tests any. Few positions pass, and these are checked one after another.

@group(0) @binding(0) var<storage, read> work: Looking;
@group(0) @binding(1) var<storage, read> text: array<u32>;
// One bit for each hash: set if a pattern word may have that hash.
@group(0) @binding(2) var<storage, read> bits: array<u32>;
// First entry of each hash; entries (hash, pattern, number of pattern bases before the word); for each pattern, its
// length and the position of its masks. There are five mask words for each 32 bases: where the pattern matches A, C, G,
// T, and any other code.
@group(0) @binding(3) var<storage, read> index: array<u32>;

struct Found {
    count: atomic<u32>,
    unused: u32,
    ends: array<vec2<u32>>,
}
@group(0) @binding(4) var<storage, read_write> found: Found;

// Returns the 32 bits of a plane that begin at bit `shift` of `low`.
fn joined(low: u32, high: u32, shift: u32) -> u32 {
    // Shifting by the word size is undefined, hence two steps.
    return (low >> shift) | ((high << (31u - shift)) << 1u);
}

fn letters_at(plane: u32, place: u32) -> u32 {
    let word = plane * work.stride + place / 32u;
    return joined(text[word], text[word + 1u], place % 32u);
}

// Returns whether a pattern occurs at `start`.
fn stands(letters_at_: u32, len: u32, start: u32) -> bool {
    var place = letters_at_;
    for (var done = 0u; done < len; done += 32u) {
        let low = letters_at(0u, start + done);
        let high = letters_at(1u, start + done);
        let other = letters_at(2u, start + done);
        let bases = (~low & ~high & index[place]) | (low & ~high & index[place + 1u])
            | (~low & high & index[place + 2u]) | (low & high & index[place + 3u]);
        // If a position holds nothing, its low bit is set too.
        let same = (bases & ~other) | (other & ~low & index[place + 4u]);
        let rest = len - done;
        let needed = select(~0u, (1u << (rest & 31u)) - 1u, rest < 32u);
        if ((~same & needed) != 0u) {
            return false;
        }
        place += 5u;
    }
    return true;
}

// Checks the entries of a hash.
fn look(hash: u32, at: u32) {
    let bucket = hash >> work.starts_shift;
    let end = index[bucket + 1u];
    for (var entry = index[bucket]; entry < end; entry++) {
        let place = work.entries_at + entry * 3u;
        let before = index[place + 2u];
        if (index[place] != hash || before > at) {
            continue;
        }
        let pattern = index[place + 1u];
        let len = index[work.patterns_at + pattern * 2u];
        let start = at - before;
        if (len > work.letters - start) {
            continue;
        }
        if (stands(index[work.patterns_at + pattern * 2u + 1u], len, start)) {
            let next = atomicAdd(&found.count, 1u);
            if (next < work.capacity) {
                found.ends[next] = vec2<u32>(pattern, start + len);
            }
        }
    }
}

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let unit = work.first + (group.y * groups.x + group.x) * THREADS + thread;
    if (unit >= work.end) {
        return;
    }
    let first = unit * STEP;
//!for word
    let low$word = text[first + $wordu];
    let high$word = text[work.stride + first + $wordu];
//!end
//!for place
    let hash$place = ((($low) & WORD) | ((($high) & WORD) << LETTERS)) * FIRST;
//!end
//!for place
    let bits$place = bits[(hash$place >> work.bits_shift) >> 5u];
//!end
    // One bit for each position whose word may be a pattern word.
    var passed = 0u;
//!for place
    passed |= ((bits$place >> ((hash$place >> work.bits_shift) & 31u)) & 1u) << $placeu;
//!end
    for (; passed != 0u; passed &= passed - 1u) {
        let at = first * 32u + firstTrailingBit(passed) * STEP;
        if (at >= work.letters) {
            return;
        }
        let word = (letters_at(0u, at) & WORD) | ((letters_at(1u, at) & WORD) << LETTERS);
        look(word * FIRST, at);
    }
}
