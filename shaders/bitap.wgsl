// Bitap: patterns with errors over bytes, a bit for each row and a column for each number of edits (Wu and Manber
// 1992). The rows stand at the upper end of WORDS words: of `m` rows, row i has bit 32 * WORDS - m + i - 1 of r_d,
// which is 0 where D(i,j) <= d, and j is the byte in hand. The bits below row 1 are 0: row 0.
//
//     next r_0 = up(r_0) | differs
//     next r_d = (up(r_d) | differs)                     the byte is of the row's class
//              & (r_(d-1) & up(r_(d-1)) | newline)       it is inserted, or stands for one of the class
//              & up(next r_(d-1))                        the class is left out
//
// A newline is in no class. So r_0 becomes that of a line's beginning, where D(i) = i, and by the third term all
// others do, since the second is masked. An end is where the highest bit of r_LAST is 0. Without gaps the third term
// is missing, and r_(d-1) in the second.
//
// A thread has a chunk of the text, and begins some units before it. It alone writes the ends of its chunk; so
// patterns come one after the other.

alias Rows = $type;

@group(0) @binding(0) var<storage, read> work: Seeking;
// 16 bytes each, and one more behind the last: threads read ahead.
@group(0) @binding(1) var<storage, read> text: array<vec4<u32>>;
// For each pattern, for each byte, the rows that have it not.
@group(0) @binding(2) var<storage, read> patterns: array<Rows>;
// A word for each unit, a bit for each of its bytes.
@group(0) @binding(3) var<storage, read_write> ends: array<u32>;

// That of the pattern in hand.
var<workgroup> table: array<Rows, BYTES>;

// Each row what the one above it is.
fn up(rows: Rows) -> Rows {
//!if ONE
    return rows << 1u;
//!else
    return $type(
        rows.x << 1u,
//!for upper
        (rows.$x << 1u) | (rows.$below >> 31u),
//!end
    );
//!end
}

@compute @workgroup_size(THREADS)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    // A thread without a chunk has no units, and still helps with the table.
    let own = min(id.x * work.chunk, work.units);
    let end = min(own + work.chunk, work.units);
    let begin = select(own - min(own, work.before), end, own == end);
    for (var pattern = work.pattern; pattern < work.patterns; pattern++) {
        // No thread needs the table of the last one any more.
        workgroupBarrier();
        for (var byte = thread; byte < BYTES; byte += THREADS) {
            table[byte] = patterns[pattern * BYTES + byte];
        }
        workgroupBarrier();
        // Where a line begins.
        var r0 = table[NEWLINE];
//!for d
//!if GAPLESS
        var r$d = r0;
//!else
        var r$d = up(r$e);
//!end
//!end
        var next = text[begin * 2u];
        for (var unit = begin; unit < end; unit++) {
            // The highest bits of r_LAST, the first byte's highest.
            var open = 0u;
            for (var half = 0u; half < 2u; half++) {
                var words = next;
                next = text[unit * 2u + half + 1u];
                for (var quarter = 0u; quarter < 4u; quarter++) {
                    var bytes = words.x;
                    words = words.yzwx;
                    for (var round = 0u; round < 4u / WRITTEN_OUT; round++) {
//!for b
                        {
                            let byte = bytes & 255u;
                            bytes >>= 8u;
                            let differs = table[byte];
//!if EDITS
                            let newline = Rows(select(0u, ~0u, byte == NEWLINE));
//!end
                            let was0 = r0;
                            let up0 = up(r0);
                            r0 = up0 | differs;
//!for d
                            let was$d = r$d;
                            let up$d = up(r$d);
//!if GAPLESS
                            r$d = (up$d | differs) & (up$e | newline);
//!else
                            r$d = (up$d | differs) & ((was$e & up$e) | newline) & up(r$e);
//!end
//!end
                            open = (open << 1u) | (r$last$top >> 31u);
                        }
//!end
                    }
                }
            }
            let found = reverseBits(~open);
            if (found != 0u && unit >= own) {
                ends[unit] |= found;
            }
        }
    }
}
