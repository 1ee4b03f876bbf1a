// Match and mismatch scores of any size, chosen by comparison.

//!slot row_items
// Returns the score of a target and a query base that differ.
fn unequal(letter: u32, query: u32) -> i32 {
    let is_ambiguous = letter == AMBIGUOUS_TARGET || query == AMBIGUOUS_QUERY;
    return select(MISMATCH * SCALE, AMBIGUOUS * SCALE, is_ambiguous);
}

//!slot query_row
    let q$k = select(NO_QUERY, letter$k, there$k);

//!slot letter_scores

//!slot substitution
        let d$k = diagonal + select(unequal(letter, q$k), MATCH * SCALE, letter == q$k);
