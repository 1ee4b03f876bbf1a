// Nucleotides: the letters of a lane's rows stay in registers.

//!slot substitution_items
// The letters of a word's worth of rows from `row` on, the first lowest; anything for rows outside the query. Each
// word is loaded once: letter by letter is a thousandth of the time of 512 x 512.
fn query_letters(task: Task, row: u32) -> u32 {
    // Negative in front of all queries.
    let place = i32(task.query + row) - i32(task.pad);
    let inside = min(u32(max(place, 0)), task.query + max(task.rows, 1u) - 1u);
    let shift = inside % LETTERS_PER_WORD * LETTER_BITS;
    let first = queries[inside / LETTERS_PER_WORD] >> shift;
    // Shifting by a whole word is undefined, so in two steps.
    let second = (queries[inside / LETTERS_PER_WORD + 1u] << (LETTER_BITS * (LETTERS_PER_WORD - 1u) - shift)) << LETTER_BITS;
    let before = min(u32(max(-place, 0)), LETTERS_PER_WORD - 1u);
    return (first | second) << (before * LETTER_BITS);
}
//!insert row_items

//!slot query_rows
//!for rows
//!if FIRST_OF_8
    let letters$w = query_letters(task, lane * ROWS + $ku);
//!end
    let there$k = lane * ROWS + $ku - task.pad < task.rows;
    let letter$k = (letters$w >> (LETTER_BITS * ($ku % LETTERS_PER_WORD))) & LETTER_MASK;
//!insert query_row
//!end
