// Fingerprints of all windows of a text, and the positions of the symbols that end a window at a cut (Rabin 1981, and
// the gear hash of Xia et al. 2014; src/align/fingerprints/plain.rs is the specification).
//
//     Rabin    next print = print x^5 + symbol - leaving symbol x^(5 WINDOW)      modulo a polynomial over GF(2)
//     gear     next print = 2 print + number of the symbol                        modulo 2^32
//
// A unit is UNIT symbols. A thread processes `chunk` units. It first reads the window before them, so that its
// fingerprint covers the WINDOW symbols before its first one. Earlier symbols count as symbol 0, which adds nothing to
// a Rabin fingerprint. The leaving symbols come from two units one window earlier. Symbols before the text are 0, too;
// the host discards windows that end there.

@group(0) @binding(0) var<storage, read> work: Printing;
@group(0) @binding(1) var<storage, read> text: array<vec4<u32>>;
// Three tables: the value that each symbol adds when it enters, the replacement of the five highest bits, and the value
// that each symbol removes when it leaves.
@group(0) @binding(2) var<storage, read> tables: array<u32>;

struct Found {
    count: atomic<u32>,
    unused: u32,
    places: array<u32>,
}
@group(0) @binding(3) var<storage, read_write> found: Found;

// The tables have as many entries as there are banks, so threads never have a bank conflict.
//!if LOOKED_UP
var<workgroup> entering: array<u32, CODES>;
//!end
//!if RABIN
var<workgroup> carried: array<u32, CODES>;
var<workgroup> leaving: array<u32, CODES>;
//!end

fn append(print: u32, letter: u32) -> u32 {
//!if RABIN
//!if LOOKED_UP
    let added = entering[letter];
//!else
    let added = letter;
//!end
    return (print << SHIFT) ^ added ^ carried[print >> (32u - SHIFT)];
//!else
    return (print << 1u) + entering[letter];
//!end
}

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    if (thread < CODES) {
//!if LOOKED_UP
        entering[thread] = tables[thread];
//!end
//!if RABIN
        carried[thread] = tables[CODES + thread];
        leaving[thread] = tables[2u * CODES + thread];
//!end
    }
    workgroupBarrier();
    let number = (group.y * groups.x + group.x) * THREADS + thread;
    let own = min(work.first + number * work.chunk, work.end);
    let end = min(own + work.chunk, work.end);
    let mask = work.mask;
    var print = 0u;
    for (var ahead = min(BEFORE, own); ahead > 0u && own < end; ahead--) {
        let unit = own - ahead;
        let is_first = ahead == BEFORE;
//!for v
        let ahead$v = text[unit * VECTORS + $vu];
//!end
//!for k
        let warm$k = ahead$v.$part & select(~0u, $keptu, is_first);
//!end
//!for letter
        print = append(print, (warm$k >> $shiftu) & LETTER_MASK);
//!end
    }
//!if RABIN
    // The vectors one window before the current unit.
//!for v
    var old$v = vec4<u32>();
//!end
    if (own >= BEFORE && own < end) {
//!for v
        old$v = text[(own - BEFORE) * VECTORS + $vu];
//!end
    }
//!end
    for (var unit = own; unit < end; unit++) {
//!for v
        let new$v = text[unit * VECTORS + $vu];
//!end
//!if RABIN
//!if NEAR
//!for v
        let young$v = new$v;
//!end
//!else
//!for v
        var young$v = vec4<u32>();
//!end
        if (unit + 1u >= BEFORE) {
//!for v
            young$v = text[(unit + 1u - BEFORE) * VECTORS + $vu];
//!end
        }
//!end
//!for k
//!if ALIGNED
        let gone$k = $low;
//!else
        let gone$k = ($low >> $downu) | ($high << (32u - $downu));
//!end
//!end
//!end
        // One bit for each symbol.
        var hits = 0u;
//!for letter
        print = append(print, (new$v.$part >> $shiftu) & LETTER_MASK);
//!if RABIN
        print ^= leaving[(gone$k >> $shiftu) & LETTER_MASK];
//!end
        hits |= select(0u, $bitu, (print & mask) == mask);
//!end
        let place = unit * UNIT;
        // The text is padded with zeros.
        let rest = work.letters - place;
        if (rest < UNIT) {
            hits &= (1u << rest) - 1u;
        }
        if (hits != 0u) {
            var at = atomicAdd(&found.count, countOneBits(hits));
            for (; hits != 0u; hits &= hits - 1u) {
                if (at < work.capacity) {
                    found.places[at] = place + firstTrailingBit(hits);
                }
                at++;
            }
        }
//!if RABIN
//!for v
        old$v = young$v;
//!end
//!end
    }
}
