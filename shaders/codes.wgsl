// Substitution matrix: the source of both kinds of profile.

//!slot substitution_items
//!if POSITIONS
// Scores of the positions of all queries, one byte each, in rows of POSITION_WORDS words: [position][target code].
//!else
// Substitution scores, one byte each: [query code][target code].
//!end
@group(0) @binding($scores) var<storage, read> scores: array<u32>;
//!insert profile_memory

//!if POSITIONS
// Returns the scores of four rows against a target code.
fn profile_word(task: Task, first_row: u32, code: u32) -> u32 {
    var word = 0u;
    for (var k = 0u; k < 4u; k++) {
        let position = first_row + k - task.pad;
        let inside = position < task.rows;
        let place = (task.query + select(0u, position, inside)) * POSITION_WORDS + code / 4u;
        let score = (scores[place] >> (code % 4u * 8u)) & 0xffu;
        // Rows outside the query get the lowest possible score, -128.
        word |= select(0x80u, score, inside) << (8u * k);
    }
    return word;
}
//!else
fn query_letter(task: Task, row: u32) -> u32 {
    let residue = row - task.pad;
    let inside = residue < task.rows;
    let place = task.query + select(0u, residue, inside);
    let letter = (queries[place / LETTERS_PER_WORD] >> (place % LETTERS_PER_WORD * LETTER_BITS)) & LETTER_MASK;
    return select(NO_QUERY, letter, inside);
}

// Returns the scores of four rows against a target code.
fn profile_word(task: Task, first_row: u32, code: u32) -> u32 {
    var word = 0u;
    for (var k = 0u; k < 4u; k++) {
        let letter = query_letter(task, first_row + k);
        let place = min(letter, CODES - 1u) * CODES + code;
        let score = (scores[place / 4u] >> (place % 4u * 8u)) & 0xffu;
        // Rows outside the query get the lowest possible score, -128.
//!if FRAMED
        // Bases that end no codon get it too.
        word |= select(score, 0x80u, letter >= NO_TARGET) << (8u * k);
//!else
        word |= select(score, 0x80u, letter == NO_QUERY) << (8u * k);
//!end
    }
    return word;
}
//!end

//!slot letter_scores
