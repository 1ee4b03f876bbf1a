// Transpose: turns 32 bases of each of 32 chunks into 32 columns with one bit for each chunk, as tile.rs of
// src/patterns/search/sliced does with vectors (Warren 2012, 7-3). A thread transposes one of the three bits of the
// chunks of one word.

@group(0) @binding(0) var<storage, read> work: Transposing;
// For each plane, words with the bits of 32 bases, in text order.
@group(0) @binding(1) var<storage, read> packed: array<u32>;
// For each block of four columns, each plane, and each word: its columns.
@group(0) @binding(2) var<storage, read_write> planes: array<vec4<u32>>;

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let word = id.x;
    if (word >= work.words) {
        return;
    }
    let own = id.z * work.stride + word * work.chunk + id.y;
    let apart = work.words * work.chunk;
//!for b
    var r$b = packed[own + $bu * apart];
//!end
    var differ: u32;
//!for exchange
    differ = ((r$a >> $su) ^ r$d) & $masku;
    r$d ^= differ;
    r$a ^= differ << $su;
//!end
    let at = (id.y * 8u * PLANES + id.z) * work.words + word;
//!for q
    planes[at + $qu * PLANES * work.words] = vec4<u32>(r$q0, r$q1, r$q2, r$q3);
//!end
}
