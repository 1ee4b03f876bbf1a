// Profile of each thread's rows.

//!slot profile_memory
// Scores of each thread's rows, four to a word: [row / 4][target code][thread].
var<workgroup> profile: array<u32, PROFILE_WORDS>;

//!slot query_rows
    for (var place = 0u; place < ROWS / 4u * CODES; place++) {
        let first_row = lane * ROWS + place / CODES * 4u;
        profile[place * THREADS + thread] = profile_word(task, first_row, place % CODES);
    }

//!slot substitution
//!if FIRST_OF_4
        let word$k = profile[($ku / 4u * CODES + letter) * THREADS + thread];
//!end
        let d$k = diagonal + dot4I8Packed(word$4, u32(SCALE) << (8u * ($ku % 4u)));
