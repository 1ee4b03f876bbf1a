// Match and mismatch scores of any size, chosen by comparison.

//!slot row_items
// Returns the score of a target and a query base.
fn compared_score(letter: u32, query: u32) -> i32 {
    let base = query & ~QUERY_END;
    let bonus = select(0, END_BONUS * SCALE, (query & QUERY_END) != 0u && letter != NO_TARGET);
    let is_ambiguous = letter == AMBIGUOUS_TARGET || base == AMBIGUOUS_QUERY;
    let unequal = select(MISMATCH * SCALE, AMBIGUOUS * SCALE, is_ambiguous);
    return bonus + select(unequal, MATCH * SCALE, letter == base);
}

//!slot end_rows

//!slot query_row
    let q$k = select(NO_QUERY, letter$k, there$k);

//!slot letter_scores

//!slot substitution
        let d$k = diagonal + compared_score(letter, q$k);
