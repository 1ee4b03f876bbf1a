// Profile of one query that all tasks of a workgroup share.

//!slot profile_memory
// Scores of the query's rows, 16 to an element: [row / 16][target code][lane].
var<workgroup> profile: array<vec4<u32>, PROFILE_WORDS / 4u>;

//!slot query_rows
//!insert owner
    for (var place = thread; place < PROFILE_WORDS; place += THREADS) {
        let row = place / (LANES * CODES) * 4u;
        let code = place / LANES % CODES;
        let first_row = place % LANES * ROWS + row;
        profile[(row / 16u * CODES + code) * LANES + place % LANES][row / 4u % 4u] = profile_word(owner, first_row, code);
    }
    workgroupBarrier();

//!slot substitution
//!if FIRST_OF_16
        let word$k = profile[($ku / 16u * CODES + letter) * LANES + lane];
//!end
//!if FRAMED
        let d$k = diagonal$k + dot4I8Packed(word$16[$ku / 4u % 4u], u32(SCALE) << (8u * ($ku % 4u)));
//!else
        let d$k = diagonal + dot4I8Packed(word$16[$ku / 4u % 4u], u32(SCALE) << (8u * ($ku % 4u)));
//!end
