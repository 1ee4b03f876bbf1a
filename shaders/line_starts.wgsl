// Finds where the lines of a text begin. A thread reads a piece of PIECE bytes, and a workgroup reads a tile. The first
// pass counts the newlines of each tile, and the host computes their prefix sums. The second pass stores the position
// after each newline as the start of the line that follows.

@group(0) @binding(0) var<storage, read> work: Tiling;
@group(0) @binding(1) var<storage, read> text: array<vec4<u32>>;
// For each tile, its number of newlines (first pass) or the number before it (second pass).
@group(0) @binding(2) var<storage, read_write> tiles: array<u32>;
//!if PLACES
@group(0) @binding(3) var<storage, read_write> starts: array<u32>;
//!end

var<workgroup> counts: array<u32, THREADS>;

// Sets the high bit of each byte that is a newline.
fn newlines(letters: vec4<u32>) -> vec4<u32> {
    let other = letters ^ vec4<u32>(0x0a0a0a0au);
    let seven = (other & vec4<u32>(0x7f7f7f7fu)) + vec4<u32>(0x7f7f7f7fu);
    return ~(seven | other | vec4<u32>(0x7f7f7f7fu));
}

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let tile = group.y * groups.x + group.x;
    let vectors = (PIECE / 16u);
    let first = (tile * THREADS + thread) * vectors;
    var count = 0u;
    for (var k = 0u; k < vectors; k++) {
        if (first + k < work.vectors) {
            let each = countOneBits(newlines(text[first + k]));
            count += each.x + each.y + each.z + each.w;
        }
    }
    // Inclusive prefix sum over the threads (Hillis and Steele 1986).
    var sum = count;
    for (var step = 1u; step < THREADS; step *= 2u) {
        counts[thread] = sum;
        workgroupBarrier();
        if (thread >= step) {
            sum += counts[thread - step];
        }
        workgroupBarrier();
    }
//!if PLACES
    if (tile < work.tiles) {
        if (tile == 0u && thread == 0u) {
            starts[0] = 0u;
        }
        var line = tiles[tile] + sum - count;
        for (var k = 0u; k < vectors; k++) {
            if (first + k < work.vectors) {
                let found = newlines(text[first + k]);
                for (var part = 0u; part < 4u; part++) {
                    for (var open = found[part]; open != 0u; open &= open - 1u) {
                        line++;
                        // The host counted the lines from the first pass.
                        if (line <= work.lines) {
                            starts[line] = (first + k) * 16u + part * 4u + firstTrailingBit(open) / 8u + 1u;
                        }
                    }
                }
            }
        }
    }
//!else
    if (tile < work.tiles && thread == THREADS - 1u) {
        tiles[tile] = sum;
    }
//!end
}
