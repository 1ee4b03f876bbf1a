// Finds words of a dictionary in the lines of a text. src/patterns/lines/dictionary/plain.rs is the specification, and
// src/patterns/scan/dictionary/table.rs describes the table of words.
//
// If a whole line or its beginning must be a word, a thread processes LINES lines. Otherwise it processes a unit of
// UNIT bytes, each of which may begin a word. It issues the loads of all its positions before it uses any of them:
// first bytes, then masks, then buckets. So the loads of a stage do not wait for one another.

@group(0) @binding(0) var<storage, read> work: Matching;
// The text, followed by at least as many zeros as a slot has bytes.
@group(0) @binding(1) var<storage, read> text: array<u32>;
@group(0) @binding(2) var<storage, read> slots: array<vec4<u32>>;
// Length masks, the lengths of long words, and the bytes of long words.
@group(0) @binding(3) var<storage, read> lists: array<u32>;
// A number for each line of the dispatch, or a bit for each line or byte.
@group(0) @binding(4) var<storage, read_write> found: array<u32>;
//!if BY_LINE
// Where each line begins. The last element is one more than the position after the last line.
@group(0) @binding(5) var<storage, read> starts: array<u32>;
//!end

//!if BITS_OF_LINES
var<workgroup> bits: array<atomic<u32>, LINES * THREADS / 32u>;
//!end

// Adds four bytes to the hash.
fn absorb(hash: u32, letters: u32) -> u32 {
    let mixed = (hash ^ letters) * FIRST;
    return mixed ^ (mixed >> 15u);
}

// Adds the last bytes and the length to the hash.
fn finished(hash: u32, rest: u32, len: u32) -> u32 {
    let mixed = (absorb(hash, rest) ^ len) * SECOND;
    return mixed ^ (mixed >> 13u);
}

// Keeps the first `len` of four bytes.
fn cut(letters: u32, len: i32) -> u32 {
    let kept = u32(clamp(len, 0, 4));
    return letters & select((1u << (8u * (kept & 3u))) - 1u, ~0u, kept == 4u);
}

// Keeps the first `len` of twelve bytes.
fn cut_all(letters: vec3<u32>, len: u32) -> vec3<u32> {
    let rest = i32(len);
    return vec3<u32>(cut(letters.x, rest), cut(letters.y, rest - 4), cut(letters.z, rest - 8));
}

// Hashes a word of up to twelve bytes that is padded with zeros.
fn hash_of(letters: vec3<u32>, len: u32) -> u32 {
    var hash = 0u;
    var rest = letters.x;
    if (len >= 4u) {
        hash = absorb(hash, letters.x);
        rest = letters.y;
    }
    if (len >= 8u) {
        hash = absorb(hash, letters.y);
        rest = letters.z;
    }
    if (len >= 12u) {
        hash = absorb(hash, letters.z);
        rest = 0u;
    }
    return finished(hash, rest, len);
}

//!if ANY_CASE
// Converts four ASCII bytes to lower case. The high bit of a byte of `above` is set from 'A' on, and that of `behind`
// after 'Z'.
fn folded(letters: u32) -> u32 {
    let seven = letters & 0x7f7f7f7fu;
    let above = seven + 0x3f3f3f3fu;
    let behind = seven + 0x25252525u;
    return letters | ((above & ~behind & ~letters & 0x80808080u) >> 2u);
}
//!else
fn folded(letters: u32) -> u32 {
    return letters;
}
//!end

// Returns four bytes of the text that begin at bit `shift` of `low`.
fn joined(low: u32, high: u32, shift: u32) -> u32 {
    // Shifting by the word size is undefined, hence two steps.
    return (low >> shift) | ((high << (24u - shift)) << 8u);
}

fn letters_at(place: u32) -> u32 {
    let word = place / 4u;
    return folded(joined(text[word], text[word + 1u], place % 4u * 8u));
}

fn twelve_at(place: u32) -> vec3<u32> {
    let word = place / 4u;
    let shift = place % 4u * 8u;
    let second = text[word + 1u];
    let third = text[word + 2u];
    return vec3<u32>(
        folded(joined(text[word], second, shift)),
        folded(joined(second, third, shift)),
        folded(joined(third, text[word + 3u], shift)),
    );
}

// Returns whether the byte at a position of the text is a word character, as in grep.
fn is_of_word(place: u32) -> bool {
    let letter = (text[place / 4u] >> (place % 4u * 8u)) & 255u;
    let small = letter | 32u;
    return (small >= 97u && small <= 122u) || (letter >= 48u && letter <= 57u) || letter == 95u;
}

// Returns whether a word may end before `place`. The text or the line ends at `end`.
fn may_end(place: u32, end: u32) -> bool {
//!if WHOLE_WORDS
    return place >= end || !is_of_word(place);
//!else
    return true;
//!end
}

// Returns whether a slot holds this word of up to twelve bytes.
fn has(slot: vec4<u32>, letters: vec3<u32>, len: u32) -> bool {
    return all(slot.xyz == letters) && (slot.w >> NUMBER_BITS) == len + 1u;
}

// Returns the number of a word of up to twelve bytes, searching from the second bucket on.
fn look_further(letters: vec3<u32>, len: u32, hash: u32) -> u32 {
    var bucket = hash;
    for (var probe = 1u; probe < work.probes; probe++) {
        bucket++;
        let at = (bucket & work.buckets) * 2u;
        let first = slots[at];
        let second = slots[at + 1u];
        if (has(first, letters, len)) {
            return first.w & NUMBER;
        }
        if (has(second, letters, len)) {
            return second.w & NUMBER;
        }
        // Slots of a bucket are filled in order.
        if (second.w == EMPTY) {
            return NONE;
        }
    }
    return NONE;
}

// Returns the number of a word of up to twelve bytes, given the two slots of its first bucket.
fn chosen(first: vec4<u32>, second: vec4<u32>, letters: vec3<u32>, len: u32, hash: u32) -> u32 {
    if (has(first, letters, len)) {
        return first.w & NUMBER;
    }
    if (has(second, letters, len)) {
        return second.w & NUMBER;
    }
    if (second.w == EMPTY) {
        return NONE;
    }
    return look_further(letters, len, hash);
}

fn look_up(letters: vec3<u32>, len: u32) -> u32 {
    let hash = hash_of(letters, len);
    let at = (hash & work.buckets) * 2u;
    return chosen(slots[at], slots[at + 1u], letters, len, hash);
}

// Returns the number of a long word at a position of the text.
fn look_up_long(place: u32, len: u32, hash: u32) -> u32 {
    for (var probe = 0u; probe < work.probes; probe++) {
        let at = ((hash + probe) & work.buckets) * 2u;
        for (var k = 0u; k < 2u; k++) {
            let slot = slots[at + k];
            if (slot.w == EMPTY) {
                return NONE;
            }
            if ((slot.w >> NUMBER_BITS) == LONG && slot.x == hash && slot.z == len) {
                var word = work.letters_at + slot.y;
                var done = 0u;
                while (done < len && cut(letters_at(place + done), i32(len - done)) == lists[word]) {
                    done += 4u;
                    word++;
                }
                if (done >= len) {
                    return slot.w & NUMBER;
                }
            }
        }
    }
    return NONE;
}

// Returns the number of the longest long word that occurs at `place` and ends by `end`.
fn longest_long(place: u32, end: u32) -> u32 {
    var number = NONE;
    var hash = 0u;
    var done = 0u;
    for (var k = 0u; k < work.long_lengths; k++) {
        let len = lists[work.lengths_at + k];
        if (len > end - place) {
            break;
        }
        for (; done + 4u <= len; done += 4u) {
            hash = absorb(hash, letters_at(place + done));
        }
        // If the length is a multiple of four, no bytes remain.
        let rest = cut(letters_at(place + done), i32(len - done));
        if (may_end(place + len, end)) {
            let longer = look_up_long(place, len, finished(hash, rest, len));
            number = select(longer, number, longer == NONE);
        }
    }
    return number;
}

// Returns the lengths of the words that begin with these bytes.
fn mask_of(letters: u32) -> u32 {
    return lists[((letters & work.key) * FIRST) >> work.mask_shift];
}

// Returns the number of the longest word at `place` that ends by `end`, among the lengths in `mask`.
fn longest(place: u32, end: u32, letters: vec3<u32>, mask: u32) -> u32 {
    let most = end - place;
    if (((mask >> SHORT_LENGTHS) & 1u) == 1u && most > INLINE) {
        let number = longest_long(place, end);
        if (number != NONE) {
            return number;
        }
    }
    var lengths = mask & ((2u << min(most, INLINE)) - 1u);
    while (lengths != 0u) {
        let len = firstLeadingBit(lengths);
        lengths ^= 1u << len;
        if (may_end(place + len, end)) {
            let number = look_up(cut_all(letters, len), len);
            if (number != NONE) {
                return number;
            }
        }
    }
    return NONE;
}

//!if WHOLE
// Returns the number of the word that equals a long line.
fn long_line(place: u32, len: u32) -> u32 {
    if (len > work.longest) {
        return NONE;
    }
    var hash = 0u;
    var done = 0u;
    for (; done + 4u <= len; done += 4u) {
        hash = absorb(hash, letters_at(place + done));
    }
    let rest = cut(letters_at(place + done), i32(len - done));
    return look_up_long(place, len, finished(hash, rest, len));
}
//!end

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let number = group.y * groups.x + group.x;
//!if BY_LINE
//!if BITS_OF_LINES
    if (thread < LINES * THREADS / 32u) {
        atomicStore(&bits[thread], 0u);
    }
    workgroupBarrier();
//!end
    let first = work.first + number * LINES * THREADS + thread;
//!for line
    let line$line = first + $lineu * THREADS;
    let place$line = starts[min(line$line, work.end - 1u)];
    let end$line = starts[min(line$line, work.end - 1u) + 1u] - 1u;
//!end
//!for line
    let twelve$line = twelve_at(place$line);
//!end
//!if WHOLE
//!for line
    let len$line = end$line - place$line;
    let letters$line = cut_all(twelve$line, len$line);
    let hash$line = hash_of(letters$line, len$line);
    let at$line = (hash$line & work.buckets) * 2u;
//!end
//!for line
    let first$line = slots[at$line];
    let second$line = slots[at$line + 1u];
//!end
//!for line
    var number$line = NONE;
    if (len$line <= INLINE) {
        number$line = chosen(first$line, second$line, letters$line, len$line, hash$line);
    } else {
        number$line = long_line(place$line, len$line);
    }
//!end
//!else
//!for line
    // A line that is shorter than all words has none of their lengths.
    let mask$line = mask_of(twelve$line.x);
//!end
//!for line
    let number$line = longest(place$line, end$line, twelve$line, mask$line);
//!end
//!end
//!for line
    if (line$line < work.end) {
//!if BITS_OF_LINES
        if (number$line != NONE) {
            atomicOr(&bits[($lineu * THREADS + thread) / 32u], 1u << (thread % 32u));
        }
//!else
        found[line$line - work.first] = number$line;
//!end
    }
//!end
//!if BITS_OF_LINES
    workgroupBarrier();
    let word = number * (LINES * THREADS / 32u) + thread;
    if (thread < LINES * THREADS / 32u && word * 32u < work.end - work.first) {
        found[word] = atomicLoad(&bits[thread]);
    }
//!end
//!else
    let unit = work.first + number * THREADS + thread;
    if (unit >= work.end) {
        return;
    }
    let base = unit * UNIT;
//!for word
    let word$word = folded(text[unit * (UNIT / 4u) + $wordu]);
//!end
    // One bit for each byte that may begin a word.
    var open = 0u;
//!for byte
    let mask$byte = mask_of($letters);
//!end
//!for byte
    open |= select(0u, $bitu, mask$byte != 0u);
//!end
    let rest = work.bytes - base;
    if (rest < UNIT) {
        open &= (1u << rest) - 1u;
    }
    var hits = 0u;
    for (; open != 0u; open &= open - 1u) {
        let place = base + firstTrailingBit(open);
//!if WHOLE_WORDS
        if (place > 0u && is_of_word(place - 1u)) {
            continue;
        }
//!end
        let letters = twelve_at(place);
        if (longest(place, work.bytes, letters, mask_of(letters.x)) != NONE) {
            hits |= 1u << firstTrailingBit(open);
        }
    }
    found[unit - work.first] = hits;
//!end
}
