// Many patterns without edits in a text of bases: words of the text are looked up among words of the patterns
// (src/patterns/search/exact/words.rs tells which, and why every STEP-th word of the text is enough; Sutinen and Tarhio 1996).
//
// The text lies in three planes: the lower bit of each letter, the higher one, and whether it is no base (then the low bit
// tells nothing from a letter). A thread
// takes a unit: PLACES places, STEP letters apart, so that its words of the planes begin with the first one's
// letter. It asks for the bits of all places before it looks at any. What passes is rare, and looked at place by place.

@group(0) @binding(0) var<storage, read> work: Looking;
@group(0) @binding(1) var<storage, read> text: array<u32>;
// Whether there may be a word of a hash.
@group(0) @binding(2) var<storage, read> bits: array<u32>;
// Where the entries of a hash begin; entries of hash, pattern, and letters of the pattern in front; for each pattern its
// length and the place of its letters, which are five words for each 32: those that A, C, G, T and any other letter match.
@group(0) @binding(3) var<storage, read> index: array<u32>;

struct Found {
    count: atomic<u32>,
    unused: u32,
    ends: array<vec2<u32>>,
}
@group(0) @binding(4) var<storage, read_write> found: Found;

// The word whose letters begin at bit `shift` of these words of a plane.
fn joined(low: u32, high: u32, shift: u32) -> u32 {
    // Shifting by a whole word is undefined, so in two steps.
    return (low >> shift) | ((high << (31u - shift)) << 1u);
}

fn letters_at(plane: u32, place: u32) -> u32 {
    let word = plane * work.stride + place / 32u;
    return joined(text[word], text[word + 1u], place % 32u);
}

// Looks whether a pattern stands at `start`.
fn stands(letters_at_: u32, len: u32, start: u32) -> bool {
    var place = letters_at_;
    for (var done = 0u; done < len; done += 32u) {
        let low = letters_at(0u, start + done);
        let high = letters_at(1u, start + done);
        let other = letters_at(2u, start + done);
        let bases = (~low & ~high & index[place]) | (low & ~high & index[place + 1u])
            | (~low & high & index[place + 2u]) | (low & high & index[place + 3u]);
        // Where there is no letter, the low bit is set too.
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

// Looks among the entries of a hash.
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
    let bits$place = bits[hash$place >> work.bits_shift >> 5u];
//!end
    // A bit for each place that may have a word.
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
