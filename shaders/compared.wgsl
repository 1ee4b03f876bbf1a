// Match and mismatch scores of any size, chosen by comparison.

//!slot row_items

//!slot query_row
    let q$k = select(NO_QUERY, letter$k, there$k);

//!slot letter_scores

//!slot substitution
        let d$k = diagonal + select(MISMATCH * SCALE, MATCH * SCALE, letter == q$k);
