// Sliced: sweeps a pattern over a transposed text. The twin of src/patterns/sliced/myers.rs, which states the
// recurrence with the same symbols. A thread has 32 chunks, each one bit of a word. The rows of the pattern stay in
// registers, and the thread computes COLUMNS columns per iteration.
//
//     same    = matches | v- | h-                 v+, v-: against the cell above, 1 or -1
//     next h+ = v- | !(same | v+)                 h+, h-: against the cell before
//     next h- = same & v+
//     next v+ = h- | !(same | h+)
//     next v- = same & h+
//
// h+ is stored as its complement. At the last row, `D(m,j) - allowed - 1` is a number of BITS bits, one word for each
// bit. A negative number is an end.
//
// Without gaps, bit-sliced counters move down the diagonals: a row adds 1 if it does not match. At the last row, the
// counter is added to the initial number.

@group(0) @binding(0) var<storage, read> work: Sweeping;
// For each block of four columns, the words of three planes: the low and the high bit of a base, and whether the
// position holds no base. If it holds none, the low bit is set for an empty position and clear for any other code.
@group(0) @binding(1) var<storage, read> planes: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> patterns: array<u32>;

struct Found {
    count: atomic<u32>,
    unused: u32,
    // Number of text bases up to and including the end; pattern and edits.
    ends: array<vec2<u32>>,
}
@group(0) @binding(3) var<storage, read_write> found: Found;
//!if STRIPS
// Edges between two strips of rows, for each block of columns: !h+ and h- of the last row of the upper strip.
@group(0) @binding(4) var<storage, read_write> edges: array<vec4<u32>>;
//!end

// For each class, the columns of this block that it matches. A thread reads only what it wrote.
var<workgroup> matches: array<vec4<u32>, CLASSES * GROUPS * THREADS>;

// Appends the ends of a column. Returns whether all of them fit. If not, the thread stops, so that the count cannot
// overflow, and the host repeats the search.
fn take(pattern: u32, word: u32, column: u32, ends: u32, number: array<u32, BITS>) -> bool {
    var bits = number;
    var rest = ends;
    while (rest != 0u) {
        let bit = firstTrailingBit(rest);
        rest &= rest - 1u;
        let end = (bit * work.words + word) * work.chunk + column - work.before + 1u;
        if (end > work.letters) {
            continue;
        }
        var edits = patterns[pattern * work.record + 2u];
        for (var k = 0u; k < BITS; k++) {
            edits += ((bits[k] >> bit) & 1u) << k;
        }
        let place = atomicAdd(&found.count, 1u);
        if (place >= work.capacity) {
            return false;
        }
        edits &= (1u << BITS) - 1u;
        found.ends[place] = vec2<u32>(end, ((pattern - work.pattern) << EDIT_BITS) | edits);
    }
    return true;
}

@compute @workgroup_size(THREADS)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let word = work.first + id.x;
    if (word >= work.end) {
        return;
    }
    let pattern = work.pattern + id.y;
    let record = pattern * work.record;
    let first_block = patterns[record];
    let start = patterns[record + 1u];
    let own_block = work.before / COLUMNS;
//!for g
    matches[(CLASS_ALL * GROUPS + $gu) * THREADS + thread] = vec4<u32>(~0u);
//!end
//!if STRIPS
    let strips = patterns[record + 3u];
    let edges_apart = work.end - work.first;
    let first_edge = id.y * work.blocks * 2u * GROUPS * edges_apart + id.x;
    for (var strip = 0u; strip < strips; strip++) {
    let slots = record + HEADER + strip * (ROWS / 4u);
//!else
    let slots = record + HEADER;
//!end
//!for r
    let slots$r = patterns[slots + $ru];
//!end
    // Column 0: D(i,0) = i.
//!if GAPLESS
    // The counters of the previous column, of the row above each row.
//!for k
//!for count
    var count$k_$b = 0u;
//!end
//!end
//!else
//!for k
    var v_plus$k = ~0u;
    var v_minus$k = 0u;
//!end
//!end
//!for n
    var n$n = select(0u, ~0u, ((start >> $nu) & 1u) == 1u);
//!end
    var at = first_block * GROUPS * PLANES * work.words + word;
//!for g
    var low$g = planes[at + ($gu * PLANES) * work.words];
    var high$g = planes[at + ($gu * PLANES + 1u) * work.words];
    var other$g = planes[at + ($gu * PLANES + 2u) * work.words];
//!end
    for (var block = first_block; block < work.blocks; block++) {
//!for g
        {
            let none = high$g | other$g;
            let a = ~(low$g | none);
            let c = low$g & ~none;
            let g = high$g & ~(low$g | other$g);
            let t = low$g & high$g & ~other$g;
            matches[(CLASS_A * GROUPS + $gu) * THREADS + thread] = a;
            matches[(CLASS_C * GROUPS + $gu) * THREADS + thread] = c;
            matches[(CLASS_G * GROUPS + $gu) * THREADS + thread] = g;
            matches[(CLASS_T * GROUPS + $gu) * THREADS + thread] = t;
            matches[(CLASS_N * GROUPS + $gu) * THREADS + thread] = ~(low$g & other$g);
//!if IUPAC
            let r = a | g;
            let y = c | t;
            matches[(CLASS_M * GROUPS + $gu) * THREADS + thread] = a | c;
            matches[(CLASS_R * GROUPS + $gu) * THREADS + thread] = r;
            matches[(CLASS_S * GROUPS + $gu) * THREADS + thread] = c | g;
            matches[(CLASS_V * GROUPS + $gu) * THREADS + thread] = c | r;
            matches[(CLASS_W * GROUPS + $gu) * THREADS + thread] = a | t;
            matches[(CLASS_Y * GROUPS + $gu) * THREADS + thread] = y;
            matches[(CLASS_H * GROUPS + $gu) * THREADS + thread] = a | y;
            matches[(CLASS_K * GROUPS + $gu) * THREADS + thread] = g | t;
            matches[(CLASS_D * GROUPS + $gu) * THREADS + thread] = r | t;
            matches[(CLASS_B * GROUPS + $gu) * THREADS + thread] = g | y;
//!end
        }
//!end
        // Loads the next block while this one is computed; the buffer has room for one block after the last.
        at += GROUPS * PLANES * work.words;
//!for g
        low$g = planes[at + ($gu * PLANES) * work.words];
        high$g = planes[at + ($gu * PLANES + 1u) * work.words];
        other$g = planes[at + ($gu * PLANES + 2u) * work.words];
//!end
//!if GAPLESS
//!for c
//!for count
        var counted$c_$b = 0u;
//!end
//!end
//!else
        // Row 0: D(0,j) = 0.
//!for c
        var no_plus$c = ~0u;
        var minus$c = 0u;
//!end
//!end
//!if STRIPS
        let edge = first_edge + block * 2u * GROUPS * edges_apart;
        if (strip > 0u) {
//!for g
            let from_no_plus$g = edges[edge + (2u * $gu) * edges_apart];
            let from_minus$g = edges[edge + (2u * $gu + 1u) * edges_apart];
//!end
//!for c
            no_plus$c = from_no_plus$g.$x;
            minus$c = from_minus$g.$x;
//!end
        }
//!end
//!for k
        {
            let slot = ((slots$r >> $shiftu) & 255u) * (GROUPS * THREADS) + thread;
//!for g
            let matches$g = matches[slot + $gu * THREADS];
//!end
//!if GAPLESS
            var differs: u32;
            var above: u32;
//!for c
            differs = ~matches$g.$x;
//!for count
            above = counted$c_$b;
            counted$c_$b = count$k_$b ^ differs;
            differs &= count$k_$b;
            count$k_$b = above;
//!end
//!end
//!else
//!for c
            {
                let same = matches$g.$x | v_minus$k | minus$c;
                let next_no_plus = (same | v_plus$k) & ~v_minus$k;
                let next_minus = same & v_plus$k;
                v_plus$k = minus$c | (no_plus$c & ~same);
                v_minus$k = same & ~no_plus$c;
                no_plus$c = next_no_plus;
                minus$c = next_minus;
            }
//!end
//!end
        }
//!end
//!if STRIPS
        if (strip + 1u < strips) {
//!for g
            edges[edge + (2u * $gu) * edges_apart] = vec4<u32>(no_plus$p, no_plus$q, no_plus$s, no_plus$t);
            edges[edge + (2u * $gu + 1u) * edges_apart] = vec4<u32>(minus$p, minus$q, minus$s, minus$t);
//!end
            continue;
        }
//!end
        var negative = 0u;
        var carry: u32;
        var sum: u32;
//!if GAPLESS
//!for c
        carry = 0u;
//!for count
        carry = (counted$c_$b & n$b) | (carry & (counted$c_$b | n$b));
//!end
        negative |= n$sign ^ carry;
//!end
        if (negative != 0u && block >= own_block) {
//!for c
            {
                carry = 0u;
//!for count
                let before$b = counted$c_$b ^ n$b ^ carry;
                carry = (counted$c_$b & n$b) | (carry & (counted$c_$b | n$b));
//!end
                let before$sign = n$sign ^ carry;
                let fits = before$sign == 0u ||
                    take(pattern, word, block * COLUMNS + $cu, before$sign, array<u32, BITS>($number));
                if (!fits) {
                    return;
                }
            }
//!end
        }
//!else
//!for n
        var before$n = n$n;
//!end
//!for c
        carry = n0 & (~no_plus$c | minus$c);
        n0 ^= ~no_plus$c | minus$c;
//!for upper
        sum = n$n ^ minus$c ^ carry;
        carry = (n$n & minus$c) | (carry & (n$n | minus$c));
        n$n = sum;
//!end
        negative |= n$sign;
//!end
        if (negative != 0u && block >= own_block) {
            var no_plus = array<u32, COLUMNS>($no_plus);
            var minus = array<u32, COLUMNS>($minus);
            for (var c = 0u; c < COLUMNS; c++) {
                let changes = ~no_plus[c] | minus[c];
                carry = before0 & changes;
                before0 ^= changes;
//!for upper
                sum = before$n ^ minus[c] ^ carry;
                carry = (before$n & minus[c]) | (carry & (before$n | minus[c]));
                before$n = sum;
//!end
                let fits = before$sign == 0u ||
                    take(pattern, word, block * COLUMNS + c, before$sign, array<u32, BITS>($number));
                if (!fits) {
                    return;
                }
            }
        }
//!end
    }
//!if STRIPS
    }
//!end
}
