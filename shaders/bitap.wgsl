// Bitap: finds patterns with errors in bytes. A bit stands for a row, and a column is kept for each number of edits (Wu
// and Manber 1992). The rows are the highest bits of WORDS words: of `m` rows, row i has bit 32 * WORDS - m + i - 1 of
// r_d, which is 0 if D(i,j) <= d, where j is the current byte. The bits below row 1 are 0 and act as row 0.
//
//     next r_0 = up(r_0) | differs
//     next r_d = (up(r_d) | differs)                     the byte is of the row's class
//              & (r_(d-1) & up(r_(d-1)) | newline)       the byte is inserted, or substituted for one of the class
//              & up(next r_(d-1))                        the class is deleted
//
// A newline is in no class. At a newline, r_0 therefore takes its value at the start of a line, where D(i) = i. The
// second term is masked, so the third term resets the other columns as well. An end is a byte after which the highest
// bit of r_LAST is 0. Without gaps, the third term and the r_(d-1) of the second are absent.
//
// A thread has a chunk of the text and begins some units before it. Only that thread writes the ends of its chunk, so
// it processes the patterns one after another.

alias Rows = $type;

@group(0) @binding(0) var<storage, read> work: Seeking;
// Units of 16 bytes, and one more after the last because threads read ahead.
@group(0) @binding(1) var<storage, read> text: array<vec4<u32>>;
// For each pattern and each byte, the rows whose class does not contain the byte.
@group(0) @binding(2) var<storage, read> patterns: array<Rows>;
// One word for each unit, with one bit for each of its bytes.
@group(0) @binding(3) var<storage, read_write> ends: array<u32>;

// Table of the current pattern.
var<workgroup> table: array<Rows, BYTES>;

// Moves each row's bit to the row below it.
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
    // A thread without a chunk has no units, but still helps to load the table.
    let own = min(id.x * work.chunk, work.units);
    let end = min(own + work.chunk, work.units);
    let begin = select(own - min(own, work.before), end, own == end);
    for (var pattern = work.pattern; pattern < work.patterns; pattern++) {
        // All threads have finished with the table of the previous pattern.
        workgroupBarrier();
        for (var byte = thread; byte < BYTES; byte += THREADS) {
            table[byte] = patterns[pattern * BYTES + byte];
        }
        workgroupBarrier();
        // State at the start of a line.
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
            // The highest bits of r_LAST; that of the first byte is the highest.
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
