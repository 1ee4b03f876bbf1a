// Nucleotides: the bases of a lane's rows stay in registers.

//!slot substitution_items
// Returns one word of query bases from `row` on, the first in the lowest bits. Rows outside the query hold arbitrary
// values. Each word is loaded once, because loading each base separately takes a thousandth of the time of a 512 x 512
// pair.
fn query_letters(task: Task, row: u32) -> u32 {
    // Negative before the first query.
    let place = i32(task.query + row) - i32(task.pad);
    let inside = min(u32(max(place, 0)), task.query + max(task.rows, 1u) - 1u);
    let shift = inside % LETTERS_PER_WORD * LETTER_BITS;
    let first = queries[inside / LETTERS_PER_WORD] >> shift;
    // Shifting by the word size is undefined, hence two steps.
    let second = (queries[inside / LETTERS_PER_WORD + 1u] << (LETTER_BITS * (LETTERS_PER_WORD - 1u) - shift)) << LETTER_BITS;
    let before = min(u32(max(-place, 0)), LETTERS_PER_WORD - 1u);
    return (first | second) << (before * LETTER_BITS);
}
//!insert row_items

//!slot query_rows
//!insert end_rows
//!for rows
//!if FIRST_OF_8
    let letters$w = query_letters(task, lane * ROWS + $ku);
//!end
    let there$k = lane * ROWS + $ku - task.pad < task.rows;
    let letter$k = (letters$w >> (LETTER_BITS * ($ku % LETTERS_PER_WORD))) & LETTER_MASK;
//!insert query_row
//!end
